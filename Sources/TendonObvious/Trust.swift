// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import Tendon

/// A public key with which a product's packages and firmware are signed.
public struct ObviousKey: Sendable, Hashable {
    /// The product.
    public let productId: String
    /// 1 to 255: what packages name.
    public let id: UInt8
    /// Ed25519, 32 bytes.
    public let bytes: [UInt8]
    /// Whether packages that are signed with it are rejected.
    public let isRevoked: Bool

    /// `nil` if `id` is 0 or `bytes` are not 32.
    public init?(productId: String, id: UInt8, bytes: [UInt8], isRevoked: Bool = false) {
        guard id > 0, bytes.count == Int(TENDON_OBVIOUS_KEY_SIZE) else { return nil }
        self.productId = productId
        self.id = id
        self.bytes = bytes
        self.isRevoked = isRevoked
    }
}

/// Ed25519 and SHA-256. The module `TendonObviousCloud` implements it with libsodium.
///
/// ```swift
/// func isSigned(_ text: [UInt8], _ signature: [UInt8], by key: ObviousKey) -> Bool {
///     ObviousCloud.trust?.cryptography.isValid(signature: signature, of: text, publicKey: key.bytes) ?? false
/// }
/// ```
public protocol ObviousCryptography: Sendable {
    /// Whether an Ed25519 signature (RFC 8032, pure; 64 bytes) of a message is valid.
    func isValid(signature: [UInt8], of message: [UInt8], publicKey: [UInt8]) -> Bool
    /// The SHA-256 of all parts together, 32 bytes. `part` returns the next one; `nil`: the end.
    func sha256(_ part: () -> [UInt8]?) -> [UInt8]
}

/// What packages and firmware are verified with.
public struct ObviousTrust: Sendable {
    /// The keys of all products.
    public var keys: [ObviousKey]
    /// The functions that verify.
    public var cryptography: any ObviousCryptography

    /// Keys and the functions that verify with them.
    public init(keys: [ObviousKey], cryptography: any ObviousCryptography) {
        self.keys = keys
        self.cryptography = cryptography
    }
}

/// Accepts nothing.
private struct NoCryptography: ObviousCryptography {
    func isValid(signature: [UInt8], of message: [UInt8], publicKey: [UInt8]) -> Bool { false }
    func sha256(_ part: () -> [UInt8]?) -> [UInt8] { [] }
}

/// The keys of a product for the C core. Owns what the ring points to.
package final class KeyRing: Sendable {
    private let keys: CTable<tendon_obvious_key>
    private let block = CBlock<tendon_obvious_key_ring>()
    let cryptography: any ObviousCryptography

    package var pointer: UnsafePointer<tendon_obvious_key_ring> { UnsafePointer(block.pointer) }

    /// `trust` `nil`: no package is accepted.
    package init(_ trust: ObviousTrust?, productId: String) {
        cryptography = trust?.cryptography ?? NoCryptography()
        let own = trust?.keys.filter { $0.productId == productId } ?? []
        keys = CTable(capacity: max(own.count, 1))
        for (index, key) in own.enumerated() {
            let place = keys.pointer + index
            (place.pointee.id, place.pointee.revoked) = (key.id, key.isRevoked)
            copy(key.bytes, to: &place.pointee.bytes)
        }
        block.pointer.pointee.keys = UnsafePointer(keys.pointer)
        block.pointer.pointee.count = own.count
        block.pointer.pointee.crypto = tendon_obvious_crypto(
            verify: { context, key, domain, domainLength, data, length, signature in
                object(KeyRing.self, context).cryptography.isValid(
                    signature: copied(signature, Int(TENDON_OBVIOUS_SIGNATURE_SIZE)),
                    of: copied(domain, domainLength) + copied(data, length),
                    publicKey: copied(key, Int(TENDON_OBVIOUS_KEY_SIZE)))
            },
            sha256: { context, data, length, out in
                var parts = [copied(data, length)]
                let hash = object(KeyRing.self, context).cryptography.sha256 { parts.popLast() }
                write(hash, to: out, count: Int(TENDON_OBVIOUS_SHA256_SIZE))
            }, context: context(of: self))
    }
}
