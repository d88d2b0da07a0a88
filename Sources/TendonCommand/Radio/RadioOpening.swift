// SPDX-License-Identifier: MIT
// Opens the radio of a command. Without CAP_NET_RAW nothing can be searched for, but the kernel connects to a device whose
// address and type are known: so does a command that has both.
import CTendon
import Tendon
import TendonSupport

/// Opens a radio; a test plays the kernel's part.
typealias RadioOpener = @Sendable (RadioChoice) async throws(TendonError) -> Central

/// Waits for an adapter, which was switched off or was missing.
typealias AdapterWait = @Sendable (_ name: String?, _ wasSwitchedOff: Bool) async -> Void

/// The radio of a command.
struct OpenedRadio: Sendable {
    let central: Central
    /// False: only connections, to the device that `open` was called with. Its address is complete then.
    var searches = true

    /// Opens radios of this machine.
    static func opener(_ gattCache: GATTCacheStorage = .none) -> RadioOpener {
        { (choice) throws(TendonError) in try await Central(radio: choice, gattCache: gattCache) }
    }

    /// Waits for an adapter of this machine. An error is not the last word: opening the radio reports what is really wrong.
    static let arrival: AdapterWait = { name, wasSwitchedOff in
        try? await wasSwitchedOff ? Central.waitForUsableAdapter(name) : Central.waitForAdapter(name)
    }

    /// - Parameters:
    ///   - wanted: the only device that the command needs; nil: it searches.
    ///   - say: prints one line that says what is missing.
    static func open(
        _ choice: RadioChoice, for wanted: WantedAddress?, say: @Sendable (String) -> Void = { Output.error.line($0) },
        by opener: RadioOpener
    ) async throws(TendonError) -> OpenedRadio {
        guard let wanted, let other = choice.connectionsOnly else {
            return OpenedRadio(central: try await opener(choice))
        }
        do throws(TendonError) {
            return OpenedRadio(central: try await opener(choice))
        } catch {
            guard error.status == Int32(TENDON_RADIO_ERROR_NO_CAP_NET_RAW), let device = wanted.complete else {
                throw error
            }
            let central = try await opener(other)
            say(await notice(device, central))
            return OpenedRadio(central: central, searches: false)
        }
    }

    /// What is missing, and the command that grants it.
    private static func notice(_ device: Address, _ central: Central) async -> String {
        let pairing = await central.bondFailure == nil ? "" : ", no pairing"
        let remedy = Finding.examine().first { $0.name == "capabilities" }?.remedy ?? ""
        return "tendon: without CAP_NET_RAW only a connection to \(device)/\(device.typeName): no search, no name, no "
            + "signal strength, no connection parameters\(pairing); all of it: "
            + (remedy.isEmpty ? "tendon doctor" : remedy)
    }
}

extension RadioChoice {
    /// The same adapter, only for connections; nil: the choice excludes that.
    fileprivate var connectionsOnly: RadioChoice? {
        switch self {
        case .bluez(let adapter, .shared): .bluez(adapter: adapter, use: .connectionsOnly)
        case .automatic, .bluez, .virtual: nil
        }
    }
}

extension WantedAddress {
    /// The address, if it is complete: the kernel has to know the type, which a search finds out.
    var complete: Address? { saysType ? address : nil }

    fileprivate var advice: String { "a connection requires no capability if --address has the type of the address" }
    fileprivate var completed: String { "--address \(address)/random, or /public" }
}

extension CommandError {
    /// An error of a radio that did not open, with what an address would need for a connection without a search.
    init(opening error: TendonError, for wanted: WantedAddress?) {
        self.init(error)
        guard error.status == Int32(TENDON_RADIO_ERROR_NO_CAP_NET_RAW), let wanted, !wanted.saysType else { return }
        message += "; \(wanted.advice)"
        next = "\(wanted.completed); or \(CommandError.radioAdvice)"
    }
}
