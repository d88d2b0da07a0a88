// SPDX-License-Identifier: MIT
//
// Packages and manifests by the tables of docs/protocols/obvious.md, signed with a key of the tests.
#if ObviousCloud
    import CSystemSodium
    import Glibc
    import TendonObvious
    import TendonObviousCloud

    /// A key pair; its number is 1, its product "1234".
    public struct Signer: Sendable {
        private let secret: [UInt8]
        public let key: ObviousKey
        public var trust: ObviousTrust { ObviousTrust(keys: [key], cryptography: SodiumCryptography()) }

        /// Of a seed: the bytes 0 to 31, unless another first byte is given.
        public init(_ first: UInt8 = 0, productId: String = "1234") {
            precondition(sodium_init() >= 0)
            let seed = [first] + (1..<32).map { UInt8($0) }
            var publicKey = [UInt8](repeating: 0, count: 32)
            var secret = [UInt8](repeating: 0, count: 64)
            crypto_sign_ed25519_seed_keypair(&publicKey, &secret, seed)
            self.secret = secret
            key = ObviousKey(productId: productId, id: 1, bytes: publicKey)!
        }

        private func signed(_ domain: String, _ bytes: [UInt8]) -> [UInt8] {
            var signature = [UInt8](repeating: 0, count: 64)
            let message = Array(domain.utf8) + [0] + bytes
            crypto_sign_ed25519_detached(&signature, nil, message, UInt64(message.count), secret)
            return bytes + signature
        }

        /// An entry: feature, bought, switch (3: as it is).
        public struct Entry: Sendable {
            let id: UInt16
            let enable: UInt8
            let toggle: UInt8

            public init(_ id: Int, on isEnabled: Bool = true, toggle: UInt8 = 3) {
                (self.id, enable, self.toggle) = (UInt16(id), isEnabled ? 1 : 0, toggle)
            }
        }

        /// OFP1. `kind`: 1 full, 2 delta, 3 clear, 4 provision; `reboots`: the device restarts afterwards.
        public func package(
            _ entries: [Entry] = [], kind: UInt8 = 1, counter: UInt64, serial: UInt64 = 0x1122_3344_5566_7788,
            product: UInt32 = 1234, nonce: [UInt8]? = nil, reboots: Bool = false
        ) -> FeaturePackage {
            var bytes = Array("OFP1".utf8) + [1, kind, key.id, (nonce == nil ? 0 : 1) | (reboots ? 2 : 0)]
            bytes += little(product) + little(serial) + little(counter) + little(UInt64(1_700_000_000))
            bytes += nonce ?? [UInt8](repeating: 0, count: 16)
            bytes += little(UInt32(0)) + little(UInt16(entries.count)) + little(UInt16(8))
            for entry in entries { bytes += little(entry.id) + [entry.enable, entry.toggle] + little(UInt32(0)) }
            let whole = signed("OBVIOUS-OFP1", bytes)
            return FeaturePackage(bytes: whole, counter: counter, sha256: sha256(whole))
        }

        /// OFM1, for every present version.
        public func manifest(
            of image: [UInt8], version: UInt32, product: UInt32 = 1234, epoch: UInt32 = 0
        ) -> [UInt8] {
            var bytes = Array("OFM1".utf8) + [1, key.id, 0, 0] + little(product) + little(version)
            bytes += little(UInt32(0)) + little(UInt32(999_999_999)) + little(UInt32(image.count))
            bytes += little(crc32(image)) + sha256(image) + little(epoch) + little(UInt32(0))
            return signed("OBVIOUS-OFM1", bytes)
        }
    }

    public func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: 32)
        crypto_hash_sha256(&hash, bytes, UInt64(bytes.count))
        return hash
    }

    /// Replaces a file; false: it cannot be written.
    public func write(_ bytes: [UInt8], to path: String) -> Bool {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        defer { close(file) }
        return Glibc.write(file, bytes, bytes.count) == bytes.count
    }

    /// The CRC-32 of the specification, bit by bit.
    public func crc32(_ bytes: [UInt8]) -> UInt32 {
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0xEDB8_8320 }
        }
        return ~crc
    }

    private func little<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
#endif
