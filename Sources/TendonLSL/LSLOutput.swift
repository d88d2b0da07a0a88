// SPDX-License-Identifier: MIT
// The Lab Streaming Layer as an output of the command. See docs/lsl.md.
//
// A sample is handed to the library in the turn of the loop in which it arrived; the library has threads of its own that send
// it. A stream is made with the first sample of its sensor, and lasts over lost connections: receivers keep theirs.
import CTendon
import TendonOutputs
import TendonSupport

/// A stream of a device, or the reason why it has none.
private final class Stream {
    var outlet: Outlet?
    /// Of the samples: the stream may have another one as long as it is received.
    var form: SampleForm?
    var rate = 0.0
    /// It could not be made; the next connection tries again.
    var hasFailed = false
    /// A sample could not be sent, which was reported.
    var isRefused = false
}

/// The streams of a device.
private final class Streams {
    var device: OutputDevice
    var sensors: [String: Stream] = [:]
    var markers: Stream?
    /// When its connection ended, as a number that grows; nil: it is connected.
    var leftAt: UInt64?

    init(_ device: OutputDevice) { self.device = device }

    var all: [Stream] { sensors.values + [markers].compactMap { $0 } }
}

/// A source and its streams, so that a sample finds its own without a comparison of texts.
private final class Route {
    /// Kept, so that no other source takes its place in memory.
    let source: any SampleSource
    let streams: Streams
    /// By the form of their samples, which is kept for the same reason.
    var byForm: [ObjectIdentifier: (form: SampleForm, stream: Stream)] = [:]

    init(_ source: any SampleSource, _ streams: Streams) { (self.source, self.streams) = (source, streams) }
}

