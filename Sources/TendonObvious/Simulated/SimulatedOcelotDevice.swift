// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// A simulated Obvious device: implements OGP/1 with packages, transfers, two firmware images and a bootloader, over a
/// flash memory that survives power cuts.
///
/// ```swift
/// let device = try await SimulatedOcelotDevice(radio: .virtual(), trust: trust)
/// ```
public actor SimulatedOcelotDevice {
    /// A feature that the firmware of the device implements.
    public struct Feature: Sendable, Hashable {
        /// 1 to 1024.
        public var id: Int
        /// Whether it is bought.
        public var isEnabled: Bool
        /// The user's switch.
        public var toggle: OcelotToggleStatus
        /// The application's own number.
        public var value: UInt32

        /// A feature.
        public init(id: Int, isEnabled: Bool = false, toggle: OcelotToggleStatus = .Unsupported, value: UInt32 = 0) {
            self.id = id
            self.isEnabled = isEnabled
            self.toggle = toggle
            self.value = value
        }

        var c: tendon_simulated_obvious_feature {
            tendon_simulated_obvious_feature(
                id: UInt16(clamping: id), enable: isEnabled ? 1 : 0, toggle: UInt8(clamping: toggle.rawValue),
                value: value)
        }
    }

    /// Parts that can be absent from a device.
    public struct Lacking: OptionSet, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// The OGP service.
        public static let service = Lacking(rawValue: UInt32(TENDON_SIMULATED_OBVIOUS_NO_SERVICE))
        /// Its characteristic OGP_DATA.
        public static let data = Lacking(rawValue: UInt32(TENDON_SIMULATED_OBVIOUS_NO_DATA))
        /// Its characteristic OGP_STATUS.
        public static let status = Lacking(rawValue: UInt32(TENDON_SIMULATED_OBVIOUS_NO_STATUS))
        /// The Device Information service.
        public static let deviceInformation = Lacking(rawValue: UInt32(TENDON_SIMULATED_OBVIOUS_NO_INFORMATION))
        /// The Battery service.
        public static let battery = Lacking(rawValue: UInt32(TENDON_SIMULATED_OBVIOUS_NO_BATTERY))
    }

    /// Capabilities that can be absent from a device.
    public struct Capabilities: OptionSet, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Reports features.
        public static let features = Capabilities(rawValue: UInt8(TENDON_OBVIOUS_CAP_FEATURES))
        /// Features can be switched.
        public static let toggle = Capabilities(rawValue: UInt8(TENDON_OBVIOUS_CAP_TOGGLE))
        /// Accepts feature packages.
        public static let featureUpdate = Capabilities(rawValue: UInt8(TENDON_OBVIOUS_CAP_FEATURE_UPDATE))
        /// Accepts firmware.
        public static let firmware = Capabilities(rawValue: UInt8(TENDON_OBVIOUS_CAP_OTA))
        /// Transfers can be resumed.
        public static let resume = Capabilities(rawValue: UInt8(TENDON_OBVIOUS_CAP_RESUME))
        /// Boots a new firmware on trial, and rolls it back.
        public static let trialBoot = Capabilities(rawValue: UInt8(TENDON_OBVIOUS_CAP_TRIAL))
        /// Can be provisioned.
        public static let provisioning = Capabilities(rawValue: UInt8(TENDON_OBVIOUS_CAP_PROVISIONING))
        /// Gives nonces.
        public static let nonce = Capabilities(rawValue: UInt8(TENDON_OBVIOUS_CAP_NONCE))
    }

    /// Options of a simulated device.
    public struct Options: Sendable {
        /// The name in the scan response.
        public var name = "Obvious Simulator"
        /// The product, a number.
        public var productId = "1234"
        /// The serial number.
        public var serial: UInt64 = 0x1122_3344_5566_7788
        /// What its firmware implements, ordered by id.
        public var features: [Feature] = []
        /// Counter of the last package of a new device.
        public var counter: UInt64 = 0
        /// Whether a new device is provisioned.
        public var isProvisioned = true
        /// Version of its firmware.
        public var firmware: Int64 = 1_003_000
        /// Security epoch of its firmware.
        public var epoch: UInt32 = 0
        /// Longest firmware image, in bytes.
        public var longestImage = 65536
        /// Bytes in a page of its flash memory.
        public var pageSize = 4096
        /// Seed of boot ids, nonces and sessions; `nil`: a random one.
        public var seed: UInt64?
        /// Time from a reset until it is connectable.
        public var bootTime: Duration = .milliseconds(300)
        /// Longest message.
        public var longestFrame = 4096
        /// Longest part of an object in a message.
        public var longestChunk = 4000
        /// Segments that it can receive without an acknowledgement.
        public var window = 8
        /// Percent; 255: unknown.
        public var battery: UInt8 = 87
        /// The absent capabilities.
        public var lacksCapabilities: Capabilities = []
        /// The absent parts.
        public var lacks: Lacking = []
        /// The version of its protocol in OGP_STATUS.
        public var protocolVersion: UInt8 = 1
        /// Whether it requires an encrypted connection.
        public var requiresPairing = true
        /// Whether it rejects pairing.
        public var rejectsPairing = false
        /// Whether it must be written to with a response.
        public var requiresResponses = false
        /// Whether it sends indications instead of notifications.
        public var sendsIndications = false
        /// Whether it executes requests and sends no responses.
        public var isMute = false
        /// Whether it waits for the request to reboot after a package that requires it.
        public var waitsForReboot = false
        /// Whether it reports the progress of transfers.
        public var reportsProgress = false

        /// A provisioned device without features.
        public init() {}
    }

    /// What it answers wrongly on demand.
    public enum Lie: UInt32, Sendable, CaseIterable {
        /// The start of a transfer: another CRC of what it has.
        case crc = 0
        /// The start of a transfer: an offset beyond the end.
        case offset
        /// The start of a transfer: no session.
        case session
        /// A part of an object: another next offset.
        case next
        /// Device information: another serial number.
        case serial
        /// Device information: another product.
        case product
    }

    /// Counters of sent and received values.
    public struct Counters: Sendable, Hashable {
        /// Requests executed.
        public let requests: UInt64
        /// Requests that got the response they got before.
        public let repeats: UInt64
        /// Requests refused.
        public let refusals: UInt64
        /// Segments with an error, duplicates included.
        public let segmentErrors: UInt64
        /// Starts.
        public let boots: UInt64
        /// Returns to the old firmware.
        public let rollbacks: UInt64
        /// Power cuts.
        public let powerCuts: UInt64
        /// Packages applied.
        public let packages: UInt64
        /// Bytes of objects accepted.
        public let dataBytes: UInt64
    }

    private let host: SimulatedHost<tendon_simulated_obvious>
    private let memory: FlashMemory
    /// The address of the device.
    public nonisolated let address: Address
    private var device: CPointer<tendon_simulated_obvious> { host.device }

    public nonisolated var unownedExecutor: UnownedSerialExecutor { host.loop.asUnownedSerialExecutor() }

    /// Opens a radio and advertises until the last reference is released. `trust`: verifies packages and firmware.
    public init(
        _ options: Options = Options(), radio: RadioChoice, trust: ObviousTrust, address: Address? = nil,
        loop: Loop = .shared, interval: Duration = .milliseconds(100)
    ) async throws(TendonError) {
        let memory = try FlashMemory(options, trust)
        host = try await SimulatedHost.open(
            radio: radio, address: address, loop: loop, interval: interval, keeping: [memory],
            prepare: { memory.prepare($0, options) }, seam: { tendon_simulated_obvious_device($0) })
        self.memory = memory
        self.address = host.address
    }

    private func change(_ body: (CPointer<tendon_simulated_obvious>, UInt64) -> Void) {
        body(device, tendon_monotonic_ms())
        host.host.refresh()
    }

    /// Stops advertising and disconnects permanently.
    public func stop() { host.host.abandon() }
    /// Number of connections.
    public var connections: Int { host.host.connections }
    /// Disconnects all centrals, as if the device were out of range.
    public func disconnectAll() { host.host.disconnectAll() }

    // MARK: State

    /// The state of a feature; `nil` if the device does not know it.
    public func feature(_ id: Int) -> Feature? {
        var c = tendon_simulated_obvious_feature()
        guard let number = UInt16(exactly: id), tendon_simulated_obvious_get(device, number, &c) else { return nil }
        return Feature(
            id: id, isEnabled: c.enable == 1, toggle: OcelotToggleStatus(rawValue: Int(c.toggle)) ?? .Unknown,
            value: c.value)
    }

    /// Version of the firmware that runs.
    public var firmware: Int64 {
        let slot = device.pointee.slot == 0 ? device.pointee.boot.slots.0 : device.pointee.boot.slots.1
        return Int64(slot.version)
    }
    /// Whether that firmware is on trial.
    public var isOnTrial: Bool { device.pointee.boot.trial != 0 }
    /// Counter of the last package.
    public var counter: UInt64 { device.pointee.counter }
    /// Whether it is provisioned.
    public var isProvisioned: Bool { device.pointee.provisioned }

    /// Counters of sent and received values.
    public var counters: Counters {
        let c = device.pointee.counters
        return Counters(
            requests: c.requests, repeats: c.repeats, refusals: c.refusals, segmentErrors: c.segment_errors,
            boots: c.boots, rollbacks: c.rollbacks, powerCuts: c.power_cuts, packages: c.packages,
            dataBytes: c.data_bytes)
    }

    // MARK: The hand of its user

    /// Changes a feature and notifies the connected centrals.
    public func setFeature(_ id: Int, isEnabled: Bool, toggle: OcelotToggleStatus) {
        change {
            _ = tendon_simulated_obvious_set(
                $0, UInt16(clamping: id), isEnabled ? 1 : 0, UInt8(clamping: toggle.rawValue), $1)
        }
    }

    /// Sets the battery level in percent; 255: unknown.
    public func setBattery(_ percent: UInt8) { change { tendon_simulated_obvious_set_battery($0, percent, $1) } }
    /// Restarts it in an orderly way.
    public func reboot() { change { tendon_simulated_obvious_reboot($0, false, $1) } }

    // MARK: Faults

    /// Cuts the power and restores it.
    public func cutPower() { change { tendon_simulated_obvious_power_cut($0, $1) } }
    /// Cuts the power after so many more bytes of its flash memory were changed.
    public func cutPower(afterBytes count: UInt64) { memory.flash.pointer.pointee.cut_after = count }
    /// Resets it as its watchdog does.
    public func triggerWatchdog() { change { tendon_simulated_obvious_watchdog($0, $1) } }
    /// Rejects the next requests with a status byte of OGP/1.
    public func reject(status: UInt8, count: Int = 1) {
        change { device, _ in tendon_simulated_obvious_reject(device, status, UInt32(clamping: count)) }
    }
    /// Answers the next requests of a kind wrongly.
    public func answerWrongly(_ lie: Lie, count: Int = 1) {
        change { device, _ in
            tendon_simulated_obvious_answer_wrongly(
                device, tendon_simulated_obvious_lie(rawValue: lie.rawValue), UInt32(clamping: count))
        }
    }
    /// Drops the next segments that it would send.
    public func lose(_ count: Int) { change { device, _ in device.pointee.lose_next = UInt32(clamping: count) } }
    /// Sets whether it executes requests and sends no responses.
    public func setMute(_ isMute: Bool) { change { device, _ in device.pointee.options.mute = isMute } }
    /// Sets whether it rejects pairing.
    public func setRejectsPairing(_ rejects: Bool) {
        change { device, _ in device.pointee.options.rejects_pairing = rejects }
    }
    /// Grants no credit for a time: the connected centrals must not send.
    public func pause(for duration: Duration) {
        change { tendon_simulated_obvious_pause($0, UInt32(clamping: duration.milliseconds), $1) }
    }
}

