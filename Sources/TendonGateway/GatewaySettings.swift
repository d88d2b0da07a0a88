// SPDX-License-Identifier: MIT
import Tendon

/// What a gateway serves, and what it has its devices do. The defaults: the first adapter, all families, no pairing with
/// new devices; of Bose wearables the rotation and all gestures, of trainers the force.
///
/// ```swift
/// var settings = GatewaySettings()
/// settings.pairing = .always
/// settings.bose.sensors = ["rotation", "accelerometer"]
/// let gateway = try await Gateway(settings)
/// ```
///
/// They are checked when a gateway is opened with them: a value that is not possible is a ``GatewayError`` whose `detail`
/// says what is.
public struct GatewaySettings: Sendable, Hashable {
    /// The radio of a gateway.
    public enum Radio: Sendable, Hashable {
        /// The radio that the environment variable `TENDON_RADIO` names, `bluez` or `virtual`; without it the first
        /// Bluetooth adapter.
        case automatic
        /// Bluetooth adapters of this machine, at most four: "hci0", an address, or a USB path ("1-1.4"); none: the
        /// first adapter. Requires the trait `BlueZ` or `KernelSockets`.
        case adapters([String] = [])
        /// Simulated devices on Unix sockets; `nil`: `$XDG_RUNTIME_DIR/tendon`.
        case virtual(directory: String? = nil)
    }

    /// Whether devices may pair that are not bonded.
    public enum Pairing: Sendable, Hashable {
        /// Only those of ``GatewaySettings/pairableDevices``.
        case never
        /// Each one, for this time from the opening on: 1 s to 24 h, in whole seconds, rounded up.
        case within(Duration)
        /// Each one, as long as the gateway is open.
        case always
    }

    /// A description of devices of another maker: docs/device-files.md.
    public enum DeviceFile: Sendable, Hashable {
        /// A file, at most 64 KiB.
        case path(String)
        /// Its text.
        case json(String)
    }

    /// What a device has, by their names in events: `.all`, `["rotation"]`, `[]`.
    public enum Selection: Sendable, Hashable, ExpressibleByArrayLiteral {
        /// Whatever the device has.
        case all
        /// These, at most 16; an empty list: none.
        case only([String])

        /// These; `[]`: none.
        public init(arrayLiteral names: String...) { self = .only(names) }
    }

    /// Settings of Bose wearables.
    public struct Bose: Sendable, Hashable {
        /// Sensors: "accelerometer", "gyroscope", "rotation", "game_rotation" … `nil`: the rotation.
        public var sensors: Selection?
        /// 5, 10, 20, 40, 80, 160 or 320 ms between two samples of a sensor; `nil`: 20 ms.
        public var period: Duration?
        /// Gestures: "double_tap", "head_nod" … `nil`: all.
        public var gestures: Selection?
    }

    /// Settings of feelSpace belts.
    public struct FeelSpace: Sendable, Hashable {
        /// 20 ms to 65,535 ms between two headings; `nil`: the belt's, 500 ms.
        public var orientationPeriod: Duration?
        /// Vibration intensity of signals that have none, 5 to 100 percent; `nil`: the belt's.
        public var defaultIntensity: Int?
    }

    /// Settings of Activ5 trainers.
    public struct Activ5: Sendable, Hashable {
        /// "force", "imu", or both; `nil`: the force.
        public var measures: Selection?
        /// Samples per second, 1 to 32,767; `nil`: the trainer's.
        public var rate: Int?
        /// Whether they are kept from switching themselves off after 7 minutes.
        public var isEvergreen = false
    }

    /// Settings of Obvious devices.
    public struct Obvious: Sendable, Hashable {
        /// Product of the devices; `nil`: nothing is read of them.
        public var product: UInt32?
        /// Numbers of the features whose states are read, at most 32.
        public var features: [Int] = []
    }

    /// The radio, or radios.
    public var radio: Radio
    /// The families that are served, device files included; `nil`: all of them.
    public var families: [GatewayDevice.Family]?
    /// The only devices that are served, at most 64; none: all of the families.
    public var onlyDevices: [Address] = []
    /// Whether new devices may pair.
    public var pairing: Pairing
    /// Devices that may pair whenever they require it, at most 64.
    public var pairableDevices: [Address] = []
    /// Whether a device is connected again after it was lost.
    public var reconnects = true
    /// What connections are requested with; `nil`: the kernel's own parameters.
    public var connection: ConnectionParameters?
    /// Whether to search on LE Coded, too, for devices that advertise with long range.
    public var includesCodedPHY = false
    /// Whether attributes of known devices are read from the user's cache instead of being discovered again.
    public var usesGATTCache = true
    /// Whether numbers in lines read back as the value that was computed, instead of having the decimals that the sensor
    /// resolves. The values of ``GatewayEvent/sample`` are always the former.
    public var isExact = false
    /// Descriptions of further devices, at most 16.
    public var deviceFiles: [DeviceFile]
    /// Of Bose wearables.
    public var bose = Bose()
    /// Of feelSpace belts.
    public var feelspace = FeelSpace()
    /// Of Activ5 trainers.
    public var activ5 = Activ5()
    /// Of Obvious devices.
    public var obvious = Obvious()
    /// Options by their names in `tendon-gateway --help`, without dashes, applied after all others: for programs that
    /// read them from elsewhere. An option without a value has "".
    public var namedOptions: [String: String] = [:]

    /// The defaults, with these changes.
    public init(
        radio: Radio = .automatic, families: [GatewayDevice.Family]? = nil, pairing: Pairing = .never,
        deviceFiles: [DeviceFile] = []
    ) {
        self.radio = radio
        self.families = families
        self.pairing = pairing
        self.deviceFiles = deviceFiles
    }
}
