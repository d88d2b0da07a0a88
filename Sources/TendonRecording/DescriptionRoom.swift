// SPDX-License-Identifier: MIT
// Room for the description on a disk that is full of rows: it is the description that says what is missing.
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A file without content that has blocks of the disk, which the description gets when there are no others. Used by one thread.
struct DescriptionRoom {
    private let path: String
    /// Bytes, at least: descriptions of a few devices, with some hundred gaps. Our design.
    private static let smallest = 1 << 14

    /// Bytes: the blocks of most file systems.
    private static let step = 1 << 12

    static let name = "session.room"

    init(in folder: String) { path = folder + "/" + DescriptionRoom.name }

    /// Calls `write`, which returns an error number; again with the room if the disk is full.
    func used(_ write: () -> Int32) -> Int32 {
        let error = write()
        guard error == ENOSPC || error == EDQUOT, unlink(path) == 0 else { return error }
        return write()
    }

    /// Keeps room for another description of `count` bytes, which may be twice as large; on a disk that is nearly full, for
    /// one as large.
    func keep(for count: Int) {
        let wanted = max(DescriptionRoom.smallest, 2 * count)
        guard WholeFile.size(of: path) < wanted else { return }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        defer { systemClose(descriptor) }
        for size in stride(from: wanted, through: count, by: -DescriptionRoom.step)
        where posix_fallocate(descriptor, 0, off_t(size)) == 0 { return }
        unlink(path)
    }

    func giveBack() { unlink(path) }
}
