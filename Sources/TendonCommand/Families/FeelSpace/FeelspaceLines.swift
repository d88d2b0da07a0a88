// SPDX-License-Identifier: MIT
// feelSpace: what a belt reports, as events.
import CTendon
import Tendon
import TendonFeelSpace
import TendonSupport

enum FeelspaceLines {
    /// Calls `body` with the event and its members; not for what is not printed.
    static func print(_ update: FSCommandUpdate, _ body: (EventName, (inout LineWriter) -> Void) -> Void) {
        switch update {
        case .modeChanged(let mode): body("mode") { $0.member("mode", "\(mode)") }
        case .buttonPressed(let button, let press, let previous, let new):
            var c = tendon_feelspace_press()
            (c.button, c.is_long) = (button.rawValue, press == .longPress)
            (c.previous_mode, c.new_mode) = (previous.rawValue, new.rawValue)
            body("button") { line in line.members { tendon_feelspace_button_members($0, &c) } }
        case .defaultIntensityChanged(let percent):
            body("default_intensity") { $0.member("intensity_percent", percent) }
        case .headingOffsetChanged(let degrees): body("heading_offset") { $0.member("offset_deg", degrees) }
        case .battery(let status):
            var c = tendon_feelspace_battery()
            (c.level_percent, c.tte_ttf_s) = (status.batteryLevel, status.batteryTteTtf)
            c.power_status = status.powerStatus.rawValue
            body("battery") { line in line.members { tendon_feelspace_battery_members($0, &c) } }
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
        var c = tendon_feelspace_orientation()
        (c.heading, c.accuracy_deg) = (Int16(clamping: beltMagHeading), UInt16(clamping: accuracy))
        c.accurate = !beltCompassInaccurate
        line.members { tendon_feelspace_orientation_members($0, &c, times.receivedAt) }
    }
}
