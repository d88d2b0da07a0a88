// SPDX-License-Identifier: MIT
//
// All unsafe code of this module: C memory at fixed addresses, context pointers, borrowed bytes, the loop's thread. The
// interface to the other files cannot be used out of bounds.

import CTendon

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A pointer that the C core uses, to memory that a `CBlock` or the C core owns.
package typealias CPointer<Struct> = UnsafeMutablePointer<Struct>

/// The context argument of a C callback, see `context(of:)`.
package typealias CContext = UnsafeMutableRawPointer

/// One C struct at a fixed address, zeroed. The C core keeps pointers to it while it is in use; its owner must end the
/// use before it releases the block.
package final class CBlock<Struct>: @unchecked Sendable {
    // Only an address; its owner determines who may dereference it (the loop's thread).
    package let pointer: UnsafeMutablePointer<Struct>

    package init() {
        let size = MemoryLayout<Struct>.stride
        let raw = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: MemoryLayout<Struct>.alignment)
        raw.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        pointer = raw.bindMemory(to: Struct.self, capacity: 1)
    }

    /// The struct's member at `path`, in place.
    package func member<Member>(_ path: KeyPath<Struct, Member>) -> CPointer<Member> {
        Tendon.member(pointer, path)
    }

    deinit {
        pointer.deallocate()
    }
}

/// A member of a C struct in place.
func member<Struct, Member>(_ pointer: CPointer<Struct>, _ path: KeyPath<Struct, Member>) -> CPointer<Member> {
    guard let offset = MemoryLayout<Struct>.offset(of: path) else { preconditionFailure("not a stored member") }
    return (UnsafeMutableRawPointer(pointer) + offset).assumingMemoryBound(to: Member.self)
}

/// A buffer of the same kind: bytes that the C core borrows for longer than a call.
package final class CBytes: @unchecked Sendable {
    // Filled once, then only borrowed by the C core on the loop's thread.
    package let pointer: UnsafeMutablePointer<UInt8>
    package let count: Int

    package init(_ bytes: [UInt8]) {
        count = bytes.count
        pointer = .allocate(capacity: max(bytes.count, 1))
        pointer.initialize(to: 0)
        pointer.initialize(from: bytes, count: bytes.count)
    }

    /// For functions that take characters.
    package var text: UnsafePointer<CChar> { UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self) }

    package convenience init(count: Int) {
        self.init([UInt8](repeating: 0, count: count))
    }

    deinit {
        pointer.deallocate()
    }
}

/// A table that the C core fills.
package final class CTable<Item>: @unchecked Sendable {
    // Filled on the loop's thread, read after the completion that ends the filling.
    package let pointer: UnsafeMutablePointer<Item>
    package let capacity: Int

    package init(capacity: Int) {
        self.capacity = capacity
        let size = MemoryLayout<Item>.stride * capacity
        let raw = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: MemoryLayout<Item>.alignment)
        raw.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        pointer = raw.bindMemory(to: Item.self, capacity: capacity)
    }

    package func first(_ count: Int) -> [Item] {
        Array(UnsafeBufferPointer(start: pointer, count: min(count, capacity)))
    }

    deinit {
        pointer.deallocate()
    }
}

/// Storage of a ring: `capacity` slots; the ring tracks which slots are in use.
struct RingStorage<Element> {
    private let base: UnsafeMutablePointer<Element>
    let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
        base = .allocate(capacity: capacity)
    }

    func put(_ element: consuming Element, at index: Int) {
        (base + index).initialize(to: element)
    }

    func take(at index: Int) -> Element {
        (base + index).move()
    }

    func deallocate() {
        base.deallocate()
    }
}

/// The context pointer for a C callback; the object must live as long as the callback can be called.
package func context(of object: AnyObject) -> CContext {
    Unmanaged.passUnretained(object).toOpaque()
}

