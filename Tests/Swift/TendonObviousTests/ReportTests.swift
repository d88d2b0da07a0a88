// SPDX-License-Identifier: MIT
import ObviousTestSupport
import Tendon
import TendonObvious
import TestSupport
import Testing

/// Reports to the cloud: an update and an upgrade end after theirs.
@Suite(.timeLimit(.minutes(1))) struct ReportTests {
    private let image = (0..<8000).map { UInt8(truncatingIfNeeded: $0 * 7) }

    private func cloud(_ site: OcelotSite) -> ScriptedCloud {
        ScriptedCloud { script in
            script.updates = [42, 43, 44].map { .success(.package(site.signer.package([.init(20)], counter: $0))) }
            script.holdsReports = true
        }
    }

    @Test @TendonActor func theAsyncFormReturnsAfterTheReport() async throws {
        let site = try await OcelotSite()
        let cloud = cloud(site)
        let manager = site.manager(cloud)
        let end = Flag()
        let task = Task { @TendonActor in
            try await manager.updateFeatures()
            #expect(cloud.calls.madeReports == 1)
            end.set()
        }
        await eventually("the report begins") { cloud.calls.reports == [42] }
        // The operation is in progress: a busy manager answers what an idle one would do.
        await #expect(throws: OcelotError.busy) { _ = try await manager.featureStatuses(of: [16]) }
        #expect(!end.isSet)
        cloud.set { $0.holdsReports = false }
        try await task.value
        #expect(try await manager.featureStatuses(of: [20])[20]?.enableState == .Enabled)
    }

    /// Changes of features come after the end of the operation.
    @Test @TendonActor func theListenerIsCalledAfterTheReport() async throws {
        let site = try await OcelotSite()
        let (cloud, log) = (cloud(site), FeatureLog())
        let manager = site.manager(cloud, listener: log)
        #expect(manager.startFeatureUpdate())
        await eventually("the report begins") { cloud.calls.reports == [42] }
        await site.device.setFeature(20, isEnabled: true, toggle: .Deactivated)
        await #expect(throws: OcelotError.busy) { _ = try await manager.featureStatuses(of: [16]) }
        #expect(!manager.startFeatureUpdate() && log.lines == [])
        cloud.set { $0.holdsReports = false }
        await eventually("both are called") { log.lines.contains { $0.contains("20: Enabled Deactivated") } }
        #expect(log.lines.count > 1, "\(log.lines)")
        #expect(log.lines.first == "update SUCCESS", "\(log.lines)")
        #expect(log.lines.dropFirst().allSatisfy { $0.hasPrefix("toggledAll") })
        let told = log.lines.count
        #expect(manager.checkFeatureStatus(featureid: 16))
        await eventually("both are called") { log.lines.contains("feature 16 0") }
        await Loop.shared.run {}
        #expect(log.lines.dropFirst(told) == ["toggle 16 Disabled Unsupported", "feature 16 0"], "told once")
        #expect(cloud.calls.madeReports == 1)
    }

    @Test @TendonActor func aReportThatFailsIsMadeWithTheNextOne() async throws {
        let site = try await OcelotSite()
        let cloud = cloud(site)
        cloud.set {
            $0.holdsReports = false
            $0.reportError = ObviousCloudError(.network, "not reachable")
        }
        let manager = site.manager(cloud)
        try await manager.updateFeatures()
        #expect(cloud.calls.reports == [42] && cloud.calls.madeReports == 0)
        cloud.set { $0.reportError = nil }
        try await manager.updateFeatures()
        #expect(cloud.calls.reports == [42, 42, 43] && cloud.calls.madeReports == 2)
        try await manager.updateFeatures()
        #expect(cloud.calls.reports == [42, 42, 43, 44] && cloud.calls.madeReports == 3)
    }

    /// The clock of the test passes over the limit at once.
    @Test @TendonActor func aCloudThatDoesNotAnswerTheReport() async throws {
        let site = try await OcelotSite()
        let cloud = cloud(site)
        let (manager, clock) = (site.manager(cloud), TestClock())
        manager.getDeviceConnector().clock = clock
        try await manager.updateFeatures()
        #expect(clock.sleeps == [10_000])
        await eventually("the report ends") { cloud.calls.endedReports == 1 }
        cloud.set { $0.holdsReports = false }
        manager.getDeviceConnector().clock = SystemClock()
        try await manager.updateFeatures()
        #expect(cloud.calls.reports.suffix(2) == [42, 43] && cloud.calls.madeReports == 2)
    }

    /// An implementation of the application's that waits without looking at its task: neither the limit nor a
    /// cancellation of the caller waits for it.
    @Test @TendonActor func aCloudThatIgnoresTheLimit() async throws {
        let site = try await OcelotSite()
        let cloud = cloud(site)
        cloud.set { $0.ignoresCancellation = true }
        let manager = site.manager(cloud)
        manager.getDeviceConnector().clock = TestClock()
        let end = Flag()
        let task = Task { @TendonActor in
            defer { end.set() }
            try await manager.updateFeatures()
        }
        await eventually("the update ends") { end.isSet }
        await eventually("the report began") { cloud.calls.reports == [42] }
        #expect(cloud.calls.endedReports == 0)
        cloud.set { $0.holdsReports = false }
        await eventually("the report ends") { cloud.calls.endedReports == 1 }
        try await task.value
        // It came too late: it is made again with the next one.
        try await manager.updateFeatures()
        #expect(cloud.calls.reports == [42, 42, 43])
    }

    /// The update itself is done.
    @Test @TendonActor func aReportThatIsCancelled() async throws {
        let site = try await OcelotSite()
        let cloud = cloud(site)
        let manager = site.manager(cloud)
        let task = Task { @TendonActor in try await manager.updateFeatures() }
        await eventually("the report begins") { cloud.calls.reports == [42] }
        task.cancel()
        try await endsInTime(task).get()
        await eventually("the report ends") { cloud.calls.endedReports == 1 }
        cloud.set { $0.holdsReports = false }
        try await manager.updateFeatures()
        #expect(cloud.calls.reports == [42, 42, 43])

        let log = FeatureLog()
        cloud.set {
            $0.updates = [.success(.package(site.signer.package([.init(20)], counter: 44)))]
            $0.holdsReports = true
        }
        manager.setFeatureEventListener(log)
        #expect(manager.startFeatureUpdate())
        await eventually("the report begins") { cloud.calls.reports.last == 44 }
        manager.cancel()
        await eventually("it ends") { log.lines == ["update SUCCESS"] }
        #expect(manager.lastError == nil)
    }

    /// The report of a manager that is dropped is made nevertheless.
    @Test @TendonActor func theManagerIsDropped() async throws {
        let site = try await OcelotSite()
        let cloud = cloud(site)
        do {
            let manager = site.manager(cloud)
            #expect(manager.startFeatureUpdate())
            await eventually("the report begins") { cloud.calls.reports == [42] }
        }
        await eventually("its connection ends") { await site.device.connections == 0 }
        cloud.set { $0.holdsReports = false }
        await eventually("the report is made") { cloud.calls.madeReports == 1 }
    }

    @Test @TendonActor func ofFirmware() async throws {
        let site = try await OcelotSite()
        let cloud = site.cloud(offering: image)
        cloud.set { $0.holdsReports = true }
        let manager = site.firmwareManager(cloud)
        let task = Task { @TendonActor in try await manager.upgradeFirmware(appVersion: "1.0.0") }
        await eventually("the report begins") { cloud.calls.firmwareReports == ["SUCCESS"] }
        cloud.set { $0.holdsReports = false }
        try await task.value
        #expect(cloud.calls.madeReports == 1)
    }

    /// A device that does not accept the firmware.
    @Test @TendonActor func ofFirmwareThatFails() async throws {
        let site = try await OcelotSite()
        let cloud = site.cloud(offering: image)
        await site.device.answerWrongly(.session, count: 9)
        await #expect(throws: OcelotError.self) {
            try await site.firmwareManager(cloud).upgradeFirmware(appVersion: "1.0.0")
        }
        #expect(cloud.calls.firmwareReports == ["FAILED"] && cloud.calls.madeReports == 1)
    }
}
