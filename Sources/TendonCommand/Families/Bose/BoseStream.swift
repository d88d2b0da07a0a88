// SPDX-License-Identifier: MIT
// Bose: serves one wearable for `run` and `stream`.
import CTendon
import Tendon
import TendonBose
import TendonOutputs
import TendonSupport

/// The stream options of a Bose wearable.
struct BoseStream: FamilyStream, DeviceSource {
    enum Wanted<Item: Sendable>: Sendable {
        case all
        case these([Item])

        func map<Other>(_ change: (Item) -> Other) -> Wanted<Other> {
            switch self {
            case .all: .all
            case .these(let items): .these(items.map(change))
            }
        }
    }

    let sensors: Wanted<SensorType>
    let gestures: Wanted<GestureType>
    let period: SamplePeriod
    let choice: DeviceChoice

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
        let wanted = (
            try BoseStream.settings(sensors.map(\.rawValue)), try BoseStream.settings(self.gestures.map(\.rawValue))
        )
        choice = DeviceChoice(TENDON_DEVICE_BOSE) { [period] settings in
            (settings.sensors, settings.gestures) = wanted
            settings.period_ms = UInt16(period.milliseconds)
        }
    }

    var sendsOrientations: Bool {
        guard case .these(let sensors) = sensors else { return true }
        return sensors.contains(.rotation) || sensors.contains(.gameRotation)
    }

    /// As the C library takes them: each once.
    private static func settings(_ wanted: Wanted<UInt8>) throws(CommandError) -> tendon_settings_list {
        var list = tendon_settings_list()
        guard case .these(let items) = wanted else {
            list.all = true
            return list
        }
        var ids: [UInt8] = []
        for item in items where !ids.contains(item) { ids.append(item) }
        guard ids.count <= Int(TENDON_SETTINGS_LIST) else {
            throw .usage("at most \(TENDON_SETTINGS_LIST) sensors, and as many gestures")
        }
        list.count = UInt8(ids.count)
        withUnsafeMutableBytes(of: &list.ids) { $0.copyBytes(from: ids) }
        return list
    }

    private static func list<Item>(
        _ text: String, _ item: (String) throws(CommandError) -> Item
    ) throws(CommandError) -> Wanted<Item> {
        if text == "all" { return .all }
        if text == "none" { return .these([]) }
        var items: [Item] = []
        let words = listWords(text)
        try check(words, standingAlone: ["all", "none"])
        for word in words { items.append(try item(word)) }
        return .these(items)
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
    func view(of device: ServedDevice) -> DeviceView { WearableView(period, device) }
}

extension tendon_bose_sample {
    /// What tables have beside its numbers. All samples of a sensor have an accuracy, or none has.
    var accuracyColumns: [SampleChannel] {
        guard has_accuracy else { return [] }
        return [has_quaternion ? SampleChannel("accuracy_rad", "rad") : SampleChannel("accuracy")]
    }

    /// Adds the orientation of the head, and the accuracy.
    func fill(_ sample: inout OutputSample) {
        if has_quaternion { sample.head = tendon_head_from_bose(quaternion) }
        guard has_accuracy, !sample.form.texts.isEmpty else { return }
        sample[sample.count] = !has_quaternion ? Double(accuracy) : accuracy_unknown ? .nan : accuracy_rad
    }
}

/// The angles of the head.
private final class WearableView: DeviceView {
    private let rate: Double

    init(_ period: SamplePeriod, _ served: ServedDevice) {
        rate = 1000 / Double(period.milliseconds)
        super.init(served)
    }

    override func complete(_ sample: inout OutputSample, _ event: DeviceEvent, _ index: Int) {
        guard let c = event.c.of.bose?.pointee, let value = c.sample?.pointee else { return }
        (sample.rate, sample.deviceTime) = (rate, Double(c.device_ms))
        value.fill(&sample)
    }

    override func texts(of event: DeviceEvent) -> [SampleChannel] {
        event.c.of.bose?.pointee.sample?.pointee.accuracyColumns ?? []
    }

    override func begin(_ device: tendon_device, _ identity: JSON, _ change: inout RowChange) {
        if tendon_bose_suspended(device.of.bose.session.device.status) { change.state = "suspended" }
    }

    override func show(sample event: DeviceEvent, _ line: DeviceLine, _ change: inout RowChange) {
        var angles = tendon_angles()
        guard var value = event.c.of.bose?.pointee.sample?.pointee, value.has_quaternion,
            tendon_bose_head(&value.quaternion, &angles)
        else { return }
        change.readings = [
            Reading(name: "pitch", value: angles.pitch), Reading(name: "roll", value: angles.roll),
            Reading(name: "yaw", value: angles.yaw),
        ]
    }

    override func show(_ line: DeviceLine, _ event: DeviceEvent, _ change: inout RowChange) {
        switch "\(line.name)" {
        case "gesture": change.note = line["gesture"]?.string
        case "suspended": (change.state, change.note) = ("suspended", line["reason"]?.string)
        case "resumed": (change.state, change.note) = ("connected", "")
        case "pairing" where line["state"]?.string == "wanted":
            (change.state, change.note) = ("pairing", "put it into pairing mode")
        default: break
        }
    }
}

/// The error as one line.
func describe(_ error: BoseWearableError) -> String {
    switch error {
    case .host(let error): describe(error)
    default: error.localizedDescription
    }
}
