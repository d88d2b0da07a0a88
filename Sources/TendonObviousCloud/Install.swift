// SPDX-License-Identifier: MIT
import TendonObvious

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

extension ObviousCloud {
    /// Installs the cloud of the environment (``ObviousCloudConfiguration/environment()``), and as the demo cloud the one of
    /// `TENDON_OBVIOUS_DEMO_BASE_URL`, if that is set.
    ///
    /// Returns what is wrong with the configuration; every call throws it then.
    @discardableResult
    public static func install() -> ObviousCloudError? {
        install { name in getenv(name).map { String(cString: $0) } }
    }

    @discardableResult
    package static func install(_ environment: (String) -> String?) -> ObviousCloudError? {
        if environment("TENDON_OBVIOUS_DEMO_BASE_URL") != nil {
            installDemo(service("TENDON_OBVIOUS_DEMO_BASE_URL", environment).service)
        }
        let (service, trust, error) = service("TENDON_OBVIOUS_BASE_URL", environment)
        install(service)
        if let trust { install(trust) }
        return error
    }

    private static func service(_ base: String, _ environment: (String) -> String?) -> (
        service: any ObviousCloudService, trust: ObviousTrust?, error: ObviousCloudError?
    ) {
        do {
            let configuration = try ObviousCloudConfiguration.environment(base, environment)
            return (try makeCloud(configuration), trust(configuration), nil)
        } catch {
            return (UnusableCloud(error: error), nil, error)
        }
    }

    /// Installs a cloud and the keys of its packages. Throws if the configuration is not valid: nothing is installed then.
    public static func install(_ configuration: ObviousCloudConfiguration) throws(ObviousCloudError) {
        install(try makeCloud(configuration))
        if let trust = trust(configuration) { install(trust) }
    }

    private static func trust(_ configuration: ObviousCloudConfiguration) -> ObviousTrust? {
        #if ObviousCloud
            return ObviousTrust(keys: configuration.keys, cryptography: SodiumCryptography())
        #else
            return nil
        #endif
    }

    private static func makeCloud(_ configuration: ObviousCloudConfiguration) throws(ObviousCloudError)
        -> any ObviousCloudService
    {
        #if ObviousCloud
            return try HTTPSCloud(configuration)
        #else
            throw ObviousCloudError(.notSupported, "built without the trait ObviousCloud, which brings libcurl")
        #endif
    }
}

/// Every call throws why there is no cloud.
struct UnusableCloud: ObviousCloudService {
    let error: ObviousCloudError

    func features(productId: String, key: ObviousAPIKey?) async throws(ObviousCloudError) -> [ObviousFeature] {
        throw error
    }
    func featureUpdate(_ query: FeatureUpdateQuery, key: ObviousAPIKey?) async throws(ObviousCloudError)
        -> FeatureUpdateAnswer
    { throw error }
    func reportFeatureUpdate(serialNumber: String, counter: UInt64, status: Int, key: ObviousAPIKey?)
        async throws(ObviousCloudError)
    { throw error }
    func provision(serialNumber: String, productId: String, nonce: [UInt8]?, key: ObviousAPIKey?)
        async throws(ObviousCloudError) -> FeaturePackage
    { throw error }
    func latestFirmware(_ query: FirmwareQuery, key: ObviousAPIKey?) async throws(ObviousCloudError) -> FirmwareRelease?
    { throw error }
    func downloadImage(
        of release: FirmwareRelease, to path: String, key: ObviousAPIKey?, progress: (@Sendable (Int) -> Void)?
    ) async throws(ObviousCloudError) { throw error }
    func reportFirmware(serialNumber: String, versionCode: Int64, status: String, key: ObviousAPIKey?)
        async throws(ObviousCloudError)
    { throw error }
    func defaultCatalog(productId: String?, key: ObviousAPIKey?) async throws(ObviousCloudError) -> [CatalogItem] {
        throw error
    }
    func checkout(items: [Int], serialNumber: String, productIdentifier: String, key: ObviousAPIKey?)
        async throws(ObviousCloudError) -> ObviousCart
    { throw error }
    func pay(_ payment: PaymentRequest, card: PaymentCard, idempotencyKey: String, key: ObviousAPIKey?)
        async throws(ObviousCloudError) -> PaymentOutcome
    { throw error }
    func authenticate(cartId: Int, paymentSecret: String, key: ObviousAPIKey?) async throws(ObviousCloudError)
        -> PaymentOutcome
    { throw error }
}
