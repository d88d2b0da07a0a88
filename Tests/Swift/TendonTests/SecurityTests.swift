// SPDX-License-Identifier: MIT
import CTendon
import TestSupport
import Testing

@testable import Tendon

/// A device that demands encryption: requests raise the security of the connection by themselves, once.
@Suite(.timeLimit(.minutes(1)))
struct SecurityTests {
    private let sensorInformation: BluetoothUUID = "855cb3e7-98ff-42a6-80fc-40b32a2221c1"
    private let sensorData: BluetoothUUID = "56a72ab8-4988-4cc8-a752-fbd1d54a953d"

    private func find(_ uuid: BluetoothUUID, _ peripheral: Peripheral) async throws -> Characteristic {
        let service = try #require(try await peripheral.discoverServices("fdd2").first)
        return try #require(try await peripheral.discoverCharacteristics(uuid, of: service).first)
    }

    /// The name of the error, or "OK".
    private func read(_ characteristic: Characteristic, _ peripheral: Peripheral) async -> String {
        do throws(TendonError) {
            return try await peripheral.read(characteristic).isEmpty ? "nothing" : "OK"
        } catch {
            return error.name
        }
    }

    @Test func aReadPairsAndIsSentOnceMore() async throws {
        let pair = try await Pair(.accepting)
        defer { pair.removeFiles() }
        let peripheral = try await pair.central.connect(pair.wearable.address)
        let characteristic = try await find(sensorInformation, peripheral)
        #expect(await !peripheral.isEncrypted)
        #expect(await read(characteristic, peripheral) == "OK")
        #expect(await peripheral.isEncrypted)
        #expect(try pair.bonds.bonds().map(\.address) == [pair.wearable.address])
        await peripheral.disconnect()

        // The bond encrypts the next connection, without a question.
        let again = try await pair.central.connect(pair.wearable.address)
        #expect(await read(characteristic, again) == "OK")
        #expect(await again.isEncrypted)
        await again.disconnect()
        await pair.central.close()
    }

    @Test func aSubscriptionPairs() async throws {
        let pair = try await Pair(.accepting)
        defer { pair.removeFiles() }
        let peripheral = try await pair.central.connect(pair.wearable.address)
        let notifications = try await peripheral.notifications(of: find(sensorData, peripheral))
        #expect(await peripheral.isEncrypted)
        withExtendedLifetime(notifications) {}
        await pair.central.close()
    }

    @Test func aRejectedPairingIsNotRepeated() async throws {
        let shown = Asked(), asked = Asked()
        let display = PairingAgent(inputOutput: .displayOnly, requiresAuthentication: false) { _, question in
            shown.note(question)
            return .accept
        }
        let pair = try await Pair(display)
        defer { pair.removeFiles() }
        try await pair.central.setPairingAgent(
            .asking { _, question in
                asked.note(question)
                return .reject
            })
        let peripheral = try await pair.central.connect(pair.wearable.address)
        let characteristic = try await find(sensorInformation, peripheral)
        for _ in 0..<3 {
            #expect(await read(characteristic, peripheral) == "ATT_INSUFFICIENT_AUTHENTICATION")
        }
        #expect(asked.all == [.enter])
        #expect(await peripheral.state == .connected)
        #expect(try pair.bonds.bonds().isEmpty)
        await pair.central.close()
    }

    @Test func aPolicyThatForbidsItIsKept() async throws {
        let pair = try await Pair(.accepting)
        defer { pair.removeFiles() }
        let core = pair.central.core
        await onLoop { core.setPairingPolicy(.restricted()) }
        let peripheral = try await pair.central.connect(pair.wearable.address)
        let characteristic = try await find(sensorInformation, peripheral)
        #expect(await read(characteristic, peripheral) == "ATT_INSUFFICIENT_AUTHENTICATION")
        #expect(await !peripheral.isEncrypted)
        await onLoop { core.setPairingPolicy(.unrestricted) }
        #expect(await read(characteristic, peripheral) == "OK")
        await pair.central.close()
    }

