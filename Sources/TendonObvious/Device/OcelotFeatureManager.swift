// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Updates the features of a device, and reads and switches them.
///
/// ```swift
/// let manager = OcelotFeatureManager.getFeatureManager()
/// manager.setFeatureEventListener(self)
/// manager.setAPIKey("Your API Key")
/// manager.startFeatureUpdate()
/// ```
///
/// A device performs one operation at a time: a function that starts another one returns false, and no listener is
/// called; only ``checkFeatureStatus(featureid:)`` may be called for each feature in turn. Listeners are called on the
/// loop's thread, never within the function that starts an operation, and once with its result. Beside each of these
/// functions is an asynchronous one, which calls no listener.
@TendonActor
public final class OcelotFeatureManager {
    private static let production = OcelotFeatureManager(.installed, nil, .production)
    private static let demo = OcelotFeatureManager(.demo, nil, .demo)

    private var source: OcelotCloudSource
    private var connector: OcelotDeviceConnector
    private weak var featureListener: (any OcelotFeatureEventListener)?
    private weak var toggleListener: (any OcelotToggleEventListener)?
    private let feed = Feed<OcelotFeatureUpdate>(Loop.shared)
    private var changes: FeedToken?
    private var isListing = false
    /// Why the last operation failed; `nil`: it succeeded.
    public private(set) var lastError: OcelotError?

    private init(
        _ cloud: OcelotCloudSource.Cloud, _ trust: ObviousTrust?, _ connector: OcelotDeviceConnector
    ) {
        source = OcelotCloudSource(cloud, trust: trust)
        self.connector = connector
        // The first of both is the toggle listener: the order of the vendor's document.
        feed.delegate(isSet: { [weak self] in self?.toggleListener != nil }) { [weak self] update in
            if let listener = self?.toggleListener { update.deliver(to: listener) }
        }
        feed.delegate(isSet: { [weak self] in self?.featureListener != nil }) { [weak self] update in
            if let listener = self?.featureListener { update.deliver(to: listener) }
        }
        observeChanges()
    }

    deinit { changes?.cancel() }

    /// A manager of its own, beside the shared ones, for programs with several devices. `trust`: `nil`: the installed
    /// keys.
    public convenience init(cloud: any ObviousCloudService, trust: ObviousTrust? = nil) {
        self.init(.own(cloud), trust, OcelotDeviceConnector())
    }

    /// The same with the installed cloud.
    public convenience init() { self.init(.installed, nil, OcelotDeviceConnector()) }

    /// The manager of the program, with the installed cloud.
    public static func getFeatureManager() -> OcelotFeatureManager { production }
    /// The manager of the program with the demo cloud.
    public static func getDemoFeatureManager() -> OcelotFeatureManager { demo }

    // MARK: Settings

    /// Sets the listener of updates and lists, a weak reference.
    public func setFeatureEventListener(_ listener: (any OcelotFeatureEventListener)?) { featureListener = listener }
    /// Sets the listener of states and switches, a weak reference.
    public func setToggleEventListener(_ listener: (any OcelotToggleEventListener)?) { toggleListener = listener }
    /// The same, with its other name. `context` is ignored.
    public func setToggleConfigs(_ listener: (any OcelotToggleEventListener)?, _ context: Any? = nil) {
        toggleListener = listener
    }
    /// Sets the API key of its calls, instead of that of the cloud's configuration.
    public func setAPIKey(_ key: String) { source.setKey(key) }
    /// The folder of what survives a restart.
    public func setFileCacheDirectory(_ path: String) { source.cache = FileCache(folder: path) }
    /// The version of the application, a part of queries to the cloud.
    public var appVersion: String {
        get { source.appVersion }
        set { source.appVersion = newValue }
    }

    /// The connector of the next operation. The program's feature manager and firmware manager have the same one.
    public func getDeviceConnector() -> OcelotDeviceConnector { connector }
    /// Sets the connector of the next operation: a ready one, or that of another manager.
    public func setDeviceConnector(_ connector: OcelotDeviceConnector) {
        self.connector = connector
        observeChanges()
    }

    private func observeChanges() {
        changes?.cancel()
        changes = connector.core.changes.add { [weak feed] states in feed?.push(.toggledAll(states)) }
    }

    /// What the listeners receive, from now on. Each access creates a new sequence: keep the one that you iterate.
    public nonisolated var updates: EventStream<OcelotFeatureUpdate> {
        EventStream(feed.sequence(capacity: 256, policy: .dropOldest, keeping: self))
    }

