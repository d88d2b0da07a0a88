// SPDX-License-Identifier: MIT
// What the families' streams share: the device that is served, its lines and its row, the loop that connects again.
import CTendon
import Tendon
import TendonOutputs
import TendonSupport

/// One device that `run` or `stream` serves.
struct ServedDevice: Sendable {
    let label: DeviceLabel
    let central: Central
    let settings: StreamSettings
    let reporter: Reporter
    let rules: RuleBoard
    let turns: Turns
    /// Called when the device is connected.
    var onConnected: @TendonActor @Sendable () -> Void = {}
    /// Of the table.
    let row: Int
    /// Number of its radio, and the adapter's name; nil: the run has one radio.
    var radio: UInt8 = 0
    var adapter: String?

    var family: String { label.family ?? "" }
    var address: Address { label.address }

    /// One line of JSON about this device.
    func event(_ name: EventName, _ members: JSON = [:]) { reporter.events.event(name, label, members) }

    /// The same without a heap call.
    func event(_ name: EventName, _ body: (inout LineWriter) -> Void) {
        reporter.events.event(name, label, at: nil, body)
    }

    /// One sample, on the loop: to the outputs, and to the row, where it counts as delivered or as dropped.
    /// - Parameter numbers: for outputs that want numbers; made only if there is one.
    func sample(
        _ name: EventName = "sample", numbers: @autoclosure () -> OutputSample? = nil,
        _ body: (inout LineWriter) -> Void, row change: (inout DeviceRow) -> Void
    ) {
        let isDelivered = reporter.events.sample(name, label, numbers: numbers, body)
        update { row in
            if isDelivered { row.counters.delivered += 1 } else { row.counters.dropped += 1 }
            change(&row)
        }
    }

    /// The state in the device's row.
    func show(_ state: String, note: String = "") {
        update { row in
            row.state = state
            row.note = note
            row.wasConnected = row.wasConnected || state == "connected"
        }
    }

    func update(_ change: (inout DeviceRow) -> Void) { reporter.update(row, change) }

    /// Ends the program after the requested number of notifications.
    func stopAtLimit() {
        if let limit = settings.notifications, reporter.notifications >= limit { Termination.shared.request() }
    }
}

/// Why a device did not connect.
enum ServingError: Error {
    case cancelled
    /// `canRetry`: another attempt may succeed.
    case failed(String, canRetry: Bool)
}

/// The action that is carried out. With the session it ends: what would wait for a connection, such as an upgrade of
/// firmware, has none any more.
@TendonActor
private final class ActionProgress {
    private var isOver = false
    private var work: Task<Result<Void, CommandError>, Never>?

    func run(_ body: @escaping @TendonActor @Sendable () async throws(CommandError) -> Void) async throws(CommandError)
    {
        guard !isOver else { throw CommandError(.failed, "the device is not connected") }
        let work = Task { @TendonActor () -> Result<Void, CommandError> in
            do throws(CommandError) { return .success(try await body()) } catch { return .failure(error) }
        }
        self.work = work
        try await work.value.get()
    }

    func end() {
        isOver = true
        work?.cancel()
    }
}

/// Whether an attempt took too long. On the loop.
private final class Unanswered {
    var isReached = false
}

/// A family's session as `serve` drives it.
@TendonActor
protocol DeviceServer: AnyObject, Sendable {
    var served: ServedDevice { get }
    func open() async throws(ServingError)
    /// What the connected device is, for the line that reports the connection.
    var identity: JSON { get }
    /// Streams until the session is closed; returns how it ended.
    func stream() async -> Ending
    /// Carries out the action of a rule.
    func perform(_ call: any RuleCall) async throws(CommandError)
}

extension DeviceServer {
    func perform(_ call: any RuleCall) async throws(CommandError) {
        throw CommandError(.failed, "\(served.family) has no actions")
    }

    /// One turn: connects, streams until the connection ends. The next turn comes when the device advertises again.
    func serve() async {
        do throws(ServingError) {
            try await connect()
        } catch {
            return didNotConnect(error)
        }
        served.turns.connected(served.address, over: served.radio)
        let ending = await serveConnected()
        endTurn(wasOpen: true, wasReleased: ending.reason == TENDON_ENDING_REQUESTED, mayRetry: true)
    }

