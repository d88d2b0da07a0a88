// SPDX-License-Identifier: MIT
// run --pair and --allow: which devices the radios may pair with.
import CTendon
import Tendon
import TendonSupport

/// Which devices may pair while this command runs.
struct PairingPolicy: Sendable {
    /// Monotonic milliseconds, so that a radio that is opened later gets no new window; 0: no window.
    private let windowEnd: UInt64
    private let allowed: CTable<tendon_address>
    private let allowedCount: Int

    static let options: [Option] = [
        Option(
            name: "--pair", value: "SECONDS",
            help: "pair with new devices for this time; --pair alone: as long as the command runs; default: never",
            isValueOptional: true, takes: .seconds(1...86400), setting: Setting("gateway", isFixed: true)),
        Option(
            name: "--allow", value: "ADDRESS",
            help: "pair with this device when it requires pairing", takes: .device,
            setting: Setting("gateway", isRepeated: true, isFixed: true)),
    ]

    /// No device.
    init() { (windowEnd, allowed, allowedCount) = (0, CTable(capacity: 1), 0) }

    init(_ arguments: Arguments) throws(CommandError) {
        if arguments.value("--pair")?.isEmpty ?? false {
            windowEnd = .max
        } else {
            windowEnd = PairingPolicy.end(of: try arguments.seconds("--pair", in: 1...86400) ?? 0)
        }
        var addresses: [tendon_address] = []
        for word in arguments.all("--allow") {
            addresses += try WantedAddress(named: word, option: "--allow").addresses
        }
        allowed = CTable(capacity: max(1, addresses.count))
        for (index, address) in addresses.enumerated() { allowed.pointer[index] = address }
        allowedCount = addresses.count
    }

    /// The same with a window of so many seconds; 0: no window.
    func with(window seconds: Double) -> PairingPolicy {
        PairingPolicy(self, windowEnd: PairingPolicy.end(of: seconds))
    }

    private static func end(of seconds: Double) -> UInt64 {
        seconds > 0 ? tendon_monotonic_ms() + UInt64(seconds * 1000) : 0
    }

    private init(_ other: PairingPolicy, windowEnd: UInt64) {
        (self.windowEnd, allowed, allowedCount) = (windowEnd, other.allowed, other.allowedCount)
    }

    /// From now on; to be kept as long as the radio is open.
    func apply(to radio: RadioCore) {
        var policy = tendon_pairing_policy()
        policy.restricted = true
        policy.allowed = UnsafePointer(allowed.pointer)
        policy.allowed_count = allowedCount
        policy.window_until = windowEnd
        tendon_radio_set_pairing_policy(radio.radio, &policy)
    }
}
