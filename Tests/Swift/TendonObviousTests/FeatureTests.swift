// SPDX-License-Identifier: MIT
import ObviousTestSupport
import Tendon
import TestSupport
import Testing

@testable import TendonObvious

/// States and switches: the callbacks and their order are those of docs/protocols/obvious.md.
@Suite(.timeLimit(.minutes(1))) struct FeatureTests {
    @Test @TendonActor func theToggleListenerIsCalledFirst() async throws {
        let site = try await OcelotSite()
        let log = FeatureLog()
        let manager = site.manager(listener: log)
        try await manager.getDeviceConnector().openAndWait()
        #expect(manager.checkFeatureStatus(featureid: 16))
        #expect(log.lines == [])
        await eventually("both are called") { log.lines.count == 2 }
        #expect(log.lines == ["toggle 16 Enabled Activated", "feature 16 1"])
        #expect(manager.checkFeatureStatus(featureid: 20))
        await eventually("both are called") { log.lines.count == 4 }
        #expect(log.lines.suffix(2) == ["toggle 20 Disabled Unsupported", "feature 20 0"])
    }

    @Test @TendonActor func severalAreOneCall() async throws {
        let site = try await OcelotSite()
        let log = FeatureLog()
        let manager = site.manager(listener: log)
        try await manager.getDeviceConnector().openAndWait()
        #expect(manager.checkFeatureStatuses(featureIds: [20, 16, 17]))
        await eventually("it is called") { log.lines.count == 1 }
        #expect(
            log.lines == ["checked 16: Enabled Activated, 17: Enabled Deactivated, 20: Disabled Unsupported"])
    }

    @Test @TendonActor func moreThanOneRequestHolds() async throws {
        let site = try await OcelotSite { options in
            options.features = (1...130).map { .init(id: $0, isEnabled: $0 % 2 == 0) }
        }
        let manager = site.manager()
        try await manager.getDeviceConnector().openAndWait()
        let states = try await manager.featureStatuses(of: Array(1...130))
        #expect(states.count == 130)
        #expect(states[129] == .Disabled && states[130] == .Enabled(toggleState: .Unsupported))
    }

    @Test @TendonActor func aFeatureIsSwitched() async throws {
        let site = try await OcelotSite()
        let log = FeatureLog()
        let manager = site.manager(listener: log)
        try await manager.getDeviceConnector().openAndWait()
        #expect(manager.toggleFeature(featureid: 17))
        await eventually("it is called") { log.lines.count == 1 }
        #expect(manager.setToggleFeatureStatus(featureid: 17, toggleState: .Deactivated))
        await eventually("it is called") { log.lines.count == 2 }
        #expect(manager.setToggleStatuses(featureToggleStatuses: [16: .Deactivated, 17: .Activated]))
        await eventually("it is called") { log.lines.count >= 3 }
        #expect(
            log.lines.filter { !$0.hasPrefix("toggledAll 17: Enabled Activated") } == [
                "toggled 17 Enabled Activated", "toggled 17 Enabled Deactivated",
                "toggledAll 16: Enabled Deactivated, 17: Enabled Activated",
            ])
        #expect(await site.device.feature(16)?.toggle == .Deactivated)
        #expect(try await manager.toggle(16) == .Enabled(toggleState: .Activated))
        #expect(try await manager.setToggles([17: .Deactivated]) == [17: .Enabled(toggleState: .Deactivated)])
    }

    @Test(arguments: [20, 18]) @TendonActor func whatCannotBeSwitchedIsAFailure(id: Int) async throws {
        let site = try await OcelotSite()
        let log = FeatureLog()
        let manager = site.manager(listener: log)
        try await manager.getDeviceConnector().openAndWait()
        #expect(manager.toggleFeature(featureid: id))
        await eventually("it is called") { !log.lines.isEmpty }
        #expect(log.lines == ["failure"])
        #expect(manager.lastError != nil)
        // The next operation works.
        #expect(manager.checkFeatureStatus(featureid: 16))
        await eventually("both are called") { log.lines.count == 3 }
        #expect(manager.lastError == nil)
    }

    @Test @TendonActor func argumentsThatAreNotValidCallNobody() async throws {
        let site = try await OcelotSite()
        let log = FeatureLog()
        let manager = site.manager(listener: log)
        try await manager.getDeviceConnector().openAndWait()
        for id in [0, 1025, -1, 65536 + 16] {
            #expect(!manager.checkFeatureStatus(featureid: id))
            #expect(!manager.toggleFeature(featureid: id))
        }
        #expect(!manager.checkFeatureStatuses(featureIds: []))
        #expect(!manager.setToggleStatuses(featureToggleStatuses: [:]))
        #expect(!manager.setToggleFeatureStatus(featureid: 16, toggleState: .Unsupported))
        #expect(!manager.setToggleFeatureStatus(featureid: 16, toggleState: .Unknown))
        #expect(manager.lastError == .argument)
        await #expect(throws: OcelotError.argument) { _ = try await manager.featureStatuses(of: [0]) }
        #expect(log.lines == [])
    }

    /// The loop of the vendor's guide, in `onFeatureList`.
    @Test @TendonActor func aLoopOfChecks() async throws {
        let site = try await OcelotSite()
        let log = FeatureLog()
        let manager = site.manager(listener: log)
        try await manager.getDeviceConnector().openAndWait()
        log.onLine = { line in
            guard line.hasPrefix("list") else { return }
            for id in [16, 17, 20] { #expect(manager.checkFeatureStatus(featureid: id)) }
            #expect(!manager.checkFeatureStatus(featureid: 0) && manager.lastError == .argument)
        }
        #expect(manager.getFeatureList())
        await eventually("all are called") { log.lines.count == 7 }
        #expect(log.lines.filter { $0.hasPrefix("feature") } == ["feature 16 1", "feature 17 1", "feature 20 0"])
        #expect(manager.lastError == nil)
        // Another operation does not wait for them, and they do not wait for it.
        log.onLine = nil
        #expect(manager.checkFeatureStatus(featureid: 16) && manager.checkFeatureStatus(featureid: 17))
        #expect(!manager.toggleFeature(featureid: 17) && !manager.checkFeatureStatuses(featureIds: [16]))
        // What is cancelled is the loop: until this function waits, no response is received.
        manager.cancel()
        await eventually("each has ended") { log.lines.suffix(2) == ["failure", "failure"] }
        #expect(manager.lastError == .cancelled && log.lines.count == 9)
        // By its own listener.
        log.onLine = { line in
            if line.hasPrefix("feature 16") { manager.cancel() }
        }
        for id in [16, 17, 20] { #expect(manager.checkFeatureStatus(featureid: id)) }
        await eventually("the rest has ended") { log.lines.suffix(3) == ["feature 16 1", "failure", "failure"] }
        log.onLine = nil
        #expect(manager.toggleFeature(featureid: 17))
        #expect(!manager.checkFeatureStatus(featureid: 17) && manager.lastError == .busy)
        await eventually("switched") { log.lines.last?.hasPrefix("toggled 17") == true }
    }

    @Test @TendonActor func theErrorIsThatOfTheLastOperation() async throws {
        let site = try await OcelotSite()
        let log = FeatureLog()
        let manager = site.manager(listener: log)
        try await manager.getDeviceConnector().openAndWait()
        func fail() async {
            await #expect(throws: OcelotError.self) { _ = try await manager.toggle(20) }
            #expect(manager.lastError != nil)
        }
        await fail()
        _ = try await manager.featureStatuses(of: [16])
        #expect(manager.lastError == nil)
        await fail()
        _ = try await manager.deviceInfo()
        #expect(manager.lastError == nil)
        await fail()
        _ = try await manager.featureList()
        #expect(manager.lastError == nil)
        await fail()
        #expect(manager.getFeatureList())
        await eventually("listed") { log.lines.last?.hasPrefix("list") == true }
        #expect(manager.lastError == nil)
    }

    /// A connector that outlives its managers: nothing of them stays.
    @Test @TendonActor func managersOfASharedConnector() async throws {
        let connector = OcelotDeviceConnector()
        func use() {
            let manager = OcelotFeatureManager(cloud: ScriptedCloud())
            manager.setDeviceConnector(connector)
            #expect(!connector.core.changes.isEmpty)
        }
        use()
        await eventually("removed") { connector.core.changes.isEmpty }
    }

    @Test @TendonActor func oneOperationAtATime() async throws {
        let site = try await OcelotSite()
        let log = FeatureLog()
        let manager = site.manager(listener: log)
        try await manager.getDeviceConnector().openAndWait()
        // The next one from the callback of the last.
        log.onLine = { if $0 == "feature 16 1" { manager.checkFeatureStatus(featureid: 17) } }
        #expect(manager.checkFeatureStatus(featureid: 16))
        #expect(!manager.toggleFeature(featureid: 17))
        #expect(manager.lastError == .busy)
        #expect(!manager.startFeatureUpdate())
        await #expect(throws: OcelotError.busy) { _ = try await manager.deviceInfo() }
        await eventually("both are called") { log.lines.count == 4 }
        #expect(log.lines.suffix(2) == ["toggle 17 Enabled Deactivated", "feature 17 1"])
    }

    @Test @TendonActor func withoutAConnectionTheyFail() async throws {
        let site = try await OcelotSite()
        let log = FeatureLog()
        let manager = site.manager(listener: log)
        #expect(manager.checkFeatureStatus(featureid: 16))
        await eventually("it is called") { !log.lines.isEmpty }
        #expect(manager.getDeviceInfo(delegate: log))
        await eventually("it is called") { !log.infos.isEmpty }
        #expect(log.lines == ["failure"] && log.infos == [nil])
    }

    @Test @TendonActor func aChangeOnTheDevice() async throws {
        let site = try await OcelotSite()
        let log = FeatureLog()
        let manager = site.manager(listener: log)
        try await manager.getDeviceConnector().openAndWait()
        var updates = manager.updates.makeAsyncIterator()
        var others = manager.updates.makeAsyncIterator()
        await site.device.setFeature(20, isEnabled: true, toggle: .Activated)
        let expected = OcelotFeatureUpdate.toggledAll([20: .Enabled(toggleState: .Activated)])
        #expect(try await updates.next() == expected)
        #expect(try await others.next() == expected)
        await eventually("it is called") { !log.lines.isEmpty }
        #expect(log.lines == ["toggledAll 20: Enabled Activated"])
    }

    @Test @TendonActor func information() async throws {
        let site = try await OcelotSite { $0.battery = 63 }
        let log = FeatureLog()
        let manager = site.manager()
        try await manager.getDeviceConnector().openAndWait()
        #expect(manager.getDeviceInfo(delegate: log))
        await eventually("it is called") { !log.infos.isEmpty }
        let info = try #require(log.infos[0])
        #expect(info.serialNumber == "1122334455667788")
        #expect(info.firmwareVersion == "1.3.0")
        #expect(info.bootLoaderVersion == "1.0.2")
        #expect(info.softDeviceVersion == "6.1.1")
        #expect(info.battery == 63 && info.featureCounter == 41 && info.isProvisioned)
        #expect(try await manager.deviceInfo() == info)
    }

    @Test @TendonActor func anotherProduct() async throws {
        let site = try await OcelotSite()
        let manager = site.manager(productId: "1235")
        try await manager.getDeviceConnector().openAndWait()
        await #expect(throws: OcelotError.self) { _ = try await manager.deviceInfo() }
        let words = site.manager(productId: "a product")
        await #expect(throws: OcelotError.noProduct) { _ = try await words.deviceInfo() }
    }

    @Test @TendonActor func aDeviceThatSpeaksAnotherProtocol() async throws {
        let site = try await OcelotSite { $0.protocolVersion = 2 }
        let log = FeatureLog()
        let manager = site.manager(listener: log)
        let connector = manager.getDeviceConnector()
        await #expect(throws: OcelotError.self) { try await connector.openAndWait() }
        #expect(connector.state == .unusable)
        #expect(manager.checkFeatureStatus(featureid: 16))
        await eventually("it is called") { log.lines.count == 1 }
        #expect(manager.startFeatureUpdate())
        await eventually("it is called") { log.lines.count == 2 }
        #expect(manager.getDeviceInfo(delegate: log))
        await eventually("it is called") { log.infos.count == 1 }
        #expect(log.lines == ["failure", "update FAILED"] && log.infos == [nil])
        #expect(await site.device.counters.requests == 0)
        guard case .device(let error) = manager.lastError else {
            Issue.record("\(String(describing: manager.lastError))")
            return
        }
        #expect(error.layer == .obvious)
    }

    @Test @TendonActor func itCannotPair() async throws {
        let site = try await OcelotSite { $0.rejectsPairing = true }
        let manager = site.manager()
        await #expect(throws: OcelotError.self) { try await manager.getDeviceConnector().openAndWait() }
        #expect(await site.device.counters.requests == 0)
    }
}