    private func didNotConnect(_ error: ServingError) {
        guard case .failed(let what, let canRetry) = error, !Task.isCancelled else {
            endTurn(wasOpen: false, wasReleased: true, mayRetry: true)
            return
        }
        let failure = Failure(what, served.label, on: served.central, isAttempt: true)
        let pause = endTurn(wasOpen: false, wasReleased: false, mayRetry: canRetry)
        let seconds: JSON = pause.map { .real(Double($0) / 1000) } ?? .null
        served.event("connect_failed", failure.members.merging(["retry_in_s": seconds]))
        served.show("failed", note: failure.text)
    }

    @discardableResult
    private func endTurn(wasOpen: Bool, wasReleased: Bool, mayRetry: Bool) -> UInt64? {
        served.turns.end(
            served.address,
            tendon_admission_ending(
                radio: served.radio, was_open: wasOpen, was_released: wasReleased, may_retry: mayRetry,
                is_last: !served.settings.reconnects),
            served.central.core.peerFailure(of: served.address))
    }

    /// Opens the session. That may take long over a connection; without one it ends after `Turns.answerLimit(_:)`.
    private func connect() async throws(ServingError) {
        served.show("connecting")
        served.central.core.clearPeerFailure(of: served.address)
        let work = Task { @TendonActor [self] () -> ServingError? in
            do throws(ServingError) {
                try await open()
                return nil
            } catch {
                return error
            }
        }
        let core = served.central.core
        core.onConnection(to: served.address) { [served] in
            TendonActor.assumeIsolated { served.turns.answered(served.address) }
        }
        let limit = Unanswered()
        let alarm = LoopTimer(core.loop.core) { [served] in
            guard !TendonActor.assumeIsolated({ served.central.hasLink(to: served.address) }) else { return }
            limit.isReached = true
            work.cancel()
        }
        alarm.deadline = tendon_monotonic_ms() + served.turns.answerLimit(served.address)
        let error = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        alarm.remove()
        core.onConnection(to: served.address, nil)
        guard let error else { return }
        guard limit.isReached, !Task.isCancelled else { throw error }
        throw .failed("the device did not respond to the connection request", canRetry: true)
    }

    private func serveConnected() async -> Ending {
        served.central.core.clearPeerFailure(of: served.address)
        // Before the event, on which rules may have actions for this device.
        let place = served.rules.join(served)
        served.event("connected", identity.merging(served.adapter.map { ["adapter": .string($0)] } ?? [:]))
        served.reporter.events.device(served.label, is: .connected)
        served.onConnected()
        served.show("connected")
        let progress = ActionProgress()
        let actions = Task(executorPreference: LoopPreference.shared) { [self] in
            for await call in place.calls {
                place.took()
                await carryOut(call, progress)
            }
        }
        let ending = await stream()
        served.rules.leave(place)
        progress.end()
        await actions.value
        let cause = ending.reason == TENDON_ENDING_REQUESTED ? nil : served.central.core.peerFailure(of: served.address)
        served.event("disconnected", ending.with(cause).members)
        served.reporter.events.device(served.label, is: .disconnected)
        served.show("disconnected", note: ending.reason == TENDON_ENDING_REQUESTED ? "" : ending.with(cause).text)
        return ending
    }

    private func carryOut(_ call: RuleBoard.Call, _ progress: ActionProgress) async {
        do throws(CommandError) {
            try await progress.run { [self] () throws(CommandError) in try await perform(call.call) }
            served.event("action", ["action": .string(call.text)])
            served.update { $0.note = call.text }
        } catch {
            let what: JSON = ["action": .string(call.text), "text": .string(error.message)]
            served.event("action_failed", what.merging(error.members))
            served.update { $0.note = "\(call.text): \(error.message)" }
        }
    }
}

extension Central {
    /// Whether a connection to this device exists, in whatever state its session is.
    @TendonActor
    func hasLink(to address: Address) -> Bool {
        var link = core.radio.pointee.links
        while let current = link {
            if current.pointee.state == UInt8(TENDON_LINK_OPEN.rawValue), Address(current.pointee.peer) == address {
                return true
            }
            link = current.pointee.next
        }
        return false
    }
}
