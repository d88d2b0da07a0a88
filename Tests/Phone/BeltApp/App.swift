// SPDX-License-Identifier: MIT
//
// A screen that guides its user to the east: it connects, vibrates, and stops when the home button is pressed.

import Dispatch
import Glibc
import Tendon
import TendonFeelSpace

// porting.md: feelSpace
class RouteViewController {
    let beltController: FSNavigationController! = FSNavigationController()
    var title = ""
    var log: [String] = []

    func viewDidLoad() {
        beltController.delegate = self
        beltController.searchAndConnectBelt()
    }

    func show(_ text: String) { log.append(text) }
}

extension RouteViewController: FSNavigationControllerDelegate {
    func onBeltConnectionStateChanged(state: FSBeltConnectionState) {
        switch state {
        case .notConnected: title = "Connect"
        case .searching: title = "Searching"
        case .connecting: title = "Connecting"
        case .connected: title = "Disconnect"
        }
        show(title)
        if state == .connected {
            beltController.startNavigation(direction: 90, isMagneticBearing: true, signal: .continuous)
        }
    }
    func onNavigationStateChange(state: FSNavigationState) {}
    func onBeltHomeButtonPressed(navigating: Bool) {
        show("home button")
        beltController.stopNavigation()
        beltController.disconnectBelt()
    }
    func onBeltOrientationUpdated(beltHeading: Int, accurate: Bool) {}
    func onBeltBatteryLevelUpdated(batteryLevel: Int, status: FSPowerStatus) {}
    func onBeltDefaultVibrationIntensityChanged(intensity: Int) {}
    func onCompassAccuracySignalStateUpdated(enabled: Bool) {}
    func onBluetoothNotAvailable() { show("no Bluetooth") }
    func onBluetoothPoweredOff() { show("Bluetooth is off") }
    func onBeltConnectionFailed() { show("failed") }
    func onBeltConnectionLost() { show("lost") }
    func onNoBeltFound() { show("no belt") }
}
// porting.md: end

@main
enum App {
    static func main() async throws {
        let radio = RadioChoice.virtual(directory: "/tmp/tendon-phone-belt-\(getpid())")
        let belt = try await SimulatedBelt(radio: radio, loop: try Loop(), interval: .milliseconds(20))
        FSConnectionManager.instance.radio = radio
        let screen = RouteViewController()
        screen.viewDidLoad()
        let deadline = ContinuousClock.now + .seconds(20)
        while await belt.motors[4] == 0, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(10))
        }
        await belt.press(.home)
        while screen.log.last != "Connect", ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(10))
        }
        print(screen.log.joined(separator: ", "))
        guard screen.log == ["Searching", "Connecting", "Disconnect", "home button", "Connect"] else { exit(1) }
    }
}
