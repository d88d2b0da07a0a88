// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// The transport of a session's connection and search: a radio, or the memory of the simulator. For the loop's thread.
protocol GripTransport: AnyObject {
    func setTarget(_ address: Address)
    func connect() -> tendon_status
    func disconnect()
    /// Whether there is no connection, and none is being made or ended.
    var isIdle: Bool { get }
    func pair() -> tendon_status
    func isBonded() -> Bool
    func scan(_ on: Bool)
    /// Removes the keys, also from the kernel, and disconnects. Does nothing if there are none.
    func forget(_ address: Address) throws(TendonError)
    /// Deadlines may have changed.
    func refresh()
    /// Disconnects; then nothing of it has a pointer to the session any more. Until then the core is kept alive.
    func close()
}

/// A radio under a session. For the loop's thread.
final class RadioTransport: GripTransport {
    private let radio: RadioCore
    private let link: SessionLink
    private let search: Search
    private unowned let core: GripCore

    /// Opens the radio if it is not open.
    init(_ holder: RadioHolder, _ core: GripCore) throws(TendonError) {
        radio = try holder.open()
        self.core = core
        link = SessionLink(
            radio, to: Address(0, type: .public), owner: core, closed: { [unowned core] _ in core.linkEnded() })
        search = Search(
            holder, report: { [unowned core] report, now in core.advertised(report, now) },
            failed: { _ in })  // the holder reports the failure of the radio
        link.attach(fjordenSessionInputs, core.block)
    }

    func setTarget(_ address: Address) { link.peer = address }
    func connect() -> tendon_status { link.connect() }
    func disconnect() { link.disconnect() }
    var isIdle: Bool { link.isIdle }
    func pair() -> tendon_status { link.pair() }
    func isBonded() -> Bool { link.isBonded }
    func refresh() { link.refresh() }

    func forget(_ address: Address) throws(TendonError) {
        do throws(TendonError) {
            try radio.forget(address)
        } catch  where error.status == Int32(TENDON_RADIO_ERROR_NO_PAIRING_SERVICE) {
            // The program opened a radio without bonds.
        }
    }

    func scan(_ on: Bool) {
        search.stop()
        guard on else { return }
        do throws(TendonError) {
            try search.start()
        } catch {
            core.loop.post { [weak core] in core?.failed(error) }
        }
    }

    func close() {
        search.stop()
        link.abandon()
    }
}
