// SPDX-License-Identifier: MIT
// session.json of a recording: the devices, their connections and sensors, and what is missing.
import TendonOutputs
import TendonSupport

/// A time in which something is missing.
struct RecordedGap {
    /// Key of the device; nil: of all.
    var device: String?
    var file: String?
    /// "disconnected", "writer_behind", "not_written", "killed", "clock_set".
    var reason: String
    /// As in the lines.
    var from: String
    /// Nil: until the end of the recording.
    var to: String?
    /// That were received and are not in the file; nil: not known.
    var samples: UInt64?
    /// Likewise, lines of events.
    var lines: UInt64 = 0

    var json: JSON {
        var json: JSON = ["reason": .string(reason), "from": .string(from)]
        json["to"] = to.map { .string($0) } ?? .null
        if let file { json["file"] = .string(file) }
        json["samples"] = samples.map { JSON($0) } ?? .null
        if lines > 0 { json["lines"] = JSON(lines) }
        return json
    }
}

/// What is known of the samples of one sensor.
struct RecordedSensor {
    let form: SampleForm
    let file: String
    private var samples: UInt64 = 0
    private var first: UInt64 = 0
    private var last: UInt64 = 0
    /// The device's clock and this machine's: of the first sample that had both, and of the last one. The first one since the
    /// device's clock began again.
    private var clocks: (first: Pair, last: Pair)?
    private var largestError: Double?

    private struct Pair {
        /// Milliseconds of the device.
        var device: Double
        /// Monotonic nanoseconds.
        var machine: UInt64
    }

    init(_ form: SampleForm, file: String) { (self.form, self.file) = (form, file) }

    mutating func take(_ sample: OutputSample, at time: UInt64) {
        if samples == 0 { first = time }
        (samples, last) = (samples + 1, time)
        guard let machine = sample.sampledAt, let device = sample.deviceTime else { return }
        let pair = Pair(device: device, machine: machine)
        if let last = clocks?.last, RecordedSensor.isJump(from: last, to: pair) { clocks = nil }
        clocks = (clocks?.first ?? pair, pair)
        largestError = max(largestError ?? 0, sample.errorMilliseconds ?? 0)
    }

    /// One of the clocks was set, or begins again, as a device's clock may with each connection.
    private static func isJump(from last: Pair, to pair: Pair) -> Bool {
        let machine = (Double(pair.machine) - Double(last.machine)) / 1e6
        return abs(machine - (pair.device - last.device)) > jump
    }

    /// Milliseconds: the limit of docs/device-clock.md.
    private static let jump = 1000.0

    var json: JSON {
        let columns = zip(form.columns, RecordedRows.columns(form)).map { channel, column -> JSON in
            [
                "name": .string(channel.name), "unit": .string(channel.unit), "column": .string(column),
                "kind": .string(channel.kind.rawValue),
            ]
        }
        var json: JSON = [
            "sensor": .string(form.sensor), "file": .string(file), "samples": JSON(samples),
            "first": samples == 0 ? .null : .string(Recording.timeText(first)),
            "last": samples == 0 ? .null : .string(Recording.timeText(last)), "channels": JSON(columns),
        ]
        if !form.inLinesAlone.isEmpty { json["in_lines"] = JSON(form.inLinesAlone.map { .string($0) }) }
        if let clocks {
            json["clock"] = [
                "device_time_ms": Int(exactly: clocks.last.device).map { JSON($0) } ?? .real(clocks.last.device),
                "sampled_at": .real(Double(clocks.last.machine) / 1e9),
                "drift_ppm": drift(clocks).map { .real($0) } ?? .null, "largest_error_ms": .real(largestError ?? 0),
            ]
        }
        return json
    }

    /// By how much the device's clock is slow; nil: the time is too short to say.
    private func drift(_ clocks: (first: Pair, last: Pair)) -> Double? {
        guard clocks.last.device > clocks.first.device + 10_000, clocks.last.machine > clocks.first.machine else {
            return nil
        }
        let device = (clocks.last.device - clocks.first.device) * 1e6
        return (Double(clocks.last.machine - clocks.first.machine) / device - 1) * 1e6
    }
}

struct RecordingDescription {
    private var began: String
    private let information: JSON
    private let previous: String?
    private var ended: String?
    private(set) var gaps: [RecordedGap] = []
    /// Older ones, which are not listed.
    private var gapsLeftOut: UInt64 = 0
    private var devices: [Device] = []

    private struct Device {
        let key: String
        let label: String
        /// As it is called now: in the next recording.
        var latest: OutputDevice
        /// The members of its line.
        var information: JSON
        /// Of its connections; the reason of the end, nil: it is connected.
        var connections: [(began: String, ended: String?, reason: String)] = []
    }

    /// Connections of a device, and gaps, that are listed; of a device that comes and goes for months the latest ones.
    private static let connectionLimit = 1000
    private static let gapLimit = 10_000

    init(began: String, information: JSON, previous: String?) {
        (self.began, self.information, self.previous) = (began, information, previous)
    }

