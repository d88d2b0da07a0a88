// SPDX-License-Identifier: MIT
// Flash memory of a simulated device whose content is in a file, so that the device survives its process.
import CTendon
import Tendon
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A flash memory; with a file every change is written through to it.
final class FlashFile: @unchecked Sendable {
    // Used on the simulator's thread only.
    let flash = CBlock<tendon_simulated_flash>()
    private let memory: CBytes
    private let path: String?
    private var descriptor: Int32 = -1
    private var hasFailed = false

    /// A new file becomes a new chip. Throws if the file is of another size, or in use.
    init(_ path: String?, pageSize: UInt32, size: UInt32) throws(CommandError) {
        self.path = path
        memory = CBytes(count: Int(size))
        guard tendon_simulated_flash_init(flash.pointer, memory.pointer, size, pageSize) >= 0 else {
            throw CommandError(.failed, "the flash memory cannot have \(size) bytes")
        }
        tendon_simulated_flash_blank(flash.pointer)
        guard let path else { return }
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0o600)
        guard descriptor >= 0 else { throw failure() }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw CommandError(.failed, "--flash \(sanitized(path)): another simulated device uses this file")
        }
        try load(path)
        flash.pointer.pointee.context = context(of: self)
        flash.pointer.pointee.changed = { context, at, bytes, length in
            object(FlashFile.self, context).write(bytes, Int(length), at: Int(at))
        }
    }

    deinit {
        if descriptor >= 0 { systemClose(descriptor) }
    }

    private func load(_ path: String) throws(CommandError) {
        let length = lseek(descriptor, 0, SEEK_END)
        if length == 0 {
            guard pwrite(descriptor, memory.pointer, memory.count, 0) == memory.count else { throw failure() }
            return
        }
        guard length == memory.count else {
            throw CommandError(
                .failed,
                "--flash \(sanitized(path)): not the flash memory of such a device: \(length) bytes, "
                    + "not \(memory.count)", next: "--flash with the name of a new file")
        }
        guard pread(descriptor, memory.pointer, memory.count, 0) == memory.count else { throw failure() }
    }

    private func failure() -> CommandError {
        CommandError(.failed, "--flash \(sanitized(path ?? "")): \(text(strerror(errno)))")
    }

    /// A part that cannot be written is as after a power cut; the first one is reported.
    private func write(_ bytes: UnsafePointer<UInt8>?, _ count: Int, at offset: Int) {
        guard let bytes, pwrite(descriptor, bytes, count, off_t(offset)) != count, !hasFailed else { return }
        hasFailed = true
        Output.error.line("tendon: " + failure().message)
    }
}
