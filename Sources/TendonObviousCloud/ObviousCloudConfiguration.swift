// SPDX-License-Identifier: MIT
import TendonObvious

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Where the cloud is, and what it may do.
public struct ObviousCloudConfiguration: Sendable {
    /// "https://api.example.com" or with a path; the paths of the API are appended. There is no default.
    public var baseURL: String
    /// The API key, for calls of managers that have none of their own. It is sent to the origin of the base URL only.
    public var apiKey: ObviousAPIKey?
    /// A PEM file with the certificate authorities to trust instead of the system's.
    public var authorityFile: String?
    /// SHA-256 of the public key (SubjectPublicKeyInfo) that the server must have, 32 bytes. `nil`: any key with a valid
    /// certificate.
    public var publicKeySHA256: [UInt8]?
    /// Origins, other than that of the base URL, from which firmware images may be downloaded: "https://images.example.com".
    public var imageOrigins: [String] = []
    /// Permits a base URL with http:// on 127.0.0.1 or [::1]; for tests.
    public var allowsInsecureLoopback = false
    /// Permits payments over it; for tests.
    public var allowsPaymentOverInsecureLoopback = false
    /// The public keys of the products: packages and firmware must be signed with one of them.
    public var keys: [ObviousKey] = []
    /// Sizes and times; for tests.
    package var limits = TransferLimits()

    /// A cloud with TLS, the system's certificate authorities and no key of its own.
    public init(baseURL: String, apiKey: ObviousAPIKey? = nil) {
        self.baseURL = baseURL
        self.apiKey = apiKey
    }

    /// Reads an API key from a file that only its owner may read (mode 0600 or 0400). Spaces around it are ignored.
    public static func apiKey(file path: String) throws(ObviousCloudError) -> ObviousAPIKey {
        let bytes = try readPrivate(path)
        let text = String(decoding: bytes, as: UTF8.self)
        let blank: (Character) -> Bool = { $0.isWhitespace }
        let trimmed = text.drop(while: blank).reversed().drop(while: blank).reversed()
        guard let key = ObviousAPIKey(String(trimmed)) else {
            throw ObviousCloudError(.argument, "the API key file does not contain a key")
        }
        return key
    }

