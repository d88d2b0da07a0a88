// SPDX-License-Identifier: MIT
// The thread between the events and the browsers: it keeps the states of the devices, thins samples out, and fills the
// buffers of the browsers. What a browser does never delays it.
import CSystemMicrohttpd
import CTendon
import Synchronization
import TendonOutputs
import TendonSupport

enum HubItem {
    case line(LineItem)
    case presence(OutputDevice, Presence)
    /// A sentence about each radio that is waited for.
    case radios([String])
    /// A browser has connected.
    case joined
    case finish
}

final class Hub: @unchecked Sendable {
    private struct Device {
        var device: OutputDevice
        var isConnected = false
        /// Which change of a connection was its last one.
        var seenAt: UInt64 = 0
        var state = DeviceState()
        /// The newest line of each sensor that was not sent yet.
        var fresh: [String: [UInt8]] = [:]
    }

    let mailbox = Mailbox<HubItem>(leisure: Hub.tick, isCompact: true) { .line($0) }
    /// Without a browser, samples cost nothing.
    let isWatched = Atomic(false)

    private let families: [String: FamilyDescription]
    private let source: any FigureSource
    private let greeting: JSON
    /// Ends connections whose time is over; returns when to look again.
    private let expire: @Sendable (UInt64) -> UInt64

    // On the hub's thread only.
    private var devices: [String: Device] = [:]
    /// A sentence about each radio that is waited for.
    private var waiting: [String] = []
    private var forgotten = ForgottenDevices()
    private var sentAt: UInt64 = 0
    private var statusAt: UInt64 = 0
    private var expiry = UInt64.max
    private var isFinished = false

    // Guarded by `lock`.
    private let lock = ThreadLock()
    private var clients: [Client] = []
    private var isOver = false
    private var droppedBefore: UInt64 = 0
    private var known: [String: OutputDevice] = [:]
    private var changes: UInt64 = 0

    /// Milliseconds from one sending of samples to the next: 30 per second.
    private static let tick: UInt64 = 33
    private static let statusInterval: UInt64 = 1000
    static let clientLimit = 8
    private static let deviceLimit = 1024

    /// - Parameters:
    ///   - greeting: what every browser learns first.
    init(
        _ families: [FamilyDescription], _ source: any FigureSource, greeting: JSON,
        expire: @escaping @Sendable (UInt64) -> UInt64
    ) {
        self.families = Dictionary(uniqueKeysWithValues: families.map { ($0.family, $0) })
        (self.source, self.greeting, self.expire) = (source, greeting, expire)
    }

    func run() {
        var batch = Mailbox<HubItem>.Batch()
        while !isFinished {
            mailbox.take(until: deadline, into: &batch)
            process(batch, tendon_monotonic_ms())
        }
        lock.locked {
            isOver = true
            for client in clients { resume(client) }
        }
    }

    /// One round: what came, then what is due.
    func process(_ batch: Mailbox<HubItem>.Batch, _ now: UInt64) {
        // What comes now is also for a browser that has just joined.
        teach()
        for item in batch.items {
            switch item {
            case .line(let line): take(line, batch.text[line.bytes])
            case .presence(let device, let presence): take(device, presence)
            case .radios(let sentences):
                waiting = sentences
                send(message("radios", radios))
            case .joined: break
            case .finish: isFinished = true
            }
        }
        if batch.droppedEvents > 0 { lock.locked { for client in clients { client.isBehind = true } } }
        work(now)
        expiry = expire(now)
    }

    /// When the next round is due.
    var deadline: UInt64 {
        let hasClients = lock.locked { !clients.isEmpty }
        guard hasClients else { return expiry }
        let isSoon = isLearning || devices.values.contains { !$0.fresh.isEmpty }
        return min(isSoon ? sentAt + Hub.tick : .max, statusAt, expiry)
    }

    /// A browser has to learn everything, and can.
    private var isLearning: Bool {
        lock.locked { clients.contains { $0.isBehind && $0.waiting == 0 || !$0.lessons.isEmpty } }
    }

    // MARK: What comes

    private func take(_ line: LineItem, _ bytes: ArraySlice<UInt8>) {
        let (event, key) = (line.event.description, line.device.key)
        guard !forgotten.drops(event, of: key) else { return }
        if devices[key] == nil, eventsWithoutConnection.contains(event) { return send(bytes.dropLast()) }
        guard know(line.device) else { return }
        if event == "sample" {
            guard let sensor = DeviceState.sensor(of: bytes) else { return }
            devices[key]!.state.take(sample: bytes, of: sensor)
            devices[key]!.fresh[sensor] = Array(bytes.dropLast())
            return
        }
        send(bytes.dropLast())
        let family = families[line.device.family]
        guard family.describesState(event) else { return }
        let isMeasurement = family.measures(event)
        guard devices[key]!.state.take(event, bytes, isMeasurement: isMeasurement), isMeasurement else { return }
        send(message("state", ["key": .string(key), "state": devices[key]!.state.complete()]))
    }

