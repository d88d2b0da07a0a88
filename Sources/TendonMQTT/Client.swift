// SPDX-License-Identifier: MIT
// The connection to the broker: libmosquitto on a thread of its own, because resolving a name, connecting and the TLS
// handshake block, and must hold neither the loop nor the storing of messages.
import CSystemMosquitto
import CTendon
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// libmosquitto as the worker uses it. What happens goes to the mailbox.
final class Client: Broker, @unchecked Sendable {
    // `mosquitto` locks by itself (mosquitto_threaded_set); the other members do not change, or are guarded by `lock`.
    private let settings: MQTTSettings
    private let mailbox: Mailbox
    private let mosquitto: OpaquePointer
    private let lock = ThreadLock()
    private var isOver = false
    /// The thread has ended: nothing more is sent.
    private var hasEnded = false
    /// Messages that the broker is to acknowledge; and whether one is being handed over, whose number is not known yet.
    private var awaited: Set<Int32> = []
    private var isPublishing = false

    /// Milliseconds from one attempt to the next; with each failure twice as many.
    private static let firstPause: UInt64 = 1000
    private static let longestPause: UInt64 = 60_000
    /// A connection that ends sooner counts as a failure. More than the longest pause: of two clients with one name, each ends
    /// the connection of the other.
    private static let shortestConnection: UInt64 = 90_000

    init(_ settings: MQTTSettings, will: String, _ mailbox: Mailbox) throws(MQTTError) {
        self.settings = settings
        self.mailbox = mailbox
        mosquitto_lib_init()
        guard let made = mosquitto_new("tendon-\(settings.gateway)", true, nil) else {
            throw MQTTError("libmosquitto: \(String(cString: strerror(errno)))")
        }
        mosquitto = made
        try configure(will)
        mosquitto_user_data_set(mosquitto, Unmanaged.passUnretained(self).toOpaque())
        setCallbacks()
    }

    /// The thread keeps the client: it has ended, or never started.
    deinit { mosquitto_destroy(mosquitto) }

    private func configure(_ will: String) throws(MQTTError) {
        let version = settings.version == .five ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311
        try check(mosquitto_int_option(mosquitto, MOSQ_OPT_PROTOCOL_VERSION, version))
        try check(mosquitto_threaded_set(mosquitto, true))
        try check(mosquitto_int_option(mosquitto, MOSQ_OPT_TCP_NODELAY, 1))
        let payload = Array(BridgeState.offline.utf8)
        try check(mosquitto_will_set(mosquitto, will, Int32(payload.count), payload, 1, true))
        if let user = settings.user {
            let password = try settings.password().map { $0 + [0] }
            try check(
                password.map { bytes in
                    bytes.withUnsafeBytes {
                        mosquitto_username_pw_set(mosquitto, user, $0.bindMemory(to: CChar.self).baseAddress)
                    }
                } ?? mosquitto_username_pw_set(mosquitto, user, nil))
        }
        guard settings.usesTLS else { return }
        if let file = settings.caFile {
            try check(
                mosquitto_tls_set(mosquitto, file, nil, settings.certificateFile, settings.keyFile, nil), "TLS: \(file)"
            )
        } else {
            try check(mosquitto_int_option(mosquitto, MOSQ_OPT_TLS_USE_OS_CERTS, 1))
            // With the system's authorities alone, libmosquitto before 2.0.13 refuses every connection but the first: it
            // takes the TLS context that it has kept itself for one of the caller. A directory beside them prevents that.
            let directory = getenv("SSL_CERT_DIR").map { String(cString: $0) } ?? "/etc/ssl/certs"
            try check(
                mosquitto_tls_set(mosquitto, nil, directory, settings.certificateFile, settings.keyFile, nil), "TLS")
        }
        // The broker's certificate and its name are verified; nothing older than TLS 1.2.
        try check(mosquitto_tls_opts_set(mosquitto, 1, "tlsv1.2", nil), "TLS")
    }

    private func check(_ code: Int32, _ what: String = "MQTT") throws(MQTTError) {
        guard code == MOSQ_ERR_SUCCESS.code else { throw MQTTError("\(what): \(Client.text(code))") }
    }

