// SPDX-License-Identifier: MIT
import Synchronization
import Tendon
import TestSupport
import Testing

@testable import TendonObvious

/// Checkout and payment by table: state machine first, then the listeners.
@Suite struct PaymentFlowTests {
    typealias Input = PaymentFlow.Input
    typealias Effect = PaymentFlow.Effect

    struct Step {
        var at: UInt64
        var input: Input
        var effects: [Effect]

        init(_ at: UInt64, _ input: Input, _ effects: [Effect]) {
            self.at = at
            self.input = input
            self.effects = effects
        }
    }

    static let cart = ObviousCart(id: 991, totalPrice: 499, currency: "USD")
    static let action = PaymentAction(secret: "s1", url: "https://page")
    static let lost = ObviousCloudError(.network, "lost")
    static let checkout = Input.checkout(items: 1, serialNumber: "A", productIdentifier: "1")

    static let pay = Step(0, .pay(cart: 991, isValid: true), [.sendPayment])
    static let required = Step(
        0, .payEnded(.success(.actionRequired(action))), [.wipeCard, .payActionRequired(secret: "s1")])
    static let authenticate = Step(
        0, .authenticate(cart: 991, secret: "s1", isApplePay: false), [.present(url: "https://page")])
    static let poll = Effect.poll(cart: 991, secret: "s1")

    static func polled(_ at: UInt64, _ result: Result<PaymentOutcome, ObviousCloudError>, _ effects: [Effect]) -> Step {
        Step(at, .pollEnded(cart: 991, secret: "s1", result), effects)
    }

