// SPDX-License-Identifier: MIT
import CTendon

/// What a central asks for when it connects: how often the two sides exchange data, how many of these events the device
/// may leave out, and how long the connection lives without one (Core Specification Vol 6 Part B 4.5.1 and 4.5.2).
///
/// A short interval costs both batteries, a long one costs time: each request to a device takes one or two intervals.
///
/// ```swift
/// try await central.setConnectionParameters(.fast)
/// ```
public struct ConnectionParameters: Sendable, Hashable, CustomStringConvertible {
    package private(set) var c: tendon_connection_parameters

    /// 7.5 to 15 ms: motion and gestures without delay.
    public static let fast = profile("fast")
    /// 30 to 50 ms: values several times a second.
    public static let balanced = profile("balanced")
    /// 100 to 125 ms, of which a device may leave out two in a row: spares its battery.
    public static let lowPower = profile("low-power")

    /// - Parameters:
    ///   - interval: 7.5 ms to 4 s, in steps of 1.25 ms; other values are rounded down.
    ///   - latency: number of connection events in a row that the device may leave out, 0 to 499.
    ///   - supervisionTimeout: 100 ms to 32 s in steps of 10 ms, rounded down; longer than
    ///     `(1 + latency) * interval.upperBound * 2`.
    ///   - phy: of both directions; `nil`: the one that the connection is made on.
    ///   - packetSize: longest payload of one sent packet over the air, 27 to 251 bytes; `nil`: the controller's default.
    /// - Throws: `TENDON_ERROR_INVALID_ARGUMENT` if a value is out of its range.
    public init(
        interval: ClosedRange<Duration>, latency: Int = 0, supervisionTimeout: Duration = .seconds(4), phy: PHY? = nil,
        packetSize: Int? = nil
    ) throws(TendonError) {
        var c = tendon_connection_parameters()
        c.phy = phy?.rawValue ?? 0
        c.tx_octets = packetSize.map { UInt16(exactly: $0).flatMap { $0 > 0 ? $0 : nil } ?? .max } ?? 0
        c.min_interval = Self.units(interval.lowerBound, of: Self.intervalUnit)
        c.max_interval = Self.units(interval.upperBound, of: Self.intervalUnit)
        c.latency = UInt16(clamping: latency)
        c.timeout = Self.units(supervisionTimeout, of: Self.timeoutUnit)
        guard latency >= 0, tendon_connection_parameters_valid(&c) else {
            throw TendonError(status: Int32(TENDON_ERROR_INVALID_ARGUMENT), operation: .connect)
        }
        self.c = c
    }

