// SPDX-License-Identifier: MIT
import CTendon
import Tendon

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

extension BoseWearable {
    /// Creates a session with a simulated wearable, which opens by itself: the delegate is notified. `device` exists from the
    /// start; configurations that are changed before the session is open are written when it is.
    ///
    /// Traps if this process cannot create a folder in /tmp; `makeSimulatedSession(_:)` throws instead.
    @TendonActor
    public func createSimulatedWearableDeviceSession() -> WearableDeviceSession {
        let radio = Self.simulationRadio
        let address = nextSimulatedAddress()
        let session: WearableDeviceSession
        do throws(TendonError) {
            session = try manager.makeSimulatedSession(address, SimulatedWearable.Options().name, radio)
        } catch {
            preconditionFailure("\(radio): \(error)")
        }
        session.core.draft = ConfigurationDraft()
        session.core.isWaitingForSimulation = true
        Task { @TendonActor [weak session] in
            do throws(TendonError) {
                let wearable = try await SimulatedWearable(radio: radio, address: address)
                session?.simulated = wearable
                session?.core.simulationStarted(nil)
            } catch {
                session?.core.simulationStarted(BoseWearableError(error))
            }
        }
        return session
    }

    /// Creates a closed session with a simulated wearable.
    public func makeSimulatedSession(
        _ options: SimulatedWearable.Options = SimulatedWearable.Options()
    ) async throws(BoseWearableError) -> WearableDeviceSession {
        guard !Task.isCancelled else { throw .cancelled }
        do throws(TendonError) {
            let wearable = try await SimulatedWearable(options, radio: Self.simulationRadio)
            let session = try await manager.makeSimulatedSession(wearable.address, options.name, Self.simulationRadio)
            await session.setSimulated(wearable)
            return session
        } catch {
            throw BoseWearableError(error)
        }
    }

    private static var simulationRadio: RadioChoice {
        .virtual(directory: "/tmp/tendon-simulated-\(getuid())-\(getpid())")
    }
}

extension BluetoothManager {
    /// A closed session on a radio of its own, which its connection keeps open.
    fileprivate func makeSimulatedSession(
        _ address: Address, _ name: String, _ choice: RadioChoice
    ) throws(TendonError) -> WearableDeviceSession {
        let radio = try RadioCore.open(choice, loop: .shared)
        defer { radio.close() }
        let session = makeSession(DiscoveredDevice(address, name: name), radio, nil)
        session.onOpen = nil  // no search of the radio finds it again
        return session
    }
}

extension WearableDeviceSession {
    fileprivate func setSimulated(_ wearable: SimulatedWearable) { simulated = wearable }
}
