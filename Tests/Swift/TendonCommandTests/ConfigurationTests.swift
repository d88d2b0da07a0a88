// SPDX-License-Identifier: MIT
import Tendon
import TendonSupport
import Testing

@testable import TendonCommand

/// Sections, entries and their lines.
@Suite struct IniFileTests {
    private func read(_ text: String) -> IniFile { IniFile(Array(text.utf8)) }
    private func entries(_ text: String) -> [IniEntry] { read(text).sections.flatMap(\.entries) }

    @Test func sectionsAndEntriesHaveTheirLines() {
        let file = read(
            "# comment\n[a]\nx = 1\n\n  # indented comment\r\n[b c]\r\ny= two words ; comment\r\n[empty]; comment\n")
        #expect(
            file.sections == [
                IniSection(name: "a", line: 2, entries: [IniEntry(key: "x", value: "1", line: 3)]),
                IniSection(name: "b c", line: 6, entries: [IniEntry(key: "y", value: "two words", line: 7)]),
                IniSection(name: "empty", line: 8),
            ])
        #expect(file.problems.isEmpty)
    }

    @Test func aLineThatBeginsWithWhiteSpaceContinuesTheValue() {
        let all = entries("[a]\nx = 1\n  2 ; comment\n# between\n\n\t3\n [b]\n  k = v\ny = 4\n  = 5\n")
        #expect(all.map(\.value) == ["1 2 3 [b] k = v", "4 = 5"])
        #expect(all.map(\.line) == [2, 9])
        // After a section there is nothing to continue.
        #expect(entries("[a]\n  x = 1\n") == [IniEntry(key: "x", value: "1", line: 2)])
        #expect(entries("[a]\nx =\n  1\n").map(\.value) == ["1"])
    }

    @Test func valuesMayContainWhatSeparates() {
        let all = entries("[a]\nx = a=b;c ;d\ny = # z\nlong : = 1\n")
        #expect(all.map(\.value) == ["a=b;c", "# z", "1"])
        #expect(all.map(\.key) == ["x", "y", "long :"])
    }

    @Test func theFileNeedsNoLastLineEnd() {
        #expect(entries("[a]\nx = 1") == [IniEntry(key: "x", value: "1", line: 2)])
        #expect(read("").sections.isEmpty && read("[a]").sections == [IniSection(name: "a", line: 1)])
    }

    @Test func aByteOrderMarkIsSkipped() {
        #expect(IniFile([0xEF, 0xBB, 0xBF] + Array("[a]\nx=1\n".utf8)).sections.map(\.name) == ["a"])
    }

    @Test func linesAndNamesHaveAnyLength() {
        let long = String(repeating: "1", count: 1000)
        #expect(read("[\(long)]\n\(long) = \(long)\n").sections.map(\.name) == [long])
        #expect(entries("[a]\nx = \(long)\n").map(\.value) == [long])
    }

    @Test func whatStandsBeforeTheFirstSection() {
        #expect(
            read("x = 1\n[a]\n").sections == [
                IniSection(name: "", line: 1, entries: [IniEntry(key: "x", value: "1", line: 1)]),
                IniSection(name: "a", line: 2),
            ])
    }

    @Test func bytesThatAreNoTextAreProblems() {
        #expect(IniFile(Array("[a]\nx = 1".utf8) + [0] + Array("\n".utf8)).problems.map(\.line) == [2])
        #expect(IniFile(Array("[a]\nx = ".utf8) + [0xFF, 0x0A]).problems.map(\.line) == [2])
    }

    /// Each of them is named, and the lines around it count.
    @Test func aLineThatIsNeitherIsAProblem() {
        let file = read("[a]\nx\n= 1\ny = 2\n  3\nz\n  4\n")
        #expect(file.problems.map(\.line) == [2, 3, 6, 7])
        #expect(Set(file.problems.map(\.text)) == ["this is neither [SECTION] nor KEY = VALUE"])
        #expect(file.sections.flatMap(\.entries) == [IniEntry(key: "y", value: "2 3", line: 4)])
    }

    /// One mistake: what follows is in the section that is meant.
    @Test func aSectionWithoutItsBracket() {
        let file = read("[gateway ; all\nradio = virtual\n")
        #expect(file.problems == [IniProblem(line: 1, text: "] is missing: [gateway]")])
        #expect(file.sections.map(\.name) == ["gateway"] && file.sections.flatMap(\.entries).map(\.key) == ["radio"])
        for text in ["[gateway\nradio = virtual\n", "[gatewya\nradio = virtual\n"] {
            let problems = Configuration(Array(text.utf8), path: "f").problems
            #expect(problems.map(\.line) == [1] && problems[0].text.hasPrefix("] is missing: "), "\(problems)")
        }
    }
}

/// The order of options, devices, families and defaults.
@Suite struct ConfigurationTests {
    private func configuration(_ text: String) -> Configuration { Configuration(Array(text.utf8), path: "f") }

    private func options(_ words: [String]) throws -> Arguments {
        try Arguments(["run"] + words, options: Option.common + Command.runAll.options).dropping(1, for: .runAll)
    }

