// SPDX-License-Identifier: MIT
// OSC and OpenTrack as an output of the command. See docs/osc.md.
//
// A sample is sent in the turn of the loop in which it arrived: there is no queue and no other thread on its way.
import CTendon
import TendonOutputs
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// What is known of the head of a device. The reference outlives its connections.
private final class Head {
    var state = tendon_osc_head()
    /// With its newest name.
    var device: OutputDevice

    init(_ settings: OSCSettings, _ device: OutputDevice) {
        self.device = device
        tendon_osc_head_init(
            &state,
            tendon_orientation_settings(
                rate: UInt32(settings.rate), smoothing_ms: UInt32(settings.smoothing),
                yaw_only: settings.recentersYawOnly))
    }
}

/// A destination and its socket, with what C takes for each sample made once.
private final class Target: Sendable {
    let destination: OSCDestination
    let socket: Int
    let format: tendon_osc_format
    let map: tendon_osc_map
    /// Of orientations, with its terminator.
    let address: [CChar]

    init(_ destination: OSCDestination, socket: Int) {
        (self.destination, self.socket) = (destination, socket)
        (format, map) = (destination.format, destination.map)
        address = Array(destination.address.utf8CString)
    }
}

/// A device and where its values go: prepared once, used for each sample.
private final class Route {
    /// Kept, so that no other source takes its place in memory.
    let source: any SampleSource
    let device: OutputDevice
    let head: Head
    let orientations: [Target]
    /// Sockets.
    let raw: [Int]
    /// Addresses, with their terminators, by the form of their samples.
    private var addresses: [ObjectIdentifier: (form: SampleForm, address: [CChar])] = [:]

    init(_ source: any SampleSource, _ device: OutputDevice, _ head: Head, _ wanted: [Target]) {
        (self.source, self.device, self.head) = (source, device, head)
        orientations = wanted.filter { $0.format != TENDON_OSC_RAW }
        var sockets: Set<Int> = []
        raw = wanted.filter { $0.format == TENDON_OSC_RAW }.map(\.socket).filter { sockets.insert($0).inserted }
    }

    func address(of form: SampleForm) -> [CChar] {
        if let known = addresses[ObjectIdentifier(form)] { return known.address }
        let address = Array(OSCName.address(device, form.sensor).utf8CString)
        // A device has few sensors; more come only from forms that are made again and again.
        if addresses.count >= 64 { addresses.removeAll() }
        addresses[ObjectIdentifier(form)] = (form, address)
        return address
    }
}

