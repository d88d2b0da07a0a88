// SPDX-License-Identifier: MIT
// Standard output and standard error: whole lines. Standard output is written by a thread of its own.
import Tendon
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Where text goes.
struct Output: Sendable {
    let descriptor: Int32
    /// Nil: written in the call.
    let lines: LineOutput?

    static let standard = Output(descriptor: STDOUT_FILENO, lines: LineOutput(descriptor: STDOUT_FILENO))
    static let error = Output(descriptor: STDERR_FILENO, lines: nil)

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// A terminal that understands escape sequences. Serial consoles and editors say by TERM that theirs does not.
    var isDrawable: Bool { isTerminal && !["", "dumb"].contains(environment("TERM") ?? "") }

    /// Colors: on a terminal that has them, unless NO_COLOR is set to anything (no-color.org).
    var hasColors: Bool { isDrawable && (environment("NO_COLOR") ?? "").isEmpty }

    /// Rows and columns of the terminal; 24 by 80 if unknown.
    var size: (rows: Int, columns: Int) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (24, 80) }
        return (Int(size.ws_row), Int(size.ws_col))
    }

    /// False when the descriptor takes no more. Waits while much text waits: not on the loop.
    @discardableResult
    func write(_ text: String) -> Bool {
        guard let lines else { return Output.write(text, to: descriptor) == nil }
        return lines.appendBlocking { $0.raw(text) }
    }

    @discardableResult
    func line(_ text: String = "") -> Bool { write(text + "\n") }

    /// The number of the error; nil: all is written.
    static func write(_ text: String, to descriptor: Int32) -> Int32? {
        var text = text
        return text.withUTF8 { bytes in
            var written = 0
            while written < bytes.count {
                let count = systemWrite(descriptor, bytes.baseAddress! + written, bytes.count - written)
                if count >= 0 {
                    written += count
                } else if errno == EAGAIN {
                    var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&wait, 1, -1)
                } else if errno != EINTR {
                    return errno
                }
            }
            return nil
        }
    }

    func styled(_ text: String, _ style: Style) -> String {
        hasColors ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    enum Style: String {
        case bold = "1"
        case faint = "2"
        case red = "31"
        case green = "32"
        case yellow = "33"
        case cyan = "36"
    }
}

// MARK: - The end of standard output

extension Output {
    /// A reader that takes nothing for so long is not waited for at the end.
    private static let patience: UInt64 = 5000

    /// Ends the program when standard output takes no more. To be called once, at the start.
    static func watch() {
        standard.lines?.onFailure { Termination.shared.request() }
        Termination.shared.onRequest { stopWaiting() }
    }

    /// For a command without an end of its own: it ends when the reader closes the pipe, and not only with the next line.
    static func endWithReader() {
        var information = stat()
        guard fstat(STDOUT_FILENO, &information) == 0, [S_IFIFO, S_IFSOCK].contains(information.st_mode & S_IFMT) else {
            return
        }
        Termination.shared.watch(STDOUT_FILENO) { standard.lines?.readerLeft() }
    }

    /// Lines that the loop's thread adds are written at the end of its turn.
    static func writeByLoop() {
        guard let lines = standard.lines else { return }
        lines.onPending {
            guard Loop.shared.isCurrent else { return false }
            Loop.shared.post { lines.writeNow() }
            return true
        }
    }

    /// The end of the command: disconnecting its devices does not wait for the reader. Only `finish()` does.
    static func stopWaiting() { standard.lines?.stopWaiting() }

    /// Writes the buffered lines. Returns nil if all were written or the pipe was closed, otherwise the error.
    static func finish() -> CommandError? {
        guard let lines = standard.lines else { return nil }
        let left = lines.flush(patience: patience)
        if let number = lines.error {
            return number == EPIPE
                ? nil : CommandError(.failed, "standard output: \(TendonSupport.text(strerror(number)))")
        }
        if left > 0 {
            return CommandError(
                .failed, "standard output was not read for \(patience / 1000) s; \(left) bytes are lost")
        }
        return nil
    }

    /// The reader of standard output has closed it.
    static var isClosed: Bool { standard.lines?.error == EPIPE }

    /// Waits until a write of a short text will not block. Returns false if the reader does not read.
    func isWritable(within milliseconds: UInt64) -> Bool {
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&wait, 1, Int32(clamping: milliseconds)) != 0
    }
}

/// An environment variable; nil when unset.
func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
}
