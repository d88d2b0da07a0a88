// SPDX-License-Identifier: MIT
// Requests and responses over a socket, as docs/page.md has them.
import Foundation
import Synchronization
import TendonOutputs
import TendonSupport
import TestSupport
import Testing

@testable import TendonWeb

private struct NoFigures: FigureSource {
    func deviceFigures() -> [DeviceFigures] { [] }
    func metrics() -> [Metric] { [] }
}

private final class Handler: CommandHandler, @unchecked Sendable {
    // Guarded by `lock`.
    private let lock = ThreadLock()
    private var asked: [String] = []
    private let answer: CommandResult
    private let waits: Bool
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ answer: CommandResult, waits: Bool = false) { (self.answer, self.waits) = (answer, waits) }

    var calls: [String] { lock.locked { asked } }

    func start(_ work: @escaping @Sendable () async -> Void) { Task(operation: work) }

    func release() {
        let ready = lock.locked {
            defer { waiting = [] }
            return waiting
        }
        for continuation in ready { continuation.resume() }
    }

    func set(_ actions: JSON, of device: OutputDevice) async -> CommandResult {
        await withCheckedContinuation { continuation in
            lock.locked {
                asked.append("\(device.key) \(actions.text)")
                if waits { waiting.append(continuation) }
            }
            if !waits { continuation.resume() }
        }
        return answer
    }

    func request(_ name: String, _ data: JSON) async -> CommandResult { .failed("not here") }
    func disconnect(_ address: String, _ addressType: String) async {}
}

private final class Site: Sendable {
    static let belt = OutputDevice(family: "feelspace", address: "C0:01", addressType: "random")
    static let token = "0123456789abcdef"
    let port = heldPort()
    let output: WebOutput
    private let path = NSTemporaryDirectory() + "tendon-web-\(UUID().uuidString)"

