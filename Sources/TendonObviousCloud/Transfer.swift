// SPDX-License-Identifier: MIT
//
// One HTTP request over libcurl. All unsafe code of this module is in this file and TransferEngine.swift.
#if ObviousCloud
    import CSystemCurl
    import CObviousCloud
    import CTendon
    import Synchronization
    import Tendon
    import TendonObvious

    /// What is sent.
    enum RequestBody: Sendable {
        case none
        case bytes([UInt8])
        /// A payment: read from the card's locked memory, from `start` to its end, when libcurl sends it.
        case card(PaymentCard, start: Int)
    }

    struct HTTPRequest: Sendable {
        var url: CloudURL
        var headers: [String]
        var body = RequestBody.none
        /// For what must not be sent twice: libcurl repeats requests by itself on connections that it reuses.
        var usesNewConnection = false
        /// Checked against the server's public key; nil: none.
        var pin: [UInt8]?
        var authorityFile: String?
        var limits: TransferLimits
        /// Where the body of an answer goes; nil: into the answer, at most 1 MiB.
        var image: ImageFile?
    }

    struct HTTPAnswer: Sendable {
        var status = 0
        var body: [UInt8] = []
        /// Seconds; 0: none.
        var retryAfter = 0
    }

    /// `wasSent`: something of the request may have arrived. `answerBegan`: at least one line of an answer arrived.
    enum TransferFailure: Error, Sendable, Hashable {
        case cancelled(wasSent: Bool)
        case timeout(wasSent: Bool, answerBegan: Bool)
        case tooLarge
        /// The image's answer is not the part of the file that was requested.
        case wrongRange
        case storage
        /// The server's certificate, or its public key, is not the one that is required. Nothing was sent.
        case untrusted(String)
        case network(String, wasSent: Bool, answerBegan: Bool)
    }

    typealias TransferResult = Result<HTTPAnswer, TransferFailure>

    /// A request in progress.
    final class Transfer: @unchecked Sendable {
        // Everything but `isCancelled` and `waiter` is used on the engine's thread only.
        let request: HTTPRequest
        let isCancelled = Atomic(false)
        private let waiter = Mutex<CheckedContinuation<TransferResult, Never>?>(nil)
        private(set) var easy: UnsafeMutableRawPointer?
        private var headers: UnsafeMutablePointer<curl_slist>?
        private var answer = HTTPAnswer()
        private var failure: TransferFailure?
        private var answerBegan = false
        private var headerBytes = 0
        private var sent = 0
        private var entityTag = ""
        private var rangeStart: Int?
        /// The time after which it has made no progress for too long; nil: the whole call is limited instead.
        private(set) var progressDeadline: UInt64?

        private static let longestHeader = 64 * 1024
        private static let longestErrorBody = 64 * 1024

        init(_ request: HTTPRequest) { self.request = request }

        /// Before the transfer is given to the engine.
        func prepare(_ continuation: CheckedContinuation<TransferResult, Never>) {
            waiter.withLock { $0 = continuation }
        }

        func finish(_ result: TransferResult) {
            let once = waiter.withLock { waiter in
                defer { waiter = nil }
                return waiter
            }
            once?.resume(returning: result)
        }

        // MARK: On the engine's thread

        /// Makes the libcurl handle; false: no memory, or libcurl has not the option.
        func begin() -> Bool {
            guard let easy = curl_easy_init() else { return false }
            self.easy = easy
            let isDone = setSecurity(easy) && setLimits(easy) && setBody(easy) && setHeaders(easy) && setCallbacks(easy)
            touch()
            return isDone
        }

        func end() {
            if let easy { curl_easy_cleanup(easy) }
            curl_slist_free_all(headers)
            (easy, headers) = (nil, nil)
        }

        private func setSecurity(_ easy: UnsafeMutableRawPointer) -> Bool {
            let origin = request.url.origin
            var codes = [
                tendon_curl_set_text(easy, CURLOPT_URL, request.url.text),
                tendon_curl_set_text(easy, CURLOPT_PROTOCOLS_STR, origin.scheme),
                tendon_curl_set_long(easy, CURLOPT_FOLLOWLOCATION, 0),
                tendon_curl_set_long(easy, CURLOPT_PATH_AS_IS, 1),
                tendon_curl_set_long(easy, CURLOPT_SSL_VERIFYPEER, 1),
                tendon_curl_set_long(easy, CURLOPT_SSL_VERIFYHOST, 2),
                tendon_curl_set_long(easy, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
                tendon_curl_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
            ]
            if let file = request.authorityFile {
                // A folder of the system's authorities is a default of libcurl, beside which a file would only be one more.
                codes.append(tendon_curl_set_text(easy, CURLOPT_CAPATH, nil))
                codes.append(tendon_curl_set_text(easy, CURLOPT_CAINFO, file))
            }
            if let pin = request.pin {
                codes.append(tendon_curl_set_text(easy, CURLOPT_PINNEDPUBLICKEY, "sha256//" + base64(pin)))
            }
            if origin.isLoopback { codes.append(tendon_curl_set_text(easy, CURLOPT_PROXY, "")) }
            return codes.allSatisfy { $0 == CURLE_OK }
        }

        private func setLimits(_ easy: UnsafeMutableRawPointer) -> Bool {
            var codes = [
                tendon_curl_set_long(easy, CURLOPT_NOSIGNAL, 1),
                // A resolver that hangs does not hold the engine's thread when the transfer ends.
                tendon_curl_set_long(easy, CURLOPT_QUICK_EXIT, 1),
                tendon_curl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, request.limits.connect),
            ]
            if request.image == nil {
                codes.append(tendon_curl_set_long(easy, CURLOPT_TIMEOUT_MS, request.limits.wholeCall))
                codes.append(tendon_curl_set_offset(easy, CURLOPT_MAXFILESIZE_LARGE, Int64(TENDON_CLOUD_BODY_MAX)))
            }
            if request.usesNewConnection {
                codes.append(tendon_curl_set_long(easy, CURLOPT_FRESH_CONNECT, 1))
                codes.append(tendon_curl_set_long(easy, CURLOPT_FORBID_REUSE, 1))
            }
            return codes.allSatisfy { $0 == CURLE_OK }
        }

        private func setBody(_ easy: UnsafeMutableRawPointer) -> Bool {
            switch request.body {
            case .none: return true
            case .bytes(let bytes):
                // The size comes first: libcurl copies so many bytes.
                return tendon_curl_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, Int64(bytes.count)) == CURLE_OK
                    && bytes.withUnsafeBytes {
                        tendon_curl_set_pointer(
                            easy, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: $0.baseAddress))
                    } == CURLE_OK
            case .card(let card, let start):
                let count = card.bodyMemory.count - start
                return tendon_curl_set_long(easy, CURLOPT_POST, 1) == CURLE_OK
                    && tendon_curl_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, Int64(count)) == CURLE_OK
                    && tendon_curl_set_data(easy, CURLOPT_READFUNCTION, Self.read) == CURLE_OK
                    && tendon_curl_set_pointer(easy, CURLOPT_READDATA, context(of: self)) == CURLE_OK
            }
        }

        private func setHeaders(_ easy: UnsafeMutableRawPointer) -> Bool {
            // libcurl would wait for a 100 (Continue) otherwise.
            for line in request.headers + ["Expect:"] {
                guard let grown = curl_slist_append(headers, line) else { return false }
                headers = grown
            }
            return tendon_curl_set_pointer(easy, CURLOPT_HTTPHEADER, UnsafeMutableRawPointer(headers)) == CURLE_OK
        }

        private func setCallbacks(_ easy: UnsafeMutableRawPointer) -> Bool {
            let me = context(of: self)
            return tendon_curl_set_data(easy, CURLOPT_WRITEFUNCTION, Self.write) == CURLE_OK
                && tendon_curl_set_pointer(easy, CURLOPT_WRITEDATA, me) == CURLE_OK
                && tendon_curl_set_data(easy, CURLOPT_HEADERFUNCTION, Self.header) == CURLE_OK
                && tendon_curl_set_pointer(easy, CURLOPT_HEADERDATA, me) == CURLE_OK
                && tendon_curl_set_pointer(easy, CURLOPT_PRIVATE, me) == CURLE_OK
        }

        private func touch() {
            guard request.image != nil else { return }
            progressDeadline = tendon_monotonic_ms() + UInt64(request.limits.withoutProgress)
        }

        // MARK: Callbacks of libcurl

        private typealias DataFunction =
            @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int

        private static let read: DataFunction = { out, size, count, context in
            guard let out else { return 0 }
            return object(Transfer.self, context).copyBody(to: out, size * count)
        }

        private static let write: DataFunction = { data, size, count, context in
            let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
            return object(Transfer.self, context).take(bytes) ? bytes.count : -1
        }

        private static let header: DataFunction = { data, size, count, context in
            let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
            return object(Transfer.self, context).takeHeader(bytes) ? bytes.count : -1
        }

        /// Copies the next part of a payment's body from locked memory into libcurl's buffer.
        private func copyBody(to out: UnsafeMutablePointer<CChar>, _ space: Int) -> Int {
            guard case .card(let card, let start) = request.body else { return 0 }
            let count = card.bodyMemory.withBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(start + sent).prefix(space))
                UnsafeMutableRawBufferPointer(start: out, count: space).copyMemory(from: rest)
                return rest.count
            }
            sent += count
            return count
        }

        private func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
            touch()
            readStatus()
            if let image = request.image, answer.status == 200 || answer.status == 206 {
                return takeImage(bytes, image)
            }
            let limit = request.image == nil ? Int(TENDON_CLOUD_BODY_MAX) : Self.longestErrorBody
            guard answer.body.count + bytes.count <= limit else {
                failure = .tooLarge
                return false
            }
            answer.body.append(contentsOf: bytes)
            return true
        }

        private func takeImage(_ bytes: UnsafeRawBufferPointer, _ image: ImageFile) -> Bool {
            do throws(TransferFailure) {
                try image.beginAnswer(isPart: answer.status == 206, rangeStart: rangeStart, entityTag: entityTag)
                try image.append(bytes)
                return true
            } catch {
                failure = error
                return false
            }
        }

        private func takeHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
            touch()
            answerBegan = true
            headerBytes += bytes.count
            guard headerBytes <= Self.longestHeader else {
                failure = .tooLarge
                return false
            }
            if bytes.starts(with: "HTTP/".utf8) {
                (entityTag, rangeStart) = ("", nil)
            } else if let value = headerValue(bytes, "etag") {
                entityTag = value
            } else if let value = headerValue(bytes, "content-range") {
                rangeStart = contentRangeStart(value)
            }
            return true
        }

        private func readStatus() {
            var status = 0
            _ = tendon_curl_get_long(easy, CURLINFO_RESPONSE_CODE, &status)
            answer.status = status
        }

        // MARK: The end

        func result(_ code: CURLcode) -> TransferResult {
            readStatus()
            if let failure { return .failure(failure) }
            guard code == CURLE_OK else { return .failure(failure(of: code)) }
            var seconds: Int64 = 0
            _ = tendon_curl_get_offset(easy, CURLINFO_RETRY_AFTER, &seconds)
            answer.retryAfter = Int(min(max(seconds, 0), 1 << 20))
            return .success(answer)
        }

        func timedOut() -> TransferResult { .failure(.timeout(wasSent: wasSent, answerBegan: answerBegan)) }

        func cancelled() -> TransferResult { .failure(.cancelled(wasSent: wasSent)) }

        /// Whether the request has begun to leave; the handshakes before it do not count.
        private var wasSent: Bool {
            var request = 0
            _ = tendon_curl_get_long(easy, CURLINFO_REQUEST_SIZE, &request)
            return request > 0 || sent > 0
        }

        /// The numbers are those of OpenSSL's X509_verify_cert_error_string(3), below 128, or bits of GnuTLS's
        /// gnutls_certificate_status_t: 2 always, 64 for an unknown signer, 512 and 1024 for the time.
        private func whyUntrusted(_ code: CURLcode) -> String {
            var verification = 0
            _ = tendon_curl_get_long(easy, CURLINFO_SSL_VERIFYRESULT, &verification)
            switch verification {
            case 2, 18...21, 66:
                let file = request.authorityFile.map { ": \($0) does not have its authority" }
                return "the certificate of the cloud is not trusted" + (file ?? "")
            case 9, 10, 514, 1026: return "the certificate of the cloud is not valid at this time"
            case 62: return "the certificate of the cloud is for another host name"
            default: return "the certificate of the cloud was not accepted: not trusted, or for another host name"
            }
        }

        private func failure(of code: CURLcode) -> TransferFailure {
            switch code {
            case CURLE_OPERATION_TIMEDOUT: return .timeout(wasSent: wasSent, answerBegan: answerBegan)
            case CURLE_FILESIZE_EXCEEDED: return .tooLarge
            case CURLE_PEER_FAILED_VERIFICATION: return .untrusted(whyUntrusted(code))
            case CURLE_SSL_CACERT_BADFILE:
                return .untrusted("\(request.authorityFile ?? "the system's file"): no certificate authorities (PEM)")
            case CURLE_SSL_PINNEDPUBKEYNOTMATCH: return .untrusted(String(cString: curl_easy_strerror(code)))
            default:
                return .network(String(cString: curl_easy_strerror(code)), wasSent: wasSent, answerBegan: answerBegan)
            }
        }
    }

    /// The value of a header line with this name in small letters; nil: another header.
    private func headerValue(_ line: UnsafeRawBufferPointer, _ name: String) -> String? {
        guard line.count > name.utf8.count, line[name.utf8.count] == UInt8(ascii: ":"),
            zip(line, name.utf8).allSatisfy({ $0 | 0x20 == $1 || $0 == $1 })
        else { return nil }
        let value = line.dropFirst(name.utf8.count + 1).drop { $0 == 0x20 || $0 == 0x09 }
        return String(decoding: value.reversed().drop { $0 <= 0x20 }.reversed(), as: UTF8.self)
    }

    /// "bytes 100-199/200" is 100.
    private func contentRangeStart(_ value: String) -> Int? {
        guard value.hasPrefix("bytes "), let dash = value.firstIndex(of: "-") else { return nil }
        return Int(value[..<dash].dropFirst(6))
    }

    /// RFC 4648 section 4.
    func base64(_ bytes: [UInt8]) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var result = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for index in 0..<4 {
                result.append(index <= group.count ? digits[bits >> (18 - 6 * index) & 63] : "=")
            }
        }
        return result
    }
#endif
