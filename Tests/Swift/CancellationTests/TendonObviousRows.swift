// SPDX-License-Identifier: MIT
import ObviousTestSupport
import Tendon
import TendonObvious
import TestSupport
import Testing

/// A cloud whose calls do not end by themselves.
private struct SilentCloud: ObviousCloudService {
    private func wait() async throws(ObviousCloudError) -> Never {
        while true {
            do {
                try await Task.sleep(for: .seconds(3600))
            } catch {
                throw .cancelled
            }
        }
    }

    func features(productId: String, key: ObviousAPIKey?) async throws(ObviousCloudError) -> [ObviousFeature] {
        try await wait()
    }
    func featureUpdate(_ query: FeatureUpdateQuery, key: ObviousAPIKey?) async throws(ObviousCloudError)
        -> FeatureUpdateAnswer
    { try await wait() }
    func reportFeatureUpdate(serialNumber: String, counter: UInt64, status: Int, key: ObviousAPIKey?)
        async throws(ObviousCloudError)
    { try await wait() }
    func provision(serialNumber: String, productId: String, nonce: [UInt8]?, key: ObviousAPIKey?)
        async throws(ObviousCloudError) -> FeaturePackage
    { try await wait() }
    func latestFirmware(_ query: FirmwareQuery, key: ObviousAPIKey?) async throws(ObviousCloudError) -> FirmwareRelease?
    {
        try await wait()
    }
    func downloadImage(
        of release: FirmwareRelease, to path: String, key: ObviousAPIKey?, progress: (@Sendable (Int) -> Void)?
    ) async throws(ObviousCloudError) { try await wait() }
    func reportFirmware(serialNumber: String, versionCode: Int64, status: String, key: ObviousAPIKey?)
        async throws(ObviousCloudError)
    { try await wait() }
    func defaultCatalog(productId: String?, key: ObviousAPIKey?) async throws(ObviousCloudError) -> [CatalogItem] {
        try await wait()
    }
    func checkout(items: [Int], serialNumber: String, productIdentifier: String, key: ObviousAPIKey?)
        async throws(ObviousCloudError) -> ObviousCart
    { try await wait() }
    func pay(_ payment: PaymentRequest, card: PaymentCard, idempotencyKey: String, key: ObviousAPIKey?)
        async throws(ObviousCloudError) -> PaymentOutcome
    { try await wait() }
    func authenticate(cartId: Int, paymentSecret: String, key: ObviousAPIKey?) async throws(ObviousCloudError)
        -> PaymentOutcome
    { try await wait() }
}

private let item = CatalogItem(
    id: 7, name: "Led", description: "", itemprice: "4.99", imageurl: "", thumbnailurl: "", currency: "USD",
    featureIds: [16])

private func shop(
    _ name: String, _ body: @escaping @TendonActor (OcelotCatalogInteractor, OcelotPaymentClient) async throws -> Void
) -> Row {
    Row(name) { moment in
        let interactor = await OcelotCatalogInteractor(cloud: SilentCloud())
        let client = await OcelotPaymentClient.getPaymentClient(obviousClient: interactor, listener: nil)
        await expectCancelled(ObviousCloudError.self, moment, device: nil, mayFinish: false) {
            try await body(interactor, client)
        }
    }
}

/// A manager on a central, connected to a device on a loop of its own; afterwards the device has no connection, and
/// nothing of the central's radio is left.
private func withDevice(
    connects: Bool = true, _ body: (OcelotFeatureManager, OcelotDeviceConnector, Loop) async throws -> Void
) async throws {
    let site = try await OcelotSite()
    let weakly: WeakReference
    do {
        let central = try await Central(radio: site.radio, bonds: .memory)
        weakly = WeakReference(central.core)
        let connector = await OcelotDeviceConnector(to: site.device.address, productId: "1234", on: central)
        let manager = await OcelotFeatureManager(cloud: ScriptedCloud(), trust: site.signer.trust)
        await manager.setDeviceConnector(connector)
        if connects { try await connector.openAndWait() }
        try await body(manager, connector, site.loop)
    }
    await expectReleased({ weakly.object }, "a connection, a search or a request is left")
    await eventually("the device still has a connection") { await site.device.connections == 0 }
    await site.device.stop()
}

private func firmware(
    _ name: String, _ body: @escaping @TendonActor (OcelotFirmwareManager) async throws(OcelotError) -> Void
) -> Row {
    Row(name) { moment in
        try await withDevice { features, connector, loop in
            let manager = await OcelotFirmwareManager(cloud: ScriptedCloud())
            await manager.setDeviceConnector(connector)
            await expectCancelled(OcelotError.self, moment, device: loop, mayFinish: moment != .silent) {
                do throws(OcelotError) {
                    try await body(manager)
                } catch .upgrade {
                    // There is no newer firmware.
                }
            }
            let states = try await features.featureStatuses(of: [16])
            #expect(states.count == 1)
        }
    }
}

