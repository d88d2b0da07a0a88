// SPDX-License-Identifier: MIT
// Card data from a terminal without echo, or from a file descriptor: read byte by byte into locked memory. No text or
// array of it exists, and no error contains any of it.
import TendonObvious
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Where the card comes from.
enum CardSource: Sendable {
    case terminal
    case descriptor(Int32)

    static let option = Option(
        name: "--card-fd", value: "N",
        help: "read the card from this file descriptor: lines with its number, its expiry date (MM/YY) and its CVC; "
            + "default: ask on the terminal, without echo")

    /// Does not repeat the value: the value may be the number of a card.
    init(_ arguments: Arguments) throws(CommandError) {
        guard let text = arguments.value("--card-fd") else {
            self = .terminal
            return
        }
        guard let number = parseInteger(text).flatMap({ Int32(exactly: $0) }), number >= 0,
            fcntl(number, F_GETFD) >= 0
        else {
            throw .usage("--card-fd takes the number of an open file descriptor", next: "--card-fd 3 3<FILE")
        }
        self = .descriptor(number)
    }

    /// Reads the card. Returns after three lines, at the end of the input, or on Ctrl-C. Blocks: not on the loop.
    func read() throws(CommandError) -> PaymentCard {
        let lines: CardLines
        switch self {
        case .descriptor(let number):
            lines = try CardLines(number, began: { _ in }, ended: {})
        case .terminal:
            let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
            guard terminal >= 0 else {
                throw .usage("there is no terminal to ask for the card", next: "--card-fd 3 3<FILE")
            }
            defer { close(terminal) }
            lines = try CardSource.withoutEcho(terminal) { () throws(CommandError) in
                let prompts = ["Card number: ", "Expires (MM/YY): ", "CVC: "]
                return try CardLines(
                    terminal, began: { _ = Output.write(prompts[$0], to: terminal) },
                    ended: { _ = Output.write("\n", to: terminal) })
            }
        }
        return try lines.card()
    }

    /// Input that was typed before is discarded. Suspending is disabled: the shell would find a terminal without echo.
    private static func withoutEcho<Result>(
        _ terminal: Int32, _ body: () throws(CommandError) -> Result
    ) throws(CommandError) -> Result {
        var before = termios()
        guard tcgetattr(terminal, &before) == 0 else {
            throw CommandError(.failed, "the terminal's settings cannot be read: \(text(strerror(errno)))")
        }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK | ECHONL)
        withUnsafeMutableBytes(of: &silent.c_cc) { $0[Int(VSUSP)] = 0 }
        guard tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else {
            throw CommandError(.failed, "the terminal's echo cannot be switched off: \(text(strerror(errno)))")
        }
        defer { tcsetattr(terminal, TCSAFLUSH, &before) }
        return try body()
    }
}

/// Three lines in locked memory.
private struct CardLines {
    private let memory: LockedMemory
    /// The end of each line.
    private var ends: [Int] = []
    private static let lineCount = 3
    private static let longest = 256
    /// Milliseconds from one look at Ctrl-C to the next.
    private static let patience: Int32 = 100

    /// `began`, `ended`: a line is awaited, was read.
    init(_ descriptor: Int32, began: (Int) -> Void, ended: () -> Void) throws(CommandError) {
        do throws(ObviousCloudError) {
            memory = try LockedMemory(capacity: Self.longest)
        } catch {
            throw CommandError(.failed, "\(error)", next: "a higher limit of locked memory: ulimit -l")
        }
        for number in 0..<Self.lineCount {
            began(number)
            while let byte = try Self.next(descriptor), byte != UInt8(ascii: "\n") {
                guard byte != UInt8(ascii: "\r"), byte != UInt8(ascii: " ") || number == 0 else { continue }
                guard memory.count < Self.longest, memory.append(CollectionOfOne(byte)) else {
                    throw .usage("the card's lines are too long")
                }
            }
            ended()
            ends.append(memory.count)
        }
    }

    /// The next byte; nil: the input has ended.
    private static func next(_ descriptor: Int32) throws(CommandError) -> UInt8? {
        while !Termination.shared.isRequested {
            var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&wait, 1, patience) > 0 else { continue }
            var byte: UInt8 = 0
            switch systemRead(descriptor, &byte, 1) {
            case 1: return byte
            case 0: return nil
            default:
                guard errno == EINTR || errno == EAGAIN else {
                    throw CommandError(.failed, "the card cannot be read: \(text(strerror(errno)))")
                }
            }
        }
        throw .interrupted
    }

    func card() throws(CommandError) -> PaymentCard {
        defer { memory.wipe() }
        guard memory.count > 0 else { throw .usage("no card was given", next: "three lines: number, MM/YY, CVC") }
        let ends = ends
        let result: Result<PaymentCard, ObviousCloudError>? = memory.withBytes { bytes in
            let date = Self.date(bytes[ends[0]..<ends[1]])
            guard let (month, year) = date else { return nil }
            do throws(ObviousCloudError) {
                return .success(
                    try PaymentCard(
                        numberBytes: bytes[..<ends[0]], expMonth: month, expYear: year,
                        cvcBytes: bytes[ends[1]..<ends[2]]))
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case nil: throw .usage("the card's expiry date is not MM/YY", next: "three lines: number, MM/YY, CVC")
        case .success(let card): return card
        case .failure(let error) where error == .invalidCard:
            throw CommandError(
                .failed, "invalid card: number, expiry date or CVC; nothing was sent",
                next: "three lines: number, MM/YY, CVC")
        case .failure(let error): throw CommandError(error)
        }
    }

    /// MM/YY or MM/YYYY.
    private static func date(_ bytes: Slice<UnsafeRawBufferPointer>) -> (month: UInt, year: UInt)? {
        guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        func number(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt? {
            guard (1...4).contains(bytes.count), bytes.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            return bytes.reduce(0) { $0 * 10 + UInt($1 - 0x30) }
        }
        guard let month = number(bytes[..<slash]), let year = number(bytes[(slash + 1)...]) else { return nil }
        return (month, year)
    }
}
