// SPDX-License-Identifier: MIT
// A device that a file defines, and the files that are read: docs/device-files.md.
import CTendon
import Synchronization
import Tendon
import TendonOutputs
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A definition of the C core. Those of `Definitions` are never freed: their names last as long as the process.
struct Definition: Sendable {
    private let block: CBlock<tendon_definition>
    // Its tables, taken out once: they are looked into for each value.
    let rows: [tendon_definition_row]
    let events: [tendon_definition_event]
    let actions: [tendon_definition_action]
    /// By event.
    private(set) var forms: [SampleForm] = []
    /// Likewise: see `hasCells`.
    private(set) var haveCells: [Bool] = []
    /// Where it comes from.
    let path: String

    /// - Parameter path: for the texts of mistakes.
    init(parsing bytes: [UInt8], path: String) throws(DefinitionMistake) {
        let block = CBlock<tendon_definition>()
        let scratch = CBlock<tendon_definition_scratch>()
        var mistake = tendon_definition_mistake()
        let text = CBytes(bytes)
        let status = text.lendText {
            tendon_definition_parse($0, bytes.count, block.pointer, scratch.pointer, &mistake)
        }
        guard status >= 0 else {
            throw DefinitionMistake(
                path: path, line: Int(mistake.line), column: Int(mistake.column),
                text: TendonSupport.text(of: mistake.text))
        }
        let found = block.pointer
        rows = Definition.table(block, \.rows, found.pointee.row_count)
        events = Definition.table(block, \.events, found.pointee.event_count)
        actions = Definition.table(block, \.actions, found.pointee.action_count)
        self.block = block
        self.path = path
        forms = events.indices.map { form(of: $0) }
        haveCells = events.indices.map(hasCells)
    }

    var pointer: CPointer<tendon_definition> { block.pointer }

    var name: String { word(pointer.pointee.name) ?? "" }
    var title: String { word(pointer.pointee.title) ?? "" }
    var summary: String { word(pointer.pointee.summary) ?? title }

    /// A text of the definition; nil: it has none.
    func word(_ offset: UInt16) -> String? { offset == 0 ? nil : text(tendon_definition_text(pointer, offset)) }

    func eventName(_ offset: UInt16) -> EventName { EventName(lasting: tendon_definition_text(pointer, offset)) }

    // MARK: Its tables

    private static func table<Tuple, Row>(
        _ block: CBlock<tendon_definition>, _ path: KeyPath<tendon_definition, Tuple>, _ count: UInt16
    ) -> [Row] {
        (0..<Int(count)).map { block.element(path, $0, of: Row.self).pointee }
    }

    /// By which a GATT cache names them, as its session does.
    var cacheNumber: UInt32 {
        var rows = rows
        return rows.withUnsafeMutableBufferPointer { rows in
            let row: tendon_profile_row = { rows, index, service, characteristic in
                guard let rows, let service, let characteristic else { return 0 }
                let row = rows.assumingMemoryBound(to: tendon_definition_row.self)[index]
                (service.pointee, characteristic.pointee) = (row.service, row.uuid)
                let isRequired = Int(row.flags) & TENDON_ROW_REQUIRED != 0
                return UInt8(row.notified != UInt16(TENDON_DEFINITION_NONE) ? TENDON_PROFILE_CCCD : 0)
                    | UInt8(isRequired ? TENDON_PROFILE_REQUIRED : 0)
            }
            return tendon_profile_number(row, rows.baseAddress, rows.count)
        }
    }

    /// Of all layouts.
    var fields: [tendon_field] { (0..<Int(pointer.pointee.field_count)).map(field) }

    func field(_ index: Int) -> tendon_field { block.element(\.fields, index, of: tendon_field.self).pointee }

    func words(of field: tendon_field) -> [String] { named(by: field).map(\.word) }

