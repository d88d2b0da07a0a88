// SPDX-License-Identifier: MIT
import TendonSupport
import Testing

@Suite struct HexTests {
    @Test(
        arguments: [
            ("", []), ("00", [0]), ("09aFfA", [0x09, 0xAF, 0xFA]), ("01 02:03-04\t05", [1, 2, 3, 4, 5]),
            (" 10 ", [0x10]), ("0", nil), ("0 1", nil), ("012", nil), ("0g", nil), ("0x01", nil), ("01\n", nil),
            ("/9", nil), ("9:", nil), (":9", nil), ("@A", nil), ("AG", nil), ("`a", nil),
        ] as [(String, [UInt8]?)])
    func bytes(text: String, expected: [UInt8]?) {
        #expect(parseHex(text) == expected)
    }

    @Test(
        arguments: [
            ("0", 0), ("12", 12), ("-3", -3), ("0x1F", 31), ("0X1f", 31), ("0x", nil), ("0xG", nil), ("x1", nil),
            ("1F", nil), ("", nil),
        ] as [(String, Int?)])
    func integers(text: String, expected: Int?) {
        #expect(parseInteger(text) == expected)
    }

    @Test func everyByteReadsBack() {
        let all = (0...255).map { UInt8($0) }
        #expect(parseHex(hexText(all)) == all && hexText([0x0A, 0xF0]) == "0af0" && hexText([]) == "")
    }
}
