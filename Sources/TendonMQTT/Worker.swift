// SPDX-License-Identifier: MIT
// The thread between the events and libmosquitto: it numbers messages, stores what the broker does not take soon, keeps
// the states of the devices, and passes on what comes from outside.
import CTendon
import TendonOutputs
import TendonQueue
import TendonSupport

/// All members but `mailbox` are used on the worker's thread only.
final class Worker: @unchecked Sendable {
    let settings: MQTTSettings
    let topics: Topics
    let mailbox: Mailbox
    let client: any Broker
    let families: [String: FamilyDescription]
    let version: String
    let handler: any CommandHandler
    let report: @Sendable (String) -> Void
    var delivery: Delivery
    var devices: [String: Device] = [:]
    /// What is still said of them is dropped.
    private var forgotten = ForgottenDevices()

    private(set) var isConnected = false
    private var isOver = false
    /// Milliseconds, as tendon_monotonic_ms() counts them.
    private let clock: () -> UInt64
    private let started: UInt64
    private var connection: ConnectionReport
    private var refusals = RefusalReport()
    private var obstacle = ObstacleReport()
    /// Subscriptions whose refusal was reported: with each connection they are refused again.
    private var deafTopics: Set<String> = []
    /// A discovery was refused, and that was reported, whatever was refused before.
    private var hasReportedDiscovery = false
    private var hasReportedRoom = false
    /// Samples that were left out.
    private(set) var thinned: UInt64 = 0
    /// Messages from the broker that came too fast.
    private var ignored: UInt64 = 0
    private var publishedDrops: UInt64 = 0
    private var informedAt: UInt64 = 0
    /// Of the gateway; a sentence about each radio that is waited for.
    private var radios = (open: 0, waiting: [String]())
    /// Commands from outside that are carried out, by their numbers.
    var answers: [Int: Answer] = [:]
    var lastStarted = 0
    /// Nil: devices are not shared with other gateways.
    let shared: SharedDevices?
    var agreements: [String: Agreement] = [:]
    var neighbors = Neighbors()
    var brokerLostAt: UInt64
    private let figures: MQTTFigures
    private let onEnd: @Sendable () -> Void

    /// Milliseconds between states that only samples changed, while the broker is away: they are written to disk.
    private static let awayInterval: UInt64 = 60_000
    private static let informationInterval: UInt64 = 10_000
    /// Milliseconds for which the end waits for the broker.
    private static let lastPatience: UInt64 = 3000

    init(
        _ settings: MQTTSettings, _ queue: DiskQueue, _ client: any Broker, _ mailbox: Mailbox,
        families: [FamilyDescription], version: String, handler: any CommandHandler,
        report: @escaping @Sendable (String) -> Void, figures: MQTTFigures, shared: SharedDevices?,
        clock: @escaping () -> UInt64 = tendon_monotonic_ms, onEnd: @escaping @Sendable () -> Void
    ) {
        self.settings = settings
        topics = Topics(base: settings.base, gateway: settings.gateway)
        (self.client, self.mailbox, self.version, self.handler, self.report) = (
            client, mailbox, version, handler, report
        )
        self.families = Dictionary(uniqueKeysWithValues: families.map { ($0.family, $0) })
        connection = ConnectionReport(broker: settings.broker)
        (self.figures, self.onEnd, self.shared, self.clock) = (figures, onEnd, shared, clock)
        (started, brokerLostAt) = (clock(), clock())
        delivery = Delivery(queue, now: started, report: report)
        for (name, note) in delivery.notes() where name.hasPrefix("device/") {
            if let device = Device(note: note) { devices[device.key] = device }
        }
    }

    var uptime: UInt64 { clock() - started }

    func run() {
        var batch = Mailbox.Batch()
        while !isOver {
            mailbox.take(until: deadline, into: &batch)
            process(batch)
        }
        end()
    }

    /// One round: what came, then what is due.
    func process(_ batch: Mailbox.Batch) {
        let now = clock()
        if batch.droppedEvents > 0 { delivery.countDropped(batch.droppedEvents) }
        thinned += UInt64(batch.droppedSamples)
        if batch.droppedItems > 0 {
            if ignored == 0 { report("messages come faster from the broker than they can be taken: some are ignored") }
            ignored += UInt64(batch.droppedItems)
        }
        for item in batch.items { handle(item, batch.text, now) }
        work(now)
        figures.set(
            MQTTFigures.Values(
                isConnected: isConnected, queued: delivery.waiting, dropped: delivery.dropped,
                refused: delivery.refused, thinned: thinned, isFailing: delivery.isFailing))
    }