    private enum Leaves: CaseIterable, Sendable { case nobody, request, pair, bothPairs, all, connection }

    /// A request pairs, and two tasks that call pair() get the result of the same pairing; who leaves ends nothing for the
    /// others.
    @Test(arguments: Leaves.allCases)
    private func aPairingIsJoined(_ leaves: Leaves) async throws {
        let shown = Asked(), asked = Asked(), mayAnswer = Flag()
        let pair = try await Pair(
            PairingAgent(inputOutput: .displayOnly, requiresAuthentication: false) { _, question in
                shown.note(question)
                return .accept
            })
        defer { pair.removeFiles() }
        try await pair.central.setPairingAgent(
            .asking { _, question in
                asked.note(question)
                await eventually("an answer") { mayAnswer.isSet && shown.passkey != nil || Task.isCancelled }
                return shown.passkey.map { .passkey($0) } ?? .reject
            })
        let peripheral = try await pair.central.connect(pair.wearable.address)
        let characteristic = try await find(sensorInformation, peripheral)
        let reading = Task { await read(characteristic, peripheral) }
        await eventually("the question is asked") { asked.all == [.enter] }
        let pairs = (0..<2).map { _ in
            Task { () -> String in
                do throws(TendonError) { try await peripheral.pair() } catch { return error.name }
                return "OK"
            }
        }
        let core = peripheral.core
        await eventually("both wait") { await onLoop { core.pairingWaitCount == 2 } }
        if leaves == .request || leaves == .all { reading.cancel() }
        if leaves == .pair || leaves == .bothPairs || leaves == .all { pairs[0].cancel() }
        if leaves == .bothPairs || leaves == .all { pairs[1].cancel() }
        if leaves == .connection { await peripheral.disconnect() }
        let cancelled = "ERROR_CANCELLED"
        if leaves == .request || leaves == .all { #expect(await reading.value == cancelled) }
        if leaves == .pair || leaves == .bothPairs || leaves == .all { #expect(await pairs[0].value == cancelled) }
        if leaves == .bothPairs || leaves == .all { #expect(await pairs[1].value == cancelled) }
        mayAnswer.set()
        switch leaves {
        case .nobody:
            #expect(await [reading.value, pairs[0].value, pairs[1].value] == ["OK", "OK", "OK"])
        case .request: #expect(await [pairs[0].value, pairs[1].value] == ["OK", "OK"])
        case .pair: #expect(await [reading.value, pairs[1].value] == ["OK", "OK"])
        case .bothPairs: #expect(await reading.value == "OK")
        case .all: break
        case .connection:
            #expect(await pairs[0].value == "ERROR_DISCONNECTED")
            #expect(await pairs[1].value == "ERROR_DISCONNECTED")
        }
        #expect(asked.all == [.enter])
        #expect(await onLoop { core.pairingWaitCount == 0 })
        await pair.central.close()
    }

    private enum End: CaseIterable, Sendable { case cancelled, disconnected, byDevice }

    @Test(arguments: End.allCases)
    private func aReadEndsWhileTheDevicesPair(_ end: End) async throws {
        let asked = Asked()
        let pair = try await Pair(
            PairingAgent(inputOutput: .displayOnly, requiresAuthentication: false) { _, _ in .accept })
        defer { pair.removeFiles() }
        try await pair.central.setPairingAgent(.asking { _, question in await asked.waitForever(question) })
        let peripheral = try await pair.central.connect(pair.wearable.address)
        let characteristic = try await find(sensorInformation, peripheral)
        let reading = Task { await read(characteristic, peripheral) }
        await eventually("the question is asked") { asked.all == [.enter] }
        switch end {
        case .cancelled: reading.cancel()
        case .disconnected: await peripheral.disconnect()
        case .byDevice:
            let host = pair.wearable.host
            await pair.wearable.loop.run { host.disconnectAll() }
        }
        #expect(await reading.value == (end == .byDevice ? "RADIO_ERROR_PEER_CLOSED" : "ERROR_CANCELLED"))
        #expect(await (peripheral.state == .connected) == (end == .cancelled))
        await pair.central.close()
    }
}
