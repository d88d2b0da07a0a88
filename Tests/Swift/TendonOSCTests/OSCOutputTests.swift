// SPDX-License-Identifier: MIT
// Datagrams as a receiver gets them, byte by byte where it matters, and what comes in.
import CTendon
import Glibc
import Synchronization
import TendonOutputs
import TendonSupport
import TestSupport
import Testing

@testable import TendonOSC

/// A socket on loopback.
private final class Receiver: Sendable {
    let descriptor: Int32
    let port: UInt16

    init() {
        descriptor = tendon_datagram_listen("127.0.0.1", 0)
        port = UInt16(tendon_datagram_port(descriptor))
    }

    deinit { tendon_datagram_close(descriptor) }

    /// Nobody listens at its port any more, which it keeps: a test beside this one would get it.
    func listenToAnother() {
        var other = sockaddr_in()
        (other.sin_family, other.sin_port) = (sa_family_t(AF_INET), UInt16(9).bigEndian)
        other.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &other) { other in
            other.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        precondition(status == 0)
    }

    /// What has arrived: sending on loopback delivers before it returns.
    func next() -> [UInt8]? {
        var packet = [UInt8](repeating: 0, count: 2048)
        let length = tendon_datagram_receive(descriptor, &packet, packet.count, nil)
        return length < 0 ? nil : Array(packet.prefix(Int(length)))
    }
}

private final class Source: SampleSource {
    let device: OutputDevice

    init(_ name: String?, _ address: String = "C0:00:00:00:00:01", family: String = "bose") {
        device = OutputDevice(family: family, address: address, addressType: "random_identity", name: name)
    }
}

/// Keeps what was set.
private final class Handler: CommandHandler {
    private let state = Mutex<[String]>([])
    let result: CommandResult

    init(_ result: CommandResult = .done(.null)) { self.result = result }

    var taken: [String] { state.withLock { $0 } }

    func set(_ actions: JSON, of device: OutputDevice) async -> CommandResult {
        state.withLock { $0.append("\(device.name ?? ""): \(LineWriter.text(actions))") }
        return result
    }
    func request(_ name: String, _ data: JSON) async -> CommandResult {
        state.withLock { $0.append("\(name): \(LineWriter.text(data))") }
        return result
    }
    func takesArguments(_ action: String, _ family: String) -> Bool { action == "vibrate" }
    func disconnect(_ address: String, _ addressType: String) async {}
    func start(_ work: @escaping @Sendable () async -> Void) { Task(operation: work) }
}

private final class Reports: Sendable {
    private let texts = Mutex<[String]>([])
    var all: [String] { texts.withLock { $0 } }
    func add(_ text: String) { texts.withLock { $0.append(text) } }
}

private let rotation = SampleForm("rotation", ["x", "y", "z", "w"].map { SampleChannel($0) })
private let force = SampleForm("force", [SampleChannel("force", "N")])

/// A level head that has turned to the right by 90 degrees.
private let toTheRight = tendon_quaternion(x: 0, y: 0, z: -0.5.squareRoot(), w: 0.5.squareRoot())

private func sample(_ form: SampleForm = rotation, at milliseconds: UInt64 = 1000, head: tendon_quaternion?)
    -> OutputSample
{
    var sample = OutputSample(form)
    sample.receivedAt = milliseconds * 1_000_000
    sample.head = head
    for channel in 0..<sample.count { sample[channel] = Double(channel) + 1.5 }
    return sample
}

@Suite struct OSCOutputTests {
    private let reports = Reports()

    private func output(
        _ destinations: [String], _ change: (inout OSCSettings) -> Void = { _ in }, handler: Handler = Handler(),
        listener: String? = nil
    ) throws -> OSCOutput {
        var settings = OSCSettings(try destinations.map { (text) in try OSCDestination(text) })
        settings.listener = try listener.map { try OSCListener($0) }
        change(&settings)
        return try OSCOutput(
            settings, handler: handler, family: { $0 == "belt" ? "feelspace" : nil },
            report: { [reports] in reports.add($0) })
    }

