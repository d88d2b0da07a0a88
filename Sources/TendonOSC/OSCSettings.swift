// SPDX-License-Identifier: MIT
// The settings of the output, checked before a socket is opened.
import CTendon
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Why the output cannot be used, in a sentence.
package struct OSCError: Error, Sendable {
    package let text: String
    /// Another program listens on the port.
    package let isPortInUse: Bool

    package init(_ text: String, isPortInUse: Bool = false) { (self.text, self.isPortInUse) = (text, isPortInUse) }
}

/// A host and a port, as people write them.
struct Endpoint: Sendable, Hashable {
    /// A name, or an address of IPv4 or IPv6 without brackets.
    let host: String
    let port: UInt16
    /// For messages to people.
    let text: String

    /// `127.0.0.1:9000`, `[::1]:9000`, `studio.local:9000`.
    init?(_ text: String) {
        var endpoint = tendon_osc_endpoint()
        guard tendon_osc_endpoint_parse(text, text.utf8.count, &endpoint) == TENDON_OK else { return nil }
        self.init(endpoint)
    }

    init(_ endpoint: tendon_osc_endpoint) {
        var endpoint = endpoint
        var text = [CChar](repeating: 0, count: Int(TENDON_OSC_ENDPOINT_SIZE))
        tendon_osc_endpoint_format(&endpoint, &text)
        self.text = ended(text)
        host = withUnsafeBytes(of: endpoint.host) { ended($0) }
        port = endpoint.port
    }
}

extension Endpoint {
    /// What is reported of it.
    func sentence(_ notice: tendon_osc_notice, _ reason: String = "") -> String {
        var out = [CChar](repeating: 0, count: Int(TENDON_OSC_SENTENCE_SIZE))
        tendon_osc_notice_format(notice, text, reason, &out)
        return ended(out)
    }
}

/// A text up to its terminator.
func ended(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
func ended(_ text: [CChar]) -> String { ended(text.map { UInt8(bitPattern: $0) }) }

/// Where values go, in which form.
package struct OSCDestination: Sendable {
    let endpoint: Endpoint
    let preset: String
    /// The name or the address of the only device that is sent there; nil: each.
    let device: String?
    let format: tendon_osc_format
    /// Of `TENDON_OSC_ORIENTATION`.
    let address: String
    let map: tendon_osc_map

    package static let custom = TENDON_OSC_CUSTOM
    /// Their names, and what they are for.
    package static let presets: [(name: String, summary: String)] = {
        var all: [(name: String, summary: String)] = []
        while let preset = tendon_osc_preset_at(all.count)?.pointee {
            all.append((String(cString: preset.name), String(cString: preset.summary)))
        }
        return all + [(custom, "an address and a map of your own")]
    }()

    private static var names: String { presets.map(\.name).joined(separator: ", ") }

    /// `HOST:PORT`, `HOST:PORT/PRESET`, `HOST:PORT/PRESET/DEVICE`.
    /// - Parameter custom: address and map of the preset `custom`; nil: not given.
    package init(_ text: String, custom: (address: String, map: String)? = nil) throws(OSCError) {
        var parsed = tendon_osc_destination()
        let status = tendon_osc_destination_parse(text, text.utf8.count, &parsed)
        guard status != TENDON_ERROR_MALFORMED else {
            if text.hasSuffix("/"), (try? OSCDestination(String(text.dropLast()), custom: ("/", "yaw"))) != nil {
                throw OSCError(
                    "'\(sanitized(text))' has nothing behind its last /: HOST:PORT/PRESET/DEVICE, or less of it")
            }
            throw OSCError("'\(sanitized(text))' is not HOST:PORT/PRESET, such as 127.0.0.1:7000/iem or [::1]:9000")
        }
        let name = text.utf8.dropFirst(parsed.preset_at).prefix(parsed.preset_length)
        preset = name.isEmpty ? "raw" : String(decoding: name, as: UTF8.self)
        guard status >= 0 else {
            throw OSCError("unknown preset '\(sanitized(preset))'; known: \(OSCDestination.names)")
        }
        endpoint = Endpoint(parsed.endpoint)
        format = parsed.format
        let device = withUnsafeBytes(of: parsed.device) { ended($0) }
        self.device = device.isEmpty ? nil : device
        guard parsed.is_custom else {
            (address, map) = (parsed.address.map { String(cString: $0) } ?? "", parsed.map)
            return
        }
        guard let custom else {
            throw OSCError("\(sanitized(text)): the preset custom needs --osc-address and --osc-map")
        }
        (address, map) = (custom.address, try OSCDestination.map(custom.map))
        try OSCDestination.check(address: address)
    }

    /// `w,-x,-y,-z`, `scene:yaw,-pitch,roll` ...
    package static func map(_ text: String) throws(OSCError) -> tendon_osc_map {
        var map = tendon_osc_map()
        var offset = 0
        let status = tendon_osc_map_parse(text, text.utf8.count, &map, &offset)
        guard status != TENDON_ERROR_TABLE_FULL else {
            throw OSCError("'\(sanitized(text))' has more than \(TENDON_OSC_TERMS) numbers")
        }
        guard status >= 0 else {
            throw OSCError(
                "'\(sanitized(text))' is no map (column \(offset + 1)): it lists w, x, y, z, yaw, pitch, roll or 0 with "
                    + "commas between them, each with - before it if its sign changes, and scene: before all for the "
                    + "scene's rotation")
        }
        return map
    }

    package static func check(address: String) throws(OSCError) {
        guard !address.utf8.contains(0), tendon_osc_is_address(address) else {
            throw OSCError(
                "'\(sanitized(address))' is no address of OSC: it begins with /, and has no blanks, # and commas")
        }
    }
}

/// Where messages come from.
package struct OSCListener: Sendable {
    let endpoint: Endpoint

    /// `PORT`: of this machine only; `ADDRESS:PORT`.
    package init(_ text: String) throws(OSCError) {
        if let port = UInt16(text), port > 0, let own = Endpoint("127.0.0.1:\(port)") {
            endpoint = own
            return
        }
        let isAddress = { (host: String) in
            var bytes = in6_addr()
            return inet_pton(AF_INET, host, &bytes) == 1 || inet_pton(AF_INET6, host, &bytes) == 1
        }
        guard let given = Endpoint(text), isAddress(given.host) else {
            throw OSCError("'\(sanitized(text))' is not PORT or ADDRESS:PORT, such as 9001 or [::1]:9001")
        }
        endpoint = given
    }

    package var isLoopback: Bool { endpoint.host == "::1" || endpoint.host.hasPrefix("127.") }
}

package struct OSCSettings: Sendable {
    package var destinations: [OSCDestination]
    package var listener: OSCListener?
    /// Most orientations per second of a device; 0: all.
    package var rate = 0
    /// Milliseconds; 0: none.
    package var smoothing = 0
    /// Recentering changes the yaw alone.
    package var recentersYawOnly = false

    package init(_ destinations: [OSCDestination], listener: OSCListener? = nil) {
        (self.destinations, self.listener) = (destinations, listener)
    }

    /// A sentence about each destination to which nothing will be sent.
    /// - Parameter hasOrientations: a device that is served may send its orientation.
    package func unused(_ hasOrientations: Bool) -> [String] {
        guard !hasOrientations else { return [] }
        return destinations.filter { $0.format != TENDON_OSC_RAW }.map {
            $0.endpoint.sentence(TENDON_OSC_NOTICE_UNUSED)
        }
    }

    package var sendsOrientations: Bool { destinations.contains { $0.format != TENDON_OSC_RAW } }
}
