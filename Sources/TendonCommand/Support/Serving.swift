// SPDX-License-Identifier: MIT
// What the families' streams share: the device that is served, its lines and its row, the loop that connects again.
import CTendon
import Tendon
import TendonSupport

/// One device that `run` or `stream` serves.
struct ServedDevice: Sendable {
    let label: DeviceLabel
    let central: Central
    let settings: StreamSettings
    let reporter: Reporter
    let rules: RuleBoard
    let admission: Admission
    /// Of the table.
    let row: Int
    /// Nil: the run has one radio.
    var adapter: String?

    var family: String { label.family ?? "" }
    var address: Address { label.address }

    /// One line of JSON about this device.
    func event(_ name: StaticString, _ members: JSON = [:]) { reporter.events.event(name, label, members) }

    /// The same without a heap call.
    func event(_ name: StaticString, _ body: (inout LineWriter) -> Void) {
        reporter.events.event(name, label, at: nil, body)
    }

    /// Suspends while much output waits: samples wait in their sequence meanwhile, and are counted there.
    func ready() async { await reporter.events.ready() }

    /// The state in the device's row.
    func show(_ state: String, note: String = "") {
        update { row in
            row.state = state
            row.note = note
            row.wasConnected = row.wasConnected || state == "connected"
        }
    }

    func update(_ change: (inout DeviceRow) -> Void) { reporter.update(row, change) }

    /// Starts the actions of the rules for this event. From any thread.
    func happened(_ name: String, _ detail: String? = nil) { rules.happened(name, detail, to: self) }

    /// Ends the program after the requested number of notifications.
    func stopAtLimit() {
        if let limit = settings.notifications, reporter.notifications >= limit { Termination.shared.request() }
    }

    /// Pauses after a number of samples, for tests.
    func pause(after count: Int) async {
        if count == settings.pauseAt { try? await Task.sleep(for: .seconds(settings.pauseFor)) }
    }
}

/// Why a device did not connect.
enum ServingError: Error {
    case cancelled
    /// `canRetry`: another attempt may succeed.
    case failed(String, canRetry: Bool)
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
            served.admission.connected(served.address)
            let ending = await serveConnected()
            if ending.reason == .requested || served.central.core.failure != nil {
                served.admission.left(served.address, failed: false)
            } else {
                served.admission.lost(served.address)
            }
        } catch {
            guard case .failed(let what, let canRetry) = error, !Task.isCancelled else {
                served.admission.left(served.address, failed: false)
                return
            }
            let failure = Failure(what, served.label, on: served.central)
            var pause: JSON = .null
            if served.central.core.failure != nil {
                served.admission.left(served.address, failed: false)  // it was not the device
            } else if canRetry, served.settings.reconnects {
                pause = .real(Double(served.admission.left(served.address, failed: true)) / 1000)
            } else {
                served.admission.exclude(served.address)
            }
            served.event("connect_failed", failure.members.merging(["retry_in_s": pause]))
            served.show("failed", note: failure.text)
        }
        if !served.settings.reconnects { served.admission.exclude(served.address) }
    }

    /// Opens the session. That may take long over a connection; without one it ends after `Admission.answerLimit(_:)`.
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
        let watch = Task { @TendonActor [served] () -> Bool in
            let end = tendon_monotonic_ms() + served.admission.answerLimit(served.address)
            while tendon_monotonic_ms() < end {
                do { try await Task.sleep(for: .milliseconds(20)) } catch { return false }
                guard served.central.hasLink(to: served.address) else { continue }
                served.admission.answered(served.address)
                return false
            }
            work.cancel()
            return true
        }
        let error = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        watch.cancel()
        let isUnanswered = await watch.value
        guard let error else { return }
        served.admission.failed(served.address)
        guard isUnanswered, !Task.isCancelled else { throw error }
        throw .failed("the device did not respond to the connection request", canRetry: true)
    }

    private func serveConnected() async -> Ending {
        served.central.core.clearPeerFailure(of: served.address)
        served.event("connected", identity.merging(served.adapter.map { ["adapter": .string($0)] } ?? [:]))
        served.reporter.events.device(served.label, is: .connected)
        served.show("connected")
        let place = served.rules.join(served)
        let actions = Task { @TendonActor [self] in
            for await call in place.calls { await carryOut(call) }
        }
        served.happened("connected")
        let ending = await stream()
        served.rules.leave(place)
        await actions.value
        let cause = ending.reason == .requested ? nil : served.central.core.peerFailure(of: served.address)
        served.event("disconnected", ending.with(cause).members)
        served.reporter.events.device(served.label, is: .disconnected)
        served.show("disconnected", note: ending.reason == .requested ? "" : ending.with(cause).text)
        served.happened("disconnected")
        return ending
    }

    private func carryOut(_ call: RuleBoard.Call) async {
        do throws(CommandError) {
            try await perform(call.call)
            served.event("action", ["action": .string(call.text)])
            served.update { $0.note = call.text }
        } catch {
            served.event("action_failed", ["action": .string(call.text), "text": .string(error.message)])
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
            if current.pointee.connected, Address(current.pointee.peer) == address { return true }
            link = current.pointee.next
        }
        return false
    }
}