    /// Reads public keys from a file. A line is a product, the number of a key (1 to 255), the key as 64 hexadecimal digits,
    /// and for a key that is not valid any more `revoked`: `1234 1 03a107bf…`. A `#` begins a comment. A key has one line:
    /// to revoke it, change that line. Only the user of the program, or root, may be able to change the file.
    public static func keys(file path: String) throws(ObviousCloudError) -> [ObviousKey] {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw ObviousCloudError(.storage, "the file of public keys cannot be opened") }
        defer { close(file) }
        guard let mode = ownMode(file) else {
            throw ObviousCloudError(.storage, "the file of public keys is not a file")
        }
        guard mode & 0o022 == 0 else {
            throw ObviousCloudError(.storage, "the file of public keys can be changed by others: chmod go-w")
        }
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = read(file, &bytes, bytes.count)
        guard (0..<bytes.count).contains(count) else {
            throw ObviousCloudError(.storage, "the file of public keys cannot be read")
        }
        return try keys(text: String(decoding: bytes.prefix(count), as: UTF8.self))
    }

    package static func keys(text: String) throws(ObviousCloudError) -> [ObviousKey] {
        var keys: [ObviousKey] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
            if words.isEmpty { continue }
            let isRevoked = words.count == 4 && words[3] == "revoked"
            guard words.count == (isRevoked ? 4 : 3), let id = UInt8(words[1]),
                let bytes = bytes(hexadecimal: String(words[2])),
                let key = ObviousKey(productId: String(words[0]), id: id, bytes: bytes, isRevoked: isRevoked)
            else { throw ObviousCloudError(.argument, "the file of public keys: line \(index + 1) is not a key") }
            guard !keys.contains(where: { $0.productId == key.productId && $0.id == key.id }) else {
                throw ObviousCloudError(
                    .argument, "the file of public keys: line \(index + 1) is of a key that another line has")
            }
            keys.append(key)
        }
        return keys
    }

    private static func readPrivate(_ path: String) throws(ObviousCloudError) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw ObviousCloudError(.storage, "the API key file cannot be opened") }
        defer { close(file) }
        guard let mode = ownMode(file) else {
            throw ObviousCloudError(.storage, "the API key file is not a file")
        }
        guard mode & 0o077 == 0 else {
            throw ObviousCloudError(.storage, "the API key file can be read by others: chmod 600")
        }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = read(file, &bytes, bytes.count)
        guard count >= 0 else { throw ObviousCloudError(.storage, "the API key file cannot be read") }
        return Array(bytes.prefix(count))
    }

    /// Who may do what with a file; that of another user who is not root counts as one that all may write. `nil`: it is no file.
    private static func ownMode(_ file: Int32) -> mode_t? {
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return status.st_uid == geteuid() || status.st_uid == 0 ? status.st_mode & 0o777 : 0o777
    }

    /// The configuration of the environment. `TENDON_OBVIOUS_BASE_URL` is required; others are
    /// `TENDON_OBVIOUS_API_KEY_FILE` or `TENDON_OBVIOUS_API_KEY`, `TENDON_OBVIOUS_KEYS_FILE` (``keys(file:)``),
    /// `TENDON_OBVIOUS_CA_FILE`, `TENDON_OBVIOUS_SPKI_SHA256` (64 hexadecimal digits), `TENDON_OBVIOUS_IMAGE_ORIGINS` (separated by spaces), and for
    /// tests `TENDON_OBVIOUS_INSECURE_LOOPBACK` and `TENDON_OBVIOUS_PAYMENT_TEST_LOOPBACK` ("1").
    public static func environment() throws(ObviousCloudError) -> ObviousCloudConfiguration {
        try environment("TENDON_OBVIOUS_BASE_URL") { name in getenv(name).map { String(cString: $0) } }
    }

    package static func environment(_ base: String, _ value: (String) -> String?) throws(ObviousCloudError)
        -> ObviousCloudConfiguration
    {
        guard let url = value(base) else { throw ObviousCloudError(.argument, "\(base) is not set") }
        var result = ObviousCloudConfiguration(baseURL: url)
        if let path = value("TENDON_OBVIOUS_API_KEY_FILE") {
            result.apiKey = try apiKey(file: path)
        } else if let text = value("TENDON_OBVIOUS_API_KEY") {
            guard let key = ObviousAPIKey(text) else {
                throw ObviousCloudError(.argument, "TENDON_OBVIOUS_API_KEY is not a key")
            }
            result.apiKey = key
        }
        if let path = value("TENDON_OBVIOUS_KEYS_FILE") { result.keys = try keys(file: path) }
        result.authorityFile = value("TENDON_OBVIOUS_CA_FILE")
        if let digits = value("TENDON_OBVIOUS_SPKI_SHA256") {
            guard let hash = bytes(hexadecimal: digits), hash.count == 32 else {
                throw ObviousCloudError(.argument, "TENDON_OBVIOUS_SPKI_SHA256 is not 64 hexadecimal digits")
            }
            result.publicKeySHA256 = hash
        }
        result.imageOrigins = value("TENDON_OBVIOUS_IMAGE_ORIGINS")?.split(separator: " ").map(String.init) ?? []
        result.allowsInsecureLoopback = value("TENDON_OBVIOUS_INSECURE_LOOPBACK") == "1"
        result.allowsPaymentOverInsecureLoopback = value("TENDON_OBVIOUS_PAYMENT_TEST_LOOPBACK") == "1"
        return result
    }

    private static func bytes(hexadecimal text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == text.utf8.count, digits.count % 2 == 0 else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

/// Times of transfers, in milliseconds.
package struct TransferLimits: Sendable {
    package var connect = 10_000
    package var wholeCall = 30_000
    package var withoutProgress = 30_000
    package var retries: [UInt64] = [1000, 2000, 4000]
    package var longestRetryAfter: UInt64 = 60_000

    package init() {}
}
