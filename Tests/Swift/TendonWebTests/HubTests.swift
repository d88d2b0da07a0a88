// SPDX-License-Identifier: MIT
// What browsers are told and when, as docs/page.md has it, with a time that the test sets. No socket, no thread.
import TendonOutputs
import TendonSupport
import TestSupport
import Testing

@testable import TendonWeb

private struct Figures: FigureSource {
    func deviceFigures() -> [DeviceFigures] {
        var figures = DeviceFigures(TestHub.belt)
        figures.isConnected = true
        (figures.notifications, figures.samples, figures.dropped, figures.malformed) = (1, 2, 3, 4)
        (figures.reconnections, figures.failedConnections, figures.signal) = (5, 6, -60)
        return [figures]
    }

    func metrics() -> [Metric] { [] }
}

private final class TestHub {
    static let belt = OutputDevice(family: "feelspace", address: "C0:01", addressType: "random", name: "naviBelt")
    static let family = FamilyDescription(
        family: "feelspace", manufacturer: "feelSpace", model: "naviBelt", states: ["mode"],
        entities: [
            .battery, Entity("heading", "Heading", .sensor(path: "orientation.heading_deg", unit: "°")),
            Entity("worn", "Worn", .binary(path: "worn", on: "true")),
            Entity("stop", "Stop", .button(payload: #"{"stop":true}"#)),
            Entity("broken", "Broken", .button(payload: "no JSON")),
            Entity("mode", "Mode", .choice(path: "mode", action: "mode", options: ["wait", "compass"])),
            Entity(
                "firmware", "Firmware", .firmware(installed: "old", latest: "new", install: #"{"firmware":"upgrade"}"#)),
            Entity("vibrate", "Vibrate", .number(path: nil, action: "vibrate", range: 0...359, unit: "°")),
            Entity("show", "Show", .text(action: "show", length: 1...20, pattern: "^a*$")),
        ])
    static let scales = FamilyDescription(
        family: "scales", manufacturer: "", model: "Scales", states: ["weight"], measures: true)
    static let commands =
        #"[{"id":"stop","title":"Stop","kind":"button","actions":{"stop":true}},"#
        + #"{"id":"mode","title":"Mode","kind":"choice","action":"mode","options":["wait","compass"]},"#
        + #"{"id":"firmware","title":"Firmware","kind":"upgrade","actions":{"firmware":"upgrade"}},"#
        + #"{"id":"vibrate","title":"Vibrate","kind":"number","action":"vibrate","from":0,"to":359,"step":1,"unit":"°"},"#
        + #"{"id":"show","title":"Show","kind":"text","action":"show","most":20,"pattern":"^a*$"}]"#

    // The battery has a place of its own.
    static let values =
        #"[{"title":"Heading","path":"orientation.heading_deg","unit":"°"},{"title":"Worn","path":"worn","unit":null},"#
        + #"{"title":"Mode","path":"mode","unit":null}]"#

    let hub: Hub
    var isWatched: Bool { hub.isWatched.load(ordering: .relaxed) }

    init(expiry: UInt64 = .max) {
        hub = Hub([TestHub.family, TestHub.scales], Figures(), greeting: ["version": "1.2"], expire: { _ in expiry })
    }

    func join() -> Client? { hub.join(OpaquePointer(bitPattern: 8)!) }

    /// Returns how much had come.
    @discardableResult
    func round(at now: UInt64) -> Int {
        var batch = Mailbox<HubItem>.Batch()
        hub.mailbox.take(until: 0, into: &batch)
        hub.process(batch, now)
        return batch.items.count
    }

    func line(_ event: EventName, of device: OutputDevice = TestHub.belt, _ members: String = "") {
        hub.mailbox.line(event, device) { $0.raw(#"{"time":"T","event":"\#(event)"\#(members)}"# + "\n") }
    }

    /// What a browser gets, without the times.
    func messages(_ client: Client) -> [String] {
        var buffer = [CChar](repeating: 0, count: 1 << 17)
        let count = client.take(&buffer, buffer.count)
        let text = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.components(separatedBy: "\n\n").filter { !$0.isEmpty }.map { message in
            guard message.hasPrefix("data: "), let json = try? JSON(parsing: Array(message.utf8.dropFirst(6))) else {
                return "no JSON: " + message
            }
            var members = json
            members["time"] = nil
            return LineWriter.text(members)
        }
    }
}

private func about(connected: Bool, _ state: String = "{}") -> String {
    #"{"event":"device","key":"C0:01/random","family":"feelspace","address":"C0:01","address_type":"random","#
        + #""name":"naviBelt","connected":\#(connected),"state":\#(state),"commands":\#(TestHub.commands),"#
        + #""values":\#(TestHub.values)}"#
}

private let status =
    #"{"event":"status","links":[{"key":"C0:01/random","connected":true,"notifications":1,"samples":2,"dropped":3,"#
    + #""malformed":4,"reconnections":5,"failed_connections":6,"rssi_dbm":-60,"battery_percent":null}],"#
    + #""browsers":1,"dropped_frames":0}"#

@Suite struct HubTests {
    @Test func aBrowserLearnsEverythingFirst() throws {
        let site = TestHub()
        site.hub.mailbox.post(.presence(TestHub.belt, .connected))
        site.round(at: 1000)
        let browser = try #require(site.join())
        #expect(site.isWatched)
        #expect(site.round(at: 1000) == 1, "the thread is woken")
        #expect(
            site.messages(browser) == [
                #"{"event":"gateway","version":"1.2","devices":["C0:01/random"]}"#, about(connected: true), status,
            ])
        site.round(at: 1999)
        #expect(site.messages(browser) == [])
        site.round(at: 2000)
        #expect(site.messages(browser) == [status])
    }

    /// The state of a measurement comes behind it, because not all that was known lasts.
    @Test func measurementsAreToldWithTheState() throws {
        let site = TestHub()
        let device = OutputDevice(family: "scales", address: "C0:02", addressType: "random", name: nil)
        let browser = try #require(site.join())
        site.line("weight", of: device, #","weight_kg":80,"user":1"#)
        site.round(at: 1000)
        _ = site.messages(browser)
        site.line("weight", of: device, #","weight_kg":81"#)
        site.line("press", of: device)
        site.round(at: 1001)
        #expect(
            site.messages(browser) == [
                #"{"event":"weight","weight_kg":81}"#,
                #"{"event":"state","key":"C0:02/random","state":{"time":"T","weight_kg":81}}"#, #"{"event":"press"}"#,
            ])
    }

    /// A browser learns of an adapter that is waited for when it connects, and when that changes.
    @Test func theRadioThatIsWaitedForIsShown() throws {
        let site = TestHub()
        site.hub.mailbox.post(.radios(["waiting for hci1: no adapter"]))
        site.round(at: 1000)
        let browser = try #require(site.join())
        site.round(at: 1000)
        #expect(
            site.messages(browser).first
                == #"{"event":"gateway","version":"1.2","devices":[],"waiting":["waiting for hci1: no adapter"]}"#)
        site.hub.mailbox.post(.radios([]))
        site.round(at: 1001)
        #expect(site.messages(browser) == [#"{"event":"radios","waiting":[]}"#])
    }

    @Test func eventsAreToldAndKept() throws {
        let site = TestHub()
        let browser = try #require(site.join())
        site.round(at: 1000)
        _ = site.messages(browser)
        // A device that is new is described, then its event comes.
        site.line("mode", #","state":"compass""#)
        site.round(at: 1001)
        #expect(site.messages(browser) == [about(connected: false), #"{"event":"mode","state":"compass"}"#])
        site.line("press")
        site.round(at: 1002)
        #expect(site.messages(browser) == [#"{"event":"press"}"#])
        site.hub.mailbox.post(.presence(TestHub.belt, .connected))
        site.round(at: 1003)
        #expect(site.messages(browser) == [about(connected: true, #"{"time":"T","mode":"compass"}"#)])
        site.hub.mailbox.post(.presence(TestHub.belt, .disconnected))
        site.round(at: 1004)
        #expect(site.messages(browser) == [about(connected: false, #"{"time":"T","mode":"compass"}"#)])
        // Another name: it is described again.
        var named = TestHub.belt
        named.name = "Ann"
        site.line("press", of: named)
        site.round(at: 1005)
        #expect(site.messages(browser).map { $0.contains(#""name":"Ann""#) } == [true, false])
        #expect(site.hub.device("C0:01/random") == named)
        site.hub.mailbox.post(.presence(named, .forgotten))
        site.round(at: 1006)
        #expect(site.messages(browser) == [#"{"event":"forgotten","key":"C0:01/random"}"#])
        #expect(site.hub.device("C0:01/random") == nil)
        // The next browser does not learn of it.
        let next = try #require(site.join())
        site.round(at: 1007)
        #expect(site.messages(next).first == #"{"event":"gateway","version":"1.2","devices":[]}"#)
    }

    @Test func whatIsOnlyInRangeIsNoDevice() throws {
        let site = TestHub()
        let browser = try #require(site.join())
        site.round(at: 1000)
        _ = site.messages(browser)
        let stranger = OutputDevice(family: "", address: "C0:02", addressType: "random")
        site.line("found", of: stranger)
        site.hub.mailbox.post(.presence(stranger, .connected))
        site.round(at: 1001)
        #expect(site.messages(browser) == [])
        #expect(site.hub.device("C0:02/random") == nil)
    }

    @Test func aThousandAndTwentyFourDevicesAreKnown() {
        let site = TestHub()
        for number in 0..<1025 {
            site.line("press", of: OutputDevice(family: "bose", address: "\(number)", addressType: "public"))
        }
        site.round(at: 1000)
        #expect(site.hub.device("1024/public") != nil)
        #expect((0..<1025).count { site.hub.device("\($0)/public") != nil } == 1024, "one that was away made room")
    }

    /// A stranger that is refused has no card, and at the limit it takes none: the device that is away longest goes.
    @Test func aStrangerHasNoCard() throws {
        let site = TestHub()
        let browser = try #require(site.join())
        site.round(at: 1000)
        _ = site.messages(browser)
        func device(_ number: Int) -> OutputDevice {
            OutputDevice(family: "bose", address: "\(number)", addressType: "public")
        }
        for event in ["connect_failed", "pairing", "paired", "refused", "malformed"] as [EventName] {
            site.line(event, of: device(0))
        }
        site.hub.mailbox.post(.presence(device(0), .disconnected))
        site.round(at: 2000)
        #expect(site.hub.device("0/public") == nil)
        #expect(!site.messages(browser).contains { $0.hasPrefix(#"{"event":"device""#) })
        for number in 1...1024 {
            site.hub.mailbox.post(.presence(device(number), .connected))
        }
        site.round(at: 3000)
        for number in [5, 3, 4] {
            site.hub.mailbox.post(.presence(device(number), .disconnected))
            site.line("connect_failed", of: device(2000))
        }
        site.round(at: 4000)
        #expect(site.hub.device("2000/public") == nil && site.hub.device("5/public") != nil)
        site.hub.mailbox.post(.presence(device(2000), .connected))
        site.round(at: 5000)
        #expect(site.hub.device("2000/public") != nil && site.hub.device("5/public") == nil)
        #expect(site.hub.device("3/public") != nil && site.hub.device("4/public") != nil)
    }

    @Test func ofConnectedDevicesNoneMakesRoom() {
        let site = TestHub()
        for number in 0..<1025 {
            let device = OutputDevice(family: "bose", address: "\(number)", addressType: "public")
            site.hub.mailbox.post(.presence(device, .connected))
        }
        site.round(at: 1000)
        #expect(site.hub.device("1023/public") != nil && site.hub.device("0/public") != nil)
        #expect(site.hub.device("1024/public") == nil)
    }

    /// 30 samples a second of each sensor: the newest one counts.
    @Test func samplesAreThinned() throws {
        let site = TestHub()
        let browser = try #require(site.join())
        site.line("press")
        site.round(at: 1000)
        _ = site.messages(browser)
        for number in 0..<3 {
            site.line("sample", #","sensor":"orientation","n":\#(number)"#)
            site.round(at: 1010)
        }
        #expect(site.messages(browser) == [])
        #expect(site.hub.deadline == 1033)
        site.round(at: 1032)
        #expect(site.messages(browser) == [])
        site.round(at: 1033)
        #expect(site.messages(browser) == [#"{"event":"sample","sensor":"orientation","n":2}"#])
        #expect(site.hub.deadline == 2000)
        site.round(at: 1066)
        #expect(site.messages(browser) == [])
        // Two sensors do not stand in each other's way; a sample without a sensor is none.
        site.line("sample", #","sensor":"orientation","n":3"#)
        site.line("sample", #","sensor":"battery","n":4"#)
        site.line("sample", #","n":5"#)
        site.round(at: 1099)
        #expect(site.messages(browser).count == 2)
        // They are part of the state that the next browser learns.
        let second = try #require(site.join())
        site.round(at: 1100)
        let learned = try #require(site.messages(second).last)
        #expect(learned.contains(#""orientation":{"n":3}"#) && learned.contains(#""battery":{"n":4}"#))
    }

    @Test func withoutABrowserNothingWaits() throws {
        let site = TestHub(expiry: 5000)
        site.line("sample", #","sensor":"orientation","n":1"#)
        site.round(at: 1000)
        #expect(!site.isWatched)
        #expect(site.hub.deadline == 5000)
        let browser = try #require(site.join())
        #expect(site.hub.count == 1)
        site.round(at: 1100)
        // The sample of before was not kept for it as a message of its own.
        #expect(site.messages(browser).map { $0.contains(#""event":"sample""#) } == [false, false, false])
        site.hub.leave(browser)
        #expect(site.hub.count == 0)
        site.round(at: 1200)
        #expect(!site.isWatched)
        #expect(site.hub.deadline == 5000)
    }

    @Test func theConnectionsOfSlowRequestsEndInTime() throws {
        let site = TestHub(expiry: 1500)
        _ = try #require(site.join())
        site.round(at: 1000)
        #expect(site.hub.deadline == 1500)
    }

    @Test func eightBrowsersGetLiveData() {
        let site = TestHub()
        let browsers = (0..<8).map { _ in site.join() }
        #expect(browsers.allSatisfy { $0 != nil })
        #expect(site.join() == nil)
        site.hub.leave(browsers[3]!)
        #expect(site.join() != nil)
        #expect(site.hub.count == 8)
    }

    /// A slow browser gets `gateway` and all `device` again, as soon as it has read what waited; others lose nothing.
    @Test func aSlowBrowserLearnsEverythingAgain() throws {
        let site = TestHub()
        let (slow, quick) = (try #require(site.join()), try #require(site.join()))
        site.line("press")
        site.round(at: 1000)
        let padding = String(repeating: "x", count: 9000)
        for number in 0..<8 {
            site.line("press", #","text":"\#(padding)","n":\#(number)"#)
            site.round(at: 1001)
            #expect(site.messages(quick).isEmpty == false)
        }
        #expect(site.hub.dropped == 1)
        #expect(slow.isBehind)
        site.round(at: 1002)
        #expect(slow.isBehind)
        _ = site.messages(slow)
        #expect(site.hub.deadline == 1033)
        site.round(at: 1003)
        #expect(site.messages(slow).map { String($0.prefix(18)) } == [#"{"event":"gateway""#, #"{"event":"device","#])
        #expect(!slow.isBehind)
        #expect(site.messages(quick) == [])
        // What was lost stays counted when the browser goes.
        site.hub.leave(slow)
        #expect(site.hub.dropped == 1)
    }

    /// Device by device, so that it fits whatever their number is.
    @Test func manyDevicesAreLearnedInParts() throws {
        let site = TestHub()
        for number in 100..<1100 {
            site.line("press", of: OutputDevice(family: "feelspace", address: "A\(number)", addressType: "public"))
        }
        site.round(at: 900)
        let browser = try #require(site.join())
        site.round(at: 1000)
        var learned: [String] = []
        var now: UInt64 = 1000
        var rounds = 0
        while learned.count < 1000, rounds < 1000 {
            #expect(browser.waiting < Client.capacity)
            learned += site.messages(browser).filter { $0.hasPrefix(#"{"event":"device""#) }
            now += 1
            rounds += 1
            site.round(at: now)
        }
        #expect(learned.count == 1000 && Set(learned).count == 1000)
        #expect(rounds > 10)
        #expect(browser.dropped == 0)
    }

    /// A card is not left out because it is large.
    @Test func aDeviceWithMoreThanTheBufferIsLearned() throws {
        let site = TestHub()
        let text = String(repeating: "x", count: 40_000)
        for event in ["mode", "battery"] as [EventName] { site.line(event, #","\#(event)_text":"\#(text)""#) }
        site.round(at: 1000)
        let browser = try #require(site.join())
        site.round(at: 1001)
        let cards = site.messages(browser).filter { $0.hasPrefix(#"{"event":"device""#) }
        #expect(cards.count == 1 && cards.allSatisfy { $0.utf8.count > Client.capacity })
        #expect(browser.dropped == 0)
        site.round(at: 1002)
        #expect(!site.messages(browser).contains { $0.hasPrefix(#"{"event":"device""#) }, "once")
    }

    /// What found no room in the mailbox may have been anything.
    @Test func whatTheMailboxLostIsLearnedAgain() throws {
        let site = TestHub()
        let browser = try #require(site.join())
        site.round(at: 1000)
        _ = site.messages(browser)
        site.line("sample", #","text":"\#(String(repeating: "x", count: 1 << 20))""#)
        site.line("press")
        site.round(at: 1001)
        _ = site.messages(browser)
        site.round(at: 1002)
        #expect(
            site.messages(browser).map { String($0.prefix(18)) } == [#"{"event":"gateway""#, #"{"event":"device","#])
        // At once, if the browser has read what it was sent.
        site.line("sample", #","text":"\#(String(repeating: "x", count: 1 << 20))""#)
        site.line("press")
        site.round(at: 1003)
        #expect(site.messages(browser).first?.hasPrefix(#"{"event":"gateway""#) == true)
    }

    /// libmicrohttpd asks again and again unless the connection is suspended, and resumes it once.
    @Test func aBrowserWithoutAnythingToReadIsSuspended() throws {
        let site = TestHub()
        let browser = try #require(site.join())
        var buffer = [CChar](repeating: 0, count: 100)
        let connection = "MHD_suspend_connection"
        var (count, suspended) = failing(connection, with: 1, all: true) { site.hub.read(browser, &buffer, 100) }
        #expect(count == 0 && suspended == 1 && browser.isSuspended)
        // The greeting resumes it; the status of the same round need not.
        var (_, resumed) = failing("MHD_resume_connection", with: 1, all: true) { site.round(at: 1000) }
        #expect(resumed == 1 && !browser.isSuspended)
        (count, suspended) = failing(connection, with: 1, all: true) { site.hub.read(browser, &buffer, 100) }
        #expect(count == 100 && suspended == 0 && !browser.isSuspended)
        // Nothing to send: it stays suspended.
        _ = site.messages(browser)
        _ = failing(connection, with: 1, all: true) { site.hub.read(browser, &buffer, 100) }
        (_, resumed) = failing("MHD_resume_connection", with: 1, all: true) { site.round(at: 1001) }
        #expect(resumed == 0 && browser.isSuspended)
        // One that comes later is greeted without the status of every second.
        let second = try #require(site.join())
        _ = failing(connection, with: 1, all: true) { site.hub.read(second, &buffer, 100) }
        (_, resumed) = failing("MHD_resume_connection", with: 1, all: true) { site.round(at: 1002) }
        #expect(resumed == 1 && browser.isSuspended && !second.isSuspended)
        site.hub.leave(second)
        // The end resumes it, so that it is read to its end.
        site.hub.mailbox.post(.finish)
        (_, resumed) = failing("MHD_resume_connection", with: 1, all: true) { site.hub.run() }
        #expect(resumed == 1)
        #expect(site.hub.read(browser, &buffer, 100) < 0)
    }

    /// What was read of a buffer that is never empty makes room again.
    @Test func whatWasReadMakesRoom() {
        let client = Client(OpaquePointer(bitPattern: 8)!)
        var buffer = [CChar](repeating: 0, count: Client.capacity)
        var text: [UInt8] = []
        var written: [UInt8] = []
        for number in 0..<40 {
            let message = [UInt8](repeating: UInt8(number), count: 10_000)
            client.append(message)
            written += Array("data: ".utf8) + message + Array("\n\n".utf8)
            let count = client.take(&buffer, number < 3 ? 5_000 : 10_000)
            text += buffer.prefix(count).map { UInt8(bitPattern: $0) }
            // Half of the buffer at most was read and is still kept.
            #expect(client.kept - client.waiting <= Client.capacity / 2)
        }
        #expect(client.dropped == 0)
        #expect(client.waiting == written.count - text.count)
        #expect(text == Array(written.prefix(text.count)))
        #expect(client.take(&buffer, Client.capacity) == written.count - text.count)
        #expect(client.kept == 0)
    }

    @Test func theEndIsTheEnd() {
        let site = TestHub()
        site.hub.mailbox.post(.finish)
        site.hub.run()
        #expect(site.join() == nil)
    }
}