    private func take(_ device: OutputDevice, _ presence: Presence) {
        let key = device.key
        switch presence {
        case .forgotten: forget(key)
        case .renamed: if devices[key] != nil { _ = know(device) }
        case .connected, .disconnected:
            let isConnected = presence == .connected
            guard isConnected || devices[key] != nil else { return }
            guard !forgotten.drops(isConnected ? "connected" : "disconnected", of: key), know(device) else { return }
            devices[key]!.isConnected = isConnected
            devices[key]!.seenAt = changes
            changes += 1
            send(description(key))
        }
    }

    private func forget(_ key: String) {
        guard remove(key) else { return }
        forgotten.insert(key)
    }

    private func remove(_ key: String) -> Bool {
        guard devices.removeValue(forKey: key) != nil else { return false }
        lock.locked { known[key] = nil }
        send(message("forgotten", ["key": .string(key)]))
        return true
    }

    /// Without the device that is away for the longest time. False: all are connected.
    private func makeRoom() -> Bool {
        let away = devices.filter { !$0.value.isConnected }
        return away.min { $0.value.seenAt < $1.value.seenAt }.map { remove($0.key) } ?? false
    }

    private func know(_ device: OutputDevice) -> Bool {
        let key = device.key
        if let old = devices[key]?.device {
            guard old != device else { return true }
            devices[key]!.device = device
        } else {
            // What is only in range is no device of this gateway yet.
            guard !device.family.isEmpty, devices.count < Hub.deviceLimit || makeRoom() else { return false }
            devices[key] = Device(device: device)
        }
        lock.locked { known[key] = device }
        send(description(key))
        return true
    }

    // MARK: What goes

    private func work(_ now: UInt64) {
        let hasClients = lock.locked { !clients.isEmpty }
        isWatched.store(hasClients, ordering: .relaxed)
        guard hasClients else {
            for key in devices.keys { devices[key]!.fresh = [:] }
            return
        }
        if now >= sentAt + Hub.tick {
            sentAt = now
            for key in devices.keys where !devices[key]!.fresh.isEmpty {
                for line in devices[key]!.fresh.values { send(line[...]) }
                devices[key]!.fresh.removeAll(keepingCapacity: true)
            }
        }
        if now >= statusAt {
            statusAt = now + Hub.statusInterval
            send(message("status", status()))
        }
        teach()
    }

    /// A browser that is new, or had no room, learns everything when its buffer is empty: device by device, so that it
    /// fits whatever their number is.
    private func teach() {
        guard isLearning else { return }
        let keys = devices.keys.sorted()
        let greeting = message(
            "gateway",
            greeting.merging(["devices": JSON(keys.map { JSON.string($0) })]).merging(waiting.isEmpty ? [:] : radios))
        lock.locked {
            for client in clients where client.isBehind && client.waiting == 0 {
                (client.isBehind, client.isGreeted) = (false, true)
                client.lessons = keys.reversed()
                client.append(greeting)
            }
            for client in clients {
                while client.waiting < Client.capacity / 4, let key = client.lessons.popLast() {
                    if devices[key] != nil { client.append(description(key), isCard: true) }
                }
                resume(client)
            }
        }
    }

    private func send(_ message: some Collection<UInt8>) {
        lock.locked {
            for client in clients where client.isGreeted {
                client.append(message)
                resume(client)
            }
        }
    }

    /// To be called with the lock.
    private func resume(_ client: Client) {
        guard client.isSuspended, client.waiting > 0 || isOver else { return }
        client.isSuspended = false
        MHD_resume_connection(client.connection)
    }

    private func message(_ event: String, _ members: JSON) -> [UInt8] {
        var writer = LineWriter()
        writer.begin(event)
        writer.members(members)
        writer.end()
        return writer.bytes.dropLast()
    }

    /// All that is known of a device.
    private func description(_ key: String) -> [UInt8] {
        guard let device = devices[key]?.device else { return [] }
        let family = families[device.family]
        let known: JSON = [
            "key": .string(key), "family": .string(device.family), "address": .string(device.address),
            "address_type": .string(device.addressType), "name": device.name.map { .string($0) } ?? .null,
            "connected": .bool(devices[key]!.isConnected), "state": devices[key]!.state.complete(),
            "commands": family?.commands ?? [],
        ]
        return message("device", known.merging(family?.shown ?? [:]))
    }

    private var radios: JSON { ["waiting": .array(waiting.map { .string($0) })] }

