// SPDX-License-Identifier: MIT
import CTendon
import Synchronization

/// A central that is connected to a ``LocalPeripheral``: one connection, from its start to its end.
public struct ConnectedCentral: Sendable, Hashable, Identifiable {
    /// Number of the connection; no other connection of the same peripheral has it.
    public let id: UInt64
    /// The central's address; many centrals change it from time to time.
    public let address: Address
}

/// The reason why a read or a write is rejected, as the central receives it: the code of an Error Response, Core
/// Specification Vol 3 Part F 3.4.1.1.
///
/// ```swift
/// let limited = LocalCharacteristic("2a39", properties: .write, onWrite: { _, request throws(AttributeError) in
///     guard request.value.count == 1 else { throw .invalidValueLength }
///     guard request.value[0] < 10 else { throw AttributeError(rawValue: 0x80) }   // the service's own
/// })
/// ```
public struct AttributeError: Error, RawRepresentable, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The value cannot be read.
    public static let readNotPermitted = AttributeError(rawValue: 0x02)
    /// The value cannot be written.
    public static let writeNotPermitted = AttributeError(rawValue: 0x03)
    /// The offset is past the end of the value.
    public static let invalidOffset = AttributeError(rawValue: 0x07)
    /// The central needs the program's permission.
    public static let insufficientAuthorization = AttributeError(rawValue: 0x08)
    /// The value is too long, or too short.
    public static let invalidValueLength = AttributeError(rawValue: 0x0D)
    /// Something else.
    public static let unlikelyError = AttributeError(rawValue: 0x0E)
    /// Not enough memory, or no place for it.
    public static let insufficientResources = AttributeError(rawValue: 0x11)
    /// The value is out of range.
    public static let valueNotAllowed = AttributeError(rawValue: 0x13)

    /// For the C core.
    var status: tendon_status {
        -(tendon_status(TENDON_LAYER_ATT.rawValue) * 256 + Int32(rawValue == 0 ? 0x0E : rawValue))
    }
}

extension AttributeError: CustomStringConvertible {
    /// One line of plain English.
    public var description: String { TendonError(status: status, operation: .wait).cause }
}

/// What a central wrote.
public struct WriteRequest: Sendable, Hashable {
    /// The bytes.
    public let value: [UInt8]
    /// Where they begin in the value: 0, except in parts of a long write.
    public let offset: Int
    /// Whether the central expects no response, so that rejecting it has no effect that it sees.
    public let isWithoutResponse: Bool
}

/// A descriptor of a ``LocalCharacteristic``: a fixed value that can be read.
public struct LocalDescriptor: Sendable, Hashable {
    /// The UUID of the descriptor type.
    public let uuid: BluetoothUUID
    /// At most 512 bytes.
    public let value: [UInt8]

    /// Creates a descriptor. The descriptor by which a central subscribes (2902) is added by itself.
    public init(_ uuid: BluetoothUUID, value: [UInt8]) {
        self.uuid = uuid
        self.value = value
    }

    /// A text for people about the characteristic (2901).
    public static func userDescription(_ text: String) -> LocalDescriptor {
        LocalDescriptor("2901", value: Array(text.utf8))
    }
}

/// A characteristic that a ``LocalPeripheral`` serves.
///
/// Without closures it has a value, which reads return, writes replace, and ``LocalPeripheral/setValue(_:for:)`` sets. A
/// closure takes the place of the value. It is called on the loop's thread and must return without waiting: it is what
/// the central waits for.
///
/// ```swift
/// let level = LocalCharacteristic("2a19", properties: [.read, .notify], value: [100])
/// let random = LocalCharacteristic("2a2b", properties: .read, onRead: { _ in [UInt8.random(in: 0...9)] })
/// let point = LocalCharacteristic(
///     "2a39", properties: .write,
///     onWrite: { central, request throws(AttributeError) in
///         guard request.value == [1] else { throw AttributeError(rawValue: 0x80) }
///         print(central.address, "resets")
///     })
/// ```
///
/// A declaration keeps its identity when it is copied: the constant above is the name of the characteristic for
/// `notify(_:for:)`, and its `id` is in the events.
public struct LocalCharacteristic: Sendable, Identifiable {
    /// Identity of a declaration.
    public struct ID: Sendable, Hashable {
        private static let made = Atomic<UInt64>(0)
        private let number = ID.made.wrappingAdd(1, ordering: .relaxed).newValue
        init() {}
    }

