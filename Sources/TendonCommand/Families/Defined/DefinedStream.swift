// SPDX-License-Identifier: MIT
// Serves one defined device for `run` and `stream`.
import CTendon
import Tendon
import TendonSupport

struct DefinedStream: ServerSource {
    let definition: Definition

    @TendonActor
    func server(of device: ServedDevice) -> any DeviceServer { DefinedServer(definition, device) }
}

/// What a session reports, taken out of the C core's memory.
private enum DefinedEvent: Sendable {
    case value(row: Int, bytes: [UInt8], SampleTimes)
    case refused(row: Int, TendonError)
    case closed(TendonError)
}

private let inputs: CBlock<tendon_session_inputs> = {
    let block = CBlock<tendon_session_inputs>()
    block.pointer.pointee = tendon_defined_inputs
    return block
}()

/// The session of the C core, on the loop.
private final class DefinedCore: Abandonable, @unchecked Sendable {
    // Used only on the loop's thread.
    let loop = Loop.shared
    let events = Feed<DefinedEvent>()
    private let session = CBlock<tendon_defined_session>()
    private var opening: Pending<Void, TendonError>?
    private var closing: Pending<Void, TendonError>?
    private var writes: [UInt32: Pending<Void, TendonError>] = [:]
    private(set) var link: SessionLink!
    private let definition: Definition

    init(_ radio: RadioCore, _ address: Address, _ definition: Definition) {
        self.definition = definition
        link = SessionLink(radio, to: address, owner: self)
        tendon_defined_session_init(session.pointer, definition.pointer, link.c, context(of: self)) {
            context, event, _ in
            guard let event else { return }
            object(DefinedCore.self, context).received(event.pointee)
        }
        link.attach(inputs, session)
    }

    func has(_ row: Int) -> Bool { tendon_defined_session_has(session.pointer, row) }

    @TendonActor
    func open() async throws(TendonError) {
        let opening = Pending<Void, TendonError>(loop)
        self.opening = opening
        let status = link.connect()
        guard status >= 0 else { throw TendonError(status: status, operation: .connect) }
        try await opening.value { [link] in link?.disconnect() }
    }

    /// Disconnects, and waits for the end, also in a task that is cancelled: the next turn connects again.
    @TendonActor
    func close() async {
        link.disconnect()
        guard !link.isIdle else { return }
        let closing = Pending<Void, TendonError>(loop)
        self.closing = closing
        await Task { @TendonActor in try? await closing.value() }.value
    }

    /// Writes an action, and waits for the response of the device.
    @TendonActor
    func act(_ call: DefinedCall) async throws(TendonError) {
        var wrong = 0
        endedWrites = [:]
        let number = call.withArguments {
            tendon_defined_session_act(session.pointer, call.action, $0, $1, &wrong, tendon_monotonic_ms())
        }
        let ended = endedWrites?[UInt32(bitPattern: number)]
        endedWrites = nil
        link.refresh()
        guard number >= 0 else { throw TendonError(status: number, operation: .write) }
        if let status = ended {
            if status < 0 { throw TendonError(status: status, operation: .write) }
            return
        }
        let pending = Pending<Void, TendonError>(loop)
        writes[UInt32(number)] = pending
        defer { writes[UInt32(number)] = nil }
        try await pending.value()
    }

    /// Writes that end within the call that starts them; nil: no such call is on its way.
    private var endedWrites: [UInt32: tendon_status]?

    private func received(_ event: tendon_defined_event) {
        switch event.kind {
        case TENDON_DEFINED_EVENT_OPEN: opening?.finish(.success(()))
        case TENDON_DEFINED_EVENT_VALUE:
            let bytes = Array(UnsafeBufferPointer(start: event.bytes, count: event.length))
            events.push(.value(row: Int(event.row), bytes: bytes, SampleTimes(receivedAt: event.received_at)))
        case TENDON_DEFINED_EVENT_REFUSED:
            events.push(.refused(row: Int(event.row), TendonError(status: event.status, operation: .discover)))
        case TENDON_DEFINED_EVENT_WRITTEN:
            endedWrites?[event.number] = event.status
            writes[event.number]?.finish(
                event.status < 0 ? .failure(TendonError(status: event.status, operation: .write)) : .success(()))
        default:
            let error = TendonError(status: event.status, operation: .connect)
            opening?.finish(.failure(error))
            for write in writes.values { write.finish(.failure(error)) }
            closing?.finish(.success(()))
            events.push(.closed(error))
        }
    }

