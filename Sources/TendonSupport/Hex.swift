// SPDX-License-Identifier: MIT
// Numbers and bytes as text.

/// Decimal, or hexadecimal after 0x.
package func parseInteger(_ text: some StringProtocol) -> Int? {
    if text.hasPrefix("0x") || text.hasPrefix("0X") { return Int(text.dropFirst(2), radix: 16) }
    return Int(text)
}

/// Hexadecimal digits to bytes; spaces, colons and dashes between bytes are allowed. Nil: not hexadecimal.
package func parseHex(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var high: UInt8?
    for character in text.utf8 {
        let digit: UInt8
        switch character {
        case 0x30...0x39: digit = character - 0x30
        case 0x41...0x46: digit = character - 0x41 + 10
        case 0x61...0x66: digit = character - 0x61 + 10
        case 0x20, 0x3A, 0x2D, 0x09:
            if high != nil { return nil }
            continue
        default: return nil
        }
        if let first = high {
            bytes.append(first << 4 | digit)
            high = nil
        } else {
            high = digit
        }
    }
    return high == nil ? bytes : nil
}

package func hexText(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}