    static let table: [(String, [Step])] = [
        (
            "checkout and payment",
            [
                Step(0, checkout, [.sendCheckout]),
                Step(0, .checkoutEnded(.success(cart)), [.cartSuccess(totalPrice: 499, cartId: 991)]), pay,
                Step(0, .payEnded(.success(.succeeded)), [.wipeCard, .paySuccess]),
                // A second answer to the same payment is of no step.
                Step(0, .payEnded(.success(.succeeded)), []),
            ]
        ),
        (
            "an empty cart",
            [Step(0, .checkout(items: 0, serialNumber: "A", productIdentifier: "1"), [.cartFail("empty cart")])]
        ),
        (
            "no serial",
            [Step(0, .checkout(items: 1, serialNumber: "", productIdentifier: "1"), [.cartFail("bad argument")])]
        ),
        (
            "no product",
            [Step(0, .checkout(items: 1, serialNumber: "A", productIdentifier: ""), [.cartFail("bad argument")])]
        ),
        (
            "a checkout that fails, and one again",
            [
                Step(0, checkout, [.sendCheckout]), Step(0, checkout, [.busy]),
                Step(0, .pay(cart: 1, isValid: true), [.wipeCard, .busy]),
                Step(0, .checkoutEnded(.failure(lost)), [.cartFail("lost")]), Step(0, checkout, [.sendCheckout]),
            ]
        ),
        ("an invalid card", [Step(0, .pay(cart: 991, isValid: false), [.wipeCard, .payFail("invalid card")]), pay]),
        ("no cart", [Step(0, .pay(cart: 0, isValid: true), [.wipeCard, .payFail("bad argument")])]),
        (
            "declined, then paid",
            [
                pay,
                Step(
                    0, .payEnded(.success(.failed(code: "card_declined", message: ""))),
                    [.wipeCard, .payFail("card_declined")]),
                pay, Step(0, .payEnded(.success(.succeeded)), [.wipeCard, .paySuccess]),
            ]
        ),
        (
            "busy while paying",
            [
                pay, Step(0, .pay(cart: 991, isValid: true), [.wipeCard, .busy]), Step(0, checkout, [.busy]),
                Step(0, .authenticate(cart: 991, secret: "s1", isApplePay: false), [.busy]),
                Step(0, .actionFinished(cart: 991), [.busy]), Step(0, .time, []),
            ]
        ),
        (
            "unknown result",
            [pay, Step(0, .payEnded(.failure(.unknownResult)), [.wipeCard, .payFail("unknown result")]), pay]
        ),
        (
            "pending is no result of a payment",
            [pay, Step(0, .payEnded(.success(.pending)), [.wipeCard, .payFail("unknown result")])]
        ),
        (
            "authentication",
            [
                pay, required, authenticate, Step(2999, .time, []), Step(3000, .time, [poll]),
                Step(9000, .time, []), polled(9000, .success(.pending), []), Step(11999, .time, []),
                Step(12000, .time, [poll]),
                polled(12000, .failure(lost), []), Step(15000, .time, [poll]),
                polled(15000, .success(.succeeded), [.paySuccess]), Step(900_000, .time, []),
            ]
        ),
        (
            "authentication, asked at once",
            [
                pay, required, authenticate, Step(10, .actionFinished(cart: 992), [.busy]),
                Step(10, .actionFinished(cart: 991), [poll]), Step(10, .actionFinished(cart: 991), []),
                polled(20, .success(.failed(code: "no", message: "declined")), [.payFail("declined")]), pay,
            ]
        ),
        (
            "the wrong cart or secret",
            [
                pay, required, Step(0, .authenticate(cart: 992, secret: "s1", isApplePay: false), [.busy]),
                Step(0, .authenticate(cart: 991, secret: "s2", isApplePay: false), [.busy]),
                Step(0, .pay(cart: 991, isValid: true), [.wipeCard, .busy]), authenticate,
            ]
        ),
        (
            "Apple Pay",
            [
                pay, required,
                Step(0, .authenticate(cart: 991, secret: "s1", isApplePay: true), [.payFail("unsupported")]), pay,
            ]
        ),
        (
            "not authenticated within 15 minutes",
            [
                pay, required, Step(899_999, .time, []), Step(900_000, .time, [poll]), Step(900_000, .time, []),
                Step(900_000, .authenticate(cart: 991, secret: "s1", isApplePay: false), [.busy]),
                polled(900_100, .success(.pending), [.payFail("authentication timeout")]), Step(900_100, .time, []),
            ]
        ),
        (
            "authenticated by itself meanwhile",
            [pay, required, Step(900_000, .time, [poll]), polled(900_100, .success(.succeeded), [.paySuccess])]
        ),
        (
            "10 minutes of pending, and asked once more",
            [
                pay, required, authenticate, Step(599_000, .time, [poll]), polled(599_000, .success(.pending), []),
                Step(599_999, .time, []), Step(600_000, .time, [poll]), Step(600_001, .time, []),
                polled(600_200, .success(.pending), [.payFail("authentication timeout")]),
            ]
        ),
        (
            "an answer after the limit to a question before it",
            [
                pay, required, authenticate, Step(599_000, .time, [poll]), Step(600_000, .time, []),
                Step(600_000, .pay(cart: 991, isValid: true), [.wipeCard, .busy]),
                polled(630_000, .success(.succeeded), [.paySuccess]),
            ]
        ),
        (
            "the last question has no answer",
            [
                pay, required, authenticate, Step(600_000, .time, [poll]),
                polled(630_000, .failure(lost), [.payFail("authentication timeout")]), pay,
                polled(630_001, .success(.succeeded), []),
            ]
        ),
        (
            "no answer is the end of an authentication but the cloud's",
            [
                pay, required, authenticate, Step(3000, .time, [poll]),
                polled(3000, .failure(ObviousCloudError(.http, "down", httpStatus: 500)), []),
                Step(6000, .time, [poll]),
                polled(6000, .failure(ObviousCloudError(.format, "garbage")), []), Step(9000, .time, [poll]),
                polled(9000, .success(.succeeded), [.paySuccess]),
            ]
        ),
        (
            "action three times, not four",
            [pay, required]
                + (0..<2).flatMap { _ in
                    [
                        authenticate, Step(3000, .time, [poll]),
                        polled(3000, .success(.actionRequired(action)), [.payActionRequired(secret: "s1")]),
                    ]
                } + [
                    authenticate, Step(3000, .time, [poll]),
                    polled(3000, .success(.actionRequired(action)), [.payFail("too many authentications")]),
                ]
        ),
        (
            "a final error ends the authentication",
            [
                pay, required, authenticate, Step(3000, .time, [poll]),
                polled(
                    3000, .failure(ObviousCloudError(.http, "gone", httpStatus: 404)), [.payFail("gone (HTTP 404)")]),
            ]
        ),
    ]

