// SPDX-License-Identifier: MIT
import BenchPeer
import Tendon
import TendonBose

/// Samples of a wearable alone, beside a listener and beside a sequence of its events, and those events themselves.
let boseSequences: [VendorSequence] = [
    VendorSequence(name: "bose_samples") { radio, count in
        try await bose(radio) { device in try await consume(device.sensorData(capacity: 4096), count: count) }
    },
    VendorSequence(name: "bose_samples_beside_listener") { radio, count in
        try await bose(radio) { device in
            var notifications = 0
            let token = device.addEventListener { event in
                if case .didReceiveSensorData(let data) = event { notifications += data.values.count > 0 ? 1 : 0 }
            }
            defer { token.cancel() }
            return try await consume(device.sensorData(capacity: 4096), count: count)
        }
    },
    VendorSequence(name: "bose_events") { radio, count in
        try await bose(radio) { device in
            try await consume(device.events(capacity: 32, policy: .dropOldest), count: count)
        }
    },
]

@TendonActor
private func bose(
    _ radio: RadioChoice, _ body: @TendonActor (WearableDevice) async throws -> (heap: UInt64, ns: UInt64)
) async throws -> (heap: UInt64, ns: UInt64) {
    var options = SimulatedWearable.Options()
    options.isFlatOut = true
    let wearable = try await SimulatedWearable(options, radio: radio, loop: try Loop(), interval: .milliseconds(20))
    let session = WearableDeviceSession(wearable.address, on: try await Central(radio: radio))
    try await session.openAndWait()
    guard let device = session.device else { fatalError("no device") }
    try await device.configureSensorsAndWait {
        $0.enable(sensor: .accelerometer, at: ._20ms)
        $0.enable(sensor: .rotation, at: ._20ms)
    }
    let result = try await body(device)
    session.close()
    await wearable.stop()
    return result
}
