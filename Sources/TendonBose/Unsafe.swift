// SPDX-License-Identifier: MIT
//
// All unsafe code of this module.

import CTendon
import Tendon

/// An event that the C core lends for a callback.
typealias CEvent = UnsafePointer<tendon_bose_event>

/// The session's inputs at a stable address.
let boseSessionInputs: CBlock<tendon_session_inputs> = {
    let block = CBlock<tendon_session_inputs>()
    block.pointer.pointee = tendon_bose_session_inputs
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
