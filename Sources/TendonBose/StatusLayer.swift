// SPDX-License-Identifier: MIT
import CTendon
import Tendon

extension TendonError.Layer {
    /// A Bose wearable, or the bytes that it sent.
    public static let bose = TendonError.Layer(rawValue: UInt8(TENDON_LAYER_BOSE))
}