package func object<Object: AnyObject>(_ type: Object.Type, _ context: CContext?) -> Object {
    Unmanaged<Object>.fromOpaque(context!).takeUnretainedValue()
}

/// As `context(of:)`, and keeps the object alive until `released(_:_:)`.
package func retainedContext(of object: AnyObject) -> CContext {
    Unmanaged.passRetained(object).toOpaque()
}

package func released<Object: AnyObject>(_ type: Object.Type, _ context: CContext?) -> Object {
    Unmanaged<Object>.fromOpaque(context!).takeRetainedValue()
}

/// A copy of bytes that a callback lends.
package func copied(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
    guard let bytes else { return [] }
    return Array(UnsafeBufferPointer(start: bytes, count: count))
}

/// The first `count` elements of a C array, which Swift sees as a tuple.
package func elements<Tuple, Element>(_ tuple: Tuple, of type: Element.Type, _ count: Int) -> [Element] {
    withUnsafeBytes(of: tuple) { Array($0.bindMemory(to: Element.self).prefix(count)) }
}

/// The first element of a C array in place.
package func first<Tuple, Element>(of tuple: CPointer<Tuple>, as type: Element.Type) -> CPointer<Element> {
    UnsafeMutableRawPointer(tuple).assumingMemoryBound(to: Element.self)
}

/// A text at a fixed address, terminated, that the C core borrows for longer than a call.
package final class CText: @unchecked Sendable {
    // Constant once made.
    package let pointer: UnsafePointer<CChar>

    package init(_ text: String) {
        let bytes = Array(text.utf8CString)
        let memory = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        memory.initialize(from: bytes, count: bytes.count)
        pointer = UnsafePointer(memory)
    }

    deinit {
        pointer.deallocate()
    }
}

/// Lends an array's bytes for a call.
package func lending<Result>(_ bytes: [UInt8], _ body: (UnsafePointer<UInt8>?, Int) -> Result) -> Result {
    bytes.withUnsafeBufferPointer { body($0.baseAddress, $0.count) }
}

/// Lends a text's UTF-8 for a call.
package func lending<Result>(_ text: String, _ body: (UnsafePointer<CChar>, Int) -> Result) -> Result {
    var text = text
    return text.withUTF8 { utf8 in
        guard let base = utf8.baseAddress else { return "".withCString { body($0, 0) } }
        return base.withMemoryRebound(to: CChar.self, capacity: utf8.count) { body($0, utf8.count) }
    }
}

/// A copy of `bytes`, to which `body` appends with a writer of the C core; and the writer's first error.
func appended(
    to bytes: [UInt8], capacity: Int, _ body: (UnsafeMutablePointer<tendon_writer>) -> Void
) -> (bytes: [UInt8], status: tendon_status) {
    var status: tendon_status = 0
    let all = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
        var writer = tendon_writer_make(buffer.baseAddress, capacity)
        lending(bytes) { tendon_write_bytes(&writer, $0, $1) }
        body(&writer)
        status = writer.status
        count = writer.length
    }
    return (all, status)
}

/// Text that C prints, terminator included, into `size` bytes.
package func printed(size: Int, _ body: (UnsafeMutablePointer<CChar>) -> Void) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { buffer in
        buffer.initialize(repeating: 0)
        body(buffer.baseAddress!)
        return String(cString: buffer.baseAddress!)
    }
}

/// The AD structures of advertising data, in order, up to the first truncated structure.
func forEachStructure(in data: [UInt8], _ body: (_ type: UInt8, _ value: [UInt8]) -> Bool) {
    lending(data) { bytes, count in
        var iterator = tendon_ad_begin(bytes, count)
        var structure = tendon_ad_structure()
        while tendon_ad_next(&iterator, &structure) {
            guard body(structure.type, copied(structure.data, structure.length)) else { return }
        }
    }
}

