// SPDX-License-Identifier: MIT

/// Which devices a scan is about. What a device has said of itself counts from then on: its services can be in the
/// advertisement, its name in the scan response. For the loop's thread.
struct ScanFilter {
    private struct Known {
        var hasService, hasName: Bool
    }

    /// Devices that have shown a part of what is asked for, at most; then all are forgotten, and have to show it again.
    private static let limit = 1024

    private let services: Set<BluetoothUUID>
    private let name: String?
    private var known: [Address: Known] = [:]

    init(services: [BluetoothUUID], name: String?) {
        self.services = Set(services)
        self.name = name
    }

    /// Whether this packet is of a device that the scan is about.
    mutating func passes(_ advertisement: Advertisement) -> Bool {
        guard !services.isEmpty || name != nil else { return true }
        let before = known[advertisement.address] ?? Known(hasService: services.isEmpty, hasName: name == nil)
        var now = before
        if !now.hasService { now.hasService = advertisement.serviceUUIDs.contains(where: services.contains) }
        if let name, !now.hasName { now.hasName = advertisement.localName?.hasPrefix(name) ?? false }
        if now.hasService != before.hasService || now.hasName != before.hasName {
            if known.count >= Self.limit { known.removeAll() }
            known[advertisement.address] = now
        }
        return now.hasService && now.hasName
    }
}
