// SPDX-License-Identifier: MIT
import CTendon

/// Several centrals of one program, each with an adapter of its own: spreads the connections over them.
///
/// A controller holds a few connections only, and does not report how many. The group connects with the central that has
/// the fewest connections, never twice to a device, and with another one when a controller rejects one more. A device
/// that is bonded over centrals of the group is connected to by these only, because its key belongs to one adapter.
///
/// ```swift
/// let group = CentralGroup()
/// try await group.add(try await Central(radio: .bluez(adapter: "hci0")))
/// try await group.add(try await Central(radio: .bluez(adapter: "hci1")))
/// let peripheral = try await group.connect(address)
/// ```
@TendonActor
public final class CentralGroup {
    private let group = CBlock<tendon_radio_group>()
    /// The centrals in the order in which they were added.
    public private(set) var centrals: [Central] = []  // in the order of the C core's members

    /// The devices that `connect` is connecting to. Between two attempts no central has a link to the device.
    private var connecting: Set<Address> = []

    /// Creates a group without centrals.
    public nonisolated init() {}

    /// Adds a central, which the group keeps until ``remove(_:)``.
    ///
    /// - Parameters:
    ///   - central: an open central.
    ///   - limit: maximum number of connections; `nil`: as many as the controller takes.
    /// - Throws: `TENDON_ERROR_INVALID_ARGUMENT` if the limit is below 1,
    ///   `TENDON_ERROR_WRONG_STATE` if it is in the group, `TENDON_ERROR_OVERFLOW` if the group has eight centrals.
    public func add(_ central: Central, limit: Int? = nil) throws(TendonError) {
        guard limit.map({ $0 > 0 }) ?? true else {
            throw TendonError(status: Int32(TENDON_ERROR_INVALID_ARGUMENT), operation: .groupCentrals)
        }
        try check(
            tendon_radio_group_add(group.pointer, central.core.radio, UInt32(clamping: limit ?? 0)), .groupCentrals)
        centrals.append(central)
    }

    /// Removes a central, whose connections stay. Call this when its adapter was unplugged. Does nothing if the central is
    /// not in the group.
    public func remove(_ central: Central) {
        tendon_radio_group_remove(group.pointer, central.core.radio)
        centrals.removeAll { $0 === central }
    }

    /// The central to connect to a device with: for a vendor's manager, which takes a central.
    ///
    /// - Throws: `TENDON_ERROR_WRONG_STATE` if a central is connected to the device, or is connecting; the HCI error 0x09
    ///   (Connection Limit Exceeded) if none has room; `TENDON_RADIO_ERROR_NO_ADAPTER` if the group is empty;
    ///   `TENDON_RADIO_ERROR_OUT_OF_RANGE` if the central with the bond has failed.
    public func central(for address: Address) throws(TendonError) -> Central {
        try checkIsFree(address)
        return try choose(address) { _ in true }
    }

    /// Connects with the central of ``central(for:)``, and with the next one if the controller of that one has no room.
    /// Cancelling the task ends the attempt.
    public func connect(
        _ address: Address, options: ConnectOptions = ConnectOptions()
    ) async throws(TendonError) -> Peripheral {
        try checkIsFree(address)
        connecting.insert(address)
        defer { connecting.remove(address) }
        while true {
            let central = try count(choose(address) { _ in true })
            do throws(TendonError) {
                let peripheral = try await central.connect(address, options: options)
                release(central)  // its connection counts now
                return peripheral
            } catch {
                guard release(central, after: error), !Task.isCancelled else { throw error }
            }
        }
    }

    /// It has one connection more, until ``release(_:after:)``.
    func count(_ central: Central) -> Central {
        tendon_radio_group_assign(group.pointer, central.core.radio)
        return central
    }

    func checkIsFree(_ address: Address) throws(TendonError) {
        guard !connecting.contains(address) else {
            throw TendonError(status: Int32(TENDON_ERROR_WRONG_STATE), operation: .connect)
        }
    }

    /// The device is disconnected, or was not connected.
    ///
    /// - Parameter reason: why an attempt failed; `nil`: it did not.
    /// - Returns: whether the controller had no room for it.
    @discardableResult
    func release(_ central: Central, after reason: TendonError? = nil) -> Bool {
        let radio = central.core.radio
        tendon_radio_group_release(group.pointer, radio)
        return reason.map { tendon_radio_group_refused(group.pointer, radio, $0.status, tendon_monotonic_ms()) }
            ?? false
    }

    func choose(_ address: Address, where isConsidered: @Sendable (Central) -> Bool) throws(TendonError)
        -> Central
    {
        var members: UInt32 = 0
        for (index, central) in centrals.enumerated() where central.core.failure == nil && isConsidered(central) {
            members |= 1 << UInt32(index)
        }
        var peer = address.c
        var radio: CPointer<tendon_radio>?
        try check(
            tendon_radio_group_choose_among(group.pointer, &peer, members, tendon_monotonic_ms(), &radio), .connect)
        guard let central = centrals.first(where: { $0.core.radio == radio }) else {
            throw TendonError(status: Int32(TENDON_ERROR_NOT_FOUND), operation: .connect)  // it is always one of them
        }
        return central
    }
}
