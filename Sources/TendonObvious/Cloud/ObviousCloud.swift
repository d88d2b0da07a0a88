// SPDX-License-Identifier: MIT
import Synchronization

/// The cloud of this program.
///
/// The module `TendonObviousCloud` adds `ObviousCloud.install()`: the one line that a ported program adds.
public enum ObviousCloud {
    private struct Installed {
        var production: (any ObviousCloudService)?
        var demo: (any ObviousCloudService)?
        var trust: ObviousTrust?
    }

    private static let services = Mutex(Installed())

    /// The service that managers use which were not given another one; `nil`: none is installed.
    public static var installed: (any ObviousCloudService)? { services.withLock { $0.production } }
    /// The service of the demo managers (`getDemoFeatureManager()` and others); `nil`: none is installed.
    public static var demo: (any ObviousCloudService)? { services.withLock { $0.demo } }

    /// The keys, and the functions that verify with them, of managers that were not given others; `nil`: nothing is
    /// installed, and packages and firmware are rejected.
    public static var trust: ObviousTrust? { services.withLock { $0.trust } }

    /// Installs keys and the functions that verify with them.
    public static func install(_ trust: ObviousTrust) {
        services.withLock { $0.trust = trust }
    }

    /// Installs a service, for managers that start an operation from now on.
    public static func install(_ service: any ObviousCloudService) {
        services.withLock { $0.production = service }
    }

    /// Installs a service for the demo managers.
    public static func installDemo(_ service: any ObviousCloudService) {
        services.withLock { $0.demo = service }
    }
}

/// The calls of the cloud's API: docs/protocols/obvious.md. The module `TendonObviousCloud` implements it over HTTPS.
///
/// `key`: the API key that the application set, `nil`: the one of the service's configuration. Without any key every call
/// throws ``ObviousCloudError/noAPIKey`` and sends nothing. Every function is cancelled with its task.
///
/// ```swift
/// guard let cloud = ObviousCloud.installed else { return }
/// for feature in try await cloud.features(productId: "1234", key: nil) { print(feature.id, feature.name) }
/// ```
public protocol ObviousCloudService: Sendable {
    /// The cloud, as a text that is the same in every run of every program: carts and their payments are kept on the disk
    /// under it (``PaymentStorage``). `nil`, unless a service implements it: they are kept in memory.
    var paymentScope: String? { get }

    /// The features of a product.
    func features(productId: String, key: ObviousAPIKey?) async throws(ObviousCloudError) -> [ObviousFeature]

    /// The package with the features that the device may have.
    func featureUpdate(_ query: FeatureUpdateQuery, key: ObviousAPIKey?) async throws(ObviousCloudError)
        -> FeatureUpdateAnswer

    /// Reports what the device did with the package of this counter: 0 or a status of its own.
    func reportFeatureUpdate(serialNumber: String, counter: UInt64, status: Int, key: ObviousAPIKey?)
        async throws(ObviousCloudError)

    /// The package that provisions a device; ``ObviousCloudError/isProvisioningForbidden`` if the cloud does not permit it.
    func provision(serialNumber: String, productId: String, nonce: [UInt8]?, key: ObviousAPIKey?)
        async throws(ObviousCloudError) -> FeaturePackage

    /// The newest firmware for the device; `nil`: nothing newer.
    func latestFirmware(_ query: FirmwareQuery, key: ObviousAPIKey?) async throws(ObviousCloudError) -> FirmwareRelease?

    /// Downloads the image of a release to the file at `path`, at most its announced size. An interrupted download leaves
    /// a part beside the file (`path` with `.part`) and continues there the next time. The caller verifies the image.
    ///
    /// `progress` is called with the bytes that are in the file, from any thread.
    func downloadImage(
        of release: FirmwareRelease, to path: String, key: ObviousAPIKey?, progress: (@Sendable (Int) -> Void)?)
        async throws(ObviousCloudError)

    /// Reports the result of an upgrade: "SUCCESS", "FAILED" …
    func reportFirmware(serialNumber: String, versionCode: Int64, status: String, key: ObviousAPIKey?)
        async throws(ObviousCloudError)

    /// The default catalog, of one product or (`nil`) of all.
    func defaultCatalog(productId: String?, key: ObviousAPIKey?) async throws(ObviousCloudError) -> [CatalogItem]

    /// Makes a cart of items for a device.
    func checkout(items: [Int], serialNumber: String, productIdentifier: String, key: ObviousAPIKey?)
        async throws(ObviousCloudError) -> ObviousCart

    /// Pays a cart. The request is sent again at most once, with the same `idempotencyKey` (a UUID), and only if no answer
    /// began. ``ObviousCloudError/isUnknownResult`` if it stays unknown whether the card was charged: whatever happened
    /// after the request left, also that the task was cancelled, unless the cloud's answer is definite. Does not wipe the
    /// card.
    func pay(_ payment: PaymentRequest, card: PaymentCard, idempotencyKey: String, key: ObviousAPIKey?)
        async throws(ObviousCloudError) -> PaymentOutcome

    /// The state of a payment that required an action of the user.
    func authenticate(cartId: Int, paymentSecret: String, key: ObviousAPIKey?) async throws(ObviousCloudError)
        -> PaymentOutcome
}

extension ObviousCloudService {
    public var paymentScope: String? { nil }
}
