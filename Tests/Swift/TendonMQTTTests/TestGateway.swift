// SPDX-License-Identifier: MIT
// A gateway's MQTT output with a broker that the test plays and a time that it sets. No thread, no socket.
import Foundation
import TendonOutputs
import TendonQueue
import TendonSupport

@testable import TendonMQTT

/// What the worker gave to libmosquitto.
final class ScriptedBroker: Broker {
    struct Message: Equatable, CustomStringConvertible {
        var topic: String
        var text: String
        var quality: Int32 = 0
        var isRetained = false
        var description: String { "\(topic) '\(text)' QoS \(quality)\(isRetained ? " retained" : "")" }
    }

    var messages: [Message] = []
    var subscriptions: [String] = []
    var last: Message?
    var takesMessages = true
    /// Bytes of a payload that are too many for this broker.
    var limit = Int.max
    /// Each message is acknowledged as soon as it is published.
    var acknowledges = false
    private(set) var number: Int32 = 0
    private let mailbox: TendonMQTT.Mailbox

    init(_ mailbox: TendonMQTT.Mailbox) { self.mailbox = mailbox }

    func subscribe(_ topics: [String]) { subscriptions += topics }

    func publish(_ topic: String, _ payload: [UInt8], quality: Int32, isRetained: Bool) -> PublishResult {
        guard takesMessages else { return .later }
        guard payload.count <= limit else { return .refused("too large") }
        let text = String(decoding: payload, as: UTF8.self)
        messages.append(Message(topic: topic, text: text, quality: quality, isRetained: isRetained))
        number += 1
        if acknowledges { mailbox.post(.acknowledged(number, refusal: nil)) }
        return .taken(number)
    }

    func stop(_ topic: String, _ payload: [UInt8]) {
        last = Message(topic: topic, text: String(decoding: payload, as: UTF8.self))
    }
}

/// Answers each command as the test wants it.
final class ScriptedHandler: CommandHandler, @unchecked Sendable {
    // Guarded by `lock`.
    private let lock = ThreadLock()
    private var asked: [String] = []
    private var answer = CommandResult.done(.null)
    private var waiting: [CheckedContinuation<Void, Never>]?
    private var ended = 0

    /// Commands whose result was posted.
    var done: Int { lock.locked { ended } }
    var calls: [String] { lock.locked { asked } }
    func answer(_ new: CommandResult) { lock.locked { answer = new } }

    /// Commands wait from now on.
    func hold() { lock.locked { waiting = [] } }

    func refusal(ofName name: String) -> String? { name == "belt" ? "'belt' is a family" : nil }

    func start(_ work: @escaping @Sendable () async -> Void) {
        Task {
            await work()
            lock.locked { ended += 1 }
        }
    }

    func release() {
        let ready = lock.locked {
            defer { waiting = nil }
            return waiting ?? []
        }
        for continuation in ready { continuation.resume() }
    }

    private func carryOut(_ call: String) async -> CommandResult {
        await withCheckedContinuation { continuation in
            let isHeld = lock.locked {
                asked.append(call)
                waiting?.append(continuation)
                return waiting != nil
            }
            if !isHeld { continuation.resume() }
        }
        return lock.locked { answer }
    }

    func set(_ actions: JSON, of device: OutputDevice) async -> CommandResult {
        await carryOut("set \(device.key) \(actions.text)")
    }

    func request(_ name: String, _ data: JSON) async -> CommandResult { await carryOut("\(name) \(data.text)") }

    func disconnect(_ address: String, _ addressType: String) async {
        _ = await carryOut("disconnect \(address) \(addressType)")
    }
}

final class TestGateway {
    static let grip = OutputDevice(family: "fjorden", address: "C0:00:00:00:08:01", addressType: "random")
    static let families = [
        FamilyDescription(
            family: "fjorden", manufacturer: "Fjorden", model: "Grip", states: ["mode"],
            entities: [
                .battery,
                Entity("press", "Press", .button(payload: #"{"vibrate":[]}"#)),
            ])
    ]

    let directory = NSTemporaryDirectory() + "tendon-gateway-\(UUID().uuidString)"
    /// Milliseconds.
    let time = SetTime()
    let mailbox = TendonMQTT.Mailbox(leisure: 100) { .line($0) }
    let broker: ScriptedBroker
    let handler = ScriptedHandler()
    let reports = Reports()
    let figures = MQTTFigures()
    let shared: SharedDevices?
    let worker: Worker

    final class SetTime: @unchecked Sendable {
        // The tests set it between the rounds of the worker, on one thread.
        var now: UInt64 = 100_000
        /// Passes with each look at the clock.
        var step: UInt64 = 0

        func look() -> UInt64 {
            now += step
            return now
        }
    }

    final class Reports: @unchecked Sendable {
        // As SetTime.
        var texts: [String] = []
    }

    /// - Parameter queue: that of an earlier gateway, which has ended.
    init(queue: TestGateway? = nil, bytes: Int = 1 << 20, _ change: (inout MQTTSettings) -> Void = { _ in }) throws {
        var settings = MQTTSettings()
        (settings.host, settings.gateway) = ("broker", "gw")
        settings.queuePath = (queue?.directory ?? directory) + "/queue.db"
        change(&settings)
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        broker = ScriptedBroker(mailbox)
        let (time, reports, end) = (time, reports, End())
        shared = settings.sharesDevices ? SharedDevices(mailbox, clock: { time.now }) : nil
        worker = Worker(
            settings, try DiskQueue(settings.queuePath, limit: settings.queueLimit, bytes: bytes), broker, mailbox,
            families: TestGateway.families, version: "1.2", handler: handler,
            report: { reports.texts.append($0) }, figures: figures, shared: shared, clock: { time.look() },
            onEnd: { end.isReached = true })
        self.end = end
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    private final class End: @unchecked Sendable {
        // As SetTime.
        var isReached = false
    }

    private let end: End
    var isAtEnd: Bool { end.isReached }

    /// One round of the worker, at a time.
    func round(at now: UInt64? = nil, _ items: Item...) {
        if let now { time.now = now }
        for item in items { mailbox.post(item) }
        var batch = TendonMQTT.Mailbox.Batch()
        mailbox.take(until: 0, into: &batch)
        worker.process(batch)
    }

    /// A line of an event as the command writes it, with the members that `members` states.
    func line(_ event: EventName, of device: OutputDevice = TestGateway.grip, _ members: String = "") {
        mailbox.line(event, device) { $0.raw(#"{"time":"T","event":"\#(event)"\#(members)}"# + "\n") }
    }

    /// What was published since the last call.
    func published() -> [ScriptedBroker.Message] {
        defer { broker.messages = [] }
        return broker.messages
    }

    func received(_ topic: String, _ text: String = "", isRetained: Bool = false) {
        round(.received(topic: topic, payload: Array(text.utf8), isRetained: isRetained))
    }

    /// Connected at 100 s; what this publishes is left out.
    func connect() {
        round(at: 100_000, .connected(window: nil))
        _ = published()
    }
}
