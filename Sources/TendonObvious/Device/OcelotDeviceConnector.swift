// SPDX-License-Identifier: MIT
import CTendon
@_exported import Tendon

/// The connection of a device for managers: over a radio, or the application's own.
///
/// A ready connector opens the radio and connects by itself:
///
/// ```swift
/// let connector = OcelotDeviceConnector(to: address, productId: "1234")
/// manager.setDeviceConnector(connector)
/// try await connector.openAndWait()
/// ```
///
/// An application that owns the Bluetooth connection implements ``OcelotDeviceConnectorCallback`` and passes what it
/// receives to the connector that `getDeviceConnector()` of a manager returns.
@TendonActor
public final class OcelotDeviceConnector {
    /// State of the connection.
    public enum State: Sendable, Hashable {
        /// Not connected.
        case disconnected
        /// Connecting, or opening the service.
        case connecting
        /// Operations are possible.
        case connected
        /// Connected to a device that cannot be used, for example because it does not speak OGP/1.
        case unusable
        /// Disconnecting.
        case disconnecting
    }

    /// Of the program's managers: one connection has one session, whichever manager uses it.
    static let production = OcelotDeviceConnector()
    static let demo = OcelotDeviceConnector()

    nonisolated let lifetime: OcelotLifetime
    /// `nil`: of a ready connector.
    private var host: HostedTransport?
    nonisolated var core: OcelotCore { lifetime.core }

    /// A ready connector with a radio of its own, which is opened when it is needed. It finds the device by its address.
    public convenience init(
        to address: Address, productId: String, radio: RadioChoice = .automatic, bonds: BondStorage = .standard,
        uuids: OcelotUUIDs = OcelotUUIDs()
    ) {
        let holder = RadioHolder({ radio }, bonds: { bonds })
        self.init(OcelotCore(uuids) { RadioTransport(holder, to: address, productId: productId, $0) })
    }

    /// A ready connector on a radio that the application opened.
    public convenience init(
        to address: Address, productId: String, on central: Central, uuids: OcelotUUIDs = OcelotUUIDs()
    ) {
        let holder = RadioHolder(central.core, keeping: central)
        self.init(OcelotCore(uuids) { RadioTransport(holder, to: address, productId: productId, $0) })
    }

    /// A connector for a connection that the application owns.
    public convenience init(uuids: OcelotUUIDs = OcelotUUIDs()) {
        let hosted = HostedTransport()
        self.init(
            OcelotCore(uuids) { core in
                hosted.attach(core)
                return hosted
            })
        host = hosted
    }

    private init(_ core: OcelotCore) { lifetime = OcelotLifetime(core) }

    /// State of the connection.
    public var state: State { core.state }

    /// Changes of the state, from now on. Each access creates a new sequence: keep the one that you iterate.
    public nonisolated var states: EventStream<State> {
        EventStream(core.states.sequence(capacity: 16, policy: .dropOldest, keeping: lifetime))
    }

    /// Connects and opens the service. A feature update connects by itself; the other operations need a connection. On the
    /// application's own connection it waits for that connection.
    public func openAndWait() async throws(OcelotError) {
        guard !Task.isCancelled else { throw .cancelled }
        let core = core
        let opened = Pending<Void, OcelotError>(core.loop)
        core.connect(opened)
        try await opened.value { core.withdraw(opened) }
    }

    /// Disconnects. An operation in progress fails, or continues after a reconnection if it is an update.
    public func disconnect() { core.disconnect() }

    /// Ends the operation in progress, of whatever manager, and the checks that wait for it: their failures are reported. While only the report to the cloud is pending,
    /// an update ends with its result.
    public func cancel() { core.cancel() }

    /// Of the limit of time of reports.
    package var clock: any ObviousClock {
        get { core.clock }
        set { core.clock = newValue }
    }

    // MARK: The application's connection

    /// The device is not connected.
    public nonisolated static let CONNECTION_STATE_DISCONNECTED = 0
    /// The device is connected.
    public nonisolated static let CONNECTION_STATE_CONNECTED = 2
    /// The state has changed as it was requested.
    public nonisolated static let CONNECTION_STATUS_SUCCESS = 0
    /// The device has disconnected.
    public nonisolated static let CONNECTION_STATUS_DISCONNECTED_BY_DEVICE = 19
    /// The state could not be changed.
    public nonisolated static let CONNECTION_STATUS_FAILURE = 257

