// SPDX-License-Identifier: MIT

/// Random numbers that a seed repeats: a linear congruential generator, of which the upper 31 bits are used.
public struct Dice {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }

    /// 0 to `sides` - 1.
    public mutating func roll(_ sides: Int) -> Int { Int(next()) % sides }
}