package final class OSCOutput: EventOutput, @unchecked Sendable {
    private let settings: OSCSettings
    private let sockets: Destinations
    private let targets: [Target]
    private let input: OSCInput?
    private let report: @Sendable (String) -> Void
    // Guarded by `lock`.
    private let lock = ThreadLock()
    private var routes: [ObjectIdentifier: Route] = [:]
    /// Of the last sample: most are of the same device as the one before.
    private var latest: Route?
    private var heads: [String: Head] = [:]
    /// Targets whose device was seen.
    private var found: Set<Int> = []
    private var buffer = [UInt8](repeating: 0, count: 1024)
    private var numbers = [Double](repeating: 0, count: SampleForm.limit)

    /// Devices that are remembered.
    private static let limit = 256

    /// Opens the sockets and starts a thread that resolves names, and one for what comes in.
    /// - Parameters:
    ///   - family: the name of the family that a word means, such as `belt`; nil: it means none.
    ///   - report: takes sentences for people, from any thread.
    package init(
        _ settings: OSCSettings, handler: any CommandHandler, family: @escaping @Sendable (String) -> String?,
        report: @escaping @Sendable (String) -> Void
    ) throws(OSCError) {
        (self.settings, self.report) = (settings, report)
        let sockets = Destinations(settings.destinations.map(\.endpoint), report: report)
        self.sockets = sockets
        targets = settings.destinations.map { Target($0, socket: sockets.index(of: $0.endpoint)) }
        input = try settings.listener.map { (listener) throws(OSCError) in
            try OSCInput(listener, handler, family: family, report: report)
        }
        if !targets.isEmpty { try OSCOutput.check(sockets.start()) }
        if let input { try OSCOutput.check(input.start()) }
    }

    private static func check(_ number: Int32) throws(OSCError) {
        guard number == 0 else { throw OSCError("no thread: \(text(strerror(number)))") }
    }

    /// The port that it listens on.
    package var port: UInt16? { input?.port }

    package var takesSamples: Bool { false }
    package func takes(_ event: EventName, of device: OutputDevice?) -> Bool { false }
    package func event(_ event: EventName, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {}

    // MARK: Samples

    package var takesNumbers: Bool { !targets.isEmpty }

    package func sample(_ sample: OutputSample, of source: any SampleSource) {
        lock.locked {
            let route = route(of: source)
            if let head = sample.head { send(head, sample, route) }
            guard !route.raw.isEmpty, sample.count > 0 else { return }
            for channel in 0..<sample.count { numbers[channel] = sample[channel] }
            let length = tendon_osc_sample(
                route.address(of: sample.form), numbers, sample.count, &buffer, buffer.count)
            guard length > 0 else { return }
            for socket in route.raw { sockets.send(buffer, Int(length), to: socket) }
        }
    }

    private func send(_ head: tendon_quaternion, _ sample: OutputSample, _ route: Route) {
        let time = sample.receivedAt != 0 ? sample.receivedAt : tendon_monotonic_ms() * 1_000_000
        var shown = tendon_quaternion()
        guard tendon_osc_head_take(&route.head.state, sample.form.sensor == "rotation", head, time, &shown) else {
            return
        }
        for target in route.orientations {
            var map = target.map
            let length = tendon_osc_orientation(target.format, target.address, &map, shown, &buffer, buffer.count)
            if length > 0 { sockets.send(buffer, Int(length), to: target.socket) }
        }
    }

    private func route(of source: any SampleSource) -> Route {
        if let latest, latest.source === source { return latest }
        let route = prepared(source)
        latest = route
        return route
    }

    private func prepared(_ source: any SampleSource) -> Route {
        if let route = routes[ObjectIdentifier(source)] { return route }
        if routes.count >= OSCOutput.limit { routes.removeAll() }
        let device = source.device
        let wanted = find(device)
        let route = Route(source, device, head(of: device), wanted)
        routes[ObjectIdentifier(source)] = route
        return route
    }

    /// The targets of a device.
    private func find(_ device: OutputDevice) -> [Target] {
        let places = targets.indices.filter { targets[$0].destination.takes(device) }
        found.formUnion(places)
        return places.map { targets[$0] }
    }

    private func head(of device: OutputDevice) -> Head {
        if let head = heads[device.key] {
            head.device = device
            return head
        }
        if heads.count >= OSCOutput.limit, let other = heads.keys.first { heads[other] = nil }
        let head = Head(settings, device)
        heads[device.key] = head
        return head
    }

    // MARK: Devices

    package func recenter(_ device: OutputDevice?) -> [OutputDevice] {
        guard settings.sendsOrientations else { return [] }
        return lock.locked {
            heads.filter { device == nil || device?.key == $0.key }.values
                .filter { tendon_orientation_recenter(&$0.state.orientation) == TENDON_OK }.map(\.device)
        }
    }

    package func device(_ device: OutputDevice, is presence: Presence) {
        lock.locked {
            // Its name may be another one.
            latest = nil
            routes = routes.filter { $0.value.device.key != device.key }
            switch presence {
            case .disconnected:
                if let head = heads[device.key] { tendon_orientation_pause(&head.state.orientation) }
            case .forgotten: heads[device.key] = nil
            case .connected, .renamed: _ = find(device)
            }
        }
        input?.device(device, is: presence)
    }

    package var metrics: [Metric] { sockets.metrics + (input?.metrics ?? []) }

    package func finish() async {
        input?.finish()
        sockets.finish()
        let found = lock.locked { self.found }
        for (place, target) in targets.enumerated() where !found.contains(place) {
            guard let device = target.destination.device else { continue }
            report(
                "\(target.destination.endpoint.text) is of the device '\(sanitized(device))' alone, which was not connected"
            )
        }
    }
}

extension OSCDestination {
    func takes(_ device: OutputDevice) -> Bool { self.device.map { OSCName.means($0, device) } ?? true }
}

/// What a device is called in addresses.
enum OSCName {
    /// `/tendon/NAME/SENSOR`.
    static func address(_ device: OutputDevice, _ sensor: String) -> String {
        var address = [CChar](repeating: 0, count: Int(TENDON_OSC_ADDRESS_MAX) + 1)
        let name = device.name ?? ""
        tendon_osc_sample_address(name, name.utf8.count, device.address, sensor, sensor.utf8.count, &address)
        return ended(address)
    }

    /// By its name, as it is or as addresses have it, or by its address.
    static func means(_ name: String, _ device: OutputDevice) -> Bool {
        let own = device.name ?? ""
        return tendon_osc_means(name, name.utf8.count, own, own.utf8.count, device.key)
    }
}
