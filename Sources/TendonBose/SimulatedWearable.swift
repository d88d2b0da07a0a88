// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// A simulated wearable: implements the whole sensor service; a script moves its head.
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
        /// Whether sensors require an encrypted connection.
        public var requiresPairing = false
        /// Whether it is in pairing mode from the start.
        public var isInPairingMode = false
        /// Whether it sends as fast as the connection accepts notifications.
        public var isFlatOut = false
        /// 0: no limit.
        public var maximumPayload: UInt16 = 0
        /// Milliseconds; 0: each sample is sent immediately.
        public var transmissionPeriod: UInt8 = 0

        /// Glasses that do not require pairing.
        public init() {}
    }

    /// Malformed notifications that it sends on request.
    public enum Malformation: UInt32, Sendable, CaseIterable {
        /// An empty notification.
        case empty = 0
        /// A notification truncated within the header of a sample.
        case cutHeader
        /// A notification truncated within a sample.
        case cutPayload
        /// An unknown sensor.
        case unknownSensor
        /// An invalid accuracy.
        case badAccuracy
        /// Random bytes.
        case garbage
    }

    /// Counters of sent values.
    public struct Counters: Sendable, Hashable {
        /// Sensor data notifications, including malformed ones.
        public let notifications: UInt64
        /// Notifications malformed on request.
        public let malformed: UInt64
        /// Samples in the well-formed notifications.
        public let samples: UInt64
        /// Gestures sent.
        public let gestures: UInt64
        /// Configurations accepted.
        public let configurationWrites: UInt64
        /// Writes rejected.
        public let refusedWrites: UInt64
    }

    private nonisolated let host: SimulatedHost<tendon_simulated_bose>
    /// The address of the wearable.
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
            radio: radio, address: address, loop: loop, interval: interval, keeping: texts,
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

    /// Suspends sensor data, with a reason.
    public func suspend(_ reason: SuspensionReason) {
        tendon_simulated_bose_suspend(device, true, reason.rawValue, tendon_monotonic_ms())
        host.host.refresh()
    }

    /// Sends sensor data again.
    public func resume() {
        tendon_simulated_bose_suspend(device, false, 0, tendon_monotonic_ms())
        host.host.refresh()
    }

    /// Starts or ends pairing mode, like a button of the device.
    public func setPairingMode(_ enabled: Bool) {
        tendon_simulated_bose_set_pairing_mode(device, enabled, tendon_monotonic_ms())
        host.host.refresh()
    }

    /// Sets the connections to encrypted, as pairing would do.
    public func acceptPairing() {
        host.host.forEachBearer { tendon_simulated_bose_paired(device, $0, tendon_monotonic_ms()) }
        host.host.refresh()
    }

    /// Performs a gesture; throws if the device does not support it.
    public func perform(_ gesture: GestureType) throws(TendonError) {
        let status = tendon_simulated_bose_gesture(device, gesture.rawValue, tendon_monotonic_ms())
        host.host.refresh()
        guard status >= 0 else { throw TendonError(status: status, operation: .write) }
    }

    /// Replaces the next sensor data notifications with malformed ones.
    public func inject(_ malformation: Malformation, count: Int = 1) {
        tendon_simulated_bose_inject(
            device, tendon_simulated_bose_malformation(rawValue: malformation.rawValue), UInt32(clamping: count))
        host.host.refresh()
    }

    /// Disconnects all centrals, as if the device were switched off.
    public func disconnectAll() { host.host.disconnectAll() }

    /// The true head angles at a time of the device's clock.
    public static func pose(at deviceTime: UInt64) -> (pitch: Double, roll: Double, yaw: Double) {
        let pose = tendon_simulated_bose_pose(deviceTime)
        return (pose.pitch, pose.roll, pose.yaw)
    }
}
