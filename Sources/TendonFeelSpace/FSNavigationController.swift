// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// The navigation of the C core. Use it only on the loop's thread.
final class NavigationCore: @unchecked Sendable {
    // Used only on the loop's thread. The C core's pointers to it are valid as long as the belt uses it.
    private let block = CBlock<tendon_feelspace_navigation>()
    let feed = Feed<FSNavigationUpdate>(Loop.shared)
    private var lastState: FSBeltConnectionState
    weak var controller: FSNavigationController?

    var pointer: CPointer<tendon_feelspace_navigation> { block.pointer }
    var c: tendon_feelspace_navigation { _read { yield block.pointer.pointee } }

    init(_ core: BeltCore) {
        lastState = FSBeltConnectionState(core.c.state)
        var config = tendon_feelspace_navigation_config()
        config.session = core.session
        config.context = context(of: self)
        config.on_event = { context, event, _ in
            guard let event else { return }
            object(NavigationCore.self, context).received(event)
        }
        config.send = { context, signal, now in
            guard let signal else { return }
            object(NavigationCore.self, context).send(signal.pointee)
        }
        tendon_feelspace_navigation_init(block.pointer, &config)
        feed.delegate(isSet: { [weak self] in self?.controller?.delegate != nil }) { [weak self] update in
            self?.controller?.deliver(update)
        }
    }

    /// A belt that is connected already is set up as one that connects; it is not reported again.
    func begin(_ core: BeltCore) {
        guard core.c.state == TENDON_FEELSPACE_CONNECTED else { return }
        var event = tendon_feelspace_event()
        event.kind = TENDON_FEELSPACE_EVENT_STATE
        event.connection.state = TENDON_FEELSPACE_CONNECTED
        event.connection.event = TENDON_FEELSPACE_HANDSHAKE_FINISHED
        withPointer(to: event) { tendon_feelspace_navigation_on_event(block.pointer, $0, tendon_monotonic_ms()) }
    }

    private func received(_ event: CNavigationEvent) {
        guard let update = FSNavigationUpdate(event.pointee, c) else { return }
        if case .connection(let state, let error) = update {
            // All steps of connecting are one state of the controller.
            if state == lastState, error == .noError { return }
            lastState = state
        }
        feed.push(update)
    }

    private func send(_ signal: tendon_feelspace_navigation_signal_at) {
        guard let kind = FSBeltVibrationSignal(rawValue: signal.signal) else { return }
        TendonActor.assumeIsolated {
            guard let controller else { return }
            controller.sendVibrationCommand(
                beltConnection: controller.connectionManager, direction: Int(signal.direction),
                isMagneticBearing: signal.is_bearing, signal: kind)
        }
    }

    /// Another controller has the belt, or none: ends the sequences.
    func finish() { feed.close() }
}

/// Controls navigation with a belt: it keeps the navigation state, follows the belt's buttons and modes, and sets the
/// mode of the belt whenever one is connected. It replaces the delegates of both managers.
///
/// Applications with their own vibration signals override `sendVibrationCommand`.
///
/// ```swift
/// let belt = FSNavigationController()
/// belt.delegate = self
/// belt.searchAndConnectBelt()
/// belt.startNavigation(direction: 90, isMagneticBearing: true, signal: .continuous)
/// ```
@TendonActor
open class FSNavigationController {
    /// The channel of the navigation signal; the application can use the others.
    public nonisolated static let NAVIGATION_SIGNAL_CHANNEL = Int(TENDON_FEELSPACE_NAVIGATION_CHANNEL)

    /// Receives the events; a weak reference.
    public weak var delegate: (any FSNavigationControllerDelegate)?
    /// The connection manager; its delegate belongs to this controller.
    public let connectionManager: FSConnectionManager
    /// The command manager, for the application's own signals; its delegate belongs to this controller.
    public var commandManager: FSCommandManager { connectionManager.commandManager }
    private let navigation: NavigationCore
    private nonisolated var core: BeltCore { connectionManager.lifetime.core }

    /// Uses the shared connection manager.
    public convenience init() {
        self.init(connectionManager: .instance)
    }

