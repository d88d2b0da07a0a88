// SPDX-License-Identifier: MIT
//
// A screen that shows where the head points: it connects, streams the rotation, and closes the session.

import Dispatch
import Glibc
import Tendon
import TendonBose

// porting.md: Bose
class HeadViewController {
    var session: WearableDeviceSession?
    let sensorDispatch = SensorDispatch(queue: .main)
    var yaw: [Double] = []
    var log: [String] = []

    func viewDidLoad() {
        sensorDispatch.handler = self
        let intent = SensorIntent(sensors: [.rotation], samplePeriods: [._20ms])
        BoseWearable.shared.startConnection(mode: .alwaysShow, sensorIntent: intent, gestureIntent: nil) { result in
            switch result {
            case .success(let session):
                self.session = session
                session.delegate = self
                self.show("connected")
                session.device?.configureSensors { config in
                    config.disableAll()
                    config.enable(sensor: .rotation, at: ._20ms)
                }
            case .failure(let error):
                self.show("failed: \(error.localizedDescription)")
            case .cancelled:
                self.show("cancelled")
            }
        }
    }

    func show(_ text: String) { log.append(text) }
}

extension HeadViewController: SensorDispatchHandler {
    func receivedRotation(quaternion: Quaternion, accuracy: QuaternionAccuracy, timestamp: SensorTimestamp) {
        let mapped = quaternion * Quaternion(ix: 1, iy: 0, iz: 0, r: 0)
        yaw.append(-mapped.zRotation)
        if yaw.count == 20 { session?.close() }
    }
}

extension HeadViewController: WearableDeviceSessionDelegate {
    func sessionDidOpen(_ session: WearableDeviceSession) { show("open again") }
    func session(_ session: WearableDeviceSession, didFailToOpenWithError error: Error?) { show("not open") }
    func session(_ session: WearableDeviceSession, didCloseWithError error: Error?) {
        show(error == nil ? "closed" : "lost")
    }
}
// porting.md: end

/// Listeners and callbacks that use the screen, with a simulated session, which opens by itself.
class OverlayViewController {
    let session = BoseWearable.shared.createSimulatedWearableDeviceSession()
    let dispatch = SensorDispatch(queue: .main)
    var token: ListenerToken?
    var overlay = ""
    var rotations = 0
    var gestures: [GestureType] = []
    var events = 0

    func viewDidLoad() {
        dispatch.gameRotationCallback = { [weak self] _, _ in self?.rotations += 1 }
        dispatch.gestureDataCallback = { [weak self] gesture, _ in self?.gestures.append(gesture) }
        token = session.device?.addEventListener(queue: .main) { [weak self] event in
            self?.wearableDeviceEvent(event)
        }
        session.device?.configureSensors { config in
            config.disableAll()
            config.enable(sensor: .gameRotation, at: ._20ms)
        }
        session.device?.configureGestures { $0.set(gesture: .doubleTap, enabled: true) }
    }

    func wearableDeviceEvent(_ event: WearableDeviceEvent) {
        dispatchPrecondition(condition: .onQueue(.main))
        events += 1
        switch event {
        case .didSuspendWearableSensorService(let reason): overlay = reason.description
        case .didWriteGestureConfiguration: overlay = "ready"
        default: break
        }
    }
}

@main
enum App {
    static func main() async throws {
        let radio = RadioChoice.virtual(directory: "/tmp/tendon-phone-wearable-\(getpid())")
        let wearable = try await SimulatedWearable(radio: radio, loop: try Loop(), interval: .milliseconds(20))
        var configuration = BoseWearable.Configuration()
        configuration.radio = radio
        configuration.deviceChoice = .firstFound
        try BoseWearable.configure(configuration)
        BoseWearable.configure()  // the vendor's: without `try`, any number of times
        BoseWearable.configure()
        let screen = HeadViewController()
        screen.viewDidLoad()
        let deadline = ContinuousClock.now + .seconds(20)
        while screen.log.last != "closed", ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(10))
        }
        print(screen.log.joined(separator: ", "), screen.yaw.count)
        withExtendedLifetime(wearable) {}
        guard screen.log == ["connected", "closed"], screen.yaw.count >= 20 else { exit(1) }
        try await overlay(until: deadline)
    }

    static func overlay(until deadline: ContinuousClock.Instant) async throws {
        let screen = OverlayViewController()
        screen.viewDidLoad()
        func wait(_ isDone: () -> Bool) async throws {
            while !isDone(), ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(10)) }
        }
        try await wait { screen.overlay == "ready" && screen.rotations > 10 }
        try await screen.session.simulated?.perform(.doubleTap)
        await screen.session.simulated?.suspend(.musicShareModeActive)
        try await wait { !screen.gestures.isEmpty && screen.overlay.hasSuffix(".") }
        print(screen.overlay, screen.gestures, screen.events > 3)
        guard screen.gestures == [.doubleTap], screen.overlay.contains("music"), screen.events > 3 else { exit(1) }
    }
}
