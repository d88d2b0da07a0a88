// SPDX-License-Identifier: MIT
import CTendon

/// What a central has enabled for a characteristic.
public struct Subscriptions: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Notifications.
    public static let notifications = Subscriptions(rawValue: 1)
    /// Indications, each confirmed.
    public static let indications = Subscriptions(rawValue: 2)
}

/// A device of the program's own: it advertises, and serves its characteristics to up to four centrals at a time.
///
/// ``Peripheral`` is a device of others; this one is local, as Core Bluetooth's `CBPeripheralManager`. Its services are
/// declared by value and are complete when it is made. The services that every device has, Generic Access with the name
/// and Generic Attribute with the hash of the table, are added.
///
/// ```swift
/// let rate = LocalCharacteristic("2a37", properties: .notify)
/// let peripheral = try await LocalPeripheral(name: "Tendon", services: [LocalService("180d", [rate])])
/// try await peripheral.start()
/// for try await event in await peripheral.events() {
///     if case .subscribed = event { try await peripheral.notify([0, 72], for: rate) }
/// }
/// ```
///
/// What a central has subscribed to ends with its connection; if it is bonded, a ``SubscriptionStorage`` keeps it. The
/// device stops, and its connections end, when the last reference to it and to its sequences is released.
@TendonActor
public final class LocalPeripheral {
    /// Something that a central did.
    public enum Event: Sendable, Hashable {
        /// It is connected.
        case connected(ConnectedCentral)
        /// Its connection has ended; once for each. The reason is `nil` if the program requested it.
        case disconnected(ConnectedCentral, TendonError?)
        /// It has changed its subscriptions of a characteristic to these.
        case subscribed(ConnectedCentral, LocalCharacteristic.ID, Subscriptions)
        /// It has read a value, or a part of it.
        case read(ConnectedCentral, LocalCharacteristic.ID)
        /// It has written a value, or a part of it, which was not rejected.
        case wrote(ConnectedCentral, LocalCharacteristic.ID, WriteRequest)
    }

    /// What a device is beside its services.
    struct Options: Sendable {
        var name: String
        var appearance: UInt16
        var advertisement: AdvertisingData?
        var scanResponse: AdvertisingData?
        var interval: Duration
        var subscriptions: SubscriptionStorage
    }

    nonisolated let core: LocalPeripheralCore
    /// Kept, because a shared radio is the central's.
    private let central: Central?
    /// "bluez" or "virtual".
    public nonisolated let radioName: String
    /// Our own address.
    public nonisolated let address: Address

    /// Opens the radio and prepares the device. It does not advertise yet.
    ///
    /// - Parameters:
    ///   - name: of the device, at most 248 bytes.
    ///   - appearance: a number of the Bluetooth SIG's list.
    ///   - services: each characteristic at most once.
    ///   - advertisement: what is advertised; `nil`: the flags, and as many of the services as fit.
    ///   - scanResponse: the answer to a scan request; `nil`: the name.
    ///   - interval: of the advertisement, 20 ms to 10.24 s.
    ///   - radio: the radio to open.
    ///   - address: our own on the virtual radio; `nil`: one that differs from those of this process. An adapter has its own.
    ///   - bonds: where the keys of paired centrals are stored. Characteristics that require encryption require a store.
    ///   - subscriptions: where what bonded centrals subscribe to is kept.
    public convenience init(
        name: String, appearance: UInt16 = 0, services: [LocalService], advertisement: AdvertisingData? = nil,
        scanResponse: AdvertisingData? = nil, interval: Duration = .milliseconds(100),
        radio: RadioChoice = .automatic, address: Address? = nil, bonds: BondStorage = .none,
        subscriptions: SubscriptionStorage = .none
    ) async throws(TendonError) {
        let options = Options(
            name: name, appearance: appearance, advertisement: advertisement, scanResponse: scanResponse,
            interval: interval, subscriptions: subscriptions)
        let opened = try await RadioCore.opened(
            radio, address: address ?? nextSimulatedAddress(), bonds: bonds, loop: .shared)
        do throws(TendonError) {
            self.init(try LocalPeripheralCore(opened, isShared: false, options, services), nil)
        } catch {
            opened.close()
            throw error
        }
    }

    /// Prepares a device on the radio of a central, which can scan and connect at the same time. The central is kept.
    public convenience init(
        name: String, appearance: UInt16 = 0, services: [LocalService], advertisement: AdvertisingData? = nil,
        scanResponse: AdvertisingData? = nil, interval: Duration = .milliseconds(100),
        subscriptions: SubscriptionStorage = .none, on central: Central
    ) async throws(TendonError) {
        let options = Options(
            name: name, appearance: appearance, advertisement: advertisement, scanResponse: scanResponse,
            interval: interval, subscriptions: subscriptions)
        if let failure = central.core.failure { throw failure }
        self.init(try LocalPeripheralCore(central.core, isShared: true, options, services), central)
    }

    private init(_ core: LocalPeripheralCore, _ central: Central?) {
        self.core = core
        self.central = central
        radioName = core.radioName
        address = core.address
    }