    /// `fast`, `balanced`, `low-power`, or MIN-MAX[,LATENCY[,TIMEOUT]] with times in ms, then
    /// [,phy=PHY][,length=BYTES][,links=N]: `"15-30,0,4000"`, `"fast,phy=2m"`, `"fast,links=8"`. `nil`: not of this form, or a value is out of its range.
    public init?(_ text: String) {
        var text = text
        var c = tendon_connection_parameters()
        let status = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                tendon_connection_parameters_parse($0.baseAddress, $0.count, &c, nil)
            }
        }
        guard status >= 0 else { return nil }
        self.c = c
    }

    /// The same for each of so many connections of one adapter: an interval that is too short for an event of each of them is
    /// raised, and the supervision timeout where it has to be. An event takes 2.5 ms, with LE Coded 18.75 ms: eight
    /// connections with ``fast`` have 20 ms. What the controller has granted is in ``Central/connectionTimings()``.
    ///
    /// - Throws: `TENDON_ERROR_INVALID_ARGUMENT` if `links` is below 1, or no interval is long enough (1,600 connections).
    public func planned(links: Int) throws(TendonError) -> ConnectionParameters {
        var planned = self
        let status = tendon_connection_parameters_plan(&planned.c, max(links, 0))
        guard status >= 0 else { throw TendonError(status: status, operation: .connect) }
        return planned
    }

    private static func profile(_ name: String) -> ConnectionParameters {
        guard let profile = ConnectionParameters(name) else { preconditionFailure("the C core has no \(name)") }
        return profile
    }

    /// Requested time between two connection events.
    public var interval: ClosedRange<Duration> {
        Self.intervalUnit * Int(c.min_interval)...Self.intervalUnit * Int(c.max_interval)
    }

    /// Number of connection events in a row that the device may leave out.
    public var latency: Int { Int(c.latency) }

    /// Time without an exchange after which the connection ends.
    public var supervisionTimeout: Duration { Self.timeoutUnit * Int(c.timeout) }

    /// PHY of both directions, requested once the device is connected; `nil`: the one that the connection is made on.
    public var phy: PHY? {
        get { PHY(rawValue: c.phy) }
        set { c.phy = newValue?.rawValue ?? 0 }
    }

    /// Longest payload of one sent packet over the air, in bytes; `nil`: the controller's default.
    public var packetSize: Int? { c.tx_octets == 0 ? nil : Int(c.tx_octets) }

    /// "7.5 to 15 ms, latency 0, timeout 4000 ms, PHY LE 2M"
    public var description: String {
        let range = interval
        return "\(range.lowerBound / .milliseconds(1)) to \(range.upperBound / .milliseconds(1)) ms, "
            + "latency \(latency), timeout \(Int(c.timeout) * 10) ms" + (phy.map { ", PHY \($0)" } ?? "")
            + (packetSize.map { ", length \($0) bytes" } ?? "")
    }

    static let intervalUnit = Duration.microseconds(1250)
    static let timeoutUnit = Duration.milliseconds(10)

    private static func units(_ duration: Duration, of unit: Duration) -> UInt16 {
        let count = duration / unit
        return count >= 0 && count < 65536 ? UInt16(count) : .max
    }

    public static func == (a: Self, b: Self) -> Bool {
        a.c.min_interval == b.c.min_interval && a.c.max_interval == b.c.max_interval && a.latency == b.latency
            && a.c.timeout == b.c.timeout && a.c.phy == b.c.phy && a.c.tx_octets == b.c.tx_octets
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(c.min_interval)
        hasher.combine(c.max_interval)
    }
}

/// How a packet is modulated (Core Specification Vol 6 Part A 3).
public enum PHY: UInt8, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// LE 1M, which every device has.
    case le1M = 1
    /// LE 2M: half the transmission time, for less energy and more data.
    case le2M = 2
    /// LE Coded: a multiple of the range, at 500 or 125 kbit/s.
    case leCoded = 3

    /// "LE 2M"
    public var description: String {
        switch self {
        case .le1M: "LE 1M"
        case .le2M: "LE 2M"
        case .leCoded: "LE Coded"
        }
    }
}

/// What a connection has, as the controller reports it. The device may have asked for other values than the central.
public struct ConnectionTiming: Sendable, Hashable {
    /// Time between two connection events.
    public let interval: Duration
    /// Number of connection events in a row that the device may leave out.
    public let latency: Int
    /// Time without an exchange after which the connection ends.
    public let supervisionTimeout: Duration
    /// PHY of what is sent; `nil`: not known.
    public let txPHY: PHY?
    /// PHY of what is received; `nil`: not known.
    public let rxPHY: PHY?
    /// Longest payload of one sent packet over the air, in bytes, 27 to 251 (data length); `nil`: not known.
    public let txPacketSize: Int?
    /// Likewise of a received one.
    public let rxPacketSize: Int?

    init(_ c: tendon_connection_timing) {
        interval = ConnectionParameters.intervalUnit * Int(c.interval)
        latency = Int(c.latency)
        supervisionTimeout = ConnectionParameters.timeoutUnit * Int(c.timeout)
        txPHY = PHY(rawValue: c.tx_phy)
        rxPHY = PHY(rawValue: c.rx_phy)
        txPacketSize = c.tx_octets == 0 ? nil : Int(c.tx_octets)
        rxPacketSize = c.rx_octets == 0 ? nil : Int(c.rx_octets)
    }
}
