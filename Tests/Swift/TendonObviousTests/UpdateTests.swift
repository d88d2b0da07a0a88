// SPDX-License-Identifier: MIT
import ObviousTestSupport
import Tendon
import TendonObvious
import TestSupport
import Testing

/// Feature updates: the orders of callbacks of docs/protocols/obvious.md.
@Suite(.timeLimit(.minutes(1))) struct UpdateTests {
    /// Runs an update and returns what the listener received.
    @TendonActor private func lines(
        _ site: OcelotSite, _ cloud: ScriptedCloud, isLast: @escaping (String) -> Bool = { _ in true }
    ) async -> (lines: [String], manager: OcelotFeatureManager) {
        let log = FeatureLog()
        let manager = site.manager(cloud, listener: log)
        #expect(manager.startFeatureUpdate())
        #expect(log.lines == [])
        await eventually("the update ends") {
            guard let last = log.lines.last, last.hasPrefix("update ") else { return false }
            return !["RESETTING", "COMPLETE", "CLEAR_SUCCESS"].contains { last.hasSuffix($0) }
        }
        return (log.lines, manager)
    }

    @Test @TendonActor func nothingNew() async throws {
        let site = try await OcelotSite()
        let cloud = ScriptedCloud()
        let (lines, manager) = await lines(site, cloud)
        #expect(lines == ["update SUCCESS"])
        #expect(manager.lastError == nil)
        let query = try #require(cloud.calls.updates.first)
        #expect(query.serialNumber == "1122334455667788" && query.productId == "1234" && query.counter == 41)
        #expect(query.nonce?.count == 16 && query.firmwareVersion == "1.3.0" && query.appVersion == "1.0.0")
    }

    @Test @TendonActor func aPackage() async throws {
        let site = try await OcelotSite()
        let package = site.signer.package([.init(16), .init(20, toggle: 1)], counter: 42)
        let cloud = ScriptedCloud { $0.updates = [.success(.package(package))] }
        #expect(await lines(site, cloud).lines == ["update SUCCESS"])
        #expect(await site.device.counter == 42)
        #expect(await site.device.feature(20)?.isEnabled == true)
        await eventually("it is reported") { cloud.calls.reports == [42] }
    }

    @Test @TendonActor func thatRestartsTheDevice() async throws {
        let site = try await OcelotSite()
        let package = site.signer.package([.init(20)], kind: 2, counter: 42, reboots: true)
        let cloud = ScriptedCloud { $0.updates = [.success(.package(package))] }
        #expect(
            await lines(site, cloud).lines == [
                "update SUCCESS_RESETTING", "update RESET_COMPLETE", "update SUCCESS",
            ])
        #expect(await site.device.counters.boots == 2)
    }

    @Test @TendonActor func thatRemovesAllFeatures() async throws {
        let site = try await OcelotSite()
        let cloud = ScriptedCloud {
            $0.updates = [.success(.package(site.signer.package(kind: 3, counter: 42)))]
        }
        #expect(await lines(site, cloud).lines == ["update CLEAR_SUCCESS", "update SUCCESS"])
        #expect(await site.device.feature(16)?.isEnabled != true)
    }

    @Test @TendonActor func provisioningComesFirst() async throws {
        let site = try await OcelotSite { $0.isProvisioned = false }
        let cloud = ScriptedCloud {
            $0.provisioning = .success(site.signer.package(kind: 4, counter: 42))
            $0.updates = [.success(.package(site.signer.package([.init(20)], counter: 43)))]
        }
        #expect(
            await lines(site, cloud).lines == ["provisioning START", "provisioning SUCCESS", "update SUCCESS"])
        #expect(await site.device.isProvisioned)
        #expect(cloud.calls.provisioned == ["1122334455667788"])
    }

    @Test @TendonActor func thatTheCloudDoesNotPermit() async throws {
        let site = try await OcelotSite { $0.isProvisioned = false }
        #expect(
            await lines(site, ScriptedCloud()).lines == [
                "provisioning START", "provisioning FAILED", "update NOT_PROVISIONED",
            ])
        let others = try await OcelotSite()
        let cloud = ScriptedCloud { $0.updates = [.success(.notProvisioned(inField: false))] }
        #expect(await lines(others, cloud).lines == ["update NOT_PROVISIONED"])
    }

    /// A wrong API key is answered with 403, too: nothing about the device.
    @Test(arguments: [nil, "FORBIDDEN", "IN_FIELD_NOT_ALLOWED"])
    @TendonActor func thatTheCloudDoesNotLetUsAskFor(_ code: String?) async throws {
        let site = try await OcelotSite()
        let error = ObviousCloudError(.http, "refused", httpStatus: 403, code: code)
        let cloud = ScriptedCloud { $0.updates = [.failure(error)] }
        let (lines, manager) = await lines(site, cloud)
        #expect(lines == ["update DOWNLOAD_FAILED"])
        #expect(manager.lastError == .cloud(error))
    }

    /// Provisioning that fails with 403 for another reason is not forbidden.
    @Test(arguments: [nil, "FORBIDDEN"])
    @TendonActor func provisioningThatTheKeyDoesNotPermit(_ code: String?) async throws {
        let site = try await OcelotSite { $0.isProvisioned = false }
        let error = ObviousCloudError(.http, "refused", httpStatus: 403, code: code)
        let cloud = ScriptedCloud { $0.provisioning = .failure(error) }
        let (lines, manager) = await lines(site, cloud)
        #expect(lines == ["provisioning START", "provisioning DOWNLOAD_FAILED", "update FAILED"])
        #expect(manager.lastError == .cloud(error))
    }

    @Test @TendonActor func packagesThatAreNotForTheDevice() async throws {
        let site = try await OcelotSite()
        let good = site.signer.package([.init(20)], counter: 42)
        var bytes = good.bytes
        bytes[62] ^= 1
        let packages = [
            FeaturePackage(bytes: bytes, counter: 42, sha256: sha256(bytes)),
            FeaturePackage(bytes: Array(good.bytes.dropLast()), counter: 42, sha256: []),
            site.signer.package([.init(20)], counter: 41), site.signer.package(counter: 42, serial: 7),
            site.signer.package(counter: 42, product: 7), Signer(9).package([.init(20)], counter: 42),
        ]
        for package in packages {
            let cloud = ScriptedCloud { $0.updates = [.success(.package(package))] }
            let (lines, manager) = await lines(site, cloud)
            #expect(lines == ["update DOWNLOAD_FAILED"])
            guard case .update(FeatureUpdateConstants.DOWNLOAD_FAILED, let cause?) = manager.lastError else {
                Issue.record("\(String(describing: manager.lastError))")
                continue
            }
            #expect(cause.layer == .obvious)
        }
        #expect(await site.device.counters.dataBytes == 0)
    }

    @Test @TendonActor func withoutKeysNothingIsAccepted() async throws {
        let site = try await OcelotSite()
        let cloud = ScriptedCloud {
            $0.updates = [.success(.package(site.signer.package([.init(20)], counter: 42)))]
        }
        let trust = ObviousTrust(keys: [], cryptography: site.signer.trust.cryptography)
        let manager = OcelotFeatureManager(cloud: cloud, trust: trust)
        manager.setDeviceConnector(site.manager().getDeviceConnector())
        await #expect(throws: OcelotError.self) { try await manager.updateFeatures() }
        #expect(await site.device.counters.dataBytes == 0)
    }

    /// A device that reports a lower counter than that of the last package gets no older package.
    @Test @TendonActor func aPackageThatWasAppliedIsNotAppliedAgain() async throws {
        let site = try await OcelotSite()
        let package = site.signer.package([.init(20)], counter: 43)
        let cloud = ScriptedCloud { $0.updates = [.success(.package(package))] }
        let manager = site.manager(cloud)
        try await manager.updateFeatures()
        cloud.set { $0.updates = [.success(.package(site.signer.package([.init(20)], counter: 42)))] }
        await #expect(throws: OcelotError.self) { try await manager.updateFeatures() }
        #expect(await site.device.counter == 43)
    }

    /// A device that has forgotten the counter of the last package.
    @Test @TendonActor func aDeviceThatForgot() async throws {
        let site = try await OcelotSite()
        let cloud = ScriptedCloud {
            $0.updates = [43, 42].map { .success(.package(site.signer.package([.init(20)], counter: $0))) }
        }
        let manager = site.manager(cloud)
        let central = try await Central(radio: site.radio, bonds: .memory)
        manager.setDeviceConnector(
            OcelotDeviceConnector(to: site.device.address, productId: "1234", on: central))
        try await manager.updateFeatures()
        manager.getDeviceConnector().disconnect()
        await site.device.stop()
        await eventually("its connection ends") { await site.device.connections == 0 }
        try central.forget(site.device.address)  // the second device does not have the key either
        let second = try await site.secondDevice()
        await #expect(throws: OcelotError.self) { try await manager.updateFeatures() }
        #expect(cloud.calls.updates.count == 2)
        #expect(await second.counter == 41)
    }

    @Test @TendonActor func theCloudFails() async throws {
        let site = try await OcelotSite()
        let error = ObviousCloudError(.network, "not reachable")
        let (lines, manager) = await lines(site, ScriptedCloud { $0.error = error })
        #expect(lines == ["update DOWNLOAD_FAILED"])
        #expect(manager.lastError == .cloud(error))
    }

    @Test @TendonActor func theDeviceRefuses() async throws {
        let site = try await OcelotSite()
        let cloud = ScriptedCloud {
            $0.updates = [.success(.package(site.signer.package([.init(20)], counter: 42)))]
        }
        await site.device.answerWrongly(.session, count: 9)
        #expect(await lines(site, cloud).lines == ["update WRITE_FAILED"])
    }

    @Test @TendonActor func theDeviceIsNotThere() async throws {
        let site = try await OcelotSite()
        await site.device.stop()
        let log = FeatureLog()
        let manager = site.manager(listener: log)
        #expect(manager.startFeatureUpdate())
        manager.cancel()
        await eventually("the update ends") { !log.lines.isEmpty }
        #expect(log.lines == ["update FAILED"] && manager.lastError == .cancelled)
    }

    @Test @TendonActor func stepsOfTheAsyncForm() async throws {
        let site = try await OcelotSite { $0.isProvisioned = false }
        let cloud = ScriptedCloud {
            $0.provisioning = .success(site.signer.package(kind: 4, counter: 42))
            $0.updates = [.success(.nothingNew)]
        }
        let log = FeatureLog()
        let manager = site.manager(cloud, listener: log)
        var steps: [OcelotFeatureUpdate] = []
        try await manager.updateFeatures { steps.append($0) }
        await eventually("all steps are reported") { steps.count == 3 }
        #expect(
            steps == [
                .provisioningStatus(ProvisionUpdateConstants.START),
                .provisioningStatus(ProvisionUpdateConstants.SUCCESS),
                .updateStatus(FeatureUpdateConstants.SUCCESS),
            ])
        #expect(log.lines == [])
    }

    // MARK: Lists

    @Test @TendonActor func theListOfFeatures() async throws {
        let site = try await OcelotSite()
        let cloud = ScriptedCloud()
        let log = FeatureLog()
        let manager = site.manager(cloud, listener: log)
        manager.setAPIKey("key")
        #expect(manager.getFeatureList())
        #expect(!manager.getFeatureList())
        await eventually("it is called") { !log.lines.isEmpty }
        #expect(log.lines == ["list Led=16 Zoom=20"])
        #expect(cloud.calls.products == ["1234"] && cloud.calls.keys == [ObviousAPIKey("key")])
        cloud.set { $0.error = ObviousCloudError(.http, "no", httpStatus: 500) }
        #expect(manager.getFeatureList())
        await eventually("it is called") { log.lines.count == 2 }
        #expect(log.lines.last == "list nil")
        #expect(manager.lastError == .cloud(ObviousCloudError(.http, "no", httpStatus: 500)))
        manager.setAPIKey("not a key")
        await #expect(throws: OcelotError.cloud(.noAPIKey)) { _ = try await manager.featureList() }
    }

    // MARK: Ends

    @Test @TendonActor func aCancelledUpdateFreesTheDevice() async throws {
        let site = try await OcelotSite()
        let cloud = ScriptedCloud { $0.isSilent = true }
        let manager = site.manager(cloud)
        let task = Task { @TendonActor in try await manager.updateFeatures() }
        await eventually("the cloud is asked") { !cloud.calls.updates.isEmpty }
        task.cancel()
        let result = await endsInTime(task)
        guard case .failure(OcelotError.cancelled) = result else {
            Issue.record("\(result)")
            return
        }
        cloud.set { $0.isSilent = false }
        try await manager.updateFeatures()
    }

    /// The application disconnects while the cloud is asked: neither the cloud nor the caller is left waiting.
    @Test @TendonActor func disconnectedWhileTheCloudIsAsked() async throws {
        let site = try await OcelotSite()
        let cloud = ScriptedCloud { $0.isSilent = true }
        let manager = site.manager(cloud)
        let task = Task { @TendonActor in try await manager.updateFeatures() }
        await eventually("the cloud is asked") { !cloud.calls.updates.isEmpty }
        manager.getDeviceConnector().disconnect()
        guard case .failure(OcelotError.cancelled) = await task.result else {
            Issue.record("it is cancelled")
            return
        }
        await eventually("the cloud is not asked any more") { cloud.calls.cancelled == 1 }
    }

    /// A radio that does not open says so itself.
    @Test @TendonActor func aRadioThatDoesNotOpen() async {
        let connector = OcelotDeviceConnector(
            to: Address(0xD000_0000_0000, type: .random), productId: "1234",
            radio: .virtual(directory: "/proc/no-such-directory"), bonds: .memory)
        do throws(OcelotError) {
            try await connector.openAndWait()
            Issue.record("it opens")
        } catch .device(let error) {
            #expect(error.operation == .openRadio)
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test @TendonActor func nothingIsLeftOfWhatIsAbandoned() async throws {
        let site = try await OcelotSite()
        let manager = site.manager(ScriptedCloud())
        try await manager.updateFeatures()
        let connector = Mirror(reflecting: manager.getDeviceConnector())
        let core = try #require(connector.descendant("lifetime", "core") as? any Abandonable)
        let transport = try #require(Mirror(reflecting: core).descendant("transport", "some"))
        #expect(leftovers(of: core) == ["changes", "states", "abandoned"])
        core.abandon()
        #expect(leftovers(of: core) == [])
        #expect(leftovers(of: transport) == [])
        await eventually("the connection ends") { await site.device.connections == 0 }
    }

    @Test @TendonActor func aManagerThatIsDropped() async throws {
        let site = try await OcelotSite()
        let log = FeatureLog()
        do {
            let manager = site.manager(ScriptedCloud { $0.isSilent = true }, listener: log)
            try await manager.getDeviceConnector().openAndWait()
            #expect(manager.startFeatureUpdate())
        }
        await eventually("its connection ends") { await site.device.connections == 0 }
        #expect(log.lines == [])
    }

    @Test @TendonActor func aListenerIsAWeakReference() async throws {
        let site = try await OcelotSite()
        let manager = site.manager(listener: FeatureLog())
        var updates = manager.updates.makeAsyncIterator()
        #expect(manager.startFeatureUpdate())
        #expect(try await updates.next() == .updateStatus(FeatureUpdateConstants.SUCCESS))
    }

    @Test @TendonActor func afterADisconnectionTheConnectorIsUsedAgain() async throws {
        let site = try await OcelotSite()
        let manager = site.manager()
        let connector = manager.getDeviceConnector()
        var states = connector.states.makeAsyncIterator()
        try await connector.openAndWait()
        connector.disconnect()
        try await connector.openAndWait()
        #expect(try await manager.featureStatuses(of: [16]).count == 1)
        var seen: [OcelotDeviceConnector.State] = []
        while seen.count < 5, let state = await states.next() { seen.append(state) }
        #expect(seen == [.connecting, .connected, .disconnected, .connecting, .connected])
    }
}
