// SPDX-License-Identifier: MIT
// The configuration file: every entry compared with the table of settings.
import Synchronization
import Tendon
import TendonSupport

struct Configuration: Sendable {
    struct Value: Sendable, Equatable {
        var text: String
        var line: Int
    }

    /// A section of one device.
    struct Device: Sendable {
        var address: WantedAddress
        var section: String
        var line: Int
        /// By key.
        var values: [String: [Value]] = [:]

        var name: String? { values["name"]?.last?.text }
        /// False: no connection is made to the device.
        var isServed: Bool { values["serve"]?.last.flatMap { SettingsTable.truth($0.text) } ?? true }
    }

    static let standardPath = "/etc/tendon/tendon.conf"
    /// Bytes of a file.
    private static let limit = 1 << 18

    let path: String
    /// It begins as JSON does.
    let isJSON: Bool
    /// Of sections without a device, by the name of the option, in the order of the file.
    private(set) var values: [String: [Value]] = [:]
    private(set) var devices: [Device] = []
    /// Sections of programs: by name, then by key.
    private(set) var programs: [String: [String: Value]] = [:]
    private var programLines: [String: Int] = [:]
    /// Programs with a mistake that is reported already.
    private var wrongPrograms: Set<String> = []
    /// What is wrong, in the order of the file.
    private(set) var problems: [IniProblem] = []

    /// Of a pipe, which a second reader would find empty.
    private static let read = Mutex<[String: [UInt8]]>([:])
    /// One was read, which this program cannot do again when it starts again.
    static var isOfPipe: Bool { read.withLock { !$0.isEmpty } }

    /// Reads a file; throws if the file cannot be read. What is wrong in it is in `problems`.
    init(reading path: String) throws(CommandError) {
        let isPipe = WholeFile.isSpecial(path)
        if isPipe, let bytes = Configuration.read.withLock({ $0[path] }) {
            self.init(bytes, path: path)
        } else {
            let bytes = try readFile(path, limit: Configuration.limit)
            if isPipe { Configuration.read.withLock { $0[path] = bytes } }
            self.init(bytes, path: path)
        }
    }

    init(_ bytes: [UInt8], path: String) {
        self.path = path
        isJSON = bytes.first { ![0x09, 0x0A, 0x0D, 0x20].contains($0) } == UInt8(ascii: "{")
        let file = IniFile(bytes)
        problems = file.problems
        let isOfDevice = { (section: IniSection) in section.name.hasPrefix("device") }
        for section in file.sections where isOfDevice(section) { check(section) }
        // Rules may contain names.
        DeviceNames.shared.during(names) {
            for section in file.sections where !isOfDevice(section) { check(section) }
        }
        checkNames()
        checkPrograms()
        problems.sort { $0.line < $1.line }
    }

    /// Throws the first problem.
    func checked() throws(CommandError) -> Configuration {
        guard let first = problems.first else { return self }
        let more = problems.count > 1 ? " (and \(problems.count - 1) more)" : ""
        throw .usage(place(first.line) + first.text + more, next: "tendon config check \(sanitized(path))")
    }

    /// "FILE:LINE: ", or "FILE: " without a line.
    func place(_ line: Int) -> String { sanitized(path) + (line > 0 ? ":\(line): " : ": ") }

    /// Without the values of some options.
    func without(_ options: [Option]) -> Configuration {
        var other = self
        for option in options { other.values[option.name] = nil }
        return other
    }

    /// Without the value of a line.
    func without(_ option: Option, _ line: Int) -> Configuration {
        var other = self
        other.values[option.name]?.removeAll { $0.line == line }
        return other
    }

    /// The section of a device; nil: there is none.
    func device(_ matches: (WantedAddress) -> Bool) -> Device? { devices.first { matches($0.address) } }

    // MARK: One section

    /// What the keys of a section are about.
    private enum Subject {
        /// Its index.
        case device(Int)
        case program(String)
        case settings(section: String)
    }

    /// The mistakes of a section; of one that is wrong itself, its keys have no meaning.
    private mutating func check(_ section: IniSection) {
        do throws(CommandError) {
            let subject = try open(section)
            for entry in section.entries {
                do throws(CommandError) {
                    try add(entry, to: subject)
                } catch {
                    if case .program(let name) = subject { wrongPrograms.insert(name) }
                    problems.append(IniProblem(line: entry.line, text: error.message))
                }
            }
        } catch {
            // Of a line that is wrong already, the name may be wrong for the same reason.
            guard !problems.contains(where: { $0.line == section.line }) else { return }
            problems.append(IniProblem(line: section.line, text: error.message))
        }
    }