    // MARK: What comes

    private func handle(_ item: Item, _ text: [UInt8], _ now: UInt64) {
        switch item {
        case .line(let line): take(line, text[line.bytes], now)
        case .presence(let device, let presence): take(device, presence, now)
        case .radios(let open, let waiting):
            radios = (open, waiting)
            publishInformation(now)
        case .connected(let window):
            delivery.limit(window)
            connected(now)
        case .disconnected(let reason, let isRefused): disconnected(reason, isRefused, now)
        case .acknowledged(let number, let refusal):
            let topic = delivery.finished(number, isRefused: refusal != nil, now: now)
            if let refusal { refused(topic, Client.text(refusal: refusal), now) }
        case .subscriptionRefused(let topic, let reason):
            if deafTopics.insert(topic).inserted {
                report("the broker refuses the subscription to \(topic): \(reason); what is sent there is not received")
            }
        case .received(let topic, let payload, let isRetained):
            received(topic, payload, isRetained: isRetained, now)
        case .signal(let device, let rssi): agree(device.key, .received(rssi: rssi), now)
        case .answered(let number, let result): answered(number, result)
        case .finish: isOver = true
        }
    }

    private func connected(_ now: UInt64) {
        isConnected = true
        connection.connected(now)
        client.subscribe(topics.subscriptions)
        client.subscribe(HomeAssistant.births(settings.discovery))
        // Before its claims, which hold from then on.
        send(topics.bridgeState, Array(BridgeState.online.utf8))
        if shared != nil {
            client.subscribe(topics.neighbors)
            agreeOnBroker(true, now)
        }
        publishInformation(now)
        publishDevices()
        for device in devices.values {
            publishAvailability(device, now)
            publishDiscovery(device, now)
            // The broker may keep nothing over a restart, and some states never change. Of a device that is away another gateway
            // may have published a newer one.
            if device.isAvailable || shared == nil { publishState(device.key, now) }
        }
    }

    private func disconnected(_ reason: String, _ isRefused: Bool, _ now: UInt64) {
        if let line = connection.disconnected(reason, isRefused: isRefused, now) { report(line) }
        if isConnected {
            agreeOnBroker(false, now)
            if let line = obstacle.lost(with: delivery.oldestSent) { report(line) }
        }
        isConnected = false
        delivery.store(now: now, isConnected: false, isLast: true)
    }

    private func take(_ line: LineItem, _ bytes: ArraySlice<UInt8>, _ now: UInt64) {
        let event = line.event.description
        let key = line.device.key
        guard !forgotten.drops(event, of: key) else { return }
        if devices[key] == nil, eventsWithoutConnection.contains(event) {
            return add(bytes, named: freeName(line.device, key), now)
        }
        guard know(line.device, key, now) else { return }
        if event == "sample" {
            guard let sensor = DeviceState.sensor(of: bytes) else { return }
            devices[key]?.take(sample: bytes, of: sensor)
            stream(key, sensor, bytes, now)
            return
        }
        add(bytes, named: devices[key]!.name, now)
        if event == "publish" { publish(bytes, now) }
        let family = families[line.device.family]
        if family.describesState(event) { devices[key]?.take(event, bytes, isMeasurement: family.measures(event)) }
    }