    /// Ends the operation in progress, and the checks that wait for it: their failures are reported.
    public func cancel() { connector.cancel() }

    /// The connection of the application has changed; the same as the connector's function.
    public func onConnectionStateChange(_ status: Int, _ state: Int) {
        connector.onConnectionStateChange(status, state)
    }

    // MARK: Update

    /// Brings the device's features to what the cloud permits; connects if necessary. The listener receives each step and
    /// the result. Returns false, and calls no listener, while another operation is in progress.
    @discardableResult
    public func startFeatureUpdate() -> Bool {
        start(updating { [feed] in feed.pushSoon($0) })
    }

    private func updating(
        _ report: @escaping @TendonActor (OcelotFeatureUpdate) -> Void,
        onEnd: @escaping @TendonActor (OcelotOutcome) -> Void = { _ in }
    ) -> OcelotOperation {
        OcelotOperation(
            TENDON_OBVIOUS_UPDATE_FEATURES, source,
            onStep: { step in
                switch step {
                case .update(let status): report(.updateStatus(status))
                case .provisioning(let status): report(.provisioningStatus(status))
                case .progress, .found, .downloaded: break
                }
            },
            onEnd: { [weak self] outcome in
                self?.lastError = outcome.error
                report(.updateStatus(outcome.code))
                onEnd(outcome)
            })
    }

    /// Brings the device's features to what the cloud permits; connects if necessary. `onStep` is called with each step.
    public func updateFeatures(
        onStep: @escaping @TendonActor (OcelotFeatureUpdate) -> Void = { _ in }
    ) async throws(OcelotError) {
        let steps = Feed<OcelotFeatureUpdate>(connector.core.loop)
        steps.add(onStep)
        _ = try await connector.outcome { onEnd in updating({ steps.pushSoon($0) }, onEnd: onEnd) }
    }

    // MARK: List

    /// Requests the features of the product; no device is needed. Returns false, and calls no listener, while they are
    /// being received.
    @discardableResult
    public func getFeatureList() -> Bool {
        guard !isListing else { return false }
        isListing = true
        Task { @TendonActor in
            var features: [String: Int]?
            do throws(OcelotError) {
                features = Dictionary(try await self.featureList().map { ($0.name, $0.id) }, uniquingKeysWith: { $1 })
            } catch {}
            self.isListing = false
            self.feed.push(.featureList(features))
        }
        return true
    }

    /// The features of the product; no device is needed.
    public func featureList() async throws(OcelotError) -> [ObviousFeature] {
        do throws(OcelotError) {
            let features = try await listed()
            lastError = nil
            return features
        } catch {
            lastError = error
            throw error
        }
    }

    private func listed() async throws(OcelotError) -> [ObviousFeature] {
        guard !Task.isCancelled else { throw .cancelled }
        guard let productId = connector.core.productId else { throw .noProduct }
        do throws(ObviousCloudError) {
            return try await source.service().features(productId: productId, key: source.key)
        } catch {
            throw error.isCancelled ? .cancelled : .cloud(error)
        }
    }

    // MARK: States

    /// Reads the state of a feature; while another check is in progress, after it. Returns false, and calls no listener,
    /// while an operation of another kind is in progress, or if the id is not 1 to 1024.
    @discardableResult
    public func checkFeatureStatus(featureid: Int) -> Bool {
        guard (1...1024).contains(featureid) else {
            lastError = .argument
            return false
        }
        return start(TENDON_OBVIOUS_CHECK_STATUS, [(featureid, .Unknown)], isOfLoop: true) { states in
            states[featureid].map { .checked(featureid, $0) }
        }
    }

    /// Reads the states of several features. Returns false, and calls no listener, while another operation is in progress,
    /// or if the list is not valid.
    @discardableResult
    public func checkFeatureStatuses(featureIds: [Int]) -> Bool {
        start(TENDON_OBVIOUS_CHECK_STATUS, featureIds.map { ($0, .Unknown) }) { .checkedAll($0) }
    }

    /// Reads the states of features.
    public func featureStatuses(of ids: [Int]) async throws(OcelotError) -> [Int: OcelotFeatureStatus] {
        try await states(TENDON_OBVIOUS_CHECK_STATUS, ids.map { ($0, .Unknown) })
    }

