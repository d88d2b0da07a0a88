// SPDX-License-Identifier: MIT
// Activ5: serves one trainer for `run` and `stream`.
import CTendon
import Tendon
import TendonActiv5
import TendonOutputs
import TendonSupport

/// The stream options of a trainer.
struct Activ5Stream: FamilyStream {
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
        let words = Set(listWords(list))
        if words == ["none"] { return [] }
        for word in words where !["force", "imu"].contains(word) {
            throw .unknown("measure", word, among: ["force", "imu", "none"])
        }
        return words
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
    func server(of device: ServedDevice) -> any DeviceServer { Activ5Server(self, device) }

    /// Starts the requested streams; returns the unsupported ones.
    @TendonActor
    func start(_ device: A5Device) throws(A5Error) -> [String] {
        var lacking: [String] = []
        if let rate, case .failure(let error) = device.setSampleRate(sampleRate: rate) {
            guard error == .unsupported else { throw error }
            lacking.append("sample_rate")
        }
        if force { try device.startIsometric().get() }
        if motion {
            do throws(A5Error) {
                try device.startIMU()
            } catch {
                guard error == .imuUnsupported else { throw error }
                lacking.append("imu")
            }
        }
        device.evergreenMode = keepsAwake
        return lacking
    }
}

/// One trainer.
@TendonActor
private final class Activ5Server: DeviceServer {
    let served: ServedDevice
    private let wanted: Activ5Stream
    private let device: A5Device
    /// Samples per second, as far as they are known: without `--rate` the trainer has its own setting.
    private var rate = 0.0

    init(_ wanted: Activ5Stream, _ served: ServedDevice) {
        self.wanted = wanted
        self.served = served
        device = A5Device(served.address, on: served.central)
    }

    func open() async throws(ServingError) {
        do throws(A5Error) {
            try await device.openAndWait()
        } catch {
            if error.isCancelled { throw .cancelled }
            throw .failed(describe(error), canRetry: true)
        }
    }

    var identity: JSON {
        func known(_ text: String?) -> JSON { text.map { .string(sanitized($0)) } ?? .null }
        return [
            "generation": .string(device.usesNewProtocol ? "new" : "legacy"),
            "firmware": known(device.deviceVersion), "serial": known(device.serialNumber), "id": known(device.uuid),
        ]
    }

    func stream() async -> Ending {
        var events = device.events(capacity: 1024, includingSamples: false).makeAsyncIterator()
        let samples = device.onSamples(force: { [self] in take($0) }, motion: { [self] in take($0) })
        defer { for sample in samples { sample.cancel() } }
        var ending = Ending.lost
        if device.connected {
            start()
            while let event = await events.next(isolation: TendonActor.shared) {
                if case .deviceDisconnected(_, let error) = event {
                    ending = error.map(Ending.init) ?? .lost
                    break
                }
                happened(event)
            }
        }
        await device.closeAndWait()
        count()
        return Task.isCancelled ? .requested : ending
    }

    private func start() {
        do throws(A5Error) {
            let lacking = try wanted.start(device)
            rate = lacking.contains("sample_rate") ? 0 : Double(wanted.rate ?? 0)
            if !lacking.isEmpty {
                served.event("missing", ["what": JSON(lacking.map(JSON.string))])
                served.show("connected", note: "lacks " + lacking.joined(separator: ", "))
            }
            if device.usesNewProtocol { device.sendCommand(.battery) }
        } catch {
            served.event("configuration_failed", ["text": .string(describe(error))])
            served.show("connected", note: describe(error))
        }
    }

    func perform(_ call: any RuleCall) async throws(CommandError) {
        guard let call = call as? FamilyCall else { return }
        do throws(A5Error) {
            switch call.kind {
            case TENDON_ACT_ACTIV5_TARE: try await device.confirmed { $0.tare() }
            case TENDON_ACT_ACTIV5_START: try device.startIsometric().get()
            case TENDON_ACT_ACTIV5_STOP: try await device.confirmed { $0.stop() }
            default: break
            }
        } catch {
            throw CommandError(.failed, describe(error))
        }
    }

    private func count() {
        let (errors, samples) = (device.counters.errors, device.samplesReceived)
        served.update { row in
            row.counters.notifications = samples
            row.counters.samples = samples
            row.counters.malformed = errors
        }
    }

