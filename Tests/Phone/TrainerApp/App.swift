// SPDX-License-Identifier: MIT
//
// A screen of a training program: a class without an annotation, a delegate in an extension, calls without `await`.

import Dispatch
import Glibc
import Tendon
import TendonActiv5

// porting.md: Activ5
class ViewController {
    var forces: [Double] = []
    var device: A5Device?
    var log: [String] = []

    func viewDidLoad() {
        A5DeviceManager.initializeDeviceManager()
        A5DeviceManager.delegate = self
        A5DeviceManager.scanForDevices()
    }

    func show(_ text: String) {
        dispatchPrecondition(condition: .onQueue(.main))
        log.append(text)
    }
}

extension ViewController: A5DeviceDelegate {
    func searchCompleted() { show("search completed") }
    func deviceFound(device: A5Device) {
        show("found")
        self.device = device
        A5DeviceManager.connect(device: device.device)
    }
    func deviceConnected(device: A5Device) { show("connected") }
    func deviceInitialized(device: A5Device) {
        show("initialized")
        device.startIsometric()
    }
    func didReceiveIsometric(device: A5Device, value: Int) {
        forces.append(Double(value))
        if forces.count == 20 { device.disconnect() }
    }
    func deviceDisconnected(device: A5Device) { show("disconnected") }
}
// porting.md: end

@main
enum App {
    static func main() async throws {
        let radio = RadioChoice.virtual(directory: "/tmp/tendon-phone-\(getpid())")
        let trainer = try await SimulatedTrainer(radio: radio, loop: try Loop(), interval: .milliseconds(20))
        A5DeviceManager.radio = radio
        let screen = ViewController()
        screen.viewDidLoad()
        let deadline = ContinuousClock.now + .seconds(20)
        while screen.log.last != "disconnected", ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(10))
        }
        print(screen.log.joined(separator: ", "), screen.forces.count)
        withExtendedLifetime(trainer) {}
        guard screen.log.suffix(4) == ["found", "connected", "initialized", "disconnected"], screen.forces.count >= 20
        else { exit(1) }
    }
}
