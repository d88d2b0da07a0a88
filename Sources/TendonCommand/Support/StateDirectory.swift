// SPDX-License-Identifier: MIT
// The bonds of another program on this machine: those of the service belong to a user who exists only while it runs.
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

enum StateDirectory {
    static let option = Option(
        name: "--state", value: "DIR",
        help: "use the bonds in this directory, as the user that it belongs to; of the service: /var/lib/tendon")

    private static let name = "tendon"
    /// What that user needs here: the adapter, and folders above the directory that are closed to it.
    private static let capabilities: [(bit: Int, name: String)] = [
        (2, "dac_read_search"), (12, "net_admin"), (13, "net_raw"),
    ]

    /// Of this process, as options: " --state /var/lib/tendon"; empty: it is that of its user.
    static var words: String {
        guard let parent = environment("XDG_STATE_HOME"), parent.hasPrefix("/"),
            parent != (environment("HOME") ?? "") + "/.local/state"
        else { return "" }
        return " --state \(sanitized(parent))/\(name)"
    }

    /// Uses the directory of the option from now on. If it belongs to another user, this program is executed again as that
    /// user, by setpriv of util-linux; root may do that.
    static func use(_ arguments: Arguments) throws(CommandError) {
        guard var path = arguments.value(option.name) else { return }
        while path.count > 1, path.last == "/" { path.removeLast() }
        guard path.hasPrefix("/"), path.hasSuffix("/" + name) else {
            throw .usage(
                "--state takes the absolute path of a directory that is called \(name), such as /var/lib/tendon")
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw failure(path, text(strerror(errno))) }
        setenv("XDG_STATE_HOME", String(path.dropLast(name.count + 1)), 1)
        guard status.st_uid != geteuid() else { return }
        guard geteuid() == 0 else { throw failure(path, "it belongs to another user", next: "the same with sudo") }
        throw failure(path, execute(as: status))
    }

    private static func failure(_ path: String, _ what: String, next: String? = nil) -> CommandError {
        CommandError(.failed, "\(sanitized(path)): \(what)", next: next)
    }

    /// Returns only if it fails, with the reason.
    private static func execute(as owner: stat) -> String {
        var program = [CChar](repeating: 0, count: 4096)
        guard readlink("/proc/self/exe", &program, program.count - 1) > 0 else { return text(strerror(errno)) }
        let own = capabilities.filter { has($0.bit) }.map { "+" + $0.name }.joined(separator: ",")
        var words = ["setpriv", "--reuid=\(owner.st_uid)", "--regid=\(owner.st_gid)", "--clear-groups"]
        if !own.isEmpty { words += ["--inh-caps=\(own)", "--ambient-caps=\(own)"] }
        words += ["--", String(decoding: program.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)]
        words += CommandLine.arguments.dropFirst()
        var pointers = words.map { strdup($0) } + [nil]
        execvp("setpriv", &pointers)
        let number = errno
        return number == ENOENT
            ? "it belongs to another user, and setpriv, which the package util-linux has, was not found"
            : "setpriv: \(text(strerror(number)))"
    }

    /// Of this process, by the kernel's own list.
    private static func has(_ capability: Int) -> Bool {
        let lines = String(decoding: (try? readText("/proc/self/status", limit: 1 << 16)) ?? [], as: UTF8.self)
        let line = lines.split(separator: "\n").first { $0.hasPrefix("CapPrm:") }
        let set = line.flatMap { UInt64(trimmed($0.dropFirst(7)), radix: 16) } ?? 0
        return set >> UInt64(capability) & 1 != 0
    }
}
