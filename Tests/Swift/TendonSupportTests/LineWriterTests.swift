// SPDX-License-Identifier: MIT
import CTendon
import TendonSupport
import Testing

/// Lines as docs/events.md has them.
@Suite struct LineWriterTests {
    private func line(compact: Bool = false, _ write: (inout LineWriter) -> Void) -> String {
        var writer = LineWriter()
        writer.isCompact = compact
        write(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func number(_ value: Double, _ decimals: Int, compact: Bool) -> String {
        line(compact: compact) { $0.number(value, decimals: decimals) }
    }

    @Test(arguments: [
        (0 as UInt64, "1970-01-01T00:00:00.000000Z"),
        (999_999, "1970-01-01T00:00:00.999999Z"),
        (1_000_000, "1970-01-01T00:00:01.000000Z"),
        (951_782_399_000_001, "2000-02-28T23:59:59.000001Z"),
        (951_782_400_000_010, "2000-02-29T00:00:00.000010Z"),
        (1_767_225_599_123_456, "2025-12-31T23:59:59.123456Z"),
        (4_107_542_400_900_000, "2100-03-01T00:00:00.900000Z"),
        // RFC 3339 has four digits of the year.
        (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
        (253_402_300_800_000_000, "9999-12-31T23:59:59.999999Z"),
        (.max, "9999-12-31T23:59:59.999999Z"),
    ])
    func time(microseconds: UInt64, text: String) {
        let expected = "{\"time\":\"\(text)\",\"event\":\"sample\"}\n"
        #expect(
            line {
                $0.begin("sample" as EventName, at: microseconds)
                $0.end()
            } == expected)
        #expect(
            line {
                $0.begin(String("sample"), at: microseconds)
                $0.end()
            } == expected)
    }

    /// The calendar is kept within a second only.
    @Test func timesOfOneWriter() {
        var writer = LineWriter()
        for microseconds: UInt64 in [59_999_999, 59_000_000, 60_000_000, 3_600_000_000] {
            writer.begin("e" as EventName, at: microseconds)
            writer.end()
        }
        let times = String(decoding: writer.bytes, as: UTF8.self).split(separator: "\n").map {
            $0.dropFirst(9).prefix(27)
        }
        #expect(
            times == [
                "1970-01-01T00:00:59.999999Z", "1970-01-01T00:00:59.000000Z", "1970-01-01T00:01:00.000000Z",
                "1970-01-01T01:00:00.000000Z",
            ])
    }

    @Test func membersOfEveryKind() {
        let text = line { writer in
            writer.begin("all" as EventName, at: 0)
            writer.prepared(Array(",\"family\":\"bose\"".utf8))
            writer.member("i", -7)
            writer.member("zero", 0)
            writer.member("big", UInt64.max)
            writer.member("least", Int64.min)
            writer.member("yes", true)
            writer.member("no", false)
            writer.member("text", "a\"b\\c\n\u{1}\u{1F}é😀")
            writer.member("word", word: "ready" as StaticString)
            "kept".withCString { word in writer.member("c", word: word) }
            writer.member("x", 0.5, decimals: 2)
            writer.members(space: 2) { tendon_line_vector($0, "v", [1.5, -2.5, 3.5], 3, 1) }
            writer.any("key \"quoted\"", .null)
            writer.members(["a": 1, "b": ["c": [true, "d", 2.5, [], [:]]]])
            writer.members("no object")
            writer.end()
        }
        let expected =
            #"{"time":"1970-01-01T00:00:00.000000Z","event":"all","family":"bose","i":-7,"zero":0,"#
            + #""big":9223372036854775807,"least":-9223372036854775808,"yes":true,"no":false,"#
            + #""text":"a\"b\\c\u000a\u0001\u001fé😀","word":"ready","c":"kept","x":0.5,"v":[1.5,-2.5,3.5],"#
            + #""key \"quoted\"":null,"a":1,"b":{"c":[true,"d",2.5,[],{}]}}"# + "\n"
        #expect(text == expected)
    }

    @Test func aMemberBehindPreparedOnes() {
        var writer = LineWriter()
        writer.prepared(Array("\"a\":1".utf8))
        writer.key("b")
        writer.write(2)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == "\"a\":1,\"b\":2")
    }

    @Test func valuesAlone() {
        #expect(LineWriter.text(["a": [1, 2], "b": [:]]) == #"{"a":[1,2],"b":{}}"#)
        #expect(LineWriter.text([[], [[]]]) == "[[],[[]]]")
        // The decimals that a device file has, not less of them.
        #expect(line(compact: true) { $0.write(.real(4.82e-5)) } == "0.0000482")
        #expect(LineWriter.text(nil) == "null")
    }

    /// All that read back as the same number.
    @Test(arguments: [0.1, -0.1, 1e-300, 123456789.123456789, 1e300, -0.0, 1.0 / 3.0])
    func wholeNumbersReadBack(value: Double) throws {
        #expect(Double(number(value, 2, compact: false)) == value)
    }

    @Test(
        arguments: [
            (0, 3, "0"), (1, 3, "1"), (1.5, 3, "1.5"), (-1.25, 2, "-1.25"), (0.05, 2, "0.05"), (0.005, 2, "0.01"),
            (0.004, 2, "0"), (-0.004, 2, "0"), (-0.006, 2, "-0.01"), (9.999, 2, "10"), (10.10, 2, "10.1"),
            (7.6, 0, "8"),
            (999_999_999.5, 1, "999999999.5"), (0.000001, 6, "0.000001"),
        ] as [(Double, Int, String)])
    func compactNumbers(value: Double, decimals: Int, text: String) {
        #expect(number(value, decimals, compact: true) == text)
    }

    @Test func numbersThatJSONDoesNotHave() {
        for compact in [false, true] {
            #expect(number(.infinity, 2, compact: compact) == "null")
            #expect(number(-.infinity, 2, compact: compact) == "null")
            #expect(number(.nan, 2, compact: compact) == "null")
        }
        #expect(Double(number(1e9, 2, compact: true)) == 1e9)
        #expect(Double(number(-1e18, 2, compact: true)) == -1e18)
    }

    @Test func theBufferIsUsedAgain() {
        var writer = LineWriter(capacity: 64)
        writer.raw("one")
        #expect(writer.count == 3)
        var other: [UInt8] = Array("two".utf8)
        writer.swapBytes(&other)
        #expect(other == Array("one".utf8) && writer.bytes == Array("two".utf8))
        writer.removeAll()
        #expect(writer.count == 0 && writer.bytes.isEmpty)
    }
}
