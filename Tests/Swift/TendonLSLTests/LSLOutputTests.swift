// SPDX-License-Identifier: MIT
import Synchronization
import TendonOutputs
import TendonSupport
import Testing

@testable import TendonLSL

private let head = OutputDevice(
    family: "bose", address: "C0:00:00:00:00:01", addressType: "random", name: "studio", isNamed: true)
private let families = [
    FamilyDescription(
        family: "bose", manufacturer: "Bose", model: "AR wearable",
        entities: [
            Entity("gesture", "Gesture", .happening(event: "gesture", member: "gesture", types: ["double_tap"]))
        ]),
    FamilyDescription(
        family: "feelspace", manufacturer: "feelSpace", model: "naviBelt",
        entities: [Entity("button", "Button", .happening(event: "button", member: "button", types: ["home"]))]),
    FamilyDescription(
        family: "fjorden", manufacturer: "Fjorden", model: "Camera grip",
        entities: [Entity("grip", "Controls", .happening(event: "grip", member: "grip_event", types: []))]),
    FamilyDescription(
        family: "activ5", manufacturer: "Activbody", model: "Activ5",
        entities: [Entity("double", "Double", .happening(event: "double_squeeze", member: nil, types: []))]),
]

private let rotation = SampleForm(
    "rotation",
    ["x", "y", "z", "w"].map { SampleChannel($0) } + ["pitch", "roll", "yaw"].map { SampleChannel($0, "deg") })
private let force = SampleForm("force", [SampleChannel("force", "N")])

private final class Source: SampleSource {
    let device: OutputDevice
    init(_ device: OutputDevice = head) { self.device = device }
}

private final class Reports: Sendable {
    private let texts = Mutex<[String]>([])
    var all: [String] { texts.withLock { $0 } }
    func add(_ text: String) { texts.withLock { $0.append(text) } }
}

private func sample(
    _ form: SampleForm = force, received: UInt64 = 2_000_000_000, sampled: UInt64? = nil, rate: Double = 50
) -> OutputSample {
    var sample = OutputSample(form)
    for channel in 0..<sample.count { sample[channel] = Double(channel) + 0.5 }
    (sample.receivedAt, sample.sampledAt, sample.rate) = (received, sampled, rate)
    return sample
}

extension OutputDevice {
    fileprivate func with(name: String?) -> OutputDevice {
        var device = self
        device.name = name
        return device
    }
}

struct LSLOutputTests {
    private let library = FakeLibrary()
    private let reports = Reports()

    private func output() throws -> LSLOutput {
        try LSLOutput(library.functions, families: families, report: { [reports] in reports.add($0) })
    }

    private func happens(
        _ event: EventName, _ device: OutputDevice = head, _ members: String = "", in output: LSLOutput
    ) {
        output.event(event, of: device) { $0.raw("{\"event\":\"\(event)\"\(members)}\n") }
    }

    // MARK: Descriptions

