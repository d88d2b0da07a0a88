// SPDX-License-Identifier: MIT
// scan: lists the devices in range.
import CTendon
import Tendon
import TendonSupport

extension Command {
    static let scan = Command(
        "scan",
        summary: "list the Bluetooth LE devices in range",
        details: [
            "On a terminal: a live table, until Ctrl-C. In a pipe: JSON lines, one when a device is found or its data "
                + "changes, for 10 seconds unless --for is given. The data of a device's advertisement and of "
                + "its scan response are combined. Exits with status 4 if nothing was found."
        ],
        options: [
            Option(name: "--service", value: "UUID", help: "show only devices that advertise this service"),
            Option(
                name: "--name", value: "TEXT", help: "show only devices whose name contains this text; case is ignored"),
            Option(
                name: "--families", value: "LIST",
                help: "show only devices of these families, separated by commas; all: of every supported family",
                choices: familyNames() + ["all"], isList: true,
                takes: Option.words { (word) throws(CommandError) in _ = try ScanFilter.families(word) }),
            Option(name: "--duplicates", value: nil, help: "JSON: print a line for every advertisement"),
            Option(
                name: "--passive", value: nil,
                help: "scan passively: send no scan requests, so receive no scan responses"),
            .coded,
            .adapterUse(
                ["shared", "sole", "observer"],
                help: "sole: only if no other program uses the adapter; observer: send nothing, and show what the "
                    + "scans of other programs receive"),
            Option(name: "--count", value: "N", help: "end when this many devices are found"),
        ],
        examples: [
            ("tendon scan", "show a live table"),
            ("tendon scan --service fdd2 --for 5 --json", "print devices with the service FDD2 as JSON lines"),
            ("tendon scan --families all --count 1", "wait for the first wearable"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.isEmpty else { throw .usage("scan takes no operands", next: "tendon scan --help") }
        let filter = try ScanFilter(arguments)
        let radio = try arguments.radio()
        Output.endWithReader()
        try Option.coded.check(arguments, on: [radio])
        let empty = ScanView(
            events: Events(json: arguments.has("--json")), every: arguments.has("--duplicates"),
            filter: filter, limit: try arguments.integer("--count", in: 1...10000),
            hearsResponses: !arguments.has("--passive"))
        let limit = try arguments.duration() ?? (Output.standard.isTerminal ? nil : 10_000)
        let options = ScanOptions(
            isActive: !arguments.has("--passive"), includesCodedPHY: arguments.has(Option.coded.name))
        let (view, hasJoined) = try await Termination.task(for: limit) { () throws(CommandError) in
            try await translating { () throws(TendonError) in
                let central = try await Central(radio: radio)
                // Stops the scan explicitly: the program can end before the radio is released, and the controller would
                // continue to scan.
                do throws(TendonError) {
                    var view = empty
                    let scan = try await central.scan(options)
                    // The live view is also redrawn without new advertisements.
                    for try await advertisement in scan {
                        guard view.add(advertisement) else { break }
                    }
                    view.draw(force: true)
                    let hasJoined = await central.hasJoinedScan
                    await central.close()
                    return (view, hasJoined)
                } catch {
                    await central.close()
                    throw error
                }
            }
        }
        if view.found == 0, !Termination.shared.isSignalled {
            if view.others > 0, !hasJoined {
                throw CommandError(
                    .noDevice, "devices in range: \(view.others); none of them is one that was searched for",
                    next: "tendon scan\(radio.words)")
            }
            guard hasJoined else {
                throw CommandError.nothingFound(filter.onlyFamily, filter.address, onVirtualRadio: radio.isVirtual)
            }
            throw CommandError(
                .noDevice,
                "no device was found; another program scans on this adapter, and only what its scan receives "
                    + "was shown", next: "tendon doctor --watch 10")
        }
        return view.found > 0 ? .done : .noDevice
    }
}

/// Selection of devices.
struct ScanFilter: Sendable {
    var service: BluetoothUUID?
    var name: String?
    private var families: Set<String>?
    var address: WantedAddress?

    /// Nil: of several families, or of none.
    var onlyFamily: String? { families?.count == 1 ? families?.first : nil }

    init(_ arguments: Arguments) throws(CommandError) {
        if let word = arguments.value("--service") {
            guard let uuid = BluetoothUUID(word) else {
                throw .usage("--service takes a UUID such as fdd2, not '\(sanitized(word))'")
            }
            service = uuid
        }
        name = arguments.value("--name")
        if let list = arguments.value("--families") {
            var names: Set<String> = []
            for word in listWords(list) { names.formUnion(try ScanFilter.families(word)) }
            families = names
        }
        address = try arguments.address()
    }

    fileprivate static func families(_ word: String) throws(CommandError) -> [String] {
        ["any", "all"].contains(word) ? familyNames() : [try familyName(word)]
    }

    func accepts(_ device: ScannedDevice) -> Bool {
        if let service, !device.services.contains(service) { return false }
        if let name, device.name?.lowercased().contains(name.lowercased()) != true { return false }
        if let families, !(device.family.map(families.contains) ?? false) { return false }
        if let address, !address.matches(device.address) { return false }
        return true
    }
}

/// The combined data of a device's advertisements.
struct ScannedDevice: Sendable {
    let address: Address
    /// Of the latest advertisement, if the device is bonded and uses private addresses.
    var privateAddress: Address?
    private var localName: LocalName?
    var name: String? { localName?.shown }
    var services: [BluetoothUUID] = []
    var family: String?
    var rssi: Int?
    var isConnectable = false
    var isOnCoded = false
    var reports: UInt64 = 0
    var lastSeen: UInt64 = 0
    var wasFound = false
    /// Its place in the live view: devices are numbered as they are received.
    let number: Int

    init(_ address: Address, number: Int = 0) { (self.address, self.number) = (address, number) }

    /// Returns true if the advertisement contains new data.
    mutating func add(_ advertisement: Advertisement, of families: AdvertisedFamilies) -> Bool {
        lastSeen = advertisement.time
        privateAddress = advertisement.privateAddress ?? privateAddress
        isConnectable = isConnectable || advertisement.isConnectable
        isOnCoded = isOnCoded || advertisement.primaryPHY == .leCoded
        return add(
            data: advertisement.data, rssi: advertisement.rssi, family: families.family(of: advertisement))
    }

    /// - Parameter family: after this packet; nil: it tells none.
    mutating func add(data: [UInt8], rssi: Int?, family told: String?) -> Bool {
        reports += 1
        self.rssi = rssi ?? self.rssi
        var isNew = reports == 1
        let learned = LocalName.learned(localName, from: data)
        isNew = isNew || learned?.text != localName?.text
        localName = learned
        for uuid in advertisedServices(data) where !services.contains(uuid) && services.count < 32 {
            services.append(uuid)
            isNew = true
        }
        if let told, told != family {
            family = told
            isNew = true
        }
        return isNew
    }

    var label: DeviceLabel { DeviceLabel(family, address, name: name) }

    /// Of the event `found`.
    var members: JSON {
        var members: JSON = [:]
        if let rssi { members["rssi_dbm"] = JSON(rssi) }
        members["connectable"] = .bool(isConnectable)
        members["services"] = JSON(services.map { .string($0.description) })
        if let privateAddress { members["private_address"] = .string(privateAddress.description) }
        if isOnCoded { members["primary_phy"] = .string(PHY.leCoded.word.description) }
        return members
    }
}

/// The devices found, as a table or as lines.
struct ScanView: Sendable {
    let events: Events
    let every: Bool
    let filter: ScanFilter
    let limit: Int?
    private(set) var found = 0
    /// Devices that were received and are not selected.
    var others: Int { devices.values.count { !$0.wasFound } }
    /// A hostile neighbor makes addresses up: the device that was received longest ago is forgotten.
    private var devices = RecentTable<Address, ScannedDevice>(capacity: 4096)
    private let families: AdvertisedFamilies
    private var nextNumber = 0
    private var area = LiveArea()
    private var lastDraw: UInt64 = 0

    init(events: Events, every: Bool, filter: ScanFilter, limit: Int?, hearsResponses: Bool = true) {
        families = AdvertisedFamilies(hearsResponses: hearsResponses)
        self.events = events
        self.every = every
        self.filter = filter
        self.limit = limit
    }

    /// False when there is nothing more to wait for.
    mutating func add(_ advertisement: Advertisement) -> Bool {
        let address = advertisement.address
        let known = devices[address]
        var device = known ?? ScannedDevice(address, number: nextNumber)
        if known == nil { nextNumber += 1 }
        let isNew = device.add(advertisement, of: families)
        let accepted = filter.accepts(device)
        if accepted, !device.wasFound {
            device.wasFound = true
            found += 1
        }
        devices.set(address, device)
        if accepted, !events.draws, isNew || every { events.event("found", device.label, device.members) }
        if Output.standard.lines?.error != nil { return false }
        draw(force: false)
        return limit.map { found < $0 } ?? true
    }

    mutating func draw(force: Bool) {
        guard events.draws, force || LiveArea.isFree else { return }
        let now = tendon_monotonic_ms()
        guard force || now >= lastDraw + 250 else { return }
        lastDraw = now
        let isWide = Output.standard.size.columns >= 60
        let title = "ADDRESS            RSSI  " + (isWide ? "FAMILY      SEEN  " : "") + "NAME / SERVICES"
        var lines: [(text: String, style: Output.Style?)] = [(title, .bold)]
        let shown = devices.values.filter(\.wasFound).sorted { $0.number < $1.number }
        let places = max(1, LiveArea.rows - 2)
        for device in shown.prefix(places) {
            var text = left(device.address.description, 18) + right(device.rssi.map { "\($0)" } ?? "-", 5) + "  "
            if isWide {
                text += left(device.family ?? "-", 10)
                text += right("\((now - min(now, device.lastSeen)) / 1000) s", 6) + "  "
            }
            text += device.name ?? device.services.map(\.description).joined(separator: " ")
            lines.append((text, nil))
        }
        if shown.isEmpty { lines.append(("searching for devices...", .faint)) }
        if shown.count > places { lines.append(("and \(shown.count - places) more", .faint)) }
        area.draw(lines)
    }
}
