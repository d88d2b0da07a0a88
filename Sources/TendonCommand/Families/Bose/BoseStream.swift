// SPDX-License-Identifier: MIT
// Bose: serves one wearable for `run` and `stream`.
import CTendon
import Tendon
import TendonBose
import TendonSupport

/// The stream options of a Bose wearable.
struct BoseStream: FamilyStream {
    enum Wanted<Item: Sendable>: Sendable {
        case all
        case these([Item])
    }

    let sensors: Wanted<SensorType>
    let gestures: Wanted<GestureType>
    let period: SamplePeriod

    static var options: [Option] { options(gestures: "all") }

    /// `gestures`: what is enabled without --gestures.
    static func options(gestures: String) -> [Option] { [sensors, period, self.gestures(standard: gestures)] }

    private static let sensors = Option(
        name: "--sensors", value: "LIST", help: "sensors separated by commas, or all, or none",
        choices: BoseNames.sensors + ["all", "none"], isList: true, standard: "rotation",
        takes: .parsed { (text) throws(CommandError) in _ = try list(text, BoseNames.sensor) })
    private static let period = Option(
        name: "--period", value: "MS", help: "5, 10, 20, 40, 80, 160 or 320", standard: "20",
        takes: .parsed { (text) throws(CommandError) in _ = try period(text) })

    private static func gestures(standard: String) -> Option {
        Option(
            name: "--gestures", value: "LIST", help: "gestures separated by commas, or all, or none",
            choices: BoseNames.gestures + ["all", "none"], isList: true, standard: standard,
            takes: .parsed { (text) throws(CommandError) in _ = try list(text, BoseNames.gesture) })
    }

    private static func period(_ text: String) throws(CommandError) -> SamplePeriod {
        let number = parseInteger(text) ?? milliseconds(text).flatMap(Int.init(exactly:))
        guard let period = number.flatMap(UInt16.init(exactly:)).flatMap(SamplePeriod.init(milliseconds:)) else {
            throw .usage("it takes 5, 10, 20, 40, 80, 160 or 320, not '\(sanitized(text))'")
        }
        return period
    }

    init(_ arguments: Arguments) throws(CommandError) {
        try self.init(arguments, gestures: "all")
    }

    init(_ arguments: Arguments, gestures: String) throws(CommandError) {
        sensors = try BoseStream.list(arguments.value(Self.sensors) ?? "") { (word) throws(CommandError) in
            let number = try BoseNames.sensor(word)
            return SensorType(rawValue: number) ?? .unknown(number)
        }
        let standard = Self.gestures(standard: gestures)
        self.gestures = try BoseStream.list(arguments.value(standard) ?? "") { (word) throws(CommandError) in
            let number = try BoseNames.gesture(word)
            return GestureType(rawValue: number) ?? .unknown(number)
        }
        period = try BoseStream.period(arguments.value(Self.period) ?? "")
    }

    private static func list<Item>(
        _ text: String, _ item: (String) throws(CommandError) -> Item
    ) throws(CommandError) -> Wanted<Item> {
        if text == "all" { return .all }
        if text == "none" { return .these([]) }
        var items: [Item] = []
        let words = listWords(text)
        if let word = words.first(where: { ["all", "none"].contains($0) }), words.count > 1 {
            throw .usage("'\(word)' stands alone, without other words")
        }
        for word in words { items.append(try item(word)) }
        return .these(items)
    }

    /// Writes the requested sensors and waits until the device has accepted them; returns the unsupported ones.
    @TendonActor
    func configureSensors(of device: WearableDevice) async throws(BoseWearableError) -> [String] {
        guard var wanted = device.sensorConfiguration else { throw .missingRequiredData }
        let lacking = apply(&wanted)
        try await device.configureSensorsAndWait { [wanted] in $0 = wanted }
        return lacking
    }

    /// The same for gestures.
    @TendonActor
    func configureGestures(of device: WearableDevice) async throws(BoseWearableError) -> [String] {
        guard var wanted = device.gestureConfiguration else { throw .missingRequiredData }
        let lacking = apply(&wanted)
        try await device.configureGesturesAndWait { [wanted] in $0 = wanted }
        return lacking
    }

    /// Enables the requested sensors and gestures; returns the names of unsupported ones.
    func apply(_ configuration: inout SensorConfiguration) -> [String] {
        configuration.disableAll()
        var lacking: [String] = []
        let wanted: [SensorType]
        switch sensors {
        case .all: wanted = configuration.allSensors
        case .these(let list): wanted = list
        }
        for sensor in wanted where !configuration.enable(sensor: sensor, at: period) {
            lacking.append("\(sensor) at \(period.milliseconds) ms")
        }
        return lacking
    }