    private func add(_ bytes: ArraySlice<UInt8>, named name: String, _ now: UInt64) {
        let gateway = settings.gateway
        delivery.add(topics.event(name), isState: false, time: tendon_realtime_us(), now: now) { number in
            // Before the closing brace and the end of the line.
            bytes.dropLast(2) + Array(#","message_id":"\#(gateway)-\#(number)"}"#.utf8)
        }
    }

    /// The action `publish` of a rule.
    private func publish(_ line: ArraySlice<UInt8>, _ now: UInt64) {
        guard let json = try? JSON(parsing: Array(line)), let name = json["topic"]?.string, Topics.isLevel(name),
            let value = json["value"]?.string
        else { return }
        delivery.add(topics.rule(name), isState: false, time: tendon_realtime_us(), now: now) { _ in Array(value.utf8) }
    }

    private func take(_ device: OutputDevice, _ presence: Presence, _ now: UInt64) {
        let key = device.key
        if presence == .forgotten { return forget(key, now) }
        if presence == .renamed {
            if devices[key] != nil { _ = know(device, key, now) }
            return
        }
        let isConnected = presence == .connected
        agree(key, .connection(isConnected), now)
        // Of one that never was connected nothing is kept: anyone in range can have an address.
        guard isConnected || devices[key] != nil else { return }
        guard !forgotten.drops(isConnected ? "connected" : "disconnected", of: key), know(device, key, now) else {
            return
        }
        devices[key]?.isAvailable = isConnected
        devices[key]?.seenAt = now
        publishAvailability(devices[key]!, now)
        // Now its firmware is known.
        if isConnected { publishDiscovery(devices[key]!, now) }
        // The last samples are part of what is known.
        if !isConnected { publishState(key, now) }
    }

    /// False if too many devices are known.
    private func know(_ device: OutputDevice, _ key: String, _ now: UInt64) -> Bool {
        guard let known = devices[key] else {
            guard devices.count < settings.deviceLimit || makeRoom(now) else { return false }
            devices[key] = Device(device, name: freeName(device, key))
            changed(key, now)
            return true
        }
        guard known.device.name != device.name || known.device.isNamed != device.isNamed else { return true }
        devices[key]?.device = device
        let name = device.isNamed ? freeName(device, key) : known.name
        if name != known.name { rename(key, to: name, now) } else { changed(key, now) }
        giveNames(now)
        return true
    }

    /// A name that another device had is free now.
    func giveNames(_ now: UInt64) {
        while let next = devices.values.first(where: { $0.lacksName && freeName($0.device, $0.key) == $0.device.name })
        {
            rename(next.key, to: next.device.name ?? next.name, now)
        }
    }

    /// What is retained below the old name is removed; the new one has all of it at once.
    func rename(_ key: String, to name: String, _ now: UInt64) {
        guard let known = devices[key] else { return }
        clear(known, now)
        devices[key]?.name = name
        publishAvailability(devices[key]!, now)
        publishState(key, now)
        keep(now)
        changed(key, now)
    }

    /// The name of the configuration; else the address, as zigbee2mqtt does it.
    private func freeName(_ device: OutputDevice, _ key: String) -> String {
        let (given, standard) = (device.isNamed ? device.name : nil, Device.standardNames(device))
        for name in [given, standard[0]].compactMap(\.self) where Topics.isName(name) {
            if !devices.values.contains(where: { $0.name == name && $0.key != key }) { return name }
        }
        return standard[1]
    }

    /// What is kept of a device from one run to the next.
    func note(_ device: Device, _ now: UInt64) {
        delivery.setNote("device/" + device.key, device.note.text, now: now)
    }

    /// A device is new, or has another name.
    private func changed(_ key: String, _ now: UInt64) {
        guard let device = devices[key] else { return }
        note(device, now)
        publishDevices()
        publishDiscovery(device, now)
    }

    /// What was published about a device, and is kept about it, is removed.
    private func forget(_ key: String, _ now: UInt64) {
        guard let device = devices[key] else { return }
        remove(device, now)
        forgotten.insert(key)
    }

    private func remove(_ device: Device, _ now: UInt64) {
        clear(device, now, withDiscovery: true)
        keep(now)
        devices[device.key] = nil
        delivery.setNote("device/" + device.key, nil, now: now)
        publishDevices()
        giveNames(now)
    }

    /// Without the device that is away for the longest time. False: all are connected.
    private func makeRoom(_ now: UInt64) -> Bool {
        let away = devices.values.filter { !$0.isAvailable }
        guard let longest = away.min(by: { $0.seenAt < $1.seenAt }) else { return false }
        if !hasReportedRoom {
            report(
                "\(settings.deviceLimit) devices are known: from now on the one that is away longest is removed for a new one"
            )
            hasReportedRoom = true
        }
        remove(longest, now)
        return true
    }

    /// Retained messages end with an empty one.
    private func clear(_ device: Device, _ now: UInt64, withDiscovery: Bool = false) {
        var all = [topics.availability(device.name), topics.state(device.name)]
        if withDiscovery, let discovery = settings.discovery { all.append(HomeAssistant.topic(discovery, device)) }
        for topic in all { retain(topic, [], now) }
    }

    /// Before the notes say that nothing is left of a name: the broker gets what ends it, whatever ends this process.
    private func keep(_ now: UInt64) { delivery.keep(now: now) }

    // MARK: What is due

    var deadline: UInt64 {
        var deadline = min(
            delivery.deadline(isConnected: isConnected), connection.deadline, refusals.deadline)
        for agreement in agreements.values { deadline = min(deadline, agreement.deadline) }
        for device in devices.values {
            deadline = min(deadline, stateDeadline(device))
            for stream in device.streams.values where stream.count > 0 {
                deadline = min(deadline, stream.sentAt + settings.streamPause)
            }
        }
        if delivery.dropped != publishedDrops, isConnected {
            deadline = min(deadline, informedAt + Worker.informationInterval)
        }
        return deadline
    }

    private func stateDeadline(_ device: Device) -> UInt64 {
        if device.isChanged { return device.publishedAt + settings.stateInterval }
        guard device.hasSamples else { return .max }
        return device.publishedAt + (isConnected ? settings.stateInterval : Worker.awayInterval)
    }

    private func work(_ now: UInt64) {
        agreeOnTime(now)
        if let line = connection.due(now, waiting: delivery.waiting) { report(line) }
        if let line = refusals.due(now) { report(line) }
        for (key, device) in devices {
            if stateDeadline(device) <= now { publishState(key, now) }
            for (sensor, stream) in device.streams where stream.count > 0 && stream.sentAt + settings.streamPause <= now
            {
                flush(key, sensor, now)
            }
        }
        if isConnected {
            pump(now)
            if delivery.dropped != publishedDrops, now >= informedAt + Worker.informationInterval {
                publishInformation(now)
            }
        }
        delivery.store(now: now, isConnected: isConnected)
    }

    private func pump(_ now: UInt64) {
        var impossible: [(topic: String, reason: String)] = []
        delivery.pump(now: now) { [client] message in
            let result = client.publish(message.topic, message.payload, quality: 1, isRetained: message.isState)
            if case .refused(let reason) = result { impossible.append((message.topic, reason)) }
            return result
        }
        for (topic, reason) in impossible { refused(topic, reason, now) }
    }

    private func refused(_ topic: String?, _ reason: String, _ now: UInt64) {
        let line = refusals.refused(topic, reason, now)
        if let topic, !hasReportedDiscovery, settings.discovery.map({ HomeAssistant.isTopic(topic, of: $0) }) ?? false {
            hasReportedDiscovery = true
            report("the broker refuses a message to \(topic): \(reason); Home Assistant does not show this device")
        } else if let line {
            report(line)
        }
    }

    /// The gateway ends: its devices are not available any more. What the broker does not take in time is stored.
    func end() {
        let now = clock()
        for key in devices.keys where devices[key]!.isAvailable || devices[key]!.isChanged {
            devices[key]?.isAvailable = false
            publishAvailability(devices[key]!, now)
            publishState(key, now)
        }
        var batch = Mailbox.Batch()
        let end = now + Worker.lastPatience
        repeat {
            let isWaiting = isConnected && !delivery.isIdle
            if isWaiting { pump(clock()) }
            mailbox.take(until: isWaiting ? min(end, clock() + 100) : 0, into: &batch)
            for item in batch.items {
                switch item {
                case .acknowledged(let number, let refusal):
                    delivery.finished(number, isRefused: refusal != nil, now: clock())
                case .disconnected: isConnected = false
                case .answered(let number, let result): answered(number, result)
                default: break
                }
            }
        } while isConnected && !delivery.isIdle && clock() < end
        for number in answers.keys.sorted() { answered(number, .failed("the gateway ends")) }
        delivery.store(now: clock(), isConnected: isConnected, isLast: true)
        if delivery.stored > 0 {
            report("\(delivery.stored) messages wait in \(settings.queuePath) for the next start")
        }
        if delivery.lost > 0 {
            report("\(delivery.lost) messages are lost: the queue \(settings.queuePath) cannot be written")
            figures.hasLost = true
        }
        delivery.close()
        client.stop(topics.bridgeState, Array(BridgeState.offline.utf8))
        onEnd()
    }
}

// MARK: - Messages

extension Worker {
    /// A message that is composed again with each connection: it needs no queue, and no acknowledgement.
    func send(_ topic: String, _ payload: [UInt8], isRetained: Bool = true) {
        if isConnected { hand(topic, payload, quality: 0, isRetained: isRetained) }
    }

