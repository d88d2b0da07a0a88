// SPDX-License-Identifier: MIT
// feelSpace: what a belt reports, as events.
import Tendon
import TendonFeelSpace
import TendonSupport

enum FeelspaceLines {
    /// Calls `body` with the event and its members; not for what is not printed.
    static func print(_ update: FSCommandUpdate, _ body: (EventName, (inout LineWriter) -> Void) -> Void) {
        switch update {
        case .modeChanged(let mode): body("mode") { $0.member("mode", "\(mode)") }
        case .buttonPressed(let button, let press, let previous, let new):
            body("button") { line in
                line.member("button", "\(button)")
                line.member("press", press == .longPress ? "long" : "short")
                line.member("previous_mode", "\(previous)")
                line.member("mode", "\(new)")
            }
        case .defaultIntensityChanged(let percent):
            body("default_intensity") { $0.member("intensity_percent", percent) }
        case .headingOffsetChanged(let degrees): body("heading_offset") { $0.member("offset_deg", degrees) }
        case .battery(let status):
            body("battery") {
                write(status.batteryLevel, status.powerStatus, secondsLeft: status.batteryTteTtf, to: &$0)
            }
        case .orientation(let orientation): body("sample") { orientation.write(to: &$0) }
        case .accuracySignal(let signal):
            body("accuracy_signal") { line in
                line.member("in_app", signal.inApp)
                line.member("in_compass", signal.inCompass)
            }
        case .debugOutput(let bytes): body("debug") { $0.member("bytes", hexText(bytes)) }
        case .rejected(let bytes, let error):
            body("malformed") { line in
                line.member("bytes", hexText(bytes))
                line.member("error", error.name)
                line.member("text", error.text)
            }
        case .commandFinished: break
        }
    }

    /// The members of `battery`, live and of a capture.
    static func write(_ percent: Double, _ power: FSPowerStatus, secondsLeft: Double, to line: inout LineWriter) {
        line.member("battery_percent", percent, decimals: 1)
        line.member("power_status", "\(power)")
        // What the characteristic cannot hold is not known, as what the belt has not reported: -1.
        let isKnown = secondsLeft >= 0 && secondsLeft < longestTimeLeft
        line.member("time_left_s", isKnown ? secondsLeft : .nan, decimals: 0)
    }

    /// 0xFFFF in units of 5.625 s: "at least this time".
    private static let longestTimeLeft = 65535 * 5.625

    static func print(_ update: FSNavigationUpdate, _ body: (EventName, (inout LineWriter) -> Void) -> Void) {
        switch update {
        case .state(let state): body("navigation") { $0.member("state", "\(state)") }
        case .homeButtonPressed(let navigating): body("home_button") { $0.member("navigating", navigating) }
        case .defaultIntensity(let percent): body("default_intensity") { $0.member("intensity_percent", percent) }
        case .battery(let level, let status):
            body("battery") { line in
                line.member("battery_percent", level)
                line.member("power_status", "\(status)")
            }
        case .accuracySignal(let enabled):
            body("accuracy_signal") { line in
                line.member("in_app", enabled)
                line.member("in_compass", enabled)
            }
        case .connectionFailed(let error): body("connect_failed") { $0.member("text", "\(error)") }
        case .connection, .connectionLost, .orientation, .bluetoothNotAvailable, .bluetoothPoweredOff, .noBeltFound,
            .searchFinished, .found:
            break
        }
    }
}

extension FSBeltOrientation {
    func write(to line: inout LineWriter) {
        line.member("sensor", word: "orientation")
        times.write(to: &line)
        line.member("heading_deg", beltMagHeading)
        line.member("accurate", !beltCompassInaccurate)
        line.member("accuracy_deg", accuracy)
    }
}
