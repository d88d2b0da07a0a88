// SPDX-License-Identifier: MIT
import CTendon
import Tendon

extension TendonError.Layer {
    /// A Fjorden grip, or the bytes that it sent.
    public static let fjorden = TendonError.Layer(rawValue: UInt8(TENDON_LAYER_FJORDEN))
}
