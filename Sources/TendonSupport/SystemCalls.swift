// SPDX-License-Identifier: MIT
// System calls by names that no method hides.
#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// write(2)
package func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}

/// read(2)
package func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, bytes, count)
}

/// close(2)
package func systemClose(_ descriptor: Int32) {
    close(descriptor)
}
