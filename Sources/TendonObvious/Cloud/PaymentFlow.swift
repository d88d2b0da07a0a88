// SPDX-License-Identifier: MIT

/// Checkout and payment as a state machine: inputs and the time in, effects out. It performs nothing itself, and never
/// reports two of success, failure and action for one step.
struct PaymentFlow {
    enum State: Equatable {
        /// No cart, or the last one is paid.
        case idle
        /// A cart is being made; the one before it is no longer paid.
        case checkingOut
        case cart
        /// A payment was sent.
        case paying(cart: Int)
        /// The user must authenticate; the application was notified and has until `deadline`.
        case action(cart: Int, PaymentAction, round: Int, deadline: UInt64)
        /// The user was sent to the page, or had the time to be; the cloud is asked at `next` (nil: it is being asked),
        /// until `deadline`, and once more then: what it says last is the result.
        case authenticating(cart: Int, secret: String, round: Int, next: UInt64?, deadline: UInt64)
    }

    enum Input {
        case checkout(items: Int, serialNumber: String, productIdentifier: String)
        case checkoutEnded(Result<ObviousCart, ObviousCloudError>)
        /// The local checks of a card have been made: `isValid`.
        case pay(cart: Int, isValid: Bool)
        case payEnded(Result<PaymentOutcome, ObviousCloudError>)
        case authenticate(cart: Int, secret: String, isApplePay: Bool)
        /// The application knows that the user has finished: asks now.
        case actionFinished(cart: Int)
        case pollEnded(cart: Int, secret: String, Result<PaymentOutcome, ObviousCloudError>)
        case time
    }

    enum Effect: Equatable {
        case sendCheckout
        case sendPayment
        case wipeCard
        case present(url: String)
        case poll(cart: Int, secret: String)
        case cartSuccess(totalPrice: Int, cartId: Int)
        case cartFail(String)
        case paySuccess
        case payFail(String)
        case payActionRequired(secret: String)
        /// The call is refused: nothing happens, no callback.
        case busy
    }

    static let pollInterval: UInt64 = 3000
    static let longestAuthentication: UInt64 = 600_000
    static let longestWait: UInt64 = 900_000
    static let mostRounds = 3

    private(set) var state = State.idle

    /// When `.time` is due; nil: never.
    var deadline: UInt64? {
        switch state {
        case .action(_, _, _, let deadline): deadline
        case .authenticating(_, _, _, let next, let deadline): next.map { min($0, deadline) }
        default: nil
        }
    }

    mutating func handle(_ input: Input, at now: UInt64) -> [Effect] {
        switch input {
        case .checkout(let items, let serial, let product): checkout(items, serial, product)
        case .checkoutEnded(let result): checkoutEnded(result)
        case .pay(let cart, let isValid): pay(cart, isValid)
        case .payEnded(let result): payEnded(result, now)
        case .authenticate(let cart, let secret, let isApplePay): authenticate(cart, secret, isApplePay, now)
        case .actionFinished(let cart): actionFinished(cart)
        case .pollEnded(let cart, let secret, let result): pollEnded(cart, secret, result, now)
        case .time: tick(now)
        }
    }

    // MARK: Cart

    private mutating func checkout(_ items: Int, _ serial: String, _ product: String) -> [Effect] {
        guard items > 0 else { return [.cartFail("empty cart")] }
        guard !serial.isEmpty, !product.isEmpty else { return [.cartFail("bad argument")] }
        switch state {
        case .idle, .cart:
            state = .checkingOut
            return [.sendCheckout]
        default: return [.busy]
        }
    }

    private mutating func checkoutEnded(_ result: Result<ObviousCart, ObviousCloudError>) -> [Effect] {
        guard state == .checkingOut else { return [] }
        switch result {
        case .success(let cart):
            state = .cart
            return [.cartSuccess(totalPrice: cart.totalPrice, cartId: cart.id)]
        case .failure(let error):
            state = .idle
            return [.cartFail(error.description)]
        }
    }

    // MARK: Payment