    /// A message that is not queued. Returns whether libmosquitto has it; what it can never take counts as refused.
    @discardableResult
    func hand(_ topic: String, _ payload: [UInt8], quality: Int32, isRetained: Bool) -> Bool {
        switch client.publish(topic, payload, quality: quality, isRetained: isRetained) {
        case .taken: return true
        case .later: return false
        case .refused(let reason):
            delivery.countRefused()
            refused(topic, reason, clock())
            return false
        }
    }

    func send(_ topic: String, _ value: JSON, isRetained: Bool = true) {
        send(topic, Array(LineWriter.text(value).utf8), isRetained: isRetained)
    }

    /// A retained message about a device goes the way of the states, so that it comes after what was cleared before, however
    /// long the broker was away.
    private func retain(_ topic: String, _ payload: [UInt8], _ now: UInt64) {
        delivery.add(topic, isState: true, time: tendon_realtime_us(), now: now) { _ in payload }
    }

    /// The same of what is composed again with each connection.
    func announce(_ topic: String, _ payload: [UInt8], _ now: UInt64) {
        if isConnected { retain(topic, payload, now) }
    }

    fileprivate func publishAvailability(_ device: Device, _ now: UInt64) {
        announce(
            topics.availability(device.name),
            Array((device.isAvailable ? BridgeState.online : BridgeState.offline).utf8), now)
    }

