// SPDX-License-Identifier: MIT
// Head angles of the first Bose wearable in range: ten samples, in degrees. Start `tendon simulate bose` for one.
import TendonBose

@main
struct StreamBose {
    static func main() async throws {
        let session = try await BoseWearable.shared.startConnection()
        guard let device = session.device else { return }
        let rotation = device.rotation
        try await device.configureSensorsAndWait { $0.enable(sensor: .rotation, at: ._20ms) }
        var left = 10
        for try await sample in rotation {
            let head = sample.quaternion.headAngles.degrees
            print("pitch \(head.pitch) roll \(head.roll) yaw \(head.yaw)")
            left -= 1
            if left == 0 { break }
        }
        await session.closeAndWait()
    }
}
