// SPDX-License-Identifier: MIT
//
// All unsafe code of this module, besides that of locked memory.

import CTendon
import Tendon

/// The manager's inputs at a stable address.
let obviousManagerInputs: CBlock<tendon_session_inputs> = {
    let block = CBlock<tendon_session_inputs>()
    block.pointer.pointee = tendon_obvious_manager_inputs
    return block
}()

/// Lends a value for a call.
func withPointer<Value, Result>(to value: Value, _ body: (UnsafePointer<Value>) -> Result) -> Result {
    withUnsafePointer(to: value, body)
}

/// Copies bytes into a C array; those that do not fit are left out, and the rest of the array stays.
func copy<Tuple>(_ bytes: [UInt8], to tuple: inout Tuple) {
    withUnsafeMutableBytes(of: &tuple) { $0.copyBytes(from: bytes.prefix($0.count)) }
}

/// Copies bytes to `count` bytes that C lends; those that are missing are zero.
func write(_ bytes: [UInt8], to out: UnsafeMutablePointer<UInt8>?, count: Int) {
    guard let out else { return }
    for index in 0..<count { out[index] = index < bytes.count ? bytes[index] : 0 }
}