    private func happened(_ event: A5Event) {
        switch event {
        case .squeezeStateChanged(let state, _):
            let isSqueezed = state == .squeezed
            served.event("squeeze", ["state": .string(isSqueezed ? "squeezed" : "released")])
            served.update { $0.note = isSqueezed ? "squeezed" : "" }
        case .didDetectDoubleSqueeze:
            served.event("double_squeeze")
            served.update { $0.note = "double squeeze" }
        case .didReceiveBattery(_, let percent):
            served.event("battery", ["battery_percent": JSON(percent)])
            served.update { $0.battery = Int(percent) }
        case .didReceiveError(_, let characteristic, let error):
            served.event(
                "malformed", ["characteristic": .string(characteristic.rawValue), "text": .string(describe(error))])
            let errors = device.counters.errors
            served.update { $0.counters.malformed = errors }
        case .didComplete(_, let request, let error?):
            served.event("refused", ["request": .string(describe(request)), "text": .string(describe(error))])
            served.show("connected", note: describe(error))
            if request.characteristic == .sampleRate, let rate = wanted.rate {
                self.rate = 0
                let who = served.label.name.map(sanitized) ?? "\(served.address)"
                Log.write(
                    .warning,
                    "\(who): the trainer rejects \(rate) samples per second and keeps its own rate; try: a lower --rate; "
                        + "the simulated trainer takes 1 to 200")
            }
        default: break
        }
    }

    private func take(_ value: some Activ5Line) {
        let (isTable, received) = (served.reporter.isTable, device.samplesReceived)
        served.sample(numbers: value.numbers.with(rate: rate)) {
            value.write(to: &$0)
        } row: { row in
            row.counters.notifications = received
            row.counters.samples = received
            if isTable { value.show(&row) }
        }
        served.stopAtLimit()
    }
}

/// A sample as a line of JSON and as readings of the table.
protocol Activ5Line: Sendable {
    func write(to line: inout LineWriter)
    /// For outputs that want numbers.
    var numbers: OutputSample { get }
    /// For a person.
    var text: String { get }
    func show(_ row: inout DeviceRow)
}

extension A5Force: Activ5Line {
    func write(to line: inout LineWriter) {
        line.members { tendon_activ5_force_members($0, newtons, times.receivedAt) }
    }

    private static let form = SampleForm("force", [SampleChannel("force", "N")])

    var numbers: OutputSample {
        var sample = OutputSample(A5Force.form)
        sample.take(times)
        sample[0] = newtons
        return sample
    }

    var text: String { right(fixed(newtons, 2), 8) + " N" }

    func show(_ row: inout DeviceRow) {
        row.readings.removeAll { $0.name == "force" }
        row.readings.insert(Reading(name: "force", value: newtons, unit: "N"), at: 0)
    }
}

extension IMUObject: Activ5Line {
    func write(to line: inout LineWriter) {
        var imu = tendon_activ5_imu()
        imu.timestamp = timestamp
        imu.acceleration = (accelerationX, accelerationY, accelerationZ)
        imu.gyro = (gyroX, gyroY, gyroZ)
        line.members {
            tendon_activ5_imu_members($0, &imu, times.receivedAt, times.sampledAt ?? 0, times.errorMicroseconds)
        }
    }

    private static let form = SampleForm(
        "imu",
        ["x", "y", "z"].map { SampleChannel("acceleration_" + $0, "g") }
            + ["x", "y", "z"].map { SampleChannel("rotation_" + $0, "rad/s") })

    var numbers: OutputSample {
        var sample = OutputSample(IMUObject.form)
        sample.take(times)
        (sample[0], sample[1], sample[2]) = (accelerationX, accelerationY, accelerationZ)
        (sample[3], sample[4], sample[5]) = (gyroX, gyroY, gyroZ)
        return sample
    }

    var text: String {
        func columns(_ x: Double, _ y: Double, _ z: Double) -> String {
            [x, y, z].map { right(fixed($0, 3), 8) }.joined()
        }
        return columns(accelerationX, accelerationY, accelerationZ) + " g  " + columns(gyroX, gyroY, gyroZ)
            + " rad/s  " + right(fixed(timestamp, 3), 10) + " s"
    }

    func show(_ row: inout DeviceRow) {
        row.readings.removeAll { $0.name == "ay" || $0.name == "az" }
        row.readings.append(Reading(name: "ay", value: accelerationY, unit: "g", decimals: 2))
        row.readings.append(Reading(name: "az", value: accelerationZ, unit: "g", decimals: 2))
    }
}

/// The error as one line.
func describe(_ error: A5Error) -> String {
    if case .host(let error) = error { return describe(error) }
    return error.text
}

func describe(_ request: A5Request) -> String { "\(request.kind) \(request.characteristic.rawValue)" }
