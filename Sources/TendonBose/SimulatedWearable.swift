// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// A wearable without hardware: obeys the whole sensor service and turns a head by a known script.
///
/// ```swift
/// let wearable = try await SimulatedWearable(radio: .virtual())
/// ```
public actor SimulatedWearable {
    /// Options of the simulated device.
    public struct Options: Sendable {
        /// The advertised name.
        public var name = "LE-Bose Frames"
        /// Its firmware revision string.
        public var firmware = "1.0.0"
        /// Sensors only over an encrypted link.
        public var requiresPairing = false
        /// From the start.
        public var isInPairingMode = false
        /// Sends whenever the link takes a notification.
        public var isFlatOut = false
        /// 0: no limit.
        public var maximumPayload: UInt16 = 0
        /// Milliseconds; 0: each sample is sent at once.
        public var transmissionPeriod: UInt8 = 0

        /// A pair of glasses without pairing.
        public init() {}
    }

    /// Malformed notifications that it sends on request.
    public enum Malformation: UInt32, Sendable, CaseIterable {
        /// A notification without a byte.
        case empty = 0
        /// One that ends within a sample's header.
        case cutHeader
        /// One that ends within a sample.
        case cutPayload
        /// A sensor that nobody knows.
        case unknownSensor
        /// An accuracy that does not exist.
        case badAccuracy
        /// Bytes without order.
        case garbage
    }

    /// Counters of sent values.
    public struct Counters: Sendable, Hashable {
        /// Sensor data notifications, the malformed ones included.
        public let notifications: UInt64
        /// Notifications malformed when told to.
        public let malformed: UInt64
        /// Samples in the others.
        public let samples: UInt64
        /// Gestures sent.
        public let gestures: UInt64
        /// Configurations taken.
        public let configurationWrites: UInt64
        /// Writes refused.
        public let refusedWrites: UInt64
    }

    private nonisolated let host: SimulatedHost<tendon_simulated_bose>
    /// Its own.
    public nonisolated var address: Address { host.address }
    private var device: CPointer<tendon_simulated_bose> { host.device }

    public nonisolated var unownedExecutor: UnownedSerialExecutor { host.loop.asUnownedSerialExecutor() }

    /// Opens a radio and advertises until the last reference is released. Without an address it gets one that
    /// differs from the others of this process.
    public init(
        _ options: Options = Options(), radio: RadioChoice, address: Address? = nil, loop: Loop = .shared,
        interval: Duration = .milliseconds(100)
    ) async throws(TendonError) {
        let texts = [CText(options.name), CText(options.firmware)]
        host = try await SimulatedHost.open(
            radio: radio, address: address, loop: loop, interval: interval, texts: texts,
            prepare: { device in
                var c = tendon_simulated_bose_options()
                c.name = texts[0].pointer
                c.firmware = texts[1].pointer
                c.pairing_required = options.requiresPairing
                c.pairing_enabled = options.isInPairingMode
                c.flat_out = options.isFlatOut
                c.max_payload = options.maximumPayload
                c.transmission_period_ms = options.transmissionPeriod
                return tendon_simulated_bose_init(device, &c)
            },
            seam: { tendon_simulated_bose_device($0) })
    }

    /// Stops advertising and disconnects, permanently.
    public func stop() { host.host.abandon() }

    /// Number of connections.
    public var connections: Int { host.host.connections }

    /// Counters of sent and received values.
    public var counters: Counters {
        let c = device.pointee.counters
        return Counters(
            notifications: c.notifications, malformed: c.malformed, samples: c.samples, gestures: c.gestures,
            configurationWrites: c.configuration_writes, refusedWrites: c.refused_writes)
    }

    /// Sends no more sensor data, and says why.
    public func suspend(_ reason: SuspensionReason) {
        tendon_simulated_bose_suspend(device, true, reason.rawValue, tendon_monotonic_ms())
        host.host.refresh()
    }

    /// Sends sensor data again.
    public func resume() {
        tendon_simulated_bose_suspend(device, false, 0, tendon_monotonic_ms())
        host.host.refresh()
    }

    /// What the wearer does with a button.
    public func setPairingMode(_ enabled: Bool) {
        tendon_simulated_bose_set_pairing_mode(device, enabled, tendon_monotonic_ms())
        host.host.refresh()
    }

    /// The links are encrypted now: what the kernel's pairing would have done.
    public func acceptPairing() {
        host.host.forEachBearer { tendon_simulated_bose_paired(device, $0, tendon_monotonic_ms()) }
        host.host.refresh()
    }

    /// A gesture; throws when the device does not have it.
    public func perform(_ gesture: GestureType) throws(TendonError) {
        let status = tendon_simulated_bose_gesture(device, gesture.id, tendon_monotonic_ms())
        host.host.refresh()
        guard status >= 0 else { throw TendonError(status: status, operation: .write) }
    }

    /// In place of the next sensor data notifications.
    public func inject(_ malformation: Malformation, count: Int = 1) {
        tendon_simulated_bose_inject(
            device, tendon_simulated_bose_malformation(rawValue: malformation.rawValue), UInt32(clamping: count))
        host.host.refresh()
    }

    /// Ends all links, as a device does that is switched off.
    public func disconnectAll() { host.host.disconnectAll() }

    /// The true head angles at a time of the device's clock.
    public static func pose(at deviceTime: UInt64) -> (pitch: Double, roll: Double, yaw: Double) {
        let pose = tendon_simulated_bose_pose(deviceTime)
        return (pose.pitch, pose.roll, pose.yaw)
    }
}
