// SPDX-License-Identifier: MIT
import Foundation
import Synchronization
import Tendon
import TestSupport
import Testing

@testable import TendonObvious
@testable import TendonObviousCloud

/// A cart is charged once, whatever is lost, whoever asks again. The reference cloud does not lock carts here: it charges
/// the card for each new key, so the key alone keeps a card from being charged twice.
@Suite(.serialized) @TendonActor struct OnceTests {
    private let folder = NSTemporaryDirectory() + "obvious-payments-" + UUID().uuidString

    private static let kept = ReferenceCloud.kept(["--no-cart-lock"])
    private func server() async throws -> ReferenceCloud { try await Self.kept.value }

    /// A program that starts: nothing of the one before but what is on the disk.
    private func program(_ server: ReferenceCloud) throws -> OcelotPaymentClient {
        program(with: try server.client())
    }

    private func cart(_ server: ReferenceCloud) async throws -> PaymentRequest {
        let cart = try await server.client().checkout(
            items: [7], serialNumber: serial, productIdentifier: "1234", key: nil)
        try await server.clear()
        return PaymentRequest(cartId: cart.id, serialNumber: serial, productIdentifier: "1234")
    }

    private func pay(
        _ client: OcelotPaymentClient, _ request: PaymentRequest, _ number: String = TestCard.good
    ) async throws -> PaymentOutcome { try await client.pay(request, card: TestCard.card(number)) }

