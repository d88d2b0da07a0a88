// SPDX-License-Identifier: MIT
// Standard output and standard error: whole lines, nothing lost, no buffer that outlives a line.
import Glibc

/// Where text goes. Writes are complete or the reader has gone.
struct Output: Sendable {
    let descriptor: Int32

    static let standard = Output(descriptor: STDOUT_FILENO)
    static let error = Output(descriptor: STDERR_FILENO)

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Colours: on a terminal that has them, unless NO_COLOR is set to anything (no-color.org).
    var hasColours: Bool {
        guard isTerminal else { return false }
        if let value = environment("NO_COLOR"), !value.isEmpty { return false }
        return environment("TERM") != "dumb"
    }

    /// Rows and columns of the terminal; 24 by 80 where it does not say.
    var size: (rows: Int, columns: Int) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (24, 80) }
        return (Int(size.ws_row), Int(size.ws_col))
    }

    /// False when nobody reads any more.
    @discardableResult
    func write(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Glibc.write(
                    descriptor, UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: rest)).baseAddress, rest.count)
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN {
                    var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&wait, 1, -1)
                } else if errno != EINTR {
                    return false
                }
            }
            return true
        }
    }

    @discardableResult
    func line(_ text: String = "") -> Bool { write(text + "\n") }

    func styled(_ text: String, _ style: Style) -> String {
        hasColours ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
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

/// An environment variable; nil when unset.
func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
}
