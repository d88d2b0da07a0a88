// SPDX-License-Identifier: MIT
import Tendon

/// Payments for carts.
///
/// Card data is in locked memory from the call until the request is written, and wiped before a listener is called.
///
/// ```swift
/// let interactor = OcelotCatalogInteractor.getCatalogInteractor()
/// let client = OcelotPaymentClient.getPaymentClient(obviousClient: interactor, listener: nil)
/// let card = try PaymentCard(number: "4242 4242 4242 4242", expMonth: 4, expYear: 33, cvc: "123")
/// let request = PaymentRequest(cartId: 1, serialNumber: "00000000000000A1", productIdentifier: "1234")
/// if case .succeeded = try await client.pay(request, card: card) { print("paid") }
/// ```
@TendonActor
public final class OcelotPaymentClient {
    private let interactor: OcelotCatalogInteractor
    private var lastCart = 0

    private init(_ interactor: OcelotCatalogInteractor) { self.interactor = interactor }

    /// A client of an interactor. `listener`: becomes the interactor's checkout listener; `nil`: that stays.
    public static func getPaymentClient(
        obviousClient: OcelotCatalogInteractor, listener: (any OcelotCatalogCheckoutResultListener)?
    ) -> OcelotPaymentClient {
        if let listener { obviousClient.setCheckoutListener(listener) }
        return OcelotPaymentClient(obviousClient)
    }

    /// The same; the interactor determines the cloud.
    public static func getDemoPaymentClient(
        obviousClient: OcelotCatalogInteractor, listener: (any OcelotCatalogCheckoutResultListener)?
    ) -> OcelotPaymentClient {
        getPaymentClient(obviousClient: obviousClient, listener: listener)
    }

    /// The local checks of a card.
    public nonisolated static func validateCard(
        number: String, expMonth: UInt, expYear: UInt, cvc: String
    ) -> Bool {
        PaymentCard.isValid(number: number, expMonth: expMonth, expYear: expYear, cvc: cvc)
    }

    // MARK: Listeners

    /// Pays a cart. Exactly one of the listener's three functions is called, unless this returns false: a checkout or
    /// another payment is in progress.
    @discardableResult
    public func startPaymentProcessing(
        cardNumber: String, cardExpMonth: UInt, cardExpYear: UInt, cardCVC: String, cartId: Int, serialNumber: String,
        productId: String
    ) -> Bool {
        do {
            let card = try PaymentCard(
                number: cardNumber, expMonth: cardExpMonth, expYear: cardExpYear, cvc: cardCVC)
            return startPaymentProcessing(card: card, cartId: cartId, serialNumber: serialNumber, productId: productId)
        } catch {
            return start(nil, error, PaymentRequest(cartId: cartId, serialNumber: "", productIdentifier: ""))
        }
    }

    /// The same with a card, which is wiped.
    @discardableResult
    public func startPaymentProcessing(card: PaymentCard, cartId: Int, serialNumber: String, productId: String) -> Bool
    {
        start(
            card, nil, PaymentRequest(cartId: cartId, serialNumber: serialNumber, productIdentifier: productId))
    }

    private func start(_ card: PaymentCard?, _ error: ObviousCloudError?, _ request: PaymentRequest) -> Bool {
        let effects = interactor.handle(.pay(cart: request.cartId, isValid: card != nil))
        guard effects == [.sendPayment], let card else {
            card?.wipe()
            guard !effects.contains(.busy) else { return false }
            // Memory that cannot be locked is no fault of the card.
            interactor.later(effects.map { $0.replacingReason(error) })
            return true
        }
        lastCart = request.cartId
        interactor.card = card
        Task { @TendonActor in
            let result: Result<PaymentOutcome, ObviousCloudError> = await resultOf { () throws(ObviousCloudError) in
                try await self.send(request, card)
            }
            interactor.perform(interactor.handle(.payEnded(result)))
        }
        return true
    }

    /// Shows the page to the user and asks the cloud until the user has finished, at most 10 minutes. Returns false if no
    /// payment waits for that, of this cart with this secret.
    @discardableResult
    public func authenticatePayment(
        viewController: any ActionPresenter, cartId: Int, paymentSecret: String, isPresentingApplePay: Bool
    ) -> Bool {
        let effects = interactor.handle(
            .authenticate(cart: cartId, secret: paymentSecret, isApplePay: isPresentingApplePay))
        guard effects != [.busy] else { return false }
        interactor.presenter = viewController
        interactor.later(effects)
        return true
    }

