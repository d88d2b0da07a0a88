// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// A search for wearables: the scan and the C core's table of those in range. For the loop's thread.
final class WearableSearch: @unchecked Sendable {
    // Used only on the loop's thread.
    typealias Change = tendon_bose_search_change

    private static let capacity = 64
    private let found = CTable<tendon_bose_found>(capacity: WearableSearch.capacity)
    private let block = CBlock<tendon_bose_search>()
    private let holder: RadioHolder
    private let changed: (DiscoveredDevice, Change) -> Void
    private let lost: (DiscoveredDevice) -> Void
    private let failed: (TendonError) -> Void
    private var scan: Search?
    private var timer: LoopTimer?

    /// - Parameters:
    ///   - changed: a device was found, its name became known, or it was received again.
    ///   - lost: a device was not received for `lostAfter`, or made way for another one.
    ///   - failed: the search ended because the radio failed.
    init(
        _ holder: RadioHolder, rssiCutoff: Int? = nil, lostAfter: Duration? = nil,
        changed: @escaping @TendonActor (DiscoveredDevice, Change) -> Void,
        lost: @escaping @TendonActor (DiscoveredDevice) -> Void = { _ in },
        failed: @escaping @TendonActor (TendonError) -> Void
    ) {
        self.holder = holder
        self.changed = { device, change in TendonActor.assumeIsolated { changed(device, change) } }
        self.lost = { device in TendonActor.assumeIsolated { lost(device) } }
        self.failed = { error in TendonActor.assumeIsolated { failed(error) } }
        tendon_bose_search_init(block.pointer, found.pointer, Self.capacity)
        if let rssiCutoff { block.pointer.pointee.rssi_cutoff = Int8(clamping: rssiCutoff) }
        block.pointer.pointee.lost_after_ms = lostAfter?.milliseconds ?? 0
    }

    var devices: [DiscoveredDevice] {
        found.first(block.pointer.pointee.count).map { DiscoveredDevice($0) }
    }

    var strongest: DiscoveredDevice? {
        tendon_bose_search_strongest(block.pointer).map { DiscoveredDevice($0.pointee) }
    }

    /// After a failure the search is released, or stopped, by its owner.
    func start() throws(TendonError) {
        let scan = Search(holder) { [unowned self] report, now in
            received(report, now)
        } failed: { [weak self] error in
            self?.failed(error)
        }
        timer = LoopTimer(holder.loop.core) { [weak self] in self?.dropLost() }
        self.scan = scan
        try scan.start()
    }

    func stop() {
        scan?.stop()
        scan = nil
        timer?.remove()
        timer = nil
    }

    private func received(_ report: CReport, _ now: UInt64) {
        var device: UnsafePointer<tendon_bose_found>?
        let change = tendon_bose_search_on_advertisement(block.pointer, report, now, &device)
        guard let device, change != TENDON_BOSE_SEARCH_NONE else { return }
        let value = DiscoveredDevice(device.pointee)
        changed(value, change)
        dropLost()
    }

    private func dropLost() {
        var gone = tendon_bose_found()
        while tendon_bose_search_take_lost(block.pointer, tendon_monotonic_ms(), &gone) { lost(DiscoveredDevice(gone)) }
        timer?.deadline = tendon_bose_search_deadline(block.pointer)
    }
}
