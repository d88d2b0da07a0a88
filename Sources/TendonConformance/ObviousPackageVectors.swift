// SPDX-License-Identifier: MIT
// Obvious devices: signed packages and manifests, with the Ed25519 and SHA-256 of libsodium.
import CSystemSodium
import CTendon
import TendonSupport

extension ObviousVectors {
    /// libsodium behind the functions that the C core calls.
    private static var crypto: tendon_obvious_crypto {
        tendon_obvious_crypto(
            verify: { _, key, domain, domainLength, data, length, signature in
                let message =
                    Array(UnsafeBufferPointer(start: domain, count: domainLength))
                    + Array(UnsafeBufferPointer(start: data, count: length))
                return crypto_sign_ed25519_verify_detached(signature!, message, UInt64(message.count), key!) == 0
            },
            sha256: { _, data, length, out in _ = crypto_hash_sha256(out!, data, UInt64(length)) },
            context: nil)
    }

    /// {"1": "50c6..."}
    private static func keys(in state: JSON) throws(VectorError) -> [tendon_obvious_key] {
        guard case .object(let members)? = state["keys"] else { throw VectorError("missing_input", "'keys'") }
        var keys: [tendon_obvious_key] = []
        for member in members {
            guard let id = UInt8(member.key), let hex = member.value.string, let bytes = parseHex(hex),
                bytes.count == Int(TENDON_OBVIOUS_KEY_SIZE)
            else { throw VectorError("bad_input", "'keys'") }
            var key = tendon_obvious_key()
            key.id = id
            withUnsafeMutableBytes(of: &key.bytes) { $0.copyBytes(from: bytes) }
            keys.append(key)
        }
        return keys
    }

    private static func state(_ input: JSON) throws(VectorError) -> JSON {
        guard let state = input["state"] else { throw VectorError("missing_input", "'state' is missing") }
        return state
    }

    /// A decimal string.
    private static func long(_ key: String, in state: JSON) throws(VectorError) -> UInt64 {
        guard let number = UInt64(try string(key, in: state)) else {
            throw VectorError("bad_input", "'\(key)' is not a decimal number of 64 bits")
        }
        return number
    }

    /// {"16": [enable, toggle, value]}, ordered by id.
    private static func features(in state: JSON) throws(VectorError) -> [tendon_simulated_obvious_feature] {
        guard case .object(let members)? = state["features"] else { throw VectorError("missing_input", "'features'") }
        var features: [tendon_simulated_obvious_feature] = []
        for member in members {
            let values = member.value.array?.compactMap(\.integer) ?? []
            guard let id = UInt16(member.key), values.count == 3, let enable = UInt8(exactly: values[0]),
                let toggle = UInt8(exactly: values[1]), let value = UInt32(exactly: values[2])
            else { throw VectorError("bad_input", "'features'") }
            features.append(tendon_simulated_obvious_feature(id: id, enable: enable, toggle: toggle, value: value))
        }
        return features.sorted { $0.id < $1.id }
    }

    private static func json(_ features: some Sequence<tendon_simulated_obvious_feature>) -> JSON {
        .object(
            features.map {
                JSON.Member(key: String($0.id), value: [JSON($0.enable), JSON($0.toggle), JSON($0.value)])
            })
    }

    @Sendable static func package(_ input: JSON) throws(VectorError) -> JSON {
        let bytes = try input.bytes("hex")
        let given = try state(input)
        let keys = try keys(in: given)
        let known = try features(in: given)
        let counter = try long("counter", in: given)
        let lastHash = try given.bytes("last_hash")
        let nonce = try given.bytes("nonce")
        guard lastHash.isEmpty || lastHash.count == Int(TENDON_OBVIOUS_SHA256_SIZE),
            nonce.count == Int(TENDON_OBVIOUS_NONCE_SIZE)
        else { throw VectorError("bad_input", "a hash has 32 bytes, a nonce 16") }
        var expected = tendon_obvious_package_state()
        expected.product = try number("product", in: given)
        expected.fw = try number("fw", in: given)
        expected.serial = try long("serial", in: given)
        expected.counter = counter
        return bytes.withUnsafeBufferPointer { bytes in
            keys.withUnsafeBufferPointer { keys in
                lastHash.withUnsafeBufferPointer { lastHash in
                    nonce.withUnsafeBufferPointer { nonce in
                        var ring = tendon_obvious_key_ring(keys: keys.baseAddress, count: keys.count, crypto: crypto)
                        expected.last_sha256 = lastHash.isEmpty ? nil : lastHash.baseAddress
                        expected.nonce = nonce.allSatisfy { $0 == 0 } ? nil : nonce.baseAddress
                        var package = tendon_obvious_package()
                        let status = tendon_obvious_verify_package(
                            bytes.baseAddress, bytes.count, &ring, &expected, &package)
                        guard status >= 0 else { return failure(status) }
                        if status == tendon_status(TENDON_OBVIOUS_ALREADY_APPLIED) {
                            return [
                                "status": "ALREADY_APPLIED", "counter": .string(String(counter)),
                                "features": json(known),
                            ]
                        }
                        var after = [tendon_simulated_obvious_feature](
                            repeating: .init(), count: known.count + Int(package.count))
                        let count = tendon_simulated_obvious_apply(&package, known, known.count, &after, after.count)
                        guard count >= 0 else { return failure(count) }
                        return [
                            "status": "OK", "counter": .string(String(package.counter)),
                            "features": json(after.prefix(Int(count))),
                        ]
                    }
                }
            }
        }
    }

    @Sendable static func manifest(_ input: JSON) throws(VectorError) -> JSON {
        let bytes = try input.bytes("hex")
        let given = try state(input)
        let keys = try keys(in: given)
        var expected = tendon_obvious_manifest_state()
        expected.product = try number("product", in: given)
        expected.current = try number("current", in: given)
        expected.epoch = try number("epoch", in: given)
        let image: [UInt8]? = input["image"] == nil || input["image"] == .null ? nil : try input.bytes("image")
        var manifest = tendon_obvious_manifest()
        var status = keys.withUnsafeBufferPointer { keys in
            var ring = tendon_obvious_key_ring(keys: keys.baseAddress, count: keys.count, crypto: crypto)
            return tendon_obvious_verify_manifest(bytes, bytes.count, &ring, &expected, &manifest)
        }
        if status >= 0, let image {
            var hash = [UInt8](repeating: 0, count: Int(TENDON_OBVIOUS_SHA256_SIZE))
            _ = crypto_hash_sha256(&hash, image, UInt64(image.count))
            status = tendon_obvious_check_image(
                &manifest, UInt64(image.count), tendon_crc32(0, image, image.count), hash)
        }
        return status < 0 ? failure(status) : ["status": "OK"]
    }
}
