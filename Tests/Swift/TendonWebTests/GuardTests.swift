// SPDX-License-Identifier: MIT
// Who may do what, and what waits for a slow browser: what needs no socket.
import Foundation
import Testing

@testable import TendonWeb

@Suite struct WebSettingsTests {
    @Test(arguments: [
        ("127.0.0.1:8099", "127.0.0.1", true), ("localhost:80", "127.0.0.1", true), ("[::1]:1", "::1", true),
        ("127.1.2.3:9", "127.1.2.3", true), ("0.0.0.0:9", "0.0.0.0", false), ("[::]:65535", "::", false),
        ("192.0.2.1:9", "192.0.2.1", false), ("[::ffff:127.0.0.1]:9", "::ffff:127.0.0.1", false),
    ])
    func addresses(text: String, address: String, isLoopback: Bool) throws {
        let settings = try WebSettings(text)
        #expect(settings.address == address)
        #expect(settings.isLoopback == isLoopback)
    }

    @Test(arguments: [
        "", "8099", ":8099", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "::1:80", "[127.0.0.1]:80",
        "[::1]", "example.com:80", "127.0.0.1.evil.example:80", "127.1:80", "http://127.0.0.1:80", "127.0.0.1:-1",
    ])
    func addressesThatAreNone(text: String) {
        let error = #expect(throws: WebError.self) { try WebSettings(text) }
        #expect(error?.text == "'\(text)' is not ADDRESS:PORT, such as 127.0.0.1:8099 or [::1]:8099")
    }

    @Test(arguments: [
        ("sixteen-letters-", true), ("sixteen-letters-\nmore", true), ("fifteen-letters", false), ("", false),
        ("sixteen letters-", false), ("sixteen-letters-\u{e9}", false),
    ])
    func tokens(text: String, isTaken: Bool) throws {
        let path = NSTemporaryDirectory() + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        FileManager.default.createFile(
            atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        var settings = try WebSettings("0.0.0.0:80")
        let error = #expect(throws: WebError.self) { try settings.token() }
        #expect(error?.text == "0.0.0.0 can be reached by others: it needs a token (--web-token-file)")
        settings.tokenFile = path
        if isTaken {
            #expect(try settings.token() == Array("sixteen-letters-".utf8))
        } else {
            let error = #expect(throws: WebError.self) { try settings.token() }
            let reason = text.isEmpty ? "the file is empty" : "a token has 16 or more characters of ASCII"
            #expect(error?.text.hasPrefix("\(path): \(reason)") == true, "\(error?.text ?? "")")
        }
    }

    @Test func loopbackNeedsNoToken() throws {
        #expect(try WebSettings("[::1]:80").token() == nil)
    }
}

@Suite struct GuardTests {
    private let token = "0123456789abcdef"

    private func outcome(
        isLoopback: Bool = true, hasToken: Bool = true, _ change: (inout RequestHead) -> Void = { _ in }
    ) -> UInt32 {
        let admission = Guard(
            isLoopback: isLoopback, names: ["Gateway.lan"], token: hasToken ? Array(token.utf8) : nil)
        var head = RequestHead(method: "GET", path: "/", host: "127.0.0.1:8099")
        change(&head)
        do throws(Refusal) {
            _ = try admission.route(head)
            return 200
        } catch {
            return error.status
        }
    }

    @Test(arguments: [
        ("127.0.0.1", true, true), ("localhost:1", true, true), ("[::1]:80", true, true), ("127.9.9.9", true, true),
        ("gateway.lan:80", true, true), ("GATEWAY.LAN", true, true), ("192.0.2.1", false, true),
        ("[2001:db8::1]:80", false, true), ("evil.example", false, false), ("localhost.evil.example", false, false),
        ("127.0.0.1.evil.example", false, false), ("", false, false), ("localhost:x", false, false),
        ("localhost:1:2", false, false), ("[::1", false, false), ("[::1]x", false, false), ("::1", false, false),
        ("a@localhost", false, false), ("localhost:99999", false, false),
    ])
    func hosts(host: String, onLoopback: Bool, onOthers: Bool) {
        #expect(outcome { $0.host = host } == (onLoopback ? 200 : 421))
        #expect(outcome(isLoopback: false) { $0.host = host } == (onOthers ? 200 : 421))
    }

