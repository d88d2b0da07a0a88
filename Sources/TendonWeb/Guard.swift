// SPDX-License-Identifier: MIT
// Who may do what: decided from the headers of a request alone. See docs/page.md.

/// The headers that matter.
struct RequestHead {
    var method = ""
    var path = ""
    var host: String?
    var origin: String?
    /// Fetch metadata that browsers add.
    var site: String?
    var mode: String?
    var authorization: String?
    var contentType: String?
    var contentLength: String?
}

/// Why a request is refused: a status of HTTP, and a sentence.
struct Refusal: Error, Equatable {
    var status: UInt32
    var text: String

    static let host = Refusal(status: 421, text: "this name is not known to the gateway: see --web-name")
    static let origin = Refusal(status: 403, text: "another site must not use this page")
    static let token = Refusal(status: 401, text: "the token is missing or wrong")
    static let noToken = Refusal(status: 403, text: "commands need a token: see --web-token-file")
    static let path = Refusal(status: 404, text: "there is no such page")
    static let method = Refusal(status: 405, text: "this method is not allowed here")
    static let type = Refusal(status: 415, text: "the body must be application/json")
    static let length = Refusal(status: 413, text: "the body is too long")
    static let missingLength = Refusal(status: 411, text: "the length of the body is missing")
    static let body = Refusal(status: 400, text: "the body is no JSON object with device and actions")
    static let busy = Refusal(status: 503, text: "too many browsers are connected")
}

struct Guard: Sendable {
    /// Bytes of a body.
    static let bodyLimit = 4096

    private let isLoopback: Bool
    private let names: Set<String>
    private let token: [UInt8]?

    init(isLoopback: Bool, names: [String], token: [UInt8]?) {
        self.isLoopback = isLoopback
        self.names = Set(names.map { $0.lowercased() })
        self.token = token
    }

    /// Whether anyone may command devices.
    var takesCommands: Bool { token != nil }

    enum Route: Equatable {
        case file(PageFile)
        case events
        case metrics
        case set
    }

    func route(_ head: RequestHead) throws(Refusal) -> Route {
        guard let host = head.host, isKnown(host) else { throw .host }
        let route = try Guard.route(head.path)
        if case .file = route {
            guard ["GET", "HEAD"].contains(head.method) else { throw .method }
        } else {
            guard head.method == (route == .set ? "POST" : "GET") else { throw .method }
        }
        guard isSameSite(head, host, route) else { throw .origin }
        switch route {
        case .file: break
        case .events, .metrics: if !isLoopback { try check(head.authorization) }
        case .set:
            guard token != nil else { throw .noToken }
            try check(head.authorization)
            try checkBody(head)
        }
        return route
    }

    private static func route(_ path: String) throws(Refusal) -> Route {
        switch path {
        case "/events": return .events
        case "/metrics": return .metrics
        case "/set": return .set
        default:
            guard let file = PageFile.named(path) else { throw .path }
            return .file(file)
        }
    }

    /// A site whose name was made to point to this machine (DNS rebinding) sends its name. Addresses cannot be made so.
    private func isKnown(_ header: String) -> Bool {
        guard let host = Hosts.host(of: header) else { return false }
        if names.contains(host) { return true }
        if isLoopback { return host == "localhost" || Hosts.isLoopback(host) }
        return Hosts.isAddress(host) || host == "localhost"
    }

    /// What another site makes a browser send. Following a link to the page itself is allowed.
    private func isSameSite(_ head: RequestHead, _ host: String, _ route: Route) -> Bool {
        if let origin = head.origin, origin != "http://" + host, origin != "https://" + host { return false }
        guard let site = head.site, site != "same-origin", site != "none" else { return true }
        return route == .file(.index) && head.mode == "navigate"
    }

    private func check(_ authorization: String?) throws(Refusal) {
        // The name of the scheme has no case, and spaces may follow it (RFC 9110, 11.1 and 11.4).
        guard let token, let authorization, authorization.prefix(7).lowercased() == "bearer ",
            Guard.isEqual(Array(authorization.utf8.dropFirst(7).drop { $0 == 0x20 }), token)
        else { throw .token }
    }

    /// In a time that depends on the length of `given` only.
    static func isEqual(_ given: [UInt8], _ token: [UInt8]) -> Bool {
        guard !token.isEmpty else { return false }
        var difference = UInt(bitPattern: given.count ^ token.count)
        for (index, byte) in given.enumerated() { difference |= UInt(byte ^ token[index % token.count]) }
        return difference == 0
    }

    private func checkBody(_ head: RequestHead) throws(Refusal) {
        guard
            head.contentType?.split(whereSeparator: { "; \t".contains($0) }).first.map({ $0.lowercased() })
                == "application/json"
        else {
            throw .type
        }
        // Without a length the body would come in chunks.
        guard let length = head.contentLength.flatMap({ Int($0) }), length >= 0 else { throw .missingLength }
        guard length <= Guard.bodyLimit else { throw .length }
    }
}
