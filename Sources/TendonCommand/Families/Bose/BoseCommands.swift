// SPDX-License-Identifier: MIT
// bose info, bose configure: one wearable, by hand.
import CTendon
import Tendon
import TendonBose
import TendonSupport

extension Command {
    static let boseInfo = Command(
        "bose info",
        summary: "print the model, sensors and gestures of a Bose wearable",
        details: ["Uses the first wearable in range, or the one given by --address."],
        options: DeviceAccess.options,
        common: Command.once,
        examples: [
            ("tendon bose info", "use the first wearable in range"),
            ("tendon bose info --address AA:BB:CC:DD:EE:FF --json", "use this wearable, print JSON"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.isEmpty else { throw .usage("bose info takes no operands") }
        let events = Events(json: arguments.has("--json"))
        let (label, found) = try await BoseAccess(arguments).withDevice(for: nil) {
            (_, device, label) throws(CommandError) in
            (label, await information(of: device))
        }
        events.result("information", label, found, text: readable(label.json.merging(found)))
        return .done
    }

    static let boseConfigure = Command(
        "bose configure",
        summary: "set the sensors and gestures of a Bose wearable, and print its configuration",
        details: [
            "The device keeps the setting while it is connected (--for), or until another program changes it; it disables "
                + "the sensors and gestures of this command when the connection ends. All enabled sensors share one period."
        ],
        options: DeviceAccess.options + BoseStream.options(gestures: "none"),
        examples: [
            (
                "tendon bose configure --sensors rotation,gyroscope --period 40",
                "enable two sensors with a period of 40 ms"
            ),
            ("tendon bose configure --sensors none --gestures double_tap --for 60", "enable one gesture for a minute"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.isEmpty else { throw .usage("bose configure takes no operands") }
        let stream = try BoseStream(arguments, gestures: "none")
        let hold = try arguments.duration() ?? 0
        let events = Events(json: arguments.has("--json"))
        let setsGestures = arguments.has("--gestures")
        let lacking = try await BoseAccess(arguments).withDevice(for: hold) { (_, device, label) throws(CommandError) in
            let (lacking, result) = try await configure(device, stream, setsGestures)
            events.result("configuration", label, result, text: readable(result))
            return lacking
        }
        guard lacking.isEmpty else {
            throw CommandError(.failed, "the device lacks \(lacking.joined(separator: ", "))", next: "tendon bose info")
        }
        return .done
    }

    @TendonActor
    private static func configure(
        _ device: WearableDevice, _ stream: BoseStream, _ setsGestures: Bool
    ) async throws(CommandError) -> (lacking: [String], JSON) {
        var lacking: [String] = []
        do throws(BoseWearableError) {
            lacking += try await stream.configureSensors(of: device)
            if setsGestures { lacking += try await stream.configureGestures(of: device) }
        } catch {
            throw CommandError(error)
        }
        // The configuration is read back after the write; that value is the result.
        try? await Loop.shared.sleep(for: .milliseconds(200))
        let enabled = device.sensorConfiguration?.enabledSensors ?? []
        return (
            lacking,
            [
                "sensors": JSON(enabled.map { .string("\($0)") }),
                "period_ms": device.sensorConfiguration?.enabledSensorsSamplePeriod.map { JSON(Int($0.milliseconds)) }
                    ?? .null,
                "gestures": JSON((device.gestureConfiguration?.enabledGestures ?? []).map { .string("\($0)") }),
            ]
        )
    }

    @TendonActor
    private static func information(of device: WearableDevice) -> JSON {
        let texts = device.deviceInformation
        func known(_ text: String?) -> JSON { text.map { .string(sanitized($0)) } ?? .null }
        var result: JSON = [
            "manufacturer": known(texts?.manufacturerName), "model": known(texts?.modelNumber),
            "serial": known(texts?.serialNumber), "firmware": known(texts?.firmwareRevision),
            "hardware": known(texts?.hardwareRevision), "software": known(texts?.softwareRevision),
        ]
        if let information = device.wearableDeviceInformation {
            let status = information.deviceStatus
            result["product"] = .string(information.productInfo.idName)
            result["product_id"] = JSON(information.productID)
            result["variant"] = .string(information.productInfo.variantName)
            result["specification"] = .string("\(information.majorVersion).\(information.minorVersion)")
            result["transmission_period_ms"] = JSON(Int(information.transmissionPeriod))
            result["max_payload_bytes"] = JSON(Int(information.maximumPayloadPerTransmissionPeriod))
            result["max_active_sensors"] = JSON(Int(information.maximumActiveSensors))
            result["pairing_required"] = .bool(status.contains(.secureBLEPairingRequired))
            result["suspended"] = .bool(status.contains(.wearableSensorsServiceSuspended))
        }
        if let sensors = device.sensorInformation {
            result["sensors"] = JSON(sensors.availableSensors.map { sensor in describe(sensor, sensors, device) })
        }
        if let gestures = device.gestureInformation {
            let enabled = device.gestureConfiguration?.enabledGestures ?? []
            result["gestures"] = JSON(
                gestures.availableGestures.map {
                    ["gesture": .string("\($0)"), "enabled": .bool(enabled.contains($0))]
                })
        }
        return result
    }

    @TendonActor
    private static func describe(
        _ sensor: SensorType, _ information: SensorInformation, _ device: WearableDevice
    ) -> JSON {
        let range = information.scaledValueRange(for: sensor)
        return [
            "sensor": .string("\(sensor)"),
            "periods_ms": JSON(
                information.availableSamplePeriods(for: sensor).map { Int($0.milliseconds) }.sorted(by: >)),
            "range": range.map { JSON([Int($0.lowerBound), Int($0.upperBound)]) } ?? .null,
            "period_ms": device.sensorConfiguration?.samplePeriod(for: sensor).map { JSON(Int($0.milliseconds)) }
                ?? .null,
        ]
    }
}

/// Finds one wearable, opens it, does something, closes it.
struct BoseAccess: Sendable {
    private let access: DeviceAccess

    init(_ arguments: Arguments) throws(CommandError) {
        access = try DeviceAccess(arguments, family: "bose")
    }

    func withDevice<Result: Sendable>(
        for milliseconds: UInt64?,
        _ body:
            @escaping @Sendable (WearableDeviceSession, WearableDevice, DeviceLabel) async throws(CommandError) ->
            Result
    ) async throws(CommandError) -> Result {
        try await access.withDevice { (central, found) async throws(CommandError) -> Result in
            let session = await make(found, central)
            let opened = try await access.inTime { () throws(CommandError) -> WearableDevice? in
                do throws(BoseWearableError) {
                    return try await open(session)
                } catch {
                    throw CommandError(error)
                }
            }
            guard let device = opened else { throw CommandError(.failed, "the device could not be opened") }
            let result = try await body(session, device, found.label)
            do throws(CommandError) {
                try await DeviceAccess.hold(for: milliseconds) { session.isOpen }
            } catch {
                await session.closeAndWait()
                throw error
            }
            await session.closeAndWait()
            return result
        }
    }

    @TendonActor
    private func make(_ found: DeviceAccess.Found, _ central: Central) -> WearableDeviceSession {
        WearableDeviceSession(found.address, name: found.name, on: central) { prompt in
            if case .begin = prompt {
                _ = Output.error.line("tendon: \(found.address) requires pairing: put it into pairing mode")
            }
        }
    }

    @TendonActor
    private func open(_ session: WearableDeviceSession) async throws(BoseWearableError) -> WearableDevice? {
        try await session.openAndWait()
        return session.device
    }
}

extension CommandError {
    init(_ error: BoseWearableError) {
        switch error {
        case .host(let error): self.init(error)
        case .deviceNotFound, .deviceOutOfRange: self.init(.noDevice, describe(error), next: "tendon scan")
        default: self.init(.failed, describe(error))
        }
    }
}

extension BoseStream {
    /// Writes the requested sensors and waits until the device has accepted them; returns the unsupported ones.
    @TendonActor
    func configureSensors(of device: WearableDevice) async throws(BoseWearableError) -> [String] {
        guard var wanted = device.sensorConfiguration else { throw .missingRequiredData }
        let lacking = apply(&wanted)
        try await device.configureSensorsAndWait { [wanted] in $0 = wanted }
        return lacking
    }

    /// The same for gestures.
    @TendonActor
    func configureGestures(of device: WearableDevice) async throws(BoseWearableError) -> [String] {
        guard var wanted = device.gestureConfiguration else { throw .missingRequiredData }
        let lacking = apply(&wanted)
        try await device.configureGesturesAndWait { [wanted] in $0 = wanted }
        return lacking
    }

    /// Enables the requested sensors and gestures; returns the names of unsupported ones.
    func apply(_ configuration: inout SensorConfiguration) -> [String] {
        configuration.disableAll()
        var lacking: [String] = []
        let wanted: [SensorType]
        switch sensors {
        case .all: wanted = configuration.allSensors
        case .these(let list): wanted = list
        }
        for sensor in wanted where !configuration.enable(sensor: sensor, at: period) {
            let name = if case .unknown(let number) = sensor { "sensor \(number)" } else { "\(sensor)" }
            lacking.append("\(name) at \(period.milliseconds) ms")
        }
        return lacking
    }

    func apply(_ configuration: inout GestureConfiguration) -> [String] {
        configuration.disableAll()
        var lacking: [String] = []
        switch gestures {
        case .all: configuration.enableAll()
        case .these(let list):
            for gesture in list where !configuration.set(gesture: gesture, enabled: true) {
                let name = if case .unknown(let number) = gesture { "gesture \(number)" } else { "\(gesture)" }
                lacking.append(name)
            }
        }
        return lacking
    }
}
