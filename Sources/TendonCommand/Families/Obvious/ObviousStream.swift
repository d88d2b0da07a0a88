// SPDX-License-Identifier: MIT
// Obvious: serves one device for `run` and `stream`.
import CTendon
import Tendon
import TendonObvious
import TendonSupport

struct ObviousStream: FamilyStream {
    let product: String?
    /// Whose states are read; nil: those that the cloud lists.
    let features: [Int]?
    let listsFeatures: Bool
    /// Nil: without a cloud, a product or keys no firmware can be verified.
    let firmware: FirmwareUpgrade?
    /// Where the records of devices are; nil: with those of the user's other programs.
    private(set) var records: String?

    static let options: [Option] = [
        CloudAccess.product, CloudAccess.keysFile, CloudAccess.appVersion,
        Option(
            name: "--features", value: "LIST",
            help: "features whose states are read, with commas; default: those that the cloud lists, if "
                + "$TENDON_OBVIOUS_BASE_URL is set",
            isList: true, takes: Option.words { (word) throws(CommandError) in _ = try ObviousFeature.id(word) }),
    ]

    /// - Parameter records: the folder of what is kept of devices, in the place of the user's.
    init(product: String?, firmware: FirmwareUpgrade?, records: String) {
        (self.product, self.firmware, features, listsFeatures) = (product, firmware, [], false)
        self.records = records
    }

    init(_ arguments: Arguments) throws(CommandError) {
        let keys = try CloudAccess.keys(arguments)
        product = try arguments.product(or: keys)
        var ids: [Int]?
        if let list = arguments.value("--features") {
            ids = []
            for word in listWords(list) { ids?.append(try ObviousFeature.id(word)) }
        }
        features = ids
        let hasCloud = product != nil && environment("TENDON_OBVIOUS_BASE_URL") != nil
        listsFeatures = ids == nil && hasCloud
        firmware = hasCloud && !keys.isEmpty ? try FirmwareUpgrade(arguments) : nil
        if hasCloud { try CloudAccess.install(arguments) }
    }

    static let happenings = [
        RuleEvent(
            name: "feature", details: ["activated", "deactivated", "enabled", "disabled"],
            sources: [RuleSource("feature", detail: "state"), RuleSource("feature", detail: "toggle")])
    ]
    static let actions = RuleAction.all(of: "obvious")

    static func advice(on cause: TendonError) -> String? {
        guard cause.status == Int32(TENDON_RADIO_ERROR_PAIRING_FAILED) else { return nil }
        return "the device rejects pairing: put it into pairing mode"
    }

    @TendonActor
    func server(of device: ServedDevice) -> any DeviceServer { ObviousServer(self, device) }
}

/// One device.
@TendonActor
private final class ObviousServer: DeviceServer {
    let served: ServedDevice
    private let wanted: ObviousStream
    private let manager = OcelotFeatureManager()
    private var connector: OcelotDeviceConnector?
    private var information: OcelotDeviceInfo?
    private var titles: [Int: String] = [:]
    /// The requests at the beginning of a connection: a device has one operation at a time, so actions wait for them.
    private var beginning: Task<Void, Never>?
    private var isBeginning = false
    private var isStreaming = false
    /// Parts of them that are over.
    private var hasStates = false, hasFirmware = false
    /// Milliseconds of a connection in which actions wait for them: a cloud may not answer.
    private static let patience: UInt64 = 5000
    private var patienceEnds: UInt64 = 0
    /// Waits for the end of the connection. An upgrade restarts the device, which is no end.
    private var waiter: Task<Void, Never>?
    private var isUpgrading = false
    private var hasWarned = false

    init(_ wanted: ObviousStream, _ served: ServedDevice) {
        self.wanted = wanted
        self.served = served
        if let records = wanted.records { manager.setFileCacheDirectory(records) }
    }

    func open() async throws(ServingError) {
        do throws(OcelotError) {
            let connector = connect()
            try await connector.openAndWait()
            information = wanted.product == nil ? nil : try await manager.deviceInfo()
            if wanted.product == nil { warn() }
            served.update { [information] in $0.battery = information?.battery }
        } catch {
            connector?.disconnect()
            guard !error.isCancelled, !Task.isCancelled else { throw .cancelled }
            throw .failed("\(error)", canRetry: canRetry(error))
        }
    }

    /// Without a product nothing is known of the device. Once, not with each connection.
    private func warn() {
        guard !hasWarned else { return }
        hasWarned = true
        let who = served.label.name.map(sanitized) ?? "\(served.address)"
        Log.write(
            .warning,
            "\(who): the product of the device is not known; try: --product ID, or --keys-file FILE")
    }

    private func connect() -> OcelotDeviceConnector {
        if let connector { return connector }
        let connector = OcelotDeviceConnector(
            to: served.address, productId: wanted.product ?? "", on: served.central)
        manager.setDeviceConnector(connector)
        self.connector = connector
        return connector
    }

    /// Returns false for errors that another attempt would not change.
    private func canRetry(_ error: OcelotError) -> Bool {
        guard case .device(let cause) = error else { return true }
        let permanent = [TENDON_OBVIOUS_ERROR_UNSUPPORTED_PROFILE, TENDON_OBVIOUS_ERROR_WRONG_PRODUCT]
        return !permanent.contains { Int($0) == Int(cause.status) }
    }

