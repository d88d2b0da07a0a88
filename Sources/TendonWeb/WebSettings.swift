// SPDX-License-Identifier: MIT
// The settings of the page, checked before anything is opened.
import TendonOutputs
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Why the page cannot be served, in a sentence.
package struct WebError: Error, Sendable {
    package let text: String
    /// The port is the only thing that is wrong.
    package let isPortInUse: Bool

    package init(_ text: String, isPortInUse: Bool = false) { (self.text, self.isPortInUse) = (text, isPortInUse) }
}

package struct WebSettings: Sendable {
    /// An address of IPv4 or IPv6, without brackets.
    package let address: String
    package let port: UInt16
    /// What commands need, and on an address that others can reach everything; nil: the page only shows.
    package var tokenFile: String?
    /// Names, beside addresses and localhost, by which browsers may reach the page.
    package var names: [String] = []

    /// `127.0.0.1:8099`, `[::1]:8099`, `localhost:8099`.
    package init(_ text: String) throws(WebError) {
        let wrong = WebError("'\(sanitized(text))' is not ADDRESS:PORT, such as 127.0.0.1:8099 or [::1]:8099")
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
            throw wrong
        }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
            guard Hosts.isAddress(host), host.contains(":") else { throw wrong }
        } else {
            if host == "localhost" { host = "127.0.0.1" }
            guard Hosts.isAddress(host), !host.contains(":") else { throw wrong }
        }
        (address, self.port) = (host, port)
    }

    package var isLoopback: Bool { Hosts.isLoopback(address) }

    /// For messages to people.
    package var url: String { "http://\(host):\(port)/" }
    /// The address as it stands before a port.
    package var host: String { address.contains(":") ? "[\(address)]" : address }

    static let shortestToken = 16

    /// What does not fit together; no file is read.
    package func checkValues() throws(WebError) {
        guard tokenFile == nil, !isLoopback else { return }
        throw WebError("\(address) can be reached by others: it needs a token (--web-token-file)")
    }

    /// The first line of the file; nil: there is none, and none is needed.
    package func token() throws(WebError) -> [UInt8]? {
        try checkValues()
        guard let tokenFile else { return nil }
        let token: [UInt8]
        do throws(SecretFileError) {
            token = try SecretFile.line(tokenFile, limit: 4096)
        } catch {
            throw WebError(error.text)
        }
        guard token.count >= WebSettings.shortestToken, token.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw WebError(
                "\(sanitized(tokenFile)): a token has \(WebSettings.shortestToken) or more characters of ASCII, and no "
                    + "spaces: openssl rand -hex 24")
        }
        return token
    }
}

/// Names and addresses in requests.
enum Hosts {
    static func isAddress(_ text: String) -> Bool {
        var bytes = in6_addr()
        return inet_pton(AF_INET, text, &bytes) == 1 || inet_pton(AF_INET6, text, &bytes) == 1
    }

    static func isLoopback(_ address: String) -> Bool {
        address == "::1" || address.hasPrefix("127.") && isAddress(address)
    }

    /// The host of a `Host` header, without its port and brackets; nil: it is malformed.
    static func host(of header: String) -> String? {
        if header.hasPrefix("[") {
            guard let end = header.firstIndex(of: "]") else { return nil }
            let rest = header[header.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") && UInt16(rest.dropFirst()) != nil else { return nil }
            return String(header[header.index(after: header.startIndex)..<end])
        }
        let parts = header.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), !parts[0].isEmpty else { return nil }
        if parts.count == 2, UInt16(parts[1]) == nil { return nil }
        return parts[0].lowercased()
    }
}
