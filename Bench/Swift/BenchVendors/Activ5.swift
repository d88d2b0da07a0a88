// SPDX-License-Identifier: MIT
import BenchPeer
import Tendon
import TendonActiv5

/// Force and motion of a trainer, force beside a consumer of its events, and its events with the samples.
let activ5Sequences: [VendorSequence] = [
    VendorSequence(name: "activ5_force") { radio, count in
        try await activ5(radio) { device in
            let force = device.force(capacity: 4096)
            try device.startIsometric().get()
            return await consume(force, count: count)
        }
    },
    VendorSequence(name: "activ5_motion") { radio, count in
        try await activ5(radio) { device in
            let motion = device.motion(capacity: 4096)
            try device.startIMU()
            return await consume(motion, count: count)
        }
    },
    VendorSequence(name: "activ5_force_beside_events") { radio, count in
        try await activ5(radio) { device in
            let (force, events) = (device.force(capacity: 4096), device.events(capacity: 64, includingSamples: false))
            defer { withExtendedLifetime(events) {} }
            try device.startIsometric().get()
            return await consume(force, count: count)
        }
    },
    VendorSequence(name: "activ5_events") { radio, count in
        try await activ5(radio) { device in
            let events = device.events(capacity: 4096)
            try device.startIsometric().get()
            return await consume(events, count: count)
        }
    },
]

@TendonActor
private func activ5(
    _ radio: RadioChoice, _ body: @TendonActor (A5Device) async throws -> (heap: UInt64, ns: UInt64)
) async throws -> (heap: UInt64, ns: UInt64) {
    var options = SimulatedTrainer.Options()
    options.isFlatOut = true
    options.isAtRest = true
    let trainer = try await SimulatedTrainer(options, radio: radio, loop: try Loop(), interval: .milliseconds(20))
    let device = A5Device(trainer.address, on: try await Central(radio: radio))
    try await device.openAndWait()
    let result = try await body(device)
    await device.closeAndWait()
    await trainer.stop()
    return result
}
