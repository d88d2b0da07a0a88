// SPDX-License-Identifier: MIT
//
// Answers as values. What is valid is decided in C: Sources/CObviousCloud.
#if ObviousCloud
    import CObviousCloud
    import CSystemSodium
    import Tendon
    import TendonObvious

    /// Parses a body and lends the answer to `decode`, whose status is thrown.
    private func decoded<Value>(
        _ body: [UInt8], _ decode: (inout tendon_cloud_answer) -> (tendon_cloud_status, Value?)
    ) throws(ObviousCloudError) -> Value {
        var answer = tendon_cloud_answer()
        defer { tendon_cloud_answer_release(&answer) }
        var status = body.withUnsafeBytes {
            tendon_cloud_answer_parse($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, &answer)
        }
        var value: Value?
        if status == TENDON_CLOUD_OK { (status, value) = decode(&answer) }
        if status == TENDON_CLOUD_OK, let value { return value }
        let member = answer.member.map { ": " + String(cString: $0) } ?? ""
        throw ObviousCloudError(.format, String(cString: tendon_cloud_status_text(status)) + member)
    }

    private func string(_ text: tendon_cloud_text) -> String {
        String(decoding: UnsafeRawBufferPointer(start: text.data, count: text.length), as: UTF8.self)
    }

    private func array<Tuple>(_ tuple: Tuple, _ count: Int) -> [UInt8] {
        elements(tuple, of: UInt8.self, count)
    }

    func decodedFeatures(_ body: [UInt8]) throws(ObviousCloudError) -> [ObviousFeature] {
        try decoded(body) { answer in
            var count = 0
            let status = tendon_cloud_features(&answer, &count)
            let features = (0..<count).map { index in
                let feature = tendon_cloud_feature_at(&answer, index)
                return ObviousFeature(
                    id: Int(feature.id), name: string(feature.name), isToggleable: feature.toggleable)
            }
            return (status, features)
        }
    }

    func decodedPackage(_ body: [UInt8]) throws(ObviousCloudError) -> FeaturePackage {
        let package = try decoded(body) { answer in
            var package = tendon_cloud_package()
            var bytes = [UInt8](repeating: 0, count: Int(TENDON_CLOUD_PACKAGE_MAX))
            let status = tendon_cloud_decode_package(&answer, &package, &bytes)
            return (
                status,
                FeaturePackage(
                    bytes: Array(bytes.prefix(package.length)), counter: package.counter,
                    sha256: array(package.sha256, 32))
            )
        }
        var hash = [UInt8](repeating: 0, count: 32)
        crypto_hash_sha256(&hash, package.bytes, UInt64(package.bytes.count))
        guard hash == package.sha256 else {
            throw ObviousCloudError(.crypto, "the package's SHA-256 is not the one that the answer states")
        }
        return package
    }

    func decodedRelease(_ body: [UInt8]) throws(ObviousCloudError) -> FirmwareRelease {
        try decoded(body) { answer in
            var firmware = tendon_cloud_firmware()
            let status = tendon_cloud_decode_firmware(&answer, &firmware)
            let info = OcelotFirmwareInfo(
                versionCode: Int64(firmware.version_code), versionName: string(firmware.version_name),
                releaseNotes: string(firmware.release_notes), upgradeMessage: string(firmware.upgrade_message))
            return (
                status,
                FirmwareRelease(
                    info: info, size: Int(firmware.size), crc32: firmware.crc32, sha256: array(firmware.sha256, 32),
                    manifest: array(firmware.manifest, Int(TENDON_CLOUD_MANIFEST_SIZE)), url: string(firmware.url))
            )
        }
    }

    func decodedCatalog(_ body: [UInt8]) throws(ObviousCloudError) -> [CatalogItem] {
        try decoded(body) { answer in
            var count = 0
            let status = tendon_cloud_items(&answer, &count)
            return (status, (0..<count).map { catalogItem(&answer, $0) })
        }
    }

    private func catalogItem(_ answer: inout tendon_cloud_answer, _ index: Int) -> CatalogItem {
        let item = tendon_cloud_item_at(&answer, index)
        var features: [Int] = []
        for feature in 0..<item.feature_count {
            features.append(Int(tendon_cloud_item_feature(&answer, index, feature)))
        }
        return CatalogItem(
            id: Int(item.id), name: string(item.name), description: string(item.description),
            itemprice: string(item.price), imageurl: string(item.image_url), thumbnailurl: string(item.thumbnail_url),
            currency: string(item.currency), featureIds: features)
    }

    func decodedCart(_ body: [UInt8]) throws(ObviousCloudError) -> ObviousCart {
        try decoded(body) { answer in
            var cart = tendon_cloud_cart()
            let status = tendon_cloud_decode_cart(&answer, &cart)
            return (
                status,
                ObviousCart(id: Int(cart.id), totalPrice: Int(cart.total_price), currency: string(cart.currency))
            )
        }
    }

    func decodedOutcome(_ body: [UInt8]) throws(ObviousCloudError) -> PaymentOutcome {
        let outcome: PaymentOutcome = try decoded(body) { answer in
            var payment = tendon_cloud_payment()
            let status = tendon_cloud_decode_payment(&answer, &payment)
            let outcome: PaymentOutcome =
                switch payment.status {
                case TENDON_CLOUD_PAYMENT_SUCCEEDED: .succeeded
                case TENDON_CLOUD_PAYMENT_PENDING: .pending
                case TENDON_CLOUD_PAYMENT_ACTION_REQUIRED:
                    .actionRequired(PaymentAction(secret: string(payment.secret), url: string(payment.action_url)))
                default:
                    .failed(code: printable(payment.code, 64), message: printable(payment.message, 200))
                }
            return (status, outcome)
        }
        if case .actionRequired(let action) = outcome, !isPage(action.url) {
            throw ObviousCloudError(.format, "the page of the payment is not a URL of https")
        }
        return outcome
    }

    /// Where a user may be sent: the presenter opens the page that it is given. http is for tests.
    private func isPage(_ text: String) -> Bool {
        CloudURL(text).map { $0.origin.isSecure || $0.origin.isLoopback } ?? false
    }

    /// What the cloud says of an error, if that is understandable.
    struct ErrorAnswer {
        var code: String?
        var message: String?
        var inField = false

        init(_ body: [UInt8]) {
            guard
                let error = try? decoded(
                    body,
                    { answer in
                        var error = tendon_cloud_error()
                        let status = tendon_cloud_decode_error(&answer, &error)
                        return (status, (string(error.code), string(error.message), error.in_field))
                    })
            else { return }
            (code, inField) = (error.0, error.2)
            message = error.1.isEmpty ? nil : error.1
        }
    }

    private func printable(_ text: tendon_cloud_text, _ length: Int) -> String {
        ObviousCloudError.printable(string(text), atMost: length)
    }
#endif
