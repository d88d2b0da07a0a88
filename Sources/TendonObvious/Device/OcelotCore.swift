// SPDX-License-Identifier: MIT
import CTendon
import Tendon

typealias OcelotLifetime = Lifetime<OcelotCore>

/// The C core's session and manager of one device, the operation in progress and its part of the cloud. For the loop's
/// thread.
final class OcelotCore: Abandonable, @unchecked Sendable {
    // Used only on the loop's thread. The C core's pointers to it are valid while the transport is not idle.
    let loop = Loop.shared
    let session = CBlock<tendon_obvious_session>()
    let manager = CBlock<tendon_obvious_manager>()
    let changes = Feed<[Int: OcelotFeatureStatus]>(Loop.shared)
    let states = Feed<OcelotDeviceConnector.State>(Loop.shared)
    let uuids: OcelotUUIDs
    /// The C core borrows it.
    let gatt = CBlock<tendon_obvious_gatt>()
    private let memory = CBytes(count: 2 * Int(TENDON_OBVIOUS_FRAME_MAX))
    private(set) var transport: (any OcelotTransport)!
    var ring = KeyRing(nil, productId: "")
    /// Until it has ended for its caller: after its report to the cloud.
    private(set) var current: OcelotOperation?
    /// Operations that wait for the end of one that was cancelled, and checks that wait for the end of another check.
    private var waiting: [OcelotOperation] = []
    /// Calls that wait for the connection.
    private var connecting: [Pending<Void, OcelotError>] = []
    private var reconnects = false
    var task: Task<Void, Never>?
    /// What the C core borrows until the end of the operation.
    var package: CBytes?
    var imageHash: CBytes?
    var image: FirmwareImage?
    /// What the C core keeps of a device, by serial number: older packages are rejected.
    private var records: [UInt64: tendon_obvious_record] = [:]
    /// Of the device whose record was loaded.
    private var recordAddress: Address?
    /// Reports of updates that did not reach the cloud.
    var unreported: [UpdateReport] = []
    /// Of the limit of time of reports.
    var clock: any ObviousClock = SystemClock()
    /// Changes of features that the end of the operation holds back.
    private var held: [Int: OcelotFeatureStatus] = [:]
    private var abandoned = false

    init(_ uuids: OcelotUUIDs = OcelotUUIDs(), _ makeTransport: (OcelotCore) -> any OcelotTransport) {
        self.uuids = uuids
        gatt.pointer.pointee = uuids.c
        var nonce = [UInt8](repeating: 0, count: 8)
        for index in nonce.indices { nonce[index] = UInt8.random(in: 0...255) }
        var config = tendon_obvious_session_config()
        config.link.context = context(of: self)
        config.link.connect = { object(OcelotCore.self, $0).transport.connect() }
        config.link.disconnect = { object(OcelotCore.self, $0).transport.disconnect() }
        config.link.pair = { object(OcelotCore.self, $0).transport.pair() }
        config.link.bonded = { object(OcelotCore.self, $0).transport.isBonded() }
        config.link.forget = { object(OcelotCore.self, $0).transport.forget() }
        config.gatt = UnsafePointer(gatt.pointer)
        config.memory = memory.pointer
        config.frame_max = UInt16(TENDON_OBVIOUS_FRAME_MAX)
        config.window = 8
        copy(nonce, to: &config.nonce)
        config.context = context(of: self)
        config.on_event = { context, event, _ in
            guard let event else { return }
            object(OcelotCore.self, context).connection(event.pointee)
        }
        tendon_obvious_session_init(session.pointer, &config)
        var managing = tendon_obvious_manager_config()
        managing.session = session.pointer
        managing.ring = ring.pointer
        managing.chunk_max = 4000
        managing.context = context(of: self)
        managing.on_event = { context, event, _ in
            guard let event else { return }
            object(OcelotCore.self, context).received(event.pointee)
        }
        managing.min_battery = 20
        managing.read = { context, offset, buffer, length in
            object(OcelotCore.self, context).read(Int(offset), buffer, length)
        }
        managing.store = { context, record in
            guard let record else { return Int32(TENDON_ERROR_INVALID_ARGUMENT) }
            return object(OcelotCore.self, context).store(record.pointee)
        }
        managing.load = { context, out in
            guard let out, let record = object(OcelotCore.self, context).record(of: out.pointee.serial) else { return }
            out.pointee = record
        }
        tendon_obvious_manager_init(manager.pointer, &managing)
        transport = makeTransport(self)
    }