    @Test func everyStep() {
        for (name, steps) in Self.table {
            var flow = PaymentFlow()
            for (index, step) in steps.enumerated() {
                let effects = flow.handle(step.input, at: step.at)
                #expect(effects == step.effects, "\(name), step \(index): \(step.input)")
            }
        }
    }

    /// Any inputs in any order: never two results for one step, and no result without one.
    @Test func neverTwoResults() {
        var random = Seeded(state: 7)
        for _ in 0..<2000 {
            var (flow, now, open) = (PaymentFlow(), UInt64(0), 0)
            for _ in 0..<60 {
                now += UInt64.random(in: 0..<400_000, using: &random)
                for effect in flow.handle(Self.anyInput(&random), at: now) {
                    switch effect {
                    case .sendPayment, .present: open += 1
                    case .paySuccess, .payFail("too many authentications"), .payActionRequired:
                        open -= 1
                        #expect(open >= 0)
                    // An action that was not taken in its time is asked for once.
                    case .poll: open = 1
                    // Failures also end a wait, and reject a card.
                    case .payFail: open = 0
                    default: break
                    }
                    #expect(open <= 1)
                }
                if let deadline = flow.deadline { #expect(deadline <= now + PaymentFlow.longestWait) }
            }
        }
    }

    private static func anyInput(_ random: inout Seeded) -> Input {
        let outcomes: [Result<PaymentOutcome, ObviousCloudError>] = [
            .success(.succeeded), .success(.pending), .success(.actionRequired(action)),
            .success(.failed(code: "c", message: "m")),
            .failure(lost), .failure(.unknownResult),
        ]
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return checkout
        case 1: return .checkoutEnded(.success(cart))
        case 2: return .pay(cart: 991, isValid: Bool.random(using: &random))
        case 3: return .payEnded(outcomes.randomElement(using: &random)!)
        case 4, 5: return .authenticate(cart: 991, secret: "s1", isApplePay: false)
        case 6: return .pollEnded(cart: 991, secret: "s1", outcomes.randomElement(using: &random)!)
        case 7: return .actionFinished(cart: 991)
        default: return .time
        }
    }
}

/// Repeatable random numbers (SplitMix64).
struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// A cloud of the test: outcomes in their order, and what was called.
final class ScriptedCloud: ObviousCloudService {
    private struct State {
        var outcomes: [Result<PaymentOutcome, ObviousCloudError>]
        var calls: [String] = []
    }
    private let state: Mutex<State>

    init(_ outcomes: [Result<PaymentOutcome, ObviousCloudError>] = []) { state = Mutex(State(outcomes: outcomes)) }

    var calls: [String] { state.withLock { $0.calls } }

    private func note(_ call: String) { state.withLock { $0.calls.append(call) } }
    private func next() throws(ObviousCloudError) -> PaymentOutcome {
        try state.withLock { state in state.outcomes.isEmpty ? .success(.pending) : state.outcomes.removeFirst() }.get()
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
        note("catalog \(productId ?? "-") \(key == nil ? "-" : "key")")
        return [
            CatalogItem(
                id: 7, name: "Led", description: "", itemprice: "4.99", imageurl: "", thumbnailurl: "", currency: "USD",
                featureIds: [16])
        ]
    }
    func checkout(items: [Int], serialNumber: String, productIdentifier: String, key: ObviousAPIKey?)
        async throws(ObviousCloudError) -> ObviousCart
    {
        note("checkout \(items)")
        return ObviousCart(id: 991, totalPrice: 499, currency: "USD")
    }
    func pay(_ payment: PaymentRequest, card: PaymentCard, idempotencyKey: String, key: ObviousAPIKey?)
        async throws(ObviousCloudError) -> PaymentOutcome
    {
        note("pay \(payment.cartId)")
        return try next()
    }
    func authenticate(cartId: Int, paymentSecret: String, key: ObviousAPIKey?) async throws(ObviousCloudError)
        -> PaymentOutcome
    {
        note("authenticate \(cartId)")
        return try next()
    }
}

