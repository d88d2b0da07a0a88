// SPDX-License-Identifier: MIT
import Tendon

/// A device that a gateway serves. Two values are equal if they have the same address and address type.
public struct GatewayDevice: Sendable, Hashable {
    /// A family of devices, by its name in events and settings.
    public struct Family: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral {
        /// "bose", or the name of a device file.
        public let rawValue: String
        /// The family with this name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The family with this name: of a device file, for example.
        public init(stringLiteral name: String) { rawValue = name }

        /// Bose wearables: glasses and headphones with sensors.
        public static let bose: Family = "bose"
        /// feelSpace belts.
        public static let feelspace: Family = "feelspace"
        /// Activ5 trainers.
        public static let activ5: Family = "activ5"
        /// Fjorden grips.
        public static let fjorden: Family = "fjorden"
        /// Obvious devices.
        public static let obvious: Family = "obvious"
    }

    /// The device is identified by its address and address type.
    public let address: Address
    /// What it is.
    public let family: Family
    /// The name that it advertises; `nil`: it was not received.
    public let name: String?

    public static func == (a: GatewayDevice, b: GatewayDevice) -> Bool { a.address == b.address }

    public func hash(into hasher: inout Hasher) { hasher.combine(address) }
}

/// Something that a gateway reports. docs/events.md lists all events, with their members.
///
/// ```swift
/// for await event in gateway.events {
///     switch event.kind {
///     case .connected: print(event.device!.address, event["firmware"]?.text ?? "")
///     case .gesture: print(event["gesture"]?.text ?? "", event.times?.receivedAt ?? 0)
///     default: print(event.line)
///     }
/// }
/// ```
public struct GatewayEvent: Sendable {
    /// The name of an event.
    public struct Kind: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// "sample", "connected" …
        public let rawValue: String
        /// The kind with this name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The kind with this name: `"heart_rate"` of a device file, for example.
        public init(stringLiteral name: String) { rawValue = name }

        /// Its name.
        public var description: String { rawValue }

        /// A device of a family that is served advertises.
        public static let found: Kind = "found"
        /// A device is connected; the members say what it is.
        public static let connected: Kind = "connected"
        /// A connection ended: `reason`.
        public static let disconnected: Kind = "disconnected"
        /// An attempt to connect failed: `text`, `retry_in_s`.
        public static let connectFailed: Kind = "connect_failed"
        /// A device pairs: `state`.
        public static let pairing: Kind = "pairing"
        /// One sample of a sensor.
        public static let sample: Kind = "sample"
        /// A battery level: `battery_percent`.
        public static let battery: Kind = "battery"
        /// A Bose wearable has detected a gesture.
        public static let gesture: Kind = "gesture"
        /// A control of a Fjorden grip.
        public static let grip: Kind = "grip"
        /// A button of a feelSpace belt.
        public static let button: Kind = "button"
        /// A device has carried out an action: `action`.
        public static let action: Kind = "action"
        /// A device has not: `action`, `text`.
        public static let actionFailed: Kind = "action_failed"
        /// An adapter is waited for: `text`, `error`.
        public static let radioWaiting: Kind = "radio_waiting"
        /// An adapter was removed or switched off.
        public static let radioLost: Kind = "radio_lost"
        /// An adapter is open again.
        public static let radioRestored: Kind = "radio_restored"
        /// The last event of a gateway: its counters.
        public static let summary: Kind = "summary"
    }

    /// Which event it is.
    public let kind: Kind
    /// The device that it is about; `nil`: about none.
    public let device: GatewayDevice?
    /// When it was reported: time since 1970-01-01T00:00:00Z, in whole microseconds.
    public let time: Duration
    /// Its numbers, each with a name and a unit: of a sample, and of other events that are numbers, as `battery`.
    /// `nil`: it has none.
    public let sample: GatewaySample?
    /// The status of the C library behind a failure: `connect_failed`, `action_failed`, `radio_lost` … `nil`: it reports
    /// none.
    public let cause: TendonError?
    let bytes: [UInt8]

    /// The event as `tendon run` and `tendon-gateway` print it: a line of JSON, without a line feed.
    public var line: String { String(decoding: bytes, as: UTF8.self) }

    /// A member of the line, by its name: `event["battery_percent"]?.number`. Units are in the names. `nil`: the event has no
    /// such member. Each call reads the line.
    public subscript(_ name: String) -> GatewayValue? { LineReader.member(name, of: bytes) }

    /// All members of the line, by their names.
    public var members: [String: GatewayValue] { LineReader.members(of: bytes) }

    /// When it arrived and was measured; `nil`: the event has no such time.
    public var times: SampleTimes? {
        if let sample { return sample.times }
        guard let received = self["received_at"]?.number else { return nil }
        return SampleTimes(
            receivedAt: nanoseconds(received), sampledAt: self["sampled_at"]?.number.map(nanoseconds) ?? 0,
            errorMicroseconds: self["error_ms"]?.number.map { UInt32(max(0, min($0, 4e6)) * 1000) } ?? 0)
    }

    /// Of a time in a line: seconds with six decimals.
    private func nanoseconds(_ seconds: Double) -> UInt64 {
        seconds > 0 && seconds < 1e10 ? UInt64((seconds * 1e6).rounded()) * 1000 : 0
    }
}

extension GatewayEvent: CustomStringConvertible {
    /// The line.
    public var description: String { line }
}

/// Numbers of an event.
public struct GatewaySample: Sendable {
    /// What a number is.
    public struct Channel: Sendable, Hashable {
        /// "pitch", "x", "force" …; of a device file, the name of its field.
        public let name: String
        /// "g", "deg", "deg/s", "rad/s", "N", "%"; "": it has none.
        public let unit: String
    }

    /// "rotation", "force", "orientation" …; the name of the event where that has no sensor.
    public var sensor: String { form.sensor }
    /// The numbers' names and units, in their order; at most 24.
    public var channels: [Channel] { form.channels }
    /// One number for each channel, with all digits that the device's value has; not a number: not known.
    public let values: [Double]
    /// When they arrived and were measured.
    public let times: SampleTimes
    /// How many numbers of a device file have no channel: beyond 24.
    public let leftOut: Int
    let form: SampleForm

    /// The number with this name; `nil`: there is none, or it is not known.
    public subscript(_ name: String) -> Double? {
        guard let index = form.channels.firstIndex(where: { $0.name == name }), !values[index].isNaN else { return nil }
        return values[index]
    }
}

/// What all samples of a sensor have in common.
final class SampleForm: Sendable {
    let sensor: String
    let channels: [GatewaySample.Channel]

    init(_ sensor: String, _ channels: [GatewaySample.Channel]) {
        self.sensor = sensor
        self.channels = channels
    }
}
