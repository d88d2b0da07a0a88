// SPDX-License-Identifier: MIT
//
// All unsafe code of this module.

import CTendon
import Tendon

/// Events that the C core lends for a callback.
typealias CEvent = UnsafePointer<tendon_feelspace_event>
typealias CNavigationEvent = UnsafePointer<tendon_feelspace_navigation_event>

/// The session's inputs, at a stable address.
let feelspaceSessionInputs: CBlock<tendon_session_inputs> = {
    let block = CBlock<tendon_session_inputs>()
    block.pointer.pointee = tendon_feelspace_session_inputs
    return block
}()

/// Text that C lends, not terminated.
func text(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> String {
    guard let bytes else { return "" }
    return bytes.withMemoryRebound(to: UInt8.self, capacity: count) {
        String(decoding: UnsafeBufferPointer(start: $0, count: count), as: UTF8.self)
    }
}

func withPointer<Value, Result>(to value: Value, _ body: (UnsafePointer<Value>) -> Result) -> Result {
    withUnsafePointer(to: value, body)
}

/// Calls `body` with the packet that an encoder of the C core writes, and with the encoder's status.
func withPacket<Result>(
    _ encode: (UnsafeMutablePointer<UInt8>, Int) -> tendon_status,
    _ use: (UnsafePointer<UInt8>, tendon_status) -> Result
) -> Result {
    let size = Int(TENDON_FEELSPACE_PACKET_MAX)
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: size) { buffer in
        buffer.initialize(repeating: 0)
        let status = encode(buffer.baseAddress!, size)
        return use(UnsafePointer(buffer.baseAddress!), status)
    }
}

/// Lends floats for a call.
func lending<Result>(_ values: [Float], _ body: (UnsafePointer<Float>?) -> Result) -> Result {
    values.withUnsafeBufferPointer { body($0.baseAddress) }
}
