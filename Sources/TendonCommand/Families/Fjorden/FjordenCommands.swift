// SPDX-License-Identifier: MIT
// fjorden info, watch, forget: the bonded grip, or one to bond with.
import CTendon
import Synchronization
import Tendon
import TendonFjorden
import TendonSupport

private let gripOptions = DeviceAccess.options + FjordenStream.options

extension Command {
    static let fjordenInfo = Command(
        "fjorden info",
        summary: "print versions and battery level of a Fjorden grip",
        details: [
            "Uses the bonded grip. Without a bond, pairs with the first grip in range, or the one given by --address, and stores the bond. "
                + "The bond is stored in $XDG_STATE_HOME/tendon/fjorden, or ~/.local/state/tendon/fjorden."
        ],
        options: gripOptions,
        common: Command.once,
        examples: [
            ("tendon fjorden info", "use the bonded grip, or the first in range"),
            ("tendon fjorden info --json", "print the same as JSON"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.isEmpty else { throw .usage("fjorden info takes no operands") }
        let events = Events(json: arguments.has("--json"))
        try await GripAccess(arguments).withDevice { (_, grip) throws(CommandError) in
            let found = try await information(of: grip)
            let label = await grip.label
            events.result("information", label, found, text: readable(label.json.merging(found)))
        }
        return .done
    }

    static let fjordenWatch = Command(
        "fjorden watch",
        summary: "print the events of a Fjorden grip as they happen",
        details: [
            "One line per event, JSON in a pipe. Reconnects when the connection is lost. Ends on Ctrl-C, or after --for or --count."
        ],
        options: gripOptions + [Option(name: "--count", value: "N", help: "end after N events")],
        examples: [
            ("tendon fjorden watch", "print the events of the bonded grip, or of the first in range"),
            ("tendon fjorden watch --json | grep shutterButtonDown", "print the events of the shutter button"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.isEmpty else { throw .usage("fjorden watch takes no operands") }
        let watch = GripWatch(
            events: Events(json: arguments.has("--json")),
            limit: try arguments.integer("--count", in: 1...Int.max) ?? .max)
        let duration = try arguments.duration()
        try await GripAccess(arguments).withDevice { (manager, _) throws(CommandError) in
            try await Termination.task(for: duration) { () throws(CommandError) in await watch.run(manager) }
        }
        return .done
    }

    static let fjordenForget = Command(
        "fjorden forget",
        summary: "remove the bond with the Fjorden grip",
        details: [
            "The grip keeps its part of the bond until it is reset: hold its shutter and fn buttons for 5 seconds."
        ],
        options: [],
        common: Command.once,
        examples: [("tendon fjorden forget", "the bonded grip")]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.isEmpty else { throw .usage("fjorden forget takes no operands") }
        let name = try await GripAccess(arguments).forget()
        Events(json: arguments.has("--json")).result(
            "forgotten", nil, ["family": "fjorden", "name": .string(name)],
            text:
                "\(name.isEmpty ? "the grip" : name): the bond was removed; also hold shutter and fn of the grip for 5 s\n"
        )
        return .done
    }

    @TendonActor
    private static func information(of grip: ConnectedGrip) async throws(CommandError) -> JSON {
        func known(_ text: String?) -> JSON { text.map { .string(sanitized($0)) } ?? .null }
        do throws(FjordenError) {
            let information = try await grip.readGripInfo()
            // The battery service is optional.
            let battery = try? await grip.readBatteryInfo(forceRefresh: true)
            return [
                "manufacturer": known(information.manufacturerName), "model": known(information.modelNumber),
                "firmware": known(information.firmware?.description), "hardware": known(information.hardwareVersion),
                "serial": known(information.serialNumber),
                "battery_percent": battery.map { JSON($0.level) } ?? .null,
                "battery_low": battery.map { .bool($0.isLow) } ?? .null,
            ]
        } catch {
            throw CommandError(error)
        }
    }
}

/// Connects the way an application does: the bonded grip, else a search.
private struct GripAccess: Sendable {
    private let radio: RadioChoice
    private let address: WantedAddress?
    private let timeout: Double
    private let profile: GripProfile

    init(_ arguments: Arguments) throws(CommandError) {
        radio = try arguments.radio()
        address = try arguments.address()
        timeout = try arguments.seconds("--timeout", in: 0.1...600) ?? 15
        profile = try FjordenStream(arguments).profile
    }

    @TendonActor
    private func manager(_ central: Central) throws(CommandError) -> GripManager {
        let manager = GripManager(on: central)
        var configuration = GripManager.Configuration.system
        configuration.profile = profile
        configuration.connectionTimeoutThreshold = timeout
        let bonded = configuration.persistentStorage.string(forKey: bondedGripKey).flatMap { Address($0) }
        if let address, let bonded, !address.matches(bonded) {
            configuration.persistentStorage = OtherGripStorage(configuration.persistentStorage)
        }
        do throws(FjordenError) {
            try manager.configure(with: configuration).get()
        } catch {
            throw CommandError(error)
        }
        return manager
    }

    func withDevice(
        _ body: @escaping @Sendable (GripManager, ConnectedGrip) async throws(CommandError) -> Void
    ) async throws(CommandError) {
        let central = try await translating { () throws(TendonError) in try await Central(radio: radio) }
        do throws(CommandError) {
            let manager = try await manager(central)
            DeviceAccess.tell("searching for a grip...")
            let grip: ConnectedGrip?
            do throws(CommandError) {
                grip = try await Termination.task(for: UInt64(timeout * 1000)) { () throws(CommandError) in
                    try await connect(manager)
                }
            } catch {
                DeviceAccess.tell(nil)
                if Termination.shared.isSignalled { throw CommandError.interrupted }
                guard await hasBond(manager), error.status == .noDevice else {
                    throw await explained(error, central)
                }
                // Without --address only the bonded grip is connected.
                throw CommandError(
                    .noDevice,
                    "the bonded grip is not in range; 'tendon fjorden forget' removes the bond, --address chooses "
                        + "another grip", next: "tendon fjorden forget")
            }
            DeviceAccess.tell(nil)
            guard let grip else {
                if Termination.shared.isSignalled { throw CommandError.interrupted }
                throw CommandError(.noDevice, "no grip was found", next: "tendon scan --families fjorden")
            }
            try await body(manager, grip)
            await manager.disconnect()
            await central.close()
        } catch {
            await central.close()
            throw error
        }
    }

    /// A visit connects to one grip.
    @TendonActor
    private func explained(_ error: CommandError, _ central: Central) -> CommandError {
        guard let address = central.core.latestFailedPeer else { return error }
        return error.explained(DeviceLabel("fjorden", address), on: central)
    }

    @TendonActor
    private func hasBond(_ manager: GripManager) -> Bool { manager.hasBondedGrip }

    @TendonActor
    private func connect(_ manager: GripManager) async throws(CommandError) -> ConnectedGrip? {
        do throws(FjordenError) {
            if address == nil, case .connected(let grip) = try await manager.start() { return grip }
            if address != nil { _ = try await manager.start() }
            if let grip = manager.connectedGrip {
                if address?.matches(grip.id) ?? true { return grip }
                manager.disconnect()
            }
            guard address != nil || !manager.hasBondedGrip else {
                throw .connectionTimeout
            }
            for await grips in try manager.searchForGrips() {
                // The name can be in the scan response, which follows.
                let found = grips.first { address?.matches($0.id) ?? !$0.name.isEmpty }
                if let found { return try await manager.connect(toGrip: found) }
            }
            return nil
        } catch {
            throw CommandError(error)
        }
    }

    /// The name of the grip that was forgotten.
    func forget() async throws(CommandError) -> String {
        let central = try await translating { () throws(TendonError) in try await Central(radio: radio) }
        do throws(CommandError) {
            let name = try await forget(central)
            await central.close()
            return name
        } catch {
            await central.close()
            throw error
        }
    }

    @TendonActor
    private func forget(_ central: Central) async throws(CommandError) -> String {
        let manager = try manager(central)
        let name = manager.bondedGripName ?? ""
        do throws(FjordenError) {
            try manager.disconnectAndForgetBondedGrip()
        } catch {
            throw CommandError(error)
        }
        return sanitized(name)
    }
}

/// The storage as it is for a grip that is not the bonded one: empty until that grip is bonded, which replaces the bond.
private final class OtherGripStorage: PersistentStorageProvider {
    private let storage: any PersistentStorageProvider
    private let isReplaced = Mutex(false)

    init(_ storage: any PersistentStorageProvider) { self.storage = storage }

    func string(forKey key: String) -> String? {
        isReplaced.withLock(\.self) ? storage.string(forKey: key) : nil
    }

    func set(_ value: String, forKey key: String) {
        isReplaced.withLock { $0 = true }
        storage.set(value, forKey: key)
    }

    func removeObject(forKey key: String) { storage.removeObject(forKey: key) }
}

/// Prints events as they come, over all connections.
private struct GripWatch: Sendable {
    let events: Events
    let limit: Int

    @TendonActor
    func run(_ manager: GripManager) async {
        let states = manager.subscribeToStateChanges()
        var left = limit
        if let grip = manager.connectedGrip { await follow(grip, &left) }
        if left == 0 { return }
        for await state in states {
            if case .connected(let grip) = state { await follow(grip, &left) }
            if left == 0 { return }
        }
    }

    @TendonActor
    private func follow(_ grip: ConnectedGrip, _ left: inout Int) async {
        let label = grip.label
        events.event("connected", label)
        for await record in grip.records() {
            events.event("grip", label) { record.write(to: &$0) }
            left -= 1
            if left == 0 { return }
        }
        events.event("disconnected", label, (Task.isCancelled ? Ending.requested : .lost).members)
    }
}

extension ConnectedGrip {
    @TendonActor
    fileprivate var label: DeviceLabel { DeviceLabel("fjorden", id, name: sanitized(name)) }
}

extension CommandError {
    init(_ error: FjordenError) {
        switch error {
        case .connectionTimeout, .gripDiscoveryCancelled:
            self.init(.noDevice, describe(error), next: "tendon scan")
        case .bondDoesNotExists: self.init(.noDevice, describe(error), next: "tendon pair fjorden")
        default: self.init(.failed, describe(error))
        }
    }
}