    init(_ handler: Handler = Handler(.done(["a": 1])), hasToken: Bool = true, hasMetrics: Bool = true) throws {
        typealias Figures = @Sendable () -> (type: String, text: [UInt8])
        let figures: Figures = { ("text/x", Array("figures".utf8)) }
        var settings = try WebSettings("127.0.0.1:\(port)")
        if hasToken {
            FileManager.default.createFile(
                atPath: path, contents: Data(Site.token.utf8), attributes: [.posixPermissions: 0o600])
            settings.tokenFile = path
        }
        output = try WebOutput(
            settings, families: [FamilyDescription(family: "feelspace", manufacturer: "m", model: "n")],
            greeting: ["version": "1.2"], source: NoFigures(), handler: handler,
            exposition: hasMetrics ? figures : nil)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func get(_ path: String, method: String = "GET", host: String = "localhost") async -> Response? {
        Response(await HTTP.exchange(port, "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\n\r\n"))
    }

    static func request(_ body: String, token: String) -> String {
        "POST /set HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    func set(_ body: String, token: String = Site.token) async -> Response? {
        Response(await HTTP.exchange(port, Site.request(body, token: token)))
    }

    func replaceToken(_ token: String) throws { try Data(token.utf8).write(to: URL(fileURLWithPath: path)) }

    /// The text of /events, as soon as it contains this; `meanwhile` runs when the browser is connected.
    func events(until mark: String, meanwhile: () async -> Void = {}) async -> String? {
        let port = port
        let hasAll = Flag()
        async let text = HTTP.exchange(port, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n") {
            if $0.contains(mark) { hasAll.set() }
            return hasAll.isSet
        }
        await eventually("the browser is counted, or has gone") {
            output.metrics[0].samples[0].value > 0 || hasAll.isSet
        }
        await meanwhile()
        return await text
    }

    /// The device is known when a browser has heard of it.
    func know(_ device: OutputDevice = Site.belt) async {
        output.device(device, is: .connected)
        _ = await events(until: device.key)
    }

    var figures: [Int] { output.metrics.map { Int($0.samples[0].value) } }
}

@Suite(.timeLimit(.minutes(1))) struct ServerTests {
    /// That of libmicrohttpd, then that of the hub: the port is free again.
    @Test func withoutAThread() async throws {
        let settings = try WebSettings("127.0.0.1:\(heldPort())")
        func output() throws(WebError) -> WebOutput {
            try WebOutput(
                settings, families: [], greeting: [:], source: NoFigures(), handler: Handler(.done([:])),
                exposition: nil)
        }
        for first in 0...1 {
            let (error, _) = failing("pthread_create", with: EAGAIN, first: first) {
                #expect(throws: WebError.self) { try output() }
            }
            #expect(error?.text.hasSuffix(": Resource temporarily unavailable") == true, "\(error?.text ?? "")")
        }
        await (try output()).finish()
    }

    @Test func thePageAndItsParts() async throws {
        let site = try Site()
        let index = try #require(await site.get("/"))
        #expect(
            index.status == 200 && index.body.hasPrefix("<!doctype html>") || index.body.hasPrefix("<!DOCTYPE html>"))
        let expected = [
            "content-type": "text/html; charset=utf-8", "x-content-type-options": "nosniff", "x-frame-options": "DENY",
            "referrer-policy": "no-referrer", "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin", "cache-control": "no-store", "connection": "close",
            "content-length": "\(index.body.utf8.count)",
        ]
        for (name, value) in expected { #expect(index.fields[name] == value) }
        let policy = try #require(index.fields["content-security-policy"])
        #expect(policy.hasPrefix("default-src 'none'; script-src 'self';") && !policy.contains("unsafe"))
        for (path, type) in [
            ("/page.css", "text/css; charset=utf-8"), ("/icon.svg", "image/svg+xml"),
            ("/belt.js", "text/javascript; charset=utf-8"),
        ] {
            let file = try #require(await site.get(path))
            #expect((file.status, file.fields["content-type"]) == (200, type))
        }
        let head = try #require(await site.get("/", method: "HEAD"))
        #expect((head.status, head.body, head.fields["content-length"]) == (200, "", "\(index.body.utf8.count)"))
        await site.output.finish()
        #expect(await HTTP.exchange(site.port, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n") == nil)
    }

    @Test func whatIsRefusedSaysWhy() async throws {
        let site = try Site(hasToken: false, hasMetrics: false)
        func refusal(_ response: Response?) -> String { response.map { "\($0.status) \($0.body)" } ?? "nothing" }
        #expect(
            refusal(await site.get("/", host: "evil.example"))
                == #"421 {"status":"error","error":"this name is not known to the gateway: see --web-name"}"#)
        #expect(refusal(await site.get("/x")) == #"404 {"status":"error","error":"there is no such page"}"#)
        #expect(refusal(await site.get("/metrics")) == #"404 {"status":"error","error":"there is no such page"}"#)
        let method = await site.get("/events", method: "PUT")
        #expect(refusal(method) == #"405 {"status":"error","error":"this method is not allowed here"}"#)
        // RFC 9110, 15.5.6: a 405 names the methods that are allowed.
        #expect(method?.fields["allow"] == "GET, HEAD, POST")
        #expect(method?.fields["content-type"] == "application/json")
        #expect(
            refusal(await site.set("{}"))
                == #"403 {"status":"error","error":"commands need a token: see --web-token-file"}"#)
        #expect(site.figures == [0, 0, 5])
        let other = try Site()
        let unknown = await other.set("{}", token: "0123456789abcdeF")
        #expect(refusal(unknown) == #"401 {"status":"error","error":"the token is missing or wrong"}"#)
        // RFC 9110, 15.5.2.
        #expect(unknown?.fields["www-authenticate"] == "Bearer")
        await site.output.finish()
        await other.output.finish()
    }

    @Test func figuresForOperators() async throws {
        let site = try Site()
        let response = try #require(await site.get("/metrics"))
        #expect((response.status, response.fields["content-type"], response.body) == (200, "text/x", "figures"))
        #expect(
            site.output.metrics.map { "\($0.name) \($0.kind) \($0.unit ?? "-")" } == [
                "tendon_web_browsers gauge browsers", "tendon_web_dropped_frames counter frames",
                "tendon_web_refused_requests counter requests",
            ])
        await site.output.finish()
    }