extension tendon_uuid {
    /// The 128 bits, most significant first.
    var words: (high: UInt64, low: UInt64) {
        withUnsafeBytes(of: bytes) {
            (
                UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }
}

extension InlineBytes {
    /// The first `count` bytes; the rest is zero.
    init(copying bytes: UnsafePointer<UInt8>, count: Int) {
        self.init()
        withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: UnsafeRawBufferPointer(start: bytes, count: count)) }
    }

    func array(_ count: Int) -> [UInt8] {
        withUnsafeBytes(of: words) { Array($0.prefix(count)) }
    }

    subscript(index: Int) -> UInt8 {
        withUnsafeBytes(of: words) { $0[index] }
    }
}

extension AttributeValue {
    /// Lends the bytes for a call, without a copy.
    public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try withUnsafeBytes(of: storage.words) { try body(UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
    }
}

#if !MainActorLoop
    extension TendonActor {
        /// Runs `body` as isolated to this actor, which the caller's thread must be: for C callbacks.
        package static func assumeIsolated<Result: Sendable>(_ body: @TendonActor () throws -> Result) rethrows
            -> Result
        {
            Loop.shared.checkIsolated()
            return try withoutActuallyEscaping(body) { escaping in
                try unsafeBitCast(escaping, to: (() throws -> Result).self)()
            }
        }
    }
#endif

/// Converts an isolated closure to one that code on the loop's thread can call.
func onLoop<Argument>(_ body: @escaping @TendonActor (Argument) -> Void) -> (Argument) -> Void {
    unsafeBitCast(body, to: ((Argument) -> Void).self)
}

func onLoop<Result>(_ body: @escaping @TendonActor () -> Result) -> () -> Result {
    unsafeBitCast(body, to: (() -> Result).self)
}

/// Number of the calling thread.
func currentThread() -> UInt {
    #if canImport(Glibc)
        pthread_self()
    #else
        UInt(bitPattern: pthread_self())
    #endif
}

/// Starts a detached thread.
package func startThread(_ body: @escaping @Sendable () -> Void) throws(TendonError) {
    final class Start {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    #if canImport(Glibc)
        var thread = pthread_t()
    #else
        var thread: pthread_t?
    #endif
    let start = retainedContext(of: Start(body))
    let number = pthread_create(
        &thread, nil,
        { context in
            released(Start.self, context).body()
            return nil
        }, start)
    guard number == 0 else {
        _ = released(Start.self, start)
        throw TendonError(status: TendonError.system(number), operation: .start)
    }
    pthread_detach(thread)
}

/// An environment variable; `nil`: it is not set.
func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

package func say(_ line: String) {
    var text = line + "\n"
    text.withUTF8 { _ = write(2, $0.baseAddress, $0.count) }
}

/// A status of the C core for people: text, name and number. A device family passes its own name and text.
package func formatted(_ status: Int32, name: String? = nil, text: String? = nil) -> String {
    let longest = Int(TENDON_STATUS_FORMAT_SIZE) + (name?.utf8.count ?? 0) + (text?.utf8.count ?? 0)
    return String(unsafeUninitializedCapacity: longest) { out in
        out.withMemoryRebound(to: CChar.self) { line in
            Int(max(0, tendon_status_format(status, name, text, line.baseAddress, line.count)))
        }
    }
}

/// The bytes of a file. Throws the system's reason; of a file that is longer than `limit`, EFBIG.
package func contents(of path: String, limit: Int) throws(TendonError) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw TendonError(status: TendonError.system(errno), operation: .read) }
    defer { close(file) }
    return try contents(of: file, limit: limit)
}

/// The rest of an open file, in the same way.
package func contents(of file: Int32, limit: Int) throws(TendonError) -> [UInt8] {
    func failure(_ number: Int32) -> TendonError { TendonError(status: TendonError.system(number), operation: .read) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= limit {
        let count = read(file, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw failure(errno) }
        guard count > 0 else { return bytes }
        bytes += buffer.prefix(count)
    }
    throw failure(EFBIG)
}
