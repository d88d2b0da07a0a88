// SPDX-License-Identifier: MIT
import Tendon

/// The catalog of features that can be bought, and carts of them.
///
/// ```swift
/// let interactor = OcelotCatalogInteractor.getCatalogInteractor()
/// interactor.setAPIKey("Your API Key")
/// for item in try await interactor.defaultCatalog() { print(item.name, item.itemprice) }
/// ```
///
/// Listeners are called on the loop's thread, never within the function that causes the call.
@TendonActor
public final class OcelotCatalogInteractor {
    private enum Cloud {
        case installed
        case demo
        case own(any ObviousCloudService)
    }

    private static let production = OcelotCatalogInteractor(.installed, SystemClock())
    private static let demo = OcelotCatalogInteractor(.demo, SystemClock())

    private let source: Cloud
    let clock: any ObviousClock
    private(set) var key: ObviousAPIKey?
    private var hasInvalidKey = false
    private weak var catalogListener: (any OcelotCatalogListResultListener)?
    private weak var checkoutListener: (any OcelotCatalogCheckoutResultListener)?
    private var isListing = false
    private var flow = PaymentFlow()
    /// The card of the payment in progress.
    var card: PaymentCard?
    weak var presenter: (any ActionPresenter)?
    private var timer: Task<Void, Never>?
    /// The application's; nil: the standard one, or for a cloud without a name the memory.
    private var storage: PaymentStorage?
    private let memory = PaymentStorage.memory()

    private init(_ source: Cloud, _ clock: any ObviousClock) {
        self.source = source
        self.clock = clock
    }

    /// An interactor with a cloud of its own, beside the shared ones.
    public convenience init(cloud: any ObviousCloudService) { self.init(.own(cloud), SystemClock()) }

    package convenience init(cloud: any ObviousCloudService, clock: any ObviousClock) { self.init(.own(cloud), clock) }

    /// The instance of the program, with the installed cloud.
    public static func getCatalogInteractor() -> OcelotCatalogInteractor { production }
    /// The instance of the program with the demo cloud.
    public static func getDemoCatalogInteractor() -> OcelotCatalogInteractor { demo }

    /// Sets the API key of its calls, instead of that of the cloud's configuration.
    public func setAPIKey(_ key: String) {
        self.key = ObviousAPIKey(key)
        hasInvalidKey = self.key == nil
    }

    /// Sets the listener of catalogs, a weak reference.
    public func setCatalogListListener(_ listener: (any OcelotCatalogListResultListener)?) {
        catalogListener = listener
    }
    /// The same, with its other name.
    public func setCatalogListener(_ listener: (any OcelotCatalogListResultListener)?) { catalogListener = listener }
    /// Sets the listener of checkout and payment, a weak reference.
    public func setCheckoutListener(_ listener: (any OcelotCatalogCheckoutResultListener)?) {
        checkoutListener = listener
    }

    /// Sets where the keys of payments are kept, instead of ``PaymentStorage/standard``.
    public func setPaymentStorage(_ storage: PaymentStorage) { self.storage = storage }

    /// The storage for a cart of this cloud, and its name there.
    func payments(_ cart: Int, of cloud: any ObviousCloudService) -> (storage: PaymentStorage, name: CartName) {
        let scope = cloud.paymentScope
        return (storage ?? (scope == nil ? memory : .standard), CartName(cart: cart, cloud: scope ?? ""))
    }

    /// Asks for the state of a payment that required an action, and notes a definite answer.
    func authenticate(_ cart: Int, _ secret: String) async throws(ObviousCloudError) -> PaymentOutcome {
        let cloud = try cloud()
        let outcome = try await cloud.authenticate(cartId: cart, paymentSecret: secret, key: key)
        let (storage, name) = payments(cart, of: cloud)
        storage.settle(name, outcome)
        return outcome
    }

    func cloud() throws(ObviousCloudError) -> any ObviousCloudService {
        guard !hasInvalidKey else { throw .noAPIKey }
        let service: (any ObviousCloudService)? =
            switch source {
            case .installed: ObviousCloud.installed
            case .demo: ObviousCloud.demo
            case .own(let service): service
            }
        guard let service else { throw .noCloud }
        return service
    }

    // MARK: Catalog

    /// Requests the catalog of all products.
    @discardableResult
    public func getDefaultCatalog() -> Bool { getDefaultCatalog(productId: nil) }
    /// Requests the catalog of a product. Returns false, and calls no listener, while one is being received.
    @discardableResult
    public func getDefaultCatalog(_ productId: String) -> Bool { getDefaultCatalog(productId: productId) }