/// The listeners of a program, and the order in which they are called.
@TendonActor
final class Shop: OcelotCatalogListResultListener, OcelotCatalogCheckoutResultListener, ActionPresenter {
    private(set) var events: [String] = []
    private(set) var secret = ""

    private func note(_ event: String) { events.append(event) }

    /// Waits until there are so many events.
    func wait(_ count: Int) async {
        await eventually("event \(count)") { events.count >= count }
    }

    func onCatalogListSuccess(_ catalogList: [CatalogItem]) { note("catalog \(catalogList.map(\.id))") }
    func onCatalogListRequestFail(_ error: String?) { note("no catalog: \(error ?? "")") }
    func onCheckoutCartSuccess(_ totalPrice: Int, _ cartId: Int) { note("cart \(totalPrice) \(cartId)") }
    func onCheckoutCartFail(_ error: String?) { note("no cart: \(error ?? "")") }
    func onCheckoutPaySuccess() { note("paid") }
    func onCheckoutPayFail(_ error: String?) { note("not paid: \(error ?? "")") }
    func onCheckoutPayActionRequired(_ paymentSecret: String) {
        note("action")
        secret = paymentSecret
    }
    func present(url: String) { note("page \(url)") }
}

/// Time that stands still until the test advances it.
final class StandingClock: ObviousClock {
    private struct State {
        var now: UInt64 = 0
        var sleepers: [UInt64: UInt64] = [:]
        var last: UInt64 = 0
    }
    private let state = Mutex(State())

    var now: UInt64 { state.withLock { $0.now } }

