// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// The application's connection: the C core's relay is the device of a radio in memory.
final class HostedTransport: OcelotTransport, @unchecked Sendable {
    // Used only on the loop's thread.
    private let memory = CBlock<tendon_memory_radio>()
    private let relay = CBlock<tendon_obvious_relay>()
    private let handler = CBlock<tendon_obvious_relay_handler>()
    private unowned var core: OcelotCore!
    private var timer: LoopTimer?
    private var isHostConnected = false
    /// The application was requested to disconnect, and has not yet.
    private var isLeaving = false
    private var wantsConnection = false
    weak var callback: (any OcelotDeviceConnectorCallback)? {
        didSet { if isHostConnected { open() } }
    }
    var maximumValueLength = 20

    func attach(_ core: OcelotCore) {
        self.core = core
        handler.pointer.pointee.write = { context, value, length in
            object(HostedTransport.self, context).write(copied(value, length))
        }
        handler.pointer.pointee.read = { context in object(HostedTransport.self, context).read() }
        tendon_obvious_relay_init(relay.pointer, memory.pointer, handler.pointer, context(of: self), core.gatt.pointer)
        tendon_memory_radio_attach(
            memory.pointer, obviousManagerInputs.pointer, UnsafeMutableRawPointer(core.manager.pointer))
        timer = LoopTimer(core.loop.core) { [unowned self] in tick() }
    }

    private func tick() {
        tendon_memory_radio_tick(memory.pointer, tendon_monotonic_ms())
        refresh()
    }

    // MARK: Requests of the session

    func prepare() throws(TendonError) {}

    var address: Address? {
        let callback = callback
        return TendonActor.assumeIsolated { callback?.getDeviceIdentifier() }
    }

    func productId() -> String? {
        let callback = callback
        return TendonActor.assumeIsolated {
            callback?.getOcelotProductIdentifier() ?? callback?.getObviousProductIdentifier()
        }
    }

    var reason: tendon_status? {
        let status = relay.pointer.pointee.status
        return status < 0 ? status : nil
    }

    private var link: tendon_session_link { tendon_memory_radio_link(memory.pointer) }

    func connect() -> tendon_status {
        if isHostConnected, !isLeaving {
            // The relay ended the connection, and the application did not: nothing more is written to this device.
            if let reason { return reason }
            tendon_obvious_relay_connected(relay.pointer, mtu, tendon_monotonic_ms())
        } else {
            wantsConnection = true
            if !isLeaving { requestConnection() }
        }
        return link.connect(memory.pointer)
    }

    private func requestConnection() {
        core.loop.post { [weak self] in
            guard let self, wantsConnection else { return }
            let callback = callback
            TendonActor.assumeIsolated { callback?.requestDeviceConnect() }
        }
    }

    func disconnect() {
        wantsConnection = false
        link.disconnect(memory.pointer)
        requestDisconnection()
    }

    private func requestDisconnection() {
        guard isHostConnected, !isLeaving else { return }
        isLeaving = true
        core.loop.post { [self] in
            let callback = callback
            TendonActor.assumeIsolated { callback?.requestDeviceDisconnect() }
        }
    }

    /// The application pairs by itself.
    func pair() -> tendon_status { link.pair(memory.pointer) }
    func isBonded() -> Bool { false }
    func forget() -> tendon_status { Int32(TENDON_ERROR_NOT_FOUND) }

    func refresh() { timer?.deadline = tendon_memory_radio_deadline(memory.pointer) }

    /// The radio in memory ends with the core, and its timer now: the connector, which keeps this object too, can be
    /// released later than the core, by another thread.
    func close() {
        requestDisconnection()
        timer?.remove()
        timer = nil
    }

    private func write(_ value: [UInt8]) -> Bool {
        let callback = callback
        return TendonActor.assumeIsolated {
            callback?.requestCharacteristicWriteWithoutResponse(
                serviceId: core.uuids.service.uuidString,
                characteristicId: core.uuids.data.uuidString, rawdata: value) ?? false
        }
    }

    private func read() -> Bool {
        let callback = callback
        return TendonActor.assumeIsolated {
            callback?.requestCharacteristicRead(
                serviceId: core.uuids.service.uuidString,
                characteristicId: core.uuids.status.uuidString) ?? false
        }
    }

    // MARK: What the application passes on

    private var mtu: UInt16 { UInt16(clamping: min(maximumValueLength, Int(UInt16.max)) + 3) }

    func connectionChanged(_ status: Int, _ state: Int) {
        if state == OcelotDeviceConnector.CONNECTION_STATE_CONNECTED {
            guard !isHostConnected else { return }
            isHostConnected = true
            wantsConnection = false
            open()
        } else if isHostConnected {
            isHostConnected = false
            isLeaving = false
            tendon_obvious_relay_disconnected(relay.pointer, tendon_monotonic_ms())
            if wantsConnection {
                requestConnection()
            } else {
                // The session may still wait for the device to be read.
                link.disconnect(memory.pointer)
            }
        } else if wantsConnection, status != OcelotDeviceConnector.CONNECTION_STATUS_SUCCESS {
            // The attempt has failed.
            wantsConnection = false
            link.disconnect(memory.pointer)
        }
        refresh()
    }

    /// Operations find the connection open. Without a callback nothing can be read.
    private func open() {
        guard callback != nil else { return }
        tendon_obvious_relay_connected(relay.pointer, mtu, tendon_monotonic_ms())
        core.hostConnected()
        refresh()
    }

    func received(_ value: [UInt8], of uuid: BluetoothUUID) {
        if uuid == core.uuids.data {
            _ = lending(value) { tendon_obvious_relay_data(relay.pointer, $0, $1) }
        } else if uuid == core.uuids.status {
            lending(value) { tendon_obvious_relay_status(relay.pointer, $0, $1, tendon_monotonic_ms()) }
        }
        refresh()
    }

    func readFailed(_ code: UInt8, of uuid: BluetoothUUID) {
        guard uuid == core.uuids.status else { return }
        tendon_obvious_relay_failed(relay.pointer, code, tendon_monotonic_ms())
        refresh()
    }
}