    var productId: String? { transport.productId() }

    var state: OcelotDeviceConnector.State {
        switch tendon_obvious_session_state(rawValue: UInt32(session.pointer.pointee.state)) {
        case TENDON_OBVIOUS_SESSION_CONNECTING, TENDON_OBVIOUS_SESSION_OPENING: .connecting
        case TENDON_OBVIOUS_SESSION_OPEN: .connected
        case TENDON_OBVIOUS_SESSION_UNUSABLE: .unusable
        case TENDON_OBVIOUS_SESSION_CLOSING: .disconnecting
        default: .disconnected
        }
    }

    func abandon() {
        guard !abandoned else { return }
        abandoned = true
        // What the device has done is still reported.
        if current?.outcome == nil { task?.cancel() }
        let ended = [current].compactMap { $0 } + waiting
        (current, waiting) = (nil, [])
        for operation in ended { operation.end(operation.outcome ?? operation.failure(.cancelled)) }
        finishConnecting(.failure(.cancelled))
        transport.close()
        changes.close()
        states.close()
    }

    // MARK: The connection

    func connect(_ call: Pending<Void, OcelotError>) {
        switch state {
        case .connected: return call.finish(.success(()))
        case .unusable: return call.finish(.failure(failure(session.pointer.pointee.status)))
        case .connecting: break
        case .disconnecting: reconnects = true
        case .disconnected:
            do throws(TendonError) {
                try transport.prepare()
                try check(tendon_obvious_session_connect(session.pointer, tendon_monotonic_ms()), .connect)
            } catch {
                return call.finish(.failure(.device(error)))
            }
            states.pushSoon(.connecting)
        }
        connecting.append(call)
        transport.refresh()
    }

    /// The application has connected: opens the session, unless it waits for that.
    func hostConnected() {
        guard !abandoned, state == .disconnected else { return }
        tendon_obvious_session_connect(session.pointer, tendon_monotonic_ms())
        states.pushSoon(.connecting)
    }

    /// A call does not wait any more; the last one ends the attempt, unless an operation needs the connection.
    func withdraw(_ call: Pending<Void, OcelotError>) {
        connecting.removeAll { $0 === call }
        if connecting.isEmpty, current == nil, state == .connecting { disconnect() }
    }

    func disconnect() {
        reconnects = false
        tendon_obvious_session_disconnect(session.pointer, tendon_monotonic_ms())
        transport.refresh()
    }

    private func failure(_ status: tendon_status) -> OcelotError { OcelotError(transport.reason ?? status) }

    private func takeConnecting() -> [Pending<Void, OcelotError>] {
        let calls = connecting
        connecting = []
        return calls
    }

    private func finishConnecting(_ result: Result<Void, OcelotError>) {
        for call in takeConnecting() { call.finish(result) }
    }

    /// Events of the session, which the manager passes on.
    private func connection(_ event: tendon_obvious_session_event) {
        guard !abandoned else { return }
        switch event.kind {
        case TENDON_OBVIOUS_SESSION_EVENT_OPENED:
            finishConnecting(.success(()))
            states.pushSoon(.connected)
        case TENDON_OBVIOUS_SESSION_EVENT_UNUSABLE:
            finishConnecting(.failure(failure(event.status)))
            states.pushSoon(.unusable)
        case TENDON_OBVIOUS_SESSION_EVENT_CLOSED:
            states.pushSoon(.disconnected)
            if reconnects {
                reconnects = false
                loop.post { [weak self] in self?.connectAgain() }
            } else {
                finishConnecting(.failure(failure(event.status)))
            }
        default: break
        }
    }

    private func connectAgain() {
        for call in takeConnecting() { connect(call) }
    }

    // MARK: Operations

