// SPDX-License-Identifier: MIT
#if ObviousCloud
    import CSystemCurl
    import TendonObvious

    /// Scheme, host and port: what decides whether a secret may be sent.
    struct Origin: Hashable, Sendable {
        let scheme: String
        let host: String
        let port: String

        var isLoopback: Bool { host == "127.0.0.1" || host == "[::1]" }
        var isSecure: Bool { scheme == "https" }
    }

    /// A URL that libcurl parsed: what is checked here is what is connected to.
    struct CloudURL: Hashable, Sendable {
        let text: String
        let origin: Origin
        let hasQueryOrFragment: Bool

        /// `nil`: not a URL of http or https, or one with a user, spaces, or control characters.
        init?(_ text: String) {
            guard text.utf8.count <= 2048, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x5C }) else {
                return nil
            }
            guard let url = curl_url() else { return nil }
            defer { curl_url_cleanup(url) }
            guard curl_url_set(url, CURLUPART_URL, text, UInt32(CURLU_DISALLOW_USER)) == CURLUE_OK,
                let scheme = Self.part(url, CURLUPART_SCHEME), let host = Self.part(url, CURLUPART_HOST),
                let port = Self.part(url, CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)),
                Self.part(url, CURLUPART_ZONEID) == nil, scheme == "https" || scheme == "http"
            else { return nil }
            self.text = text
            origin = Origin(scheme: scheme, host: host.lowercased(), port: port)
            hasQueryOrFragment = text.utf8.contains(UInt8(ascii: "?")) || text.utf8.contains(UInt8(ascii: "#"))
        }

        private static func part(_ url: OpaquePointer, _ part: CURLUPart, _ flags: UInt32 = 0) -> String? {
            var text: UnsafeMutablePointer<CChar>?
            guard curl_url_get(url, part, &text, flags) == CURLUE_OK, let text else { return nil }
            defer { curl_free(text) }
            return String(cString: text)
        }
    }

    /// The configuration, checked.
    struct Site: Sendable {
        let base: CloudURL
        /// The base URL without a slash at its end.
        let prefix: String
        let configuration: ObviousCloudConfiguration
        let imageOrigins: Set<Origin>

        init(_ configuration: ObviousCloudConfiguration) throws(ObviousCloudError) {
            guard let base = CloudURL(configuration.baseURL), !base.hasQueryOrFragment else {
                throw ObviousCloudError(.argument, "the base URL is not a URL of https")
            }
            guard base.origin.isSecure || (configuration.allowsInsecureLoopback && base.origin.isLoopback) else {
                throw ObviousCloudError(.argument, "the base URL is not a URL of https")
            }
            if let hash = configuration.publicKeySHA256, hash.count != 32 {
                throw ObviousCloudError(.argument, "the SHA-256 of a public key has 32 bytes")
            }
            var origins: Set<Origin> = []
            for text in configuration.imageOrigins {
                guard let url = CloudURL(text), url.origin.isSecure, !url.hasQueryOrFragment else {
                    throw ObviousCloudError(.argument, "an image origin is not a URL of https")
                }
                origins.insert(url.origin)
            }
            self.base = base
            self.configuration = configuration
            imageOrigins = origins
            prefix = base.text.last == "/" ? String(base.text.dropLast()) : base.text
        }

        /// The URL of an image. A path is appended to the base URL, as the API's other paths are; other origins must be
        /// configured, and http is for the base URL's own origin alone.
        func imageURL(_ text: String) throws(ObviousCloudError) -> CloudURL {
            let isPath = text.hasPrefix("/") && !text.hasPrefix("//")
            guard let url = CloudURL(isPath ? prefix + text : text) else {
                throw ObviousCloudError(.format, "the image's URL is malformed")
            }
            guard url.origin == base.origin || imageOrigins.contains(url.origin) else {
                throw ObviousCloudError(.format, "the image's URL is of an origin that is not permitted")
            }
            return url
        }
    }

    /// An id in a path: everything but letters, digits, hyphens and underscores is percent-encoded, points included, so that
    /// no id is a step in the path.
    func pathSegment(_ id: String) throws(ObviousCloudError) -> String {
        guard (1...256).contains(id.utf8.count) else { throw ObviousCloudError(.argument, "bad argument") }
        let digits = Array("0123456789ABCDEF")
        var result = ""
        for byte in id.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                result.unicodeScalars.append(UnicodeScalar(byte))
            default: result += "%" + String(digits[Int(byte >> 4)]) + String(digits[Int(byte & 15)])
            }
        }
        return result
    }
#endif