    private func getDefaultCatalog(productId: String?) -> Bool {
        guard !isListing else { return false }
        isListing = true
        Task { @TendonActor in
            let result: Result<[CatalogItem], ObviousCloudError> = await resultOf { () throws(ObviousCloudError) in
                try await self.defaultCatalog(productId: productId)
            }
            self.isListing = false
            switch result {
            case .success(let items): self.catalogListener?.onCatalogListSuccess(items)
            case .failure(let error): self.catalogListener?.onCatalogListRequestFail(error.description)
            }
        }
        return true
    }

    /// The catalog of a product, or of all.
    public func defaultCatalog(productId: String? = nil) async throws(ObviousCloudError) -> [CatalogItem] {
        try await cloud().defaultCatalog(productId: productId, key: key)
    }

    // MARK: Checkout

    /// Makes a cart of items for a device. Returns false, and calls no listener, while another checkout or a payment is in
    /// progress.
    @discardableResult
    public func checkoutCart(checkout: [CatalogItem], serialNumber: String, productIdentifier: String) -> Bool {
        let effects = handle(
            .checkout(items: checkout.count, serialNumber: serialNumber, productIdentifier: productIdentifier))
        guard effects.first != .busy else { return false }
        guard effects.first == .sendCheckout else {
            later(effects)
            return true
        }
        Task { @TendonActor in
            let result: Result<ObviousCart, ObviousCloudError> = await resultOf { () throws(ObviousCloudError) in
                try await self.cloud().checkout(
                    items: checkout.map(\.id), serialNumber: serialNumber, productIdentifier: productIdentifier,
                    key: self.key)
            }
            self.perform(self.handle(.checkoutEnded(result)))
        }
        return true
    }

    /// Makes a cart of items for a device.
    public func checkout(_ items: [CatalogItem], serialNumber: String, productIdentifier: String)
        async throws(ObviousCloudError) -> ObviousCart
    {
        guard !items.isEmpty else { throw ObviousCloudError(.argument, "empty cart") }
        guard !serialNumber.isEmpty, !productIdentifier.isEmpty else {
            throw ObviousCloudError(.argument, "bad argument")
        }
        return try await cloud().checkout(
            items: items.map(\.id), serialNumber: serialNumber, productIdentifier: productIdentifier, key: key)
    }

    // MARK: The payment's state machine; see OcelotPaymentClient

    func handle(_ input: PaymentFlow.Input) -> [PaymentFlow.Effect] { flow.handle(input, at: clock.now) }

    /// Performs effects, but not within the function that the application called.
    func later(_ effects: [PaymentFlow.Effect]) {
        Task { @TendonActor in self.perform(effects) }
    }

    func perform(_ effects: [PaymentFlow.Effect]) {
        for effect in effects { perform(effect) }
        setTimer()
    }

    private func perform(_ effect: PaymentFlow.Effect) {
        switch effect {
        case .cartSuccess(let price, let cart): checkoutListener?.onCheckoutCartSuccess(price, cart)
        case .cartFail(let reason): checkoutListener?.onCheckoutCartFail(reason)
        case .paySuccess: checkoutListener?.onCheckoutPaySuccess()
        case .payFail(let reason): checkoutListener?.onCheckoutPayFail(reason)
        case .payActionRequired(let secret): checkoutListener?.onCheckoutPayActionRequired(secret)
        case .wipeCard:
            card?.wipe()
            card = nil
        case .present(let url): presenter?.present(url: url)
        case .poll(let cart, let secret): poll(cart, secret)
        case .sendCheckout, .sendPayment, .busy: break
        }
    }

    private func poll(_ cart: Int, _ secret: String) {
        Task { @TendonActor in
            let result: Result<PaymentOutcome, ObviousCloudError> = await resultOf { () throws(ObviousCloudError) in
                try await self.authenticate(cart, secret)
            }
            self.perform(self.handle(.pollEnded(cart: cart, secret: secret, result)))
        }
    }

    /// One timer, for the state machine's next deadline.
    private func setTimer() {
        timer?.cancel()
        timer = nil
        guard let deadline = flow.deadline else { return }
        timer = Task { @TendonActor [weak self, clock] in
            guard (try? await clock.sleep(until: deadline)) != nil, !Task.isCancelled, let self else { return }
            self.timer = nil
            self.perform(self.handle(.time))
        }
    }
}

/// A result instead of a throw.
@TendonActor
func resultOf<Value: Sendable>(_ body: @TendonActor () async throws(ObviousCloudError) -> Value) async -> Result<
    Value, ObviousCloudError
> {
    do {
        return .success(try await body())
    } catch {
        return .failure(error)
    }
}
