// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// A radio under a session. For the loop's thread.
final class RadioTransport: GripTransport {
    private let radio: RadioCore
    private let owns: Bool
    private let connection = CBlock<tendon_connection>()
    private unowned let core: GripCore
    private var search: Task<Void, Never>?
    private var isClosed = false

    init(_ radio: RadioCore, owns: Bool, _ core: GripCore) {
        self.radio = radio
        self.owns = owns
        self.core = core
        radio.retain()
        var peer = tendon_address()
        var callbacks = tendon_connection_callbacks()
        callbacks.context = context(of: self)
        callbacks.closed = { context, _, _ in object(RadioTransport.self, context).core.linkEnded() }
        tendon_connection_init(connection.pointer, radio.radio, &peer, radio.pairing, &callbacks)
        tendon_connection_attach(connection.pointer, fjordenSessionInputs.pointer, core.session)
    }

    private var link: tendon_session_link { tendon_connection_session_link(connection.pointer) }

    func setTarget(_ address: Address) { connection.pointer.pointee.peer = address.c }
    func connect() -> tendon_status { link.connect(connection.pointer) }
    func disconnect() { link.disconnect(connection.pointer) }
    func pair() -> tendon_status { link.pair(connection.pointer) }
    func isBonded() -> Bool { link.bonded(connection.pointer) }

    func forget(_ address: Address) throws(TendonError) {
        do throws(TendonError) {
            try radio.forget(address)
        } catch  where error.status == Int32(TENDON_RADIO_ERROR_NO_PAIRING_SERVICE) {
            // The program has asked for a radio without bonds.
        }
    }

    func refresh() {
        if !isClosed { tendon_connection_refresh(connection.pointer) }
    }

    var isIdle: Bool { connection.pointer.pointee.state == UInt8(TENDON_CONNECTION_IDLE.rawValue) }

    func scan(_ on: Bool) {
        search?.cancel()
        search = nil
        guard on else { return }
        do throws(TendonError) {
            let found = EventSequence(try radio.scan(ScanOptions(capacity: 1024)))
            search = Task { @TendonActor [weak core] in
                do throws(TendonError) {
                    var iterator = found.makeAsyncIterator()
                    while let advertisement = try await iterator.next(isolation: TendonActor.shared) {
                        guard let core, !Task.isCancelled else { return }
                        advertisement.lend { core.report(&$0) }
                    }
                } catch {
                    if !Task.isCancelled { core?.failed(error) }
                }
            }
        } catch {
            core.loop.post { [weak core] in core?.failed(error) }
        }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        scan(false)
        tendon_loop_remove(core.loop.core.block.pointer, connection.member(\.timer))
        radio.release()
        if owns { radio.close() }
    }
}

extension Advertisement {
    /// As the C core reports it.
    fileprivate func lend(_ body: (inout tendon_ad_report) -> Void) {
        lending(data) { bytes, count in
            var report = tendon_ad_report()
            report.address = address.c
            report.rssi = Int8(clamping: rssi ?? Int(TENDON_RSSI_UNKNOWN))
            report.data = bytes
            report.length = count
            body(&report)
        }
    }
}
