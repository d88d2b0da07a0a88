// SPDX-License-Identifier: MIT
// feelSpace naviBelt: what a client sends. Formats: docs/protocols/feelspace.md.
import CTendon
import TendonSupport

enum FeelspaceVectors {
    static let kinds: [VectorKind] =
        [
            VectorKind("feelspace", "channel_config", channel),
            VectorKind("feelspace", "channel_config", channel),
            VectorKind("feelspace", "pulse_command", pulse),
            VectorKind("feelspace", "navigation_signal", navigation),
            VectorKind("feelspace", "command_manager_signal", commandManager),
            VectorKind("feelspace", "stop_vibration", stop),
            VectorKind("feelspace", "system_signal", systemSignal),
            VectorKind("feelspace", "set_mode", setMode),
            VectorKind("feelspace", "set_default_intensity", setDefaultIntensity),
            VectorKind("feelspace", "set_heading_offset", setHeadingOffset),
            VectorKind("feelspace", "set_accuracy_signal", setAccuracySignal),
            VectorKind("feelspace", "set_pairing_requirement", setPairing),
            VectorKind("feelspace", "set_orientation_period", setOrientationPeriod),
            VectorKind("feelspace", "set_name_suffix", setName),
            VectorKind("feelspace", "buzzer_tone", tone),
            VectorKind("feelspace", "usb_frame", usbFrame),
        ] + notificationKinds

    /// The vectors' name of an error.
    static func name(_ status: tendon_status) -> String {
        switch Int(status) {
        case TENDON_ERROR_TRUNCATED: "truncated"
        case TENDON_ERROR_INVALID_ARGUMENT: "invalid_argument"
        case TENDON_ERROR_UNSUPPORTED: "unsupported"
        case TENDON_FEELSPACE_ERROR_BAD_VALUE: "bad_value"
        case TENDON_FEELSPACE_ERROR_WRONG_MODE: "wrong_mode"
        case TENDON_FEELSPACE_ERROR_UNSUPPORTED_FIRMWARE: "unsupported_firmware"
        default: text(tendon_feelspace_status_name(status)).lowercased()
        }
    }

    /// What an encoder wrote, or its error.
    static func packet(
        room: Int = Int(TENDON_FEELSPACE_PACKET_MAX),
        _ encode: (UnsafeMutablePointer<UInt8>, Int) throws(VectorError) -> tendon_status
    ) throws(VectorError) -> JSON {
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: room)
        defer { bytes.deallocate() }
        let status = try encode(bytes, room)
        guard status >= 0 else { return ["error": .string(name(status))] }
        return ["hex": .string(hexText(UnsafeBufferPointer(start: bytes, count: Int(status))))]
    }
}

extension JSON {
    /// The member "input"; the object itself where there is none.
    var feelspaceInput: JSON { self["input"] ?? self }

    /// A whole number that a C argument can hold; what it cannot hold, no belt takes either.
    func int32(_ key: String, default standard: Int32? = nil) throws(VectorError) -> Int32 {
        guard let member = self[key], member != .null else {
            guard let standard else { throw VectorError("missing_input", "'\(key)' is missing") }
            return standard
        }
        guard let number = member.number else { throw VectorError("bad_input", "'\(key)' is not a number") }
        guard let whole = Int32(exactly: number) else { throw VectorError("invalid_argument") }
        return whole
    }

    /// Degrees and the like: fractions are truncated toward zero.
    func truncated(_ key: String, default standard: Int32? = nil) throws(VectorError) -> Int32 {
        guard let number = self[key]?.number else { return try int32(key, default: standard) }
        guard let whole = Int32(exactly: number.rounded(.towardZero)) else { throw VectorError("invalid_argument") }
        return whole
    }

    func flag(_ key: String, default standard: Bool? = nil) throws(VectorError) -> Bool {
        if let value = self[key]?.bool { return value }
        if self[key] == nil, let standard { return standard }
        throw VectorError(self[key] == nil ? "missing_input" : "bad_input", "'\(key)' is not true or false")
    }

    var channels: tendon_feelspace_channels {
        self["extended_channels"]?.bool == true
            ? TENDON_FEELSPACE_CHANNELS_EXTENDED : TENDON_FEELSPACE_CHANNELS_DOCUMENTED
    }
}

// MARK: - Vibration

extension FeelspaceVectors {
    @Sendable static func channel(_ vector: JSON) throws(VectorError) -> JSON {
        if vector["hex"] != nil { return try decodedChannel(vector) }
        let input = vector.feelspaceInput
        var channel = tendon_feelspace_channel()
        channel.channel = try input.int32("channel")
        channel.pattern = try input.int32("pattern")
        channel.intensity = try input.int32("intensity", default: -1)
        channel.orientation_type = try input.int32("orientation_type")
        channel.orientation = try input.truncated("orientation")
        channel.iterations = try input.int32("iterations", default: -1)
        channel.period_ms = try input.int32("period_ms")
        channel.start_ms = try input.int32("start_ms", default: 0)
        channel.exclusive = try input.flag("exclusive", default: false)
        channel.clear_others = try input.flag("clear_others", default: false)
        var result = try packet { tendon_feelspace_encode_channel(&channel, input.channels, $0, $1) }
        if result["error"] == nil, channel.iterations > 0, tendon_feelspace_iterations_endless(channel.iterations) {
            result["warning"] = "endless"
        }
        return result
    }