    func publishState(_ key: String, _ now: UInt64) {
        guard var device = devices[key] else { return }
        var state = device.completeState()
        device.publishedAt = now
        devices[key] = device
        guard !state.all.isEmpty else { return }
        let gateway = settings.gateway
        delivery.add(topics.state(device.name), isState: true, time: tendon_realtime_us(), now: now) { number in
            state["message_id"] = .string("\(gateway)-\(number)")
            return Array(LineWriter.text(state).utf8)
        }
    }

    func publishDevices() {
        guard isConnected else { return }
        send(topics.devices, .array(devices.values.sorted { $0.key < $1.key }.map(\.description)))
    }

    fileprivate func publishInformation(_ now: UInt64) {
        publishedDrops = delivery.dropped
        informedAt = now
        send(topics.information, health.merging(["version": .string(version), "base_topic": .string(settings.base)]))
    }

    /// Counters of what went out and what did not.
    var health: JSON {
        [
            "gateway": .string(settings.gateway), "radios_open": JSON(radios.open),
            "waiting": .array(radios.waiting.map { .string($0) }), "uptime_s": JSON(uptime / 1000),
            "devices": JSON(devices.count),
            "queued": JSON(delivery.waiting), "dropped": JSON(delivery.dropped), "refused": JSON(delivery.refused),
            "thinned": JSON(thinned), "ignored": JSON(ignored),
            "next_message_id": .string("\(settings.gateway)-\(delivery.next)"),
            "queue_failing": .bool(delivery.isFailing), "queue_commits": JSON(delivery.commits),
            "queue_syncs": JSON(delivery.syncs),
        ]
    }

    // MARK: Streams

    /// Bytes of samples in one message.
    private static var batchLimit: Int { 1 << 16 }

    fileprivate func stream(_ key: String, _ sensor: String, _ line: ArraySlice<UInt8>, _ now: UInt64) {
        switch settings.streams {
        case .none: return
        case .these(let wanted) where !wanted.contains(sensor): return
        default: break
        }
        guard isConnected || settings.storesStreams, Topics.isLevel(sensor) else {
            thinned += 1
            return
        }
        var stream = devices[key]?.streams[sensor] ?? Device.Stream(sentAt: now)
        if settings.streamBatch == 0 || stream.batch.count > Worker.batchLimit {
            // The newest one counts.
            thinned += UInt64(stream.count)
            stream.batch.removeAll(keepingCapacity: true)
            stream.count = 0
        }
        if stream.count > 0 { stream.batch.append(UInt8(ascii: ",")) }
        stream.batch += line[..<(line.endIndex - 1)]
        stream.count += 1
        devices[key]?.streams[sensor] = stream
    }

    fileprivate func flush(_ key: String, _ sensor: String, _ now: UInt64) {
        guard let device = devices[key], var stream = device.streams[sensor] else { return }
        let topic = topics.stream(device.name, sensor)
        let payload =
            settings.streamBatch > 0 ? [UInt8(ascii: "[")] + stream.batch + [UInt8(ascii: "]")] : stream.batch
        if settings.storesStreams {
            delivery.add(topic, isState: false, time: tendon_realtime_us(), now: now) { _ in payload }
        } else if !hand(topic, payload, quality: 0, isRetained: false) {
            thinned += UInt64(stream.count)
        }
        stream.batch.removeAll(keepingCapacity: true)
        (stream.count, stream.sentAt) = (0, now)
        devices[key]?.streams[sensor] = stream
    }
}