    /// Also without a cart of this program's: the cloud keeps carts.
    private mutating func pay(_ cart: Int, _ isValid: Bool) -> [Effect] {
        switch state {
        case .idle, .cart:
            guard isValid else { return [.wipeCard, .payFail(ObviousCloudError.invalidCard.reason)] }
            guard cart > 0 else { return [.wipeCard, .payFail("bad argument")] }
            state = .paying(cart: cart)
            return [.sendPayment]
        default: return [.wipeCard, .busy]
        }
    }

    private mutating func payEnded(_ result: Result<PaymentOutcome, ObviousCloudError>, _ now: UInt64) -> [Effect] {
        guard case .paying(let cart) = state else { return [] }
        return [.wipeCard] + step(result, cart, round: 0, now)
    }

    /// The result of a payment or of an authentication: one of three.
    private mutating func step(
        _ result: Result<PaymentOutcome, ObviousCloudError>, _ cart: Int, round: Int, _ now: UInt64
    ) -> [Effect] {
        switch result {
        case .success(.succeeded):
            state = .idle
            return [.paySuccess]
        case .success(.actionRequired(let action)) where round < Self.mostRounds:
            state = .action(cart: cart, action, round: round + 1, deadline: now + Self.longestWait)
            return [.payActionRequired(secret: action.secret)]
        case .success(.actionRequired): return fail("too many authentications")
        case .success(.failed(let code, let message)): return fail(message.isEmpty ? code : message)
        case .success(.pending): return fail(ObviousCloudError.unknownResult.reason)
        case .failure(let error): return fail(error.description)
        }
    }

    private mutating func fail(_ reason: String) -> [Effect] {
        state = .cart
        return [.payFail(reason)]
    }

    // MARK: Authentication

    private mutating func authenticate(_ cart: Int, _ secret: String, _ isApplePay: Bool, _ now: UInt64) -> [Effect] {
        guard case .action(cart, let action, let round, _) = state, action.secret == secret else { return [.busy] }
        guard !isApplePay else { return fail("unsupported") }
        state = .authenticating(
            cart: cart, secret: secret, round: round, next: now + Self.pollInterval,
            deadline: now + Self.longestAuthentication)
        return [.present(url: action.url)]
    }

    private mutating func actionFinished(_ cart: Int) -> [Effect] {
        guard case .authenticating(cart, _, _, _, _) = state else { return [.busy] }
        return poll()
    }

    /// One request at a time: the next is due a while after the answer to this. An answer is always waited for: it may be
    /// that the cart is paid, however late.
    private mutating func poll() -> [Effect] {
        guard case .authenticating(let cart, let secret, let round, _?, let deadline) = state else { return [] }
        state = .authenticating(cart: cart, secret: secret, round: round, next: nil, deadline: deadline)
        return [.poll(cart: cart, secret: secret)]
    }

    /// An answer that comes after its payment has ended is of no payment.
    private mutating func pollEnded(
        _ cart: Int, _ secret: String, _ result: Result<PaymentOutcome, ObviousCloudError>, _ now: UInt64
    ) -> [Effect] {
        guard case .authenticating(cart, secret, let round, nil, let deadline) = state else { return [] }
        guard !Self.isOpen(result) else {
            guard now < deadline else { return fail("authentication timeout") }
            state = .authenticating(
                cart: cart, secret: secret, round: round, next: now + Self.pollInterval, deadline: deadline)
            return []
        }
        return step(result, cart, round: round, now)
    }

    /// Not a result yet: the user is not finished, or the cloud was not reachable.
    private static func isOpen(_ result: Result<PaymentOutcome, ObviousCloudError>) -> Bool {
        switch result {
        case .success(let outcome): outcome == .pending
        case .failure(let error): error.isTransient
        }
    }

    private mutating func tick(_ now: UInt64) -> [Effect] {
        guard let deadline, deadline <= now else { return [] }
        switch state {
        case .action(let cart, let action, let round, let deadline):
            state = .authenticating(cart: cart, secret: action.secret, round: round, next: now, deadline: deadline)
            return poll()
        case .authenticating: return poll()
        default: return []
        }
    }
}

extension ObviousCloudError {
    /// Whether the same question can be answered later: all but what the cloud itself rejects, and what was not sent.
    var isTransient: Bool {
        switch kind {
        case .network, .timeout, .format: true
        case .http: !provesNothingWasCharged
        default: false
        }
    }
}