    private static func decodedChannel(_ vector: JSON) throws(VectorError) -> JSON {
        let bytes = try vector.bytes("hex")
        var channel = tendon_feelspace_channel()
        let status = tendon_feelspace_decode_channel(bytes, bytes.count, &channel, nil)
        guard status >= 0 else { return ["error": .string(name(status))] }
        return [
            "channel": JSON(channel.channel), "pattern": JSON(channel.pattern), "intensity": JSON(channel.intensity),
            "orientation_type": JSON(channel.orientation_type), "orientation": JSON(channel.orientation),
            "iterations": JSON(channel.iterations), "period_ms": JSON(channel.period_ms),
            "start_ms": JSON(channel.start_ms), "exclusive": .bool(channel.exclusive),
            "clear_others": .bool(channel.clear_others),
        ]
    }

    @Sendable static func pulse(_ vector: JSON) throws(VectorError) -> JSON {
        let input = vector.feelspaceInput
        var pulse = tendon_feelspace_pulse()
        pulse.channel = try input.int32("channel")
        pulse.orientation_type = try input.int32("orientation_type")
        pulse.orientation = try input.truncated("orientation")
        pulse.intensity = try input.int32("intensity", default: -1)
        pulse.on_ms = try input.int32("on_ms")
        pulse.pulse_period_ms = try input.int32("pulse_period_ms")
        pulse.pulse_iterations = try input.int32("pulse_iterations")
        pulse.series_period_ms = try input.int32("series_period_ms")
        pulse.series_iterations = try input.int32("series_iterations", default: -1)
        pulse.timer_option = try input.int32("timer_option", default: 0)
        pulse.exclusive = try input.flag("exclusive", default: false)
        pulse.clear_others = try input.flag("clear_others", default: false)
        return try packet { tendon_feelspace_encode_pulse(&pulse, $0, $1) }
    }

    /// The names that the vectors use, by number.
    private static let navigationSignals = [
        "noVibration", "continuous", "navigation", "approachingDestination", "turnOngoing", "directionNotification",
        "nextWaypointLongDistance", "nextWaypointMediumDistance", "nextWaypointShortDistance",
        "nextWaypointAreaReached", "destinationReachedRepeated", "destinationReachedSingle", "operationWarning",
        "criticalWarning", "batteryLevel",
    ]

    @Sendable static func navigation(_ vector: JSON) throws(VectorError) -> JSON {
        let input = vector.feelspaceInput
        var signal: Int32 = -1
        if let word = input["signal"]?.string {
            signal = Int32(navigationSignals.firstIndex(of: word) ?? -1)
        } else {
            signal = try input.int32("signal", default: 0)
        }
        let direction = try input.truncated("direction", default: 0)
        let bearing = try input.flag("is_magnetic_bearing", default: false)
        // What the navigation controller does not send, it silently skips.
        let sends =
            (input["state"]?.string ?? "navigating") == "navigating"
            && (input["belt_mode"]?.string ?? "app") == "app"
        let result = try packet { tendon_feelspace_encode_navigation(signal, direction, bearing, $0, $1) }
        return sends || result["error"] != nil ? result : ["error": "wrong_mode"]
    }

    @Sendable static func commandManager(_ vector: JSON) throws(VectorError) -> JSON {
        let input = vector.feelspaceInput
        var vibration = tendon_feelspace_vibration()
        vibration.signal = try input.int32("signal_raw", default: 1)
        guard let direction = input["direction"]?.number else {
            throw VectorError("missing_input", "'direction' is missing")
        }
        vibration.direction = direction
        vibration.is_bearing = try input.flag("is_magnetic_bearing")
        vibration.intensity = try input.int32("intensity", default: -1)
        vibration.channel = try input.int32("channel", default: 1)
        vibration.stop_others = try input.flag("stop_other_channels", default: false)
        return try packet { tendon_feelspace_encode_vibration(&vibration, input.channels, $0, $1) }
    }

    @Sendable static func stop(_ vector: JSON) throws(VectorError) -> JSON {
        let input = vector.feelspaceInput
        let channel = try input.int32("channel", default: -1)
        return try packet { tendon_feelspace_encode_stop(channel, input.channels, $0, $1) }
    }

    @Sendable static func systemSignal(_ vector: JSON) throws(VectorError) -> JSON {
        let signal = try vector.feelspaceInput.int32("signal")
        return try packet { tendon_feelspace_encode_system_signal(signal, $0, $1) }
    }
}