    func apply(_ configuration: inout GestureConfiguration) -> [String] {
        configuration.disableAll()
        var lacking: [String] = []
        switch gestures {
        case .all: configuration.enableAll()
        case .these(let list):
            for gesture in list where !configuration.set(gesture: gesture, enabled: true) {
                lacking.append("\(gesture)")
            }
        }
        return lacking
    }

    static let happenings = [
        RuleEvent(name: "gesture", details: BoseNames.gestures, sources: [RuleSource("gesture", detail: "gesture")]),
        RuleEvent(name: "suspended", sources: [RuleSource("suspended")]),
        RuleEvent(name: "resumed", sources: [RuleSource("resumed")]),
    ]
    static let values = ["pitch", "roll", "yaw"].map { RuleValue(name: $0, event: "sample", member: $0 + "_deg") }
    static let actions: [RuleAction] = []

    static func advice(on cause: TendonError) -> String? {
        guard cause.status == Int32(TENDON_RADIO_ERROR_PAIRING_FAILED) else { return nil }
        return "put the wearable into pairing mode, then try again"
    }

    @TendonActor
    func server(of device: ServedDevice) -> any DeviceServer { BoseServer(self, device) }
}

/// One wearable.
@TendonActor
private final class BoseServer: DeviceServer {
    let served: ServedDevice
    private let wanted: BoseStream
    private var session: WearableDeviceSession?
    /// The device rejected the configuration because it is suspended; retried when it resumes.
    private var isUnconfigured = false

    init(_ wanted: BoseStream, _ served: ServedDevice) {
        self.wanted = wanted
        self.served = served
    }

    private func makeSession() -> WearableDeviceSession {
        if let session { return session }
        let made = WearableDeviceSession(served.address, on: served.central) { [served] prompt in
            TendonActor.assumeIsolated { BoseServer.tell(prompt, served) }
        }
        session = made
        return made
    }

    /// Pairs with a device that requires it; the user may have to press a button of the device.
    private static func tell(_ prompt: PairingPrompt, _ served: ServedDevice) {
        switch prompt {
        case .begin:
            served.event("pairing", ["state": "wanted"])
            served.show("pairing", note: "put it into pairing mode")
        case .end(_, let error):
            let failed: JSON? = error.map { ["state": "failed", "text": .string(describe($0))] }
            served.event("pairing", failed ?? ["state": "done"])
        }
    }

    func open() async throws(ServingError) {
        do throws(BoseWearableError) {
            try await makeSession().openAndWait()
        } catch {
            throw error == .cancelled ? .cancelled : .failed(describe(error), canRetry: canRetry(error))
        }
    }

    /// Returns false for errors that another attempt would not change.
    private func canRetry(_ error: BoseWearableError) -> Bool {
        switch error {
        case .firmwareUpdateRequired, .unsupportedDevice, .noMatchingDeviceType, .missingCharacteristic,
            .pairingDelegateMissing:
            false
        default: true
        }
    }

    var identity: JSON { session?.device.map { TendonCommand.identity(of: $0) } ?? [:] }

    func stream() async -> Ending {
        guard let session, let device = session.device else { return .lost }
        var ends = session.events().makeAsyncIterator()
        let token = device.addEventListener { [self] event in received(event, device) }
        if device.isWearableSensorServiceSuspended {
            served.show("suspended")
        }
        await configure(device)
        var reason: BoseWearableError?
        while session.isOpen, let end = await ends.next(isolation: TendonActor.shared) {
            if case .didClose(let error) = end {
                reason = error
                break
            }
        }
        await session.closeAndWait()
        token.cancel()
        count(device)
        guard !Task.isCancelled else { return .requested }
        return reason.map(Ending.init) ?? .lost
    }

    private func configure(_ device: WearableDevice) async {
        do throws(BoseWearableError) {
            var lacking = try await wanted.configureSensors(of: device)
            if case .these(let gestures) = wanted.gestures, gestures.isEmpty {
                // Nothing to write: after connecting all are off.
            } else if device.gestureInformation?.availableGestures.isEmpty == false {
                lacking += try await wanted.configureGestures(of: device)
            }
            if !lacking.isEmpty {
                served.event("missing", ["what": JSON(lacking.map(JSON.string))])
                served.show("connected", note: "lacks " + lacking.joined(separator: ", "))
            }
        } catch {
            if error == .service(.wearableSensorServiceUnavailable) { isUnconfigured = true }
            if isUnconfigured || error == .cancelled { return }
            served.event("configuration_failed", ["text": .string(describe(error))])
            served.show("connected", note: describe(error))
        }
    }