    func abandon() {
        link.abandon()
        events.close()
    }
}

@TendonActor
private final class DefinedServer: DeviceServer {
    let served: ServedDevice
    private let definition: Definition
    private let lifetime: Lifetime<DefinedCore>
    private var events: EventSequence<DefinedEvent>?
    private var rates = Rates()

    init(_ definition: Definition, _ served: ServedDevice) {
        self.definition = definition
        self.served = served
        lifetime = Lifetime(DefinedCore(served.central.core, served.address, definition))
    }

    private var core: DefinedCore { lifetime.core }

    func open() async throws(ServingError) {
        rates = Rates()
        events = core.events.sequence(capacity: served.settings.capacity, policy: .dropOldest, keeping: lifetime)
        do throws(TendonError) {
            try await core.open()
        } catch {
            throw error.isCancelled ? .cancelled : .failed(error.text, canRetry: true)
        }
    }

    var identity: JSON { ["model": .string(definition.title)] }

    func stream() async -> Ending {
        guard let events else { return .lost }
        var iterator = events.makeAsyncIterator()
        var ending = Ending.lost
        let lacking = definition.rows.indices.filter { !core.has($0) }.compactMap {
            definition.word(definition.rows[$0].name)
        }
        if !lacking.isEmpty { served.event("missing", ["what": JSON(lacking.map(JSON.string))]) }
        reading: while let event = try? await iterator.next() {
            switch event {
            case .value(let row, let bytes, let times): take(bytes, of: definition.rows[row], times)
            case .refused(let row, let error): refused(definition.rows[row], error)
            case .closed(let error):
                ending = Ending(error)
                break reading
            }
        }
        await core.close()
        return Task.isCancelled ? .requested : ending
    }

    func perform(_ call: any RuleCall) async throws(CommandError) {
        guard let call = call as? DefinedCall else { return }
        do throws(TendonError) {
            try await core.act(call)
        } catch {
            throw CommandError(.failed, error.text)
        }
    }

    private func refused(_ row: tendon_definition_row, _ error: TendonError) {
        let name = definition.word(row.name) ?? ""
        served.event("refused", ["request": .string(name), "text": .string(error.text)])
        served.show("connected", note: "\(name): \(error.text)")
    }

    private func take(_ bytes: [UInt8], of row: tendon_definition_row, _ times: SampleTimes) {
        served.update { $0.counters.notifications += 1 }
        for (number, event) in definition.events(of: row.layout).enumerated() {
            if let mistake = definition.mistake(in: bytes, of: event) {
                served.update { $0.counters.malformed += 1 }
                return served.event("malformed", definition.malformed(row, bytes, mistake))
            }
            if number == 0 { rates.take(bytes, of: event, definition) }
            report(bytes, event, times)
        }
        served.stopAtLimit()
    }

    private func report(_ bytes: [UInt8], _ index: Int, _ times: SampleTimes) {
        let event = definition.events[index]
        let isTable = served.reporter.isTable
        let show: (inout DeviceRow) -> Void = { [definition, rates] row in
            row.counters.samples += 1
            if isTable { row.show(definition.readings(bytes, of: index, rates)) }
        }
        let write: (inout LineWriter) -> Void = { [definition, rates] line in
            times.write(to: &line)
            definition.write(bytes, of: index, rates, to: &line)
        }
        if event.isSample {
            return served.sample(
                "sample", numbers: definition.numbers(bytes, of: index, rates, times), write, row: show)
        }
        served.reporter.events.numbers(served.label) { definition.numbers(bytes, of: index, rates, times) }
        served.event(definition.lineName(of: index), write)
        served.update { row in
            row.counters.delivered += 1
            show(&row)
        }
    }
}

extension DeviceRow {
    /// New numbers take the place of those of the same name; the battery has a column.
    fileprivate mutating func show(_ new: [Reading]) {
        for reading in new {
            if reading.name == "battery_percent" {
                battery = Int(reading.value)
            } else if let place = readings.firstIndex(where: { $0.name == reading.name }) {
                readings[place] = reading
            } else if readings.count < 4 {
                readings.append(reading)
            }
        }
    }
}