    var identity: JSON {
        guard let information else { return ["product": .null] }
        func known(_ text: String?) -> JSON { text.map { .string(sanitized($0)) } ?? .null }
        return [
            "product": .string(wanted.product ?? ""), "firmware": known(information.firmwareVersion),
            "serial": known(information.serialNumber),
            "battery_percent": information.battery.map { JSON($0) } ?? .null,
        ]
    }

    func stream() async -> Ending {
        guard let connector else { return .lost }
        let states = connector.states
        let updates = manager.updates
        let consumer = consume(updates)
        (isStreaming, hasStates, hasFirmware) = (true, false, false)
        patienceEnds = tendon_monotonic_ms() + ObviousServer.patience
        begin()
        let waiter = Task { @TendonActor [self] in
            var iterator = states.makeAsyncIterator()
            while connector.state == .connected || isUpgrading {
                guard await iterator.next(isolation: TendonActor.shared) != nil else { break }
            }
        }
        self.waiter = waiter
        await withTaskCancellationHandler {
            await waiter.value
        } onCancel: {
            waiter.cancel()
        }
        let isAsked = Task.isCancelled
        isStreaming = false
        beginning?.cancel()
        connector.cancel()
        connector.disconnect()
        await beginning?.value
        consumer.cancel()
        await consumer.value
        return isAsked ? .requested : .lost
    }

    /// What is not over.
    private func begin() {
        guard isStreaming else { return }
        isBeginning = true
        beginning = Task { @TendonActor [self] in
            if !hasStates {
                await readStates()
                hasStates = !Task.isCancelled
            }
            if !hasFirmware, !Task.isCancelled {
                await findFirmware()
                hasFirmware = !Task.isCancelled
            }
            isBeginning = false
        }
    }

    /// The device is free for an action. True: the requests of the beginning are to follow again.
    private func postpone() async -> Bool {
        while isBeginning, tendon_monotonic_ms() < patienceEnds, !Task.isCancelled {
            try? await Loop.shared.sleep(for: .milliseconds(20))
        }
        guard isBeginning else { return false }
        beginning?.cancel()
        await beginning?.value
        return true
    }

    /// The states at the beginning, with the names that the cloud knows.
    private func readStates() async {
        do throws(OcelotError) {
            var ids = wanted.features ?? []
            if wanted.listsFeatures {
                let list = try await manager.featureList()
                for feature in list { titles[feature.id] = sanitized(feature.name) }
                ids = list.map(\.id)
            }
            guard !ids.isEmpty else { return }
            show(try await manager.featureStatuses(of: ids), titles)
        } catch {
            guard !error.isCancelled else { return }
            served.event("configuration_failed", ["text": .string("\(error)")])
            served.show("connected", note: "\(error)")
        }
    }

    /// What is newer than the firmware of the device.
    private func findFirmware() async {
        guard wanted.firmware != nil, !Task.isCancelled else { return }
        do throws(CommandError) {
            try await update(begins: false)
        } catch {
            guard !Task.isCancelled else { return }
            served.event("configuration_failed", ["text": .string(error.message)])
        }
    }

    private func show(_ states: [Int: OcelotFeatureStatus], _ titles: [Int: String]) {
        for (id, state) in states.sorted(by: { $0.key < $1.key }) {
            served.event("feature", state.members(id, titles[id] ?? ""))
            served.update { row in
                row.counters.notifications += 1
                row.counters.samples += 1
                row.counters.delivered += 1
                row.note = "\(titles[id] ?? "feature \(id)") \(state.words)"
            }
        }
    }

    func perform(_ call: any RuleCall) async throws(CommandError) {
        guard let call = call as? FamilyCall else { return }
        let follows = await postpone()
        defer { if follows { begin() } }
        guard call.kind == TENDON_ACT_OBVIOUS_TOGGLE else { return try await update(begins: call.number == 1) }
        do throws(OcelotError) {
            switch call.detail {
            case 0: show([call.number: try await manager.toggle(call.number)], titles)
            case 1: show(try await manager.setToggles([call.number: .Activated]), titles)
            default: show(try await manager.setToggles([call.number: .Deactivated]), titles)
            }
        } catch {
            throw CommandError(.failed, "\(error)")
        }
    }

    /// Looks for newer firmware, or begins the upgrade to it.
    private func update(begins: Bool) async throws(CommandError) {
        guard let firmware = wanted.firmware, let connector else {
            throw .usage("firmware needs $TENDON_OBVIOUS_BASE_URL, and a product and public keys that verify it")
        }
        let report = UpgradeReport(served.label, served.reporter.events, isService: true)
        guard begins else {
            _ = try await firmware.check(connector, report)
            return
        }
        isUpgrading = true
        defer {
            isUpgrading = false
            // It did not come back, and nothing further is reported of the connection.
            if connector.state != .connected { waiter?.cancel() }
        }
        try await firmware.run(connector, report)
        guard let version = try? await manager.deviceInfo().firmwareVersion else { return }
        report.found(version, nil)
    }

    private func consume(_ updates: EventStream<OcelotFeatureUpdate>) -> Task<Void, Never> {
        Task { @TendonActor [self] in
            var iterator = updates.makeAsyncIterator()
            while let update = await iterator.next(isolation: TendonActor.shared) {
                guard case .toggledAll(let states) = update else { continue }
                show(states, titles)
            }
        }
    }
}