/// What a simulated device points to: its flash memory, keys and texts.
private final class FlashMemory: @unchecked Sendable {
    // Used only on the loop's thread after it was made.
    let flash = CBlock<tendon_simulated_flash>()
    private let bytes: CBytes
    private let ring: KeyRing
    private let name: CText
    private let features: CTable<tendon_simulated_obvious_feature>
    private let longestImage: UInt32

    init(_ options: SimulatedOcelotDevice.Options, _ trust: ObviousTrust) throws(TendonError) {
        let (page, image) = (UInt32(clamping: options.pageSize), UInt32(clamping: options.longestImage))
        guard (64...65536).contains(page), image <= 16 << 20 else {
            throw TendonError(status: Int32(TENDON_ERROR_INVALID_ARGUMENT), operation: .start)
        }
        bytes = CBytes(count: Int(tendon_simulated_obvious_flash_size(page, image)))
        longestImage = image
        ring = KeyRing(trust, productId: options.productId)
        name = CText(options.name)
        features = CTable(capacity: max(options.features.count, 1))
        for (index, feature) in options.features.enumerated() { features.pointer[index] = feature.c }
        try check(
            tendon_simulated_flash_init(flash.pointer, bytes.pointer, UInt32(clamping: bytes.count), page), .start)
        tendon_simulated_flash_blank(flash.pointer)
    }

