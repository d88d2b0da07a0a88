// SPDX-License-Identifier: MIT
// doctor --watch and --neighbors: which programs use the adapters, and whether they interfere.
import CTendon
import Tendon
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// What a capture of the kernel's monitor channel tells about the programs that use an adapter.
final class Neighbors {
    private let table = CBlock<tendon_neighbors>()

    /// Nil: the arguments ask for no such report.
    static func requested(_ arguments: Arguments) throws(CommandError) -> Neighbors? {
        let adapter = try arguments.adapter()
        if let path = arguments.value("--neighbors") {
            guard !arguments.has("--watch") else { throw .usage("--watch and --neighbors exclude each other") }
            return try Neighbors(capture: path, adapter: adapter)
        }
        guard let seconds = try arguments.seconds("--watch", in: 0.1...86400) else {
            guard adapter == nil else { throw .usage("--adapter is for --watch and --neighbors") }
            return nil
        }
        #if BlueZ || KernelSockets
            guard try arguments.radioName() != "virtual" else {
                throw .usage("--watch is for --radio bluez: the virtual radio has no adapters")
            }
            return try watched(for: UInt64(seconds * 1000), adapter: adapter)
        #else
            throw CommandError(.noRadio, "this program was built without the radio bluez", next: "--neighbors FILE")
        #endif
    }

    #if BlueZ || KernelSockets
        /// The capture is a file that only its owner can read, and that is removed.
        private static func watched(
            for milliseconds: UInt64, adapter: String?
        ) throws(CommandError) -> Neighbors {
            var template = Array("/tmp/tendon-XXXXXX".utf8CString)
            guard let made = mkdtemp(&template) else {
                throw CommandError(.failed, "a temporary directory: \(text(strerror(errno)))")
            }
            let directory = text(made)
            let path = directory + "/watch"
            defer {
                unlink(path)
                rmdir(directory)
            }
            _ = try MonitorCapture(path, adapter: adapter).run(for: milliseconds)
            return try Neighbors(capture: path, adapter: adapter)
        }
    #endif

    private init(capture path: String, adapter: String?) throws(CommandError) {
        guard adapter?.isAdapterIndex ?? true else { throw .usage("--adapter takes a name such as hci0 here") }
        let index = adapter.flatMap { UInt16($0.dropFirst(3)) } ?? UInt16(TENDON_NEIGHBORS_ALL)
        tendon_neighbors_init(table.pointer, index)
        let reader = CBlock<tendon_capture_reader>()
        var status = path.withCString { tendon_capture_open(reader.pointer, $0) }
        guard status >= 0 else { throw CommandError(file: path, status) }
        defer { tendon_capture_reader_close(reader.pointer) }
        guard reader.pointer.pointee.datalink == TENDON_CAPTURE_MONITOR else {
            throw CommandError(
                .failed, "'\(sanitized(path))' does not say which program did what", next: "btmon -w FILE")
        }
        var record = tendon_capture_record()
        repeat {
            status = tendon_capture_next(reader.pointer, &record)
            if status > 0 { tendon_neighbors_feed(table.pointer, &record) }
        } while status > 0
        guard status == 0 else { throw CommandError(file: path, status) }
    }

    /// A line for each program, and one that says what it means.
    func show(_ events: Events) -> ExitStatus {
        let found = table.pointer.pointee
        let programs: [tendon_neighbor] = elements(of: found.programs, found.count)
        for program in programs {
            let name = sanitized(text(of: program.program))
            let counts: [UInt32] = elements(of: program.actions, Int(TENDON_NEIGHBOR_ACTIONS))
            let actions = counts.enumerated().map { action, count in
                (text(tendon_neighbor_action_name(tendon_neighbor_action(UInt32(action)))), count)
            }.filter { $0.1 > 0 }
            let access = program.exclusive ? "exclusive" : program.raw ? "commands" : "management"
            let counted: JSON = .object(actions.map { JSON.Member(key: $0.0, value: JSON($0.1)) })
            let done = actions.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
            events.result(
                "neighbor", nil,
                [
                    "program": .string(name), "access": .string(access), "sockets": JSON(program.sockets),
                    "actions": counted,
                ],
                text: "   \(left(name.isEmpty ? "?" : name, 17))\(access): \(done.isEmpty ? "changed nothing" : done)\n"
            )
        }
        let interferes = tendon_neighbors_interfere(table.pointer)
        var verdict = interferes ? "NO interference: programs change the same adapter" : "ok no interference"
        if found.rejected > 0 {
            verdict +=
                "; the controller rejected \(found.rejected) command\(found.rejected == 1 ? "" : "s") (the latest: 0x"
                + String(found.rejected_opcode, radix: 16, uppercase: true) + ")"
        }
        if found.resets > 0 { verdict += "; \(found.resets) resets" }
        events.result(
            "interference", nil,
            [
                "interferes": .bool(interferes), "programs": JSON(found.count),
                "rejected_commands": JSON(found.rejected),
                "resets": JSON(found.resets),
            ],
            text: verdict + "\n")
        return interferes ? .failed : .done
    }
}
