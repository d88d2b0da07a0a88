// SPDX-License-Identifier: MIT
import Testing

@testable import TendonGateway

struct LineTests {
    private func members(_ line: String) -> [String: GatewayValue] { LineReader.members(of: Array(line.utf8)) }

    private func member(_ name: String, _ line: String) -> GatewayValue? {
        let value = LineReader.member(name, of: Array(line.utf8))
        #expect(members(line)[name] == value)
        return value
    }

    @Test func values() {
        let line =
            #"{"a":1,"b":-2.5,"c":"x","d":true,"e":false,"f":null,"g":[1,2.5,"y",[]],"h":{"i":1,"j":{}},"k":1e-07}"#
        #expect(member("a", line) == .integer(1) && member("b", line) == .number(-2.5))
        #expect(member("c", line) == .text("x") && member("d", line) == .flag(true))
        #expect(member("e", line) == .flag(false) && member("f", line) == .null)
        #expect(member("g", line) == .list([.integer(1), .number(2.5), .text("y"), .list([])]))
        #expect(member("h", line) == .object(["i": .integer(1), "j": .object([:])]))
        #expect(member("k", line) == .number(1e-7) && member("i", line) == nil)
        #expect(members(line).count == 9 && members("{}").isEmpty)
        // Too long for an integer.
        #expect(member("n", #"{"n":18446744073709551615}"#) == .number(0x1p64))
    }

    @Test func texts() {
        let line = #"{"a\"b":"\\ \" \u000a \u001f\u0085\u200e\ufeff é 🙂 ]},","c":["]","\\"],"d":2}"#
        #expect(member("a\"b", line) == .text("\\ \" \n \u{1f}\u{85}\u{200e}\u{feff} é 🙂 ]},"))
        #expect(member("c", line) == .list([.text("]"), .text("\\")]) && member("d", line) == .integer(2))
    }

    @Test func accessors() {
        #expect(GatewayValue.integer(2).number == 2 && GatewayValue.number(0.5).number == 0.5)
        #expect(GatewayValue.text("2").number == nil && GatewayValue.number(2).integer == nil)
        #expect(GatewayValue.text("a").text == "a" && GatewayValue.null.text == nil)
        #expect(GatewayValue.flag(true).flag == true && GatewayValue.integer(1).flag == nil)
        #expect(GatewayValue.list([.null]).list == [.null] && GatewayValue.integer(3).integer == 3)
    }

    /// Each beginning of a line, and each line with another byte: no value, or another one.
    @Test func whatIsNoLine() {
        let line = Array(#"{"a":[1,{"b":"\u000a"}],"c":null,"d":-1.5e+07}"#.utf8)
        for length in 0..<line.count {
            #expect(LineReader.members(of: Array(line[..<length])).isEmpty)
            #expect(LineReader.member("z", of: Array(line[..<length])) == nil)
            for byte in [0, 0x22, 0x2C, 0x5C, 0x5B, 0x5D, 0x7B, 0x7D, 0xFF] as [UInt8] {
                var changed = line
                changed[length] = byte
                _ = LineReader.members(of: changed)
                _ = LineReader.member("d", of: changed)
            }
        }
    }
}
