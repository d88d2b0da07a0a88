// SPDX-License-Identifier: MIT
import CTendon
import Tendon

extension TendonError.Layer {
    /// An Obvious device, or the bytes that it sent.
    public static let obvious = TendonError.Layer(rawValue: UInt8(TENDON_LAYER_OBVIOUS))
}