package final class LSLOutput: EventOutput, @unchecked Sendable {
    private let library: LSLLibrary
    private let families: [String: FamilyDescription]
    private let markers: Markers
    private let report: @Sendable (String) -> Void
    private let end = OutputEnd()
    // Guarded by `lock`.
    private let lock = ThreadLock()
    private var devices: [String: Streams] = [:]
    private var routes: [ObjectIdentifier: Route] = [:]
    private var numbers = [Double](repeating: 0, count: SampleForm.limit)
    private var figures = (sent: UInt64(0), refused: UInt64(0))
    private var count = 0
    private var departures: UInt64 = 0
    private var isFull = false
    private var retired: [Outlet] = []
    private var isRetiring = false
    private var isOver = false

    /// Streams at the same time: each has up to 16 descriptors, and a process usually has 1,024.
    package static let limit = 48
    private static let routeLimit = 256

    /// - Parameters:
    ///   - families: what is known of them.
    ///   - report: takes sentences for people, from any thread.
    package init(
        _ library: LSLLibrary, families: [FamilyDescription], report: @escaping @Sendable (String) -> Void
    ) throws(LSLError) {
        try library.check()
        (self.library, self.report) = (library, report)
        self.families = Dictionary(families.map { ($0.family, $0) }, uniquingKeysWith: { first, _ in first })
        markers = Markers(families)
    }

    // MARK: Samples

    package var takesNumbers: Bool { true }

    package func sample(_ sample: OutputSample, of source: any SampleSource) {
        guard sample.count > 0 else { return }
        lock.locked {
            guard !isOver else { return }
            let route = route(of: source)
            let stream = stream(of: sample, route)
            if stream.rate != sample.rate || stream.form !== sample.form {
                (stream.form, stream.rate) = (sample.form, sample.rate)
                refresh(stream, of: route.streams)
            }
            guard let outlet = stream.outlet else { return }
            for channel in 0..<sample.count { numbers[channel] = sample[channel] }
            let time = LSLLibrary.seconds(sample.sampledAt ?? sample.receivedAt)
            note(library.pushNumbers(outlet.pointer, numbers, time), stream, outlet)
        }
    }

    private func route(of source: any SampleSource) -> Route {
        if let route = routes[ObjectIdentifier(source)] { return route }
        if routes.count >= LSLOutput.routeLimit { routes.removeAll() }
        let route = Route(source, streams(of: source.device))
        routes[ObjectIdentifier(source)] = route
        return route
    }

    private func streams(of device: OutputDevice) -> Streams {
        if let streams = devices[device.key] { return streams }
        let streams = Streams(device)
        devices[device.key] = streams
        return streams
    }

    private func stream(of sample: OutputSample, _ route: Route) -> Stream {
        if let known = route.byForm[ObjectIdentifier(sample.form)] { return known.stream }
        let stream = route.streams.sensors[sample.form.sensor] ?? Stream()
        route.streams.sensors[sample.form.sensor] = stream
        route.byForm[ObjectIdentifier(sample.form)] = (sample.form, stream)
        return stream
    }

    private func note(_ status: Int32, _ stream: Stream, _ outlet: Outlet) {
        guard status != 0 else {
            figures.sent += 1
            stream.isRefused = false
            return
        }
        figures.refused += 1
        guard !stream.isRefused else { return }
        stream.isRefused = true
        let reason = library.lastError()
        report("a sample of '\(outlet.description.name)' was not sent: " + (reason.isEmpty ? "\(status)" : reason))
    }

    // MARK: Streams

    /// Makes the stream if it is missing, and makes it again if it should be described differently and is not received.
    private func refresh(_ stream: Stream, of streams: Streams) {
        let known = families[streams.device.family]
        let wanted =
            stream.form.map { StreamDescription(streams.device, known, $0, rate: stream.rate) }
            ?? StreamDescription(markersOf: streams.device, known)
        if let outlet = stream.outlet {
            let hasChanged = outlet.description != wanted
            // Its channels are another matter: samples with others cannot be sent there.
            let mustEnd = outlet.description.channels.count != wanted.channels.count
            guard hasChanged, mustEnd || !library.hasReceivers(outlet.pointer) else { return }
            stream.outlet = nil
            retire(outlet)
        }
        guard !stream.hasFailed, hasRoom(for: wanted, of: streams) else { return }
        do throws(LSLError) {
            stream.outlet = try Outlet(wanted, library)
            count += 1
        } catch {
            stream.hasFailed = true
            report("\(error.text); the next connection of the device tries it again")
        }
    }

    private func hasRoom(for wanted: StreamDescription, of own: Streams) -> Bool {
        while count >= LSLOutput.limit {
            // The one that left first, of those that have streams which are not received.
            let left = devices.values.filter { streams in
                let outlets = streams.all.compactMap(\.outlet)
                return streams.leftAt != nil && streams !== own && !outlets.isEmpty
                    && !outlets.contains { library.hasReceivers($0.pointer) }
            }
            guard let oldest = left.min(by: { $0.leftAt ?? 0 < $1.leftAt ?? 0 }) else { break }
            forget(oldest)
        }
        if count < LSLOutput.limit { return true }
        if !isFull { report("there are \(count) streams, which is the most; '\(wanted.name)' and others are not sent") }
        isFull = true
        return false
    }

    /// Ends a stream on another thread, because the library waits for its threads.
    private func retire(_ outlet: Outlet) {
        count -= 1
        isFull = false
        retired.append(outlet)
        guard !isRetiring else { return }
        isRetiring = true
        if startThread({ self.endRetired() }) != 0 { isRetiring = false }
    }

    private func endRetired() {
        while true {
            let outlets = lock.locked { () -> [Outlet] in
                defer { self.retired = [] }
                if self.retired.isEmpty { isRetiring = false }
                return self.retired
            }
            guard !outlets.isEmpty else { break }
            for outlet in outlets { library.destroyOutlet(outlet.pointer) }
        }
        if lock.locked({ isOver }) { end.reach() }
    }

    // MARK: Events

    package func takes(_ event: EventName, of device: OutputDevice?) -> Bool {
        guard let device, !event.isEqual(to: "sample") else { return false }
        return markers.contains(event, of: device.family)
    }

    package func event(_ event: EventName, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {
        guard let device else { return }
        var writer = LineWriter()
        compose(&writer)
        guard let line = try? JSON(parsing: writer.bytes),
            let text = markers.text(event.description, of: device.family, line)
        else { return }
        // Of a line that has none, the time of this call.
        let time = line["sampled_at"]?.number ?? line["received_at"]?.number ?? 0
        lock.locked {
            guard !isOver else { return }
            let isConnected = event.isEqual(to: "connected")
            // What is still said of a device that was forgotten does not bring it back.
            guard isConnected || devices[device.key] != nil else { return }
            let streams = streams(of: device)
            let stream = streams.markers ?? Stream()
            streams.markers = stream
            if isConnected {
                streams.leftAt = nil
                update(streams, to: device)
            }
            guard let outlet = stream.outlet else { return }
            note(library.pushText(outlet.pointer, text, time), stream, outlet)
        }
    }

    // MARK: Devices

    package func device(_ device: OutputDevice, is presence: Presence) {
        lock.locked {
            guard !isOver, let streams = devices[device.key] else { return }
            switch presence {
            case .renamed: update(streams, to: device)
            case .disconnected:
                departures += 1
                streams.leftAt = departures
            case .forgotten: forget(streams)
            case .connected: break
            }
        }
    }

    private func forget(_ streams: Streams) {
        devices[streams.device.key] = nil
        routes = routes.filter { $0.value.streams !== streams }
        for stream in streams.all { stream.outlet.map(retire) }
    }

    /// It is connected, or has another name.
    private func update(_ streams: Streams, to device: OutputDevice) {
        streams.device = device
        for stream in streams.all {
            stream.hasFailed = false
            refresh(stream, of: streams)
        }
    }

    package var metrics: [Metric] {
        lock.locked {
            let outlets = devices.values.flatMap(\.all).compactMap(\.outlet)
            let received = outlets.filter { library.hasReceivers($0.pointer) }.count
            return [
                Metric("tendon_lsl_streams", .gauge, "Streams that are offered.", Double(outlets.count)),
                Metric("tendon_lsl_received_streams", .gauge, "Streams that are received.", Double(received)),
                Metric(
                    "tendon_lsl_samples", .counter, "Samples and markers that were given to the streams.",
                    Double(figures.sent)),
                Metric(
                    "tendon_lsl_refused_samples", .counter, "Samples and markers that liblsl refused.",
                    Double(figures.refused)),
            ]
        }
    }

    package func finish() async {
        let isIdle = lock.locked { () -> Bool in
            isOver = true
            for streams in devices.values {
                for stream in streams.all { stream.outlet.map(retire) }
            }
            devices = [:]
            routes = [:]
            return !isRetiring
        }
        if isIdle { end.reach() }
        await end.wait()
    }
}
