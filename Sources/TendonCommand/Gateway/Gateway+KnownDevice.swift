// SPDX-License-Identifier: MIT
// A run without a search, for the device of --address: see `OpenedRadio`.
import CTendon
import Tendon
import TendonOutputs
import TendonSupport

extension Gateway {
    /// Milliseconds between two looks at the radio. The device counts as in range all the time.
    private static let lookInterval = 500
    /// How long the kernel keeps a closed connection of a process without CAP_NET_RAW, with a margin: an attempt to
    /// connect waits for its end.
    private static let closingTime = 2100
    /// Milliseconds between two attempts to find out the family: at first, and at most.
    private static let shortestPause: UInt64 = 1000
    private static let longestPause: UInt64 = 60_000

    /// A device that is not served: if it is that of --address, the end of the run says why.
    func notice(_ address: Address, of family: String?) {
        guard let wanted = settings.address, wanted.address.value == address.value else { return }
        let mismatch = wanted.mismatch(address)
        let what = family.map { "of the family \($0)" } ?? "was not recognized as a device that is served"
        state.withLock { state in
            // A belt that is not served is not asked for its name, without which its family is not known.
            if mismatch == nil, family == nil, state.unserved != nil { return }
            state.unserved = (address, family, mismatch ?? "\(address) is in range, but \(what)")
        }
    }

    /// Why the device of --address was not served although it was received; nil: it was not received.
    var unserved: CommandError? {
        guard let (address, family, text) = state.withLock({ $0.unserved }) else { return nil }
        let command = family.map { "stream \($0)\(Definitions.words(for: $0))" } ?? "run"
        return CommandError(
            .noDevice, text,
            next: "tendon \(command)\(settings.radios[0].words) --address \(address)/\(address.typeName)")
    }

    /// Gives the device its turns until the task is cancelled or the radio fails.
    @TendonActor
    func attend(_ address: Address, _ radio: Int, _ central: Central) async throws(CommandError) {
        var family = plan.onlyFamily
        if family == nil { family = try await self.family(of: address, central) }
        guard let family else { return }  // cancelled
        guard plan.serves(address, family: family) else {
            throw CommandError(
                .noDevice, "\(address) is a device of the family \(family), which is not served here",
                next:
                    "tendon stream \(family)\(Definitions.words(for: family)) --address \(address)/\(address.typeName)")
        }
        while !Task.isCancelled {
            if case .failed(let error) = central.state { throw CommandError(error) }
            if receive(address, family, radio) { turns.step() }
            try? await Loop.shared.sleep(for: .milliseconds(Gateway.lookInterval))
        }
    }

    /// The family of a device that no option names: found over a connection. Nil: the task was cancelled.
    private func family(of address: Address, _ central: Central) async throws(CommandError) -> String? {
        var pause = Gateway.shortestPause
        while !Task.isCancelled {
            do throws(TendonError) {
                let peripheral = try await central.connect(address, options: ConnectOptions(attempts: 1))
                let found = try await Gateway.family(of: peripheral)
                await peripheral.disconnect()
                guard let found else {
                    throw TendonError(status: Int32(TENDON_ERROR_UNSUPPORTED), operation: .discover)
                }
                if central.radioName == "bluez" {
                    try? await Loop.shared.sleep(for: .milliseconds(Gateway.closingTime))
                }
                return found
            } catch {
                if Task.isCancelled { return nil }
                if error.status == Int32(TENDON_ERROR_UNSUPPORTED) {
                    throw CommandError(.noDevice, "\(address) is not a device of a known family")
                }
                guard settings.reconnects, central.core.failure == nil else { throw CommandError(error) }
                reporter.events.event(
                    "connect_failed", DeviceLabel(nil, address),
                    (["text": .string(describe(error)), "retry_in_s": .real(Double(pause) / 1000)] as JSON)
                        .merging(error.members))
            }
            try? await Loop.shared.sleep(for: .milliseconds(pause))
            pause = min(2 * pause, Gateway.longestPause)
        }
        return nil
    }

    /// By the services, or by the name, as an advertisement would have them; nil: of no known family.
    private static func family(of peripheral: Peripheral) async throws(TendonError) -> String? {
        let services = try await peripheral.discoverServices()
        let uuids = services.map(\.uuid)
        if let family = familyName(services: uuids, name: nil) { return family }
        guard let access = services.first(where: { $0.uuid == "1800" }),
            let name = try await peripheral.discoverCharacteristics("2a00", of: access).first
        else { return nil }
        let text = String(decoding: try await peripheral.read(name), as: UTF8.self)
        return familyName(services: uuids, name: text)
    }
}
