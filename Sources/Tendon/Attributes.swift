// SPDX-License-Identifier: MIT
import CTendon

/// Number of an attribute on its peer.
public struct AttributeHandle: RawRepresentable, Sendable, Hashable {
    public let rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }
}

/// A service that the peer has.
public struct Service: Sendable, Hashable {
    public let uuid: BluetoothUUID
    public let start: AttributeHandle
    public let end: AttributeHandle

    init(_ c: tendon_gatt_service) {
        uuid = BluetoothUUID(c.uuid)
        start = AttributeHandle(rawValue: c.start_handle)
        end = AttributeHandle(rawValue: c.end_handle)
    }
}

/// What may be done with a characteristic, Core Spec Vol 3 Part G 3.3.1.1.
public struct CharacteristicProperties: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let broadcast = CharacteristicProperties(rawValue: 0x01)
    public static let read = CharacteristicProperties(rawValue: 0x02)
    public static let writeWithoutResponse = CharacteristicProperties(rawValue: 0x04)
    public static let write = CharacteristicProperties(rawValue: 0x08)
    public static let notify = CharacteristicProperties(rawValue: 0x10)
    public static let indicate = CharacteristicProperties(rawValue: 0x20)
    public static let signedWrite = CharacteristicProperties(rawValue: 0x40)
    public static let extended = CharacteristicProperties(rawValue: 0x80)
}

/// A characteristic of a service.
public struct Characteristic: Sendable, Hashable {
    public let uuid: BluetoothUUID
    /// Of the value: what reads and writes use.
    public let handle: AttributeHandle
    /// Last handle that can hold one of its descriptors.
    public let end: AttributeHandle
    public let properties: CharacteristicProperties

    init(_ c: tendon_gatt_characteristic) {
        uuid = BluetoothUUID(c.uuid)
        handle = AttributeHandle(rawValue: c.value_handle)
        end = AttributeHandle(rawValue: c.end_handle)
        properties = CharacteristicProperties(rawValue: c.properties)
    }
}

/// A descriptor of a characteristic.
public struct Descriptor: Sendable, Hashable {
    public let uuid: BluetoothUUID
    public let handle: AttributeHandle

    init(_ c: tendon_gatt_descriptor) {
        uuid = BluetoothUUID(c.uuid)
        handle = AttributeHandle(rawValue: c.handle)
    }
}

/// 512 bytes in place: a value travels without an allocation.
struct InlineBytes: Sendable {
    typealias Eight = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)
    typealias Words = (Eight, Eight, Eight, Eight, Eight, Eight, Eight, Eight)
    static let capacity = 512

    var words: Words

    init() {
        let zero: Eight = (0, 0, 0, 0, 0, 0, 0, 0)
        words = (zero, zero, zero, zero, zero, zero, zero, zero)
    }
}

/// A value that the peer sent by itself: a notification or an indication.
public struct AttributeValue: Sendable {
    public let handle: AttributeHandle
    public let isIndication: Bool
    /// When it was taken from the link, monotonic milliseconds.
    public let time: UInt64
    /// Number of bytes, 0 to 512.
    public let count: Int
    let storage: InlineBytes

    init(_ c: tendon_gatt_value, time: UInt64) {
        handle = AttributeHandle(rawValue: c.handle)
        isIndication = c.indication
        self.time = time
        count = min(c.length, InlineBytes.capacity)
        storage = InlineBytes(copying: c.value, count: count)
    }

    /// A copy on the heap.
    public var bytes: [UInt8] { storage.array(count) }

    public subscript(index: Int) -> UInt8 {
        precondition(index >= 0 && index < count, "index past the end of the value")
        return storage[index]
    }
}
