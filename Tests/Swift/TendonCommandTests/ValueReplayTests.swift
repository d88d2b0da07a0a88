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

    // MARK: Values that are read

    /// A PDU of a connection: who sends it, when.
    private struct PDU {
        let bytes: [UInt8]
        var fromServer = false
        let time: UInt64
    }

    /// A connection whose attribute 3 is the sensor data of a head.
    private func connected(_ events: Events) -> ReplayedConnection {
        var connection = ReplayedConnection(DeviceLabel("bose", Address(1, type: .random)), nil, after: nil, nil)
        var uuid = tendon_bose_uuid(TENDON_BOSE_SENSOR_DATA)
        let wire = [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
            count = tendon_uuid_to_wire(&uuid, buffer.baseAddress!)
        }
        play([PDU(bytes: [0x08, 1, 0, 0xFF, 0xFF, 0x03, 0x28], time: 1)], on: &connection, events)
        play([PDU(bytes: [0x09, 21, 2, 0, 0x12, 3, 0] + wire, fromServer: true, time: 2)], on: &connection, events)
        return connection
    }

    private func play(_ pdus: [PDU], on connection: inout ReplayedConnection, _ events: Events) {
        for pdu in pdus {
            connection.take(
                pdu.bytes, fromServer: pdu.fromServer, events,
                ReplayedConnection.Time(unix: pdu.time, milliseconds: pdu.time / 1000))
        }
    }

    /// So many samples of a head, 13 bytes each.
    private func rotations(_ count: Int) -> [UInt8] {
        (0..<count).flatMap { [2, 0, UInt8($0), 0x20, 0x00, 0x10, 0x00, 0, 0, 0, 0, 0, 0] }
    }

    private var end: ReplayedConnection.Time { ReplayedConnection.Time(unix: 30, milliseconds: 0) }
    private var times: [UInt64?] { collected.samples.withLock { $0.map(\.capturedAt) } }

    @Test func aValueThatIsReadHasTheTimeOfItsResponse() {
        let events = Events(style: .none, others: [collected])
        var connection = connected(events)
        play(
            [
                PDU(bytes: [0x0A, 3, 0], time: 10),
                // The device's own request, an indication of it and their answers say nothing of the read.
                PDU(bytes: [0x02, 40, 0], fromServer: true, time: 11), PDU(bytes: [0x03, 40, 0], time: 12),
                PDU(bytes: [0x1D, 9, 0, 1], fromServer: true, time: 13), PDU(bytes: [0x1E], time: 14),
                PDU(bytes: [0x52, 9, 0, 1], time: 14),  // nor does a command of ours
                PDU(bytes: [0x0B] + rotations(1), fromServer: true, time: 15),
            ], on: &connection, events)
        #expect(times == [15])
        connection.finishReading(events, end)
        #expect(times == [15])
    }

    /// 22 bytes fill a PDU until there is another MTU: a further part may follow.
    @Test func aLongValueHasTheTimeOfItsLastPart() {
        let events = Events(style: .none, others: [collected])
        var connection = connected(events)
        let value = rotations(2)
        play(
            [
                PDU(bytes: [0x0A, 3, 0], time: 10), PDU(bytes: [0x0B] + value.prefix(22), fromServer: true, time: 15),
                PDU(bytes: [0x0C, 3, 0, 22, 0], time: 20),
            ], on: &connection, events)
        #expect(times.isEmpty)
        play([PDU(bytes: [0x0D] + value.dropFirst(22), fromServer: true, time: 25)], on: &connection, events)
        #expect(times == [25, 25])
    }

    /// Attribute Not Long, as many devices answer where the value fills its PDU.
    @Test func aValueWithoutAFurtherPartIsComplete() {
        let events = Events(style: .none, others: [collected])
        var connection = connected(events)
        play(
            [
                PDU(bytes: [0x02, 40, 0], time: 3), PDU(bytes: [0x03, 40, 0], fromServer: true, time: 4),
                PDU(bytes: [0x0A, 3, 0], time: 10), PDU(bytes: [0x0B] + rotations(3), fromServer: true, time: 15),
                PDU(bytes: [0x0C, 3, 0, 39, 0], time: 16),
                PDU(bytes: [0x01, 0x0C, 3, 0, 0x0B], fromServer: true, time: 17),
            ], on: &connection, events)
        #expect(times == [17, 17, 17])
    }

    @Test func afterAnExchangeOfMTUsTheSmallerOneCounts() {
        let events = Events(style: .none, others: [collected])
        var connection = connected(events)
        play(
            [
                PDU(bytes: [0x02, 40, 0], time: 3), PDU(bytes: [0x03, 0xF7, 0], fromServer: true, time: 4),
                PDU(bytes: [0x0A, 3, 0], time: 10), PDU(bytes: [0x0B] + rotations(2), fromServer: true, time: 15),
                PDU(bytes: [0x0A, 3, 0], time: 20), PDU(bytes: [0x0B] + rotations(3), fromServer: true, time: 25),
            ], on: &connection, events)
        #expect(times == [15, 15], "39 bytes fill a PDU")
        // Nothing follows: the connection ends, or the capture. No line is of an earlier time than the one before.
        connection.finishReading(events, end)
        #expect(times == [15, 15, 30, 30, 30])
    }
}
