// SPDX-License-Identifier: MIT
import CTendon
import ObviousTestSupport
import Tendon
import TestSupport
import Testing

@testable import TendonObvious

/// Steps of a connection that the application owns, one by one; its device does not answer.
@Suite(.timeLimit(.minutes(1))) @TendonActor struct HostedTests {
    private let status = "9C190003-C113-4E20-95F4-2602D4FC9F35"
    private let host = SilentHost()
    private let connector = OcelotDeviceConnector()
    private var core: OcelotCore { connector.core }

    /// A call that waits for the connection, and how it has ended.
    @TendonActor private final class Call {
        let pending = Pending<Void, OcelotError>()
        private(set) var end: Result<Void, OcelotError>?

        init() {
            Task { @TendonActor in
                do throws(OcelotError) {
                    try await pending.value()
                    end = .success(())
                } catch {
                    end = .failure(error)
                }
            }
        }

        var hasFailed: Bool { if case .failure? = end { true } else { false } }
    }

    init() { connector.setConnectorCallback(host) }

    private func connect() -> Call {
        let call = Call()
        core.connect(call.pending)
        return call
    }

    private func report(connected: Bool, failed: Bool = false) {
        connector.onConnectionStateChange(
            failed
                ? OcelotDeviceConnector.CONNECTION_STATUS_FAILURE : OcelotDeviceConnector.CONNECTION_STATUS_SUCCESS,
            connected
                ? OcelotDeviceConnector.CONNECTION_STATE_CONNECTED
                : OcelotDeviceConnector.CONNECTION_STATE_DISCONNECTED)
    }

    private func requested(_ requests: String...) async {
        await eventually("\(requests)") { host.requests == requests }
    }

    private func becomes(_ state: OcelotDeviceConnector.State) async {
        await eventually("\(state)") { connector.state == state }
    }

    /// Whether the timer of the connection is due.
    private func isDue() throws -> Bool {
        let timer = Mirror(reflecting: core.transport!).descendant("timer", "some") as? LoopTimer
        return try #require(timer).deadline <= tendon_monotonic_ms()
    }

    /// A value or a failed read is handled by the next step, not when the time for the read has passed.
    @Test(arguments: [false, true]) func whatTheApplicationPassesOn(_ fails: Bool) async throws {
        report(connected: true)
        await requested("read")
        #expect(try !isDue())
        if fails {
            connector.onReadStatus(status, 0x0A)
        } else {
            connector.onUpdateDeviceData(status, Array("OGP".utf8) + [1, 0, 0, 0, 0])
        }
        #expect(try isDue())
    }

    /// Whatever the application says of its connection.
    @Test(arguments: [Int.max, Int.max - 2, 0, -1, Int.min]) func lengthsOfValues(_ length: Int) async {
        connector.maximumValueLength = length
        report(connected: true)
        await requested("read")
        #expect(connector.maximumValueLength == length)
    }

    /// Another thread may still have it when the core is released, and something is due.
    @Test func aConnectionThatIsReleasedLater() async {
        var released: OcelotDeviceConnector? = OcelotDeviceConnector()
        released?.setConnectorCallback(host)
        released?.onConnectionStateChange(
            OcelotDeviceConnector.CONNECTION_STATUS_SUCCESS, OcelotDeviceConnector.CONNECTION_STATE_CONNECTED)
        weak let core = released?.core
        let transport = core?.transport
        released = nil
        await eventually("the core is released") { core == nil }
        await turns()
        withExtendedLifetime(transport) {}
    }

    /// UUIDs of the application's choice, in all that it is asked for and all that it passes on.
    @Test func otherUUIDs() async {
        let uuids = OcelotUUIDs(service: "fe01", data: "fe02", status: "0000fe03-1111-2222-3333-444455556666")
        let connector = OcelotDeviceConnector(uuids: uuids)
        connector.setConnectorCallback(host)
        #expect(connector.getServerInformation() == ["fe01": ["fe02", "0000fe03-1111-2222-3333-444455556666"]])
        connector.onConnectionStateChange(
            OcelotDeviceConnector.CONNECTION_STATUS_SUCCESS, OcelotDeviceConnector.CONNECTION_STATE_CONNECTED)
        await requested("read")
        #expect(host.uuids["read"] == [uuids.service.uuidString, "0000FE03-1111-2222-3333-444455556666"])
        connector.onReadStatus(status, 0x0A)  // another characteristic
        connector.onUpdateDeviceData("0000fe03-1111-2222-3333-444455556666", Array("OGP".utf8) + [1, 0, 0, 0, 0])
        await eventually("HELLO is sent") {
            host.uuids["write"] == [uuids.service.uuidString, uuids.data.uuidString]
        }
        #expect(connector.state == .connecting)
    }

    @Test func statesOfAConnectionOfTheApplication() async throws {
        var states = connector.states.makeAsyncIterator()
        report(connected: true)
        #expect(try await states.next() == .connecting)
        await requested("read")
        connector.onReadStatus(status, 0x0A)
        #expect(try await states.next() == .unusable)
        report(connected: false)
        #expect(try await states.next() == .disconnected)
        #expect(host.requests == ["read"], "it was the device or the application that disconnected")
    }

    @Test func anAttemptThatFails() async throws {
        let call = connect()
        #expect(try isDue())
        await requested("connect")
        report(connected: false)
        #expect(connector.state == .connecting, "nothing has changed for the application")
        report(connected: false, failed: true)
        #expect(try isDue())
        await eventually("the call fails") { call.hasFailed }
        #expect(connector.state == .disconnected && host.requests == ["connect"])
    }

    @Test(arguments: [false, true]) func endedBeforeTheApplicationIsAsked(_ fails: Bool) async throws {
        let call = connect()
        if fails {
            report(connected: false, failed: true)
        } else {
            connector.disconnect()
        }
        #expect(try isDue())
        await eventually("the call fails") { call.hasFailed }
        #expect(connector.state == .disconnected && host.requests.isEmpty)
    }

    /// The application loses a connection that it was asked for, before the device was read: it is not asked again, and
    /// the call does not wait for it.
    @Test func theApplicationLosesTheConnection() async {
        let call = connect()
        await requested("connect")
        report(connected: true)
        await requested("connect", "read")
        report(connected: false)
        await eventually("the call fails") { call.hasFailed }
        await Loop.shared.run {}
        #expect(host.requests == ["connect", "read"])
    }

    /// Whoever has cancelled is told so, also if the connection is lost before the loop takes its next step.
    @Test func lostWhileAnOperationIsCancelled() async throws {
        var errors: [OcelotError?] = []
        let operation = OcelotOperation(TENDON_OBVIOUS_GET_INFO, OcelotCloudSource(.own(ScriptedCloud()))) {
            errors.append($0.error)
        }
        report(connected: true)
        await requested("read")
        connector.onUpdateDeviceData(status, Array("OGP".utf8) + [1, 0, 0, 0, 0])
        await eventually("HELLO is sent") { host.uuids["write"] != nil }
        try core.start(operation)
        await turns()
        #expect(errors.isEmpty)
        core.cancel(operation)
        report(connected: false)
        await eventually("it ends") { !errors.isEmpty }
        #expect(errors == [.cancelled])
    }

    /// The application is asked to connect when it has disconnected as it was asked.
    @Test func connectedWhileTheApplicationDisconnects() async {
        report(connected: true)
        await requested("read")
        connector.disconnect()
        await requested("read", "disconnect")
        await becomes(.disconnected)
        let call = connect()
        await Loop.shared.run {}
        #expect(host.requests == ["read", "disconnect"] && call.end == nil)
        report(connected: false)
        await requested("read", "disconnect", "connect")
        connector.disconnect()
        await eventually("the call fails") { call.hasFailed }
    }

    /// An application that connects again before it has said that it disconnected.
    @Test func aCallDuringADisconnection() async {
        report(connected: true)
        await requested("read")
        // In one step: until this function waits, the connection does not end.
        connector.disconnect()
        #expect(connector.state == .disconnecting)
        let first = connect()
        connector.disconnect()
        await eventually("a later disconnection is the last word") { first.hasFailed }
        #expect(connector.state == .disconnected)

        report(connected: false)
        let second = connect()
        connector.disconnect()
        let third = connect()
        await eventually("it connects again") { host.requests.last == "connect" && connector.state == .connecting }
        #expect(second.end == nil && third.end == nil)
        report(connected: false, failed: true)
        await eventually("an attempt that fails is not made again") { second.hasFailed && third.hasFailed }
        #expect(connector.state == .disconnected)
    }

    /// The last call that does not wait any more ends the attempt; earlier attempts do not count.
    @Test func aCallThatDoesNotWait() async {
        let first = connect()
        await requested("connect")
        report(connected: false, failed: true)
        await eventually("the call fails") { first.hasFailed }
        let calls = [connect(), connect()]
        core.withdraw(calls[0].pending)
        #expect(connector.state == .connecting)
        core.withdraw(calls[1].pending)
        #expect(connector.state == .disconnecting)
        for call in calls { call.pending.finish(.success(())) }
        await becomes(.disconnected)
    }

    /// Without a callback nothing can be read: the device cannot be used.
    @Test func withoutACallback() async {
        connector.setConnectorCallback(nil)
        report(connected: true)
        #expect(connector.state == .disconnected)
        let call = connect()
        await eventually("the call fails") { call.hasFailed }
        #expect(connector.state == .unusable)
    }

    /// The device does not get the first write, so the session ends by itself; the application is still connected.
    @Test func abandonedAfterItsSession() async {
        host.sends = false
        report(connected: true)
        await requested("read")
        connector.onUpdateDeviceData(status, Array("OGP".utf8) + [1, 0, 0, 0, 0])
        await becomes(.disconnected)
        #expect(host.requests == ["read"])
        core.abandon()
        await requested("read", "disconnect")
    }

    /// Calls that wait when the last reference is released.
    @Test func abandoned() async {
        let call = connect()
        core.abandon()
        await eventually("the call ends") { call.end != nil }
        guard case .failure(.cancelled) = call.end else {
            Issue.record("\(String(describing: call.end))")
            return
        }
    }

    /// An operation ends once.
    @Test func anOperationThatEndsTwice() {
        var ends = 0
        let operation = OcelotOperation(TENDON_OBVIOUS_GET_INFO, OcelotCloudSource(.own(ScriptedCloud()))) { _ in
            ends += 1
        }
        operation.fail(.cancelled)
        operation.fail(.cancelled)
        #expect(ends == 1)
    }
}