    /// Starts an operation, which ends once; never within this call. `isOfLoop`: one check of several, which the vendor's
    /// guide starts one after another: it waits for the check in progress.
    func start(_ operation: OcelotOperation, isOfLoop: Bool = false) throws(OcelotError) {
        if current == nil, waiting.isEmpty {
            try begin(operation)
        } else if current?.isCancelled ?? true || isOfLoop && hasRoomForCheck {
            waiting.append(operation)
        } else {
            throw .busy
        }
    }

    /// A device has at most 1024 features.
    private var hasRoomForCheck: Bool { current?.kind == TENDON_OBVIOUS_CHECK_STATUS && waiting.count < 1024 }

    private func begin(_ operation: OcelotOperation) throws(OcelotError) {
        guard !abandoned else { throw .cancelled }
        do throws(OcelotError) {
            try prepare(operation)
        } catch .argument {
            throw .argument
        } catch {
            // As if the device had failed: the result is reported as that of an operation, and the next one follows.
            loop.post { [weak self] in
                operation.fail(error)
                self?.beginNext()
            }
        }
    }

    private func prepare(_ operation: OcelotOperation) throws(OcelotError) {
        guard let productId = transport.productId(), let product = UInt32(productId) else { throw .noProduct }
        do throws(TendonError) {
            try transport.prepare()
        } catch {
            throw .device(error)
        }
        ring = KeyRing(operation.trust, productId: productId)
        manager.pointer.pointee.config.ring = ring.pointer
        manager.pointer.pointee.config.product = product
        loadRecord(operation)
        let status = tendon_obvious_manager_start(
            manager.pointer, operation.kind, operation.features?.pointer, operation.count, tendon_monotonic_ms())
        guard status >= 0 else { throw OcelotError(status) }
        current = operation
        transport.refresh()
    }

    /// The record of an earlier process, of a device with an address.
    private func loadRecord(_ operation: OcelotOperation) {
        guard let address = transport.address, address != recordAddress else { return }
        recordAddress = address
        guard let record = operation.cache.record(of: address) else { return }
        records[record.serial] = record
    }

    /// The record of the device that is connected.
    private func record(of serial: UInt64) -> tendon_obvious_record? {
        if let record = records[serial] { return record }
        guard transport.address == nil, let record = current?.cache.record(of: serial), record.serial == serial else {
            return nil
        }
        records[serial] = record
        return record
    }

    private func store(_ record: tendon_obvious_record) -> tendon_status {
        records[record.serial] = record
        guard let cache = current?.cache else { return 0 }
        return transport.address.map { cache.store(record, of: $0) } ?? cache.store(record)
    }

    private func read(_ offset: Int, _ buffer: UnsafeMutablePointer<UInt8>?, _ length: Int) -> tendon_status {
        let bytes = image?.part(at: offset, count: length) ?? []
        guard bytes.count == length else { return Int32(TENDON_ERROR_NOT_FOUND) }
        write(bytes, to: buffer, count: length)
        return 0
    }

    /// Ends an operation: that of a caller that does not wait any more, or any, with the checks that wait for it.
    func cancel(_ operation: OcelotOperation? = nil) {
        if let operation, let index = waiting.firstIndex(where: { $0 === operation }) {
            waiting.remove(at: index).fail(.cancelled)
            return
        }
        // Between two checks, where their listeners are called, none is in progress.
        if operation == nil, !(current?.isCancelled ?? false) { cancelChecks() }
        guard let current, operation == nil || operation === current else { return }
        task?.cancel()
        guard current.outcome == nil else { return finish(current) }
        current.isCancelled = true
        tendon_obvious_manager_cancel(manager.pointer, tendon_monotonic_ms())
        transport.refresh()
    }

    private func cancelChecks() {
        let checks = waiting.filter { $0.kind == TENDON_OBVIOUS_CHECK_STATUS }
        waiting.removeAll { $0.kind == TENDON_OBVIOUS_CHECK_STATUS }
        for check in checks { check.fail(.cancelled) }
    }

