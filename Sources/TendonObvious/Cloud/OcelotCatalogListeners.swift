// SPDX-License-Identifier: MIT
import Tendon

/// Receives the catalog; a weak reference. Called on the loop's thread.
///
/// ```swift
/// final class Store: OcelotCatalogListResultListener {
///     func onCatalogListSuccess(_ catalogList: [CatalogItem]) { print(catalogList.map(\.name)) }
///     func onCatalogListRequestFail(_ error: String?) { print(error ?? "failed") }
/// }
/// ```
@TendonActor
public protocol OcelotCatalogListResultListener: AnyObject {
    /// The catalog was received.
    func onCatalogListSuccess(_ catalogList: [CatalogItem])
    /// The catalog was not received; `error` is a line for people.
    func onCatalogListRequestFail(_ error: String?)
}

/// Receives the results of checkout and payment; a weak reference. Called on the loop's thread. Each step of a payment
/// ends with one of the three functions.
///
/// ```swift
/// final class Store: OcelotCatalogCheckoutResultListener {
///     func onCheckoutCartSuccess(_ totalPrice: Int, _ cartId: Int) { print(totalPrice, cartId) }
///     func onCheckoutCartFail(_ error: String?) {}
///     func onCheckoutPaySuccess() {}
///     func onCheckoutPayFail(_ error: String?) {}
///     func onCheckoutPayActionRequired(_ paymentSecret: String) {}
/// }
/// ```
@TendonActor
public protocol OcelotCatalogCheckoutResultListener: AnyObject {
    /// The cart can be paid. `totalPrice`: in cents.
    func onCheckoutCartSuccess(_ totalPrice: Int, _ cartId: Int)
    /// There is no cart.
    func onCheckoutCartFail(_ error: String?)
    /// The cart is paid: the device receives the features with its next feature update.
    func onCheckoutPaySuccess()
    /// The cart is not paid; it is kept, and can be paid again.
    func onCheckoutPayFail(_ error: String?)
    /// The user must authenticate the payment: pass the secret to
    /// ``OcelotPaymentClient/authenticatePayment(viewController:cartId:paymentSecret:isPresentingApplePay:)``.
    func onCheckoutPayActionRequired(_ paymentSecret: String)
}

/// Shows the page on which a user authenticates a payment: what a view controller does on a phone.
///
/// ```swift
/// final class Screen: ActionPresenter {
///     func present(url: String) { print("open \(url)") }
/// }
/// ```
@TendonActor
public protocol ActionPresenter: AnyObject {
    /// Shows the page; returns without waiting for the user.
    func present(url: String)
}
