// SPDX-License-Identifier: MIT
import Foundation
import ObviousTestSupport
import Tendon
import TestSupport
import Testing

@testable import TendonObvious

/// A connection that the application owns: docs/protocols/obvious.md, "OcelotDeviceConnector".
@Suite(.timeLimit(.minutes(1))) struct ConnectorTests {
    private let status = "9C190003-C113-4E20-95F4-2602D4FC9F35"
    private let data = "9C190002-C113-4E20-95F4-2602D4FC9F35"

    @TendonActor private func managed(
        _ site: OcelotSite, _ log: FeatureLog, _ cloud: ScriptedCloud = ScriptedCloud()
    ) async throws -> (OcelotFeatureManager, HostApp) {
        let manager = OcelotFeatureManager(cloud: cloud, trust: site.signer.trust)
        manager.setFileCacheDirectory(site.cache)
        manager.setFeatureEventListener(log)
        manager.setToggleEventListener(log)
        return (manager, try await HostApp(site, manager.getDeviceConnector()))
    }

    @Test @TendonActor func constants() {
        #expect(OcelotDeviceConnector.CONNECTION_STATE_DISCONNECTED == 0)
        #expect(OcelotDeviceConnector.CONNECTION_STATE_CONNECTED == 2)
        #expect(OcelotDeviceConnector.CONNECTION_STATUS_SUCCESS == 0)
        #expect(OcelotDeviceConnector.CONNECTION_STATUS_FAILURE == 257)
        #expect(OcelotDeviceConnector.CONNECTION_STATUS_DISCONNECTED_BY_DEVICE == 19)
        #expect(OcelotServiceConstants.BLE_CHARACTERISTIC_OBVIOUS_DATA == data)
        #expect(OcelotServiceConstants.WRITE_DATA_SUCCESS == 0 && OcelotServiceConstants.WRITE_DATA_FAILURE == 1)
        #expect(OcelotServiceConstants.INVALID_FIRMWARE_VERSION == -1)
        let names = [
            "SUCCESS": 0, "SUCCESS_RESETTING": 1, "RESET_COMPLETE": 2, "CLEAR_SUCCESS": 3, "NOT_PROVISIONED": 10,
            "DOWNLOAD_FAILED": 11, "WRITE_FAILED": 12, "CLEAR_FAILED": 13, "FAILED": 14, "TIMEOUT": 15,
        ]
        for number in -1...20 {
            #expect(FeatureUpdateConstants.name(number) == names.first { $0.value == number }?.key)
            #expect(FeatureUpdateConstants.isStep(number) == (1...3).contains(number))
        }
        #expect(FeatureUpdateConstants.FEATUREUPDATE_NOT_PROVISIONED == 10)
        let steps = [
            "SUCCESS": 0, "START": 1, "DOWNLOAD_FAILED": 11, "WRITE_FAILED": 12, "FAILED": 14, "TIMEOUT": 15,
        ]
        for number in -1...20 {
            #expect(ProvisionUpdateConstants.name(number) == steps.first { $0.value == number }?.key)
        }
        let information = OcelotDeviceConnector().getServerInformation()
        #expect(information?.map(\.key.uuidString) == ["9C190001-C113-4E20-95F4-2602D4FC9F35"])
        #expect(information?.values.first?.map(\.uuidString) == [data, status])
    }

    @Test func values() {
        #expect(OcelotFeatureStatus.Disabled.toggleState == .Unsupported)
        #expect(OcelotFeatureStatus.Disabled.enableState == .Disabled)
        let unknown = OcelotFeatureStatus.Disabled(toggleState: .Unknown)
        #expect(unknown.enableState == .Unknown && unknown.getToggleState() == .Unknown)
        #expect(OcelotFeatureStatus.Enabled(toggleState: .Deactivated).getEnableState() == .Enabled)
        #expect(OcelotToggleStatus.allCases.map(\.rawValue) == [0, 1, 2, 255])
        #expect(OcelotEnableStatus.allCases.map(\.rawValue) == [0, 1, 255])
    }

    @Test @TendonActor func theApplicationConnects() async throws {
        let site = try await OcelotSite()
        let log = FeatureLog()
        let (manager, host) = try await managed(site, log)
        try await host.connect()
        manager.onConnectionStateChange(
            OcelotDeviceConnector.CONNECTION_STATUS_SUCCESS, OcelotDeviceConnector.CONNECTION_STATE_CONNECTED)
        await eventually("the session is open") { host.connector.state == .connected }
        #expect(host.requests == ["read \(status)", "write \(data)"])
        #expect(manager.checkFeatureStatus(featureid: 16))
        await eventually("both are called") { log.lines.count == 2 }
        #expect(log.lines == ["toggle 16 Enabled Activated", "feature 16 1"])
        #expect(try await manager.deviceInfo().serialNumber == "1122334455667788")
    }

    /// An update asks the application to connect, and again after the device has restarted.
    @Test @TendonActor func anUpdateConnects() async throws {
        let site = try await OcelotSite()
        let package = site.signer.package([.init(20)], kind: 2, counter: 42, reboots: true)
        let cloud = ScriptedCloud { $0.updates = [.success(.package(package))] }
        let log = FeatureLog()
        let (manager, host) = try await managed(site, log, cloud)
        #expect(manager.startFeatureUpdate())
        await eventually("the update ends") { log.lines.last == "update SUCCESS" }
        #expect(log.lines == ["update SUCCESS_RESETTING", "update RESET_COMPLETE", "update SUCCESS"])
        #expect(host.requests.filter { $0 == "connect" }.count == 2)
        #expect(await site.device.feature(20)?.isEnabled == true)
    }

    /// An upgrade continues in another program, with the address of the device and without it.
    @Test(arguments: [true, false]) @TendonActor func anUpgradeContinuesAfterARestart(_ namesDevice: Bool) async throws
    {
        let site = try await OcelotSite()
        let image = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        let cloud = site.cloud(offering: image)
        func started() async throws -> (OcelotFirmwareManager, HostApp) {
            let manager = OcelotFirmwareManager(cloud: cloud, trust: site.signer.trust)
            manager.setFileCacheDirectory(site.cache)
            let host = try await HostApp(site, manager.getDeviceConnector())
            host.namesDevice = namesDevice
            return (manager, host)
        }
        do {
            let (manager, host) = try await started()
            let end = await CutShort().upgrade(manager)
            #expect(throws: OcelotError.self) { try end.get() }
            await host.close()
        }
        await eventually("its connection ends") { await site.device.connections == 0 }
        let before = await site.device.counters.dataBytes
        let (manager, host) = try await started()
        try await manager.upgradeFirmware(appVersion: "1.0.0")
        #expect(await site.device.firmware == 1_004_000)
        let sent = await site.device.counters.dataBytes - before
        #expect(sent < UInt64(image.count), "\(sent)")
        let records = try FileManager.default.contentsOfDirectory(atPath: site.cache + "/journal").filter {
            $0 != "lock"
        }
        let serial = ["obvious1122-334455667788-0"]
        #expect((records == serial) == !namesDevice && records.count == 1, "\(records)")
        await host.close()
    }

    /// The vendor's guide reports the connection in `didConnect`, and discovers the characteristics then.
    @Test @TendonActor func theApplicationDiscoversLater() async throws {
        let site = try await OcelotSite()
        let log = FeatureLog()
        let (manager, host) = try await managed(site, log)
        host.reportsFirst = true
        try await host.connect()
        await eventually("the session is open") { host.connector.state != .connecting }
        #expect(host.connector.state == .connected)
        #expect(
            host.requests.prefix(2) == ["read \(status)", "read \(status)"] && host.requests.last == "write \(data)")
        #expect(manager.startFeatureUpdate())
        await eventually("the update ends") { log.lines.last == "update SUCCESS" }
        await host.close()
    }

    @Test @TendonActor func withoutTheCharacteristic() async throws {
        let site = try await OcelotSite()
        let log = FeatureLog()
        let (manager, host) = try await managed(site, log)
        host.readsStatus = false
        try await host.connect()
        #expect(manager.checkFeatureStatus(featureid: 16))
        await eventually("it is called") { !log.lines.isEmpty }
        #expect(log.lines == ["failure"])
        #expect(host.requests.allSatisfy { $0 == "read \(status)" })
        #expect(await site.device.counters.requests == 0)
    }

    @Test @TendonActor func theFirstWriteIsNotSent() async throws {
        let site = try await OcelotSite()
        let log = FeatureLog()
        let (manager, host) = try await managed(site, log)
        host.sends = 0
        try await host.connect()
        #expect(manager.startFeatureUpdate())
        await eventually("it is called") { !log.lines.isEmpty }
        #expect(log.lines == ["update FAILED"])
        guard case .update(_, let cause?) = manager.lastError else {
            Issue.record("\(String(describing: manager.lastError))")
            return
        }
        #expect(cause.layer == .obvious)
        #expect(await site.device.counters.requests == 0)
    }

    /// One connector of an application that does not say which device it is has the record of each.
    @Test @TendonActor func anUpgradeContinuesAfterAnotherDevice() async throws {
        let (site, other) = (try await OcelotSite(), try await OcelotSite { $0.serial = 7 })
        let image = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        let manager = OcelotFirmwareManager(cloud: site.cloud(offering: image), trust: site.signer.trust)
        manager.setFileCacheDirectory(site.cache)
        let connector = manager.getDeviceConnector()
        let host = try await HostApp(site, connector)
        let end = await CutShort().upgrade(manager)
        #expect(throws: OcelotError.self) { try end.get() }
        await host.close()
        await eventually("its connection ends") { await site.device.connections == 0 }
        let second = try await HostApp(other, connector)
        try await connector.openAndWait()
        _ = try await manager.availableFirmware(appVersion: "1.0.0")
        await second.close()
        await eventually("its connection ends") { connector.state == .disconnected }
        let before = await site.device.counters.dataBytes
        let third = try await HostApp(site, connector)
        try await manager.upgradeFirmware(appVersion: "1.0.0")
        #expect(await site.device.counters.dataBytes - before < UInt64(image.count))
        await third.close()
    }

    /// A device with other UUIDs: its status is read, and its data is written.
    @Test @TendonActor func aDeviceWithOtherUUIDs() async throws {
        let directory = RadioDirectory()
        let written = Flag()
        let status = LocalCharacteristic(
            "fe03", properties: .read, value: Array("OGP".utf8) + [1, 0, 0], requiresEncryption: true)
        let data = LocalCharacteristic(
            "fe02", properties: [.writeWithoutResponse, .notify], requiresEncryption: true,
            onWrite: { _, request throws(AttributeError) in
                // The first segment of HELLO.
                if request.value.first == 0x78 { written.set() }
            })
        let device = try await LocalPeripheral(
            name: "other", services: [LocalService("fe01", [data, status])], interval: .milliseconds(20),
            radio: directory.radio, address: directory.address, bonds: .memory)
        try device.start()
        let connector = OcelotDeviceConnector(
            to: directory.address, productId: "1234", radio: directory.radio, bonds: .memory,
            uuids: OcelotUUIDs(service: "fe01", data: "fe02", status: "fe03"))
        let opening = Task { @TendonActor in try await connector.openAndWait() }
        await eventually("HELLO is sent") { written.isSet }
        opening.cancel()
        _ = await opening.result
        await device.stop()
    }

    @Test @TendonActor func withoutAProduct() async throws {
        let site = try await OcelotSite()
        let log = FeatureLog()
        let (manager, host) = try await managed(site, log)
        host.productId = nil
        try await host.connect()
        #expect(manager.checkFeatureStatus(featureid: 16))
        await eventually("it is called") { !log.lines.isEmpty }
        #expect(log.lines == ["failure"] && manager.lastError == .noProduct)
        #expect(manager.getFeatureList())
        await eventually("it is called") { log.lines.count == 2 }
        #expect(log.lines.last == "list nil")
    }

    @Test @TendonActor func withoutACallback() async throws {
        let manager = OcelotFeatureManager(cloud: ScriptedCloud())
        await #expect(throws: OcelotError.noProduct) { try await manager.updateFeatures() }
        let task = Task { @TendonActor in try await manager.getDeviceConnector().openAndWait() }
        await Loop.shared.run {}
        task.cancel()
        _ = await endsInTime(task)
    }

    @Test @TendonActor func theApplicationDisconnects() async throws {
        let site = try await OcelotSite()
        let log = FeatureLog()
        let (manager, host) = try await managed(site, log, ScriptedCloud { $0.isSilent = true })
        try await host.connect()
        await eventually("the session is open") { host.connector.state == .connected }
        #expect(manager.startFeatureUpdate())
        host.connector.onConnectionStateChange(
            OcelotDeviceConnector.CONNECTION_STATUS_DISCONNECTED_BY_DEVICE,
            OcelotDeviceConnector.CONNECTION_STATE_DISCONNECTED)
        await eventually("the update ends") { !log.lines.isEmpty }
        #expect(log.lines == ["update FAILED"])
        #expect(host.connector.state == .disconnected)
    }

    @Test @TendonActor func theConnectorDisconnects() async throws {
        let site = try await OcelotSite()
        let (_, host) = try await managed(site, FeatureLog())
        try await host.connect()
        await eventually("the session is open") { host.connector.state == .connected }
        host.connector.disconnect()
        await eventually("the application was asked") { host.requests.last == "disconnect" }
        await eventually("the connection ends") { await site.device.connections == 0 }
        try await host.connector.openAndWait()
        #expect(host.requests.contains("connect"))
    }

    /// The functions of both managers are the connector's.
    @Test @TendonActor func managersPassOnTheConnection() async {
        let (features, firmware) = (
            OcelotFeatureManager(cloud: ScriptedCloud()), OcelotFirmwareManager(cloud: ScriptedCloud())
        )
        for (connector, change) in [
            (features.getDeviceConnector(), features.onConnectionStateChange),
            (firmware.getDeviceConnector(), firmware.onConnectionStateChange),
        ] {
            let host = SilentHost()
            connector.setConnectorCallback(host)
            change(
                OcelotDeviceConnector.CONNECTION_STATUS_SUCCESS, OcelotDeviceConnector.CONNECTION_STATE_CONNECTED)
            await eventually("the device is read") { host.requests == ["read"] }
            #expect(connector.state == .connecting)
        }
    }

    /// A read that failed counts if it was the status that was read.
    @Test @TendonActor func aReadThatFails() async {
        let (host, connector) = (SilentHost(), OcelotDeviceConnector())
        connector.setConnectorCallback(host)
        connector.onConnectionStateChange(
            OcelotDeviceConnector.CONNECTION_STATUS_SUCCESS, OcelotDeviceConnector.CONNECTION_STATE_CONNECTED)
        await eventually("the device is read") { host.requests == ["read"] }
        for other in [data, "no uuid"] {
            connector.onReadStatus(other, 0x0A)
            await Loop.shared.run {}
            #expect(connector.state == .connecting && host.requests == ["read"])
        }
        connector.onReadStatus(status, 0x0A)
        await eventually("the attempt has ended") { connector.state != .connecting }
    }

    /// A connector that is dropped asks the application to disconnect. Then nothing of it is left.
    @Test @TendonActor func aConnectorThatIsDropped() async throws {
        let host = SilentHost()
        weak var core: OcelotCore?
        do {
            let connector = OcelotDeviceConnector()
            core = connector.core
            connector.setConnectorCallback(host)
            connector.onConnectionStateChange(
                OcelotDeviceConnector.CONNECTION_STATUS_SUCCESS, OcelotDeviceConnector.CONNECTION_STATE_CONNECTED)
            await eventually("the application was asked") { host.requests == ["read"] }
            #expect(connector.state == .connecting)
        }
        await eventually("the application was asked") { host.requests == ["read", "disconnect"] }
        await eventually("released") { core == nil }
        core = OcelotDeviceConnector().core
        await eventually("one that was never connected is released") { core == nil }
    }
}