    private mutating func open(_ section: IniSection) throws(CommandError) -> Subject {
        let words = section.name.split(whereSeparator: \.isWhitespace).map(String.init)
        switch words.first {
        case "device": return .device(try openDevice(section, Array(words.dropFirst())))
        case "program":
            guard words.count == 2 else { throw .usage("a section of a program is [program NAME]") }
            programLines[words[1]] = programLines[words[1]] ?? section.line
            programs[words[1]] = programs[words[1]] ?? [:]
            return .program(words[1])
        case nil:
            guard let first = section.entries.first else { throw .usage("a section has a name") }
            throw .usage("'\(sanitized(first.key))' stands before the first section")
        default: return .settings(section: try Configuration.section(words))
        }
    }

    private mutating func openDevice(_ section: IniSection, _ words: [String]) throws(CommandError) -> Int {
        let form = "a section of a device is [device AA:BB:CC:DD:EE:FF], or [device AA:BB:CC:DD:EE:FF random]"
        guard (1...2).contains(words.count) else { throw .usage(form) }
        let address: WantedAddress
        do throws(CommandError) {
            address = try WantedAddress(words.joined(separator: "/"), option: "device")
        } catch {
            throw .usage(form + ", not [\(sanitized(section.name))]")
        }
        if let index = devices.firstIndex(where: { $0.section == section.name }) { return index }
        if let other = devices.first(where: { $0.address.overlaps(address) }) {
            throw .usage("[\(other.section)] in line \(other.line) is the same device")
        }
        devices.append(Device(address: address, section: section.name, line: section.line))
        return devices.count - 1
    }

    private mutating func add(_ entry: IniEntry, to subject: Subject) throws(CommandError) {
        let value = Value(text: entry.value, line: entry.line)
        switch subject {
        case .device(let index):
            let row = try Configuration.row(entry.key, in: "device", entry.value)
            try Configuration.checkOnce(row, devices[index].values[row.key]?.first)
            devices[index].values[row.key, default: []].append(value)
        case .program(let name):
            let row = try Configuration.row(entry.key, in: "program", entry.value)
            try Configuration.checkOnce(row, programs[name]?[row.key])
            programs[name]?[row.key] = value
        case .settings(let section):
            let row = try Configuration.row(entry.key, in: section, entry.value)
            try Configuration.checkOnce(row, values[row.name]?.first)
            values[row.name, default: []].append(value)
        }
    }

    private static func checkOnce(_ row: Option, _ earlier: Value?) throws(CommandError) {
        guard let earlier, !(row.setting?.isRepeated ?? false) else { return }
        throw .usage("\(row.key) was set before, in line \(earlier.line)")
    }

    private mutating func checkPrograms() {
        for (name, values) in programs where values[Program.command.key] == nil && !wrongPrograms.contains(name) {
            problems.append(
                IniProblem(line: programLines[name] ?? 1, text: "[program \(sanitized(name))] needs the key command"))
        }
        for value in values["--rule"] ?? [] {
            guard let mistake = (try? Rule(value.text))?.mistake(amongPrograms: Array(programs.keys)) else { continue }
            problems.append(IniProblem(line: value.line, text: "rule: \(mistake)"))
        }
    }

    /// Programs that rules may execute, by name.
    var executables: [String: Program] {
        var all: [String: Program] = [:]
        for (name, values) in programs { all[name] = Program(name, values.mapValues(\.text)) }
        return all
    }

    private static func section(_ words: [String]) throws(CommandError) -> String {
        var title = words.joined(separator: " ")
        if words.count == 2, words[0] == "family" { title = "family " + (try familyName(words[1])) }
        guard SettingsTable.sections.contains(title) else {
            let known = SettingsTable.sections.map(SettingsTable.title)
            // Of a section with two words, the first one says of which kind it is.
            guard words.count > 1 else { throw .unknown("section", title, among: known) }
            let kinds = Help.once(known.filter { $0.contains(" ") }.map { String($0.prefix { $0 != " " }) })
            guard let kind = CommandError.nearest(words[0], among: kinds) else {
                throw .usage("unknown section '\(sanitized(title))'; known: \(known.joined(separator: ", "))")
            }
            let meant = ([kind] + words.dropFirst()).joined(separator: " ")
            throw .usage("unknown section '\(sanitized(title))'; did you mean '\(sanitized(meant))'?")
        }
        return title
    }