    func sleep(until time: UInt64) async throws {
        let id = state.withLock { state in
            state.last += 1
            state.sleepers[state.last] = time
            return state.last
        }
        defer { _ = state.withLock { $0.sleepers.removeValue(forKey: id) } }
        while now < time {
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Number of tasks that sleep.
    var sleepers: Int { state.withLock { $0.sleepers.count } }

    /// Waits until something sleeps until exactly `time`, then advances.
    func advance(to time: UInt64) async {
        await eventually("a sleeper") { state.withLock { $0.sleepers.values.contains(time) } }
        state.withLock { $0.now = time }
    }
}

@Suite @TendonActor struct PaymentClientTests {
    private let shop = Shop()

    private func make(
        _ outcomes: [Result<PaymentOutcome, ObviousCloudError>] = [], _ clock: any ObviousClock = StandingClock()
    ) -> (ScriptedCloud, OcelotCatalogInteractor, OcelotPaymentClient) {
        let cloud = ScriptedCloud(outcomes)
        let interactor = OcelotCatalogInteractor(cloud: cloud, clock: clock)
        interactor.setCatalogListListener(shop)
        return (cloud, interactor, OcelotPaymentClient.getPaymentClient(obviousClient: interactor, listener: shop))
    }

    private func pay(_ client: OcelotPaymentClient, number: String = TestCard.good) -> Bool {
        client.startPaymentProcessing(
            cardNumber: number, cardExpMonth: 4, cardExpYear: 99, cardCVC: "123", cartId: 991, serialNumber: "A",
            productId: "1")
    }

    /// Without a cart, and while another payment is in progress.
    @Test func aCardThatIsNotUsedIsWiped() throws {
        let (_, _, client) = make()
        for busy in [false, true] {
            let card = try TestCard.card(TestCard.good)
            if busy { #expect(pay(client)) }
            #expect(
                client.startPaymentProcessing(card: card, cartId: busy ? 991 : 0, serialNumber: "A", productId: "1")
                    == !busy)
            let request = PaymentRequest(cartId: 991, serialNumber: "A", productIdentifier: "1")
            #expect(throws: ObviousCloudError.self) { _ = try card.buildBody(request) }
        }
    }

    /// Whatever the outcome is, the digits are gone before the listener is called.
    @Test func aCardThatIsUsedIsWiped() async throws {
        let outcomes: [Result<PaymentOutcome, ObviousCloudError>] = [
            .success(.succeeded), .failure(ObviousCloudError(.network, "lost")),
            .success(.actionRequired(PaymentAction(secret: "s1", url: "https://page"))),
        ]
        for outcome in outcomes {
            let (_, interactor, client) = make([outcome])
            let card = try TestCard.card(TestCard.good)
            let before = shop.events.count
            #expect(
                client.startPaymentProcessing(card: card, cartId: 991, serialNumber: "A", productId: "1"))
            #expect(interactor.card === card && card.bodyMemory.count > 0)
            await shop.wait(before + 1)
            #expect(interactor.card == nil && card.bodyMemory.count == 0)
        }
    }

    @Test func oneCatalogAfterAnother() async {
        let (_, interactor, _) = make()
        for round in 1...2 {
            #expect(interactor.getDefaultCatalog())
            #expect(!interactor.getDefaultCatalog())
            await shop.wait(round)
        }
    }

    /// The last question is asked when the time is over, and its answer counts.
    @Test func theAnswerToTheLastQuestionCounts() async throws {
        let pending = [Result<PaymentOutcome, ObviousCloudError>](repeating: .success(.pending), count: 200)
        let (cloud, _, client) = make(pending + [.success(.succeeded)], TestClock())
        #expect(try await client.authentication(cartId: 1, paymentSecret: "s") == .succeeded)
        #expect(cloud.calls.count == 201)
    }

    /// The answer of one question may be lost; one that the cloud rejects ends it.
    @Test func questionsOfAnAuthenticationThatFail() async throws {
        let lost = ObviousCloudError(.network, "lost"), rejected = ObviousCloudError(.argument, "rejected")
        let (cloud, _, client) = make([.failure(lost), .success(.succeeded), .failure(rejected)], TestClock())
        #expect(try await client.authentication(cartId: 1, paymentSecret: "s") == .succeeded)
        #expect(cloud.calls.count == 2)
        let end = await error { try await client.authentication(cartId: 1, paymentSecret: "s") }
        #expect(end?.reason == "rejected" && cloud.calls.count == 3)
    }

    /// A payment that is repeated has the same body, and what is removed of it is overwritten.
    @Test func theBodyOfAPayment() throws {
        let card = try TestCard.card(TestCard.good)
        let request = PaymentRequest(cartId: 991, serialNumber: "A", productIdentifier: "1")
        let start = try card.buildBody(request)
        let whole = card.bodyMemory.count
        #expect(try card.buildBody(request) == start && card.bodyMemory.count == whole)
        #expect(calls(of: "explicit_bzero") { card.removeBody() } == 1)
        #expect(card.bodyMemory.count == start)
    }

    @Test func aWholePurchaseWithAuthentication() async throws {
        let action = PaymentAction(secret: "s1", url: "https://page")
        let clock = StandingClock()
        let (cloud, interactor, client) = make(
            [
                .success(.actionRequired(action)), .success(.pending), .failure(ObviousCloudError(.network, "lost")),
                .success(.succeeded),
            ], clock)
        interactor.setAPIKey("key")
        #expect(interactor.getDefaultCatalog("1234"))
        #expect(!interactor.getDefaultCatalog() && shop.events.isEmpty)
        await shop.wait(1)
        let items = try await interactor.defaultCatalog()
        #expect(interactor.checkoutCart(checkout: items, serialNumber: "A", productIdentifier: "1"))
        #expect(!interactor.checkoutCart(checkout: items, serialNumber: "A", productIdentifier: "1"))
        await shop.wait(2)
        #expect(pay(client) && !pay(client))
        await shop.wait(3)
        #expect(
            client.authenticatePayment(
                viewController: shop, cartId: 991, paymentSecret: shop.secret, isPresentingApplePay: false))
        #expect(!shop.events.contains("page https://page"))
        for time in [3000, 6000, 9000] as [UInt64] { await clock.advance(to: time) }
        await shop.wait(5)
        #expect(shop.events == ["catalog [7]", "cart 499 991", "action", "page https://page", "paid"])
        #expect(
            cloud.calls == [
                "catalog 1234 key", "catalog - key", "checkout [7]", "pay 991", "authenticate 991", "authenticate 991",
                "authenticate 991",
            ])
    }

    @Test func failures() async {
        let (cloud, interactor, client) = make([.success(.failed(code: "card_declined", message: "declined"))])
        #expect(pay(client, number: TestCard.good.dropLast() + "1"))
        #expect(shop.events.isEmpty)
        await shop.wait(1)
        #expect(interactor.checkoutCart(checkout: [], serialNumber: "A", productIdentifier: "1"))
        await shop.wait(2)
        #expect(cloud.calls.isEmpty)
        #expect(pay(client))
        await shop.wait(3)
        #expect(shop.events == ["not paid: invalid card", "no cart: empty cart", "not paid: declined"])
    }

    @Test func withoutAKeyOrACloud() async {
        let (cloud, interactor, client) = make()
        interactor.setAPIKey("not a key")
        _ = interactor.getDefaultCatalog()
        await shop.wait(1)
        _ = pay(client)
        await shop.wait(2)
        #expect(shop.events == ["no catalog: no api key", "not paid: no api key"] && cloud.calls.isEmpty)
    }

    @Test func theUserHasFinished() async {
        let action = PaymentAction(secret: "s1", url: "https://page")
        let clock = StandingClock()
        let (_, _, client) = make(
            [.success(.actionRequired(action)), .success(.failed(code: "c", message: "declined"))], clock)
        #expect(!client.paymentActionFinished(cartId: 991))
        _ = pay(client)
        await shop.wait(1)
        #expect(!client.authenticatePayment(shop, "another"))
        #expect(client.authenticatePayment(shop, "s1"))
        await eventually("the time of the next question is waited for") { clock.sleepers == 1 }
        #expect(client.paymentActionFinished(cartId: 991))
        await shop.wait(3)
        #expect(shop.events == ["action", "page https://page", "not paid: declined"])
        await eventually("nothing waits for a payment that has ended") { clock.sleepers == 0 }
    }

    @Test func asyncForms() async throws {
        let (cloud, interactor, client) = make(
            [.success(.succeeded), .success(.pending), .success(.succeeded)], TestClock())
        let items = try await interactor.defaultCatalog(productId: "1")
        let cart = try await interactor.checkout(items, serialNumber: "A", productIdentifier: "1")
        let card = try TestCard.card(TestCard.good)
        let request = PaymentRequest(cartId: cart.id, serialNumber: "A", productIdentifier: "1")
        #expect(try await client.pay(request, card: card) == .succeeded)
        #expect(card.bodyMemory.count == 0)
        #expect(try await client.authentication(cartId: cart.id, paymentSecret: "s") == .succeeded)
        #expect(cloud.calls.count == 5)
        // Always pending: ten minutes, then it ends.
        let late = await error { try await client.authentication(cartId: cart.id, paymentSecret: "s") }
        #expect(late?.kind == .timeout && cloud.calls.count == 206)
        let empty = await error { try await interactor.checkout([], serialNumber: "A", productIdentifier: "1") }
        #expect(empty?.reason == "empty cart")
    }

    @Test func uuids() {
        let first = newUUID()
        let groups = first.split(separator: "-").map(\.count)
        #expect(groups == [8, 4, 4, 4, 12] && first != newUUID())
        let digits = Array(first)
        #expect(digits[14] == "4" && "89ab".contains(digits[19]))
    }
}
