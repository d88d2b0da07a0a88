// SPDX-License-Identifier: MIT
// Captures in other forms than btsnoop, by their first bytes, and how each becomes a btsnoop file.
import TendonSupport

enum CaptureForm: Equatable {
    case pcap, pcapng, packetLogger, gzip

    init?(_ bytes: [UInt8]) {
        // pcap: draft-ietf-opsawg-pcap, with microseconds or nanoseconds, in either order of bytes. pcapng: the block type of a
        // section header. gzip: RFC 1952, 2.3.1.
        let marks: [(CaptureForm, [UInt8])] = [
            (.pcap, [0xA1, 0xB2, 0xC3, 0xD4]), (.pcap, [0xD4, 0xC3, 0xB2, 0xA1]), (.pcap, [0xA1, 0xB2, 0x3C, 0x4D]),
            (.pcap, [0x4D, 0x3C, 0xB2, 0xA1]), (.pcapng, [0x0A, 0x0D, 0x0D, 0x0A]), (.gzip, [0x1F, 0x8B]),
        ]
        if let found = marks.first(where: { bytes.starts(with: $0.1) }) {
            self = found.0
        } else if CaptureForm.isPacketLogger(bytes) {
            self = .packetLogger
        } else {
            return nil
        }
    }

    /// Apple's form has no mark: a record is its length without these four bytes, the seconds, the microseconds, and a type.
    /// Which types there are is from Wireshark (wiretap/packetlogger.c), which tells the order of bytes by the length too.
    private static func isPacketLogger(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 13 else { return false }
        func number(_ start: Int, _ isLittle: Bool) -> UInt32 {
            let four = bytes[start..<start + 4]
            return (isLittle ? Array(four.reversed()) : Array(four)).reduce(0) { $0 << 8 | UInt32($1) }
        }
        return [false, true].contains { isLittle in
            (9...0xFFFF).contains(number(0, isLittle)) && number(8, isLittle) < 1_000_000
                && ([0, 1, 2, 3, 8, 9, 0x0A, 0x0B] + Array(0xF7...0xFF)).contains(bytes[12])
        }
    }

    var name: String {
        switch self {
        case .pcap: "a pcap file"
        case .pcapng: "a pcapng file"
        case .packetLogger: "a file of Apple's PacketLogger"
        case .gzip: "a gzip file"
        }
    }

    /// What makes a btsnoop file of it.
    func conversion(of path: String) -> String {
        let file = path == "-" ? "FILE" : shellWord(path)
        let made = path == "-" ? "FILE.btsnoop" : shellWord(path + ".btsnoop")
        return switch self {
        case .pcap, .pcapng: "tshark -F btsnoop -r \(file) -w \(made)"
        // tshark reads it, but cannot write it as btsnoop.
        case .packetLogger: "PacketLogger on macOS: File > Export > BTSnoop"
        case .gzip: "zcat \(file) | tendon replay -"
        }
    }

    private func shellWord(_ path: String) -> String {
        let text = sanitized(path)
        let isPlain = text.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || "0123456789-_./+,:=@".unicodeScalars.contains($0)
        }
        return isPlain
            ? text
            : "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }
}
