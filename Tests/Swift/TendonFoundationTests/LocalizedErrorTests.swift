// SPDX-License-Identifier: MIT
import Foundation
import Synchronization
import TendonActiv5
import TendonBose
import TendonFeelSpace
import TendonFjorden
import TendonFoundation
import TendonGateway
import TendonObvious
import TestSupport
import Testing

/// What a program with Foundation reads from an error whose type it does not know.
@Suite struct LocalizedErrorTests {
    private static let errors: [(error: any Error, text: String)] = [
        (BoseWearableError.deviceNotFound, BoseWearableError.deviceNotFound.localizedDescription),
        (BoseWearableError.ErrorCode.invalidSensor, BoseWearableError.service(.invalidSensor).localizedDescription),
        (A5Error.imuUnsupported, A5Error.imuUnsupported.text),
        (FSConnectionError.powerOff, "the belt was switched off"),
        (FjordenError.bondDoesNotExists, FjordenError.bondDoesNotExists.localizedDescription),
        (GatewayError.cancelled, GatewayError.cancelled.description),
        (OcelotError.busy, OcelotError.busy.description),
        (TendonError.cancelled, TendonError.cancelled.description),
        (GripCommandError.busy, "\(GripCommandError.busy)"),
        (ObviousCloudError(.network, "no connection"), ObviousCloudError(.network, "no connection").description),
        (FSBeltConnectionError.beltPoweredOff, "the belt was switched off"),
        (AttributeError.readNotPermitted, AttributeError.readNotPermitted.description),
    ]

    @Test(arguments: errors.indices)
    func texts(index: Int) {
        let (error, text) = Self.errors[index]
        #expect(error.localizedDescription == text && !text.isEmpty)
        #expect((error as? any LocalizedError)?.errorDescription == text)
        #expect(!error.localizedDescription.contains("could not be completed"))
    }

    @Test func eachErrorOfTheNavigationHasAText() {
        let texts = FSBeltConnectionError.allCases.map(\.localizedDescription)
        #expect(Set(texts).count == texts.count && texts.allSatisfy { $0.contains(" ") })
    }

    @Test @TendonActor func notifications() async throws {
        let directory = RadioDirectory()
        let trainer = try await SimulatedTrainer(
            radio: directory.radio, loop: try Loop(), interval: .milliseconds(20))
        let manager = A5DeviceManager(radio: directory.radio)
        let center = NotificationCenter()
        let names = Mutex<[NSNotification.Name]>([])
        let observer = center.addObserver(forName: nil, object: nil, queue: nil) { notification in
            names.withLock { $0.append(notification.name) }
        }
        let posting = manager.postNotifications(to: center)
        await Task.yield()
        manager.scanForDevices()
        await eventually("found") { names.withLock { $0.contains(.deviceFound) } }
        posting.cancel()
        center.removeObserver(observer)
        withExtendedLifetime(trainer) {}
    }
}
