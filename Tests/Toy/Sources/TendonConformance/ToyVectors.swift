// SPDX-License-Identifier: MIT
import CTendon
import TendonSupport

enum ToyVectors {
    static let kinds: [VectorKind] = [VectorKind("toy", "level", level)]

    @Sendable
    private static func level(_ input: JSON) throws(VectorError) -> JSON {
        let bytes = try input.bytes("hex")
        var level = tendon_toy_level()
        let status = tendon_toy_decode_level(bytes, bytes.count, &level)
        guard status >= 0 else { return ["error": .string(text(tendon_toy_status_name(status)))] }
        return ["sequence": JSON(level.sequence), "percent": JSON(level.percent)]
    }
}
