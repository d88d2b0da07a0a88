// SPDX-License-Identifier: MIT
// The options of recordings.
import TendonOutputs
import TendonRecording
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

enum RecordingOptions {
    private static let directory = Option(
        name: "--record", value: "DIR",
        help: "record samples as CSV and all other events, in a new folder of this directory: see docs/recording.md",
        takes: .parsed { (text) throws(CommandError) in
            guard !text.isEmpty else { throw .usage("it takes the path of a directory") }
        }, setting: Setting("recording", key: "directory", isFixed: true))
    private static let part = Option(
        name: "--record-part", value: "TIME", help: "begin another recording after this time, such as 1h",
        takes: .seconds(1...604_800), setting: Setting("recording", key: "part", isFixed: true))
    private static let limit = Option(
        name: "--record-limit", value: "SIZE",
        help: "remove the oldest recordings of the directory so that all have at most this size, such as 500M or 20G",
        takes: .parsed { (text) throws(CommandError) in _ = try bytes(text) },
        setting: Setting("recording", key: "limit", isFixed: true))

    static let all = [directory, part, limit]

    /// A size: bytes, or a number with K, M, G or T, which are powers of 1,000.
    private static func bytes(_ text: String) throws(CommandError) -> Int {
        let units: [Character: Double] = ["K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12]
        let unit = text.last.flatMap { units[$0] }
        let number = Double(unit == nil ? text : String(text.dropLast()))
        guard let size = number.map({ $0 * (unit ?? 1) }), (1e6...1e15).contains(size) else {
            throw .usage("it takes a size from 1M to 1000T, such as 500M or 20G, not '\(sanitized(text))'")
        }
        return Int(size)
    }

    /// Nil: nothing is recorded.
    static func settings(_ arguments: Arguments) throws(CommandError) -> RecordingSettings? {
        guard let directory = arguments.value(directory.name) else {
            for option in [part, limit] where arguments.changes(option) {
                throw .usage("\(option.name) needs --record", next: "tendon run --record recordings")
            }
            return nil
        }
        return RecordingSettings(
            directory: directory, part: try arguments.number(part).map { UInt64($0 * 1000) },
            limit: try arguments.value(limit.name).map { (text) throws(CommandError) in try bytes(text) })
    }

    /// What `run` would refuse. The folder above may be one that the service has, such as that of its state.
    static func check(_ arguments: Arguments) throws(CommandError) {
        guard let path = try settings(arguments)?.directory, access(path, F_OK) == 0, !isDirectory(path) else { return }
        throw CommandError(.failed, "--record: \(sanitized(path)): \(text(strerror(ENOTDIR)))")
    }

    static func output(_ arguments: Arguments) throws(CommandError) -> (any EventOutput)? {
        guard var settings = try settings(arguments) else { return nil }
        settings.information = information(
            SettingsListing(arguments, nil).entries.filter { $0.origin != "default" })
        do throws(RecordingError) {
            return try RecordingOutput(settings, report: { Log.write(.warning, "\($0)") })
        } catch {
            throw CommandError(.failed, "--record: \(error.text)")
        }
    }

    /// What a description says of the program.
    static func information(_ settings: [SettingsListing.Entry]) -> JSON {
        [
            "program": .string("tendon \(TendonCommand.version)"),
            "settings": JSON(
                settings.map { (entry) -> JSON in
                    let value: JSON = entry.isPrivate ? "removed" : entry.value.map { JSON.string($0) } ?? .null
                    return ["section": .string(entry.section), "key": .string(entry.key), "value": value]
                }),
        ]
    }
}
