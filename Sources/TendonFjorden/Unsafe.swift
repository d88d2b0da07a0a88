// SPDX-License-Identifier: MIT
//
// All unsafe code of this module.

import CTendon
import Tendon

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A notice that the C core lends for a callback.
typealias CNotice = UnsafePointer<tendon_fjorden_session_event>

/// The session's inputs at a stable address.
let fjordenSessionInputs: CBlock<tendon_session_inputs> = {
    let block = CBlock<tendon_session_inputs>()
    block.pointer.pointee = tendon_fjorden_session_inputs
    return block
}()

/// Text that C lends, not terminated.
func text(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> String {
    guard let bytes else { return "" }
    return bytes.withMemoryRebound(to: UInt8.self, capacity: count) {
        String(decoding: UnsafeBufferPointer(start: $0, count: count), as: UTF8.self)
    }
}

func withPointer<Value, Result>(to value: inout Value, _ body: (UnsafePointer<Value>) -> Result) -> Result {
    withUnsafePointer(to: &value, body)
}

/// The terminated text in a C array.
func text<Tuple>(in tuple: Tuple) -> String {
    withUnsafeBytes(of: tuple) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}

/// Writes a text into a C array, terminated; truncated between characters if it is too long.
func write<Tuple>(_ text: String, to tuple: inout Tuple) {
    withUnsafeMutableBytes(of: &tuple) { bytes in
        var text = text
        while text.utf8.count >= bytes.count { text.removeLast() }
        for index in bytes.indices { bytes[index] = 0 }
        bytes.copyBytes(from: text.utf8)
    }
}

/// The elements of a C array in place.
func withElements<Tuple, Element>(
    of tuple: inout Tuple, _ type: Element.Type, _ body: (UnsafeMutableBufferPointer<Element>) -> Void
) {
    withUnsafeMutableBytes(of: &tuple) { body($0.bindMemory(to: Element.self)) }
}

/// Replaces a file with a new one; creates its folders.
func replace(_ path: String, with text: String) {
    for index in path.indices where path[index] == "/" && index != path.startIndex {
        mkdir(String(path[..<index]), 0o700)
    }
    let fresh = path + ".new"
    let file = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    let bytes = Array(text.utf8)
    let written = bytes.isEmpty ? 0 : put(file, bytes, bytes.count)
    let isWhole = written == bytes.count && fsync(file) == 0
    close(file)
    guard isWhole, rename(fresh, path) == 0 else {
        unlink(fresh)
        return
    }
}

/// The system's `write()`, whose name this module uses for text.
private func put(_ file: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    #if canImport(Glibc)
        Glibc.write(file, bytes, count)
    #else
        Musl.write(file, bytes, count)
    #endif
}

extension TendonError {
    /// The program lacks a capability, or the permission to use a file or a socket.
    var isPermission: Bool {
        switch status {
        case Int32(TENDON_RADIO_ERROR_NO_CAP_NET_RAW), Int32(TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN),
            Int32(TENDON_ERROR_FILE_PERMISSION):
            true
        default: layer == .system && (Int32(code) == EPERM || Int32(code) == EACCES)
        }
    }
}
