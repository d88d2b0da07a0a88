// SPDX-License-Identifier: MIT
// Activ5: serves one trainer for `run` and `stream`.
import CTendon
import Tendon
import TendonActiv5
import TendonOutputs
import TendonSupport

/// The stream options of a trainer.
struct Activ5Stream: FamilyStream, DeviceSource {
    let force: Bool
    let motion: Bool
    /// Hertz.
    let rate: Int?
    let keepsAwake: Bool

    private static let measure = Option(
        name: "--measure", value: "LIST", help: "force, imu, both with commas, or none", isList: true,
        standard: "force", takes: .parsed { (text) throws(CommandError) in _ = try measures(text) })
    private static let rate = Option(
        name: "--rate", value: "HZ",
        help: "samples per second; default: the setting of the device. The simulated trainer takes 1 to 200",
        takes: .integer(1...32767))
    static let options: [Option] = [
        measure, rate,
        Option(name: "--evergreen", value: nil, help: "keep it from switching itself off after 7 minutes"),
    ]

    private static func measures(_ list: String) throws(CommandError) -> Set<String> {
        let words = listWords(list)
        if words == ["none"] { return [] }
        try check(words, standingAlone: ["none"])
        for word in words where !["force", "imu"].contains(word) {
            throw .unknown("measure", word, among: ["force", "imu", "none"])
        }
        return Set(words)
    }

    init(_ arguments: Arguments) throws(CommandError) {
        try self.init(arguments, measures: arguments.value(Self.measure) ?? "")
    }

    init(_ arguments: Arguments, measures: String) throws(CommandError) {
        let words = try Activ5Stream.measures(measures)
        force = words.contains("force")
        motion = words.contains("imu")
        rate = try arguments.integer(Self.rate)
        keepsAwake = arguments.has("--evergreen")
    }

    static let happenings = [
        RuleEvent(name: "squeeze", sources: [RuleSource("squeeze", only: ("state", "squeezed"))]),
        RuleEvent(name: "release", sources: [RuleSource("squeeze", only: ("state", "released"))]),
        RuleEvent(name: "double_squeeze", sources: [RuleSource("double_squeeze")]),
    ]
    static let values = [RuleValue(name: "force", event: "sample", member: "force_n"), RuleValue.battery]

    static let actions = RuleAction.all(of: "activ5")

    @TendonActor
    func view(of device: ServedDevice) -> DeviceView { TrainerView(rate, device) }

    var choice: DeviceChoice {
        DeviceChoice(TENDON_DEVICE_ACTIV5) {
            ($0.force, $0.motion, $0.evergreen) = (force, motion, keepsAwake)
            $0.rate_hz = UInt16(rate ?? 0)
        }
    }
}

/// Force, and two axes of the acceleration.
private final class TrainerView: DeviceView {
    /// Samples per second that were asked for, and as far as they are known.
    private let wanted: Int?
    private var rate = 0.0

    init(_ wanted: Int?, _ served: ServedDevice) {
        self.wanted = wanted
        super.init(served)
    }

    override func begin(_ device: tendon_device, _ identity: JSON, _ change: inout RowChange) {
        rate = Double(wanted ?? 0)
    }

    override func complete(_ sample: inout OutputSample, _ event: DeviceEvent, _ index: Int) {
        sample.rate = rate
        guard let c = event.c.of.activ5?.pointee, c.kind == TENDON_ACTIV5_EVENT_IMU, let message = c.message else {
            return
        }
        sample.deviceTime = message.pointee.imu.timestamp * 1000
    }

    override func show(sample event: DeviceEvent, _ line: DeviceLine, _ change: inout RowChange) {
        guard let message = event.c.of.activ5?.pointee.message?.pointee else { return }
        if event.c.of.activ5.pointee.kind == TENDON_ACTIV5_EVENT_ISOMETRIC {
            change.readings =
                [Reading(name: "force", value: message.newtons, unit: "N")]
                + readings.filter { $0.name != "force" }
        } else {
            let acceleration = message.imu.acceleration
            change.show(Reading(name: "ay", value: acceleration.1, unit: "g", decimals: 2), in: readings)
            change.show(Reading(name: "az", value: acceleration.2, unit: "g", decimals: 2), in: readings)
        }
    }

    override func show(_ line: DeviceLine, _ event: DeviceEvent, _ change: inout RowChange) {
        switch "\(line.name)" {
        case "squeeze": change.note = line["state"]?.string == "squeezed" ? "squeezed" : ""
        case "double_squeeze": change.note = "double squeeze"
        case "missing":
            if case .array(let what) = line["what"], what.contains("sample_rate") { rate = 0 }
        case "refused": refused(event)
        default: break
        }
    }

    private func refused(_ event: DeviceEvent) {
        guard let wanted, event.c.of.activ5?.pointee.request?.pointee.characteristic == TENDON_ACTIV5_SAMPLE_RATE
        else { return }
        rate = 0
        let who = served.label.name.map(sanitized) ?? "\(served.address)"
        Log.write(
            .warning,
            "\(who): the trainer rejects \(wanted) samples per second and keeps its own rate; try: a lower --rate; "
                + "the simulated trainer takes 1 to 200")
    }
}

/// A sample of a command.
protocol Activ5Line: Sendable {
    func write(to line: inout LineWriter)
    /// For a person.
    var text: String { get }
}

extension A5Force: Activ5Line {
    func write(to line: inout LineWriter) {
        line.members { tendon_activ5_force_members($0, newtons, times.receivedAt) }
    }

    var text: String { right(fixed(newtons, 2), 8) + " N" }
}

extension IMUObject: Activ5Line {
    func write(to line: inout LineWriter) {
        var imu = tendon_activ5_imu()
        imu.timestamp = timestamp
        imu.acceleration = (accelerationX, accelerationY, accelerationZ)
        imu.gyro = (gyroX, gyroY, gyroZ)
        let error = UInt32(((times.errorMilliseconds ?? 0) * 1000).rounded())
        line.members { tendon_activ5_imu_members($0, &imu, times.receivedAt, times.sampledAt ?? 0, error) }
    }

    var text: String {
        func columns(_ x: Double, _ y: Double, _ z: Double) -> String {
            [x, y, z].map { right(fixed($0, 3), 8) }.joined()
        }
        return columns(accelerationX, accelerationY, accelerationZ) + " g  " + columns(gyroX, gyroY, gyroZ)
            + " rad/s  " + right(fixed(timestamp, 3), 10) + " s"
    }
}

/// The error as one line.
func describe(_ error: A5Error) -> String {
    if case .host(let error) = error { return describe(error) }
    return error.text
}