    private let address = Address(0xC000_0000_0010, type: .random)
    private let text = """
        [family bose]
        period = 40
        sensors = gyroscope
        [family activ5]
        evergreen = yes
        [gateway]
        reconnect = no
        pair = yes
        [device C0:00:00:00:00:10 random]
        period = 80
        evergreen = no
        [rules]
        rule = bose.connected => activ5.tare
        """

    @Test func theFirstOfOptionDeviceFamilyAndDefaultHolds() throws {
        let file = configuration(text)
        #expect(file.problems.isEmpty)
        let device = try #require(file.device { $0.matches(address) })
        let period = try #require(SettingsTable.rows.first { $0.name == "--period" })

        #expect(try options([]).value(period) == "20")
        let without = try options([]).configured(by: file)
        #expect(without.value(period) == "40")
        #expect(without.source("--period") == .line(2))
        #expect(without.configured(by: device).value(period) == "80")
        let with = try options(["--period", "160"]).configured(by: file)
        #expect(with.value(period) == "160")
        #expect(with.configured(by: device).value(period) == "160")
        #expect(with.configured(by: device).value("--sensors") == "gyroscope")
    }

    @Test func switches() throws {
        let file = configuration(text)
        let arguments = try options([]).configured(by: file)
        #expect(arguments.has("--no-reconnect"))
        #expect(arguments.has("--evergreen"))
        #expect(arguments.value("--pair") == "")
        #expect(!arguments.configured(by: try #require(file.devices.first)).has("--evergreen"))
    }

    @Test func whatMayBeGivenSeveralTimesIsAddedUp() throws {
        let arguments = try options(["--rule", "bose.connected => activ5.stop"]).configured(by: configuration(text))
        #expect(arguments.all("--rule") == ["bose.connected => activ5.tare", "bose.connected => activ5.stop"])
    }

    @Test func aPlanKnowsWhichSessionsGoOn() throws {
        let plan = try GatewayPlan(options([]), configuration(text), family: nil)
        let other = Address(0xC000_0000_0011, type: .random)
        let changed = text.replacing("period = 80", with: "period = 160")
        let next = try GatewayPlan(options([]), configuration(changed), family: nil)
        #expect(!plan.servesEqually(address, family: "bose", as: next))
        #expect(plan.servesEqually(other, family: "bose", as: next))
        #expect(plan.servesEqually(address, family: "activ5", as: next))
        let left = try GatewayPlan(
            options([]), configuration(text + "\n[device C0:00:00:00:00:11]\nserve=no"), family: nil)
        #expect(!plan.servesEqually(other, family: "bose", as: left))
        #expect(!left.serves(other, family: "bose"))
    }

    @Test func keysAndSectionsAreNamedOnce() {
        var seen: Set<String> = []
        for row in SettingsTable.rows {
            let section = row.setting?.section ?? ""
            #expect(seen.insert("\(section) \(row.key)").inserted)
            if let standard = row.standardSetting { #expect((try? row.checkSetting(standard)) != nil) }
        }
        // A section of a device has the keys of all families: each has its own.
        let keys = SettingsTable.rows(of: "device").map(\.key)
        #expect(Set(keys).count == keys.count)
    }

    /// Two words of every setting that is a list.
    private static let lists = [
        "families": ("bose", "activ5"), "ignore": ("bose", "activ5"), "stream": ("force", "rotation"),
        "measure": ("force", "imu"), "sensors": ("rotation", "gyroscope"), "gestures": ("double_tap", "head_nod"),
        "features": ("16", "19"),
    ]

    @Test func listsMayHaveWhiteSpaceAfterTheirCommas() throws {
        let rows = SettingsTable.rows.filter { $0.value == "LIST" }
        #expect(Set(rows.map(\.key)) == Set(Self.lists.keys))
        for row in rows {
            let (first, second) = try #require(Self.lists[row.key])
            let file = configuration(
                "[\(row.setting?.section ?? "")]\n\(row.key) = \(first), \(second)\n[mqtt]\nbroker = mqtt://localhost")
            #expect(file.problems.map(\.text) == [], "\(row.key)")
            #expect(throws: Never.self, "\(row.key)") { try GatewayPlan(options([]), file, family: nil) }
        }
        let file = configuration("[family obvious]\nfeatures = 16, 19 ,\t17")
        #expect(try ObviousStream(options([]).configured(by: file)).features == [16, 19, 17])
        #expect(listWords(" a , b c ,d") == ["a", "b c", "d"])
    }

    @Test func aWrongWordOfAListIsAProblemOfTheFile() {
        for section in ["family obvious", "device C0:00:00:00:00:10"] {
            let problems = configuration("[\(section)]\nfeatures = 16, led").problems
            #expect(problems.map(\.line) == [2])
            #expect(problems.first?.text.contains("'led'") ?? false)
        }
    }

    /// Every option of `run` that a person may use is a setting too.
    @Test func everyOptionIsASetting() {
        let others = ["--config", "--define", "--help", "--version"]
        for option in Command.runAll.common + Command.runAll.options where !option.hidden {
            #expect(option.setting != nil || others.contains(option.name), "\(option.name)")
        }
    }
}