    @Test func anOrientationLeavesInTheCall() throws {
        let receiver = Receiver()
        let output = try output(["127.0.0.1:\(receiver.port)/sparta"])
        output.sample(sample(head: toTheRight), of: Source("studio"))
        // "/ypr" ",fff" -90 0 0
        #expect(
            receiver.next() == [
                0x2F, 0x79, 0x70, 0x72, 0, 0, 0, 0, 0x2C, 0x66, 0x66, 0x66, 0, 0, 0, 0, 0xC2, 0xB4, 0, 0, 0, 0, 0, 0, 0,
                0,
                0, 0,
            ])
        #expect(receiver.next() == nil)
    }

    @Test func rawSamplesHaveAnAddressOfTheirDevice() throws {
        let receiver = Receiver()
        let output = try output(["127.0.0.1:\(receiver.port)"])
        output.sample(sample(force, head: nil), of: Source("my trainer", family: "activ5"))
        let found = try #require(receiver.next())
        #expect(String(decoding: found.prefix(24), as: UTF8.self) == "/tendon/my_trainer/force")
        #expect(Array(found.suffix(8)) == [0x2C, 0x66, 0, 0, 0x3F, 0xC0, 0, 0])
        output.sample(sample(force, head: nil), of: Source(nil))
        #expect(
            String(decoding: try #require(receiver.next()).prefix(31), as: UTF8.self)
                == "/tendon/C0:00:00:00:00:01/force")
    }

    /// A word is its number, so that the others keep their places, as does what is not known.
    @Test func numbersKeepTheirPlaces() throws {
        let receiver = Receiver()
        let output = try output(["127.0.0.1:\(receiver.port)"])
        var value = sample(SampleForm("color", ["state", "red"].map { SampleChannel($0) }), head: nil)
        (value[0], value[1], value.words) = (2, .nan, ["on", nil])
        output.sample(value, of: Source("lamp", family: "lamp"))
        // ",ff" 2, not a number
        #expect(
            try #require(receiver.next()).suffix(12).elementsEqual([
                0x2C, 0x66, 0x66, 0, 0x40, 0, 0, 0, 0x7F, 0xC0, 0, 0,
            ]))
    }

    @Test func aRenamedDeviceHasAnotherAddress() throws {
        let receiver = Receiver()
        let output = try output(["127.0.0.1:\(receiver.port)"])
        let (old, new) = (Source("old"), Source("new"))
        output.sample(sample(force, head: nil), of: old)
        output.device(new.device, is: .renamed)
        output.sample(sample(force, head: nil), of: new)
        let names = [receiver.next(), receiver.next()].map {
            String(decoding: $0?.dropFirst(8).prefix(3) ?? [], as: UTF8.self)
        }
        #expect(names == ["old", "new"])
    }

    /// Its numbers may be those of other files by then.
    @Test func whatTheThreadHasClosedIsNotClosedAgain() async throws {
        var input: OSCInput?
        for _ in 0..<20 where input == nil {
            input = try? OSCInput(
                try OSCListener("\(Receiver().port)"), Handler(), family: { _ in nil }, report: { _ in })
        }
        #expect(input?.start() == 0)
        input?.finish()
        await eventually("the thread has ended") { isKnownUniquelyReferenced(&input) }
        #expect(calls(of: "close") { input = nil } == 0)
    }

    /// What is known of its head stays, with its newest name.
    @Test func theHeadOfARenamedDevice() throws {
        let receiver = Receiver()
        let output = try output(["127.0.0.1:\(receiver.port)/sparta"])
        let (old, new) = (Source("old"), Source("new"))
        output.sample(sample(head: toTheRight), of: old)
        output.device(new.device, is: .renamed)
        output.sample(sample(head: toTheRight), of: new)
        #expect(output.recenter(nil).map(\.name) == ["new"])
    }

    @Test func aDestinationOfOneDevice() throws {
        let (first, second) = (Receiver(), Receiver())
        let output = try output([
            "127.0.0.1:\(first.port)/sparta/left ear", "127.0.0.1:\(second.port)/sparta/c0:00:00:00:00:02",
        ])
        output.sample(sample(head: toTheRight), of: Source("left ear"))
        #expect(first.next() != nil && second.next() == nil)
        output.sample(sample(head: toTheRight), of: Source(nil, "C0:00:00:00:00:02"))
        #expect(first.next() == nil && second.next() != nil)
    }

    @Test func aDestinationOfOneDeviceByAddressAndType() async throws {
        let receivers = [Receiver(), Receiver(), Receiver()]
        let ends = ["C0:00:00:00:00:01/random", "c0:00:00:00:00:01/random_identity", "C0:00:00:00:00:01/public"]
        let output = try output(zip(receivers, ends).map { "127.0.0.1:\($0.port)/sparta/\($1)" })
        output.sample(sample(head: toTheRight), of: Source("left ear"))
        #expect(receivers.map { $0.next() != nil } == [true, true, false])
    }

    /// At the end, of each device that was not there; one that was there without an orientation is no mistake of a name.
    @Test func aDeviceThatWasNotSeenIsSaid() async throws {
        let receiver = Receiver()
        let ends = ["", "/left ear", "/nobody", "/C0:00:00:00:00:02/random", "/raw"]
        let output = try output(ends.map { "127.0.0.1:\(receiver.port)/sparta\($0)" })
        output.device(Source("other", "C0:00:00:00:00:02").device, is: .connected)
        output.sample(sample(head: toTheRight), of: Source("left ear"))
        #expect(reports.all == [])
        await output.finish()
        #expect(
            reports.all
                == ["nobody", "raw"].map {
                    "127.0.0.1:\(receiver.port) is of the device '\($0)' alone, which was not connected"
                })
    }

    private func yaw(_ packet: [UInt8]?) -> Float? {
        guard let packet, packet.count == 28 else { return nil }
        return Float(bitPattern: packet[16..<20].reduce(0) { $0 << 8 | UInt32($1) })
    }

    @Test func recenteringIsOfTheDevice() throws {
        let receiver = Receiver()
        let output = try output(["127.0.0.1:\(receiver.port)/sparta"])
        let (one, other) = (Source("one"), Source("other", "C0:00:00:00:00:02"))
        #expect(output.recenter(nil) == [], "nothing has an orientation yet")
        output.sample(sample(head: toTheRight), of: one)
        output.sample(sample(head: toTheRight), of: other)
        _ = (receiver.next(), receiver.next())
        #expect(output.recenter(one.device) == [one.device])
        output.sample(sample(at: 1020, head: toTheRight), of: one)
        output.sample(sample(at: 1020, head: toTheRight), of: other)
        #expect(yaw(receiver.next()) == 0)
        #expect(yaw(receiver.next()) == -90)
        #expect(Set(output.recenter(nil).map(\.name)) == ["one", "other"])
        // The reference outlives the connection, the orientation does not.
        output.device(one.device, is: .disconnected)
        #expect(output.recenter(one.device) == [])
        output.sample(sample(at: 9000, head: toTheRight), of: one)
        #expect(yaw(receiver.next()) == 0)
        output.device(one.device, is: .forgotten)
        output.sample(sample(at: 9020, head: toTheRight), of: one)
        #expect(yaw(receiver.next()) == -90)
    }

    /// Each destination of orientations, unless a device may send one.
    @Test func destinationsThatGetNothing() throws {
        let settings = OSCSettings(
            try ["127.0.0.1:7000/iem", "[::1]:9000", "studio.local:4242/opentrack"].map { (text) in
                try OSCDestination(text)
            })
        let why =
            " takes orientations, and none will be sent: they are those of Bose wearables, of the sensors "
            + "rotation and game_rotation"
        #expect(settings.unused(false) == ["127.0.0.1:7000" + why, "studio.local:4242" + why])
        #expect(settings.unused(true) == [])
    }

    @Test func twoSensorsAreNotMixed() throws {
        let receiver = Receiver()
        let output = try output(["127.0.0.1:\(receiver.port)/sparta"])
        let source = Source("studio")
        let game = SampleForm("game_rotation", rotation.channels)
        output.sample(sample(game, at: 1000, head: toTheRight), of: source)
        #expect(receiver.next() != nil, "alone, any sensor gives it")
        output.sample(sample(at: 1010, head: toTheRight), of: source)
        output.sample(sample(game, at: 1020, head: toTheRight), of: source)
        #expect(receiver.next() != nil)
        #expect(receiver.next() == nil, "beside a rotation, the other is left out")
        output.sample(sample(game, at: 3000, head: toTheRight), of: source)
        #expect(receiver.next() != nil, "it has ended")
    }

    @Test func theRateIsOfOrientationsAlone() throws {
        let (paced, raw) = (Receiver(), Receiver())
        let output = try output(["127.0.0.1:\(paced.port)/sparta", "127.0.0.1:\(raw.port)"]) { $0.rate = 10 }
        let source = Source("studio")
        for index in 0..<50 { output.sample(sample(at: 1000 + 20 * UInt64(index), head: toTheRight), of: source) }
        func count(_ receiver: Receiver) -> Int { (0..<100).prefix { _ in receiver.next() != nil }.count }
        #expect(count(paced) == 10)
        #expect(count(raw) == 50)
    }

    @Test func nobodyListensIsSaidOnce() throws {
        let receiver = Receiver()
        let output = try output(["127.0.0.1:\(receiver.port)/sparta"])
        receiver.listenToAnother()
        for _ in 0..<20 { output.sample(sample(head: toTheRight), of: Source("studio")) }
        #expect(reports.all.count == 1)
        #expect(reports.all.first?.contains("no program listens at 127.0.0.1:") ?? false)
        let refused = output.metrics.first { $0.name == "tendon_osc_refused_datagrams" }
        #expect((refused?.samples.first?.value ?? 0) >= 10)
    }

    /// An address in a form that only the resolver takes.
    @Test func aNameIsResolved() async throws {
        let receiver = Receiver()
        let output = try output(["127.1:\(receiver.port)"])
        let source = Source("studio")
        await eventually("a sample arrives") {
            output.sample(sample(force, head: nil), of: source)
            return receiver.next() != nil
        }
        await output.finish()
    }

    /// No server is asked for a name with a part of more than 63 letters.
    @Test func aNameThatCannotBeResolved() async throws {
        let name = String(repeating: "a", count: 70) + ".example"
        let endpoint = try #require(Endpoint(name + ":9000"))
        let destinations = Destinations([endpoint], report: { [reports] in reports.add($0) })
        #expect(destinations.start() == 0)
        await eventually("it is said") { !reports.all.isEmpty }
        let why = String(cString: gai_strerror(getaddrinfo(name, nil, nil, nil)))
        #expect(reports.all.count == 1 && reports.all[0].contains(name) && reports.all[0].contains(why))
        destinations.finish()
    }

    /// The first one that takes a socket; else the reason of the last one.
    @Test func eachAddressOfANameIsTried() throws {
        let endpoint = try #require(Endpoint("127.1:9"))
        let first = failing("socket", with: EMFILE) { Destinations.connect(to: endpoint) }
        #expect(first.result.0 >= 0 && first.calls == 2)
        tendon_datagram_close(first.result.0)
        let none = failing("socket", with: EMFILE, all: true) { Destinations.connect(to: endpoint) }
        #expect(none.result == (-1, "Too many open files") && none.calls > 1)
    }

    @Test func nothingIsSentAfterTheEnd() async throws {
        let receiver = Receiver()
        let output = try output(["127.0.0.1:\(receiver.port)"])
        await output.finish()
        output.sample(sample(force, head: nil), of: Source("studio"))
        #expect(receiver.next() == nil)
    }

    // MARK: What comes in

    private func send(_ bytes: [UInt8], to port: UInt16) {
        let descriptor = tendon_datagram_connect("127.0.0.1", port)
        _ = tendon_datagram_send(descriptor, bytes, bytes.count)
        tendon_datagram_close(descriptor)
    }

    /// - Parameter arguments: as the tags say, padded.
    private func packet(_ address: String, _ tags: String = "", _ arguments: [UInt8] = []) -> [UInt8] {
        [address, "," + tags].flatMap { text in
            Array(text.utf8) + [UInt8](repeating: 0, count: 4 - text.utf8.count % 4)
        } + arguments
    }

    private func until(_ condition: () -> Bool) async throws {
        for _ in 0..<2000 {
            if condition() { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record("waited in vain")
    }

    /// A port that is free at this moment; another one if it is taken meanwhile.
    private func listening(_ destinations: [String] = [], _ handler: Handler) throws -> (OSCOutput, UInt16) {
        for _ in 0..<20 {
            let port = Receiver().port
            if let output = try? output(destinations, handler: handler, listener: "\(port)") { return (output, port) }
        }
        throw OSCError("no port")
    }

    /// No datagram of UDP has 70,000 bytes: sending fails each time.
    @Test func anErrorThatPersistsIsSaidOnce() throws {
        let receiver = Receiver()
        let endpoint = try #require(Endpoint("127.0.0.1:\(receiver.port)"))
        let destinations = Destinations([endpoint], report: { [reports] in reports.add($0) })
        #expect(destinations.start() == 0)
        let long = [UInt8](repeating: 0, count: 70_000)
        destinations.send([1], 1, to: 0)
        for _ in 0..<100 { destinations.send(long, long.count, to: 0) }
        let counts = destinations.metrics.map { $0.samples.first?.value }
        // Another socket is opened ten seconds later: all until then are dropped.
        destinations.send([2], 1, to: 0)
        #expect(counts == [1, 0, 100])
        #expect(receiver.next() == [1])
        #expect(receiver.next() == nil)
        #expect(reports.all.count == 1)
        #expect(reports.all.first?.hasSuffix("it is tried again") == true)
        destinations.finish()
    }

    @Test func actionsOfDevices() async throws {
        let handler = Handler()
        let (output, port) = try listening([], handler)
        #expect(output.port == port)
        output.device(Source("my belt", family: "feelspace").device, is: .connected)
        output.device(Source("grip", "C0:00:00:00:00:02", family: "fjorden").device, is: .connected)
        send(packet("/tendon/my_belt/vibrate", "if", [0, 0, 0, 90, 0x3F, 0, 0, 0]), to: port)
        try await until { handler.taken.count == 1 }
        send(packet("/tendon/belt/signal", "s", Array("warning\0".utf8)), to: port)
        try await until { handler.taken.count == 2 }
        send(packet("/tendon/C0:00:00:00:00:02/led"), to: port)
        try await until { handler.taken.count == 3 }
        #expect(
            handler.taken == [
                #"my belt: {"vibrate":[90,0.5]}"#, #"my belt: {"signal":["warning"]}"#, #"grip: {"led":null}"#,
            ])
        await output.finish()
    }

    @Test func whatIsNoCommandIsCounted() async throws {
        let handler = Handler(.failed("no"))
        let (output, port) = try listening([], handler)
        output.device(Source("waist", family: "feelspace").device, is: .connected)
        func rejected() -> Double {
            output.metrics.first { $0.name == "tendon_osc_rejected_messages" }?.samples.first?.value ?? 0
        }
        let wrong: [[UInt8]] = [
            [], [0x2F], Array("#bundle\0".utf8), packet("/tendon/nobody/vibrate"), packet("/other/waist/vibrate"),
            packet("/tendon/waist"), packet("/tendon/waist/vibrate/a"), packet("/tendon/recenter"),
            packet("/tendon/waist/vibrate", "b", [0, 0, 0, 0]), packet("/tendon/waist/vibrate"),
            [UInt8](repeating: 0x2F, count: 9000),
        ]
        for (index, bytes) in wrong.enumerated() {
            send(bytes, to: port)
            try await until { rejected() == Double(index + 1) }
        }
        #expect(handler.taken == ["recenter: {}", #"waist: {"vibrate":null}"#])
        output.device(Source("waist", family: "feelspace").device, is: .disconnected)
        send(packet("/tendon/waist/vibrate"), to: port)
        try await until { rejected() == Double(wrong.count + 1) }
        #expect(handler.taken.count == 2)
        await output.finish()
    }

    /// As an action of the device, or a request about all.
    @Test func recenteringByAMessage() async throws {
        let handler = Handler()
        let (output, port) = try listening([], handler)
        output.device(Source("studio").device, is: .connected)
        send(packet("/tendon/studio/recenter"), to: port)
        try await until { handler.taken.count == 1 }
        send(packet("/tendon/recenter"), to: port)
        try await until { handler.taken.count == 2 }
        #expect(handler.taken == [#"studio: {"recenter":null}"#, "recenter: {}"])
        await output.finish()
        // The port is free again.
        try await until {
            let again = tendon_datagram_listen("127.0.0.1", port)
            if again >= 0 { tendon_datagram_close(again) }
            return again >= 0
        }
    }

    /// A button sends a number when it is pressed, and 0 when it is released: an action without arguments is done once.
    @Test func aButtonOfAController() async throws {
        let handler = Handler()
        let (output, port) = try listening([], handler)
        output.device(Source("waist", family: "feelspace").device, is: .connected)
        let one: [UInt8] = [0x3F, 0x80, 0, 0]
        let none: [UInt8] = [0, 0, 0, 0]
        for released in [packet("/tendon/recenter", "f", none), packet("/tendon/recenter", "F")] {
            send(packet("/tendon/recenter", "f", one), to: port)
            send(released, to: port)
        }
        for (tag, value) in [
            ("f", one), ("f", none), ("i", [0, 0, 0, 1]), ("i", none), ("T", []), ("F", []), ("N", []),
        ] {
            send(packet("/tendon/waist/stop", tag, value), to: port)
        }
        // With arguments, 0 is one of them; two numbers are no button.
        send(packet("/tendon/waist/vibrate", "i", none), to: port)
        send(packet("/tendon/waist/stop", "ii", none + none), to: port)
        let expected =
            ["recenter: {}", "recenter: {}"] + [String](repeating: #"waist: {"stop":null}"#, count: 4)
            + [#"waist: {"vibrate":[0]}"#, #"waist: {"stop":[0,0]}"#]
        try await until { handler.taken.count == expected.count }
        #expect(handler.taken.sorted() == expected.sorted())
        await output.finish()
    }

    @Test func aPortThatIsTaken() throws {
        let taken = Receiver()
        #expect(throws: OSCError.self) { try output([], listener: "\(taken.port)") }
    }
}
