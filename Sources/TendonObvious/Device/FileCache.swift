// SPDX-License-Identifier: MIT
import CTendon
import Tendon

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Images that were downloaded, and what survives a restart of the program. A folder that it makes is readable by its
/// owner only; one that others could change is not used.
package struct FileCache: Sendable {
    package let folder: String
    private var isStandard = false

    /// A folder of the application's choice.
    package init(folder: String) { self.folder = folder }

    /// Images in `$XDG_CACHE_HOME/obvious`, else `~/.cache/obvious`, else `/var/cache/tendon/obvious`; records where the C
    /// core keeps journals.
    static var standard: FileCache { standard { getenv($0).map { String(cString: $0) } } }

    /// `variable`: of the environment.
    package static func standard(_ variable: (String) -> String?) -> FileCache {
        func folder(_ name: String) -> String? { variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil } }
        let cache = folder("XDG_CACHE_HOME") ?? folder("HOME").map { $0 + "/.cache" } ?? "/var/cache/tendon"
        var standard = FileCache(folder: cache + "/obvious")
        standard.isStandard = true
        return standard
    }

    /// Makes the folder. Throws if it is not a folder of this user, or others may write to it.
    private func prepare() throws(ObviousCloudError) {
        for index in folder.indices where folder[index] == "/" && index != folder.startIndex {
            mkdir(String(folder[..<index]), 0o700)
        }
        mkdir(folder, 0o700)
        let file = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { throw ObviousCloudError(.storage, "the folder of images cannot be opened: \(folder)") }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
            throw ObviousCloudError(.storage, "others may change the folder of images: \(folder)")
        }
    }

    // MARK: Images

    /// The file of an image; its name is its hash. Next to it are the part of a download, the tag of that part, and the lock
    /// of those who use it.
    private func imagePath(_ name: String) -> String { folder + "/" + name + ".bin" }

    /// The file of an image, in a folder that is there.
    package func preparedImagePath(_ sha256: [UInt8]) throws(ObviousCloudError) -> String {
        try prepare()
        return imagePath(hexadecimal(sha256))
    }

    /// Until the result is released no one removes the files of this image, in whatever process.
    package func use(_ sha256: [UInt8]) throws(ObviousCloudError) -> ImageUse {
        try prepare()
        guard let use = ImageUse(imagePath(hexadecimal(sha256)) + ".lock") else {
            throw ObviousCloudError(.storage, "the image cannot be locked")
        }
        return use
    }

    func remove(_ path: String) { unlink(path) }

    /// Removes all files of an image that is not in use.
    func removeImage(_ sha256: [UInt8]) { removeImage(hexadecimal(sha256)) }

    /// Removes the files of all other images that are not in use: of a release that another one replaced nothing stays.
    func removeImages(except sha256: [UInt8]) {
        let own = hexadecimal(sha256)
        guard let directory = opendir(folder) else { return }
        var others: Set<String> = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            let hash = String(name.prefix(64))
            guard hash != own, hash.utf8.count == 64, name.dropFirst(64).hasPrefix(".bin"),
                hash.allSatisfy({ $0.isHexDigit })
            else { continue }
            others.insert(hash)
        }
        closedir(directory)
        for other in others { removeImage(other) }
    }

    private func removeImage(_ name: String) {
        let path = imagePath(name)
        guard let use = ImageUse(path + ".lock", isSole: true) else { return }
        for suffix in ["", ".part", ".etag", ".lock"] { unlink(path + suffix) }
        withExtendedLifetime(use) {}
    }

    // MARK: Records

    /// The journal of the C core: in the folder, or where the system keeps the state of programs.
    private var journal: tendon_journal? {
        var journal = tendon_journal()
        let status =
            isStandard
            ? tendon_journal_open(&journal, nil) : tendon_journal_open(&journal, folder + "/journal")
        return status >= 0 ? journal : nil
    }

    func record(of device: Address) -> tendon_obvious_record? { record("obvious", device) }

    /// Of a device that has no address.
    func record(of serial: UInt64) -> tendon_obvious_record? {
        let name = Self.name(serial)
        return record(name.family, name.device)
    }

    /// Returns when the record is on the disk.
    func store(_ record: tendon_obvious_record, of device: Address) -> tendon_status {
        store(record, "obvious", device)
    }

    /// Of a device that has no address.
    func store(_ record: tendon_obvious_record) -> tendon_status {
        let name = Self.name(record.serial)
        return store(record, name.family, name.device)
    }

    /// The journal names a file by six bytes: the upper two of the serial number are in the name before them, as in
    /// "obvious1122-334455667788-0".
    private static func name(_ serial: UInt64) -> (family: String, device: Address) {
        let upper = [UInt8(serial >> 56), UInt8(truncatingIfNeeded: serial >> 48)]
        return ("obvious" + hexadecimal(upper), Address(serial & 0xFFFF_FFFF_FFFF, type: .public))
    }

    private func record(_ family: String, _ device: Address) -> tendon_obvious_record? {
        guard var journal else { return nil }
        var address = device.c
        var bytes = [UInt8](repeating: 0, count: Int(TENDON_OBVIOUS_RECORD_SIZE))
        let length = tendon_journal_load(&journal, family, &address, &bytes, bytes.count)
        var record = tendon_obvious_record()
        guard length > 0, tendon_obvious_decode_record(bytes, Int(length), &record) >= 0 else { return nil }
        return record
    }

    private func store(_ record: tendon_obvious_record, _ family: String, _ device: Address) -> tendon_status {
        guard var journal else { return Int32(TENDON_ERROR_OVERFLOW) }
        var address = device.c
        var bytes = [UInt8](repeating: 0, count: Int(TENDON_OBVIOUS_RECORD_SIZE))
        withPointer(to: record) { tendon_obvious_encode_record($0, &bytes) }
        return tendon_journal_store(&journal, family, &address, bytes, bytes.count)
    }
}

/// A user of an image's files. The lock ends with the object, and with the process.
package final class ImageUse: Sendable {
    private let file: Int32

    /// `isSole`: there is no other user. `nil`: there is one, or the lock cannot be made.
    init?(_ path: String, isSole: Bool = false) {
        while true {
            let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
            guard file >= 0 else { return nil }
            var status = stat()
            // A sole user is done in a moment, so that another one waits for it.
            guard flock(file, isSole ? LOCK_EX | LOCK_NB : LOCK_SH) == 0, fstat(file, &status) == 0 else {
                close(file)
                return nil
            }
            guard status.st_nlink == 0 else {
                self.file = file
                return
            }
            // Who had it removed it: another one has its name.
            close(file)
        }
    }

    deinit { close(file) }
}

/// An image in a file.
final class FirmwareImage: Sendable {
    private let file: Int32
    let count: Int

    /// `nil`: there is no such file.
    init?(_ path: String) {
        file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return nil }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            return nil
        }
        count = Int(status.st_size)
    }

    /// A part; shorter at the end, empty if it cannot be read.
    func part(at offset: Int, count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = pread(file, &bytes, count, off_t(offset))
        return Array(bytes.prefix(max(read, 0)))
    }

    /// CRC-32 and SHA-256.
    func sums(_ cryptography: any ObviousCryptography) -> (crc32: UInt32, sha256: [UInt8]) {
        var (offset, crc) = (0, UInt32(0))
        let hash = cryptography.sha256 {
            let bytes = part(at: offset, count: 65536)
            offset += bytes.count
            crc = tendon_crc32(crc, bytes, bytes.count)
            return bytes.isEmpty ? nil : bytes
        }
        return (crc, hash)
    }

    deinit { close(file) }
}

private func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef")
    return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
}