    deinit {
        let core = core
        core.loop.post { core.abandon() }
    }

    // MARK: Advertising

    /// Listens and advertises, until `stop()` or `stopAdvertising()`; also while and after centrals are connected.
    /// Throws `RADIO_ERROR_ALREADY_STARTED` after `start()`.
    public func start() throws(TendonError) { try core.start() }

    /// Stops advertising, disconnects all centrals, and waits until their connections have ended, or until `start()`
    /// begins again. Does nothing if the device is stopped.
    public func stop() async { await core.stop() }

    /// Stops advertising: no further central can connect. The connections stay. Throws `ERROR_WRONG_STATE` if the
    /// device is stopped.
    public func stopAdvertising() throws(TendonError) { try core.pause() }

    /// Advertises again after `stopAdvertising()`, or with other data from now on; `nil`: as before. Throws
    /// `ERROR_WRONG_STATE` if the device is stopped.
    public func advertise(
        _ advertisement: AdvertisingData? = nil, scanResponse: AdvertisingData? = nil
    ) throws(TendonError) { try core.readvertise(advertisement, scanResponse) }

    /// Whether it advertises.
    public var isAdvertising: Bool { core.isAdvertising }

    // MARK: Centrals

    /// What centrals do, from now on. Any number of sequences at the same time, each of which keeps the device. They
    /// throw when the radio fails.
    public nonisolated func events(
        capacity: Int = 256, policy: OverflowPolicy = .dropNewest
    ) -> EventSequence<Event> {
        core.feed.sequence(capacity: capacity, policy: policy, keeping: self)
    }

    /// The centrals that are connected, in the order of their connections.
    public var centrals: [ConnectedCentral] { core.centrals }

    /// ATT_MTU of a connection: a notification holds `mtu` - 3 bytes. `nil` if it has ended.
    public func mtu(of central: ConnectedCentral) -> Int? { core.mtu(of: central) }

    /// What a central has enabled for a characteristic.
    public func subscriptions(
        of central: ConnectedCentral, to characteristic: LocalCharacteristic
    ) throws(TendonError) -> Subscriptions { try core.subscriptions(of: central, to: characteristic) }

    /// Why the latest access to the storage of subscriptions failed; `nil`: it did not. What could not be stored is tried
    /// again when the connection of its central ends.
    public var subscriptionFailure: TendonError? { core.subscriptionFailure }

    /// Disconnects a central; the event follows. Does nothing if its connection has ended.
    public func disconnect(_ central: ConnectedCentral) { core.disconnect(central) }

    /// Sets what the device shows and enters when a central pairs, for centrals that connect after the call.
    public func setPairingAgent(_ agent: PairingAgent) throws(TendonError) { try core.setPairingAgent(agent) }

    // MARK: Values

    /// The value of a characteristic as a central would read it, if it has no closure for reads.
    public func value(of characteristic: LocalCharacteristic) throws(TendonError) -> [UInt8] {
        try core.value(of: characteristic)
    }

    /// Sets the value that centrals read, at most 512 bytes. No central is notified.
    public func setValue(_ value: [UInt8], for characteristic: LocalCharacteristic) throws(TendonError) {
        try core.setValue(value, for: characteristic)
    }

    /// Notifies all centrals that have enabled notifications of a characteristic; its value stays. A value that is
    /// longer than a connection's `mtu` - 3 is cut there, one of more than 512 bytes is an error.
    ///
    /// - Returns: the centrals that did not get it, because the queue of their connection is full: wait for
    ///   ``readyToNotify(_:timeout:)``, and notify them alone.
    @discardableResult
    public func notify(
        _ value: [UInt8], for characteristic: LocalCharacteristic
    ) throws(TendonError) -> [ConnectedCentral] { try core.notify(value, for: characteristic) }

    /// Notifies one central. Throws `ERROR_WOULD_BLOCK` if the queue of its connection is full,
    /// `GATT_ERROR_NOT_SUBSCRIBED`, and `ERROR_DISCONNECTED`.
    public func notify(
        _ value: [UInt8], for characteristic: LocalCharacteristic, to central: ConnectedCentral
    ) throws(TendonError) { try core.notify(value, for: characteristic, to: central) }

    /// Returns when notifications can be sent to a central, or to all: immediately, or after a queue that a notification
    /// found full has space again. Throws when the connection of `central` ends.
    public func readyToNotify(
        _ central: ConnectedCentral? = nil, timeout: Duration? = Peripheral.timeout
    ) async throws(TendonError) { try await core.ready(central, within: timeout) }

    /// Indicates a value to one central, and waits until it has confirmed it. Throws the errors of `notify(_:for:to:)`;
    /// `ERROR_BUSY` while an earlier indication to this central is not confirmed, also one whose task was cancelled; and
    /// `GATT_ERROR_TRANSACTION_TIMEOUT` after 30 s, when the connection ends.
    public func indicate(
        _ value: [UInt8], for characteristic: LocalCharacteristic, to central: ConnectedCentral
    ) async throws(TendonError) { try await core.indicate(value, for: characteristic, to: central) }
}
