// SPDX-License-Identifier: MIT
// Passwords, keys and tokens of outputs.
import Synchronization
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Why a secret cannot be used, in a sentence.
package struct SecretFileError: Error, Sendable {
    package let text: String
}

/// Names of files, each once.
package final class AbsentFiles: Sendable {
    private let list = Mutex<[String]>([])

    package init() {}

    package var names: [String] { list.withLock { $0 } }

    func add(_ name: String) { list.withLock { if !$0.contains(name) { $0.append(name) } } }
}

/// Files that only their owner may read.
package enum SecretFile {
    /// Where systemd puts the credentials of a unit.
    package static var credentials: String? { getenv("CREDENTIALS_DIRECTORY").map { String(cString: $0) } }

    /// While a configuration is checked: takes the names of files that only the service has, and that are not there.
    @TaskLocal package static var absent: AbsentFiles?

    /// Whether the file may be missing, because only the service has it, and a configuration is checked outside of it.
    package static func isExcused(_ path: String) -> Bool {
        guard let absent, path.hasPrefix("/run/credentials/"), access(path, R_OK) != 0 else { return false }
        absent.add(path)
        return true
    }

    /// Refuses a file that other users can read: what is in it is no secret any more.
    package static func read(
        _ path: String, limit: Int, credentials: String? = credentials
    ) throws(SecretFileError) -> [UInt8] {
        func failed(_ text: String) -> SecretFileError { SecretFileError(text: "\(sanitized(path)): \(text)") }
        if isExcused(path) { return Array(repeating: UInt8(ascii: "x"), count: min(limit, 32)) }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failed(String(cString: strerror(errno))) }
        defer { systemClose(descriptor) }
        var information = stat()
        guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG else {
            throw failed("not a file")
        }
        // The credentials of a systemd unit have an access list, which fstat shows as rights of the group.
        let isCredential = credentials.map { path.hasPrefix($0 + "/") } ?? false
        let others: mode_t = isCredential ? 0o007 : 0o077
        guard information.st_mode & others == 0 else {
            throw failed("other users can read this file: chmod 600 it, and change what is in it")
        }
        guard information.st_uid == geteuid() || information.st_uid == 0 else {
            throw failed("the file belongs to another user")
        }
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = systemRead(descriptor, &bytes, limit)
        guard count > 0 else { throw failed(count == 0 ? "the file is empty" : String(cString: strerror(errno))) }
        return Array(bytes.prefix(count))
    }

    /// The first line of a password or a token, which has no byte order mark.
    package static func line(_ path: String, limit: Int) throws(SecretFileError) -> [UInt8] {
        Array(withoutByteOrderMark(try read(path, limit: limit)).prefix { $0 != 0x0A && $0 != 0x0D })
    }
}
