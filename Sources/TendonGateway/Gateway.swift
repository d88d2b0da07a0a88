// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Serves every wearable in range, of all families at the same time: finds it, connects, pairs where that is allowed,
/// starts its streams, and connects again when it was lost. What happens is a sequence of events; what devices can do
/// is asked for by name.
///
/// It is the gateway of the C library, as `tendon-gateway` and the Python package have it, on the loop of
/// `TendonActor`. A process can have several; those with the same Bluetooth adapter share it.
///
/// ```swift
/// let gateway = try await Gateway()
/// for await event in gateway.events {
///     if let sample = event.sample { print(event.device?.name ?? "", sample.sensor, sample.values) }
/// }
/// ```
///
/// A gateway is closed when the last reference to it and to its sequences is released: its connections end, and then its
/// radio is closed. ``close()`` does the same, and waits for it.
@TendonActor
public final class Gateway {
    private nonisolated let lifetime: Lifetime<GatewayCore>
    nonisolated var core: GatewayCore { lifetime.core }

    /// Opens the radio and begins to search.
    ///
    /// An adapter that is missing, in use or switched off is no error: it is waited for, which the events say
    /// (`radio_waiting`, `radio_restored`).
    ///
    /// - Parameter settings: read once; device files are read in this call.
    /// - Throws: ``GatewayError``: `settings` if something in them is not possible, `radio` if there will be no radio,
    ///   because this process lacks CAP_NET_RAW, an adapter's name is none, or the directory of the virtual radio cannot be
    ///   used. Nothing stays open after an error.
    public init(_ settings: GatewaySettings = GatewaySettings()) async throws(GatewayError) {
        guard !Task.isCancelled else { throw .cancelled }
        let core = GatewayCore(try GatewayPlan(settings))
        try await core.open()
        lifetime = Lifetime(core)
    }

    // MARK: Events

    /// The events of all devices, and of the gateway: first `connected` of each device that is connected, and
    /// `radio_waiting` of each adapter that is waited for, then what happens from now on. Any number of sequences at the
    /// same time, each with a buffer of its own, of 1,024 events; if it is full, the oldest one is dropped and counted
    /// (`dropped`).
    ///
    /// It ends when the gateway is closed, with the event `summary` as the last one.
    public nonisolated var events: EventStream<GatewayEvent> { events(of: nil) }

    /// The same with another buffer, or of one device.
    ///
    /// - Parameters:
    ///   - device: whose events; `nil`: all. It need not be connected.
    ///   - capacity: maximum number of events that wait for a slow consumer; at least 1.
    ///   - policy: the event that is dropped if the buffer is full.
    public nonisolated func events(
        of device: GatewayDevice? = nil, capacity: Int = 1024, policy: OverflowPolicy = .dropOldest
    ) -> EventStream<GatewayEvent> {
        let queue = core.queue(of: device?.address, capacity: capacity, policy: policy, keeping: lifetime)
        return EventStream(EventSequence(queue))
    }

    // MARK: Devices

    /// The devices that are connected, in the order in which they were.
    public nonisolated var devices: [GatewayDevice] { core.devices.withLock { $0 } }

    /// The first device that is connected, or will be.
    ///
    /// - Parameters:
    ///   - family: of which family; `nil`: any.
    ///   - name: as it advertises it; `nil`: any.
    ///   - address: `nil`: any.
    ///   - limit: throws `timeout` if there is none until then, with the last reason that such a device, or an adapter, gave;
    ///     `nil`: waits without a limit.
    /// - Throws: ``GatewayError``: `timeout`, or `closed`.
    public func device(
        _ family: GatewayDevice.Family? = nil, named name: String? = nil, address: Address? = nil,
        within limit: Duration? = .seconds(30)
    ) async throws(GatewayError) -> GatewayDevice {
        guard !Task.isCancelled else { throw .cancelled }
        let found = Pending<GatewayDevice, GatewayError>()
        core.find(found) { device in
            (family == nil || device.family == family) && (name == nil || device.name == name)
                && (address == nil || device.address == address)
        }
        let timer = LoopTimer(core.loop.core) { [core] in core.giveUp(found) }
        timer.deadline = Duration.deadline(limit)
        defer {
            timer.remove()
            core.forget(found)
        }
        return try await found.value()
    }

    // MARK: Actions

    /// Has a device do something, and returns when it has confirmed it.
    ///
    /// ```swift
    /// let belt = try await gateway.device(.feelspace)
    /// try await gateway.perform("vibrate", [90], on: belt)
    /// ```
    ///
    /// The names and arguments are those of docs/rules.md, and the actions of a device file. A device carries out one action at a time, and at most 16 wait for their turn.
    ///
    /// - Parameters:
    ///   - action: its name: `vibrate`, `led` …
    ///   - arguments: words and numbers; a text is one word, with its spaces.
    ///   - device: a connected one.
    /// - Returns: the event `action`.
    /// - Throws: ``GatewayError``: `refused` if the words are no action of the device, or 16 wait already;
    ///   `notConnected`, also if it was lost meanwhile; `failed` if the device did not carry it out; `closed`. If the task is
    ///   cancelled, an action that still waits for others is taken back; one that was sent may still be carried out.
    @discardableResult
    public func perform(
        _ action: String, _ arguments: [GatewayArgument] = [], on device: GatewayDevice
    ) async throws(GatewayError) -> GatewayEvent {
        guard !Task.isCancelled else { throw .cancelled }
        let words = ([action] + arguments.map(\.description)).map(\.actionWord)
        let done = Pending<GatewayEvent, GatewayError>()
        try core.act(words.joined(separator: " "), on: device.address, done)
        let core = core
        return try await done.value { core.withdraw(done, from: device.address) }
    }

    // MARK: The end

    /// Ends the connections, in at most five seconds, and closes the radio. If the task is cancelled it returns
    /// immediately; the gateway is still closed.
    public func close() async {
        let closed = Pending<Void, GatewayError>()
        core.close(closed)
        _ = try? await closed.value()
    }
}

/// A word or a number of an action: `["blinkFast", 500]`.
public struct GatewayArgument: Sendable, Hashable, CustomStringConvertible {
    /// As it is sent to the gateway.
    public let description: String

    /// A word.
    public init(_ word: String) { description = word }
    /// A whole number.
    public init(_ number: Int) { description = "\(number)" }
    /// A number.
    public init(_ number: Double) { description = "\(number)" }
}

extension GatewayArgument: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
    /// A word.
    public init(stringLiteral word: String) { self.init(word) }
    /// A whole number.
    public init(integerLiteral number: Int) { self.init(number) }
    /// A number.
    public init(floatLiteral number: Double) { self.init(number) }
}
