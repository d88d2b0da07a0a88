// SPDX-License-Identifier: MIT
import CTendon
import Tendon

extension TendonError.Layer {
    /// Errors of a feelSpace belt, or of the bytes that it sent.
    public static let feelSpace = TendonError.Layer(rawValue: UInt8(TENDON_LAYER_FEELSPACE))
}
