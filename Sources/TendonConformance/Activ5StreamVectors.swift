// SPDX-License-Identifier: MIT
// Activ5 trainer: text frames over notifications, squeezes.
import CTendon
import Tendon
import TendonSupport

extension Activ5Vectors {
    /// The reported events, in order.
    private final class Told {
        var list: [JSON] = []

        /// The object behind a C context.
        static func at(_ context: UnsafeMutableRawPointer?) -> Told? {
            context.map { Unmanaged<Told>.fromOpaque($0).takeUnretainedValue() }
        }
    }

    static func time(_ step: JSON) throws(VectorError) -> UInt64 {
        guard let time = UInt64(exactly: try integer("t_ms", in: step)) else { throw VectorError("bad_input", "t_ms") }
        return time
    }

    /// A step without bytes is a tick.
    private static func bytes(_ step: JSON) throws(VectorError) -> [UInt8]? {
        guard let hex = step["hex"], hex != .null else { return nil }
        return try step.bytes("hex")
    }

    // MARK: Text frames

    private static let frame: tendon_activ5_on_text = { context, status, message, now in
        var item = message.map { Activ5Vectors.json($0) } ?? failure(status)
        item["t_ms"] = JSON(now)
        Told.at(context)?.list.append(item)
    }

    private static func frames(_ steps: [(time: UInt64, bytes: [UInt8]?)], flushed: Bool) -> [JSON] {
        let told = Told()
        return withExtendedLifetime(told) {
            let context = Unmanaged.passUnretained(told).toOpaque()
            var deframer = tendon_activ5_deframer()
            for step in steps {
                if let bytes = step.bytes {
                    tendon_activ5_deframer_feed(&deframer, bytes, bytes.count, step.time, frame, context)
                } else {
                    tendon_activ5_deframer_tick(&deframer, step.time, frame, context)
                }
            }
            if flushed { tendon_activ5_deframer_flush(&deframer, steps.last?.time ?? 0, frame, context) }
            return told.list
        }
    }

    @Sendable static func legacyNotification(_ input: JSON) throws(VectorError) -> JSON {
        var list = frames([(0, try input.bytes("hex"))], flushed: true)
        for index in list.indices { list[index]["t_ms"] = nil }
        if list.count == 1, let error = list[0]["error"] { return ["error": error] }
        return ["frames": .array(list)]
    }

    @Sendable static func legacyStream(_ input: JSON) throws(VectorError) -> JSON {
        var steps: [(time: UInt64, bytes: [UInt8]?)] = []
        for step in input["sequence"]?.array ?? [] { steps.append((try time(step), try bytes(step))) }
        return ["frames": .array(frames(steps, flushed: false))]
    }

    // MARK: Squeezes

    /// {"pressed": 20, "depressed": 5} or [20, 5]; what is not there keeps its default.
    static func squeezeConfiguration(_ input: JSON) -> tendon_activ5_squeeze_config {
        var result = tendon_activ5_squeeze_defaults()
        let threshold = input["threshold"] ?? input["squeezeThreshold"] ?? input["squeeze_threshold"]
        let pair = threshold?.array ?? []
        if let pressed = threshold?["pressed"]?.number ?? pair.first?.number { result.pressed = pressed }
        if let depressed = threshold?["depressed"]?.number ?? pair.dropFirst().first?.number {
            result.depressed = depressed
        }
        if let reset = input["reset_ms"]?.integer { result.reset_ms = UInt64(clamping: reset) }
        result.release_on_reset = (input["release_on_reset"] ?? input["releaseOnReset"])?.bool ?? false
        return result
    }

    private static func events(_ what: UInt32, _ time: UInt64) -> [JSON] {
        let names: [(bit: UInt32, name: String)] = [
            (UInt32(TENDON_ACTIV5_SQUEEZE_RELEASED), "depressed"),
            (UInt32(TENDON_ACTIV5_SQUEEZE_SQUEEZED), "squeezed"),
            (UInt32(TENDON_ACTIV5_SQUEEZE_DEPRESSED), "depressed"),
            (UInt32(TENDON_ACTIV5_SQUEEZE_DOUBLE), "double_squeeze"),
        ]
        return names.filter { what & $0.bit != 0 }.map { ["t_ms": JSON(time), "event": .string($0.name)] }
    }

    private static func final(_ squeeze: tendon_activ5_squeeze) -> JSON {
        [
            "double_press": .string(text(tendon_activ5_press_name(squeeze.press))),
            "squeeze": .string(squeeze.squeezed ? "squeezed" : "depressed"),
        ]
    }

    @Sendable static func squeeze(_ input: JSON) throws(VectorError) -> JSON {
        var configuration = squeezeConfiguration(input)
        var squeeze = tendon_activ5_squeeze()
        var list: [JSON] = []
        var states: [JSON] = []
        for step in input["sequence"]?.array ?? [] {
            let now = try time(step)
            let what =
                step["newtons"] == nil
                ? tendon_activ5_squeeze_tick(&squeeze, &configuration, now)
                : tendon_activ5_squeeze_sample(&squeeze, &configuration, try number("newtons", in: step), now)
            list += events(what, now)
            states.append(.string(text(tendon_activ5_press_name(squeeze.press))))
        }
        return ["events": .array(list), "states": .array(states), "final": final(squeeze)]
    }

    @Sendable static func squeezeStream(_ input: JSON) throws(VectorError) -> JSON {
        let which = try characteristic(try string("char", in: input))
        let told = Told()
        let device = CBlock<tendon_activ5_device>()
        var options = tendon_activ5_options_defaults()
        options.squeeze = squeezeConfiguration(input)
        let kept = CBlock<tendon_activ5_options>()
        kept.pointer.pointee = options
        defer { withExtendedLifetime((told, kept)) {} }
        tendon_activ5_device_init(
            device.pointer, kept.pointer,
            { context, event, now in
                guard let event = event?.pointee, let name = Activ5Vectors.squeezeEvent(event) else { return }
                var item: JSON = ["t_ms": JSON(now), "event": .string(name)]
                if name == "error" { item["code"] = .string(Activ5Vectors.name(event.status)) }
                Told.at(context)?.list.append(item)
            }, Unmanaged.passUnretained(told).toOpaque(), { _, _, _ in tendon_status(TENDON_OK) }, nil)
        tendon_activ5_device_connect(device.pointer, 0)
        tendon_activ5_device_link_up(device.pointer, 0)
        for step in input["sequence"]?.array ?? [] {
            let now = try time(step)
            if let bytes = try bytes(step) {
                tendon_activ5_device_value(device.pointer, which, bytes, bytes.count, now)
            } else {
                tendon_activ5_device_tick(device.pointer, now)
            }
        }
        return ["events": .array(told.list), "final": final(device.pointer.pointee.squeeze)]
    }

    private static func squeezeEvent(_ event: tendon_activ5_event) -> String? {
        switch event.kind {
        case TENDON_ACTIV5_EVENT_SQUEEZE: event.on ? "squeezed" : "depressed"
        case TENDON_ACTIV5_EVENT_DOUBLE_SQUEEZE: "double_squeeze"
        case TENDON_ACTIV5_EVENT_ERROR: "error"
        default: nil
        }
    }
}