    /// Sets the owner of the connection, a weak reference. No effect on a ready connector.
    public func setConnectorCallback(_ callback: (any OcelotDeviceConnectorCallback)?) { host?.callback = callback }

    /// The characteristics whose notifications or indications the application enables, by service; others of them are read.
    public func getServerInformation() -> [BluetoothUUID: [BluetoothUUID]]? {
        [core.uuids.service: [core.uuids.data, core.uuids.status]]
    }

    /// The longest value that the connection can carry, at most its MTU minus 3; 20 unless it is set before the
    /// connection. A device sends values of that length.
    public var maximumValueLength: Int {
        get { host?.maximumValueLength ?? 20 }
        set { host?.maximumValueLength = newValue }
    }

    /// A notification, an indication, or the value that was read. The identifier is a UUID in any form and case.
    public func onUpdateDeviceData(_ characteristicId: String, _ data: [UInt8]) {
        guard let uuid = BluetoothUUID(characteristicId) else { return }
        host?.received(data, of: uuid)
    }

    /// A read failed. `status`: the code of the ATT error.
    public func onReadStatus(_ characteristicId: String, _ status: UInt8) {
        guard let uuid = BluetoothUUID(characteristicId) else { return }
        host?.readFailed(status, of: uuid)
    }

    /// The result of a write with a response; `OcelotServiceConstants.WRITE_DATA_SUCCESS` or `WRITE_DATA_FAILURE`. Results
    /// of writes of the data are ignored: their acknowledgement is a part of the protocol.
    public func onWriteStatus(_ characteristicId: String, _ status: UInt8) {}

    /// The connection has changed: connected, or disconnected, immediately. The characteristics may be discovered, and their
    /// notifications enabled, after it: until `requestCharacteristicRead` returns true it is called again, for 5 s. A state
    /// that was reported before is ignored.
    public func onConnectionStateChange(_ status: Int, _ state: Int) { host?.connectionChanged(status, state) }
}

// MARK: Operations of managers

extension OcelotDeviceConnector {
    /// Starts an operation. Returns why it does not begin.
    func start(_ operation: OcelotOperation, isOfLoop: Bool = false) -> OcelotError? {
        do throws(OcelotError) {
            try core.start(operation, isOfLoop: isOfLoop)
            return nil
        } catch {
            return error
        }
    }

    /// Starts an operation and waits for its end.
    func outcome(
        _ make: (@escaping @TendonActor (OcelotOutcome) -> Void) -> OcelotOperation
    ) async throws(OcelotError) -> OcelotOutcome {
        guard !Task.isCancelled else { throw .cancelled }
        let core = core
        let ended = Pending<OcelotOutcome, OcelotError>(core.loop)
        let operation = make { outcome in
            ended.finish(outcome.error.map { .failure($0) } ?? .success(outcome))
        }
        try core.start(operation)
        // The connection must not end before its operation.
        let lifetime = lifetime
        defer { withExtendedLifetime(lifetime) {} }
        do throws(OcelotError) {
            return try await ended.value { core.cancel(operation) }
        } catch {
            // What the device has done is not undone by a cancelled report.
            guard error.isCancelled, let outcome = operation.outcome, outcome.error == nil else { throw error }
            return outcome
        }
    }

    /// GET_INFO for a listener, which is kept until it was called.
    func information(
        _ source: OcelotCloudSource, _ listener: any OcelotDeviceInfoListener,
        onEnd: @escaping @TendonActor (OcelotError?) -> Void
    ) -> OcelotOperation {
        let answer = Feed<OcelotDeviceInfo?>(Loop.shared)
        answer.add { listener.onDeviceInfoAvailable($0) }
        return OcelotOperation(TENDON_OBVIOUS_GET_INFO, source) { outcome in
            onEnd(outcome.error)
            answer.pushSoon(outcome.info)
        }
    }
}
