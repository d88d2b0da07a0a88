// SPDX-License-Identifier: MIT
// tendon-conformance: computes what test vectors expect. Reads JSON lines from standard input: vectors with 'family', 'kind'
// and their inputs. Writes one JSON line per vector: what the library computes. A malformed line is a result
// ({"error": ...}), never an exit.
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

@main
struct TendonConformance {
    static func main() {
        guard CommandLine.arguments.count == 1 else {
            write("tendon-conformance: reads vectors from standard input and takes no operands\n", to: STDERR_FILENO)
            exit(2)
        }
        signal(SIGPIPE, SIG_IGN)
        var lines = InputLines()
        while let line = lines.next() {
            let result: JSON
            switch line {
            case .tooLong: result = VectorError("too_long", "a line is longer than 16 MiB").json
            case .text(let bytes) where bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }): continue
            case .text(let bytes): result = answer(toVector: bytes)
            }
            guard write(result.text + "\n", to: STDOUT_FILENO) else { exit(errno == EPIPE ? 0 : 1) }
        }
    }

    /// False if the text cannot be written; errno says why.
    @discardableResult
    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var written = 0
            while written < bytes.count {
                let count = systemWrite(descriptor, bytes.baseAddress! + written, bytes.count - written)
                if count >= 0 { written += count } else if errno != EINTR { return false }
            }
            return true
        }
    }
}
