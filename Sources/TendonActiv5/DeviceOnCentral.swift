// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// The memory of a device without a manager.
private final class DeviceMemory: @unchecked Sendable {
    // Used only on the loop's thread.
    let device = CBlock<tendon_activ5_device>()
    let options = CBlock<tendon_activ5_options>()
}

extension A5Device {
    /// A device that the program found by itself, on a central of its own; its `delegate` or sequences are notified.
    ///
    /// ```swift
    /// let device = A5Device(address, name: "ACTIV5-AC-0001", on: central)
    /// try await device.openAndWait()
    /// ```
    public convenience init(
        _ address: Address, name: String = "", on central: Central, options: A5DeviceManagerOptions = .init()
    ) {
        let holder = RadioHolder(central.core)
        self.init(
            address, name, options, openRadio: { () throws(TendonError) in try holder.open() },
            whenAbandoned: { holder.close() })
    }

    /// The same, from the handle of a device.
    public convenience init(device: Handle, name: String? = nil, on central: Central) {
        self.init(device.address, name: name ?? device.name, on: central)
    }

    /// A device on the radio of `A5DeviceManager.instance` that no search has to find. The characteristics are those of
    /// the properties until the device is discovered.
    ///
    /// ```swift
    /// let device = A5Device(device: handle)
    /// A5DeviceManager.connect(device: device)
    /// ```
    public convenience init(
        device: Handle, name: String? = nil, writeCharacteristic: A5Characteristic? = nil,
        readCharacteristic: A5Characteristic? = nil
    ) {
        let manager = A5DeviceManager.instance
        self.init(
            device.address, name ?? device.name, manager.options, fallback: manager,
            openRadio: { () throws(TendonError) in try manager.radioForDevice() })
        self.writeCharacteristic = writeCharacteristic
        self.readCharacteristic = readCharacteristic
    }

    /// - Parameter fallback: its delegate is notified if the device has none.
    private convenience init(
        _ address: Address, _ name: String, _ options: A5DeviceManagerOptions, fallback: A5DeviceManager? = nil,
        openRadio: @escaping () throws(TendonError) -> RadioCore, whenAbandoned: (() -> Void)? = nil
    ) {
        let memory = DeviceMemory()
        options.write(to: memory.options.pointer)
        final class Owner: @unchecked Sendable {
            // Used only on the loop's thread.
            weak var device: A5Device?
            weak var manager: A5DeviceManager?
        }
        let owner = Owner()
        owner.manager = fallback
        let reports = Feed<A5Event>(.shared)
        reports.delegate(
            isSet: { owner.device?.delegate != nil || owner.manager?.delegate != nil },
            { event in
                if let delegate = owner.device?.delegate ?? owner.manager?.delegate { event.deliver(to: delegate) }
            })
        let core = DeviceCore(
            memory.device.pointer, in: memory, loop: .shared, reports: reports, openRadio: openRadio,
            whenAbandoned: whenAbandoned)
        tendon_activ5_device_init(
            memory.device.pointer, memory.options.pointer,
            { context, event, now in
                guard let event else { return }
                object(DeviceCore.self, context).received(event, now)
            }, context(of: core),
            { context, request, _ in
                guard request?.pointee.kind == TENDON_ACTIV5_REQUEST_CONNECT else {
                    return Int32(TENDON_ERROR_DISCONNECTED)
                }
                return object(DeviceCore.self, context).startLink()
            }, context(of: core))
        memory.device.pointer.pointee.peer = address.c
        setName(of: memory.device.pointer, name)
        self.init(core, lifetime: Lifetime(core))
        core.object = self
        owner.device = self
    }
}
