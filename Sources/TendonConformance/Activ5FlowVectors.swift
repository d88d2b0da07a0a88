// SPDX-License-Identifier: MIT
// Activ5 trainer: the device manager and its devices, step by step.
import CTendon
import Tendon
import TendonSupport

extension Activ5Vectors {
    @Sendable static func flow(_ input: JSON) throws(VectorError) -> JSON {
        let flow = Activ5Flow()
        try flow.configure(input["options"] ?? [:])
        for step in input["sequence"]?.array ?? [] { try flow.perform(step) }
        return ["out": .array(flow.out), "final_states": flow.states]
    }
}

/// A manager of the C core whose radio and links are the vector's.
private final class Activ5Flow {
    var out: [JSON] = []
    private let manager = CBlock<tendon_activ5_manager>()
    private let devices = CTable<tendon_activ5_device>(capacity: 32)

    init() {
        tendon_activ5_manager_init(
            manager.pointer, devices.pointer, devices.capacity,
            { context, event, now in
                guard let event else { return }
                Activ5Flow.at(context)?.told(event.pointee, now)
            },
            { context, request, now in
                guard let request else { return tendon_status(TENDON_OK) }
                Activ5Flow.at(context)?.asked(request.pointee, now)
                return tendon_status(TENDON_OK)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> Activ5Flow? {
        context.map { Unmanaged<Activ5Flow>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: Out

    /// In the order of the C core's events and requests.
    private static let callbacks = [
        "searchCompleted", "deviceFound", "didChangeBluetoothState", "bluetoothIsSwitchedOff", "deviceConnected",
        "didFailToConnect", "deviceDisconnected", "deviceInitialized", "didReceiveMessage", "didReceiveIsometric",
        "didReceiveIMUData", "didReceiveSerialNumber", "didReceiveBattery", "squeezeStateChanged",
        "didDetectDoubleSqueeze", "error", "done",
    ]
    private static let requests = [
        "scan_start", "scan_stop", "connect", "disconnect", "discover", "subscribe", "unsubscribe", "read", "write",
    ]

    private static func name(_ device: UnsafeMutablePointer<tendon_activ5_device>?) -> String {
        guard let device else { return "" }
        let bytes: [UInt8] = elements(of: device.pointee.name, Int(device.pointee.name_length))
        return String(decoding: bytes, as: UTF8.self)
    }

    private func told(_ event: tendon_activ5_event, _ now: UInt64) {
        var item: [JSON] = [JSON(now), "callback", .string(Self.callbacks[Int(event.kind.rawValue)])]
        switch event.kind {
        case TENDON_ACTIV5_EVENT_ERROR: item = [JSON(now), "error", .string(Activ5Vectors.name(event.status))]
        case TENDON_ACTIV5_EVENT_MESSAGE: item.append(.string(Activ5Vectors.typeName(event.message)))
        case TENDON_ACTIV5_EVENT_ISOMETRIC: item.append(.real(event.message.pointee.newtons))
        case TENDON_ACTIV5_EVENT_SERIAL_NUMBER: item.append(.string(Activ5Vectors.content(event.message)))
        case TENDON_ACTIV5_EVENT_BATTERY: item.append(JSON(event.message.pointee.percent))
        case TENDON_ACTIV5_EVENT_SQUEEZE: item.append(event.on ? "squeezed" : "depressed")
        default: break
        }
        out.append(.array(item))
    }

    private func asked(_ request: tendon_activ5_request, _ now: UInt64) {
        var item: [JSON] = [JSON(now), .string(Self.requests[Int(request.kind.rawValue)])]
        switch request.kind {
        case TENDON_ACTIV5_REQUEST_SCAN_START: item += services
        case TENDON_ACTIV5_REQUEST_CONNECT, TENDON_ACTIV5_REQUEST_DISCONNECT:
            item.append(.string(Self.name(request.device)))
        case TENDON_ACTIV5_REQUEST_SCAN_STOP, TENDON_ACTIV5_REQUEST_DISCOVER: break
        default: item.append(.string(Activ5Vectors.name(request.characteristic)))
        }
        if request.kind == TENDON_ACTIV5_REQUEST_WRITE {
            item.append(.string(hexText(UnsafeBufferPointer(start: request.value, count: request.length))))
        }
        out.append(.array(item))
    }

    private var services: [JSON] {
        let count = Int(manager.pointer.pointee.options.service_count)
        let uuids: [tendon_uuid] = elements(of: manager.pointer.pointee.options.services, count)
        return uuids.map { uuid in
            var uuid = uuid
            var number: UInt16 = 0
            if tendon_uuid_as_u16(&uuid, &number) { return .string(String(number, radix: 16, uppercase: true)) }
            return .string(BluetoothUUID(uuid).description)
        }
    }

    var states: JSON {
        var result: JSON = [:]
        for index in 0..<devices.capacity where devices.pointer[index].listed {
            let state = text(tendon_activ5_data_state_name(devices.pointer[index].state))
            result[Self.name(devices.pointer + index)] = .string(state)
        }
        return result
    }

    // MARK: In

    func configure(_ options: JSON) throws(VectorError) {
        let target = member(of: manager.pointer, \.options)
        switch (options["strategy"] ?? options["reconnectionStrategy"])?.string {
        case "manually": target.pointee.reconnect = TENDON_ACTIV5_RECONNECT_MANUALLY
        case "automatically", nil: break
        default: throw VectorError("bad_input", "strategy")
        }
        target.pointee.squeeze = Activ5Vectors.squeezeConfiguration(options)
        target.pointee.terminator = try Activ5Vectors.terminator(options)
        if let on = (options["autoHandshake"] ?? options["auto_handshake"])?.bool { target.pointee.auto_handshake = on }
        if let on = (options["acceptF0F1"] ?? options["accept_f0f1"])?.bool { target.pointee.accept_f0f1 = on }
        if let seconds = (options["searchTimeout"] ?? options["search_timeout"])?.number, seconds >= 0, seconds < 1e12 {
            target.pointee.search_timeout_ms = UInt64((seconds * 1000).rounded())
        }
        if let milliseconds = options["search_timeout_ms"]?.integer {
            target.pointee.search_timeout_ms = UInt64(clamping: milliseconds)
        }
        guard let services = options["services"]?.array else { return }
        let places = Int(TENDON_ACTIV5_SERVICES_MAX)
        guard services.count <= places else { throw VectorError("bad_input", "more than \(places) services") }
        target.pointee.service_count = UInt8(services.count)
        for (index, service) in services.enumerated() {
            let uuid = try Activ5Vectors.uuid(service.string ?? "")
            withUnsafeMutableBytes(of: &target.pointee.services) {
                $0.bindMemory(to: tendon_uuid.self)[index] = uuid
            }
        }
    }

    /// As on a loop that is never late: each deadline comes at its time. After a thousand the rest is one step.
    private func pass(to now: UInt64) {
        for _ in 0..<1000 {
            let due = tendon_activ5_manager_deadline(manager.pointer)
            guard due < now else { break }
            tendon_activ5_manager_tick(manager.pointer, due)
        }
        tendon_activ5_manager_tick(manager.pointer, now)
    }

    func perform(_ step: JSON) throws(VectorError) {
        let now = try Activ5Vectors.time(step)
        pass(to: now)
        let name = step["name"]?.string ?? ""
        switch try Activ5Vectors.string("op", in: step) {
        case "tick": break
        case "scan": tendon_activ5_manager_scan(manager.pointer, now)
        case "stop_scan": tendon_activ5_manager_stop_scanning(manager.pointer, now)
        case "bt":
            tendon_activ5_manager_set_radio(
                manager.pointer, (step["on"]?.bool ?? true) ? 0 : tendon_status(TENDON_RADIO_ERROR_ADAPTER_DOWN), now)
        case "disconnect_all": tendon_activ5_manager_disconnect_all(manager.pointer, now)
        case "adv":
            let rssi = step["rssi"]?.number ?? 0
            tendon_activ5_manager_advertised(manager.pointer, name, name.utf8.count, nil, rssi, now)
        case let operation:
            guard let device = tendon_activ5_manager_find(manager.pointer, name, name.utf8.count) else {
                return refuse(tendon_status(TENDON_ACTIV5_ERROR_NOT_READY), now)
            }
            if try !link(operation, step, device, now) { try call(operation, step, device, now) }
        }
    }

    private func refuse(_ status: tendon_status, _ now: UInt64) {
        if status < 0 { out.append([JSON(now), "error", .string(Activ5Vectors.name(status))]) }
    }

    /// What happens to a link. False: it is none of these.
    private func link(
        _ operation: String, _ step: JSON, _ device: UnsafeMutablePointer<tendon_activ5_device>, _ now: UInt64
    ) throws(VectorError) -> Bool {
        switch operation {
        case "connected": tendon_activ5_device_link_up(device, now)
        case "connect_failed":
            tendon_activ5_device_link_failed(device, tendon_status(TENDON_RADIO_ERROR_OUT_OF_RANGE), now)
        case "disconnected":
            tendon_activ5_device_link_down(device, tendon_status(TENDON_RADIO_ERROR_PEER_CLOSED), now)
        case "discovered":
            var isNew = false
            for service in step["services"]?.array ?? [] {
                var uuid = try Activ5Vectors.uuid(service.string ?? "")
                var number: UInt16 = 0
                if tendon_uuid_as_u16(&uuid, &number), number == UInt16(TENDON_ACTIV5_NEW_SERVICE) { isNew = true }
            }
            var found: [tendon_activ5_characteristic] = []
            for name in step["chars"]?.array ?? [] { found.append(try Activ5Vectors.characteristic(name.string ?? "")) }
            tendon_activ5_device_discovered(device, isNew, found, found.count, now)
        case "value":
            let which = try Activ5Vectors.characteristic(try Activ5Vectors.string("char", in: step))
            let bytes = try step.bytes("hex")
            tendon_activ5_device_value(device, which, bytes, bytes.count, now)
        default: return false
        }
        return true
    }

    private func call(
        _ operation: String, _ step: JSON, _ device: UnsafeMutablePointer<tendon_activ5_device>, _ now: UInt64
    ) throws(VectorError) {
        switch operation {
        case "connect": refuse(tendon_activ5_device_connect(device, now), now)
        case "disconnect": tendon_activ5_device_disconnect(device, now)
        case "startIsometric": refuse(tendon_activ5_device_start_isometric(device, now), now)
        case "stop": refuse(tendon_activ5_device_stop(device, now), now)
        case "tare": refuse(tendon_activ5_device_tare(device, now), now)
        case "startIMU": refuse(tendon_activ5_device_start_imu(device, now), now)
        case "stopIMU": refuse(tendon_activ5_device_stop_imu(device, now), now)
        case "setSampleRate":
            let rate = Int64(try Activ5Vectors.integer("rate", in: step))
            refuse(tendon_activ5_device_set_sample_rate(device, rate, now), now)
        case "evergreen": tendon_activ5_device_set_evergreen(device, step["on"]?.bool ?? true, now)
        case "getBatteryLevel": refuse(tendon_activ5_device_get_battery(device, now), now)
        case "sendCommand", "send":
            let command = try Activ5Vectors.commandNamed(try Activ5Vectors.string("command", in: step))
            refuse(tendon_activ5_device_send(device, command, now), now)
        default: throw VectorError("unknown_step", operation)
        }
    }
}