    private static func text(_ code: Int32) -> String {
        if code == MOSQ_ERR_ERRNO.code { return String(cString: strerror(errno)) }
        let text = String(cString: mosquitto_strerror(code))
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }

    // MARK: What libmosquitto reports; on its thread

    private func setCallbacks() {
        mosquitto_connect_v5_callback_set(mosquitto) { _, context, code, _, properties in
            var window: UInt16 = 0
            let isLimited = mosquitto_property_read_int16(
                properties, Int32(MQTT_PROP_RECEIVE_MAXIMUM.rawValue), &window, false)
            Client.of(context)?.accepted(code, window: isLimited == nil ? nil : Int(window))
        }
        mosquitto_disconnect_v5_callback_set(mosquitto) { _, context, code, _ in
            // Below it are libmosquitto's own codes.
            if code >= 0x80 { Client.of(context)?.attempt.ending = code }
        }
        mosquitto_log_callback_set(mosquitto) { _, context, level, text in
            guard let text, level == MOSQ_LOG_ERR else { return }
            Client.of(context)?.complained(String(cString: text))
        }
        mosquitto_publish_v5_callback_set(mosquitto) { _, context, number, code, _ in
            Client.of(context)?.published(number, code)
        }
        mosquitto_subscribe_callback_set(mosquitto) { _, context, number, count, qualities in
            guard count > 0, let code = qualities?[0], code >= 0x80 else { return }
            Client.of(context)?.subscriptionRefused(number, code)
        }
        mosquitto_message_callback_set(mosquitto) { _, context, message in
            guard let message = message?.pointee, let topic = message.topic else { return }
            let count = Int(message.payloadlen)
            let payload =
                count <= Client.largestPayload
                ? Array(UnsafeRawBufferPointer(start: message.payload, count: count)) : Array("too large".utf8)
            let name = String(cString: topic)
            Client.of(context)?.mailbox.post(
                .received(topic: name, payload: payload, isRetained: message.retain),
                bytes: name.utf8.count + payload.count)
        }
    }

    /// Bytes of what is received.
    private static let largestPayload = 1 << 16

