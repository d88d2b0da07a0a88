// SPDX-License-Identifier: MIT
// What the families' streams share: who is served, where its news go, the loop that opens a device again.
import CTendon
import Tendon
import TendonSupport

/// One device that `run` or `stream` serves.
struct ServedDevice: Sendable {
    let family: String
    let address: Address
    let central: Central
    let settings: StreamSettings
    let reporter: Reporter
    let rules: RuleBoard

    /// One line of JSON about this device.
    func event(_ name: String, _ members: JSON = [:]) {
        reporter.event(line(name, members))
    }

    private func line(_ name: String, _ members: JSON) -> JSON {
        var line: JSON = [
            "event": .string(name), "family": .string(family), "address": .string(address.description),
        ]
        if case .object(let all) = members { for member in all { line[member.key] = member.value } }
        return line
    }

    /// The state in the device's row.
    func show(_ state: String, note: String = "") {
        update { row in
            row.state = state
            row.note = note
            row.wasOpened = row.wasOpened || state == "open"
        }
    }

    func update(_ change: (inout DeviceRow) -> Void) {
        reporter.update(address.description, family: family, change)
    }

    /// Starts what the rules want when this happens. From any thread.
    func happened(_ name: String, _ detail: String? = nil) {
        rules.happened(name, detail, to: self)
    }

    /// Ends the program when as many notifications came as were asked for.
    func stopAtLimit() {
        if let limit = settings.notifications, reporter.total.notifications >= limit { Stop.shared.request() }
    }
}

/// Why a device did not open.
enum ServingError: Error {
    case cancelled
    /// Waiting and trying again may mend it, or cannot.
    case failed(String, mayMend: Bool)
}

/// A family's session as `serve` drives it.
@TendonActor
protocol DeviceServer: AnyObject, Sendable {
    var served: ServedDevice { get }
    func open() async throws(ServingError)
    /// What the open device is, for the line that says so.
    var identity: JSON { get }
    /// Streams until the session is closed; returns why it was, nil: as asked.
    func stream() async -> String?
    /// Carries out what a rule wants.
    func perform(_ call: any RuleCall) async throws(CommandError)
}

extension DeviceServer {
    func perform(_ call: any RuleCall) async throws(CommandError) {
        throw CommandError(.failed, "\(served.family) has no actions")
    }

    /// Opens, streams, and opens again after a loss, until it is cancelled.
    func serve() async {
        var backoff = Backoff()
        while !Task.isCancelled {
            served.show("connecting")
            do throws(ServingError) {
                try await open()
                backoff.reset()
                await serveOpened()
            } catch {
                guard case .failed(let what, let mayMend) = error else { break }
                served.event("open_failed", ["error": .string(what)])
                served.show("failed", note: what)
                if !mayMend { return }
            }
            guard served.settings.reconnects, !Task.isCancelled, await backoff.wait() else { break }
        }
    }

    private func serveOpened() async {
        served.event("opened", identity)
        served.show("open")
        let place = served.rules.join(served)
        let actions = Task { @TendonActor [self] in
            for await call in place.calls { await carryOut(call) }
        }
        served.happened("opened")
        let reason = await stream()
        served.rules.leave(place)
        await actions.value
        served.event("closed", ["reason": .string(reason ?? "requested")])
        served.show("closed")
        served.happened("closed")
    }

    private func carryOut(_ call: RuleBoard.Call) async {
        do throws(CommandError) {
            try await perform(call.call)
            served.event("action", ["action": .string(call.text)])
            served.update { $0.note = call.text }
        } catch {
            served.event("action_failed", ["action": .string(call.text), "error": .string(error.message)])
            served.update { $0.note = "\(call.text): \(error.message)" }
        }
    }
}

/// How long to wait before the next attempt.
struct Backoff {
    private var milliseconds = 500
    private static let longest = 30_000

    mutating func reset() { milliseconds = 500 }

    /// False when the wait was cancelled.
    mutating func wait() async -> Bool {
        let now = milliseconds
        milliseconds = min(milliseconds * 2, Backoff.longest)
        do {
            try await Task.sleep(for: .milliseconds(now))
            return true
        } catch {
            return false
        }
    }
}
