// SPDX-License-Identifier: MIT
import CTendon
import ObviousTestSupport
import Tendon
import TestSupport
import Testing

@testable import TendonObvious

/// Operations that wait for the end of one that was cancelled: it ends with the loop's next step.
@Suite(.timeLimit(.minutes(1))) struct WaitingTests {
    @Test @TendonActor func oneThatIsCancelledBeforeItBegins() async throws {
        let site = try await OcelotSite()
        let cloud = ScriptedCloud { $0.isSilent = true }
        let manager = site.manager(cloud)
        let connector = Mirror(reflecting: manager.getDeviceConnector())
        let core = try #require(connector.descendant("lifetime", "core") as? OcelotCore)
        let first = Task { @TendonActor in try await manager.updateFeatures() }
        await eventually("the cloud is asked") { cloud.calls.updates.count == 1 }
        var errors: [OcelotError?] = []
        let operations = (0..<2).map { _ in
            OcelotOperation(TENDON_OBVIOUS_GET_INFO, OcelotCloudSource(.own(cloud))) { errors.append($0.error) }
        }
        #expect(throws: OcelotError.busy) { try core.start(operations[0]) }
        // Until this function waits, the loop takes no step.
        manager.cancel()
        for operation in operations { try core.start(operation) }
        #expect(errors.isEmpty)
        core.cancel(operations[0])
        #expect(errors == [.cancelled])
        guard case .failure(OcelotError.cancelled) = await first.result else {
            Issue.record("the first one is cancelled")
            return
        }
        await eventually("the other one is carried out") { errors == [.cancelled, nil] }
        #expect(cloud.calls.updates.count == 1)
    }
}
