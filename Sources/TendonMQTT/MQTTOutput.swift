// SPDX-License-Identifier: MIT
// MQTT as an output of the command. See docs/mqtt.md.
import TendonOutputs
import TendonQueue
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

package final class MQTTOutput: EventOutput {
    private let mailbox: Mailbox
    private let end = OutputEnd()
    private let figures = MQTTFigures()
    package let agreement: (any LinkAgreement)?

    /// Opens the queue, reads the files, and starts the two threads. The broker may be away.
    /// - Parameter report: takes sentences for people, from any thread.
    package init(
        _ settings: MQTTSettings, families: [FamilyDescription], version: String, handler: any CommandHandler,
        report: @escaping @Sendable (String) -> Void
    ) throws(MQTTError) {
        try settings.check()
        if settings.showsPassword {
            report("the password goes to \(settings.broker) without TLS, readable on the way: mqtts:// encrypts it")
        }
        mailbox = Mailbox(leisure: settings.leisure, isCompact: settings.isCompact) { .line($0) }
        let shared = settings.sharesDevices ? SharedDevices(mailbox) : nil
        agreement = shared
        let client = try Client(
            settings, will: Topics(base: settings.base, gateway: settings.gateway).bridgeState, mailbox)
        let worker: Worker
        do throws(QueueError) {
            let queue = try DiskQueue(settings.queuePath, limit: settings.queueLimit, bytes: settings.queueBytes)
            if let repair = queue.repair { report(repair) }
            worker = Worker(
                settings, queue, client, mailbox, families: families, version: version, handler: handler,
                report: report, figures: figures, shared: shared, onEnd: { [end] in end.reach() })
        } catch {
            let path = sanitized(settings.queuePath)
            throw MQTTError(
                error.kind == .locked
                    ? "the queue \(path) is in use by another gateway; each needs a name of its own (--mqtt-gateway)"
                    : "the queue \(path): \(error.text)")
        }
        try MQTTOutput.check(client.start())
        do throws(MQTTError) {
            try MQTTOutput.check(startThread { worker.run() })
        } catch {
            client.stop(
                Topics(base: settings.base, gateway: settings.gateway).bridgeState, Array(BridgeState.offline.utf8))
            throw error
        }
    }

    private static func check(_ number: Int32) throws(MQTTError) {
        guard number == 0 else { throw MQTTError("no thread: \(text(strerror(number)))") }
    }

    package func takes(_ event: EventName, of device: OutputDevice?) -> Bool {
        // What is only in range is no device of this gateway yet.
        device.map { !$0.family.isEmpty } ?? false && !event.isEqual(to: "found")
    }

    package func event(_ event: EventName, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {
        guard let device else { return }
        mailbox.line(event, device, compose)
    }

    package func device(_ device: OutputDevice, is presence: Presence) {
        mailbox.post(.presence(device, presence))
    }

    package func radios(open: Int, waiting: [String]) { mailbox.post(.radios(open: open, waiting: waiting)) }

    package var metrics: [Metric] { figures.metrics }
    package var hasLost: Bool { figures.hasLost }

    package func finish() async {
        mailbox.post(.finish)
        await end.wait()
    }
}
