// SPDX-License-Identifier: MIT
// report: one file for a bug report, which is also a test of replay.
import CSystemProcess
import CTendon
import Tendon
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

extension Command {
    private static let capturedBefore = Option(
        name: "--capture", value: "FILE", help: "take this capture instead of making one")

    static let report = Command(
        "report", operands: "[FILE]",
        summary: "write a file for a bug report: versions, adapters, settings, a capture without keys and names",
        details: [
            "Connects to the devices in range as run does, for 20 seconds unless --for is given, and captures that. Executes "
                + "no rules and publishes nothing. A gateway that runs already has its devices: stop it before, or use "
                + "--capture with a file of 'tendon run --capture' or 'tendon capture'.",
            "The file has JSON lines that can be read, and only its owner can read it. The command prints what is in the file "
                + "and what was removed. Without an adapter the file has no capture. Without FILE: "
                + "tendon-report-TIME.jsonl in the current directory.",
            "The settings are those of --config, of $TENDON_CONFIG, or of \(Configuration.standardPath). "
                + "'tendon replay --test FILE' decodes the capture again and compares the events.",
        ],
        options: [capturedBefore, .replaces] + ServedFamilies.options + PairingPolicy.options,
        examples: [
            ("sudo tendon report", "use the devices for 20 seconds, write tendon-report-TIME.jsonl"),
            ("tendon report report.jsonl --capture head.btsnoop", "report what a capture has"),
            ("tendon report report.jsonl --radio virtual --for 5", "report simulated devices"),
            ("tendon replay --test report.jsonl", "decode the capture of a report again: fails if the events differ"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.count <= 1 else { throw .usage("report takes one file", next: "tendon report FILE") }
        let path = arguments.operands.first ?? Report.standardPath
        guard path != "-" else { throw .usage("report writes to a named file; '-' is not supported") }
        try arguments.checkReplaces(path)
        var report = try Report(arguments)
        if let capture = arguments.value(capturedBefore.name) {
            try report.take(capture)
        } else {
            try await report.record(beside: path, for: try arguments.duration() ?? 20_000)
        }
        try report.write(to: path)
        let sentences = report.sentences
        Events(json: arguments.has("--json"), waits: true).result(
            "summary", nil, ["file": .string(path), "contents": JSON(sentences.map(JSON.string))],
            text: "\(sanitized(path)) has:\n" + sentences.map { Help.bullet($0) }.joined())
        return .done
    }
}

/// What a report has.
struct Report {
    private(set) var sentences: [String] = []
    private var notes: [JSON] = []
    private var capture: [UInt8] = []
    private var anonymizer: Anonymizer
    /// Without the options of this command.
    private let arguments: Arguments
    private let configuration: Configuration?
    private static let messageLimit = 200

    /// With the time, as a name that file systems of other machines take too.
    static var standardPath: String {
        "tendon-report-" + now.prefix(19).filter { $0 != ":" } + ".jsonl"
    }

    private static var now: String {
        var writer = LineWriter()
        writer.begin("report")
        return (try? JSON(parsing: writer.bytes + Array("}".utf8)))?["time"]?.string ?? ""
    }

    init(_ given: Arguments) throws(CommandError) {
        var arguments = given.droppingOperands(1)
        for option in ["--capture", "--replace"] { arguments.remove(option) }
        self.arguments = arguments
        var configuration = try Configuration.requested(arguments)
        var mistake: String?
        if configuration == nil, isReadable(Configuration.standardPath) {
            do throws(CommandError) {
                configuration = try Configuration(reading: Configuration.standardPath).checked()
            } catch { mistake = error.message }
        }
        self.configuration = configuration
        anonymizer = Anonymizer(configuration?.names.map(\.name) ?? [])
        addMachine()
        addSettings(mistake)
    }

    // MARK: The machine

    private mutating func add(_ kind: String, _ members: JSON) {
        notes.append((["report": .string(kind)] as JSON).merging(anonymizer.json(members)))
    }

    private mutating func addMachine() {
        var system = utsname()
        uname(&system)
        add(
            "tendon",
            ["version": .string(version), "traits": JSON(buildTraits.map(JSON.string)), "time": .string(Report.now)])
        add(
            "system",
            [
                "distribution": .string(Report.distribution), "system": .string(text(of: system.sysname)),
                "kernel": .string(text(of: system.release)), "build": .string(text(of: system.version)),
                "architecture": .string(text(of: system.machine)),
            ])
        for finding in Finding.examine() { add("finding", finding.json) }
        let adapters = Command.adapterFacts()
        for adapter in adapters { add("adapter", adapter.json) }
        sentences.append(
            "Tendon \(version), the distribution, the kernel, what 'tendon doctor' finds. Adapters: \(adapters.count).")
    }

    private static var distribution: String {
        let bytes = (try? readText("/etc/os-release", limit: 1 << 16)) ?? []
        let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") }
        return String((line ?? "").drop { $0 != "=" }.dropFirst().filter { $0 != "\"" })
    }

    private mutating func addSettings(_ mistake: String?) {
        let set = SettingsListing(arguments, configuration).entries.filter { $0.origin != "default" }
        for var entry in set {
            if entry.isPrivate { entry.value = "removed" }
            add("setting", entry.json)
        }
        if let mistake { add("setting", ["text": .string(mistake)]) }
        let place = mistake != nil ? "" : configuration.map { " of \(anonymizer.text(sanitized($0.path)))" } ?? ""
        sentences.append(
            "The settings\(place) that are not defaults: \(set.count). The user name at the broker and the commands of "
                + "programs are removed; passwords, tokens and keys are in other files, which were not read.")
        if let mistake { sentences.append("The configuration could not be used: \(anonymizer.text(mistake)).") }
    }

    // MARK: The capture

    /// Serves the devices as a run does that has no outputs, and captures the connections.
    /// - Parameter path: of the report. The capture is in the same directory, so that one that cannot be written is reported
    ///   now. It has no name there, because it has names of devices in it: whatever ends the command also deletes the file.
    @MainActor
    mutating func record(beside path: String, for milliseconds: UInt64) async throws(CommandError) {
        let raw = Report.unnamedFile(beside: WholeFile.isSpecial(path) ? "/tmp/tendon-report" : path)
        guard raw >= 0 else { throw CommandError(.failed, "\(sanitized(path)): \(text(strerror(errno)))") }
        defer { close(raw) }
        let events = CollectedLines(compact: true, takesSamples: false, limit: Report.messageLimit)
        var ending: CommandError?
        do throws(CommandError) {
            let left = SettingsTable.rows.filter {
                ["rules", "output"].contains($0.setting?.section) || $0.name == "--gatt-cache"
            }
            let plan = try GatewayPlan(arguments, configuration?.without(left), family: nil, capture: .unnamed(raw))
            let gateway = try Gateway(plan, outputs: nil, further: [events])
            Log.draw { _, text in events.add(LineWriter.text(["event": "message", "text": .string(text)])) }
            defer { Log.draw(nil) }
            _ = try await gateway.run(for: milliseconds)
        } catch { ending = error }
        if let ending, ending.status == .usage { throw ending }
        guard !Termination.shared.isRequested else { throw CommandError(.failed, "interrupted; nothing was written") }
        lseek(raw, 0, SEEK_SET)
        let bytes = try readFile(raw, called: path, limit: ReplayTest.captureLimit)
        if bytes.isEmpty {
            let reason = ending?.message ?? "nothing was captured"
            add("capture", ["text": .string(reason)])
            sentences.append("No capture: \(anonymizer.text(reason)).")
        } else {
            let reader = CaptureReader()
            do throws(CommandError) {
                try take(reader, opened: try reader.open(bytes: bytes), called: path)
            } catch {
                throw ending ?? error  // the end of a capture is missing because of what ended the run
            }
            if let ending { sentences.append("The run ended with: \(anonymizer.text(ending.message)).") }
        }
        addMessages(events.lines)
    }

    /// Not even a process that is killed between two calls leaves it, where the file system has files without a name.
    private static func unnamedFile(beside path: String) -> Int32 {
        let file = tendon_unnamed_file(WholeFile.folder(of: path))
        guard file < 0, [EOPNOTSUPP, EISDIR].contains(errno) else { return file }
        var name = Array((path + ".XXXXXX").utf8CString)
        let named = mkstemp(&name)
        guard named >= 0 else { return named }
        unlink(name)
        _ = fcntl(named, F_SETFD, FD_CLOEXEC)
        return named
    }

    /// - Parameter path: of a capture.
    mutating func take(_ path: String) throws(CommandError) {
        let reader = CaptureReader()
        try take(reader, opened: reader.open(path), called: path)
        addMessages([])
    }

    private mutating func take(
        _ reader: CaptureReader, opened: tendon_status, called path: String
    ) throws(CommandError) {
        let cleaner = CaptureCleaner(anonymizer)
        capture = try cleaner.clean(reader, opened: opened, called: path)
        anonymizer = cleaner.anonymizer
        sentences.append(
            "A capture (connections: \(cleaner.connectionCount), ATT PDUs: \(cleaner.pdus), advertisements: "
                + "\(cleaner.advertisements)) and the events that 'tendon replay' makes of it. All other packets were "
                + "removed, among them those of pairing with the keys. Values of characteristics that Tendon does not use, "
                + "which can be names, are zeros: \(cleaner.maskedValues).")
        if cleaner.leftOut > 0 { sentences.append("Packets that were too long and were left out: \(cleaner.leftOut).") }
    }

    // MARK: Messages

    private mutating func addMessages(_ lines: [String]) {
        for line in lines {
            guard let event = try? JSON(parsing: Array(line.utf8)) else { continue }
            if let name = event["name"]?.string { anonymizer.learn(name) }
            add("event", event)
        }
        let messages = Report.journal().compactMap { anonymizer.message($0) }
        for message in messages { notes.append(["report": "journal", "text": .string(message)]) }
        sentences.append(
            "Events of this run: \(lines.count). Lines of the journal of the service 'tendon': \(messages.count).")
        sentences.append(
            "Names of devices are replaced, in the journal those that the settings or the capture have. Addresses are "
                + "replaced by others, the same one always by the same other one.")
        sentences.append(
            "Not removed: values of sensors, serial numbers that an Obvious device or an Activ5 trainer sends in its "
                + "messages, names of files, of the broker and of topics. Read the file before you pass it on.")
    }

    /// The last lines; none where there is no journal or it may not be read.
    private static func journal() -> [String] {
        let command = "journalctl -q --no-pager --no-hostname -o short-iso -u tendon -n 100 2>/dev/null"
        guard let pipe = popen(command, "r") else { return [] }
        defer { pclose(pipe) }
        var (input, lines): (InputLines, [String]) = (InputLines(fileno(pipe), limit: 1 << 16), [])
        while let line = input.next() {
            if case .text(let bytes) = line { lines.append(sanitized(String(decoding: bytes, as: UTF8.self))) }
        }
        return lines
    }

    /// The file is a test of replay with further lines.
    func write(to path: String) throws(CommandError) {
        // The events are those that another machine makes of the capture.
        DeviceNames.shared.set([])
        var test = try ReplayTest(of: capture, called: path, att: true, compact: true)
        test.notes = sentences.map { ["report": "contents", "text": .string($0)] } + notes
        try test.write(to: path)
    }
}
