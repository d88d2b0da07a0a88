// SPDX-License-Identifier: MIT
//
// Memory for card data, and all unsafe code of it. Its interface cannot be used out of bounds.

import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A region that is never swapped and never in a core dump, and that is wiped before it is released.
package final class LockedMemory: @unchecked Sendable {
    // The region is used only under `state`'s lock, except by `copy(from:to:count:)`: see there.
    private let base: UnsafeMutableRawPointer
    package let capacity: Int
    private let state = Mutex(0)

    /// Bytes written so far.
    package var count: Int { state.withLock { $0 } }

    /// Throws `storage` if the system does not permit it: card data does not go anywhere else.
    ///
    /// `lock`: mlock(2), which tests replace.
    package init(
        capacity: Int, lock: (UnsafeRawPointer, Int) -> Int32 = { mlock($0, $1) }
    ) throws(ObviousCloudError) {
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        let size = (capacity + page - 1) / page * page
        let region = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let region, region != MAP_FAILED else { throw Self.unavailable }
        guard lock(region, size) == 0, madvise(region, size, MADV_DONTDUMP) == 0 else {
            munmap(region, size)
            throw Self.unavailable
        }
        _ = madvise(region, size, MADV_DONTFORK)
        base = region
        self.capacity = size
    }

    private static let unavailable = ObviousCloudError(.storage, "memory for card data cannot be locked")

    /// Appends bytes; false: no space, nothing was appended.
    package func append(_ bytes: some Sequence<UInt8>) -> Bool {
        state.withLock { count in
            var end = count
            for byte in bytes {
                guard end < capacity else {
                    explicit_bzero(base + count, end - count)
                    return false
                }
                base.storeBytes(of: byte, toByteOffset: end, as: UInt8.self)
                end += 1
            }
            count = end
            return true
        }
    }

    /// Lends the bytes for a call.
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        state.withLock { body(UnsafeRawBufferPointer(start: base, count: $0)) }
    }

    /// Forgets the bytes from `count` on.
    package func truncate(to count: Int) {
        state.withLock { current in
            guard count < current else { return }
            explicit_bzero(base + count, current - count)
            current = count
        }
    }

    /// Forgets everything, now.
    package func wipe() {
        state.withLock { count in
            explicit_bzero(base, capacity)
            count = 0
        }
    }

    deinit {
        explicit_bzero(base, capacity)
        munlock(base, capacity)
        munmap(base, capacity)
    }
}
