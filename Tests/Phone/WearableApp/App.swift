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
    }
}
