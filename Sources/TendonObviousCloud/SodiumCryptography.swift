// SPDX-License-Identifier: MIT
#if ObviousCloud
    import CSystemSodium
    import TendonObvious

    /// Ed25519 and SHA-256 of libsodium.
    ///
    /// ```swift
    /// ObviousCloud.install(ObviousTrust(keys: keys, cryptography: SodiumCryptography()))
    /// ```
    public struct SodiumCryptography: ObviousCryptography {
        /// The functions of the library that the program is linked with.
        public init() {}

        public func isValid(signature: [UInt8], of message: [UInt8], publicKey: [UInt8]) -> Bool {
            guard signature.count == Int(crypto_sign_ed25519_BYTES),
                publicKey.count == Int(crypto_sign_ed25519_PUBLICKEYBYTES)
            else { return false }
            return crypto_sign_ed25519_verify_detached(signature, message, UInt64(message.count), publicKey) == 0
        }

        public func sha256(_ part: () -> [UInt8]?) -> [UInt8] {
            var state = crypto_hash_sha256_state()
            crypto_hash_sha256_init(&state)
            while let bytes = part() { crypto_hash_sha256_update(&state, bytes, UInt64(bytes.count)) }
            var hash = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
            crypto_hash_sha256_final(&state, &hash)
            return hash
        }
    }
#endif
