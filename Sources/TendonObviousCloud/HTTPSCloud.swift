// SPDX-License-Identifier: MIT
#if ObviousCloud
    import CTendon
    import TendonObvious
    import TendonSupport

    /// The cloud's API over HTTPS.
    final class HTTPSCloud: ObviousCloudService {
        /// The base URL in one form: carts are numbers of this cloud.
        var paymentScope: String? {
            let origin = site.base.origin
            let path = site.prefix.split(separator: "/", omittingEmptySubsequences: false).dropFirst(3)
            return (["\(origin.scheme)://\(origin.host):\(origin.port)"] + path).joined(separator: "/")
        }
        let site: Site
        let engine: TransferEngine
        private let clock: any ObviousClock
        /// 0.8 to 1.2: spreads the retries of many gateways.
        private let jitter: @Sendable () -> Double

        init(
            _ configuration: ObviousCloudConfiguration, clock: any ObviousClock = SystemClock(),
            jitter: @escaping @Sendable () -> Double = { Double.random(in: 0.8...1.2) }
        ) throws(ObviousCloudError) {
            site = try Site(configuration)
            engine = try TransferEngine()
            self.clock = clock
            self.jitter = jitter
        }

        private static let userAgent = "User-Agent: obv-gateway/" + String(cString: tendon_version())

        // MARK: Requests

        /// A request with the headers of every call; the key goes to the base URL's origin only.
        private func request(_ url: CloudURL, _ key: ObviousAPIKey?, body: RequestBody = .none)
            throws(ObviousCloudError) -> HTTPRequest
        {
            guard let key = key ?? site.configuration.apiKey else { throw .noAPIKey }
            var headers = [Self.userAgent]
            let isHome = url.origin == site.base.origin
            if isHome { headers.append("X-Obvious-Api-Key: " + key.text) }
            return HTTPRequest(
                url: url, headers: headers, body: body, pin: isHome ? site.configuration.publicKeySHA256 : nil,
                authorityFile: site.configuration.authorityFile, limits: site.configuration.limits)
        }

        private func call(_ path: String, _ key: ObviousAPIKey?, body: RequestBody = .none) throws(ObviousCloudError)
            -> HTTPRequest
        {
            guard let url = CloudURL(site.prefix + path) else { throw ObviousCloudError(.argument, "bad argument") }
            var request = try request(url, key, body: body)
            request.headers.append("Accept: application/json")
            if case .none = body {} else { request.headers.append("Content-Type: application/json") }
            return request
        }

        private func call(_ path: String, _ key: ObviousAPIKey?, json: JSON) throws(ObviousCloudError) -> HTTPRequest {
            try call(path, key, body: .bytes(Array(json.text.utf8)))
        }

        // MARK: Sending

        /// Sends, and repeats after failures that may pass.
        private func send(_ request: HTTPRequest) async throws(ObviousCloudError) -> HTTPAnswer {
            var attempt = 0
            while true {
                let result = await engine.run(request)
                guard attempt < site.configuration.limits.retries.count, let pause = pause(after: result, attempt)
                else {
                    return try answer(result)
                }
                attempt += 1
                try await sleep(pause)
            }
        }

        /// Once, on a connection of its own.
        private func sendOnce(_ request: HTTPRequest) async throws(ObviousCloudError) -> HTTPAnswer {
            var request = request
            request.usesNewConnection = true
            return try answer(await engine.run(request))
        }

        /// Milliseconds to wait before the next attempt; nil: another attempt changes nothing.
        private func pause(after result: TransferResult, _ attempt: Int) -> UInt64? {
            var asked: UInt64 = 0
            switch result {
            case .success(let answer):
                guard answer.status == 429 || (502...504).contains(answer.status) else { return nil }
                asked = min(UInt64(answer.retryAfter) * 1000, site.configuration.limits.longestRetryAfter)
            case .failure(.network), .failure(.timeout): break
            case .failure: return nil
            }
            let own = UInt64(Double(site.configuration.limits.retries[attempt]) * min(max(jitter(), 0.8), 1.2))
            return max(own, asked)
        }

        private func sleep(_ milliseconds: UInt64) async throws(ObviousCloudError) {
            do {
                try await clock.sleep(until: clock.now + milliseconds)
            } catch {
                throw .cancelled
            }
        }

        private func answer(_ result: TransferResult) throws(ObviousCloudError) -> HTTPAnswer {
            switch result {
            case .success(let answer): return answer
            case .failure(let failure): throw error(of: failure)
            }
        }

        private func error(of failure: TransferFailure) -> ObviousCloudError {
            switch failure {
            case .cancelled: .cancelled
            case .timeout: ObviousCloudError(.timeout, "the cloud did not answer in time")
            case .tooLarge: ObviousCloudError(.format, "the answer exceeds its limit")
            case .wrongRange: ObviousCloudError(.format, "the answer is not the requested part of the image")
            case .storage: ObviousCloudError(.storage, "the transfer could not be started, or its file not written")
            case .network(let text, _, _), .untrusted(let text): ObviousCloudError(.network, text)
            }
        }

        /// An answer with another status than expected.
        private func refused(_ answer: HTTPAnswer) -> ObviousCloudError {
            guard !(300...399).contains(answer.status) else {
                return ObviousCloudError(.http, "redirects are not followed", httpStatus: answer.status)
            }
            let error = ErrorAnswer(answer.body)
            return ObviousCloudError(
                .http, error.message ?? "the cloud rejected the request", httpStatus: answer.status, code: error.code)
        }

        /// A report: 204, whatever the body.
        private func report(_ request: HTTPRequest) async throws(ObviousCloudError) {
            let answer = try await send(request)
            guard answer.status == 204 || answer.status == 200 else { throw refused(answer) }
        }
    }

    // MARK: - Features

    extension HTTPSCloud {
        func features(productId: String, key: ObviousAPIKey?) async throws(ObviousCloudError) -> [ObviousFeature] {
            let answer = try await send(call("/v1/products/\(pathSegment(productId))/features", key))
            guard answer.status == 200 else { throw refused(answer) }
            return try decodedFeatures(answer.body)
        }

        func featureUpdate(_ query: FeatureUpdateQuery, key: ObviousAPIKey?) async throws(ObviousCloudError)
            -> FeatureUpdateAnswer
        {
            var body: JSON = [
                "productId": JSON(query.productId), "counter": JSON(String(query.counter)),
                "firmwareVersion": JSON(query.firmwareVersion), "appVersion": JSON(query.appVersion),
            ]
            if let nonce = query.nonce { body["nonce"] = JSON(hexadecimal(nonce)) }
            let path = "/v1/devices/\(try pathSegment(query.serialNumber))/feature-update"
            let answer = try await send(call(path, key, json: body))
            switch answer.status {
            case 200: return .package(try decodedPackage(answer.body))
            case 204: return .nothingNew
            case 404:
                let error = ErrorAnswer(answer.body)
                guard error.code == "NOT_PROVISIONED" else { throw refused(answer) }
                return .notProvisioned(inField: error.inField)
            default: throw refused(answer)
            }
        }

        func reportFeatureUpdate(serialNumber: String, counter: UInt64, status: Int, key: ObviousAPIKey?)
            async throws(ObviousCloudError)
        {
            let path = "/v1/devices/\(try pathSegment(serialNumber))/feature-update/result"
            try await report(call(path, key, json: ["counter": JSON(String(counter)), "status": JSON(status)]))
        }

        func provision(serialNumber: String, productId: String, nonce: [UInt8]?, key: ObviousAPIKey?)
            async throws(ObviousCloudError) -> FeaturePackage
        {
            var body: JSON = ["productId": JSON(productId)]
            if let nonce { body["nonce"] = JSON(hexadecimal(nonce)) }
            let answer = try await send(call("/v1/devices/\(pathSegment(serialNumber))/provision", key, json: body))
            guard answer.status == 200 else { throw refused(answer) }
            return try decodedPackage(answer.body)
        }
    }

    /// Digits of bytes, without a separator.
    private func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef")
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    // MARK: - Firmware

    extension HTTPSCloud {
        func latestFirmware(_ query: FirmwareQuery, key: ObviousAPIKey?) async throws(ObviousCloudError)
            -> FirmwareRelease?
        {
            let path = "/v1/products/\(try pathSegment(query.productId))/firmware/latest"
            let values =
                "?serial=\(try pathSegment(query.serialNumber))&current=\(try pathSegment(query.currentVersion))"
            let application = "&platform=linux&app=\(try pathSegment(query.appVersion))"
            let answer = try await send(call(path + values + application, key))
            if answer.status == 204 { return nil }
            guard answer.status == 200 else { throw refused(answer) }
            return try decodedRelease(answer.body)
        }

        func downloadImage(
            of release: FirmwareRelease, to path: String, key: ObviousAPIKey?, progress: (@Sendable (Int) -> Void)?
        ) async throws(ObviousCloudError) {
            let url = try site.imageURL(release.url)
            let file = try ImageFile(path: path, size: release.size, progress: progress)
            var attempt = 0
            var hasStartedOver = false
            while !file.isComplete {
                var request = try request(url, key)
                request.headers += file.rangeHeaders
                request.image = file
                file.prepareForAnswer()
                let result = await engine.run(request)
                if case .success(let answer) = result, answer.status == 416, !hasStartedOver {
                    hasStartedOver = true
                    try startOver(file)
                } else if attempt < site.configuration.limits.retries.count, let pause = pause(after: result, attempt) {
                    attempt += 1
                    try await sleep(pause)
                } else {
                    try check(answer(result), file)
                }
            }
            try file.complete()
        }

        private func startOver(_ file: ImageFile) throws(ObviousCloudError) {
            do throws(TransferFailure) {
                try file.startOver()
            } catch {
                throw ImageFile.failed
            }
        }

        /// An answer that is not repeated must be the rest of the image.
        private func check(_ answer: HTTPAnswer, _ file: ImageFile) throws(ObviousCloudError) {
            guard answer.status == 200 || answer.status == 206 else { throw refused(answer) }
            guard file.isComplete else { throw ObviousCloudError(.format, "the image is shorter than announced") }
        }

        func reportFirmware(serialNumber: String, versionCode: Int64, status: String, key: ObviousAPIKey?)
            async throws(ObviousCloudError)
        {
            let path = "/v1/devices/\(try pathSegment(serialNumber))/firmware-result"
            try await report(call(path, key, json: ["versionCode": JSON(versionCode), "status": JSON(status)]))
        }
    }

    // MARK: - Shop

    extension HTTPSCloud {
        func defaultCatalog(productId: String?, key: ObviousAPIKey?) async throws(ObviousCloudError) -> [CatalogItem] {
            var path = "/v1/catalogs/default"
            if let productId { path += "?productId=" + (try pathSegment(productId)) }
            let answer = try await send(call(path, key))
            guard answer.status == 200 else { throw refused(answer) }
            return try decodedCatalog(answer.body)
        }

        /// Not repeated: each request makes a cart.
        func checkout(items: [Int], serialNumber: String, productIdentifier: String, key: ObviousAPIKey?)
            async throws(ObviousCloudError) -> ObviousCart
        {
            let body: JSON = [
                "items": JSON(items), "serialNumber": JSON(serialNumber), "productIdentifier": JSON(productIdentifier),
            ]
            let answer = try await sendOnce(call("/v1/carts", key, json: body))
            guard answer.status == 201 else { throw refused(answer) }
            return try decodedCart(answer.body)
        }

        func pay(_ payment: PaymentRequest, card: PaymentCard, idempotencyKey: String, key: ObviousAPIKey?)
            async throws(ObviousCloudError) -> PaymentOutcome
        {
            guard site.base.origin.isSecure || site.configuration.allowsPaymentOverInsecureLoopback else {
                throw ObviousCloudError(.argument, "payments require https")
            }
            guard payment.cartId > 0, isUUID(idempotencyKey) else { throw ObviousCloudError(.argument, "bad argument") }
            var request = try call("/v1/carts/\(payment.cartId)/payments", key)
            let start = try card.buildBody(payment)
            defer { card.removeBody() }
            request.body = .card(card, start: start)
            request.headers += ["Content-Type: application/json", "Idempotency-Key: " + idempotencyKey]
            let complete = request
            return try await CoreDumps.ofProcess.prevented { () async throws(ObviousCloudError) in
                try await sendPayment(complete)
            }
        }

        /// At most twice, the second time only if no line of an answer to the first arrived. libcurl itself never repeats it:
        /// both are on connections of their own. Whatever is not known after the request left is ``unknownResult``: what a
        /// later request did not do, an earlier one may have done.
        private func sendPayment(_ request: HTTPRequest) async throws(ObviousCloudError) -> PaymentOutcome {
            var request = request
            request.usesNewConnection = true
            let first = await engine.run(request)
            guard hasNoAnswer(first) else { return try paymentOutcome(first, before: nil) }
            do {
                try await sleep(site.configuration.limits.retries.first ?? 0)
            } catch {
                guard wasSent(first) else { throw error }
                throw .unknownResult
            }
            return try paymentOutcome(await engine.run(request), before: first)
        }

        private func hasNoAnswer(_ result: TransferResult) -> Bool {
            switch result {
            case .failure(.network(_, _, let answerBegan)), .failure(.timeout(_, let answerBegan)): !answerBegan
            default: false
            }
        }

        private func wasSent(_ result: TransferResult) -> Bool {
            switch result {
            case .failure(.network(_, let wasSent, _)), .failure(.timeout(let wasSent, _)),
                .failure(.cancelled(let wasSent)):
                wasSent
            case .failure(.storage), .failure(.untrusted): false
            default: true
            }
        }

        /// `before`: an earlier request of this payment, which may have arrived.
        private func paymentOutcome(_ result: TransferResult, before: TransferResult?) throws(ObviousCloudError)
            -> PaymentOutcome
        {
            let isFirst = before.map { !wasSent($0) } ?? true
            switch result {
            case .success(let answer):
                if let outcome = definiteOutcome(of: answer) { return outcome }
                let error = refused(answer)
                guard error.isCartPaid || (isFirst && error.provesNothingWasCharged) else {
                    throw .unknownResult(httpStatus: answer.status)
                }
                throw error
            case .failure(let failure):
                guard isFirst, !wasSent(result) else { throw .unknownResult }
                throw error(of: failure)
            }
        }

        /// What 200 and 402 say, if it can be read and does not contradict the status.
        private func definiteOutcome(of answer: HTTPAnswer) -> PaymentOutcome? {
            guard answer.status == 200 || answer.status == 402, let outcome = try? decodedOutcome(answer.body) else {
                return nil
            }
            if answer.status == 402, case .failed = outcome { return outcome }
            return answer.status == 200 ? outcome : nil
        }

        func authenticate(cartId: Int, paymentSecret: String, key: ObviousAPIKey?) async throws(ObviousCloudError)
            -> PaymentOutcome
        {
            guard cartId > 0, !paymentSecret.isEmpty else { throw ObviousCloudError(.argument, "bad argument") }
            let path = "/v1/carts/\(cartId)/payments/authenticate"
            let answer = try await send(call(path, key, json: ["paymentSecret": JSON(paymentSecret)]))
            if let outcome = definiteOutcome(of: answer) { return outcome }
            guard answer.status == 200 || answer.status == 402 else { throw refused(answer) }
            throw ObviousCloudError(.format, "the answer cannot be read, or contradicts its status")
        }

        private func isUUID(_ text: String) -> Bool {
            text.utf8.count == 36 && text.utf8.allSatisfy { Character(UnicodeScalar($0)).isHexDigit || $0 == 0x2D }
        }
    }
#endif
