// SPDX-License-Identifier: MIT
// For commands that find one device of a family, execute one operation and end.
import Tendon
import TendonSupport

struct DeviceAccess: Sendable {
    struct Found: Sendable {
        var address: Address
        /// Safe to print; nil if neither advertisement nor scan response contained it soon.
        var name: String?
        let label: DeviceLabel

        init(_ family: String, _ address: Address, name: String? = nil) {
            self.address = address
            self.name = name
            label = DeviceLabel(family, address, name: name)
        }
    }

    let family: String
    private let radio: RadioChoice
    private let address: WantedAddress?
    private let timeout: Double
    private let opener: RadioOpener
    /// Advertisements of any device after which a scan response is no longer waited for.
    private static let patience = 20

    private static let timeout = Option(
        name: "--timeout", value: "SECONDS", help: "to find and open the device; default 15")
    static let options = [timeout]

    /// The options as a command that has --for explains them.
    static func besideDuration(_ options: [Option]) -> [Option] {
        options.map { option in
            guard option.name == timeout.name else { return option }
            var option = option
            option.help = "to find and open the device, before the time of --for begins; default 15"
            return option
        }
    }

    /// - Parameter opener: opens the radio; of this machine, except in tests.
    init(
        _ arguments: Arguments, family: String, timeout standard: Double = 15,
        opener: @escaping RadioOpener = OpenedRadio.opener()
    ) throws(CommandError) {
        self.family = family
        self.opener = opener
        radio = try arguments.radio()
        address = try arguments.address()
        timeout = try arguments.seconds("--timeout", in: 0.1...600) ?? standard
    }

    /// Opens the radio, finds the device, calls `body` with both, and closes the radio in any case. A device whose address
    /// is complete is not searched for if the kernel does not permit it.
    func withDevice<Result: Sendable>(
        _ body: @escaping @Sendable (Central, Found) async throws(CommandError) -> Result
    ) async throws(CommandError) -> Result {
        let (central, known) = try await open()
        do throws(CommandError) {
            DeviceAccess.tell("searching for a device of the family \(family)...")
            var search = Search(found: known)
            if known == nil { search = try await find(central) }
            guard let found = search.found else {
                DeviceAccess.tell(nil)
                if Termination.shared.isSignalled { throw CommandError.interrupted }
                throw notFound(search)
            }
            DeviceAccess.tell(nil)
            let result: Result
            do throws(CommandError) {
                result = try await body(central, found)
            } catch {
                throw await error.explained(found.label, on: central)
            }
            await central.close()
            return result
        } catch {
            await central.close()
            throw error
        }
    }

    /// The radio, and the device if it cannot be searched for.
    private func open() async throws(CommandError) -> (Central, Found?) {
        do throws(TendonError) {
            let opened = try await OpenedRadio.open(radio, for: address, by: opener)
            return (opened.central, opened.searches ? nil : address?.complete.map { Found(family, $0) })
        } catch {
            throw CommandError(opening: error, for: address)
        }
    }

    /// Runs an operation with the limit of --timeout; Ctrl-C also ends it.
    func inTime<Result: Sendable>(
        _ body: @escaping @Sendable () async throws(CommandError) -> Result
    ) async throws(CommandError) -> Result {
        try await Termination.task(for: UInt64(timeout * 1000), body)
    }

    /// Keeps the connection for this time, or until Ctrl-C. Throws as soon as the connection is lost.
    static func hold(
        for milliseconds: UInt64?, while isConnected: @escaping @TendonActor @Sendable () -> Bool
    ) async throws(CommandError) {
        guard let milliseconds, milliseconds > 0, !Termination.shared.isRequested else { return }
        _ = try? await Termination.task(for: milliseconds) { () throws(CommandError) in
            while await isConnected(), !Task.isCancelled { try? await Loop.shared.sleep(for: .milliseconds(50)) }
        }
        guard await isConnected() else { throw CommandError(.failed, Ending.lost.text) }
    }

    /// Shows a temporary line on a terminal; nil removes it.
    static func tell(_ text: String?) {
        guard Output.error.isDrawable, Output.standard.isTerminal else { return }
        Output.error.write("\r\u{1B}[2K" + (text ?? ""))
    }

    private var title: String { familyTitle(family) }

    private struct Search: Sendable {
        var found: Found?
        /// What was received of the address of --address, with its type or another one, and is not what is meant.
        var other: ScannedDevice?
    }

    private func notFound(_ search: Search) -> CommandError {
        let next = "tendon scan --families \(family)" + Definitions.words(for: family)
        guard let address else { return CommandError(.noDevice, "no \(title) was found", next: next) }
        guard let other = search.other else {
            return CommandError(.noDevice, "no \(title) was found with the address \(address.address)", next: next)
        }
        if let mismatch = address.mismatch(other.address) {
            return CommandError(
                .noDevice, mismatch, next: "--address \(other.address)/\(other.address.typeName)")
        }
        let what = other.family.map { " but of the family \($0)" } ?? ""
        return CommandError(.noDevice, "\(address.address) is in range, and is no \(title)\(what)", next: next)
    }

    /// The first that advertises, with its name when the scan response brings one soon.
    private func find(_ central: Central) async throws(CommandError) -> Search {
        try await inTime { () throws(CommandError) in
            try await translating { () throws(TendonError) in
                let families = AdvertisedFamilies()
                var devices = RecentTable<Address, ScannedDevice>(capacity: 256)
                var found: Address?
                var other: ScannedDevice?
                var seen = 0
                let advertisements = try await central.scan()
                for try await advertisement in advertisements {
                    var device = devices[advertisement.address] ?? ScannedDevice(advertisement.address)
                    _ = device.add(advertisement, of: families)
                    devices.set(device.address, device)
                    if found == nil, address?.matches(device.address) ?? true, device.family == family {
                        found = device.address
                    }
                    // One with another type does not hide the one that is meant.
                    if let address, address.address.value == device.address.value,
                        other == nil || address.matches(device.address)
                    {
                        other = device
                    }
                    guard let address = found else { continue }
                    seen += 1
                    if device.address == address, let name = device.name {
                        return Search(found: Found(family, address, name: name))
                    }
                    if seen > DeviceAccess.patience { break }
                }
                return Search(found: found.map { Found(family, $0) }, other: other)
            }
        }
    }
}
