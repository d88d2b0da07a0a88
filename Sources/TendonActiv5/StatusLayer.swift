// SPDX-License-Identifier: MIT
import CTendon
import Tendon

extension TendonError.Layer {
    /// An Activ5 trainer, or the bytes that it sent.
    public static let activ5 = TendonError.Layer(rawValue: UInt8(TENDON_LAYER_ACTIV5))
}
