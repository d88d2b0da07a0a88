// SPDX-License-Identifier: MIT
// A device session of the C gateway, on a connection of this side.
import CTendon
import Tendon
import TendonSupport

/// Which device, and what is asked of it. One value serves all devices of a family.
struct DeviceChoice: @unchecked Sendable {
    // The blocks are never written after they were made.
    let family: tendon_device_family
    let settings: CBlock<tendon_device_settings>
    /// Of a device file.
    var definition: Definition?

    /// - Parameter change: of the settings that `run` has without options.
    init(
        _ family: tendon_device_family, _ definition: Definition? = nil,
        _ change: (inout tendon_device_settings) -> Void = { _ in }
    ) {
        self.family = family
        self.definition = definition
        settings = CBlock()
        tendon_device_settings_init(settings.pointer)
        change(&settings.pointer.pointee)
    }

    /// The same for a user who may be asked while the device pairs: what calls it has a limit of its own.
    func patient() -> DeviceChoice {
        DeviceChoice(family, definition) {
            $0 = settings.pointer.pointee
            $0.opening_ms = .max
        }
    }
}

/// How a turn has ended, or why it did not begin.
struct DeviceEnd: Sendable {
    /// By the session's own account; nil: it was requested, or it gives no reason.
    var status: TendonError?
    /// Of the connection, or of the attempt.
    var reason: TendonError?
    var mayRetry = true

    init(_ event: tendon_device_event) {
        func error(_ status: tendon_status) -> TendonError? {
            status < 0 ? TendonError(status: status, operation: .connect) : nil
        }
        status = error(event.status)
        reason = error(event.reason)
        mayRetry = event.may_retry
    }

    /// What happened, for an attempt: the words of the family, else the cause with its name.
    var what: String {
        guard let error = status ?? reason else { return "" }
        let families = UInt32(TENDON_LAYER_FAMILY_FIRST.rawValue)...UInt32(TENDON_LAYER_FAMILY_LAST.rawValue)
        return families.contains(UInt32(error.layer.rawValue)) ? error.text : error.cause
    }
}

/// The session, on the loop.
final class DeviceCore: Abandonable, @unchecked Sendable {
    // Used only on the loop's thread.
    let loop = Loop.shared
    private let choice: DeviceChoice
    private let device = CBlock<tendon_device>()
    private let inputs = CBlock<tendon_session_inputs>()
    private var link: SessionLink!
    private var opening: Pending<Void, TendonError>?
    private var ending: Pending<Void, TendonError>?
    private var acting: Pending<Void, TendonError>?
    private(set) var isOpen = false
    /// Of the last turn; nil: it goes on.
    private(set) var end: DeviceEnd?
    /// What happens in a turn, but its begin and its end, and the ends of actions.
    var onEvent: (DeviceEvent) -> Void = { _ in }

    init(_ radio: RadioCore, _ address: Address, _ choice: DeviceChoice) {
        self.choice = choice
        var config = tendon_device_config()
        config.family = choice.family
        if let definition = choice.definition { config.definition = UnsafePointer(definition.pointer) }
        config.settings = UnsafePointer(choice.settings.pointer)
        config.address = address.c
        config.context = context(of: self)
        config.on_event = { context, _, event, _ in
            guard let event else { return }
            object(DeviceCore.self, context).received(event)
        }
        device.pointer.pointee.config.family = choice.family  // whether it pairs
        link = SessionLink(
            radio, to: address, pairing: tendon_device_pairs(device.pointer) ? .radio : .none, owner: self)
        config.link = link.c
        let status = tendon_device_init(device.pointer, &config)
        precondition(status >= 0, "what a device is made of")
        inputs.pointer.pointee = tendon_device_inputs(device.pointer).pointee
        link.attach(inputs, device)
    }

    private lazy var counted = device.member(\.counters)

    var counters: StreamCounters {
        let c = counted.pointee
        var counters = StreamCounters()
        (counters.notifications, counters.samples) = (c.notifications, c.samples)
        (counters.malformed, counters.skipped) = (c.malformed, c.skipped)
        return counters
    }

    func with(_ body: (tendon_device) -> Void) { body(device.pointer.pointee) }

    /// The members of `connected`.
    var identity: JSON {
        var writer = LineWriter()
        writer.open("{")
        writer.members { tendon_device_identity(device.pointer, $0) }
        writer.close("}")
        return (try? JSON(parsing: writer.bytes)) ?? [:]
    }

    // MARK: A turn

    /// Returns when the device is open; after an error, `end` says why. The turn has ended then, also in a task that is
    /// cancelled: the next one may begin.
    @TendonActor
    func open() async throws(TendonError) {
        let opening = Pending<Void, TendonError>(loop)
        (self.opening, end, isOpen) = (opening, nil, false)
        let status = tendon_device_open(device.pointer, tendon_monotonic_ms())
        guard status >= 0 else { throw TendonError(status: status, operation: .connect) }
        link.refresh()
        do throws(TendonError) {
            try await opening.value()
        } catch {
            await close()
            throw error
        }
    }

    /// Waits for the end of the turn.
    @TendonActor
    func ended() async throws(TendonError) {
        guard end == nil else { return }
        let ending = Pending<Void, TendonError>(loop)
        self.ending = ending
        try await ending.value()
    }

    /// Ends the turn, and waits until it has ended, also in a task that is cancelled.
    @TendonActor
    func close() async {
        guard end == nil else { return }
        tendon_device_close(device.pointer, tendon_monotonic_ms())
        link.refresh()
        await Task { @TendonActor in try? await ended() }.value
    }

    /// Has the device do something, and returns when it has. One at a time.
    @TendonActor
    func perform(_ act: tendon_act) async throws(TendonError) {
        let acting = Pending<Void, TendonError>(loop)
        self.acting = acting
        var act = act
        let status = tendon_device_perform(device.pointer, &act, tendon_monotonic_ms())
        guard status >= 0 else { throw TendonError(status: status, operation: .write) }
        link.refresh()
        try await acting.value()
    }

    private func received(_ event: UnsafePointer<tendon_device_event>) {
        switch event.pointee.kind {
        case TENDON_DEVICE_EVENT_OPENED:
            isOpen = true
            opening?.finish(.success(()))
        case TENDON_DEVICE_EVENT_ACTED:
            let status = event.pointee.status
            acting?.finish(status < 0 ? .failure(TendonError(status: status, operation: .write)) : .success(()))
        case TENDON_DEVICE_EVENT_ENDED:
            let end = DeviceEnd(event.pointee)
            self.end = end
            opening?.finish(.failure(end.status ?? end.reason ?? .cancelled))
            ending?.finish(.success(()))
        default: onEvent(DeviceEvent(device: device.pointer, pointer: event))
        }
    }

    func abandon() { link.abandon() }
}
