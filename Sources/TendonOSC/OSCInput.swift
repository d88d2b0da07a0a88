// SPDX-License-Identifier: MIT
// What comes in: actions of devices, and recentering. Any program that reaches the port may be the sender: everything is
// checked here or by the command's handler, and nothing in it names a program, a file or a rule.
import CTendon
import TendonOutputs
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A message of a packet.
struct OSCMessage: Equatable {
    var address: String
    /// Numbers, texts, truths and nothings; blobs, times and colors have no place in a command.
    var arguments: [JSON]?

    /// Nil: it is no packet.
    static func all(in packet: [UInt8]) -> [OSCMessage]? {
        final class Found { var messages: [OSCMessage] = [] }
        let found = Found()
        let status = withExtendedLifetime(found) {
            tendon_osc_decode(
                packet, packet.count,
                { context, message in
                    guard let context, let message else { return }
                    let found = Unmanaged<Found>.fromOpaque(context).takeUnretainedValue()
                    found.messages.append(OSCMessage(message.pointee))
                }, Unmanaged.passUnretained(found).toOpaque(), nil)
        }
        return status < 0 ? nil : found.messages
    }

    init(address: String, arguments: [JSON]?) { (self.address, self.arguments) = (address, arguments) }

    private init(_ message: tendon_osc_message) {
        var message = message
        address = String(cString: message.address)
        arguments = []
        var rest = tendon_osc_arguments_of(&message)
        var argument = tendon_osc_argument()
        while tendon_osc_next(&rest, &argument) {
            guard let value = OSCMessage.value(argument) else {
                arguments = nil
                return
            }
            arguments?.append(contentsOf: value)
        }
    }

    /// Nil: a type that no command has.
    private static func value(_ argument: tendon_osc_argument) -> [JSON]? {
        switch UInt8(bitPattern: argument.tag) {
        case UInt8(ascii: "i"), UInt8(ascii: "h"): return [.integer(argument.integer)]
        case UInt8(ascii: "f"), UInt8(ascii: "d"): return argument.number.isFinite ? [.real(argument.number)] : nil
        case UInt8(ascii: "T"), UInt8(ascii: "F"): return [.bool(argument.integer != 0)]
        case UInt8(ascii: "s"), UInt8(ascii: "S"):
            let bytes = UnsafeBufferPointer(start: argument.bytes, count: argument.length)
            return [.string(String(decoding: bytes, as: UTF8.self))]
        case UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "N"): return []
        default: return nil
        }
    }
}

final class OSCInput: @unchecked Sendable {
    private let handler: any CommandHandler
    private let family: @Sendable (String) -> String?
    private let report: @Sendable (String) -> Void
    private let descriptor: Int32
    /// A pipe: closed at its writing end, it ends the thread.
    private let ends: (reading: Int32, writing: Int32)
    let port: UInt16
    // Guarded by `lock`.
    private let lock = ThreadLock()
    private var devices: [String: OutputDevice] = [:]
    private var pending = 0
    private var isOver = false
    private var isStarted = false
    private var received: UInt64 = 0
    private var rejected: UInt64 = 0
    private var reportedAt: UInt64 = 0

    /// Commands that are carried out at the same time.
    private static let pendingLimit = 32
    /// Bytes of a packet; a longer one is rejected.
    private static let packetLimit = 8192
    /// Milliseconds between two sentences about what was rejected.
    private static let reportPause: UInt64 = 1000

