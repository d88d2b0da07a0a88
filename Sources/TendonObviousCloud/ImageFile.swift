// SPDX-License-Identifier: MIT
#if ObviousCloud
    import CTendon
    import TendonObvious

    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    /// The file of a download: a part that grows to its announced size and then takes its name. Beside the part is the entity
    /// tag of the answer that it is from: without it nothing is continued.
    final class ImageFile: @unchecked Sendable {
        // Used by one task, and by the engine's thread while that task waits for a transfer.
        private let path: String
        private let size: Int
        private let file: Int32
        private let progress: (@Sendable (Int) -> Void)?
        private(set) var count = 0
        private(set) var entityTag = ""
        private var answerHasBegun = false

        private var partPath: String { path + ".part" }
        private var tagPath: String { path + ".etag" }

        init(path: String, size: Int, progress: (@Sendable (Int) -> Void)?) throws(ObviousCloudError) {
            self.path = path
            self.size = size
            self.progress = progress
            file = open(path + ".part", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
            guard file >= 0 else { throw Self.failed }
            var status = stat()
            // All members are set: what is thrown from here releases the object, which closes the file.
            guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw Self.failed }
            entityTag = readTag()
            count = entityTag.isEmpty || Int(status.st_size) > size ? 0 : Int(status.st_size)
        }

        static let failed = ObviousCloudError(.storage, "the image cannot be written")

        var isComplete: Bool { count == size }

        /// Headers that continue the part.
        var rangeHeaders: [String] {
            count == 0 ? [] : ["Range: bytes=\(count)-", "If-Range: \(entityTag)"]
        }

        func prepareForAnswer() { answerHasBegun = false }

        /// Before the first byte of an answer's body. A whole image replaces the part.
        func beginAnswer(isPart: Bool, rangeStart: Int?, entityTag tag: String) throws(TransferFailure) {
            guard !answerHasBegun else { return }
            answerHasBegun = true
            if isPart {
                guard rangeStart == count, count > 0 else { throw .wrongRange }
                return
            }
            try startOver()
            entityTag = Self.isStrong(tag) ? tag : ""
            guard writeTag() else { throw .storage }
        }

        /// Empties the part.
        func startOver() throws(TransferFailure) {
            guard ftruncate(file, 0) == 0 else { throw .storage }
            (count, entityTag) = (0, "")
            unlink(tagPath)
        }

        func append(_ bytes: UnsafeRawBufferPointer) throws(TransferFailure) {
            guard bytes.count <= size - count else { throw .tooLarge }
            var rest = bytes
            while let base = rest.baseAddress, !rest.isEmpty {
                let written = pwrite(file, base, rest.count, off_t(count))
                guard written > 0 else { throw .storage }
                count += written
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
            }
            progress?(count)
        }

        /// Gives the part its name.
        func complete() throws(ObviousCloudError) {
            guard ftruncate(file, off_t(size)) == 0, rename(partPath, path) == 0 else { throw Self.failed }
            unlink(tagPath)
        }

        deinit {
            if file >= 0 { close(file) }
        }

        /// RFC 9110 section 8.8.3: a weak tag (W/) does not serve If-Range.
        private static func isStrong(_ tag: String) -> Bool {
            let bytes = Array(tag.utf8)
            let quote = UInt8(ascii: "\"")
            return (2...200).contains(bytes.count) && bytes.first == quote && bytes.last == quote
                && bytes.dropFirst().dropLast().allSatisfy { (0x21...0x7E).contains($0) && $0 != quote }
        }

        private func readTag() -> String {
            let tagFile = open(tagPath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard tagFile >= 0 else { return "" }
            defer { close(tagFile) }
            var bytes = [UInt8](repeating: 0, count: 256)
            let length = read(tagFile, &bytes, bytes.count)
            let tag = String(decoding: bytes.prefix(max(length, 0)), as: UTF8.self)
            return Self.isStrong(tag) ? tag : ""
        }

        /// Before the first byte of the part: after a power cut there is no part without its tag.
        private func writeTag() -> Bool {
            guard !entityTag.isEmpty else { return true }
            let tagFile = open(tagPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard tagFile >= 0 else { return false }
            defer { close(tagFile) }
            let bytes = Array(entityTag.utf8)
            return write(tagFile, bytes, bytes.count) == bytes.count
        }
    }
#endif