    /// The numbers that have names.
    func named(by field: tendon_field) -> [(word: String, number: Int64)] {
        (0..<Int(field.count)).map {
            let one = block.element(\.words, Int(field.first) + $0, of: tendon_word.self).pointee
            return (word(one.text) ?? "", one.value)
        }
    }

    /// The fields that an event shows, in the order of the layout, and of one name the first: one name can be of two
    /// conditions.
    /// - Parameter isWanted: decides for each field, before that of its name is chosen.
    func fields(of event: Int, where isWanted: (tendon_field) -> Bool = { _ in true }) -> [tendon_field] {
        Definition.firstOfEachName(shownFields(of: event).filter(isWanted))
    }

    static func firstOfEachName(_ fields: [tendon_field]) -> [tendon_field] {
        var first: [tendon_field] = []
        for field in fields where !first.contains(where: { $0.name == field.name }) { first.append(field) }
        return first
    }

    /// Of one name all.
    func shownFields(of event: Int) -> [tendon_field] {
        fields(within: events[event].layout).filter {
            var field = $0
            return tendon_definition_shows(
                pointer, block.element(\.events, event, of: tendon_definition_event.self), &field)
        }
    }

    /// Those that a record of a list shows. The number of a plain list has the name of the list.
    func recordFields(of list: tendon_field) -> [tendon_field] {
        let fields = fields(within: list.layout)
        guard Int(list.flags) & TENDON_FIELD_PLAIN != 0 else {
            return fields.filter {
                var field = $0
                return tendon_definition_shows(pointer, nil, &field)
            }
        }
        return fields.map {
            var field = $0
            field.name = list.name
            if field.unit == 0 { field.unit = list.unit }
            return field
        }
    }

    /// With those of all cases of a switch, at its place.
    private func fields(within number: UInt16) -> [tendon_field] {
        let layout = block.element(\.layouts, Int(number), of: tendon_layout.self).pointee
        return (0..<Int(layout.count)).map { field(Int(layout.first) + $0) }.flatMap { field in
            tendon_field_type(UInt32(field.type)) == TENDON_FIELD_SWITCH
                ? cases(of: field).flatMap(fields(within:)) : [field]
        }
    }

    private func cases(of field: tendon_field) -> [UInt16] {
        let all = (0..<Int(field.count)).map {
            block.element(\.cases, Int(field.first) + $0, of: tendon_case.self).pointee.layout
        }
        return all + (Int(field.layout) == TENDON_DEFINITION_NONE ? [] : [field.layout])
    }

    /// The arguments of an action, as the fields that they are.
    func arguments(of action: Int) -> [tendon_field] {
        var fields = [UInt16](repeating: 0, count: Int(TENDON_DEFINITION_VALUE))
        let count = tendon_action_arguments(pointer, action, &fields, fields.count)
        return fields.prefix(count).map { field(Int($0)) }
    }
}

extension tendon_field {
    /// A single number, which rules can compare and people read.
    var isNumber: Bool {
        let kind = tendon_field_type(UInt32(type))
        return kind.rawValue <= TENDON_FIELD_FLOAT.rawValue || kind == TENDON_FIELD_RATE
            || (kind == TENDON_FIELD_PART && bits > 1)
    }
    var isText: Bool { tendon_field_type(UInt32(type)) == TENDON_FIELD_UTF8 }
    /// A time as text.
    var isDate: Bool { isLocalDate || tendon_field_type(UInt32(type)) == TENDON_FIELD_EPOCH }
    /// Without a zone.
    var isLocalDate: Bool {
        let kind = tendon_field_type(UInt32(type))
        return kind == TENDON_FIELD_DATE || (kind == TENDON_FIELD_EPOCH && Int(flags) & TENDON_FIELD_LOCAL != 0)
    }
    var isBytes: Bool { tendon_field_type(UInt32(type)) == TENDON_FIELD_BYTES }
    var isList: Bool { tendon_field_type(UInt32(type)) == TENDON_FIELD_RECORDS }
    /// How many bytes of text, or bytes, an action takes, for people; nil: it is a number.
    var lengthText: String? {
        guard isText || isBytes else { return nil }
        if size > 0 { return isText ? "at most \(size)" : "\(size)" }
        let most = min(Int(at_most), Int(TENDON_DEFINITION_VALUE))
        return at_least > 0 ? "\(at_least) to \(most)" : "at most \(most)"
    }
    /// A bit; one without words is a flag.
    var isBit: Bool { tendon_field_type(UInt32(type)) == TENDON_FIELD_PART && bits == 1 }
    var isFlag: Bool { isBit && count == 0 }
    /// What tables have of it.
    var cell: SampleChannel.Kind {
        if isText { return .text }
        if isBytes { return .bytes }
        if isDate { return .time }
        if isFlag { return .flag }
        return count > 0 ? .word : .number
    }
}