    /// Uses a given manager and replaces the manager's delegates; a belt may be connected already. A controller that had the
    /// manager before receives nothing more.
    public init(connectionManager: FSConnectionManager) {
        self.connectionManager = connectionManager
        connectionManager.delegate = nil
        connectionManager.commandManager.delegate = nil
        let core = connectionManager.lifetime.core
        navigation = NavigationCore(core)
        navigation.controller = self
        navigation.begin(core)
        core.attach(navigation)
    }

    deinit {
        let lifetime = connectionManager.lifetime
        let navigation = navigation
        lifetime.core.loop.post {
            if lifetime.core.navigation === navigation { lifetime.core.attach(nil) }
        }
    }

    func deliver(_ update: FSNavigationUpdate) {
        guard let delegate else { return }
        update.deliver(to: delegate) { core.isKnown($0.address) }
    }

    @discardableResult
    private func done(_ status: tendon_status) -> Bool { core.refreshed(status) >= 0 }

    // MARK: State

    /// Independent of the connection.
    public var navigationState: FSNavigationState {
        FSNavigationState(rawValue: navigation.c.state.rawValue) ?? .stopped
    }
    /// The connection state of the vendor's document.
    public var connectionState: FSBeltConnectionState { FSBeltConnectionState(core.c.state) }
    /// The connection state with all its steps.
    public var detailedConnectionState: FSConnectionState { FSConnectionState(core.c.state) }
    /// Percent; -1: unknown.
    public var defaultVibrationIntensity: Int { commandManager.defaultIntensity }
    /// The last heading, 0 to 359; -1: unknown, as while no belt is connected.
    public var beltHeading: Int { Int(tendon_feelspace_navigation_heading(navigation.pointer)) }
    /// 1, 0; -1: unknown.
    public var beltOrientationAccurate: Int { Int(tendon_feelspace_navigation_accurate(navigation.pointer)) }
    /// The last level, whole percent; -1: unknown, as while no belt is connected.
    public var beltBatteryLevel: Int { Int(tendon_feelspace_navigation_battery_level(navigation.pointer)) }
    /// The power supply that the belt reported last.
    public var beltPowerStatus: FSPowerStatus { commandManager.beltBatteryStatus.powerStatus }
    /// -1: unknown.
    public var beltFirmwareVersion: Int { commandManager.firmwareVersion }
    /// 1, 0; -1: unknown, as right after connecting.
    public var compassAccuracySignalEnabled: Int {
        Int(tendon_feelspace_navigation_accuracy_signal(navigation.pointer))
    }
    /// Updates from now on. Each access creates a new sequence: keep the one that you iterate.
    public nonisolated var updates: EventStream<FSNavigationUpdate> {
        EventStream(navigation.feed.sequence(capacity: 256, policy: .dropOldest, keeping: self))
    }

    // MARK: Connection

    /// Disconnects, then connects to the first belt found.
    open func searchAndConnectBelt() {
        core.openRadio()
        done(tendon_feelspace_navigation_search_and_connect(navigation.pointer, tendon_monotonic_ms()))
    }

    /// Connects to the first belt that a search finds, and waits until it can be used. Throws if a belt is connected.
    ///
    /// ```swift
    /// try await belt.searchAndConnect()
    /// for await update in belt.updates { if case .homeButtonPressed = update { belt.pauseNavigation() } }
    /// ```
    public func searchAndConnect() async throws(FSConnectionError) { try await connectionManager.searchAndConnect() }

    /// A name for `connectBelt` that occurs once in the vendor's document.
    public func searchAndConnectBelt(_ belt: FSBelt) { connectBelt(belt) }

    /// Searches without connecting; the delegate is notified of belts and of the end.
    open func searchBelt() {
        core.openRadio()
        done(tendon_feelspace_navigation_search(navigation.pointer, tendon_monotonic_ms()))
    }

    /// Connects to a belt that a search found.
    open func connectBelt(_ belt: FSBelt) {
        core.openRadio()
        var peer = belt.address.c
        done(tendon_feelspace_navigation_connect(navigation.pointer, &peer, tendon_monotonic_ms()))
    }

    /// Connects to the belt that was connected last, or searches if there is none.
    open func retryBeltConnection() {
        if let belt = connectionManager.retrieveLastConnectedBelt() {
            connectBelt(belt)
        } else {
            searchAndConnectBelt()
        }
    }

