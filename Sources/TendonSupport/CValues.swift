// SPDX-License-Identifier: MIT
// C arrays, texts and borrowed pointers as Swift values.
import CTendon

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// The first `count` elements of a C array, which Swift sees as a tuple.
package func elements<Tuple, Element>(of tuple: Tuple, _ count: Int) -> [Element] {
    withUnsafeBytes(of: tuple) { bytes in
        let capacity = bytes.count / MemoryLayout<Element>.stride
        return Array(bytes.bindMemory(to: Element.self).prefix(min(count, capacity)))
    }
}

/// The same for elements whose type has no name.
package func elements<Tuple, Element>(of tuple: Tuple, _ count: Int, like first: Element) -> [Element] {
    elements(of: tuple, count)
}

/// Static text of the C library.
package func text(_ characters: UnsafePointer<CChar>?) -> String {
    characters.map { String(cString: $0) } ?? ""
}

/// Text in a C array, up to its terminator.
package func text<Tuple>(of tuple: Tuple) -> String {
    withUnsafeBytes(of: tuple) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}

/// Walks a sensor data notification; what `body` gets is valid until it returns.
package func withSensorData<Result>(
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
package func withOptionalPointer<Value, Result>(to value: Value?, _ body: (UnsafePointer<Value>?) -> Result) -> Result {
    guard let value else { return body(nil) }
    return withUnsafePointer(to: value) { body($0) }
}

/// A member of a C struct, in place.
package func member<Struct, Member>(
    of pointer: UnsafeMutablePointer<Struct>, _ path: KeyPath<Struct, Member>
) -> UnsafeMutablePointer<Member> {
    guard let offset = MemoryLayout<Struct>.offset(of: path) else { preconditionFailure("a stored member") }
    return (UnsafeMutableRawPointer(pointer) + offset).assumingMemoryBound(to: Member.self)
}

/// Starts a detached thread. Returns 0, or the error number if the system does not permit another one.
package func startThread(_ body: @escaping @Sendable () -> Void) -> Int32 {
    final class Start {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    #if canImport(Glibc)
        var thread = pthread_t()
    #else
        var thread: pthread_t?
    #endif
    let start = Unmanaged.passRetained(Start(body)).toOpaque()
    let number = pthread_create(
        &thread, nil,
        { context in
            Unmanaged<Start>.fromOpaque(context!).takeRetainedValue().body()
            return nil
        }, start)
    guard number == 0 else {
        Unmanaged<Start>.fromOpaque(start).release()
        return number
    }
    pthread_detach(thread)
    return 0
}