private func operation(
    _ name: String, _ body: @escaping @TendonActor (OcelotFeatureManager) async throws -> Void
) -> Row {
    Row(name) { moment in
        try await withDevice { manager, _, loop in
            await expectCancelled(OcelotError.self, moment, device: loop, mayFinish: moment != .silent) {
                try await body(manager)
            }
            // The connection works as before.
            let states = try await manager.featureStatuses(of: [16, 17])
            #expect(states.count == 2)
        }
    }
}

let tendonObviousRows: [Row] = [
    Row("OcelotDeviceConnector.openAndWait()") { moment in
        try await withDevice(connects: false) { manager, connector, loop in
            await expectCancelled(OcelotError.self, moment, device: loop, mayFinish: moment != .silent) {
                try await connector.openAndWait()
            }
            try await connector.openAndWait()
            let states = try await manager.featureStatuses(of: [16])
            #expect(states.count == 1)
        }
    },
    Row("OcelotDeviceConnector.closeAndWait()") { moment in
        try await withDevice { _, connector, loop in
            await expectReturned(moment, device: loop) { await connector.closeAndWait() }
            await eventually("the connection ends") { await connector.state == .disconnected }
        }
    },
    operation("OcelotFeatureManager.updateFeatures(onStep:)") { try await $0.updateFeatures() },
    operation("OcelotFeatureManager.featureStatuses(of:)") { _ = try await $0.featureStatuses(of: [16]) },
    operation("OcelotFeatureManager.toggle(_:)") { _ = try await $0.toggle(16) },
    operation("OcelotFeatureManager.setToggles(_:)") { _ = try await $0.setToggles([16: .Activated]) },
    operation("OcelotFeatureManager.deviceInfo()") { _ = try await $0.deviceInfo() },
    firmware("OcelotFirmwareManager.availableFirmware(appVersion:)") { manager throws(OcelotError) in
        _ = try await manager.availableFirmware(appVersion: "1.0.0")
    },
    firmware("OcelotFirmwareManager.upgradeFirmware(appVersion:onProgress:)") { manager throws(OcelotError) in
        try await manager.upgradeFirmware(appVersion: "1.0.0")
    },
    firmware("OcelotFirmwareManager.upgradeFirmware(appVersion:onStep:)") { manager throws(OcelotError) in
        try await manager.upgradeFirmware(appVersion: "1.0.0") { (_: OcelotUpgradeStep) in }
    },
    Row("OcelotFeatureManager.featureList()") { moment in
        let manager = await OcelotFeatureManager(cloud: SilentCloud())
        await manager.setDeviceConnector(
            OcelotDeviceConnector(to: Address(1, type: .random), productId: "1234", radio: .virtual()))
        await expectCancelled(OcelotError.self, moment, device: nil, mayFinish: false) {
            _ = try await manager.featureList()
        }
    },
    shop("OcelotCatalogInteractor.defaultCatalog(productId:)") { interactor, _ in
        _ = try await interactor.defaultCatalog()
    },
    shop("OcelotCatalogInteractor.checkout(_:serialNumber:productIdentifier:)") { interactor, _ in
        _ = try await interactor.checkout([item], serialNumber: "A", productIdentifier: "1")
    },
    shop("OcelotPaymentClient.pay(_:card:)") { _, client in
        let card = try PaymentCard(number: "4242424242424242", expMonth: 4, expYear: 99, cvc: "123")
        let request = PaymentRequest(cartId: 1, serialNumber: "A", productIdentifier: "1")
        _ = try await client.pay(request, card: card)
    },
    shop("OcelotPaymentClient.authentication(cartId:paymentSecret:)") { _, client in
        _ = try await client.authentication(cartId: 1, paymentSecret: "s")
    },
]

let tendonObviousExemptions: [Exemption] = [
    Exemption("ObviousCloudService.features(productId:key:)", "a requirement: CancelTests"),
    Exemption("ObviousCloudService.featureUpdate(_:key:)", "a requirement: CancelTests"),
    Exemption(
        "ObviousCloudService.reportFeatureUpdate(serialNumber:counter:status:key:)", "a requirement: CancelTests"),
    Exemption("ObviousCloudService.provision(serialNumber:productId:nonce:key:)", "a requirement: CancelTests"),
    Exemption("ObviousCloudService.latestFirmware(_:key:)", "a requirement: CancelTests"),
    Exemption("ObviousCloudService.downloadImage(of:to:key:progress:)", "a requirement: CancelTests"),
    Exemption(
        "ObviousCloudService.reportFirmware(serialNumber:versionCode:status:key:)", "a requirement: CancelTests"),
    Exemption("ObviousCloudService.defaultCatalog(productId:key:)", "a requirement: CancelTests"),
    Exemption("ObviousCloudService.checkout(items:serialNumber:productIdentifier:key:)", "a requirement: CancelTests"),
    Exemption("ObviousCloudService.pay(_:card:idempotencyKey:key:)", "a requirement: CancelTests"),
    Exemption("ObviousCloudService.authenticate(cartId:paymentSecret:key:)", "a requirement: CancelTests"),
    Exemption(
        "SimulatedOcelotDevice.init(_:radio:trust:address:loop:interval:)", "opens the radio in one step of the loop"),
]