/// Where a file is wrong.
struct DefinitionMistake: Error {
    var path: String
    var line: Int
    var column: Int
    var text: String

    /// The name of the device is that of a family, or another word with a meaning; where it stands. Nil: it is neither.
    static func taken(_ name: String, _ bytes: [UInt8], _ path: String) -> DefinitionMistake? {
        let isFamily = tendon_family_find(name) != nil
        guard isFamily || DeviceNames.reserved.contains(name) else { return nil }
        return DefinitionMistake(
            path: path, at: place(of: name, in: "name", bytes),
            text: "'\(name)' " + (isFamily ? "is a family that Tendon has" : "has another meaning, in rules or options")
                + "; give the device another name")
    }

    /// Where a word first stands as the value of a member, as the parser of the C core counts.
    static func place(of word: String, in member: String, _ bytes: [UInt8]) -> (line: Int, column: Int) {
        let value = Array("\"\(word)\"".utf8), key = Array("\"\(member)\"".utf8)
        func isValue(_ start: Int) -> Bool {
            guard bytes[start...].starts(with: value) else { return false }
            let before = bytes[..<start].filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
            return before.last == UInt8(ascii: ":") && before.dropLast().suffix(key.count).elementsEqual(key)
        }
        let start = bytes.indices.first(where: isValue) ?? 0
        let lines = bytes[..<start].split(separator: 0x0A, omittingEmptySubsequences: false)
        return (lines.count, (lines.last?.count ?? 0) + 2)
    }

    var sentence: String { "\(sanitized(path)):\(line):\(column): \(text)" }
}

extension DefinitionMistake {
    init(path: String, at place: (line: Int, column: Int), text: String) {
        self.init(path: path, line: place.line, column: place.column, text: text)
    }
}

/// The definitions of this run of the program. They are read once, before the first command is looked for: commands,
/// help and rules name them.
enum Definitions {
    static let option = Option(
        name: "--define", value: "FILE",
        help: "a device file, or a directory with device files: devices of other makers; beside those of "
            + "\(standardDirectory); see docs/device-files.md", isList: true)
    static let standardDirectory = "/etc/tendon/devices"

    /// Those that know families by name.
    static let commands: Set<String> = [
        "run", "stream", "scan", "simulate", "capture", "replay", "export", "decode", "encode", "report", "rules",
        "config", "pair", "help",
    ]

    private static let loaded = Mutex<[Definition]>([])

    static var all: [Definition] { loaded.withLock { $0 } }

    static func named(_ name: String) -> Definition? { all.first { $0.name == name } }

    /// The option that a command needs for a family, as words: " --define heart_rate.json"; empty: none.
    static func words(for family: String) -> String {
        guard let path = named(family)?.path, !path.hasPrefix(standardDirectory) else { return "" }
        return " \(option.name) \(sanitized(path))"
    }

    /// The first whose devices advertise this; one that looks for a name goes first.
    static func recognizing(_ data: [UInt8]) -> Definition? {
        let found = all.filter { tendon_definition_means($0.pointer, data, data.count) == TENDON_MEANT }
        return found.first { $0.pointer.pointee.find.name != 0 } ?? found.first
    }

