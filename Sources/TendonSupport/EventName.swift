// SPDX-License-Identifier: MIT
// The name of an event, in the seam and on the way to it.

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Text that lasts as long as the process: a literal, or a name of the C library's tables. So no line makes a String.
package struct EventName: ExpressibleByStringLiteral, CustomStringConvertible, @unchecked Sendable {
    // Never written, never freed.
    private let start: UnsafePointer<UInt8>
    package let utf8CodeUnitCount: Int

    package init(stringLiteral literal: StaticString) {
        (start, utf8CodeUnitCount) = (literal.utf8Start, literal.utf8CodeUnitCount)
    }

    /// - Parameter lasting: with a terminator; valid as long as the process.
    package init(lasting: UnsafePointer<CChar>) {
        start = UnsafeRawPointer(lasting).assumingMemoryBound(to: UInt8.self)
        utf8CodeUnitCount = strlen(lasting)
    }

    /// The same with its terminator, which literals have as well.
    package var cString: UnsafePointer<CChar> { UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self) }

    package func withUTF8Buffer<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        body(UnsafeBufferPointer(start: start, count: utf8CodeUnitCount))
    }

    package var description: String { withUTF8Buffer { String(decoding: $0, as: UTF8.self) } }

    /// Compares without a String.
    package func isEqual(to other: EventName) -> Bool {
        guard utf8CodeUnitCount == other.utf8CodeUnitCount else { return false }
        return withUTF8Buffer { one in other.withUTF8Buffer { two in one.elementsEqual(two) } }
    }
}
