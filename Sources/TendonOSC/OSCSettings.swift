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

    package init(_ text: String) { self.text = text }
}

/// A host and a port, as people write them.
struct Endpoint: Sendable, Hashable {
    /// A name, or an address of IPv4 or IPv6 without brackets.
    let host: String
    let port: UInt16

    /// `127.0.0.1:9000`, `[::1]:9000`, `studio.local:9000`.
    init?(_ text: some StringProtocol) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
            return nil
        }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
            guard host.contains(":") else { return nil }
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty, host.utf8.count <= 255, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x2F })
        else { return nil }
        (self.host, self.port) = (host, port)
    }

    /// For messages to people.
    var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

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

    package static let custom = "custom"
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
        let parts = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard let endpoint = Endpoint(parts[0]), parts.allSatisfy({ !$0.isEmpty }) else {
            throw OSCError("'\(sanitized(text))' is not HOST:PORT/PRESET, such as 127.0.0.1:7000/iem or [::1]:9000")
        }
        self.endpoint = endpoint
        preset = parts.count > 1 ? String(parts[1]) : "raw"
        device = parts.count > 2 ? String(parts[2]) : nil
        if preset == OSCDestination.custom {
            guard let custom else {
                throw OSCError("the preset custom needs --osc-address and --osc-map")
            }
            format = TENDON_OSC_ORIENTATION
            (address, map) = (custom.address, try OSCDestination.map(custom.map))
            try OSCDestination.check(address: address)
        } else {
            guard let known = tendon_osc_preset_named(preset, preset.utf8.count)?.pointee else {
                throw OSCError("unknown preset '\(sanitized(preset))'; known: \(OSCDestination.names)")
            }
            format = known.format
            address = known.address.map { String(cString: $0) } ?? ""
            map =
                try known.map.map { (text) throws(OSCError) in try OSCDestination.map(String(cString: text)) }
                ?? tendon_osc_map()
        }
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
        var buffer = [UInt8](repeating: 0, count: Int(TENDON_OSC_ADDRESS_MAX) + 16)
        guard !address.utf8.contains(0), tendon_osc_sample(address, nil, 0, &buffer, buffer.count) > 0 else {
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

    package var sendsOrientations: Bool { destinations.contains { $0.format != TENDON_OSC_RAW } }
}