    @Test func aSensorIsDescribed() throws {
        try output().sample(sample(rotation), of: Source())
        let made = try #require(library.made.first)
        #expect(made.name == "studio rotation")
        #expect(made.type == "MoCap")
        #expect(made.source == "tendon/C0:00:00:00:00:01/random/rotation")
        #expect(made.channels == 7)
        #expect(made.rate == 50)
        #expect(made.format == 2)
        #expect(
            made.elements == [
                "acquisition", "acquisition/manufacturer=Bose", "acquisition/model=AR wearable",
                "device", "device/family=bose", "device/address=C0:00:00:00:00:01", "device/address_type=random",
                "channels",
                "channels/channel", "channels/channel/label=x", "channels/channel/type=OrientationB",
                "channels/channel", "channels/channel/label=y", "channels/channel/type=OrientationC",
                "channels/channel", "channels/channel/label=z", "channels/channel/type=OrientationD",
                "channels/channel", "channels/channel/label=w", "channels/channel/type=OrientationA",
                "channels/channel", "channels/channel/label=pitch", "channels/channel/unit=deg",
                "channels/channel/type=OrientationPitch",
                "channels/channel", "channels/channel/label=roll", "channels/channel/unit=deg",
                "channels/channel/type=OrientationRoll",
                "channels/channel", "channels/channel/label=yaw", "channels/channel/unit=deg",
                "channels/channel/type=OrientationYaw",
            ])
        #expect(library.left == 0)
    }

    @Test(
        arguments: [
            (
                "imu", [SampleChannel("acceleration_x", "g"), SampleChannel("rotation_z", "rad/s")], "MoCap",
                ["AccelerationX", "AngularVelocityZ"]
            ),
            ("force", [SampleChannel("force", "N")], "Force", ["Force"]),
            (
                "orientation",
                [SampleChannel("heading", "deg"), SampleChannel("accurate"), SampleChannel("accuracy", "deg")],
                "MoCap", ["OrientationHeading", "orientation", "orientation"]
            ),
            ("heart_rate", [SampleChannel("bpm", "/min")], "heart_rate", ["heart_rate"]),
        ] as [(String, [SampleChannel], String, [String])])
    func types(_ sensor: String, _ channels: [SampleChannel], _ type: String, _ types: [String]) throws {
        try output().sample(sample(SampleForm(sensor, channels), rate: 0), of: Source())
        let made = try #require(library.made.first)
        #expect(made.type == type)
        #expect(made.rate == 0)
        #expect(made.elements.filter { $0.contains("/type=") } == types.map { "channels/channel/type=" + $0 })
    }

    /// An apostrophe ends a text in the queries of receivers; a name from the air can have anything.
    @Test func namesThatQueriesCannotHave() throws {
        try output().sample(sample(), of: Source(head.with(name: "Ann's\u{1B}head")))
        #expect(library.made.first?.name == "Ann_s\u{FFFD}head force")
    }

    @Test func withoutANameTheAddressIs() throws {
        try output().sample(sample(), of: Source(head.with(name: nil)))
        #expect(library.made.first?.name == "C0:00:00:00:00:01 force")
    }

    // MARK: Samples

    @Test func samplesHaveTheirNumbersAndTheTimeWhenTheyWereMeasured() throws {
        let output = try output(), source = Source()
        output.sample(sample(rotation, received: 2_000_000_000, sampled: 1_987_654_321), of: source)
        output.sample(sample(force, received: 3_000_000_001), of: source)
        output.sample(sample(force, received: 0), of: source)
        #expect(
            library.takePushed() == [
                .init(outlet: "studio rotation", numbers: [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5], time: 1.987654321),
                .init(outlet: "studio force", numbers: [0.5], time: 3.000000001),
                .init(outlet: "studio force", numbers: [0.5], time: 0),
            ])
        #expect(library.made.count == 2)
        #expect(output.takesNumbers)
    }

    @Test func aSampleWithoutNumbersIsNone() throws {
        try output().sample(OutputSample(SampleForm("words", [])), of: Source())
        #expect(library.made.isEmpty)
    }

    @Test func streamsLastOverAReconnection() async throws {
        let output = try output()
        happens("connected", in: output)
        output.device(head, is: .connected)
        output.sample(sample(), of: Source())
        happens("disconnected", head, #","reason":"connection_lost""#, in: output)
        output.device(head, is: .disconnected)
        happens("connected", in: output)
        output.device(head, is: .connected)
        output.sample(sample(), of: Source())
        #expect(library.made.map(\.name) == ["studio markers", "studio force"])
        #expect(
            library.takePushed().map { $0.outlet + ":" + $0.text } == [
                "studio markers:connected", "studio force:", "studio markers:disconnected connection_lost",
                "studio markers:connected", "studio force:",
            ])
        await output.finish()
        #expect(library.ended.sorted() == ["studio force", "studio markers"])
    }

    @Test func aForgottenDeviceHasNoStreams() async throws {
        let output = try output()
        happens("connected", in: output)
        output.sample(sample(), of: Source())
        output.device(head, is: .forgotten)
        happens("gesture", head, #","gesture":"double_tap""#, in: output)
        #expect(library.made.count == 2)
        happens("connected", in: output)
        #expect(library.made.map(\.name) == ["studio markers", "studio force", "studio markers"])
        await output.finish()
        #expect(library.ended.sorted() == ["studio force", "studio markers", "studio markers"])
        #expect(library.open.isEmpty)
    }

    @Test func aRenamedDeviceHasStreamsWithItsName() async throws {
        let output = try output(), source = Source()
        output.sample(sample(), of: source)
        output.device(head.with(name: "stage"), is: .renamed)
        output.sample(sample(), of: source)
        #expect(library.made.map(\.name) == ["studio force", "stage force"])
        #expect(library.made[0].source == library.made[1].source)
        #expect(library.takePushed().map(\.outlet) == ["studio force", "stage force"])
        await output.finish()
        #expect(library.ended.sorted() == ["stage force", "studio force"])
    }

    /// A recorder would lose its stream.
    @Test func aStreamThatIsReceivedKeepsItsName() async throws {
        let output = try output(), source = Source()
        output.sample(sample(), of: source)
        library.receive(["studio force"])
        let renamed = head.with(name: "stage")
        output.device(renamed, is: .renamed)
        output.sample(sample(rate: 100), of: source)
        #expect(library.made.map(\.name) == ["studio force"])
        library.receive([])
        happens("connected", renamed, in: output)
        #expect(library.made.map(\.name).sorted() == ["stage force", "stage markers", "studio force"])
        #expect(library.made.first { $0.name == "stage force" }?.rate == 100)
        await output.finish()
    }

    @Test func anotherRate() async throws {
        let output = try output(), source = Source()
        for rate in [50, 50, 100.0] { output.sample(sample(rate: rate), of: source) }
        #expect(library.made.map(\.rate) == [50, 100])
        await output.finish()
        #expect(library.ended.count == 2)
    }

    /// A device file that was changed: samples with other channels cannot be in the same stream, whoever receives it.
    @Test func otherChannels() async throws {
        let output = try output(), source = Source()
        output.sample(sample(), of: source)
        library.receive(["studio force"])
        output.sample(
            sample(SampleForm("force", [SampleChannel("left", "N"), SampleChannel("right", "N")])), of: source)
        #expect(library.made.map(\.channels) == [1, 2])
        #expect(library.takePushed().map(\.numbers) == [[0.5], [0.5, 1.5]])
        await output.finish()
    }

    // MARK: Markers

    @Test(
        arguments: [
            (
                "gesture", "bose", #","gesture":"double_tap","gesture_id":129,"received_at":12.5,"sampled_at":12.25"#,
                "gesture double_tap", 12.25
            ),
            ("button", "feelspace", #","button":"home","press":"short","mode":"app""#, "button home short", 0),
            (
                "grip", "fjorden", #","grip_event":"customButtonPress","button":3,"count":1,"received_at":7.5"#,
                "grip customButtonPress 3", 7.5
            ),
            ("double_squeeze", "activ5", "", "double_squeeze", 0),
            ("disconnected", "unknown", #","reason":"device_disconnected""#, "disconnected device_disconnected", 0),
        ] as [(EventName, String, String, String, Double)])
    func markers(_ event: EventName, _ family: String, _ members: String, _ text: String, _ time: Double) throws {
        let output = try output()
        var device = head
        device.family = family
        happens("connected", device, in: output)
        #expect(output.takes(event, of: device))
        happens(event, device, members, in: output)
        let made = try #require(library.made.first)
        #expect(made.name == "studio markers")
        #expect(made.type == "Markers")
        #expect(made.format == 3)
        #expect(made.channels == 1)
        #expect(made.source == "tendon/C0:00:00:00:00:01/random/markers")
        #expect(
            library.takePushed() == [
                .init(outlet: "studio markers", text: "connected"),
                .init(outlet: "studio markers", text: text, time: time),
            ])
    }

    @Test(arguments: ["sample", "battery", "found", "button"] as [EventName])
    func otherEventsAreNone(_ event: EventName) throws {
        let output = try output()
        #expect(!output.takes(event, of: head))
        #expect(!output.takes("connected", of: nil))
        happens("connected", in: output)
        happens(event, in: output)
        #expect(library.takePushed().count == 1)
    }

    // MARK: Errors

    @Test(arguments: ["createInfo", "description", "append", "appendValue", "createOutlet"])
    func aStreamThatCannotBeMade(_ function: String) async throws {
        let output = try output(), source = Source()
        library.fail([function])
        for _ in 0..<3 { output.sample(sample(), of: source) }
        #expect(
            reports.all == [
                "the stream 'studio force' cannot be \(function == "createOutlet" ? "opened" : "described"): "
                    + "out of order; the next connection of the device tries it again"
            ])
        #expect(library.left == 0)
        library.fail([])
        output.sample(sample(), of: source)
        #expect(library.made.isEmpty)
        happens("connected", in: output)
        #expect(library.made.map(\.name).sorted() == ["studio force", "studio markers"])
        await output.finish()
    }

    @Test func aSampleThatIsRefused() throws {
        let output = try output(), source = Source()
        library.fail(["pushNumbers", "pushText"])
        happens("connected", in: output)
        for _ in 0..<3 { output.sample(sample(), of: source) }
        #expect(
            reports.all == [
                "a sample of 'studio markers' was not sent: out of order",
                "a sample of 'studio force' was not sent: out of order",
            ])
        library.fail([])
        output.sample(sample(), of: source)
        library.fail(["pushNumbers"])
        output.sample(sample(), of: source)
        #expect(reports.all.count == 3)
        let values = Dictionary(uniqueKeysWithValues: output.metrics.map { ($0.name, $0.samples[0].value) })
        #expect(values["tendon_lsl_refused_samples"] == 5)
        #expect(values["tendon_lsl_samples"] == 1)
    }

    @Test func anotherProtocolOrClock() {
        var functions = library.functions
        functions.protocolVersion = { 210 }
        var error = #expect(throws: LSLError.self) { try functions.check() }
        #expect(error?.text == "this liblsl has the protocol 2.1; 1.00 to 1.99 is known")
        functions = library.functions
        functions.clock = { LSLLibrary.now + 3600 }
        error = #expect(throws: LSLError.self) { try functions.check() }
        #expect(error?.text == "the clock of this liblsl is not that of the samples (CLOCK_MONOTONIC)")
    }

    // MARK: Bounds

    private func device(_ number: Int) -> OutputDevice {
        OutputDevice(family: "bose", address: "C0:00:00:00:01:\(number)", addressType: "random", name: "head \(number)")
    }

    @Test func thereAreNoMoreStreamsThanTheLimit() async throws {
        let output = try output()
        for number in 0...LSLOutput.limit { output.sample(sample(), of: Source(device(number))) }
        output.sample(sample(rotation), of: Source(device(0)))
        #expect(library.open.count == LSLOutput.limit)
        #expect(reports.all == ["there are 48 streams, which is the most; 'head 48 force' and others are not sent"])
        await output.finish()
        #expect(library.open.isEmpty)
    }

    /// A device that came when all were taken has no stream to give.
    @Test func whoHasNoStreamMakesNoRoom() async throws {
        let output = try output()
        for number in 0..<(LSLOutput.limit + 10) { output.sample(sample(), of: Source(device(number))) }
        for number in LSLOutput.limit..<(LSLOutput.limit + 10) { output.device(device(number), is: .disconnected) }
        for number in 60..<70 { output.sample(sample(), of: Source(device(number))) }
        #expect(library.open.count == LSLOutput.limit)
        output.device(device(7), is: .disconnected)
        output.sample(sample(), of: Source(head))
        #expect(library.made.last?.name == "studio force")
        await output.finish()
        #expect(library.ended.first == "head 7 force" && library.ended.count == LSLOutput.limit + 1)
    }

    @Test func aDeviceThatLeftMakesRoom() async throws {
        let output = try output()
        for number in 0..<LSLOutput.limit { output.sample(sample(), of: Source(device(number))) }
        for number in [5, 3, 4] { output.device(device(number), is: .disconnected) }
        library.receive(["head 5 force"])
        output.sample(sample(), of: Source(head))
        #expect(library.made.last?.name == "studio force")
        #expect(reports.all.isEmpty)
        await output.finish()
        #expect(library.ended.first == "head 3 force")
        #expect(library.ended.count == LSLOutput.limit + 1)
    }

    @Test func theEnd() async throws {
        let output = try output(), source = Source()
        happens("connected", in: output)
        output.sample(sample(), of: source)
        library.receive(["studio force"])
        let values = Dictionary(uniqueKeysWithValues: output.metrics.map { ($0.name, $0.samples[0].value) })
        #expect(values["tendon_lsl_streams"] == 2)
        #expect(values["tendon_lsl_received_streams"] == 1)
        #expect(values["tendon_lsl_samples"] == 2)
        await output.finish()
        #expect(library.open.isEmpty)
        _ = library.takePushed()
        output.sample(sample(), of: source)
        happens("connected", in: output)
        #expect(library.takePushed().isEmpty)
        #expect(library.made.count == 2)
    }

    @Test func theEndWithoutAStream() async throws {
        await (try output()).finish()
    }
}
