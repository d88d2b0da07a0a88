// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import Tendon
import TendonOutputs
import TendonSupport
import Testing

@testable import TendonCommand

/// The numbers of captured values.
@Suite struct ValueReplayTests {
    private final class Collected: EventOutput {
        let samples = Mutex<[OutputSample]>([])
        let events = Mutex<[String]>([])
        var takesNumbers: Bool { true }
        func sample(_ sample: OutputSample, of source: any SampleSource) { samples.withLock { $0.append(sample) } }
        func event(_ event: EventName, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {
            events.withLock { $0.append("\(event)") }
        }
    }

    private let collected = Collected()

    private func take(_ replay: ValueReplay, _ bytes: [UInt8], of characteristic: tendon_uuid) {
        let lines = ReplayLines(
            events: Events(style: .none, others: [collected]), family: "bose",
            device: DeviceLabel("bose", Address(1, type: .random)), time: 5)
        replay.value(bytes, of: characteristic, in: nil, written: false, at: 0, to: lines)
    }

    @Test func aRotationHasItsChannelsItsClockAndTheHead() throws {
        let replay = ValueReplay(.bose)
        // w 0.5, x 0.25 of 16384.
        take(
            replay, [2, 0x03, 0xE8, 0x20, 0x00, 0x10, 0x00, 0, 0, 0, 0, 0, 0],
            of: tendon_bose_uuid(TENDON_BOSE_SENSOR_DATA))
        let sample = try #require(collected.samples.withLock { $0.first })
        #expect(sample.form.sensor == "rotation")
        #expect(sample.form.channels.map(\.name) == ["x", "y", "z", "w", "pitch", "roll", "yaw"])
        #expect((0..<4).map { sample[$0] } == [0.5, 0.25, 0, 0])
        #expect(sample[4].isNaN, "no rotation")
        #expect(sample.deviceTime == 1000 && sample.capturedAt == 5)
        #expect(sample.head?.w == 0.5)
        #expect(replay.counters.samples == 1)
        take(replay, [2], of: tendon_bose_uuid(TENDON_BOSE_SENSOR_DATA))
        #expect(replay.counters.malformed == 1)
        #expect(collected.events.withLock { $0 } == ["sample", "malformed"])
        #expect(collected.samples.withLock { $0.count } == 1)
    }

    /// Outputs keep what they have prepared for a form.
    @Test func theFormOfASensorStaysTheSameObject() {
        let replay = ValueReplay(.activ5)
        let force = tendon_uuid_from_u16(tendon_activ5_uuid(TENDON_ACTIV5_FORCE))
        for value in 1...3 { take(replay, [UInt8(value), 0], of: force) }
        let forms = collected.samples.withLock { $0.map(\.form) }
        #expect(forms.count == 3 && forms.allSatisfy { $0 === forms[0] })
        #expect(forms[0].sensor == "force" && collected.samples.withLock { $0.allSatisfy { $0.deviceTime == nil } })
    }
}
