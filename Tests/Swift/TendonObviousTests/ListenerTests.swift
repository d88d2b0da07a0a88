// SPDX-License-Identifier: MIT
import ObviousTestSupport
import Tendon
import TestSupport
import Testing

@testable import TendonObvious

/// Which listener is set by which function.
@Suite(.timeLimit(.minutes(1))) struct ListenerTests {
    @Test @TendonActor func bothNamesSetTheToggleListener() async throws {
        let site = try await OcelotSite()
        let (first, second) = (FeatureLog(), FeatureLog())
        let manager = site.manager()
        try await manager.getDeviceConnector().openAndWait()
        manager.setToggleConfigs(first)
        #expect(manager.checkFeatureStatus(featureid: 16))
        await eventually("it is called") { first.lines == ["toggle 16 Enabled Activated"] }
        manager.setToggleEventListener(second)
        #expect(manager.checkFeatureStatus(featureid: 16))
        await eventually("it is called") { second.lines == ["toggle 16 Enabled Activated"] }
        #expect(first.lines.count == 1)
        manager.setToggleConfigs(nil)
        manager.setFeatureEventListener(first)
        #expect(manager.checkFeatureStatus(featureid: 20))
        await eventually("it is called") { first.lines.last == "feature 20 0" }
        #expect(second.lines.count == 1)
    }
}
