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

    /// One that cannot begin does not keep the next one waiting.
    @Test @TendonActor func oneThatIsNotValid() async throws {
        let site = try await OcelotSite()
        let cloud = ScriptedCloud { $0.isSilent = true }
        let manager = site.manager(cloud)
        let core = manager.getDeviceConnector().core
        let first = Task { @TendonActor in try await manager.updateFeatures() }
        await eventually("the cloud is asked") { cloud.calls.updates.count == 1 }
        var errors: [OcelotError?] = []
        let source = OcelotCloudSource(.own(cloud))
        manager.cancel()
        try core.start(
            OcelotOperation(TENDON_OBVIOUS_TOGGLE, source, features: [(0, .Unknown)]) { errors.append($0.error) })
        try core.start(OcelotOperation(TENDON_OBVIOUS_GET_INFO, source) { errors.append($0.error) })
        _ = await first.result
        await eventually("both have ended") { errors == [.argument, nil] }
    }

    /// Nor one whose device has no product any more.
    @Test @TendonActor func oneWithoutAProduct() async throws {
        let site = try await OcelotSite()
        let cloud = ScriptedCloud { $0.isSilent = true }
        let manager = OcelotFeatureManager(cloud: cloud, trust: site.signer.trust)
        manager.setFileCacheDirectory(site.cache)
        let host = try await HostApp(site, manager.getDeviceConnector())
        try await host.connect()
        let first = Task { @TendonActor in try await manager.updateFeatures() }
        await eventually("the cloud is asked") { cloud.calls.updates.count == 1 }
        var errors: [OcelotError?] = []
        manager.cancel()
        for _ in 0..<3 {
            try manager.getDeviceConnector().core.start(
                OcelotOperation(TENDON_OBVIOUS_GET_INFO, OcelotCloudSource(.own(cloud))) { errors.append($0.error) })
        }
        host.productId = nil
        _ = await first.result
        await eventually("all have ended") { errors == [.noProduct, .noProduct, .noProduct] }
    }

    /// Changes come from the connector that was set last.
    @Test @TendonActor func changesOfAConnectorThatWasReplaced() async {
        let (manager, log) = (OcelotFeatureManager(cloud: ScriptedCloud()), FeatureLog())
        manager.setToggleEventListener(log)
        let connectors = [manager.getDeviceConnector(), OcelotDeviceConnector()]
        connectors[0].core.changes.push([16: .Disabled])
        #expect(log.lines == ["toggledAll 16: Disabled Unsupported"])
        manager.setDeviceConnector(connectors[1])
        connectors[0].core.changes.push([17: .Disabled])
        connectors[1].core.changes.push([18: .Disabled])
        #expect(log.lines.dropFirst() == ["toggledAll 18: Disabled Unsupported"])
    }
}
