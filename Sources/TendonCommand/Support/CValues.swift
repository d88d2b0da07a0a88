// SPDX-License-Identifier: MIT
// C arrays, texts and borrowed pointers as Swift values. Pointers of the C core stay in this file.
import CTendon
import Glibc
import Tendon

/// The first `count` elements of a C array, which Swift sees as a tuple.
func elements<Tuple, Element>(of tuple: Tuple, _ count: Int) -> [Element] {
    withUnsafeBytes(of: tuple) { bytes in
        let capacity = bytes.count / MemoryLayout<Element>.stride
        return Array(bytes.bindMemory(to: Element.self).prefix(min(count, capacity)))
    }
}

/// The same for elements whose type has no name.
func elements<Tuple, Element>(of tuple: Tuple, _ count: Int, like first: Element) -> [Element] {
    elements(of: tuple, count)
}

/// Static text of the C library.
func text(_ characters: UnsafePointer<CChar>?) -> String {
    characters.map { String(cString: $0) } ?? ""
}

/// Text in a C array, up to its terminator.
func text<Tuple>(of tuple: Tuple) -> String {
    withUnsafeBytes(of: tuple) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}

/// Walks a sensor data notification; what `body` gets is valid until it returns.
func withSensorData<Result>(
    _ bytes: [UInt8], _ information: tendon_bose_sensor_information?, _ profile: tendon_bose_profile,
    _ body: (inout tendon_bose_sensor_data) -> Result
) -> Result {
    bytes.withUnsafeBufferPointer { bytes in
        func walk(_ information: UnsafePointer<tendon_bose_sensor_information>?) -> Result {
            var data = tendon_bose_sensor_data_begin(bytes.baseAddress, bytes.count, information, profile)
            return body(&data)
        }
        guard let information else { return walk(nil) }
        return withUnsafePointer(to: information) { walk($0) }
    }
}

/// Calls `body` with a pointer to the value, or with nil.
func withOptionalPointer<Value, Result>(to value: Value?, _ body: (UnsafePointer<Value>?) -> Result) -> Result {
    guard let value else { return body(nil) }
    return withUnsafePointer(to: value) { body($0) }
}

/// Starts a thread that nobody joins.
func startThread(_ body: @escaping @Sendable () -> Void) {
    final class Start {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let start = Unmanaged.passRetained(Start(body)).toOpaque()
    let number = pthread_create(
        &thread, nil,
        { context in
            Unmanaged<Start>.fromOpaque(context!).takeRetainedValue().body()
            return nil
        }, start)
    if number == 0 { pthread_detach(thread) }
}

/// A pointer that may cross threads, for what the C core says is safe from any.
struct CSendable<Pointee>: @unchecked Sendable {
    // tendon_loop_wake() is all that is done with it on another thread.
    let value: UnsafeMutablePointer<Pointee>
    init(_ value: UnsafeMutablePointer<Pointee>) { self.value = value }
}

extension CBytes {
    /// The bytes as C characters, for as long as the object lives.
    func lendText<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        body(UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
    }
}

/// A member of a C struct, in place.
func member<Struct, Member>(
    of pointer: UnsafeMutablePointer<Struct>, _ path: KeyPath<Struct, Member>
) -> UnsafeMutablePointer<Member> {
    guard let offset = MemoryLayout<Struct>.offset(of: path) else { preconditionFailure("a stored member") }
    return (UnsafeMutableRawPointer(pointer) + offset).assumingMemoryBound(to: Member.self)
}

extension CBlock {
    /// An element of an array member, in place.
    func element<Tuple, Element>(
        _ path: KeyPath<Struct, Tuple>, _ index: Int, of type: Element.Type
    ) -> UnsafeMutablePointer<Element> {
        UnsafeMutableRawPointer(member(path)).assumingMemoryBound(to: Element.self) + index
    }
}

/// A whole file, unless it is too long.
func readFile(_ path: String, limit: Int) throws(CommandError) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw CommandError(.failed, "\(sanitized(path)): \(text(strerror(errno)))") }
    defer { close(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = read(file, &chunk, chunk.count)
        if count < 0 { throw CommandError(.failed, "\(sanitized(path)): \(text(strerror(errno)))") }
        if count == 0 { return bytes }
        bytes += chunk[..<count]
        if bytes.count > limit { throw CommandError(.failed, "\(sanitized(path)): longer than \(limit) bytes") }
    }
}