    @Test func liveDataAreServerSentEvents() async throws {
        let site = try Site()
        #expect(!site.output.takes("sample", of: Site.belt))
        #expect(site.output.takes("press", of: Site.belt))
        #expect(!site.output.takes("press", of: nil))
        #expect(!site.output.takes("press", of: OutputDevice(family: "", address: "A", addressType: "random")))
        let text = await site.events(until: #""event":"press""#) {
            #expect(site.output.takes("sample", of: Site.belt))
            site.output.event("press", of: nil) { _ in Issue.record("an event without a device is composed") }
            site.output.event("press", of: Site.belt) { $0.raw(#"{"event":"press"}"# + "\n") }
        }
        let response = try #require(Response(text))
        #expect((response.status, response.fields["content-type"]) == (200, "text/event-stream"))
        #expect(response.body.contains("data: {\"event\":\"press\"}\n\n"))
        // The first message; HTTP/1.1 puts the length of the chunk before it.
        let first = try #require(response.body.components(separatedBy: "\n\n").first)
        #expect(first.hasSuffix(#","event":"gateway","version":"1.2","commands":true,"devices":[]}"#))
        await eventually("the browser has gone") { site.figures[0] == 0 }
        await site.output.finish()
    }

    @Test func theNinthBrowserIsRefused() async throws {
        let site = try Site(hasToken: false)
        let port = site.port
        let isDone = Flag()
        let greeted = (0..<8).map { _ in Flag() }
        let browsers = greeted.map { flag in
            Task {
                await HTTP.exchange(port, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n") { text in
                    if text.contains(#""commands":false"#) { flag.set() }
                    return isDone.isSet
                }
            }
        }
        await eventually("eight are connected") { site.figures[0] == 8 && greeted.allSatisfy(\.isSet) }
        let ninth = await site.get("/events")
        #expect(ninth?.status == 503)
        #expect(ninth?.body == #"{"status":"error","error":"too many browsers are connected"}"#)
        // The end of the output ends them all.
        await site.output.finish()
        isDone.set()
        for browser in browsers { #expect(await browser.value != nil) }
    }

    @Test func aCommandGoesToItsDevice() async throws {
        let handler = Handler(.done(["a": 1]))
        let site = try Site(handler)
        await site.know()
        let response = try #require(await site.set(#"{"device":"C0:01/random","actions":{"vibrate":90}}"#))
        #expect((response.status, response.body) == (200, #"{"status":"ok","data":{"a":1}}"#))
        #expect(handler.calls == [#"C0:01/random {"vibrate":90}"#])
        // By its address, as people write it, and by the name of the configuration.
        var named = Site.belt
        (named.address, named.name, named.isNamed) = ("C0:02", "flur", true)
        await site.know(named)
        for (word, key) in [("c0:01", "C0:01/random"), ("c0:01/random", "C0:01/random"), ("flur", "C0:02/random")] {
            #expect(await site.set(#"{"device":"\#(word)","actions":{}}"#)?.status == 200)
            #expect(handler.calls.last == "\(key) {}")
        }
        // The largest body.
        let padding = String(repeating: "x", count: 4096 - 53)
        let largest = #"{"device":"C0:01/random","actions":{"text":"\#(padding)"}}"#
        #expect(largest.utf8.count <= 4096)
        #expect(await site.set(largest)?.status == 200)
        await site.output.finish()
        let failing = try Site(Handler(.failed("no such action")))
        await failing.know()
        let refusal = try #require(await failing.set(#"{"device":"C0:01/random","actions":{}}"#))
        #expect((refusal.status, refusal.body) == (409, #"{"status":"error","error":"no such action"}"#))
        await failing.output.finish()
    }

    @Test(arguments: [
        ("no JSON", 400), ("{}", 400), (#"{"device":"C0:01/random"}"#, 400), (#"{"actions":{}}"#, 400),
        (#"{"device":"C0:01/random","actions":[]}"#, 400), (#"{"device":1,"actions":{}}"#, 400),
        (#"{"device":"C0:01/random","actions":{},"more":1}"#, 400), (#"{"device":"C0:02/random","actions":{}}"#, 404),
    ])
    func aCommandThatIsNone(body: String, status: Int) async throws {
        let handler = Handler(.done(.null))
        let site = try Site(handler)
        await site.know()
        let response = try #require(await site.set(body))
        #expect(response.status == status)
        #expect(
            response.body
                == (status == 400
                    ? #"{"status":"error","error":"the body is no JSON object with device and actions"}"#
                    : #"{"status":"error","error":"no such device, or two; ADDRESS/TYPE is one, as key in /events"}"#))
        #expect(handler.calls == [])
        await site.output.finish()
    }

    /// A command that a device has not answered when the gateway ends.
    @Test func theEndAnswersWhatWaits() async throws {
        let handler = Handler(.done(.null), waits: true)
        let site = try Site(handler)
        await site.know()
        let server = Mirror(reflecting: site.output).descendant("server") as? Server
        async let response = site.set(#"{"device":"C0:01/random","actions":{}}"#)
        await eventually("the command is with its handler") { handler.calls.count == 1 }
        await site.output.finish()
        let answer = try #require(await response)
        #expect((answer.status, answer.body) == (503, #"{"status":"error","error":"the gateway ends"}"#))
        // The end waits for the answers that it counts, up to half a second.
        #expect(Mirror(reflecting: try #require(server)).descendant("lastAnswers") as? Int == 0)
        // The answer of the device comes too late, and finds nobody.
        handler.release()
    }

    /// The browser has gone before its command was carried out: nobody gets the answer, and others are served.
    @Test func aBrowserThatDoesNotWait() async throws {
        let handler = Handler(.done(.null), waits: true)
        let site = try Site(handler)
        await site.know()
        let body = #"{"device":"C0:01/random","actions":{}}"#
        for _ in 0..<50 { HTTP.sendAndLeave(site.port, Site.request(body, token: Site.token)) }
        await eventually("commands are with their handler, as many as connections are taken") {
            handler.calls.count >= 16
        }
        let isServed = Flag()
        let releases = Task {
            await eventually("a command is answered") {
                handler.release()
                return isServed.isSet
            }
        }
        // While the connections of the others are not closed yet, it is refused.
        await eventually("a command is served") { await site.set(body)?.status == 200 }
        isServed.set()
        await releases.value
        await site.output.finish()
    }

    /// It is read at the start: another one in the file is that of the next start.
    @Test func theFileOfTheTokenIsReplaced() async throws {
        let site = try Site()
        await site.know()
        let body = #"{"device":"C0:01/random","actions":{}}"#
        try site.replaceToken("fedcba9876543210")
        #expect(await site.set(body, token: "fedcba9876543210")?.status == 401)
        #expect(await site.set(body)?.status == 200)
        await site.output.finish()
    }

    @Test func nothingIsLeftOfAServerThatHasEnded() async throws {
        weak var server: Server?
        do {
            let site = try Site()
            server = try #require(Mirror(reflecting: site.output).descendant("server") as? Server)
            #expect(await site.get("/")?.status == 200)
            await site.output.finish()
        }
        await eventually("the server is released") { server == nil }
    }

    @Test func aPortThatIsInUseIsAnError() async throws {
        let site = try Site()
        do throws(WebError) {
            _ = try WebOutput(
                try WebSettings("127.0.0.1:\(site.port)"), families: [], greeting: [:], source: NoFigures(),
                handler: Handler(.done(.null)), exposition: nil)
            Issue.record("the port was opened twice")
        } catch {
            #expect(error.text == "127.0.0.1 port \(site.port): Address already in use")
        }
        await site.output.finish()
    }

    /// A link to the page is in a message of the command.
    @Test(arguments: [("127.0.0.1:80", "http://127.0.0.1:80/"), ("[::1]:8099", "http://[::1]:8099/")])
    func addressesForPeople(text: String, url: String) throws {
        #expect(try WebSettings(text).url == url)
    }
}