    /// The row of a key, which may have this value.
    private static func row(_ key: String, in section: String, _ value: String) throws(CommandError) -> Option {
        let rows = SettingsTable.rows(of: section)
        if let row = rows.first(where: { $0.key == key }) {
            do throws(CommandError) {
                try row.checkSetting(value)
            } catch {
                throw .usage(error.message + hint(value), next: error.next)
            }
            return row
        }
        let title = SettingsTable.title(of: section)
        let others = SettingsTable.rows.filter { $0.key == key }.compactMap(\.setting?.section)
        if !others.isEmpty {
            let all = others.map { "[\(SettingsTable.title(of: $0))]" }.joined(separator: " and ")
            throw .usage("\(key) is a key of \(all), not of [\(title)]")
        }
        throw .unknown("key of [\(title)]", key, among: rows.map(\.key))
    }

    /// What other files of this kind allow, and this one does not.
    private static func hint(_ value: String) -> String {
        if [" #", "\t#"].contains(where: value.contains) {
            return "; a comment has a line of its own, or begins with ; after white space"
        }
        let isQuoted = value.count > 1 && value.first == value.last && ["\"", "'"].contains(value.first)
        return isQuoted ? "; a value stands without quotes" : ""
    }

    /// A name belongs to one device.
    private mutating func checkNames() {
        var owners: [String: Int] = [:]
        for device in devices {
            guard let name = device.values["name"]?.last else { continue }
            if let line = owners[name.text] {
                problems.append(IniProblem(line: name.line, text: "the device of line \(line) has this name"))
            }
            owners[name.text] = name.line
        }
        for row in SettingsTable.rows {
            guard case .device = row.takes else { continue }
            for value in values[row.name] ?? [] where owners[value.text] == nil {
                guard Address(value.text) == nil else { continue }
                problems.append(
                    IniProblem(
                        line: value.line,
                        text:
                            "\(row.key) takes AA:BB:CC:DD:EE:FF, with /random or /public, or the name of a device of this "
                            + "file, not '\(sanitized(value.text))'"))
            }
        }
    }
}

extension WantedAddress {
    /// Whether a device can match both.
    func overlaps(_ other: WantedAddress) -> Bool {
        address.value == other.address.value
            && (!saysType || !other.saysType || address.rawType == other.address.rawType)
    }
}

// MARK: - With a command line

extension Configuration {
    /// $TENDON_CONFIG; nil when unset, or empty.
    static var fromEnvironment: String? { environment("TENDON_CONFIG").flatMap { $0.isEmpty ? nil : $0 } }

    /// The file of `--config` or $TENDON_CONFIG; nil: neither names one. Throws if there is a problem.
    static func requested(_ arguments: Arguments) throws(CommandError) -> Configuration? {
        guard let path = arguments.value("--config") ?? fromEnvironment else { return nil }
        return try Configuration(reading: path).checked()
    }

    /// Makes the names of devices known to this program.
    func installNames() { DeviceNames.shared.set(names) }

    var names: [(address: WantedAddress, name: String)] {
        devices.compactMap { device in device.name.map { (device.address, $0) } }
    }

    /// The names of the requested file, or of the standard file if this user may read it.
    static func installNames(_ arguments: Arguments) throws(CommandError) {
        if let requested = try requested(arguments) { return requested.installNames() }
        guard isReadable(standardPath) else { return }
        do throws(CommandError) {
            try Configuration(reading: standardPath).checked().installNames()
        } catch {
            Output.error.line("tendon: no names of devices: \(error.message)")
        }
    }
}

extension Arguments {
    /// With the settings of a file below the options of the command line.
    func configured(by configuration: Configuration?) -> Arguments {
        guard let configuration else { return self }
        var arguments = self
        for row in SettingsTable.rows where !row.name.isEmpty {
            arguments.add(row, configuration.values[row.name] ?? [])
        }
        return arguments
    }

    /// The arguments for one device: its section is above the file's other sections, and below the command line.
    func configured(by device: Configuration.Device) -> Arguments {
        var arguments = self
        for row in SettingsTable.rows where row.setting?.isPerDevice ?? false {
            guard let values = device.values[row.key], arguments.source(row.name) != .option else { continue }
            arguments.remove(row.name)
            arguments.add(row, values)
        }
        return arguments
    }

    private mutating func add(_ row: Option, _ values: [Configuration.Value]) {
        guard !has(row.name) || row.setting?.isRepeated ?? false else { return }
        // An earlier value of the file comes first; options are added after the file's.
        let given = values.compactMap { value in
            row.argument(value.text).map { Given(text: $0, source: .line(value.line)) }
        }
        prepend(row.name, given)
    }
}