    /// The same for the last cart.
    @discardableResult
    public func authenticatePayment(_ presenter: any ActionPresenter, _ paymentSecret: String) -> Bool {
        authenticatePayment(
            viewController: presenter, cartId: lastCart, paymentSecret: paymentSecret, isPresentingApplePay: false)
    }

    /// The user has finished with the page: asks the cloud now. Returns false if no authentication of this cart is in
    /// progress.
    @discardableResult
    public func paymentActionFinished(cartId: Int) -> Bool {
        let effects = interactor.handle(.actionFinished(cart: cartId))
        guard effects != [.busy] else { return false }
        interactor.later(effects)
        return true
    }

    // MARK: Async

    /// Pays a cart; one request, repeated at most once if no answer arrived. The card is wiped.
    ///
    /// All payments of a cart have one key until the cloud's answer is definite, so a cart is charged at most once: after
    /// ``ObviousCloudError/isUnknownResult`` call it again, with the same card, also after a restart of the program. For a
    /// cart that is paid already nothing is sent, and the outcome is `.succeeded`.
    public func pay(_ request: PaymentRequest, card: PaymentCard) async throws(ObviousCloudError) -> PaymentOutcome {
        defer { card.wipe() }
        guard !Task.isCancelled else { throw .cancelled }
        return try await send(request, card)
    }

    /// With the cart's key, which is on the disk before anything is sent.
    private func send(_ request: PaymentRequest, _ card: PaymentCard) async throws(ObviousCloudError) -> PaymentOutcome
    {
        let cloud = try interactor.cloud()
        guard request.cartId > 0 else { throw ObviousCloudError(.argument, "bad argument") }
        let (storage, name) = interactor.payments(request.cartId, of: cloud)
        let claim = try storage.claim(name)
        guard !claim.isPaid else { return .succeeded }
        do throws(ObviousCloudError) {
            let outcome = try await cloud.pay(request, card: card, idempotencyKey: claim.key, key: interactor.key)
            claim.note(outcome)
            return outcome
        } catch {
            throw claim.judge(error)
        }
    }

    /// What is known of the payment of a cart, without asking the cloud. An open one is asked for by ``pay(_:card:)`` or
    /// `startPaymentProcessing`, with the same card.
    public func payment(ofCart cart: Int) throws(ObviousCloudError) -> CartPayment {
        let (storage, name) = interactor.payments(cart, of: try interactor.cloud())
        guard let record = try storage.record(of: name) else { return .none }
        return record.isPaid ? .paid : .open
    }

    /// Forgets an open payment, whose result the user knows by another way than the cloud: that it was not made. The next
    /// payment of the cart has a key of its own, and charges the card.
    public func forgetOpenPayment(ofCart cart: Int) throws(ObviousCloudError) {
        guard try payment(ofCart: cart) == .open else { return }
        let (storage, name) = interactor.payments(cart, of: try interactor.cloud())
        try storage.remove(name)
    }

    /// Waits until the user has authenticated a payment: asks the cloud every 3 seconds, at most 10 minutes, and once more
    /// then. The outcome is not `.pending`. An error, a timeout included, leaves the payment open: the user may still
    /// authenticate it.
    public func authentication(cartId: Int, paymentSecret: String) async throws(ObviousCloudError) -> PaymentOutcome {
        let clock = interactor.clock
        let end = clock.now + PaymentFlow.longestAuthentication
        while true {
            let isLast = clock.now >= end
            do throws(ObviousCloudError) {
                let outcome = try await interactor.authenticate(cartId, paymentSecret)
                if outcome != .pending { return outcome }
            } catch {
                guard error.isTransient else { throw error }
            }
            guard !isLast else { throw ObviousCloudError(.timeout, "authentication timeout") }
            do {
                try await clock.sleep(until: clock.now + PaymentFlow.pollInterval)
            } catch {
                throw .cancelled
            }
        }
    }
}

extension PaymentFlow.Effect {
    /// The true reason of a failure, where there is one.
    fileprivate func replacingReason(_ error: ObviousCloudError?) -> PaymentFlow.Effect {
        if case .payFail = self, let error { .payFail(error.reason) } else { self }
    }
}

/// A random UUID (version 4) as text.
package func newUUID() -> String {
    let digits = Array("0123456789abcdef")
    var result = ""
    for index in 0..<32 {
        if [8, 12, 16, 20].contains(index) { result += "-" }
        let digit = Int.random(in: 0..<16)
        result.append(digits[index == 12 ? 4 : index == 16 ? 8 + digit % 4 : digit])
    }
    return result
}