    @Test func aRequestWithoutHostIsRefused() { #expect(outcome { $0.host = nil } == 421) }

    @Test(
        arguments: [
            ("http://127.0.0.1:8099", nil, 200), ("https://127.0.0.1:8099", nil, 200), ("http://127.0.0.1", nil, 403),
            ("http://127.0.0.1:80991", nil, 403), ("null", nil, 403), ("", nil, 403), (nil, "same-origin", 200),
            (nil, "none", 200), (nil, "same-site", 403), (nil, "cross-site", 403), (nil, "new-word", 403),
            ("http://127.0.0.1:8099", "cross-site", 403),
        ] as [(String?, String?, UInt32)])
    func sites(origin: String?, site: String?, status: UInt32) {
        #expect(
            outcome {
                $0.path = "/events"
                ($0.origin, $0.site, $0.mode) = (origin, site, "navigate")
            } == status)
    }

    @Test(arguments: [
        ("Bearer 0123456789abcdef", 200), ("Bearer 0123456789abcdeF", 401), ("Bearer 0123456789abcde", 401),
        ("Bearer 0123456789abcdef0123456789abcdef", 401), ("Bearer ", 401), ("Bearer", 401), ("", 401),
        ("bearer 0123456789abcdef", 200), ("BEARER 0123456789abcdef", 200), ("Bearer  0123456789abcdef", 200),
        ("0123456789abcdef", 401), ("Basic 0123456789abcdef", 401), ("Bearer0123456789abcdef", 401),
    ])
    func tokens(authorization: String, status: UInt32) {
        for (path, method) in [("/events", "GET"), ("/metrics", "GET"), ("/set", "POST")] {
            let given = { (head: inout RequestHead) in
                (head.path, head.method, head.authorization) = (path, method, authorization)
                (head.contentType, head.contentLength) = ("application/json; charset=utf-8", "2")
            }
            #expect(outcome(isLoopback: false, given) == status)
            // On this machine only commands need it.
            #expect(outcome(given) == (path == "/set" ? status : 200))
        }
        #expect(
            outcome(hasToken: false) { ($0.path, $0.method, $0.authorization) = ("/set", "POST", authorization) } == 403
        )
    }

    @Test(
        arguments: [
            ("application/json", "0", 200), ("application/json", "4096", 200), ("application/json", "4097", 413),
            ("application/json", nil, 411), ("application/json", "-1", 411), ("application/json", "x", 411),
            ("text/plain", "2", 415), (nil, "2", 415), ("application/jsonp", "2", 415),
        ] as [(String?, String?, UInt32)])
    func bodies(type: String?, length: String?, status: UInt32) {
        #expect(
            outcome {
                ($0.path, $0.method, $0.authorization) = ("/set", "POST", "Bearer 0123456789abcdef")
                ($0.contentType, $0.contentLength) = (type, length)
            } == status)
    }

    /// A proxy may serve the page below a path.
    @Test func addressesInThePageAreRelative() {
        for file in PageFile.allCases {
            let text = String(decoding: file.bytes, as: UTF8.self)
            for address in ["href=\"/", "src=\"/", "url(/", "fetch('/", "fetch(`/", "from '/", "import('/"] {
                #expect(!text.contains(address), "\(file.rawValue)")
            }
        }
    }

    @Test func everyFileIsInTheProgram() {
        for file in PageFile.allCases { #expect(file.bytes.count > 100, "\(file.rawValue)") }
    }
}

@Suite struct ClientTests {
    @Test func whatFindsNoRoomIsDroppedAndCounted() {
        let client = Client(OpaquePointer(bitPattern: 8)!)
        let message = [UInt8](repeating: UInt8(ascii: "a"), count: 1000)
        var taken = 0
        while client.dropped == 0 {
            client.append(message)
            taken += 1
        }
        client.isBehind = false
        #expect(client.waiting == (taken - 1) * 1008)
        #expect(client.waiting <= Client.capacity && client.waiting + 1008 > Client.capacity)
        client.append(message)
        #expect(client.dropped == 2)
        #expect(client.isBehind)
    }

    @Test func messagesStayWholeWhateverIsTakenAtATime() {
        for room in [1, 7, 1008, 5000, 1 << 17] {
            let client = Client(OpaquePointer(bitPattern: 8)!)
            var (given, got): ([UInt8], [UInt8]) = ([], [])
            var buffer = [CChar](repeating: 0, count: room)
            for number in 0..<400 {
                let message = Array("\(number)".utf8) + [UInt8](repeating: UInt8(ascii: "b"), count: number)
                client.append(message)
                given += Array("data: ".utf8) + message + Array("\n\n".utf8)
                while client.waiting > (number % 3 == 0 ? 0 : 3000) {
                    let count = client.take(&buffer, room)
                    got += buffer.prefix(count).map { UInt8(bitPattern: $0) }
                }
            }
            while client.waiting > 0 {
                let count = client.take(&buffer, room)
                got += buffer.prefix(count).map { UInt8(bitPattern: $0) }
            }
            #expect(client.dropped == 0)
            #expect(got == given)
        }
    }
}