    /// Gaps are in the order in which they began, however they ended. Where the clock was set, times before and after it have none.
    mutating func add(_ gap: RecordedGap) {
        if gaps.count == RecordingDescription.gapLimit {
            gaps.removeFirst()
            gapsLeftOut += 1
        }
        let set =
            gap.reason == "clock_set" ? gaps.count : (gaps.lastIndex { $0.reason == "clock_set" }.map { $0 + 1 } ?? 0)
        let place = gaps[set...].lastIndex { $0.from <= gap.from }.map { $0 + 1 } ?? set
        gaps.insert(gap, at: place)
    }

    /// What files and rows call a device: its name or its family, and its address.
    mutating func label(of device: OutputDevice) -> String { devices[index(of: device)].label }

    private mutating func index(of device: OutputDevice) -> Int {
        if let index = devices.firstIndex(where: { $0.key == device.key }) {
            if devices[index].latest.name != device.name { devices[index].latest = device }
            return index
        }
        let information: JSON = [
            "family": .string(device.family), "address": .string(device.address),
            "address_type": .string(device.addressType),
        ]
        add(device, information)
        return devices.count - 1
    }

    private mutating func add(
        _ device: OutputDevice, _ information: JSON, connections: [(began: String, ended: String?, reason: String)] = []
    ) {
        let address = device.address.filter { $0 != ":" }
        var label = fileWord(device.isNamed ? device.name ?? device.family : device.family) + "-" + address
        if devices.contains(where: { $0.label == label }) { label += "-" + fileWord(device.addressType) }
        let name: JSON = ["name": device.name.map { .string($0) } ?? .null]
        devices.append(
            Device(
                key: device.key, label: label, latest: device, information: information.merging(name),
                connections: connections))
    }

    /// A connection that the program itself ended, and that was the device's last one, is no gap.
    /// - Parameter beginning: nil: the making of the recording.
    /// - Parameter ending: when the program began to end; nil: it does not end.
    mutating func end(at time: String, since beginning: String? = nil, ending: String? = nil) {
        began = beginning ?? began
        ended = time
        guard let ending else { return }
        for device in devices where device.connections.last?.reason == "requested" {
            gaps.removeAll { $0.device == device.key && $0.to == nil && $0.from >= ending }
        }
    }

    mutating func continues(_ earlier: RecordingDescription, at time: String) {
        for device in earlier.devices {
            let isConnected = device.connections.last.map { $0.ended == nil } ?? false
            add(device.latest, device.information, connections: isConnected ? [(time, nil, "")] : [])
        }
        gaps = earlier.gaps.filter { $0.to == nil && $0.device != nil }.map { gap in
            var gap = gap
            gap.from = time
            return gap
        }
    }

    mutating func connected(_ device: OutputDevice, _ line: JSON) {
        let time = line["time"]?.string ?? ""
        let index = index(of: device)
        for member in line.all where !["time", "event"].contains(member.key) {
            devices[index].information[member.key] = member.value
        }
        if devices[index].connections.count == RecordingDescription.connectionLimit {
            devices[index].connections.removeFirst()
        }
        devices[index].connections.append((time, nil, ""))
        if let gap = gaps.lastIndex(where: { $0.device == device.key && $0.to == nil }) { gaps[gap].to = time }
    }

    mutating func disconnected(_ device: OutputDevice, _ line: JSON) {
        let time = line["time"]?.string ?? ""
        let index = index(of: device)
        guard let last = devices[index].connections.indices.last, devices[index].connections[last].ended == nil else {
            return
        }
        devices[index].connections[last].ended = time
        devices[index].connections[last].reason = line["reason"]?.string ?? ""
        add(RecordedGap(device: device.key, reason: "disconnected", from: time))
    }

    func text(_ sensors: [(key: String, sensor: RecordedSensor)]) -> [UInt8] {
        func time(_ time: String?) -> JSON { time.map { .string($0) } ?? .null }
        let devices = self.devices.map { device -> JSON in
            let own = sensors.filter { $0.key.hasPrefix(device.key + "/") }.sorted { $0.key < $1.key }
            return (["label": .string(device.label)] as JSON).merging(device.information).merging([
                "connections": JSON(
                    device.connections.map {
                        ["began": time($0.began), "ended": time($0.ended), "reason": .string($0.reason)]
                    }),
                "sensors": JSON(own.map(\.sensor.json)),
            ])
        }
        let gaps = self.gaps.map { gap -> JSON in
            guard let device = self.devices.first(where: { $0.key == gap.device }) else { return gap.json }
            return (["device": .string(device.label)] as JSON).merging(gap.json)
        }
        let all: JSON = ["format": "tendon recording", "version": 1, "began": time(began), "ended": time(ended)]
        return Array(
            LineWriter.text(
                all.merging(information).merging([
                    "previous": previous.map { .string($0) } ?? .null, "devices": JSON(devices), "gaps": JSON(gaps),
                    "gaps_left_out": JSON(gapsLeftOut),
                ])
            ).utf8)
    }
}
