// SPDX-License-Identifier: MIT
import CTendon

/// A radio in the role that finds devices and connects to them.
///
/// It works on the shared loop, as the vendors' interfaces do: from code that is isolated to ``TendonActor`` its functions
/// are called without `await`.
///
/// ```swift
/// let central = try await Central()
/// for try await found in try await central.scan() { print(found.address, found.localName ?? "") }
/// ```
@TendonActor
public final class Central {
    /// State of a central.
    public enum State: Sendable, Hashable {
        /// Open, and not scanning.
        case idle
        /// At least one scan is running.
        case scanning
        /// The adapter was removed; open another central.
        case failed(TendonError)
        /// After `close()`.
        case closed
    }

    package nonisolated let core: RadioCore
    /// "bluez" or "virtual".
    public nonisolated let radioName: String
    /// Our own address.
    public nonisolated let address: Address
    private var isClosed = false

    private static var opening: Task<Result<Central, TendonError>, Never>?

    /// The program's central: opened when it is first asked for, with the radio that `TENDON_RADIO` names and the user's
    /// bonds, and the same from then on; another one after it failed or was closed.
    ///
    /// ```swift
    /// for try await found in try await Central.shared.scan(services: [0x180D]) { print(found.address) }
    /// ```
    public static var shared: Central {
        get async throws(TendonError) { try await shared { () async throws(TendonError) in try await Central() } }
    }

    /// Tasks that ask at the same time wait for one radio. The next one tries again after a failure.
    static func shared(
        _ open: @escaping @TendonActor () async throws(TendonError) -> Central
    ) async throws(TendonError) -> Central {
        while let task = opening {
            if case .success(let central) = await task.value, central.isUsable { return central }
            if opening == task { opening = nil }
        }
        let task = Task { @TendonActor () -> Result<Central, TendonError> in
            do throws(TendonError) { return .success(try await open()) } catch { return .failure(error) }
        }
        opening = task
        return try await task.value.get()
    }

    private var isUsable: Bool { core.failure == nil && !isClosed }

    /// Opens the radio.
    ///
    /// - Parameters:
    ///   - radio: the radio to open.
    ///   - bonds: where the keys of paired devices are stored.
    ///   - gattCache: where the attribute handles of devices with a Database Hash are stored. Files are written
    ///     once for each attribute table of a device, on the loop's thread: one by a vendor's module, and one by a
    ///     peripheral with each new discovery.
    public init(
        radio: RadioChoice = .automatic, bonds: BondStorage = .standard, gattCache: GATTCacheStorage = .none
    ) async throws(TendonError) {
        core = try await RadioCore.opened(radio, bonds: bonds, gattCache: gattCache, loop: .shared)
        // They never change.
        radioName = core.name
        address = core.address
    }

    deinit {
        let core = core
        core.loop.post { core.close() }
    }

    /// The present state.
    public var state: State {
        if let failure = core.failure { return .failed(failure) }
        if isClosed { return .closed }
        return core.isScanning ? .scanning : .idle
    }

    /// Advertisements and scan responses, from now until the sequence is released. Any number at the same time; each
    /// keeps the central open.
    public func scan(_ options: ScanOptions = ScanOptions()) throws(TendonError) -> EventSequence<Advertisement> {
        EventSequence(try core.scan(options, keeping: self))
    }

    /// Advertisements and scan responses of devices that advertise one of these services.
    ///
    /// ```swift
    /// for try await found in try await central.scan(services: [0x180D]) { print(found.address) }
    /// ```
    public func scan(services: [BluetoothUUID]) throws(TendonError) -> EventSequence<Advertisement> {
        try scan(ScanOptions(services: services))
    }

    /// Connects. Cancelling the task ends the attempt.
    public func connect(
        _ address: Address, options: ConnectOptions = ConnectOptions()
    ) async throws(TendonError) -> Peripheral {
        guard !isClosed else { throw TendonError(status: Int32(TENDON_ERROR_WRONG_STATE), operation: .connect) }
        if let failure = core.failure { throw failure }
        let peripheral = Peripheral(PeripheralCore(radio: core, address: address))
        try await peripheral.connect(options)
        return peripheral
    }

    /// The signal strength of each connection in dBm, as the controller said when this was called before; and asks it
    /// again, so call it from time to time. Most devices do not advertise while they are connected. A connection whose
    /// strength is not known is not in it; the virtual radio knows none.
    public func connectionSignals() -> [Address: Int] { core.connectionSignals() }

    /// What connections made from now on are requested with; `nil`: the kernel's own parameters, 30 to 50 ms on Linux. The
    /// kernel takes them only with CAP_NET_ADMIN, and the virtual radio has none.
    public func setConnectionParameters(_ parameters: ConnectionParameters?) {
        core.setConnectionParameters(parameters)
    }

    /// What each connection has. A connection whose parameters are not known is not in it; the virtual radio knows none.
    public func connectionTimings() -> [Address: ConnectionTiming] { core.connectionTimings() }

    /// ATT packets of devices that the kernel dropped because this process read too slowly, of all connections so far.
    /// Without CAP_NET_RAW, those of a connection are counted when it ends. Always 0 on the virtual radio, where the
    /// sender waits.
    public var lostPackets: UInt64 { core.lostPackets }

    /// How often the adapter, or the kernel, did nothing, and what the central has done about it, since it was opened.
    public var adapterCounters: AdapterCounters { core.adapterCounters }

    /// Whether the latest scan of this central receives what the scan of another program brings; its own starts when that
    /// one ends. For shared use of an adapter (``AdapterUse/shared``).
    package var hasJoinedScan: Bool { core.hasJoinedScan }

    /// Sets who answers when a device shows a passkey or asks for one, and what a key must be worth; from now on, for
    /// devices that connect after the call. A bond that is worth less is not used: the device pairs again when it
    /// requires pairing. After an error the previous agent stays.
    public func setPairingAgent(_ agent: PairingAgent) throws(TendonError) { try core.setPairingAgent(agent) }

    /// Sets the security that a connection must have before a program or the session of a device uses it; from now on.
    ///
    /// Until then nothing is sent over it, and what the device sends is discarded. If the connection cannot be secured,
    /// it ends with `RADIO_ERROR_NOT_SECURE`. Connections to ``LocalPeripheral`` are not affected.
    ///
    /// ```swift
    /// await central.requireSecurity(.encrypted)
    /// ```
    public func requireSecurity(_ security: ConnectionSecurity) { core.requireSecurity(security) }

    /// Whether a key of this device is kept. Links to it are encrypted by themselves.
    public func isBonded(with address: Address) -> Bool { core.isBonded(with: address) }

    /// Removes the bond with a device and its keys, and its GATT cache; a link to it ends. False when there was no bond.
    @discardableResult
    public func forget(_ address: Address) throws(TendonError) -> Bool { try core.forget(address) }

    /// The reason why pairing is not possible although `bonds` requested it; scanning and connecting still work.
    public var bondFailure: TendonError? { core.bondFailure }

    /// Ends scans. Connections stay.
    public func close() {
        isClosed = true
        core.close()
    }
}
