// SPDX-License-Identifier: MIT
// Obvious: the simulated device of `tendon simulate obvious`.
import CTendon
import Tendon
import TendonObvious
import TendonObviousCloud
import TendonSupport

/// The options of simulated Obvious devices.
struct ObviousDeviceSettings: Sendable {
    var serial: UInt64 = 0x1122_3344_5566_7788
    var product: UInt32 = 1234
    var flash: String?
    var isUnprovisioned = false
    var keys: [ObviousKey] = []

    init(_ arguments: Arguments) throws(CommandError) {
        if let text = try arguments.serial() { serial = UInt64(text, radix: 16) ?? serial }
        if let text = try arguments.product() { product = UInt32(text) ?? product }
        flash = arguments.value("--flash")
        isUnprovisioned = arguments.has("--unprovisioned")
        keys = try CloudAccess.keys(arguments)
    }

    static let options: [Option] = {
        var options = [
            CloudAccess.serial, CloudAccess.product, CloudAccess.keysFile,
            Option(
                name: "--flash", value: "FILE",
                help:
                    "keep the flash memory in this file, and the bonds in FILE.bonds, so that the device survives; "
                    + "default: a new device"),
            Option(
                name: "--unprovisioned", value: nil, help: "a new device is not provisioned"),
        ]
        for index in options.indices { options[index].families = ["obvious"] }
        return options
    }()
}

final class ObviousSimulation: SimulatedDevice<tendon_simulated_obvious>, FamilySimulation {
    private let chip: FlashFile
    let bondFile: String?
    private let ring: KeyRing
    private let features: CTable<tendon_simulated_obvious_feature>
    private static let pageSize: UInt32 = 4096
    private static let longestImage: UInt32 = 1 << 20
    /// Of a new device, as the reference cloud knows them: Led, Night mode, Boost, Basic.
    private static let newFeatures: [tendon_simulated_obvious_feature] = [
        tendon_simulated_obvious_feature(id: 16, enable: 0, toggle: 1, value: 0),
        tendon_simulated_obvious_feature(id: 17, enable: 0, toggle: 1, value: 0),
        tendon_simulated_obvious_feature(id: 18, enable: 0, toggle: 0, value: 0),
        tendon_simulated_obvious_feature(id: 19, enable: 1, toggle: 0, value: 0),
    ]

    init(_ settings: SimulationSettings, number: Int) throws(CommandError) {
        let own = settings.obvious
        guard own.flash == nil || settings.count == 1 else {
            throw .usage("--flash is the memory of one device: leave --count out")
        }
        guard let firmware = ObviousVersion.code(settings.firmware ?? "1.3.0") else {
            throw .usage("--firmware of an obvious device is of the form 1.3.0")
        }
        let chip = try FlashFile(
            own.flash, pageSize: Self.pageSize,
            size: tendon_simulated_obvious_flash_size(Self.pageSize, Self.longestImage))
        let ring = try ObviousSimulation.ring(own.keys, productId: "\(own.product)")
        let features = CTable<tendon_simulated_obvious_feature>(capacity: Self.newFeatures.count)
        for (index, feature) in Self.newFeatures.enumerated() { features.pointer[index] = feature }
        (self.chip, self.ring, self.features) = (chip, ring, features)
        bondFile = own.flash.map { $0 + ".bonds" }
        try super.init(
            "Obvious device", name: settings.name(of: number, usually: "Obvious Simulator"),
            firmware: settings.firmware(usually: "1.3.0"),
            device: { tendon_simulated_obvious_device($0) }, actor: { tendon_simulated_obvious_actor($0) }
        ) { pointer, name, _ in
            var options = tendon_simulated_obvious_options()
            options.flash = chip.flash.pointer
            options.image_max = Self.longestImage
            options.keys = ring.pointer
            options.features = UnsafePointer(features.pointer)
            options.feature_count = Self.newFeatures.count
            options.unprovisioned = own.isUnprovisioned
            options.firmware = firmware
            options.serial = own.serial &+ (settings.count > 1 ? UInt64(number) : 0)
            options.product = own.product
            options.seed = UInt64.random(in: 1...UInt64.max)
            // It requires pairing by default, as the protocol does.
            options.open = settings.saysPairing && settings.pairing == .none
            options.rejects_pairing = settings.pairing == .required
            options.name = name
            return tendon_simulated_obvious_init(pointer, &options)
        }
    }

    /// Without libsodium no package can be verified, so that keys are of no use.
    private static func ring(_ keys: [ObviousKey], productId: String) throws(CommandError) -> KeyRing {
        #if ObviousCloud
            return KeyRing(ObviousTrust(keys: keys, cryptography: SodiumCryptography()), productId: productId)
        #else
            guard keys.isEmpty else {
                throw CommandError(
                    .failed, "built without the trait ObviousCloud, which brings the verification of packages",
                    next: "swift build --traits BlueZ,ObviousCloud")
            }
            return KeyRing(nil, productId: productId)
        #endif
    }

    /// It has no sensor.
    var server: CPointer<tendon_gatt_server> { block.member(\.server) }
    var notifications: UInt64 { 0 }

    var counters: JSON {
        let device = block.pointer
        let counters = device.pointee.counters
        let slot = device.pointee.slot == 0 ? device.pointee.boot.slots.0 : device.pointee.boot.slots.1
        return [
            "requests": JSON(counters.requests), "repeats": JSON(counters.repeats),
            "refused_writes": JSON(counters.refusals), "segment_errors": JSON(counters.segment_errors),
            "link_errors": JSON(counters.link_errors), "boots": JSON(counters.boots),
            "rollbacks": JSON(counters.rollbacks), "power_cuts": JSON(counters.power_cuts),
            "packages": JSON(counters.packages), "data_bytes": JSON(counters.data_bytes),
            "provisioned": .bool(device.pointee.provisioned), "counter": JSON(device.pointee.counter),
            "firmware": .string(ObviousVersion.text(slot.version)), "trial": .bool(device.pointee.boot.trial != 0),
            "features": .array(
                Self.newFeatures.map { feature in
                    var state = tendon_simulated_obvious_feature()
                    let isKnown = tendon_simulated_obvious_get(device, feature.id, &state)
                    let toggle = tendon_obvious_feature(id: feature.id, enable: 1, toggle: state.toggle).members[
                        "toggle"]
                    return [
                        "feature": JSON(feature.id), "enabled": .bool(isKnown && state.enable == 1),
                        "toggle": toggle ?? .null,
                    ]
                }),
        ]
    }

    var summary: String? {
        let counters = block.pointer.pointee.counters
        return "\(counters.requests) requests, \(counters.packages) packages, \(counters.data_bytes) bytes, "
            + "\(counters.boots) boots"
    }

    /// Nothing that a client could not see.
    func writeTruth(_ line: (String) -> Bool) {}
}

/// Version codes: docs/protocols/obvious.md, "Version codes".
enum ObviousVersion {
    static func code(_ text: String) -> UInt32? {
        var code: UInt32 = 0
        return tendon_obvious_parse_version(text, text.utf8.count, &code) < 0 ? nil : code
    }

    static func text(_ code: UInt32) -> String {
        printed(size: Int(TENDON_OBVIOUS_VERSION_SIZE)) { _ = tendon_obvious_format_version(code, $0) }
    }
}
