// SPDX-License-Identifier: MIT
#if ObviousCloud
    import Glibc
    import Synchronization
    import TendonObvious

    /// A cloud in the program: answers as it is set, and remembers what it was asked.
    public final class ScriptedCloud: ObviousCloudService {
        public struct Script: Sendable {
            public var features = [
                ObviousFeature(id: 16, name: "Led", isToggleable: true),
                ObviousFeature(id: 20, name: "Zoom", isToggleable: false),
            ]
            /// One answer per query; then the last one again.
            public var updates: [Result<FeatureUpdateAnswer, ObviousCloudError>] = [.success(.nothingNew)]
            public var provisioning: Result<FeaturePackage, ObviousCloudError> = .failure(
                ObviousCloudError(.http, "refused", httpStatus: 403, code: "IN_FIELD_NOT_ALLOWED"))
            public var release: FirmwareRelease?
            public var image: [UInt8] = []
            public var error: ObviousCloudError?
            /// No call returns before its task is cancelled.
            public var isSilent = false
            /// No report returns before this is false, or its task is cancelled.
            public var holdsReports = false
            public var reportError: ObviousCloudError?
            /// A report that is held does not end with its task.
            public var ignoresCancellation = false
        }

        public struct Calls: Sendable {
            public var updates: [FeatureUpdateQuery] = []
            public var provisioned: [String] = []
            public var reports: [UInt64] = []
            /// Reports of both kinds that the cloud has accepted.
            public var madeReports = 0
            /// Made, failed or cancelled.
            public var endedReports = 0
            public var firmware: [FirmwareQuery] = []
            public var firmwareReports: [String] = []
            public var keys: [ObviousAPIKey?] = []
            public var products: [String] = []
            /// Images that were downloaded: whether there was a file of an earlier download.
            public var downloads: [Bool] = []
            /// Calls whose task was cancelled while the cloud was silent.
            public var cancelled = 0
        }

        private let script: Mutex<Script>
        private let made = Mutex(Calls())
        public var calls: Calls { made.withLock { $0 } }

        public init(_ change: (inout Script) -> Void = { _ in }) {
            var script = Script()
            change(&script)
            self.script = Mutex(script)
        }

        public func set(_ change: (inout Script) -> Void) { script.withLock { change(&$0) } }

        private func ready(_ key: ObviousAPIKey?) async throws(ObviousCloudError) -> Script {
            made.withLock { $0.keys.append(key) }
            while script.withLock({ $0.isSilent }) {
                do {
                    try await Task.sleep(for: .seconds(3600))
                } catch {
                    made.withLock { $0.cancelled += 1 }
                    throw .cancelled
                }
            }
            let script = script.withLock { $0 }
            if let error = script.error { throw error }
            return script
        }

        public func features(productId: String, key: ObviousAPIKey?) async throws(ObviousCloudError) -> [ObviousFeature]
        {
            made.withLock { $0.products.append(productId) }
            return try await ready(key).features
        }

        public func featureUpdate(_ query: FeatureUpdateQuery, key: ObviousAPIKey?) async throws(ObviousCloudError)
            -> FeatureUpdateAnswer
        {
            made.withLock { $0.updates.append(query) }
            _ = try await ready(key)
            let answer = script.withLock { script in
                script.updates.count > 1 ? script.updates.removeFirst() : script.updates[0]
            }
            return try answer.get()
        }

        public func reportFeatureUpdate(serialNumber: String, counter: UInt64, status: Int, key: ObviousAPIKey?)
            async throws(ObviousCloudError)
        {
            made.withLock { $0.reports.append(counter) }
            defer { made.withLock { $0.endedReports += 1 } }
            _ = try await ready(key)
            try await finishReport()
        }

        private func finishReport() async throws(ObviousCloudError) {
            while script.withLock({ $0.holdsReports }) {
                do {
                    try await Task.sleep(for: .milliseconds(2))
                } catch {
                    guard script.withLock({ $0.ignoresCancellation }) else { throw .cancelled }
                    await Task.yield()
                }
            }
            if let error = script.withLock({ $0.reportError }) { throw error }
            made.withLock { $0.madeReports += 1 }
        }

        public func provision(serialNumber: String, productId: String, nonce: [UInt8]?, key: ObviousAPIKey?)
            async throws(ObviousCloudError) -> FeaturePackage
        {
            made.withLock { $0.provisioned.append(serialNumber) }
            return try await ready(key).provisioning.get()
        }

        public func latestFirmware(_ query: FirmwareQuery, key: ObviousAPIKey?) async throws(ObviousCloudError)
            -> FirmwareRelease?
        {
            made.withLock { $0.firmware.append(query) }
            return try await ready(key).release
        }

        public func downloadImage(
            of release: FirmwareRelease, to path: String, key: ObviousAPIKey?, progress: (@Sendable (Int) -> Void)?
        ) async throws(ObviousCloudError) {
            made.withLock { $0.downloads.append(access(path, F_OK) == 0) }
            let image = try await ready(key).image
            guard write(image, to: path) else { throw ObviousCloudError(.storage, "the image cannot be written") }
            progress?(image.count)
        }

        public func reportFirmware(serialNumber: String, versionCode: Int64, status: String, key: ObviousAPIKey?)
            async throws(ObviousCloudError)
        {
            made.withLock { $0.firmwareReports.append(status) }
            _ = try await ready(key)
            try await finishReport()
        }

        public func defaultCatalog(productId: String?, key: ObviousAPIKey?) async throws(ObviousCloudError)
            -> [CatalogItem]
        {
            _ = try await ready(key)
            return [
                CatalogItem(
                    id: 7, name: "Zoom", description: "", itemprice: "4.99", imageurl: "", thumbnailurl: "",
                    currency: "USD", featureIds: [20])
            ]
        }

        public func checkout(items: [Int], serialNumber: String, productIdentifier: String, key: ObviousAPIKey?)
            async throws(ObviousCloudError) -> ObviousCart
        {
            _ = try await ready(key)
            return ObviousCart(id: 991, totalPrice: 499 * items.count, currency: "USD")
        }

        /// Requires an action of the user.
        public func pay(_ payment: PaymentRequest, card: PaymentCard, idempotencyKey: String, key: ObviousAPIKey?)
            async throws(ObviousCloudError) -> PaymentOutcome
        {
            _ = try await ready(key)
            return .actionRequired(PaymentAction(secret: "secret", url: "https://example.com/authenticate"))
        }

        public func authenticate(cartId: Int, paymentSecret: String, key: ObviousAPIKey?)
            async throws(ObviousCloudError)
            -> PaymentOutcome
        {
            _ = try await ready(key)
            return .succeeded
        }
    }
#endif
