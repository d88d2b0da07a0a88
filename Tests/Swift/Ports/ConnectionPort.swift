// SPDX-License-Identifier: MIT
import Tendon
import TendonBose
import TestSupport
import Testing

/// A screen of a phone application: connects, keeps the session, reopens it.
private final class ConnectionModel: WearableDeviceSessionDelegate {
    private let library: BoseWearable
    private(set) var session: WearableDeviceSession?
    private(set) var messages: [String] = []

    init(_ library: BoseWearable) { self.library = library }

    @discardableResult
    func connect(
        _ mode: ConnectUIMode = .alwaysShow, sensor: SensorIntent? = nil, gesture: GestureIntent? = nil
    ) -> ConnectionTask {
        library.startConnection(mode: mode, sensorIntent: sensor, gestureIntent: gesture) { result in
            switch result {
            case .success(let session):
                // It is open already; the delegate is for what comes.
                self.session = session
                session.delegate = self
                self.messages.append("connected to \(session.device?.name ?? "?")")
            case .failure(let error):
                self.messages.append("failed: \(error)")
            case .cancelled:
                self.messages.append("cancelled")
            }
        }
    }

    func close() { session?.close() }

    func sessionDidOpen(_ session: WearableDeviceSession) { messages.append("did open") }
    func session(_ session: WearableDeviceSession, didFailToOpenWithError error: (any Error)?) {
        messages.append("did fail: \(error.map { "\($0)" } ?? "")")
    }
    func session(_ session: WearableDeviceSession, didCloseWithError error: (any Error)?) {
        messages.append(error == nil ? "did close" : "lost")
        if error != nil { session.open() }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct ConnectionPort {
    @Test @TendonActor func success() async throws {
        let here = try await Surroundings()
        let model = ConnectionModel(here.library)
        model.connect()
        await eventually("connected") { model.session != nil }
        #expect(model.messages == ["connected to LE-Bose Frames"])
        #expect(model.session?.isOpen == true)
        // The first opening is not reported to the delegate.
        model.close()
        await eventually("closed") { model.messages.last == "did close" }
        #expect(model.messages.count == 2)
    }

    @Test @TendonActor func failure() async throws {
        let here = try await Surroundings()
        let model = ConnectionModel(here.library)
        model.connect(sensor: SensorIntent(sensors: [.magnetometer], samplePeriods: [._20ms]))
        await eventually("an outcome") { !model.messages.isEmpty }
        #expect(model.messages[0].hasPrefix("failed: intentsNotFulfilled"))
        #expect(model.session == nil)
    }

    @Test @TendonActor func nobodyInReach() async throws {
        let here = try await Surroundings { $0.timeout = .milliseconds(200) }
        await here.wearable.stop()
        let model = ConnectionModel(here.library)
        model.connect()
        await eventually("an outcome") { !model.messages.isEmpty }
        #expect(model.messages == ["failed: deviceNotFound"])
    }

    @Test @TendonActor func cancelled() async throws {
        let here = try await Surroundings()
        await here.wearable.stop()
        let model = ConnectionModel(here.library)
        let attempt = model.connect()
        await turns()
        attempt.cancel()
        await eventually("an outcome") { !model.messages.isEmpty }
        #expect(model.messages == ["cancelled"])
    }

    /// The wearer picks nothing from the list.
    @Test @TendonActor func cancelledByChoice() async throws {
        let here = try await Surroundings { configuration in
            configuration.deviceChoice = .custom { lists in
                var iterator = lists.makeAsyncIterator()
                _ = try? await iterator.next()
                return nil
            }
        }
        let model = ConnectionModel(here.library)
        model.connect()
        await eventually("an outcome") { !model.messages.isEmpty }
        #expect(model.messages == ["cancelled"])
    }

    @Test @TendonActor func chosenFromTheList() async throws {
        let here = try await Surroundings { configuration in
            configuration.deviceChoice = .custom { lists in
                var iterator = lists.makeAsyncIterator()
                while let list = try? await iterator.next() {
                    if let named = list.first(where: { $0.name != nil }) { return named }
                }
                return nil
            }
        }
        let model = ConnectionModel(here.library)
        model.connect()
        await eventually("connected") { model.session != nil }
        #expect(model.messages == ["connected to LE-Bose Frames"])
    }

    @Test @TendonActor func reopening() async throws {
        let here = try await Surroundings()
        let model = ConnectionModel(here.library)
        model.connect()
        await eventually("connected") { model.session != nil }
        await here.wearable.disconnectAll()
        await eventually("open again") { model.messages.last == "did open" }
        #expect(Array(model.messages.dropFirst()) == ["lost", "did open"])
        #expect(model.session?.isOpen == true)
    }

    /// A failed reopening is reported to the delegate.
    @Test @TendonActor func reopeningFails() async throws {
        let here = try await Surroundings { $0.firmwareChecker = Verdicts([.upToDate, .required]).next }
        let model = ConnectionModel(here.library)
        model.connect()
        await eventually("connected") { model.session != nil }
        await here.wearable.disconnectAll()
        await eventually("told") { model.messages.last?.hasPrefix("did fail") == true }
        #expect(model.messages.last == "did fail: firmwareUpdateRequired")
    }

    @Test @TendonActor func connectToTheLastOne() async throws {
        let here = try await Surroundings()
        let model = ConnectionModel(here.library)
        model.connect(.connectToLast(timeout: 5))
        await eventually("connected") { model.session != nil }
        let first = try #require(model.session).address
        model.session?.close()
        #expect(here.library.bluetoothManager.mostRecentlyConnectedDevice == first)
        model.connect(.connectToLast(timeout: 5))
        await eventually("connected again") { model.messages.count { $0.hasPrefix("connected") } == 2 }
        #expect(model.session?.address == first)
    }

    /// The label as the document prints it.
    @Test @TendonActor func printedSpelling() async throws {
        let here = try await Surroundings()
        var isOpen: Bool?
        here.library.startConnection(
            mode: .alwaysShow, sensorIntent: nil, gestureIntent: nil,
            completionHander: { result in
                if case .success(let session) = result { isOpen = session.isOpen }
            })
        await eventually("an outcome") { isOpen != nil }
        #expect(isOpen == true)
    }
}

/// Answers of a firmware service, one after the other.
private final class Verdicts: @unchecked Sendable {
    // Asked on the loop's thread alone.
    private var verdicts: [FirmwareVersion.Check]
    init(_ verdicts: [FirmwareVersion.Check]) { self.verdicts = verdicts }

    var next: FirmwareChecker {
        { _, _ in self.verdicts.count > 1 ? self.verdicts.removeFirst() : self.verdicts[0] }
    }
}