    /// Reads what the words of the command line name, and what is installed. A mistake in an installed file is reported,
    /// and its device is unknown; in one that is named, it is an error.
    static func load(_ words: [String]) throws(CommandError) {
        for path in files(in: standardDirectory) {
            do throws(CommandError) {
                try add(path)
            } catch {
                Log.write(.warning, "\(error.message); the device is left out")
            }
        }
        if let obstacle = obstacle(to: standardDirectory) {
            Log.write(.warning, "\(obstacle); its devices are left out")
        }
        for path in named(in: words) {
            if isDirectory(path) {
                let files = files(in: path)
                if let obstacle = obstacle(to: path) { throw CommandError(.failed, obstacle) }
                guard !files.isEmpty else { throw .usage("--define: \(sanitized(path)) has no file *.json") }
                for file in files { try add(file) }
            } else {
                try add(path)
            }
        }
    }

    /// The operands of --define: this is before the arguments are read.
    private static func named(in words: [String]) -> [String] {
        var paths: [String] = []
        for (index, word) in words.enumerated() {
            if word == "--" { break }
            if word == option.name, index + 1 < words.count { paths += listWords(words[index + 1]) }
            if word.hasPrefix(option.name + "=") { paths += listWords(String(word.dropFirst(option.name.count + 1))) }
        }
        return paths
    }

    /// Why a folder that exists cannot be read.
    private static func obstacle(to directory: String) -> String? {
        guard access(directory, R_OK | X_OK) != 0, errno != ENOENT else { return nil }
        return "\(sanitized(directory)): \(text(strerror(errno)))"
    }

    private static func files(in directory: String) -> [String] {
        fileNames(in: directory).filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }.sorted()
            .map { directory + "/" + $0 }
    }

    private static func parse(_ bytes: [UInt8], _ path: String) throws(DefinitionMistake) -> Definition {
        let new = try Definition(parsing: bytes, path: path)
        if let mistake = DefinitionMistake.taken(new.name, bytes, path)
            ?? DefinitionMistake.unknownClass(new, bytes, path)
        {
            throw mistake
        }
        return new
    }

    /// Parses a file without taking it.
    static func read(_ path: String) throws(CommandError) -> Definition {
        let bytes = try readFile(path, limit: Int(TENDON_DEFINITION_FILE_MAX))
        do throws(DefinitionMistake) {
            return try parse(bytes, path)
        } catch {
            throw CommandError(.usage, error.sentence, next: "docs/device-files.md")
        }
    }

    /// `config check` of a device file.
    static func check(_ path: String, _ events: Events) throws(CommandError) -> ExitStatus {
        let bytes = try readFile(path, limit: Int(TENDON_DEFINITION_FILE_MAX))
        do throws(DefinitionMistake) {
            _ = try parse(bytes, path)
        } catch {
            events.result(
                "mistake", nil,
                [
                    "file": .string(path), "line": JSON(error.line), "column": JSON(error.column),
                    "text": .string(error.text),
                ], text: error.sentence + "\n")
            return .usage
        }
        events.result(
            "configuration_file", nil, ["file": .string(path), "devices": 1], text: "\(sanitized(path)): no mistakes\n")
        return .done
    }

    private static func add(_ path: String) throws(CommandError) {
        let new = try read(path)
        // One that is named takes the place of one that is installed.
        let others = all.filter { $0.name != new.name || !$0.path.hasPrefix(standardDirectory) }
        if let same = others.first(where: { $0.name == new.name }) {
            throw .usage("\(sanitized(path)): the device '\(new.name)' is defined in \(sanitized(same.path)) as well")
        }
        if let other = others.first(where: { tendon_definition_overlaps($0.pointer, new.pointer) }) {
            throw .usage(
                "\(sanitized(path)): its 'find' means devices that \(sanitized(other.path)) means as well; add a name or a "
                    + "company to one of them")
        }
        loaded.withLock { $0 = others + [new] }
    }
}