    func prepare(
        _ device: CPointer<tendon_simulated_obvious>, _ options: SimulatedOcelotDevice.Options
    ) -> tendon_status {
        guard let product = UInt32(options.productId), let firmware = UInt32(exactly: options.firmware) else {
            return Int32(TENDON_ERROR_INVALID_ARGUMENT)
        }
        var c = tendon_simulated_obvious_options()
        c.flash = flash.pointer
        c.image_max = longestImage
        c.keys = ring.pointer
        c.features = UnsafePointer(features.pointer)
        c.feature_count = options.features.count
        c.counter = options.counter
        c.unprovisioned = !options.isProvisioned
        (c.firmware, c.epoch) = (firmware, options.epoch)
        (c.serial, c.product) = (options.serial, product)
        c.seed = options.seed ?? UInt64.random(in: 1...UInt64.max)
        c.boot_ms = UInt32(clamping: options.bootTime.milliseconds)
        c.frame_max = UInt16(clamping: options.longestFrame)
        c.chunk_max = UInt16(clamping: options.longestChunk)
        (c.window, c.battery) = (UInt8(clamping: options.window), options.battery)
        (c.lacks_caps, c.lacks) = (options.lacksCapabilities.rawValue, options.lacks.rawValue)
        c.profile = options.protocolVersion
        c.open = !options.requiresPairing
        c.rejects_pairing = options.rejectsPairing
        c.with_response = options.requiresResponses
        c.indicates = options.sendsIndications
        c.mute = options.isMute
        c.waits_for_reboot = options.waitsForReboot
        c.reports_progress = options.reportsProgress
        c.name = name.pointer
        return tendon_simulated_obvious_init(device, &c)
    }
}
