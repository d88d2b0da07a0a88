// SPDX-License-Identifier: MIT
import TendonSupport
import Testing

@Suite struct JSONTests {
    @Test func readsEveryKind() throws {
        let text = #"{"n":null,"t":true,"f":false,"i":-3,"r":2.5,"s":"é\u0000x","a":[1,[]],"o":{}}"#
        let value = try JSON(parsing: Array(text.utf8))
        #expect(
            value == [
                "n": nil, "t": true, "f": false, "i": -3, "r": 2.5, "s": "é\u{0}x", "a": [1, []], "o": [:],
            ])
        #expect(value["i"]?.integer == -3 && value["r"]?.integer == nil && value["s"]?.integer == nil)
        #expect(value["i"]?.number == -3 && value["r"]?.number == 2.5 && value["t"]?.number == nil)
        #expect(value["t"]?.bool == true && value["f"]?.bool == false && value["n"]?.bool == nil)
        #expect(value["s"]?.string == "é\u{0}x" && value["a"]?.string == nil)
        #expect(value["a"]?.array == [1, []] && value["o"]?.array == nil)
        #expect(value["missing"] == nil && JSON.integer(1)["i"] == nil)
        #expect(JSON.real(4).integer == 4)
    }

    @Test func errorsHaveAPosition() {
        for text in ["", "{\"a\":}", "[1,2", "[1] 2", "\"text\"", "[NaN]"] {
            do {
                _ = try JSON(parsing: Array(text.utf8))
                Issue.record("\(text) was accepted")
            } catch {
                #expect((0...text.utf8.count).contains(error.position) && !error.text.isEmpty, "\(text): \(error)")
            }
        }
    }

    /// What others send is not as deep; more would take the stack of a thread.
    @Test func depthIsLimited() throws {
        func nested(_ depth: Int, _ inner: String = "") -> [UInt8] {
            Array(
                (String(repeating: #"{"[[[":["#, count: depth / 2) + inner
                    + String(repeating: "]}", count: depth / 2)).utf8)
        }
        #expect(throws: Never.self) { try JSON(parsing: nested(32)) }
        #expect(throws: Never.self) { try JSON(parsing: nested(32, #""[\\\"{[""#)) }
        for text in [nested(34), nested(32, "[]"), nested(2000)] {
            let error = #expect(throws: JSON.ParseError.self) { try JSON(parsing: text) }
            #expect(error?.text == "nested more than 32 levels deep")
            #expect((1...text.count).contains(error?.position ?? 0))
        }
        // Broken ones are jansson's to reject.
        for text in ["]]]][[", "\"[[[", "[\"\\"] {
            #expect(throws: JSON.ParseError.self) { try JSON(parsing: Array(text.utf8)) }
        }
        // One beside another is not deeper.
        #expect(try JSON(parsing: Array(("[[]" + String(repeating: ",[]", count: 100) + "]").utf8)).array?.count == 101)
    }

    @Test func theLastOfTwoKeysCounts() throws {
        #expect(try JSON(parsing: Array(#"{"a":1,"a":2}"#.utf8)) == ["a": 2])
    }

    /// Words for numbers that JSON does not have become texts; within texts they stay.
    @Test func wordsForNumbers() throws {
        let text = #"{"a":NaN,"b":[Infinity,-Infinity],"NaN":"-Infinity \" NaN","c":1}"#
        #expect(
            try JSON(parsingVector: Array(text.utf8)) == [
                "a": "NaN", "b": ["Infinity", "-Infinity"], "NaN": "-Infinity \" NaN", "c": 1,
            ])
        #expect(try JSON(parsingVector: Array("[1]".utf8)) == [1])
        #expect(throws: JSON.ParseError.self) { try JSON(parsingVector: Array("[1".utf8)) }
        #expect(throws: JSON.ParseError.self) { try JSON(parsingVector: Array("[NaN".utf8)) }
    }

    /// Integers beyond those of 64 bits with a sign are texts with all digits; mistakes beside them keep their place.
    @Test func largeIntegers() throws {
        let text =
            #"{"18446744073709551615":18446744073709551615,"b":[-9223372036854775809,9223372036854775807],"c":"9 \" 99999999999999999999","d":1e300}"#
        #expect(
            try JSON(parsing: Array(text.utf8)) == [
                "18446744073709551615": "18446744073709551615",
                "b": ["-9223372036854775809", 9_223_372_036_854_775_807], "c": "9 \" 99999999999999999999", "d": 1e300,
            ])
        // A mistake behind one has its place in the text as it was written.
        let error = #expect(throws: JSON.ParseError.self) { try JSON(parsing: Array("[18446744073709551615,}".utf8)) }
        let same = #expect(throws: JSON.ParseError.self) { try JSON(parsing: Array("[10000000000000000000,}".utf8)) }
        let plain = #expect(throws: JSON.ParseError.self) { try JSON(parsing: Array("[1000000000000000000 ,}".utf8)) }
        #expect(error?.position == plain?.position && same?.position == plain?.position)
    }

    @Test func membersAreSetInTheirPlaces() {
        var value: JSON = ["a": 1, "b": 2, "c": 3]
        value["b"] = "two"
        value["d"] = 4
        value["a"] = nil
        value["missing"] = nil
        #expect(value == ["b": "two", "c": 3, "d": 4])
        var number: JSON = 1
        number["a"] = 2
        #expect(number == 1)
    }

    @Test func writesWhatItReads() throws {
        let value: JSON = ["n": nil, "t": true, "f": false, "i": -3, "r": 0.1, "s": "é\u{0}\"", "a": [1, [2.5]]]
        let text = #"{"n":null,"t":true,"f":false,"i":-3,"r":0.10000000000000001,"s":"é\u0000\"","a":[1,[2.5]]}"#
        #expect(value.text == text)
        #expect(try JSON(parsing: Array(value.text.utf8)) == value)
        #expect(JSON.real(.infinity).text == "null" && JSON.string("a").text == "\"a\"")
        #expect(JSON(UInt64.max) == .integer(.max) && JSON([1, 2] as [UInt8]) == [1, 2])
    }
}
