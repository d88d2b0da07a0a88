// SPDX-License-Identifier: MIT
// feelSpace: serves one belt for `run` and `stream`.
import CTendon
import Tendon
import TendonFeelSpace
import TendonSupport

/// The stream options of a belt.
struct FeelspaceStream: FamilyStream, DeviceSource {
    /// Milliseconds; nil: the belt's.
    let period: Int?

    /// Percent; nil: the belt's.
    let defaultIntensity: Int?

    private static let orientationPeriod = Option(
        name: "--orientation-period", value: "MS", help: "time between two headings; default: the belt's 500",
        takes: .milliseconds(20...65535))
    private static let intensity = Option(
        name: "--default-intensity", value: "PERCENT",
        help: "vibration intensity that the belt uses if a signal has none; default: the setting of the belt",
        takes: .integer(5...100))
    static let options = [orientationPeriod, intensity]

    init(_ arguments: Arguments) throws(CommandError) {
        period = try arguments.milliseconds(Self.orientationPeriod)
        defaultIntensity = try arguments.integer(Self.intensity)
    }

    static let happenings = [
        RuleEvent(
            name: "button", details: FeelspaceWords.buttons.map(\.name),
            sources: [RuleSource("button", detail: "button")]),
        RuleEvent(
            name: "mode", details: FeelspaceWords.modes.map(\.name) + ["calibration"],
            sources: [
                RuleSource("mode", detail: "mode"), RuleSource("button", detail: "mode", unlike: "previous_mode"),
            ]),
    ]
    static let values = [RuleValue(name: "heading", event: "sample", member: "heading_deg"), RuleValue.battery]

    static let actions = RuleAction.all(of: "feelspace")

    static func advice(on cause: TendonError) -> String? {
        let pairing = "hold its home button until it pulses fast, then try again"
        if cause.status == Int32(TENDON_RADIO_ERROR_PAIRING_FAILED) {
            return "the belt is not in pairing mode: \(pairing)"
        }
        guard tendon_ending_of(cause.status) == TENDON_ENDING_DEVICE_DISCONNECTED else { return nil }
        return "a belt has one connection: if another device or program is connected to it, disconnect that one; if it "
            + "is in standby mode, switch it on; if it requires pairing, \(pairing)"
    }

    @TendonActor
    func view(of device: ServedDevice) -> DeviceView { BeltView(device) }

    var choice: DeviceChoice {
        DeviceChoice(TENDON_DEVICE_FEELSPACE) {
            $0.orientation_period_ms = UInt16(period ?? 0)
            $0.default_intensity = UInt8(defaultIntensity ?? 0)
        }
    }
}

/// The heading, and the mode.
private final class BeltView: DeviceView {
    override func words(for error: TendonError) -> String? {
        error.status == Int32(TENDON_ERROR_DISCONNECTED) ? FSConnectionError.powerOff.localizedDescription : nil
    }

    override func begin(_ device: tendon_device, _ identity: JSON, _ change: inout RowChange) {
        change.note = identity["mode"]?.string
    }

    override func show(sample event: DeviceEvent, _ line: DeviceLine, _ change: inout RowChange) {
        guard let heading = numbers(event, 0)?[0] else { return }
        change.readings = [Reading(name: "heading", value: heading, unit: "°", decimals: 0)]
    }

    override func show(_ line: DeviceLine, _ event: DeviceEvent, _ change: inout RowChange) {
        let mode = line["mode"]?.string ?? ""
        if line.name.isEqual(to: "mode") { change.note = mode }
        if line.name.isEqual(to: "button") { change.note = "\(line["button"]?.string ?? ""), \(mode)" }
    }
}

/// The error as one line. Advice depends on the cause: see `FeelspaceStream.advice(on:)`.
func describe(_ error: FSConnectionError) -> String {
    switch error {
    case .pairingFailed: "pairing with the belt failed"
    case .gattDiscoveryPermissionError, .handshakePermissionError: "the belt requires pairing"
    default: error.localizedDescription
    }
}
