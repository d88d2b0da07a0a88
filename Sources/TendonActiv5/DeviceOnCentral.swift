// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// What a device without a manager lives in.
final class DeviceMemory: @unchecked Sendable {
    // Touched on the loop's thread alone.
    let device = CBlock<tendon_activ5_device>()
    let options = CBlock<tendon_activ5_options>()
}

/// Holds the link: it ends when the device and its sequences are gone.
final class DeviceLifetime: Sendable {
    let core: DeviceCore

    init(_ core: DeviceCore) { self.core = core }

    deinit {
        let core = core
        core.loop.post { core.abandon() }
    }
}

extension A5Device {
    /// A device that the program found by itself, on a radio of its own; its `delegate` or sequences are told.
    ///
    /// ```swift
    /// let device = A5Device(address, name: "ACTIV5-AC-0001", on: central)
    /// try await device.open()
    /// ```
    public convenience init(
        _ address: Address, name: String = "", on central: Central, options: A5DeviceManagerOptions = .init()
    ) {
        let memory = DeviceMemory()
        options.write(to: memory.options.pointer)
        final class Listener: @unchecked Sendable {
            // Touched on the loop's thread alone.
            weak var device: A5Device?
        }
        let listener = Listener()
        let core = DeviceCore(
            memory.device.pointer, in: memory, loop: central.core.loop,
            isHeard: { TendonActor.assumeIsolated { listener.device?.delegate != nil } },
            report: { event in
                TendonActor.assumeIsolated {
                    if let delegate = listener.device?.delegate { event.deliver(to: delegate) }
                }
            })
        tendon_activ5_device_init(
            memory.device.pointer, memory.options.pointer,
            { context, event, now in
                guard let event else { return }
                object(DeviceCore.self, context).received(event, now)
            }, context(of: core), nil, nil)
        memory.device.pointer.pointee.peer = address.c
        setName(of: memory.device.pointer, name)
        core.attach(central.core)
        self.init(core, lifetime: DeviceLifetime(core))
        core.object = self
        listener.device = self
    }

    /// The same of what a manager or a program knows the device by.
    public convenience init(device: Handle, name: String? = nil, on central: Central) {
        self.init(device.address, name: name ?? device.name, on: central)
    }
}
