// SPDX-License-Identifier: MIT
import CTendon

/// A key of a pairing, without its secret.
///
/// ```swift
/// for bond in try BondStorage.standard.bonds() { print(bond.address, bond.isAuthenticated) }
/// ```
public struct Bond: Sendable, Hashable {
    /// Which side started the pairing. An adapter can have bonds of both kinds with one device.
    public enum Role: Sendable, Hashable {
        /// The bonded device is a peripheral: this machine connects to it.
        case peripheral
        /// The bonded device is a central that connects to this machine.
        case central
    }

    package let c: tendon_bond

    /// The bonded device: its identity address.
    public var address: Address { Address(c.peer) }
    /// The adapter that the key belongs to; `nil`: the virtual radio.
    public var adapter: Address? { c.radio == UInt8(TENDON_BOND_VIRTUAL.rawValue) ? nil : Address(c.own) }
    /// The role of the bonded device.
    public var role: Role { c.initiator ? .peripheral : .central }
    /// Whether a passkey was entered or compared; otherwise a device between the two could have paired with both.
    public var isAuthenticated: Bool { withUnsafePointer(to: c, tendon_bond_is_authenticated) }
    /// Whether it was made with LE Secure Connections. A listener that received an LE Legacy Pairing can compute its key.
    public var usesSecureConnections: Bool { withUnsafePointer(to: c, tendon_bond_is_secure) }
    /// Length of the key in bytes, 7 to 16.
    public var keySize: Int { Int(c.key_size) }

    /// Whether the device is recognized by its resolvable private addresses: its identity resolving key is stored.
    public var hasIdentityKey: Bool { c.has_identity_key }

    public static func == (a: Bond, b: Bond) -> Bool { a.encoded == b.encoded }

    public func hash(into hasher: inout Hasher) { hasher.combine(encoded) }

    /// As a file of this one bond has it; the rest of the array is 0.
    private var encoded: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(TENDON_BONDS_HEADER_SIZE + TENDON_BOND_RECORD_MAX))
        withUnsafePointer(to: c) { _ = tendon_bonds_encode($0, 1, &bytes, bytes.count) }
        return bytes
    }
}

extension BondStorage {
    /// The stored bonds, read now; does not need a radio. Empty for `.memory` and `.none`, and if the file does not exist.
    public func bonds() throws(TendonError) -> [Bond] {
        let store = CBlock<tendon_bonds>()
        let status: tendon_status
        switch self {
        case .memory, .none: return []
        case .standard: status = tendon_bonds_open(store.pointer, nil)
        case .file(let path): status = path.withCString { tendon_bonds_open(store.pointer, $0) }
        }
        try check(status, .pair)
        return elements(store.pointer.pointee.items, of: tendon_bond.self, store.pointer.pointee.count).map(Bond.init)
    }

    /// The file of `standard`; `nil`: its path is too long.
    package static var standardPath: String? {
        let store = CBlock<tendon_bonds>()
        _ = tendon_bonds_open(store.pointer, nil)
        return path(of: store)
    }

    /// The file of a store; `nil`: it is in memory.
    static func path(of store: CBlock<tendon_bonds>) -> String? {
        let path = withUnsafeBytes(of: store.pointer.pointee.path) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        return path.isEmpty ? nil : path
    }
}
