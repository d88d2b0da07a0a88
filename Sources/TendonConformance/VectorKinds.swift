// SPDX-License-Identifier: MIT
// Every kind of vector: one row per family and kind.
import TendonSupport

/// Why a value cannot be computed, as a result.
struct VectorError: Error {
    let name: String
    let detail: String?

    init(_ name: String, _ detail: String? = nil) {
        self.name = name
        self.detail = detail
    }

    var json: JSON {
        var result: JSON = ["error": .string(name)]
        if let detail { result["detail"] = .string(detail) }
        return result
    }
}

/// One kind of value of a family.
struct VectorKind: Sendable {
    let family: String
    let kind: String
    /// Inputs to what a vector's `expect` holds. Errors of the value are part of the result.
    let compute: @Sendable (_ input: JSON) throws(VectorError) -> JSON

    init(
        _ family: String, _ kind: String, _ compute: @escaping @Sendable (JSON) throws(VectorError) -> JSON
    ) {
        self.family = family
        self.kind = kind
        self.compute = compute
    }
}

/// The table. A new family adds its list here.
let vectorKinds: [VectorKind] =
    BoseVectors.kinds
    + FeelspaceVectors.kinds
    + Activ5Vectors.kinds
    + FjordenVectors.kinds
    + ObviousVectors.kinds

extension JSON {
    /// The bytes of a member in hexadecimal.
    func bytes(_ key: String) throws(VectorError) -> [UInt8] {
        guard let member = self[key] else { throw VectorError("missing_input", "'\(key)' is missing") }
        guard let text = member.string else { throw VectorError("bad_input", "'\(key)' is not a string") }
        let isHex = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
        }
        guard isHex, let bytes = parseHex(text) else {
            throw VectorError("bad_hex", "'\(key)' is not an even number of hexadecimal digits")
        }
        return bytes
    }
}

/// The result line of a vector. Never fails: a malformed line is a result.
func answer(toVector line: [UInt8]) -> JSON {
    let vector: JSON
    do {
        vector = try JSON(parsingVector: line)
    } catch {
        return VectorError("bad_json", error.text).json
    }
    do {
        return try compute(vector)
    } catch {
        return error.json
    }
}

private func compute(_ vector: JSON) throws(VectorError) -> JSON {
    guard case .object = vector else { throw VectorError("bad_vector", "a vector is an object") }
    guard let family = vector["family"]?.string else { throw VectorError("missing_input", "'family' is missing") }
    guard let kind = vector["kind"]?.string else { throw VectorError("missing_input", "'kind' is missing") }
    let rows = vectorKinds.filter { $0.family == family }
    guard !rows.isEmpty else { throw VectorError("unknown_family") }
    guard let row = rows.first(where: { $0.kind == kind }) else { throw VectorError("unknown_kind") }
    return try row.compute(vector)
}
