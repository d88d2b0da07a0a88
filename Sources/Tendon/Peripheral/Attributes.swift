// SPDX-License-Identifier: MIT
import CTendon

/// Handle of an attribute on its peer.
public struct AttributeHandle: RawRepresentable, Sendable, Hashable, Comparable {
    public let rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }
    public static func < (a: AttributeHandle, b: AttributeHandle) -> Bool { a.rawValue < b.rawValue }
}

/// A service of the peer.
public struct Service: Sendable, Hashable {
    /// The UUID of the service type.
    public let uuid: BluetoothUUID
    /// Handle of its declaration.
    public let start: AttributeHandle
    /// Last handle that belongs to it.
    public let end: AttributeHandle

    init(_ c: tendon_gatt_service) {
        uuid = BluetoothUUID(c.uuid)
        start = AttributeHandle(rawValue: c.start_handle)
        end = AttributeHandle(rawValue: c.end_handle)
    }
}

/// Properties of a characteristic, Core Spec Vol 3 Part G 3.3.1.1.
public struct CharacteristicProperties: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Its value may be part of advertisements.
    public static let broadcast = CharacteristicProperties(rawValue: 0x01)
    /// It can be read.
    public static let read = CharacteristicProperties(rawValue: 0x02)
    /// It accepts writes without response.
    public static let writeWithoutResponse = CharacteristicProperties(rawValue: 0x04)
    /// It accepts writes with response.
    public static let write = CharacteristicProperties(rawValue: 0x08)
    /// It sends notifications.
    public static let notify = CharacteristicProperties(rawValue: 0x10)
    /// It sends indications, each confirmed.
    public static let indicate = CharacteristicProperties(rawValue: 0x20)
    /// It accepts signed writes.
    public static let signedWrite = CharacteristicProperties(rawValue: 0x40)
    /// More properties are in a descriptor.
    public static let extended = CharacteristicProperties(rawValue: 0x80)
}

/// A characteristic of a service.
public struct Characteristic: Sendable, Hashable {
    /// The UUID of the characteristic type.
    public let uuid: BluetoothUUID
    /// Handle of the value, for reads and writes.
    public let handle: AttributeHandle
    /// Last handle that can hold one of its descriptors.
    public let end: AttributeHandle
    /// The properties of the characteristic.
    public let properties: CharacteristicProperties

    init(_ c: tendon_gatt_characteristic) {
        uuid = BluetoothUUID(c.uuid)
        handle = AttributeHandle(rawValue: c.value_handle)
        end = AttributeHandle(rawValue: c.end_handle)
        properties = CharacteristicProperties(rawValue: c.properties)
    }

    /// Without the declaration, which is not used here.
    var c: tendon_gatt_characteristic {
        tendon_gatt_characteristic(
            uuid: uuid.c, declaration: 0, value_handle: handle.rawValue, end_handle: end.rawValue,
            properties: properties.rawValue)
    }
}

/// A descriptor of a characteristic.
public struct Descriptor: Sendable, Hashable {
    /// The UUID of the descriptor type.
    public let uuid: BluetoothUUID
    /// Handle of the descriptor, for reads and writes.
    public let handle: AttributeHandle

    init(_ c: tendon_gatt_descriptor) {
        uuid = BluetoothUUID(c.uuid)
        handle = AttributeHandle(rawValue: c.handle)
    }
}

/// 512 bytes inline, so a value is passed without an allocation.
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
///
/// ```swift
/// for try await value in try await peripheral.notifications(of: characteristic) {
///     print(value.count, value.bytes, value[0])
/// }
/// ```
public struct AttributeValue: Sendable {
    /// Handle of the characteristic's value.
    public let handle: AttributeHandle
    /// Whether it is an indication, which was confirmed when it arrived.
    public let isIndication: Bool
    /// When it was received, monotonic milliseconds.
    public let time: UInt64
    /// Number among the values of its subscription, from 1. Where one is missing, the sequence was full and has dropped
    /// it, see `EventSequence.dropped`.
    public let sequence: UInt64
    /// Number of bytes, 0 to 512.
    public let count: Int
    let storage: InlineBytes

    init(_ c: tendon_gatt_value, time: UInt64) {
        handle = AttributeHandle(rawValue: c.handle)
        isIndication = c.indication
        self.time = time
        sequence = c.sequence
        count = min(c.length, InlineBytes.capacity)
        storage = InlineBytes(copying: c.value, count: count)
    }

    /// A copy on the heap.
    public var bytes: [UInt8] { storage.array(count) }

    /// A byte of the value; `index` is 0 to `count` - 1.
    public subscript(index: Int) -> UInt8 {
        precondition(index >= 0 && index < count, "index past the end of the value")
        return storage[index]
    }
}
