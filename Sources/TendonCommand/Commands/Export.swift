// SPDX-License-Identifier: MIT
// export: a capture as CSV.
import CTendon
import TendonOutputs
import TendonRecording
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

extension Command {
    static let export = Command(
        "export", operands: "FILE [DIR]",
        summary: "write the samples of a capture as CSV",
        details: [
            "Makes a new folder in DIR, default the present directory, as 'tendon run --record DIR' does: a CSV file for each "
                + "sensor, one with all of them, the other events as lines of JSON, and session.json. See docs/recording.md."
        ],
        options: [
            .gattCache(
                help:
                    "take the attribute handles of connections without discovery from the GATT caches in this directory; "
                    + "--gatt-cache alone: in $XDG_STATE_HOME/tendon/gatt")
        ],
        common: ["--json"],
        examples: [
            ("tendon export head.btsnoop", "a folder in the present directory"),
            ("tendon export head.btsnoop recordings", "a folder in recordings"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard (1...2).contains(arguments.operands.count), arguments.operands.last != "" else {
            throw .usage("export takes a capture, and a directory", next: "tendon export FILE DIR")
        }
        let path = arguments.operands[0]
        let directory = arguments.operands.count > 1 ? arguments.operands[1] : "."
        if mkdir(directory, 0o700) != 0, !isDirectory(directory) {
            throw CommandError(.failed, "\(sanitized(directory)): \(text(strerror(errno == EEXIST ? ENOTDIR : errno)))")
        }
        let export = RecordingExport(
            directory, information: RecordingOptions.information([]).merging(["capture": .string(path)]))
        let shown = Events(json: arguments.has("--json"))
        let reader = CaptureReader()
        let progress = ProgressBar("export", total: WholeFile.size(of: path), nil, shown)
        let cache = try ReplayCache(arguments.gattCache())
        let opened = reader.open(path)
        let result = Result { () throws(CommandError) in
            try Replay.run(
                reader, opened: opened, called: path, Events(style: .none, others: [export]), att: false, cache: cache,
                progress: { progress.update(Int(clamping: $0)) })
        }
        progress.finish()
        export.end()
        // A part of a capture would look like all of it.
        guard !Termination.shared.isRequested else {
            export.discard()
            throw CommandError(.failed, "interrupted; nothing was written")
        }
        if let failure = export.failure { throw CommandError(.failed, failure.text) }
        _ = try result.get()
        guard let made = export.path, export.samples > 0 else {
            throw CommandError(
                .failed, "\(sanitized(path)): no sample of a known device is in it",
                next: "tendon replay \(sanitized(path))")
        }
        shown.result(
            "exported", nil, ["file": .string(made), "samples": JSON(export.samples)],
            text: "\(sanitized(made)): \(export.samples) samples\n")
        return .done
    }
}
