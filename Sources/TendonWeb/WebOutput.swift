// SPDX-License-Identifier: MIT
// The page as an output of the command. See docs/page.md.
import TendonOutputs
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

package final class WebOutput: EventOutput {
    private let hub: Hub
    private let server: Server
    private let end = OutputEnd()

    /// Reads the token, listens, and starts the two threads.
    /// - Parameters:
    ///   - greeting: version, and name, of the gateway.
    ///   - exposition: what `/metrics` gives; nil: nothing.
    package init(
        _ settings: WebSettings, families: [FamilyDescription], greeting: JSON, source: any FigureSource,
        handler: any CommandHandler, exposition: (@Sendable () -> (type: String, text: [UInt8]))?
    ) throws(WebError) {
        let admission = Guard(isLoopback: settings.isLoopback, names: settings.names, token: try settings.token())
        let timers = Timers()
        hub = Hub(
            families, source, greeting: greeting.merging(["commands": .bool(admission.takesCommands)]),
            expire: { [timers] in timers.server?.expire($0) ?? .max })
        server = Server(admission, hub, handler, metrics: exposition)
        timers.server = server
        try server.start(settings)
        let number = startThread { [hub, server, end] in
            hub.run()
            server.stop()
            timers.server = nil
            end.reach()
        }
        guard number == 0 else {
            server.stop()
            timers.server = nil
            throw WebError("no thread: \(text(strerror(number)))")
        }
    }

    package var takesSamples: Bool { hub.isWatched.load(ordering: .relaxed) }

    package func takes(_ event: EventName, of device: OutputDevice?) -> Bool {
        guard let device, !device.family.isEmpty else { return false }
        return !event.isEqual(to: "sample") || hub.isWatched.load(ordering: .relaxed)
    }

    package func event(_ event: EventName, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {
        guard let device else { return }
        hub.mailbox.line(event, device, compose)
    }

    package func device(_ device: OutputDevice, is presence: Presence) {
        hub.mailbox.post(.presence(device, presence))
    }

    package func radios(open: Int, waiting: [String]) { hub.mailbox.post(.radios(waiting)) }

    package var metrics: [Metric] {
        [
            Metric("tendon_web_browsers", .gauge, unit: "browsers", "Browsers that read live data.", Double(hub.count)),
            Metric(
                "tendon_web_dropped_frames", .counter, unit: "frames", "Messages that slow browsers did not get.",
                Double(hub.dropped)),
            Metric(
                "tendon_web_refused_requests", .counter, unit: "requests", "Requests of browsers that were refused.",
                Double(server.refused)),
        ]
    }

    package func finish() async {
        hub.mailbox.post(.finish)
        await end.wait()
    }
}

/// The way from the hub to the server. Set before the hub's thread starts, and after its end.
private final class Timers: @unchecked Sendable {
    var server: Server?
}