    private func status() -> JSON {
        let links = source.deviceFigures().map { figures -> JSON in
            [
                "key": .string(figures.device.key), "connected": .bool(figures.isConnected),
                "notifications": JSON(figures.notifications), "samples": JSON(figures.samples),
                "dropped": JSON(figures.dropped), "malformed": JSON(figures.malformed),
                "reconnections": JSON(figures.reconnections), "failed_connections": JSON(figures.failedConnections),
                "rssi_dbm": figures.signal.map { JSON($0) } ?? .null,
                "battery_percent": figures.battery.map { JSON($0) } ?? .null,
            ]
        }
        return ["links": .array(links), "browsers": JSON(count), "dropped_frames": JSON(dropped)]
    }

    // MARK: Browsers, from libmicrohttpd's thread

    /// Nil: too many are connected.
    func join(_ connection: OpaquePointer) -> Client? {
        let client: Client? = lock.locked {
            guard clients.count < Hub.clientLimit, !isOver else { return nil }
            let client = Client(connection)
            clients.append(client)
            return client
        }
        if client != nil {
            isWatched.store(true, ordering: .relaxed)
            mailbox.post(.joined)
        }
        return client
    }

    func leave(_ client: Client) {
        lock.locked {
            droppedBefore += client.dropped
            clients.removeAll { $0 === client }
        }
    }

    /// Fills the buffer of a response. 0: nothing waits, and the connection is suspended until something does.
    func read(_ client: Client, _ buffer: UnsafeMutablePointer<CChar>, _ room: Int) -> Int {
        lock.locked {
            if isOver { return Int(TENDON_HTTP_END) }
            guard client.waiting > 0 else {
                client.isSuspended = true
                MHD_suspend_connection(client.connection)
                return 0
            }
            return client.take(buffer, room)
        }
    }

    /// By its key, by its address, both in capital or small letters, or by the name that the configuration gives; nil: it is
    /// not known, or two devices are meant.
    func device(_ word: String) -> OutputDevice? {
        lock.locked {
            if let device = known[word] { return device }
            let capital = word.uppercased()
            let meant = known.values.filter {
                $0.key.uppercased() == capital || $0.address == capital || ($0.isNamed && $0.name == word)
            }
            return meant.count == 1 ? meant.first : nil
        }
    }

    // MARK: Figures

    var count: Int { lock.locked { clients.count } }
    var dropped: UInt64 { lock.locked { clients.reduce(droppedBefore) { $0 + $1.dropped } } }
}

extension FamilyDescription {
    /// The values of a family, which the page lists if it has no drawing of it, by their places in the state. The battery has a
    /// place of its own on each card.
    var shown: JSON {
        let values = entities.compactMap { entity -> JSON? in
            let title: JSON = ["title": .string(entity.title)]
            switch entity.kind {
            case .sensor(let path, let unit, _, _) where !entity.isDiagnostic && path != "battery_percent":
                return title.merging(["path": .string(path), "unit": unit.map { .string($0) } ?? .null])
            // What is set and reported is one entity: its control does not show the value.
            case .number(let path?, _, _, _, let unit):
                return title.merging(["path": .string(path), "unit": unit.map { .string($0) } ?? .null])
            case .choice(let path?, _, _): return title.merging(["path": .string(path), "unit": .null])
            case .binary(let path, _, _) where !entity.isDiagnostic:
                return title.merging(["path": .string(path), "unit": .null])
            default: return nil
            }
        }
        return ["values": .array(values)]
    }

    /// What a person can command, from the same table as the discovery of MQTT.
    var commands: JSON {
        var all: [JSON] = []
        for entity in entities {
            var command: JSON = ["id": .string(entity.id), "title": .string(entity.title)]
            switch entity.kind {
            case .button(let payload):
                guard let actions = try? JSON(parsing: Array(payload.utf8)) else { continue }
                command = command.merging(["kind": "button", "actions": actions])
            case .firmware(_, _, let install):
                guard let actions = try? JSON(parsing: Array(install.utf8)) else { continue }
                command = command.merging(["kind": "upgrade", "actions": actions])
            case .choice(_, let action, let options):
                command = command.merging([
                    "kind": "choice", "action": .string(action),
                    "options": .array(options.map { .string($0) }),
                ])
            case .number(_, let action, let range, let step, let unit):
                command = command.merging([
                    "kind": "number", "action": .string(action), "from": JSON(figure: range.lowerBound),
                    "to": JSON(figure: range.upperBound), "step": JSON(figure: step),
                    "unit": unit.map { .string($0) } ?? .null,
                ])
            case .text(let action, let length, let pattern):
                command = command.merging([
                    "kind": "text", "action": .string(action), "most": JSON(length.upperBound),
                    "pattern": pattern.map { .string($0) } ?? .null,
                ])
            default: continue
            }
            all.append(command)
        }
        return .array(all)
    }
}
