// SPDX-License-Identifier: MIT
import CSystemSodium
import CTendon
import TendonObvious
import Testing

@testable import TendonObviousCloud

/// Each call of the API, against the reference cloud.
@Suite(.serialized) struct CallTests {
    private func query(_ counter: UInt64) -> FeatureUpdateQuery {
        FeatureUpdateQuery(
            serialNumber: serial, productId: "1234", counter: counter, nonce: [UInt8](repeating: 7, count: 16),
            firmwareVersion: "1.3.0", appVersion: "1.0.0")
    }

    @Test func featuresOfAProduct() async throws {
        let cloud = try await ReferenceCloud().client()
        let features = try await cloud.features(productId: "1234", key: nil)
        #expect(
            features == [
                ObviousFeature(id: 16, name: "Led", isToggleable: true),
                ObviousFeature(id: 17, name: "Night mode", isToggleable: true),
                ObviousFeature(id: 18, name: "Boost", isToggleable: false),
                ObviousFeature(id: 19, name: "Basic", isToggleable: false),
            ])
        let unknown = await error { try await cloud.features(productId: "1235", key: nil) }
        #expect(unknown?.kind == .http && unknown?.httpStatus == 404 && unknown?.code == "UNKNOWN_PRODUCT")
    }

    @Test func provisioningThenAnUpdateThenNothingNew() async throws {
        let server = try await ReferenceCloud()
        let cloud = try server.client()
        #expect(try await cloud.featureUpdate(query(0), key: nil) == .notProvisioned(inField: true))
        let first = try await cloud.provision(serialNumber: serial, productId: "1234", nonce: nil, key: nil)
        #expect(first.counter == 1 && first.bytes.count == 124 && first.bytes[5] == 4)
        #expect(verifies(first.bytes, domain: "OBVIOUS-OFP1", server.publicKey))
        guard case .package(let package) = try await cloud.featureUpdate(query(1), key: nil) else {
            Issue.record("no package")
            return
        }
        #expect(package.counter == 2 && Array(package.bytes[36..<52]) == [UInt8](repeating: 7, count: 16))
        #expect(verifies(package.bytes, domain: "OBVIOUS-OFP1", server.publicKey))
        try await cloud.reportFeatureUpdate(serialNumber: serial, counter: 2, status: 0, key: nil)
        #expect(try await cloud.featureUpdate(query(2), key: nil) == .nothingNew)
    }

    @Test func provisioningCanBeForbidden() async throws {
        let server = try await ReferenceCloud(["--no-in-field"])
        let cloud = try server.client()
        #expect(try await cloud.featureUpdate(query(0), key: nil) == .notProvisioned(inField: false))
        let refused = await error {
            try await cloud.provision(serialNumber: serial, productId: "1234", nonce: nil, key: nil)
        }
        #expect(refused?.isProvisioningForbidden == true && refused?.code == "IN_FIELD_NOT_ALLOWED")
    }

    @Test func firmware() async throws {
        let server = try await ReferenceCloud()
        let cloud = try server.client()
        var query = FirmwareQuery(
            productId: "1234", serialNumber: serial, currentVersion: "1.3.0", appVersion: "1.0.0")
        let release = try #require(try await cloud.latestFirmware(query, key: nil))
        #expect(
            release.info
                == OcelotFirmwareInfo(
                    versionCode: 1_004_000, versionName: "1.4.0", releaseNotes: "Better battery life.",
                    upgradeMessage: "A restart is required."))
        #expect(release.size == 65536 && release.url.hasPrefix("/v1/firmware/"))
        #expect(Array(release.manifest[32..<64]) == release.sha256)
        #expect(verifies(release.manifest, domain: "OBVIOUS-OFM1", server.publicKey))
        query.currentVersion = "1.4.0"
        #expect(try await cloud.latestFirmware(query, key: nil) == nil)
        try await cloud.reportFirmware(serialNumber: serial, versionCode: 1_004_000, status: "SUCCESS", key: nil)
    }

    @Test func catalogAndCart() async throws {
        let cloud = try await ReferenceCloud().client()
        let items = try await cloud.defaultCatalog(productId: "1234", key: nil)
        #expect(try await cloud.defaultCatalog(productId: nil, key: nil) == items)
        #expect(
            items.first
                == CatalogItem(
                    id: 7, name: "Led", description: "Lights up the device.", itemprice: "4.99", imageurl: "",
                    thumbnailurl: "null", currency: "USD", featureIds: [16]))
        #expect(items.last?.featureIds == [16, 17, 18])
        let cart = try await cloud.checkout(items: [7, 8], serialNumber: serial, productIdentifier: "1234", key: nil)
        #expect(cart == ObviousCart(id: 1, totalPrice: 1798, currency: "USD"))
        let unknown = await error {
            try await cloud.checkout(items: [99], serialNumber: serial, productIdentifier: "1234", key: nil)
        }
        #expect(unknown?.code == "UNKNOWN_ITEM")
    }

    @Test func payments() async throws {
        let server = try await ReferenceCloud()
        let cloud = try server.client()
        func pay(_ number: String, _ key: String) async throws -> (Int, PaymentOutcome) {
            let cart = try await cloud.checkout(items: [7], serialNumber: serial, productIdentifier: "1234", key: nil)
            let request = PaymentRequest(cartId: cart.id, serialNumber: serial, productIdentifier: "1234")
            return (
                cart.id,
                try await cloud.pay(
                    request, card: TestCard.card(number), idempotencyKey: idempotencyKey.dropLast() + key, key: nil)
            )
        }
        #expect(try await pay(TestCard.good, "1").1 == .succeeded)
        #expect(
            try await pay(TestCard.declined, "2").1
                == .failed(code: "card_declined", message: "the card was declined"))
        let (cart, outcome) = try await pay(TestCard.action, "3")
        guard case .actionRequired(let action) = outcome else {
            Issue.record("no action")
            return
        }
        #expect(!"\(outcome)".contains(action.secret) && !"\(outcome)".contains(action.url))
        #expect(try await cloud.authenticate(cartId: cart, paymentSecret: action.secret, key: nil) == .pending)
        #expect(try await server.visit(action.url) == 200)
        #expect(try await cloud.authenticate(cartId: cart, paymentSecret: action.secret, key: nil) == .succeeded)
    }

    /// The package that the cloud made for a device passes the check that devices make.
    @Test func theDeviceAcceptsThePackage() async throws {
        let server = try await ReferenceCloud()
        let cloud = try server.client()
        let package = try await cloud.provision(serialNumber: serial, productId: "1234", nonce: nil, key: nil)
        let bytes = package.bytes
        #expect(bytes[0..<4].elementsEqual("OFP1".utf8) && bytes[6] == 1)
        #expect(bytes[8..<12].elementsEqual([0xD2, 0x04, 0, 0]))
        #expect(bytes[12..<20].elementsEqual([0xA1, 0, 0, 0, 0, 0, 0, 0]))
    }
}

private func verifies(_ object: [UInt8], domain: String, _ key: [UInt8]) -> Bool {
    let text = Array(domain.utf8) + [0] + object.dropLast(64)
    let signature = Array(object.suffix(64))
    return crypto_sign_ed25519_verify_detached(signature, text, UInt64(text.count), key) == 0
}