    /// Returns the value for a central, at most 512 bytes. A long value is read in parts, with a call for each.
    public typealias ReadHandler = @Sendable (ConnectedCentral) throws(AttributeError) -> [UInt8]
    /// Takes what a central wrote, or rejects it.
    public typealias WriteHandler = @Sendable (ConnectedCentral, WriteRequest) throws(AttributeError) -> Void

    /// Its identity, which copies share.
    public let id = ID()
    /// The UUID of the characteristic type.
    public let uuid: BluetoothUUID
    /// What centrals can do with it: `read`, `write`, `writeWithoutResponse`, `notify` and `indicate` have an effect.
    public let properties: CharacteristicProperties
    /// The value at the beginning, at most 512 bytes.
    public let value: [UInt8]
    /// Whether reading, writing and subscribing require an encrypted connection, so that the central pairs.
    public let requiresEncryption: Bool
    /// Whether they require an encrypted connection whose key was made with a passkey. The central pairs with one if
    /// both sides can: see ``PairingAgent``.
    public let requiresAuthentication: Bool
    /// Its descriptors, without the one that the C core adds.
    public let descriptors: [LocalDescriptor]
    let onRead: ReadHandler?
    let onWrite: WriteHandler?

    /// Creates a declaration.
    public init(
        _ uuid: BluetoothUUID, properties: CharacteristicProperties, value: [UInt8] = [],
        requiresEncryption: Bool = false, requiresAuthentication: Bool = false, descriptors: [LocalDescriptor] = [],
        onRead: ReadHandler? = nil,
        onWrite: WriteHandler? = nil
    ) {
        self.uuid = uuid
        self.properties = properties
        self.value = value
        self.requiresEncryption = requiresEncryption || requiresAuthentication
        self.requiresAuthentication = requiresAuthentication
        self.descriptors = descriptors
        self.onRead = onRead
        self.onWrite = onWrite
    }

    /// For the C core.
    var permissions: UInt8 {
        var all = 0
        if properties.contains(.read) { all |= TENDON_GATT_PERMIT_READ }
        if !properties.isDisjoint(with: [.write, .writeWithoutResponse]) { all |= TENDON_GATT_PERMIT_WRITE }
        if requiresEncryption { all |= TENDON_GATT_READ_ENCRYPTED | TENDON_GATT_WRITE_ENCRYPTED }
        if requiresAuthentication { all |= TENDON_GATT_READ_AUTHENTICATED | TENDON_GATT_WRITE_AUTHENTICATED }
        return UInt8(all)
    }
}

/// A service that a ``LocalPeripheral`` serves.
///
/// ```swift
/// let battery = LocalService("180f", [LocalCharacteristic("2a19", properties: .read, value: [100])])
/// ```
public struct LocalService: Sendable {
    /// The UUID of the service type.
    public let uuid: BluetoothUUID
    /// Its characteristics, in the order of their handles.
    public let characteristics: [LocalCharacteristic]

    /// Creates a declaration.
    public init(_ uuid: BluetoothUUID, _ characteristics: [LocalCharacteristic]) {
        self.uuid = uuid
        self.characteristics = characteristics
    }

    /// Attributes in the table of the C core.
    var attributeCount: Int {
        characteristics.reduce(1) { count, one in
            count + 2 + (one.properties.isDisjoint(with: [.notify, .indicate]) ? 0 : 1) + one.descriptors.count
        }
    }
}