    init(
        _ listener: OSCListener, _ handler: any CommandHandler, family: @escaping @Sendable (String) -> String?,
        report: @escaping @Sendable (String) -> Void
    ) throws(OSCError) {
        (self.handler, self.family, self.report) = (handler, family, report)
        let status = tendon_datagram_listen(listener.endpoint.host, listener.endpoint.port)
        guard status >= 0 else {
            throw OSCError(
                "\(listener.endpoint.text): \(text(tendon_datagram_status_text(status)))",
                isPortInUse: status == Destinations.systemError(EADDRINUSE))
        }
        var pair: [Int32] = [-1, -1]
        guard pipe(&pair) == 0 else {
            tendon_datagram_close(status)
            throw OSCError("no pipe: \(text(strerror(errno)))")
        }
        for descriptor in pair { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        (descriptor, ends) = (status, (pair[0], pair[1]))
        port = UInt16(clamping: tendon_datagram_port(status))
        if !listener.isLoopback {
            report("any program that reaches \(listener.endpoint.text) can command the devices")
        }
    }

    /// The thread keeps the object, and has closed what it reads when it ends.
    deinit {
        if !isStarted {
            tendon_datagram_close(descriptor)
            systemClose(ends.reading)
        }
        if !isOver { systemClose(ends.writing) }
    }

    func start() -> Int32 {
        let number = startThread { [self] in
            run()
            tendon_datagram_close(descriptor)
            systemClose(ends.reading)
        }
        isStarted = number == 0
        return number
    }

    func device(_ device: OutputDevice, is presence: Presence) {
        lock.locked {
            switch presence {
            case .connected, .renamed:
                if presence == .connected || devices[device.key] != nil { devices[device.key] = device }
            case .disconnected, .forgotten: devices[device.key] = nil
            }
        }
    }

    var metrics: [Metric] {
        let counts = lock.locked { (received, rejected) }
        return [
            Metric(
                "tendon_osc_received_messages", .counter, unit: "messages", "Messages that were received.",
                Double(counts.0)),
            Metric(
                "tendon_osc_rejected_messages", .counter, unit: "messages",
                "Packets and messages that were no command, or a wrong one.", Double(counts.1)),
        ]
    }

    func finish() {
        let isFirst = lock.locked {
            defer { isOver = true }
            return !isOver
        }
        if isFirst { systemClose(ends.writing) }
    }

    // MARK: The thread

    private func run() {
        var packet = [UInt8](repeating: 0, count: OSCInput.packetLimit)
        var sender = [CChar](repeating: 0, count: Int(TENDON_DATAGRAM_ADDRESS_SIZE))
        var waited = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: ends.reading, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            guard poll(&waited, nfds_t(waited.count), -1) >= 0 || errno == EINTR, waited[1].revents == 0 else { return }
            let length = tendon_datagram_receive(descriptor, &packet, packet.count, &sender)
            guard length != TENDON_ERROR_WOULD_BLOCK else { continue }
            let from = String(decoding: sender.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard length >= 0, let messages = OSCMessage.all(in: Array(packet.prefix(Int(length)))) else {
                reject("a packet", from, "it is not OSC")
                continue
            }
            for message in messages { take(message, from) }
        }
    }

    private func reject(_ what: String, _ sender: String, _ why: String) {
        let isReported = lock.locked {
            rejected += 1
            let now = tendon_monotonic_ms()
            guard now >= reportedAt + OSCInput.reportPause || reportedAt == 0 else { return false }
            reportedAt = now
            return true
        }
        if isReported { report("\(sanitized(what)) from \(sender): \(why)") }
    }

    /// `/tendon/recenter`, `/tendon/NAME/recenter`, `/tendon/NAME/ACTION ARGUMENTS...`; NAME may be a family.
    private func take(_ message: OSCMessage, _ sender: String) {
        lock.locked { received += 1 }
        let levels = message.address.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard (2...3).contains(levels.count), levels[0] == "tendon", levels.count == 3 || levels[1] == "recenter" else {
            return reject(message.address, sender, "/tendon/NAME/ACTION and /tendon/recenter are known")
        }
        guard let arguments = message.arguments else {
            return reject(message.address, sender, "arguments are numbers and texts")
        }
        if levels.count == 2 {
            guard OSCInput.isPressed(arguments) != false else { return }
            return carryOut(message.address, sender) { [handler] in await handler.request("recenter", [:]) }
        }
        let named = devices(called: String(levels[1]))
        guard !named.isEmpty else {
            return reject(message.address, sender, "no device '\(sanitized(String(levels[1])))' is connected")
        }
        let action = String(levels[2])
        for device in named {
            let pressed = handler.takesArguments(action, device.family) ? nil : OSCInput.isPressed(arguments)
            guard pressed != false else { continue }
            let actions: JSON = [action: arguments.isEmpty || pressed == true ? .null : .array(arguments)]
            carryOut(message.address, sender) { [handler] in await handler.set(actions, of: device) }
        }
    }

    /// A button of a controller sends a number when it is pressed, and 0 when it is released. Nil: it is none.
    private static func isPressed(_ arguments: [JSON]) -> Bool? {
        guard arguments.count == 1 else { return nil }
        switch arguments[0] {
        case .integer(let number): return number != 0
        case .real(let number): return number != 0
        case .bool(let isTrue): return isTrue
        default: return nil
        }
    }

    private func devices(called name: String) -> [OutputDevice] {
        let all = lock.locked { Array(devices.values) }
        let named = all.filter { OSCName.means(name, $0) }
        guard named.isEmpty, let family = family(name) else { return named }
        return all.filter { $0.family == family }
    }

    private func carryOut(
        _ address: String, _ sender: String, _ command: @escaping @Sendable () async -> CommandResult
    ) {
        let isTaken = lock.locked {
            guard pending < OSCInput.pendingLimit else { return false }
            pending += 1
            return true
        }
        guard isTaken else { return reject(address, sender, "too many commands are carried out") }
        handler.start { [self] in
            let result = await command()
            lock.locked { pending -= 1 }
            if case .failed(let why) = result { reject(address, sender, why) }
        }
    }
}