    /// Ends connection, attempt or search; the navigation state is kept.
    open func disconnectBelt() {
        tendon_feelspace_navigation_disconnect(navigation.pointer, tendon_monotonic_ms())
        core.refreshed(0)
    }

    // MARK: Navigation

    /// Starts or resumes navigation with this signal, even without a belt. Returns false if the signal is temporary.
    @discardableResult
    open func startNavigation(direction: Int, isMagneticBearing: Bool, signal: FSBeltVibrationSignal?) -> Bool {
        defer { core.refreshed(0) }
        return tendon_feelspace_navigation_start(
            navigation.pointer, Int32(clamping: direction), isMagneticBearing, (signal ?? .noVibration).rawValue,
            tendon_monotonic_ms())
    }

    /// Changes the signal while navigating; `nil` stops the vibration.
    @discardableResult
    open func updateNavigationSignal(
        direction: Int, isMagneticBearing: Bool, signal: FSBeltVibrationSignal?
    ) -> Bool {
        defer { core.refreshed(0) }
        return tendon_feelspace_navigation_update(
            navigation.pointer, Int32(clamping: direction), isMagneticBearing, (signal ?? .noVibration).rawValue,
            tendon_monotonic_ms())
    }

    /// Pauses navigation and sets the belt to pause mode.
    open func pauseNavigation() {
        tendon_feelspace_navigation_pause(navigation.pointer, tendon_monotonic_ms())
        core.refreshed(0)
    }

    /// Stops navigation and sets the belt to wait mode.
    open func stopNavigation() {
        tendon_feelspace_navigation_stop(navigation.pointer, tendon_monotonic_ms())
        core.refreshed(0)
    }

    /// Sends the navigation signal; called whenever the signal must be sent. Override it to send your own signals.
    open func sendVibrationCommand(
        beltConnection: FSConnectionManager, direction: Int, isMagneticBearing: Bool, signal: FSBeltVibrationSignal
    ) {
        let at = tendon_feelspace_navigation_signal_at(
            direction: Int32(clamping: direction), is_bearing: isMagneticBearing, signal: signal.rawValue)
        done(withPointer(to: at) { tendon_feelspace_navigation_send(navigation.pointer, $0, tendon_monotonic_ms()) })
    }

    // MARK: Notifications: once, in every mode of the belt

    /// Plays the belt's own destination signal. Returns false if no belt is connected.
    @discardableResult
    open func notifyDestinationReached(shouldStopNavigation: Bool = false) -> Bool {
        done(
            tendon_feelspace_navigation_notify_destination(
                navigation.pointer, shouldStopNavigation, tendon_monotonic_ms()))
    }

    /// Vibrates for one second in a direction, in degrees from magnetic north or from the front. Returns false if no
    /// belt is connected.
    @discardableResult
    open func notifyDirection(direction: Int, isMagneticBearing: Bool) -> Bool {
        done(
            tendon_feelspace_navigation_notify_direction(
                navigation.pointer, Int32(clamping: direction), isMagneticBearing, tendon_monotonic_ms()))
    }

    /// Plays a strong or a light warning. Returns false if no belt is connected.
    @discardableResult
    open func notifyWarning(critical: Bool = false) -> Bool {
        done(tendon_feelspace_navigation_notify_warning(navigation.pointer, critical, tendon_monotonic_ms()))
    }

    /// Plays the battery signal. Returns false if no belt is connected.
    @discardableResult
    open func notifyBeltBatteryLevel() -> Bool {
        done(tendon_feelspace_navigation_notify_battery(navigation.pointer, tendon_monotonic_ms()))
    }

    // MARK: Settings

    /// Sets the vibration intensity: 5 to 100 percent.
    @discardableResult
    open func changeDefaultVibrationIntensity(intensity: Int, vibrationFeedback: Bool = true) -> Bool {
        done(
            tendon_feelspace_navigation_set_intensity(
                navigation.pointer, Int32(clamping: intensity), vibrationFeedback, tendon_monotonic_ms()))
    }

    /// Enables or disables the accuracy signal. `persistent`: the belt stores the setting, also for its own compass
    /// mode, so inform the user.
    @discardableResult
    open func setCompassAccuracySignal(enable: Bool, persistent: Bool) -> Bool {
        done(
            tendon_feelspace_navigation_set_accuracy_signal(
                navigation.pointer, enable, persistent, tendon_monotonic_ms()))
    }
}