    private func received(_ happening: WearableDeviceEvent, _ device: WearableDevice) {
        switch happening {
        case .didReceiveSensorData(let data):
            for value in data.values { take(value) }
            count(device)
            served.stopAtLimit()
        case .didReceiveGestureData(let data):
            served.event("gesture") {
                BoseSampleLine.writeGesture(data.gesture.rawValue, data.deviceTime, data.times, to: &$0)
            }
            served.update { $0.note = "\(data.gesture)" }
        case .didSuspendWearableSensorService(let reason):
            let name = text(tendon_bose_suspension_reason_name(tendon_bose_suspension_reason(UInt32(reason.rawValue))))
            served.event("suspended", ["reason": .string(name)])
            served.show("suspended", note: name)
        case .didResumeWearableSensorService:
            served.event("resumed")
            served.show("connected")
            if isUnconfigured {
                isUnconfigured = false
                Task { await configure(device) }
            }
        case .didUpdateSensorConfiguration(let configuration):
            served.event(
                "sensor_configuration",
                [
                    "enabled": JSON(configuration.enabledSensors.map { .string("\($0)") }),
                    "period_ms": configuration.enabledSensorsSamplePeriod.map { JSON(Int($0.milliseconds)) } ?? .null,
                ])
        case .didUpdateGestureConfiguration(let configuration):
            served.event(
                "gesture_configuration", ["enabled": JSON(configuration.enabledGestures.map { .string("\($0)") })])
        case .didRejectValue(let error): served.event("malformed", BoseStream.malformed(error))
        default: break
        }
    }

    private func take(_ value: SensorValue) {
        let line = BoseSampleLine(value)
        served.sample(numbers: line.numbers?.with(rate: 1000 / Double(wanted.period.milliseconds))) {
            line.write(to: &$0)
        } row: { row in
            guard served.reporter.isTable, let angles = line.headAngles else { return }
            row.readings = [
                Reading(name: "pitch", value: angles.pitch), Reading(name: "roll", value: angles.roll),
                Reading(name: "yaw", value: angles.yaw),
            ]
        }
    }

    /// The counters of the C core.
    private func count(_ device: WearableDevice) {
        let c = device.counters
        served.update { row in
            row.counters.notifications = c.notifications
            row.counters.samples = c.samples
            row.counters.malformed = c.malformed
            row.counters.skipped = c.skipped + c.dropped
        }
    }
}

extension BoseSampleLine {
    init(_ value: SensorValue) {
        var sample = tendon_bose_sample()
        sample.sensor_id = value.sensor.rawValue
        if let vector = value.sample.vector {
            sample.has_vector = true
            sample.vector = tendon_bose_vector(x: vector.x, y: vector.y, z: vector.z)
        }
        if let bias = value.sample.bias {
            sample.has_bias = true
            sample.bias = tendon_bose_vector(x: bias.x, y: bias.y, z: bias.z)
        }
        if let quaternion = value.sample.quaternion {
            sample.has_quaternion = true
            sample.quaternion = tendon_quaternion(x: quaternion.x, y: quaternion.y, z: quaternion.z, w: quaternion.w)
        }
        if let accuracy = value.sample.vectorAccuracy {
            sample.has_accuracy = true
            sample.accuracy = UInt8(accuracy.rawValue)
        }
        if let accuracy = value.sample.quaternionAccuracy {
            sample.has_accuracy = true
            sample.accuracy_rad = accuracy.estimatedAccuracy
        }
        self.init(sample: sample, deviceTime: value.deviceTime, times: value.times)
    }
}

/// The error as one line.
func describe(_ error: BoseWearableError) -> String {
    switch error {
    case .host(let error): describe(error)
    default: error.localizedDescription
    }
}

extension Ending {
    init(_ error: BoseWearableError) {
        switch error {
        case .host(let host): self.init(host)
        case .disconnectedByDevice: self.init(TENDON_ENDING_DEVICE_DISCONNECTED)
        case .cancelled: self = .requested
        default: self.init(TENDON_ENDING_PROTOCOL_ERROR, text: describe(error))
        }
    }
}

extension BoseStream {
    static func malformed(_ error: BoseWearableError) -> JSON {
        guard case .host(let host) = error else { return ["text": .string(describe(error))] }
        return [
            "error": .string(text(tendon_bose_status_name(host.status))),
            "text": .string(text(tendon_bose_status_text(host.status))),
        ]
    }
}

/// What an open device is, for one line.
@TendonActor
func identity(of device: WearableDevice) -> JSON {
    let information = device.wearableDeviceInformation
    return [
        "product": information.map { .string($0.productInfo.idName) } ?? .null,
        "firmware": device.deviceInformation?.firmwareRevision.map { .string(sanitized($0)) } ?? .null,
        "sensors": JSON((device.sensorInformation?.availableSensors ?? []).map { .string("\($0)") }),
        "gestures": JSON((device.gestureInformation?.availableGestures ?? []).map { .string("\($0)") }),
    ]
}