    /// libmosquitto says so of a message without an acknowledgement as well: that would wake the worker for nothing.
    private func published(_ number: Int32, _ code: Int32) {
        guard lock.locked({ awaited.remove(number) != nil || isPublishing }) else { return }
        mailbox.post(.acknowledged(number, refusal: code < 0x80 ? nil : code))
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> Client? {
        context.map { Unmanaged<Client>.fromOpaque($0).takeUnretainedValue() }
    }

    /// One connection, or the attempt to make it.
    private struct Attempt {
        /// The code of the broker's answer; nil: none came.
        var answer: Int32?
        /// The code of MQTT 5 with which the broker ended the connection.
        var ending: Int32?
        var connectedAt: UInt64?
        /// The answer did not come in time.
        var isUnanswered = false
    }

    /// Milliseconds from the connection to the answer to the login.
    private static let loginLimit: UInt64 = 10_000

    /// Only used on the thread.
    private var attempt = Attempt()
    /// What libmosquitto has reported in this attempt, from either thread: causes that its codes do not have. Guarded by
    /// `lock`.
    private var complaints: [String] = []
    private static let complaintLimit = 8

    /// By the numbers of the requests of this connection. Guarded by a lock of its own: it is held while libmosquitto, which may
    /// call back, sends a request.
    private var subscriptions: [Int32: String] = [:]
    private let subscriptionLock = ThreadLock()

    /// The broker has accepted the connection, and libmosquitto still has to repeat what is not acknowledged: the worker
    /// is notified afterwards, or a new message could overtake those. Only used on the thread.
    private var acceptance: Item?

    private func accepted(_ code: Int32, window: Int?) {
        attempt.answer = code
        guard code == 0 else { return }
        acceptance = .connected(window: window)
        attempt.connectedAt = tendon_monotonic_ms()
    }

    private func subscriptionRefused(_ number: Int32, _ code: Int32) {
        guard let topic = subscriptionLock.locked({ subscriptions[number] }) else { return }
        mailbox.post(.subscriptionRefused(topic, Client.text(refusal: code)))
    }

    private func complained(_ text: String) {
        lock.locked { if complaints.count < Client.complaintLimit { complaints.append(text) } }
    }

    // MARK: The thread

    /// Milliseconds for which libmosquitto waits when nothing comes: it looks then whether a ping is due, which the broker waits for
    /// half as long again as the keep-alive says.
    private var patience: Int32 { Int32(clamping: max(settings.keepalive, 4) * 250) }

    /// Returns 0, or the error number if there is no thread.
    func start() -> Int32 {
        startThread { [self] in
            var (failures, losses) = (UInt64(0), 0)
            while let reason = connection() {
                let isRefused = attempt.answer ?? 0 > 0
                let lasted = attempt.connectedAt.map { tendon_monotonic_ms() - $0 } ?? 0
                failures = lasted >= Client.shortestConnection ? 1 : failures + 1
                losses = failures == 1 ? 0 : losses + (attempt.connectedAt != nil && attempt.ending == nil ? 1 : 0)
                mailbox.post(
                    .disconnected(losses < Client.suspicious ? reason : reason + Client.suspicion, isRefused: isRefused)
                )
                pause(isRefused ? 6 : failures)
            }
            lock.locked {
                hasEnded = true
                lock.wakeAll()
            }
        }
    }

    /// One connection, to its end. Returns why it ended; nil: the client was stopped.
    private func connection() -> String? {
        let isOver = lock.locked {
            complaints = []
            return self.isOver
        }
        if isOver { return nil }
        attempt = Attempt()
        subscriptionLock.locked { subscriptions = [:] }
        errno = 0
        var code = mosquitto_connect(mosquitto, settings.host, Int32(settings.port), Int32(settings.keepalive))
        var number = errno
        let deadline = tendon_monotonic_ms() + Client.loginLimit
        while code == MOSQ_ERR_SUCCESS.code, !lock.locked({ self.isOver }) {
            let isLate = attempt.answer == nil && tendon_monotonic_ms() >= deadline
            if isLate {
                // libmosquitto would wait for the time of the keep-alive, and then has no reason.
                attempt.isUnanswered = true
                shutdown(mosquitto_socket(mosquitto), Int32(SHUT_RDWR))
            }
            errno = 0
            code = mosquitto_loop(mosquitto, attempt.answer == nil ? min(patience, 500) : patience, 1)
            number = errno
            if let acceptance { mailbox.post(acceptance) }
            acceptance = nil
        }
        guard lock.locked({ self.isOver }) else { return reason(code, number) }
        if code == MOSQ_ERR_SUCCESS.code { disconnect() }
        return nil
    }

    /// In the way of the protocol, so that the broker does not publish the last will.
    private func disconnect() {
        mosquitto_disconnect(mosquitto)
        for _ in 0..<20 where mosquitto_loop(mosquitto, 50, 1) != MOSQ_ERR_SUCCESS.code { return }
    }

    private func reason(_ code: Int32, _ number: Int32) -> String {
        if let ending = attempt.ending {
            let isTaken = ending == Client.takenOver
            return Client.text(refusal: ending) + (isTaken ? "; another client has this name: --mqtt-gateway" : "")
        }
        if let refusal = attempt.answer, refusal > 0 {
            guard settings.version == .five else { return String(cString: mosquitto_connack_string(refusal)) }
            let isOld = refusal == Client.unsupportedVersion
            return Client.text(refusal: refusal) + (isOld ? "; for a broker without MQTT 5: --mqtt-version 3.1.1" : "")
        }
        if attempt.isUnanswered {
            return "no answer to the login in \(Client.loginLimit / 1000) s: is it an MQTT broker?"
        }
        if settings.usesTLS, attempt.answer == nil, let cause = FailureCause.words(for: lock.locked { complaints }) {
            return cause
        }
        switch code {
        // A write can find the end before it is read.
        case MOSQ_ERR_ERRNO.code where attempt.answer != nil && [EPIPE, ECONNRESET].contains(number):
            return Client.broken
        case MOSQ_ERR_ERRNO.code where number != 0: return String(cString: strerror(number))
        case MOSQ_ERR_CONN_LOST.code where attempt.answer == nil && !settings.usesTLS:
            return "the connection ended before an answer to MQTT: another port, or mqtts:// for one with TLS"
        case MOSQ_ERR_ERRNO.code, MOSQ_ERR_PROTOCOL.code, MOSQ_ERR_MALFORMED_PACKET.code:
            return attempt.answer == nil ? "what answers on this port is no MQTT" : Client.text(code)
        case MOSQ_ERR_CONN_LOST.code: return Client.broken
        case MOSQ_ERR_EAI.code: return "the name of the host is not known, or no name server responds"
        default: return Client.text(code)
        }
    }

    private static let broken = "the broker ended it, or it does not respond"

    /// Connections in succession that were accepted, and soon lost without a reason: mosquitto ends a connection so when another
    /// client takes its name.
    private static let suspicious = 2
    private static let suspicion = ", again soon after it began; another client may have this name: --mqtt-gateway"

    private static let unsupportedVersion = Int32(bitPattern: MQTT_RC_UNSUPPORTED_PROTOCOL_VERSION.rawValue)
    private static let takenOver = Int32(bitPattern: MQTT_RC_SESSION_TAKEN_OVER.rawValue)

    /// Half of the time at least, and the rest by chance: a thousand gateways do not return in the same second.
    private func pause(_ failures: UInt64) {
        let longest = min(Client.longestPause, Client.firstPause << min(failures - 1, 6))
        let end = tendon_monotonic_ms() + longest / 2 + UInt64.random(in: 0...longest / 2)
        lock.locked {
            while !isOver, lock.wait(until: end) {}
        }
    }

    // MARK: For the worker

    func subscribe(_ topics: [String]) {
        for topic in topics {
            // The answer may be there before the call returns.
            subscriptionLock.locked {
                var number: Int32 = 0
                switch mosquitto_subscribe(mosquitto, &number, topic, 1) {
                case MOSQ_ERR_SUCCESS.code: subscriptions[number] = topic
                // With the next connection it is requested again.
                case MOSQ_ERR_NO_CONN.code, MOSQ_ERR_CONN_LOST.code: break
                case let code: mailbox.post(.subscriptionRefused(topic, Client.text(code)))
                }
            }
        }
    }

    func publish(_ topic: String, _ payload: [UInt8], quality: Int32, isRetained: Bool) -> PublishResult {
        var number: Int32 = 0
        if quality > 0 { lock.locked { isPublishing = true } }
        let code = mosquitto_publish(
            mosquitto, &number, topic, Int32(payload.count), payload, quality, isRetained)
        let result = Client.result(code, number, quality: quality)
        guard quality > 0 else { return result }
        lock.locked {
            isPublishing = false
            if case .taken(let number) = result { awaited.insert(number) }
        }
        return result
    }

    /// A message that needs an acknowledgement is kept by libmosquitto also without a connection, and repeated with the
    /// next one: it must not be published again.
    static func result(_ code: Int32, _ number: Int32, quality: Int32) -> PublishResult {
        switch code {
        case MOSQ_ERR_SUCCESS.code: .taken(number)
        case MOSQ_ERR_NO_CONN.code, MOSQ_ERR_CONN_LOST.code: quality > 0 ? .taken(number) : .later
        case MOSQ_ERR_OVERSIZE_PACKET.code, MOSQ_ERR_PAYLOAD_SIZE.code, MOSQ_ERR_INVAL.code,
            MOSQ_ERR_MALFORMED_UTF8.code, MOSQ_ERR_QOS_NOT_SUPPORTED.code, MOSQ_ERR_RETAIN_NOT_SUPPORTED.code:
            .refused(text(code))
        default: .later
        }
    }

    func stop(_ topic: String, _ payload: [UInt8]) {
        lock.locked {
            isOver = true
            lock.wakeAll()
        }
        // This wakes the thread as well.
        _ = publish(topic, payload, quality: 0, isRetained: true)
        let end = tendon_monotonic_ms() + Client.lastPatience
        lock.locked {
            while !hasEnded, lock.wait(until: end) {}
        }
    }

    private static let lastPatience: UInt64 = 1500

    /// Of the broker about a message that it does not take.
    static func text(refusal code: Int32) -> String { String(cString: mosquitto_reason_string(code)) }
}

extension mosq_err_t {
    fileprivate var code: Int32 { Int32(bitPattern: UInt32(truncatingIfNeeded: rawValue)) }
}

enum BridgeState {
    static let online = #"{"state":"online"}"#
    static let offline = #"{"state":"offline"}"#
}