    /// Switches a feature on if it is off, and off if it is on. Returns false, and calls no listener, while another
    /// operation is in progress, or if the id is not 1 to 1024.
    @discardableResult
    public func toggleFeature(featureid: Int) -> Bool {
        start(TENDON_OBVIOUS_TOGGLE, [(featureid, .Unknown)]) { states in
            states[featureid].map { .toggled(featureid, $0) }
        }
    }

    /// Switches a feature on if it is off, and off if it is on; returns its new state.
    public func toggle(_ id: Int) async throws(OcelotError) -> OcelotFeatureStatus {
        let states = try await states(TENDON_OBVIOUS_TOGGLE, [(id, .Unknown)])
        return states[id] ?? .Disabled(toggleState: .Unknown)
    }

    /// Switches a feature `Activated` or `Deactivated`. Returns false, and calls no listener, while another operation is in
    /// progress, or if the arguments are not valid.
    @discardableResult
    public func setToggleFeatureStatus(featureid: Int, toggleState: OcelotToggleStatus) -> Bool {
        start(TENDON_OBVIOUS_SET_TOGGLES, [(featureid, toggleState)]) { states in
            states[featureid].map { .toggled(featureid, $0) }
        }
    }

    /// The same for several features. A device switches the features of one request all, or none of them; more than 64 (on a
    /// device with short frames, fewer) are several requests, one after another: after a failure check them all.
    @discardableResult
    public func setToggleStatuses(featureToggleStatuses: [Int: OcelotToggleStatus]) -> Bool {
        start(TENDON_OBVIOUS_SET_TOGGLES, ordered(featureToggleStatuses)) { .toggledAll($0) }
    }

    /// Switches features `Activated` or `Deactivated`; returns their new states. As for ``setToggleStatuses(featureToggleStatuses:)``,
    /// a part of more than 64 can be switched when it throws.
    public func setToggles(_ toggles: [Int: OcelotToggleStatus]) async throws(OcelotError) -> [Int: OcelotFeatureStatus]
    {
        try await states(TENDON_OBVIOUS_SET_TOGGLES, ordered(toggles))
    }

    private func ordered(_ toggles: [Int: OcelotToggleStatus]) -> [(id: Int, toggle: OcelotToggleStatus)] {
        toggles.sorted { $0.key < $1.key }.map { (id: $0.key, toggle: $0.value) }
    }

    // MARK: Information

    /// Reads the information about the device. Returns false, and does not call the listener, while another operation is
    /// in progress. The listener is kept until it was called.
    @discardableResult
    public func getDeviceInfo(delegate listener: any OcelotDeviceInfoDelegate) -> Bool {
        start(connector.information(source, listener) { [weak self] in self?.lastError = $0 })
    }

    /// Reads the information about the device.
    public func deviceInfo() async throws(OcelotError) -> OcelotDeviceInfo {
        let source = source
        let outcome = try await connector.outcome { onEnd in
            OcelotOperation(TENDON_OBVIOUS_GET_INFO, source, onEnd: keepingError(onEnd))
        }
        guard let info = outcome.info else { throw .device(.cancelled) }
        return info
    }

    // MARK: Operations

    private func start(_ operation: OcelotOperation, isOfLoop: Bool = false) -> Bool {
        lastError = connector.start(operation, isOfLoop: isOfLoop)
        return lastError == nil
    }

    private func start(
        _ kind: tendon_obvious_operation, _ features: [(id: Int, toggle: OcelotToggleStatus)], isOfLoop: Bool = false,
        _ update: @escaping @TendonActor ([Int: OcelotFeatureStatus]) -> OcelotFeatureUpdate?
    ) -> Bool {
        start(
            OcelotOperation(kind, source, features: features) { [weak self, feed] outcome in
                self?.lastError = outcome.error
                feed.pushSoon(outcome.error == nil ? update(outcome.features) ?? .statusFailure : .statusFailure)
            }, isOfLoop: isOfLoop)
    }

    private func states(
        _ kind: tendon_obvious_operation, _ features: [(id: Int, toggle: OcelotToggleStatus)]
    ) async throws(OcelotError) -> [Int: OcelotFeatureStatus] {
        let source = source
        return try await connector.outcome { onEnd in
            OcelotOperation(kind, source, features: features, onEnd: keepingError(onEnd))
        }.features
    }

    private func keepingError(
        _ onEnd: @escaping @TendonActor (OcelotOutcome) -> Void
    ) -> @TendonActor (OcelotOutcome) -> Void {
        { [weak self] outcome in
            self?.lastError = outcome.error
            onEnd(outcome)
        }
    }
}