    private func received(_ event: tendon_obvious_event) {
        guard !abandoned else { return }
        switch event.kind {
        case TENDON_OBVIOUS_EVENT_NEED: need(tendon_obvious_need(rawValue: UInt32(event.code)))
        case TENDON_OBVIOUS_EVENT_PROVISIONING: current?.report(.provisioning(Int(event.code)))
        case TENDON_OBVIOUS_EVENT_UPDATE: current?.report(.update(Int(event.code)))
        case TENDON_OBVIOUS_EVENT_PROGRESS:
            current?.report(.progress(serialText(manager.pointer.pointee.serial), Int(event.code)))
        case TENDON_OBVIOUS_EVENT_CHANGED:
            var states: [Int: OcelotFeatureStatus] = [:]
            for index in 0..<event.count {
                if let feature = event.features?[index] { states[Int(feature.id)] = OcelotFeatureStatus(feature) }
            }
            held.merge(states) { $1 }
            if current == nil { tellHeld() }
        default: ended(event)
        }
    }

    private func ended(_ event: tendon_obvious_event) {
        guard let operation = current else { return }
        task?.cancel()
        (package, imageHash, image) = (nil, nil, nil)
        var outcome = OcelotOutcome(code: Int(event.code), error: error(of: event, operation))
        if outcome.error == nil {
            outcome.features = operation.states
            if event.operation == TENDON_OBVIOUS_GET_INFO { outcome.info = OcelotDeviceInfo(manager.pointer.pointee) }
            if event.operation == TENDON_OBVIOUS_CHECK_FIRMWARE { take(event, operation, &outcome) }
        }
        outcome.isOtherTrial = manager.pointer.pointee.other_trial
        if event.operation == TENDON_OBVIOUS_UPGRADE_FIRMWARE { removeImage(operation, outcome) }
        operation.outcome = outcome
        if operation.hasReport, !operation.isCancelled {
            report(operation, outcome)
        } else {
            finish(operation)
        }
    }

    /// The end of an operation for its caller.
    func finish(_ operation: OcelotOperation) {
        guard current === operation, let outcome = operation.outcome else { return }
        (current, task) = (nil, nil)
        operation.end(outcome)
        tellHeld()
        if !waiting.isEmpty { loop.post { [weak self] in self?.beginNext() } }
    }

    private func tellHeld() {
        guard !held.isEmpty else { return }
        changes.pushSoon(held)
        held = [:]
    }

    /// The result of a firmware check: texts of the cloud, the version of the signed manifest.
    private func take(_ event: tendon_obvious_event, _ operation: OcelotOperation, _ outcome: inout OcelotOutcome) {
        let (current, offered) = (manager.pointer.pointee.fw, manager.pointer.pointee.offer.version)
        if current <= UInt32(TENDON_OBVIOUS_VERSION_MAX) { outcome.version = Int64(current) }
        if event.code == 0, let info = operation.release?.info {
            outcome.firmware = OcelotFirmwareInfo(
                versionCode: Int64(offered), versionName: info.versionName, releaseNotes: info.releaseNotes,
                upgradeMessage: info.upgradeMessage)
        } else if let error = operation.cloudError {
            outcome.note = .cloud(error)
        } else if event.status < 0 {
            outcome.note = OcelotError(event.status)
        }
    }

    /// An image is kept for an upgrade that may continue.
    private func removeImage(_ operation: OcelotOperation, _ outcome: OcelotOutcome) {
        let status = OcelotFirmwareManager.OcelotFirmwareUpgradeStatus(rawValue: outcome.code)
        guard let release = operation.release, operation.imageUse != nil else { return }
        operation.imageUse = nil
        if status == .SUCCESS || status == .DOWNLOAD_FAILED { operation.cache.removeImage(release.sha256) }
    }

    private func error(of event: tendon_obvious_event, _ operation: OcelotOperation) -> OcelotError? {
        let isCheck = event.operation == TENDON_OBVIOUS_CHECK_FIRMWARE
        if event.code == 0 || (isCheck && event.code == TENDON_OBVIOUS_UNAVAILABLE.rawValue) { return nil }
        if operation.isCancelled || event.status == Int32(TENDON_ERROR_CANCELLED) { return .cancelled }
        if let error = operation.cloudError { return .cloud(error) }
        let status = transport.reason ?? event.status
        let cause = status < 0 ? TendonError(status: status, operation: .obvious) : nil
        if event.operation == TENDON_OBVIOUS_UPGRADE_FIRMWARE {
            return .upgrade(.init(rawValue: Int(event.code)) ?? .FAILED, cause: cause)
        }
        guard event.operation != TENDON_OBVIOUS_UPDATE_FEATURES else {
            return .update(status: Int(event.code), cause: cause)
        }
        return cause.map { .device($0) } ?? .update(status: Int(event.code), cause: nil)
    }

