// SPDX-License-Identifier: MIT
#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Descriptors of this process that refer to a file or a directory.
public func descriptors(of file: String) -> Int {
    (0..<4096).count { number in
        var path = [CChar](repeating: 0, count: 4096)
        return readlink("/proc/self/fd/\(number)", &path, path.count - 1) > 0
            && path.withUnsafeBufferPointer { String(cString: $0.baseAddress!) } == file
    }
}