    /// The cloud executes the payment, and its answers are lost or say nothing.
    private nonisolated static let losses: [[String]] =
        [
            [#"{"do": "close", "times": 2, "match": "POST /v1/carts/"}"#],
            [#"{"do": "cut", "after": 3, "match": "POST /v1/carts/"}"#],
            [#"{"do": "length", "add": -4, "match": "POST /v1/carts/"}"#],
        ]
        + [500, 502, 503, 504, 429].map {
            [#"{"do": "status", "done": true, "status": \#($0), "body": "", "match": "POST /v1/carts/"}"#]
        }
        + [[#"{"do": "status", "done": true, "status": 200, "body": "<html>", "match": "POST /v1/carts/"}"#]]

    @Test func aLostAnswer() async throws {
        let server = try await self.server()
        for (index, faults) in Self.losses.enumerated() {
            let restarts = index % 2 == 0
            let request = try await cart(server)
            for fault in faults { try await server.fault(fault) }
            var client = try program(server)
            let error = await error { try await pay(client, request) }
            #expect(error?.isUnknownResult == true, "\(faults)")
            #expect(try client.payment(ofCart: request.cartId) == .open)
            #expect(try await server.charges(request.cartId).count == 1)
            // The user presses "pay" again, later, or in another program.
            if restarts { client = try program(server) }
            #expect(try await pay(client, request) == .succeeded, "\(faults)")
            #expect(try client.payment(ofCart: request.cartId) == .paid)
            // And again, because nobody told him.
            if restarts { client = try program(server) }
            #expect(try await pay(client, request) == .succeeded)
            #expect(try await server.charges(request.cartId).count == 1, "\(faults)")
        }
    }

    /// What a later request was refused says nothing about an earlier one.
    @Test func aRefusalAfterALostAnswer() async throws {
        let server = try await self.server()
        for status in [401, 403, 404, 409, 422] {
            let request = try await cart(server)
            try await server.fault(#"{"do": "close", "times": 2, "match": "POST /v1/carts/"}"#)
            try await server.fault(#"{"do": "status", "status": \#(status), "match": "POST /v1/carts/"}"#)
            for _ in 0..<2 {
                let error = await error { try await pay(program(server), request) }
                #expect(error?.isUnknownResult == true, "\(status)")
            }
            #expect(try await pay(program(server), request) == .succeeded)
            #expect(try await server.charges(request.cartId).count == 1, "\(status)")
        }
    }

    @Test func cancelledAfterItWasSent() async throws {
        let server = try await self.server()
        let request = try await cart(server)
        // Executed; its answer takes longer than the user waits.
        try await server.fault(#"{"do": "drip", "bytes": 1, "pause": 5, "match": "POST /v1/carts/"}"#)
        let client = try program(server)
        let task = Task { await error { try await pay(client, request) } }
        try await eventually("charged") { try await !server.charges(request.cartId).isEmpty }
        task.cancel()
        #expect(await task.value?.isUnknownResult == true)
        #expect(try await pay(program(server), request) == .succeeded)
        #expect(try await server.charges(request.cartId).count == 1)
    }

    @Test func cancelledBeforeItWasSent() async throws {
        let server = try await self.server()
        let request = try await cart(server)
        let client = try program(server)
        let task = Task {
            await untilCancelled()
            return await error { try await pay(client, request) }
        }
        task.cancel()
        #expect(await task.value == .cancelled)
        #expect(try client.payment(ofCart: request.cartId) == .none)
        #expect(try client.payment(ofCart: -1) == .none, "no cart has this number")
    }

    /// After a definite answer the next payment is another one.
    @Test func anotherCardAfterARefusal() async throws {
        let server = try await self.server()
        let request = try await cart(server)
        let client = try program(server)
        guard case .failed = try await pay(client, request, TestCard.declined) else {
            Issue.record("a declined card")
            return
        }
        #expect(try client.payment(ofCart: request.cartId) == .none)
        #expect(try await pay(client, request) == .succeeded)
        let keys = Set(try await server.requests().compactMap { $0["headers"]?["idempotency-key"]?.string })
        #expect(keys.count == 2)
        #expect(try await server.charges(request.cartId).count == 1)
    }

    @Test func aConnectionThatWasNeverMade() async throws {
        let server = try await self.server()
        let request = try await cart(server)
        let cloud = try server.client { $0.baseURL = "https://127.0.0.1:\(heldPort())" }
        let interactor = OcelotCatalogInteractor(cloud: cloud, clock: TestClock())
        interactor.setPaymentStorage(.folder(folder))
        let client = OcelotPaymentClient.getPaymentClient(obviousClient: interactor, listener: nil)
        #expect(await error { try await pay(client, request) }?.kind == .network)
        #expect(try client.payment(ofCart: request.cartId) == .none)
    }

    /// The user authenticates after the program has stopped waiting, or in the program that was started next.
    @Test(arguments: [false, true])
    func authenticatedTooLate(_ restarts: Bool) async throws {
        let server = try await self.server()
        let request = try await cart(server)
        var client = try program(server)
        guard case .actionRequired(let action) = try await pay(client, request, TestCard.action) else {
            Issue.record("a card that requires authentication")
            return
        }
        let late = await error { try await client.authentication(cartId: request.cartId, paymentSecret: action.secret) }
        #expect(late?.kind == .timeout)
        #expect(try client.payment(ofCart: request.cartId) == .open)
        #expect(try await server.visit(action.url) == 200)
        if restarts { client = try program(server) }
        // The same payment, with the same page; nothing is asked for twice.
        #expect(try await pay(client, request, TestCard.action) == .actionRequired(action))
        let outcome = try await client.authentication(cartId: request.cartId, paymentSecret: action.secret)
        #expect(outcome == .succeeded)
        #expect(try client.payment(ofCart: request.cartId) == .paid)
        #expect(try await server.charges(request.cartId).count == 1)
    }

    /// Two programs that pay one cart at a time: one pays.
    @Test func twoPrograms() async throws {
        let server = try await self.server()
        let request = try await cart(server)
        try await server.fault(#"{"do": "drip", "bytes": 1, "pause": 0.1, "match": "POST /v1/carts/"}"#)
        let (first, second) = (try program(server), try program(server))
        let task = Task { try await pay(first, request) }
        try await eventually("charged") { try await !server.charges(request.cartId).isEmpty }
        let error = await error { try await pay(second, request) }
        #expect(error?.reason == "another payment of this cart is in progress")
        #expect(try await task.value == .succeeded)
        #expect(try await pay(second, request) == .succeeded)
        #expect(try await server.charges(request.cartId).count == 1)
    }

    // MARK: The file

    private func program(with cloud: some ObviousCloudService) -> OcelotPaymentClient {
        let interactor = OcelotCatalogInteractor(cloud: cloud, clock: TestClock())
        interactor.setPaymentStorage(.folder(folder))
        return OcelotPaymentClient.getPaymentClient(obviousClient: interactor, listener: nil)
    }

    private func files() -> [String: Data] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.reduce(into: [:]) { $0[$1] = FileManager.default.contents(atPath: folder + "/" + $1) }
    }

    private nonisolated static let request = PaymentRequest(
        cartId: 991, serialNumber: serial, productIdentifier: "1234")

    /// The program is killed at any instant: what is on the disk then is all that the next one has. A key that may have
    /// been sent is used again.
    @Test func killedAtAnyInstant() async throws {
        let cloud = NotingCloud()
        // Each state of the disk that there is: before, while the cloud has the request, and after.
        let during = Mutex<[String: Data]>([:])
        cloud.whilePaying { [self] in
            let found = files()
            during.withLock { $0 = found }
        }
        _ = try await pay(program(with: cloud), Self.request)
        let whilePaying = during.withLock { $0 }
        var states: [(disk: [String: Data], mayBeSent: Bool)] = [([:], false), (whilePaying, true), (files(), true)]
        let record = try #require(whilePaying.first { $0.key.hasPrefix("payment-") })
        #expect(whilePaying.count == 3, "the record, and two locks: \(whilePaying.keys)")
        // In the middle of writing: the new file is beside the old one, whole or not.
        for length in [0, 1, record.value.count - 1, record.value.count] {
            states.append(([record.key + ".new": record.value.prefix(length)], false))
            states.append((whilePaying.merging([record.key + ".new": record.value.prefix(length)]) { $1 }, true))
        }
        let sent = try #require(cloud.keys.first)
        for (disk, mayBeSent) in states {
            try? FileManager.default.removeItem(atPath: folder)
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            for (name, data) in disk {
                #expect(
                    FileManager.default.createFile(
                        atPath: folder + "/" + name, contents: data, attributes: [.posixPermissions: 0o600]))
            }
            let next = NotingCloud()
            #expect(try await pay(program(with: next), Self.request) == .succeeded)
            #expect(next.keys.allSatisfy { ($0 == sent) == mayBeSent }, "\(disk.keys)")
        }
    }

    /// Nobody else reads it, it has nothing of the card, and one that cannot be read is not taken for none.
    @Test func theRecord() async throws {
        let cloud = NotingCloud(.failure(.unknownResult))
        _ = await error { try await pay(program(with: cloud), Self.request) }
        let name = try #require(files().keys.first { $0.hasPrefix("payment-") })
        let path = folder + "/" + name
        let text = String(decoding: try #require(files()[name]), as: UTF8.self)
        #expect(text == "1 open \(cloud.keys[0]) 991 cloud:test\n")
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        for damage in [
            "", "1 open", text + "x", "2 open \(cloud.keys[0]) 991 cloud:test\n", "1 open x 991 cloud:test\n",
            "1 open \(cloud.keys[0]) 992 cloud:test\n", "1 open \(cloud.keys[0]) 991 another\n",
        ] {
            try Data(damage.utf8).write(to: URL(fileURLWithPath: path))
            let error = await error { try await pay(program(with: cloud), Self.request) }
            #expect(error?.kind == .storage, "\(damage)")
        }
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(await error { try await pay(program(with: cloud), Self.request) }?.kind == .storage)
        #expect(cloud.keys.count == 1)
    }

    /// Without a place for the key nothing is sent.
    @Test func aDiskThatCannotBeWritten() async throws {
        FileManager.default.createFile(atPath: folder, contents: nil)
        let cloud = NotingCloud()
        #expect(await error { try await pay(program(with: cloud), Self.request) }?.kind == .storage)
        #expect(cloud.keys.isEmpty)
    }

    /// As a disk leaves it that lost its power.
    @Test func aRecordThatIsEmpty() async throws {
        let client = program(with: NotingCloud(.failure(.unknownResult)))
        _ = await error { try await pay(client, Self.request) }
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasPrefix("payment") {
            try Data().write(to: URL(fileURLWithPath: folder + "/" + name))
        }
        let found = await error { try client.payment(ofCart: Self.request.cartId) }
        #expect(
            found?.kind == .storage && found?.reason.contains("violates its format") == true, "\(found?.reason ?? "")")
    }

    /// An application that nobody changed: the key of the installed cloud is kept without a word of its own.
    @Test func theListenersHaveTheSameKey() async throws {
        let cloud = NotingCloud(.failure(.unknownResult))
        let shop = Shop()
        for round in 1...2 {
            let client = program(with: cloud)
            let interactor = OcelotCatalogInteractor(cloud: cloud, clock: TestClock())
            interactor.setPaymentStorage(.folder(folder))
            let listening = OcelotPaymentClient.getPaymentClient(obviousClient: interactor, listener: shop)
            #expect(
                listening.startPaymentProcessing(
                    cardNumber: TestCard.good, cardExpMonth: 4, cardExpYear: 99, cardCVC: "123", cartId: 991,
                    serialNumber: serial, productId: "1234"))
            await shop.wait(round)
            #expect(try client.payment(ofCart: 991) == .open)
        }
        #expect(shop.events == ["not paid: unknown result", "not paid: unknown result"])
        #expect(Set(cloud.keys).count == 1 && cloud.keys.count == 2)
        // The user knows it from his bank.
        try program(with: cloud).forgetOpenPayment(ofCart: 991)
        _ = await error { try await pay(program(with: cloud), Self.request) }
        #expect(Set(cloud.keys).count == 2)
    }

    /// Carts have numbers of their clouds.
    @Test func twoClouds() async throws {
        let clouds = [NotingCloud(.failure(.unknownResult)), NotingCloud(.failure(.unknownResult), "cloud:other")]
        for cloud in clouds { _ = await error { try await pay(program(with: cloud), Self.request) } }
        #expect(clouds[0].keys[0] != clouds[1].keys[0])
        // A cloud without a name: kept as long as the interactor.
        let nameless = NotingCloud(.failure(.unknownResult), nil)
        let interactor = OcelotCatalogInteractor(cloud: nameless, clock: TestClock())
        let client = OcelotPaymentClient.getPaymentClient(obviousClient: interactor, listener: nil)
        for _ in 0..<2 { _ = await error { try await pay(client, Self.request) } }
        #expect(Set(nameless.keys).count == 1 && nameless.keys.count == 2)
    }

    @Test func theCloudsNameIsOneForEachFormOfItsURL() throws {
        func scope(_ url: String) throws -> String? {
            try HTTPSCloud(ObviousCloudConfiguration(baseURL: url)).paymentScope
        }
        let same = ["https://API.example.com", "https://api.example.com/", "https://api.example.com:443"]
        #expect(Set(try same.map(scope)) == ["https://api.example.com:443"])
        #expect(try scope("https://api.example.com/shop/") == "https://api.example.com:443/shop")
    }
}

/// A cloud that notes the keys of payments.
private final class NotingCloud: ObviousCloudService {
    private let outcome: Result<PaymentOutcome, ObviousCloudError>
    let paymentScope: String?
    private let noted = Mutex<[String]>([])
    private let hook = Mutex<(@TendonActor @Sendable () -> Void)?>(nil)

    init(_ outcome: Result<PaymentOutcome, ObviousCloudError> = .success(.succeeded), _ name: String? = "cloud:test") {
        (self.outcome, paymentScope) = (outcome, name)
    }

    var keys: [String] { noted.withLock { $0 } }
    func whilePaying(_ body: @escaping @TendonActor @Sendable () -> Void) { hook.withLock { $0 = body } }

    func pay(_ payment: PaymentRequest, card: PaymentCard, idempotencyKey: String, key: ObviousAPIKey?)
        async throws(ObviousCloudError) -> PaymentOutcome
    {
        noted.withLock { $0.append(idempotencyKey) }
        if let body = hook.withLock({ $0 }) { await body() }
        return try outcome.get()
    }

    private var none: ObviousCloudError { ObviousCloudError(.network, "none") }
    func features(productId: String, key: ObviousAPIKey?) async throws(ObviousCloudError) -> [ObviousFeature] {
        throw none
    }
    func featureUpdate(_ query: FeatureUpdateQuery, key: ObviousAPIKey?) async throws(ObviousCloudError)
        -> FeatureUpdateAnswer
    { throw none }
    func reportFeatureUpdate(serialNumber: String, counter: UInt64, status: Int, key: ObviousAPIKey?)
        async throws(ObviousCloudError)
    { throw none }
    func provision(serialNumber: String, productId: String, nonce: [UInt8]?, key: ObviousAPIKey?)
        async throws(ObviousCloudError) -> FeaturePackage
    { throw none }
    func latestFirmware(_ query: FirmwareQuery, key: ObviousAPIKey?) async throws(ObviousCloudError) -> FirmwareRelease?
    {
        throw none
    }
    func downloadImage(
        of release: FirmwareRelease, to path: String, key: ObviousAPIKey?, progress: (@Sendable (Int) -> Void)?
    ) async throws(ObviousCloudError) { throw none }
    func reportFirmware(serialNumber: String, versionCode: Int64, status: String, key: ObviousAPIKey?)
        async throws(ObviousCloudError)
    { throw none }
    func defaultCatalog(productId: String?, key: ObviousAPIKey?) async throws(ObviousCloudError) -> [CatalogItem] {
        throw none
    }
    func checkout(items: [Int], serialNumber: String, productIdentifier: String, key: ObviousAPIKey?)
        async throws(ObviousCloudError) -> ObviousCart
    { throw none }
    func authenticate(cartId: Int, paymentSecret: String, key: ObviousAPIKey?) async throws(ObviousCloudError)
        -> PaymentOutcome
    { throw none }
}