    private func beginNext() {
        guard current == nil, !waiting.isEmpty else { return }
        let next = waiting.removeFirst()
        do {
            try begin(next)
        } catch {
            next.fail(error)
            beginNext()
        }
    }

    // MARK: The cloud

    private func need(_ need: tendon_obvious_need) {
        guard let operation = current else { return }
        let c = manager.pointer.pointee
        switch need {
        case TENDON_OBVIOUS_NEED_REPORT: operation.hasReport = true
        case TENDON_OBVIOUS_NEED_FIRMWARE, TENDON_OBVIOUS_NEED_IMAGE:
            let query = FirmwareQuery(
                productId: transport.productId() ?? "", serialNumber: serialText(c.serial),
                currentVersion: versionText(c.fw) ?? "0.0.0", appVersion: operation.appVersion)
            offer(operation, query, withImage: need == TENDON_OBVIOUS_NEED_IMAGE)
        case TENDON_OBVIOUS_NEED_PROVISION:
            let (serial, product) = (serialText(c.serial), transport.productId() ?? "")
            let nonce = c.nonce.outstanding ? elements(c.nonce.bytes, of: UInt8.self, 16) : nil
            ask(operation, need) { cloud, key throws(ObviousCloudError) in
                .package(try await cloud.provision(serialNumber: serial, productId: product, nonce: nonce, key: key))
            }
        default:
            let query = FeatureUpdateQuery(
                serialNumber: serialText(c.serial), productId: transport.productId() ?? "", counter: c.counter,
                nonce: c.nonce.outstanding ? elements(c.nonce.bytes, of: UInt8.self, 16) : nil,
                firmwareVersion: versionText(c.fw) ?? "0.0.0", appVersion: operation.appVersion)
            ask(operation, need) { cloud, key throws(ObviousCloudError) in
                try await cloud.featureUpdate(query, key: key)
            }
        }
    }

    private func ask(
        _ operation: OcelotOperation, _ need: tendon_obvious_need,
        _ body:
            @escaping @Sendable (any ObviousCloudService, ObviousAPIKey?) async throws(ObviousCloudError) ->
            FeatureUpdateAnswer
    ) {
        task = Task { @TendonActor [weak self] in
            let result: Result<FeatureUpdateAnswer, ObviousCloudError>
            do throws(ObviousCloudError) {
                result = .success(try await body(operation.cloud.get(), operation.key))
            } catch {
                result = .failure(error)
            }
            guard !Task.isCancelled else { return }
            self?.give(result, to: operation, need)
        }
    }

    private func give(
        _ result: Result<FeatureUpdateAnswer, ObviousCloudError>, to operation: OcelotOperation,
        _ need: tendon_obvious_need
    ) {
        guard current === operation else { return }
        var answer = tendon_obvious_answer()
        switch result {
        case .success(.package(let package)):
            let bytes = CBytes(package.bytes)
            self.package = bytes
            answer.kind = TENDON_OBVIOUS_ANSWER_GIVEN
            (answer.data, answer.length) = (UnsafePointer(bytes.pointer), bytes.count)
        case .success(.nothingNew): answer.kind = TENDON_OBVIOUS_ANSWER_NOTHING
        case .success(.notProvisioned(let inField)):
            answer.kind = inField ? TENDON_OBVIOUS_ANSWER_PROVISION : TENDON_OBVIOUS_ANSWER_REFUSED
        case .failure(let error):
            operation.cloudError = error
            let isRefused = need == TENDON_OBVIOUS_NEED_PROVISION && error.isProvisioningForbidden
            answer.kind = isRefused ? TENDON_OBVIOUS_ANSWER_REFUSED : TENDON_OBVIOUS_ANSWER_FAILED
        }
        tendon_obvious_manager_give(manager.pointer, &answer, tendon_monotonic_ms())
        transport.refresh()
    }
}
