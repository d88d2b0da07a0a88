// SPDX-License-Identifier: MIT
//
// A camera screen: it sets up the grip that its user selects, follows the shutter button, and forgets the grip.

import Dispatch
import Glibc
import Tendon
import TendonFjorden

// porting.md: Fjorden
class CameraViewController {
    var log: [String] = []

    func viewDidLoad() {
        GripManager.default.subscribeToStateChanges { [weak self] state in
            self?.handleGripManagerStateChange(state)
        }
        Task {
            do {
                try await GripManager.default.start(options: [.askForBluetoothPermission])
                for await grips in GripManager.default.startScanningForFjordenGrips() {
                    guard let selectedGrip = grips.first else { continue }
                    try await GripManager.default.connect(toGrip: selectedGrip)
                    break
                }
            } catch {
                show("failed: \(error)")
            }
        }
    }

    func handleGripManagerStateChange(_ state: GripManager.State) {
        switch state {
        case .uninitialized: show("no Bluetooth")
        case .ready: show("ready")
        case .scanningForGrips: show("scanning")
        case .scanningForBondedGrip: show("looking for the grip")
        case .connecting(let grip): show("connecting to \(grip.name)")
        case .connected(let grip):
            show("connected")
            grip.subscribeToEvents { [weak self] event in
                self?.handleGripEvent(event)
            }
        case .unauthorized: show("not authorized")
        case .bluetoothUnavailable: show("Bluetooth is off")
        }
    }

    func handleGripEvent(_ event: GripEvent) {
        switch event {
        case .shutterButtonHalfDown: show("focus")
        case .shutterButtonReleased: GripManager.default.disconnectAndForgotBondedGrip()
        default: break
        }
    }

    func show(_ text: String) { log.append(text) }
}
// porting.md: end

@main
enum App {
    static func main() async throws {
        GripManager.default.configure(with: .simulated)
        let screen = CameraViewController()
        screen.viewDidLoad()
        let deadline = ContinuousClock.now + .seconds(20)
        func wait(for last: String) async throws {
            while screen.log.last != last, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        try await wait(for: "connected")
        let simulator = GripManager.default.simulator
        simulator?.grip.moveShutter(.half)
        try await wait(for: "focus")
        simulator?.grip.moveShutter(.released)
        try await wait(for: "ready")
        print(screen.log.joined(separator: ", "))
        let name = "Fjorden Grip Simulator"
        guard screen.log == ["ready", "scanning", "connecting to \(name)", "connected", "focus", "ready"]
        else { exit(1) }
    }
}
