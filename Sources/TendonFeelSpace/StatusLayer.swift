// SPDX-License-Identifier: MIT
import CTendon
import Tendon

extension TendonError.Layer {
    /// A feelSpace belt, or the bytes that it sent.
    public static let feelSpace = TendonError.Layer(rawValue: UInt8(TENDON_LAYER_FEELSPACE))
}
