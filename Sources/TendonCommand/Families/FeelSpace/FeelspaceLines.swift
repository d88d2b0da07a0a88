// SPDX-License-Identifier: MIT
// feelSpace: what a belt tells, as lines of JSON and for people.
import Tendon
import TendonFeelSpace
import TendonSupport

enum FeelspaceLines {
    /// Nil: nothing that is printed.
    static func line(_ update: FSCommandUpdate) -> JSON? {
        switch update {
        case .modeChanged(let mode): ["event": "mode", "mode": .string("\(mode)")]
        case .buttonPressed(let button, let press, let previous, let new):
            [
                "event": "button", "button": .string("\(button)"), "press": .string("\(press)"),
                "previous_mode": .string("\(previous)"), "mode": .string("\(new)"),
            ]
        case .defaultIntensityChanged(let percent): ["event": "default_intensity", "percent": JSON(percent)]
        case .headingOffsetChanged(let degrees): ["event": "heading_offset", "degrees": JSON(degrees)]
        case .battery(let status):
            [
                "event": "battery", "percent": .real(status.batteryLevel), "status": .string("\(status.powerStatus)"),
                "seconds": .real(status.batteryTteTtf),
            ]
        case .orientation(let orientation): sample(orientation)
        case .accuracySignal(let signal):
            ["event": "accuracy_signal", "in_app": .bool(signal.inApp), "in_compass": .bool(signal.inCompass)]
        case .debugOutput(let bytes): ["event": "debug", "bytes": .string(hexText(bytes))]
        case .rejected(let bytes, let error):
            ["event": "malformed", "bytes": .string(hexText(bytes)), "error": .string(error.description)]
        case .commandFinished: nil
        }
    }

    static func sample(_ orientation: FSBeltOrientation) -> JSON {
        [
            "event": "sample", "sensor": "orientation", "heading_deg": JSON(orientation.beltMagHeading),
            "accurate": .bool(!orientation.beltCompassInaccurate), "accuracy_deg": JSON(orientation.accuracy),
        ]
    }

    static func line(_ update: FSNavigationUpdate) -> JSON? {
        switch update {
        case .state(let state): ["event": "navigation", "state": .string("\(state)")]
        case .homeButton(let navigating): ["event": "home_button", "navigating": .bool(navigating)]
        case .defaultIntensity(let percent): ["event": "default_intensity", "percent": JSON(percent)]
        case .battery(let level, let status):
            ["event": "battery", "percent": JSON(level), "status": .string("\(status)")]
        case .accuracySignal(let enabled): ["event": "accuracy_signal", "enabled": .bool(enabled)]
        case .connection(let state, let error):
            ["event": "connection", "state": .string("\(state)"), "error": .string("\(error)")]
        case .connectionLost: ["event": "connection_lost"]
        case .connectionFailed(let error): ["event": "connection_failed", "error": .string("\(error)")]
        case .orientation, .bluetoothNotAvailable, .bluetoothPoweredOff, .noBeltFound, .searchFinished, .found: nil
        }
    }

    /// The same for a person.
    static func words(_ line: JSON) -> String {
        guard case .object(let members) = line else { return "" }
        return members.map { member in
            let value = member.value.string ?? member.value.text
            return member.key == "event" ? value : "\(member.key) \(value)"
        }.joined(separator: "  ")
    }
}
