// SPDX-License-Identifier: MIT
// The settings of the MQTT output, checked before anything is opened.
import TendonOutputs
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Why a setting cannot be used, in a sentence.
package struct MQTTError: Error, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }
}

package struct MQTTSettings: Sendable {
    package enum Version: Sendable {
        case five
        case threeOneOne
    }

    package enum Streams: Equatable, Sendable {
        case none
        case all
        /// Names of sensors.
        case these(Set<String>)
    }

    package var host = ""
    package var port: UInt16 = 1883
    package var usesTLS = false
    package var version = Version.five
    package var user: String?
    /// Files; what is in them is read when the output starts.
    package var passwordFile: String?
    package var caFile: String?
    package var certificateFile: String?
    package var keyFile: String?
    /// First level of every topic.
    package var base = "tendon"
    /// Name of this gateway: in its topics, in the numbers of its messages, and its client identifier.
    package var gateway = ""
    /// Seconds after which an unused connection is checked.
    package var keepalive = 30

    /// Numbers have the decimals that the sensor resolves.
    package var isCompact = true
    package var streams = Streams.none
    /// Messages per second of one sensor.
    package var streamRate = 10.0
    /// Milliseconds of samples in one message; 0: each message is one sample.
    package var streamBatch = 0
    /// Milliseconds from one message of a sensor to the next.
    var streamPause: UInt64 { streamBatch > 0 ? UInt64(streamBatch) : UInt64(1000 / max(streamRate, 0.001)) }
    /// Milliseconds that samples may wait for the thread. A state is published once in a second, a stream at its own pace.
    var leisure: UInt64 { streams == .none ? 100 : min(100, streamPause) }
    /// Stream messages wait on disk as events do.
    package var storesStreams = false
    /// Milliseconds from one state of a device to the next.
    package var stateInterval: UInt64 = 1000
    /// First level of the topics of Home Assistant's discovery; nil: none.
    package var discovery: String? = "homeassistant"

    /// Agree with other gateways which one takes a device.
    package var sharesDevices = false

    package var queuePath = ""
    /// Devices that are remembered.
    var deviceLimit = 1024
    package var queueLimit = 100_000
    package var queueBytes = 64 << 20

    package init() {}

    /// `mqtt://host`, `mqtts://host:port`; IPv6 addresses in brackets.
    package init(url: String) throws(MQTTError) {
        let wrong = MQTTError("'\(sanitized(url))' is not mqtt://HOST[:PORT] or mqtts://HOST[:PORT]")
        let rest: Substring
        if url.hasPrefix("mqtt://") {
            rest = url.dropFirst(7)
        } else if url.hasPrefix("mqtts://") {
            rest = url.dropFirst(8)
            (usesTLS, port) = (true, 8883)
        } else {
            throw wrong
        }
        if rest.contains("@") {
            throw MQTTError(
                "a password in the address is visible to every user: use --mqtt-user and --mqtt-password-file")
        }
        var name = rest
        var number: Substring?
        if rest.hasPrefix("[") {
            guard let end = rest.firstIndex(of: "]") else { throw wrong }
            name = rest[rest.index(after: rest.startIndex)..<end]
            let after = rest[rest.index(after: end)...]
            guard after.isEmpty || after.hasPrefix(":") else { throw wrong }
            number = after.isEmpty ? nil : after.dropFirst()
        } else if let colon = rest.firstIndex(of: ":") {
            name = rest[..<colon]
            number = rest[rest.index(after: colon)...]
        }
        if let number {
            guard let value = UInt16(number), value > 0 else { throw wrong }
            port = value
        }
        guard !name.isEmpty, !name.contains("/"), name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { throw wrong }
        host = String(name)
    }

    /// For messages to people.
    package var broker: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// The password passes a network unencrypted.
    var showsPassword: Bool {
        passwordFile != nil && !usesTLS && host != "localhost" && host != "::1" && !host.hasPrefix("127.")
    }

    /// What does not fit together; files that others can read.
    package func check() throws(MQTTError) {
        try checkValues()
        _ = try password()
        if let keyFile {
            _ = try secret { () throws(SecretFileError) in try SecretFile.read(keyFile, limit: 1 << 16) }
        }
        for path in [caFile, certificateFile].compactMap(\.self)
        where access(path, R_OK) != 0 && !SecretFile.isExcused(path) {
            throw MQTTError("\(sanitized(path)): \(String(cString: strerror(errno)))")
        }
    }

    /// What does not fit together; no file is read.
    package func checkValues() throws(MQTTError) {
        for (what, name) in [("the base topic", base), ("the topic of the discovery", discovery ?? "x")] {
            let levels = name.split(separator: "/", omittingEmptySubsequences: false)
            guard !name.isEmpty, levels.allSatisfy({ Topics.isLevel(String($0)) }) else {
                throw MQTTError(
                    "\(what) '\(sanitized(name))' has a level that is empty, longer than 64 bytes, or has +, # or "
                        + "control characters")
            }
        }
        guard Topics.isLevel(gateway) else {
            throw MQTTError(
                "the name of the gateway '\(sanitized(gateway))' is empty, longer than 64 bytes, or has /, +, # or control "
                    + "characters")
        }
        if !usesTLS, caFile != nil || certificateFile != nil || keyFile != nil {
            throw MQTTError("certificates are for mqtts://, and the broker is mqtt://")
        }
        if (certificateFile == nil) != (keyFile == nil) {
            throw MQTTError("a client certificate needs its key, and a key its certificate")
        }
        if passwordFile != nil, user == nil { throw MQTTError("a password needs a user") }
    }

    /// The first line of the file; nil: no password.
    func password() throws(MQTTError) -> [UInt8]? {
        guard let passwordFile else { return nil }
        return try secret { () throws(SecretFileError) in try SecretFile.line(passwordFile, limit: 4096) }
    }

    private func secret(_ read: () throws(SecretFileError) -> [UInt8]) throws(MQTTError) -> [UInt8] {
        do throws(SecretFileError) {
            return try read()
        } catch {
            throw MQTTError(error.text)
        }
    }
}
