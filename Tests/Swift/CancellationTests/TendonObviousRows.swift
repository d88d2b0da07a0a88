// SPDX-License-Identifier: MIT
import Tendon
import TendonObvious
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

let tendonObviousRows: [Row] = [
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
]
