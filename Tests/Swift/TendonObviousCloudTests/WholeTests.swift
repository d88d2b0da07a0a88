// SPDX-License-Identifier: MIT
import ObviousTestSupport
import Tendon
import TendonObvious
import TendonObviousCloud
import TestSupport
import Testing

/// All parts together: the managers, catalog and payment with the reference cloud over TLS, and a simulated device.
@Suite(.timeLimit(.minutes(5))) struct WholeTests {
    @Test @TendonActor func aFeatureIsBoughtAndUnlockedThenTheFirmwareIsUpgraded() async throws {
        let server = try await ReferenceCloud()
        let key = try #require(ObviousKey(productId: "1234", id: 1, bytes: server.publicKey))
        let trust = ObviousTrust(keys: [key], cryptography: SodiumCryptography())
        let site = try await OcelotSite(trust: trust) { options in
            options.features = []
            options.counter = 0
            options.isProvisioned = false
        }
        let cloud = try server.client()
        let manager = OcelotFeatureManager(cloud: cloud, trust: trust)
        let connector = OcelotDeviceConnector(
            to: site.device.address, productId: "1234", radio: site.radio, bonds: .memory)
        manager.setDeviceConnector(connector)
        manager.setFileCacheDirectory(site.cache)
        try await connector.openAndWait()
        let serial = try #require(try await manager.deviceInfo().serialNumber)

        // Nothing is bought; the device is provisioned.
        var steps: [OcelotFeatureUpdate] = []
        try await manager.updateFeatures { steps.append($0) }
        #expect(steps.contains(.provisioningStatus(ProvisionUpdateConstants.SUCCESS)))
        let ids = try await manager.featureList().map(\.id)
        #expect(ids.contains(16))
        #expect(try await manager.featureStatuses(of: ids)[16]?.enableState == .Disabled)

        // Bought with a card that requires authentication.
        let interactor = OcelotCatalogInteractor(cloud: cloud, clock: TestClock())
        interactor.setPaymentStorage(.memory())
        let item = try #require(try await interactor.defaultCatalog(productId: "1234").first { $0.featureIds == [16] })
        let cart = try await interactor.checkout([item], serialNumber: serial, productIdentifier: "1234")
        #expect(cart.totalPrice == 499)
        let payment = OcelotPaymentClient.getPaymentClient(obviousClient: interactor, listener: nil)
        let request = PaymentRequest(cartId: cart.id, serialNumber: serial, productIdentifier: "1234")
        let outcome = try await payment.pay(request, card: TestCard.card(TestCard.action))
        guard case .actionRequired(let action) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        // Not before it is paid.
        try await manager.updateFeatures()
        #expect(await site.device.feature(16)?.isEnabled != true)
        #expect(try await server.visit(action.url) == 200)
        #expect(try await payment.authentication(cartId: cart.id, paymentSecret: action.secret) == .succeeded)

        try await manager.updateFeatures()
        #expect(await site.device.feature(16)?.isEnabled == true)
        #expect(try await calls(server, "/feature-update/result") >= 1)
        let switched = try await manager.toggle(16)
        #expect(switched.enableState == .Enabled)

        let firmware = OcelotFirmwareManager(cloud: cloud, trust: trust)
        firmware.setDeviceConnector(connector)
        firmware.setFileCacheDirectory(site.cache)
        let (version, new) = try await firmware.availableFirmware(appVersion: "1.0.0")
        #expect(version == 1_003_000 && new?.versionCode == 1_004_000)
        var upgrade: [OcelotUpgradeStep] = []
        try await firmware.upgradeFirmware(appVersion: "1.0.0") { (step: OcelotUpgradeStep) in upgrade.append(step) }
        #expect(await site.device.firmware == 1_004_000)
        #expect(await !site.device.isOnTrial)
        let found = OcelotUpgradeStep.found(currentVersion: version, newFirmware: new, size: 65536)
        #expect(upgrade.prefix(2) == [.preparing(serialNumber: serial), found])
        #expect(upgrade.contains(.downloading(bytes: 65536)) && upgrade.last == .resetting)
        #expect(try await calls(server, "/firmware-result") == 1)
        // What was bought stays.
        #expect(try await manager.featureStatuses(of: [16])[16] == switched)
    }

    private func calls(_ server: ReferenceCloud, _ end: String) async throws -> Int {
        try await server.requests().filter { $0["target"]?.string?.hasSuffix(end) == true }.count
    }
}
