// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// A navigation of the C core. All of it is for the loop's thread.
final class NavigationCore: @unchecked Sendable {
    // Touched on the loop's thread alone; the C core's pointers to it are valid while the belt has it.
    private let block = CBlock<tendon_feelspace_navigation>()
    let feed = Feed<FSNavigationUpdate>(Loop.shared)
    private var lastState = FSBeltConnectionState.notConnected
    weak var controller: FSNavigationController?

    var pointer: CPointer<tendon_feelspace_navigation> { block.pointer }
    var c: tendon_feelspace_navigation { _read { yield block.pointer.pointee } }

    init(_ core: BeltCore) {
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

    private func received(_ event: CNavigationEvent) {
        guard let update = FSNavigationUpdate(event.pointee, c) else { return }
        if case .connection(let state, let error) = update {
            // The steps of an opening are one state of the controller's.
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

    /// Ends the sequences.
    func finish() { feed.close() }
}

/// Guides with a belt: it keeps the state of navigation, follows the belt's buttons and modes, and brings the belt into
/// the right mode whenever one is connected. It takes over the delegates of both managers.
///
/// Programs with vibration signals of their own override `sendVibrationCommand`.
///
/// ```swift
/// let belt = FSNavigationController()
/// belt.delegate = self
/// belt.searchAndConnectBelt()
/// belt.startNavigation(direction: 90, isMagneticBearing: true, signal: .continuous)
/// ```
@TendonActor
open class FSNavigationController {
    /// The channel of the navigation signal; others are the program's.
    public nonisolated static let NAVIGATION_SIGNAL_CHANNEL = Int(TENDON_FEELSPACE_NAVIGATION_CHANNEL)

    /// Told what happens; kept weakly.
    public weak var delegate: (any FSNavigationControllerDelegate)?
    /// What it connects with; its delegate is this controller's.
    public let connectionManager: FSConnectionManager
    /// For signals of the program's own; its delegate is this controller's.
    public var commandManager: FSCommandManager { connectionManager.commandManager }
    private let navigation: NavigationCore
    private var core: BeltCore { connectionManager.lifetime.core }

    /// With the program's connection manager.
    public convenience init() {
        self.init(connectionManager: .instance)
    }

    /// With a manager of its own. The manager's delegates are taken away.
    public init(connectionManager: FSConnectionManager) {
        self.connectionManager = connectionManager
        connectionManager.delegate = nil
        connectionManager.commandManager.delegate = nil
        let core = connectionManager.lifetime.core
        navigation = NavigationCore(core)
        navigation.controller = self
        core.attach(navigation)
    }

    deinit {
        let lifetime = connectionManager.lifetime
        let navigation = navigation
        lifetime.core.loop.post {
            if lifetime.core.navigation === navigation { lifetime.core.attach(nil) }
            navigation.finish()
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
    /// The present state, as the vendor's document has it.
    public var connectionState: FSBeltConnectionState { FSBeltConnectionState(core.c.state) }
    /// The same with the steps of a connection.
    public var connectionPhase: FSConnectionPhase { FSConnectionPhase(core.c.state) }
    /// Percent; -1: unknown.
    public var defaultVibrationIntensity: Int { commandManager.defaultIntensity }
    /// The last known one, 0 to 359; -1: unknown.
    public var beltHeading: Int { Int(tendon_feelspace_navigation_heading(navigation.pointer)) }
    /// 1, 0; -1: unknown.
    public var beltOrientationAccurate: Int { Int(tendon_feelspace_navigation_accurate(navigation.pointer)) }
    /// The last known one, whole percent; -1: unknown.
    public var beltBatteryLevel: Int { Int(tendon_feelspace_navigation_battery_level(navigation.pointer)) }
    /// The last that the belt told.
    public var beltPowerStatus: FSPowerStatus { commandManager.beltBatteryStatus.powerStatus }
    /// -1: unknown.
    public var beltFirmwareVersion: Int { commandManager.firmwareVersion }
    /// 1, 0; -1: unknown, as right after connecting.
    public var compassAccuracySignalEnabled: Int {
        Int(tendon_feelspace_navigation_accuracy_signal(navigation.pointer))
    }
    /// What is told, from now on.
    public var updates: EventSequence<FSNavigationUpdate> {
        navigation.feed.sequence(capacity: 256, policy: .dropOldest, keeping: nil)
    }

    // MARK: Connection

    /// Ends a connection, then connects the first belt that is found.
    open func searchAndConnectBelt() {
        core.openRadio()
        done(tendon_feelspace_navigation_search_and_connect(navigation.pointer, tendon_monotonic_ms()))
    }

    /// As the vendor's document once calls `connectBelt`.
    public func searchAndConnectBelt(_ belt: FSBelt) { connectBelt(belt) }

    /// Searches without connecting; the delegate is told of belts and of the end.
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

    /// The belt that was connected last, or a search where there was none.
    open func retryBeltConnection() {
        if let belt = connectionManager.retrieveLastConnectedBelt() {
            connectBelt(belt)
        } else {
            searchAndConnectBelt()
        }
    }

    /// Ends connection, attempt or search; the state of navigation stays.
    open func disconnectBelt() {
        tendon_feelspace_navigation_disconnect(navigation.pointer, tendon_monotonic_ms())
        core.refreshed(0)
    }

    // MARK: Navigation

    /// Starts, or goes on with this signal; also without a belt. False: the signal is a temporary one.
    @discardableResult
    open func startNavigation(direction: Int, isMagneticBearing: Bool, signal: FSBeltVibrationSignal?) -> Bool {
        defer { core.refreshed(0) }
        return tendon_feelspace_navigation_start(
            navigation.pointer, Int32(clamping: direction), isMagneticBearing, (signal ?? .noVibration).rawValue,
            tendon_monotonic_ms())
    }

    /// While navigating; `nil` stops the vibration.
    @discardableResult
    open func updateNavigationSignal(
        direction: Int, isMagneticBearing: Bool, signal: FSBeltVibrationSignal?
    ) -> Bool {
        defer { core.refreshed(0) }
        return tendon_feelspace_navigation_update(
            navigation.pointer, Int32(clamping: direction), isMagneticBearing, (signal ?? .noVibration).rawValue,
            tendon_monotonic_ms())
    }

    /// Pauses, and puts the belt into pause mode.
    open func pauseNavigation() {
        tendon_feelspace_navigation_pause(navigation.pointer, tendon_monotonic_ms())
        core.refreshed(0)
    }

    /// Stops, and puts the belt into wait mode.
    open func stopNavigation() {
        tendon_feelspace_navigation_stop(navigation.pointer, tendon_monotonic_ms())
        core.refreshed(0)
    }

    /// Sends the signal of navigation; called whenever it is time to. Override it for signals of your own.
    open func sendVibrationCommand(
        beltConnection: FSConnectionManager, direction: Int, isMagneticBearing: Bool, signal: FSBeltVibrationSignal
    ) {
        let at = tendon_feelspace_navigation_signal_at(
            direction: Int32(clamping: direction), is_bearing: isMagneticBearing, signal: signal.rawValue)
        done(withPointer(to: at) { tendon_feelspace_navigation_send(navigation.pointer, $0, tendon_monotonic_ms()) })
    }

    // MARK: Notifications: once, in every mode of the belt

    /// The belt's own signal. False: no belt is connected.
    @discardableResult
    open func notifyDestinationReached(shouldStopNavigation: Bool = false) -> Bool {
        done(
            tendon_feelspace_navigation_notify_destination(
                navigation.pointer, shouldStopNavigation, tendon_monotonic_ms()))
    }

    /// One second, in degrees from magnetic North or from the front. False: no belt is connected.
    @discardableResult
    open func notifyDirection(direction: Int, isMagneticBearing: Bool) -> Bool {
        done(
            tendon_feelspace_navigation_notify_direction(
                navigation.pointer, Int32(clamping: direction), isMagneticBearing, tendon_monotonic_ms()))
    }

    /// A strong warning or a light one. False: no belt is connected.
    @discardableResult
    open func notifyWarning(critical: Bool = false) -> Bool {
        done(tendon_feelspace_navigation_notify_warning(navigation.pointer, critical, tendon_monotonic_ms()))
    }

    /// The belt shows its battery. False: no belt is connected.
    @discardableResult
    open func notifyBeltBatteryLevel() -> Bool {
        done(tendon_feelspace_navigation_notify_battery(navigation.pointer, tendon_monotonic_ms()))
    }

    // MARK: Settings

    /// 5 to 100 percent.
    @discardableResult
    open func changeDefaultVibrationIntensity(intensity: Int, vibrationFeedback: Bool = true) -> Bool {
        done(
            tendon_feelspace_navigation_set_intensity(
                navigation.pointer, Int32(clamping: intensity), vibrationFeedback, tendon_monotonic_ms()))
    }

    /// Persistent: kept by the belt, also for its own compass; tell the user.
    @discardableResult
    open func setCompassAccuracySignal(enable: Bool, persistent: Bool) -> Bool {
        done(
            tendon_feelspace_navigation_set_accuracy_signal(
                navigation.pointer, enable, persistent, tendon_monotonic_ms()))
    }
}
