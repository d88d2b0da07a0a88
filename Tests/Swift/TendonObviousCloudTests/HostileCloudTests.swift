// SPDX-License-Identifier: MIT
import TendonObvious
import TendonSupport
import Testing

@testable import TendonObviousCloud

/// A cloud that is broken, or means harm: each attack has its error, and nothing is followed or believed.
@Suite(.serialized) struct HostileCloudTests {
    private func features(_ cloud: HTTPSCloud) async -> ObviousCloudError? {
        await error { try await cloud.features(productId: "1234", key: nil) }
    }

    @Test(arguments: [
        (#"{"do": "huge", "bytes": 1048577}"#, "the answer exceeds"),
        (#"{"do": "huge", "bytes": 100000000}"#, "the answer exceeds"),
        (#"{"do": "huge", "bytes": 70000}"#, "a string exceeds 64 KiB"),
        (#"{"do": "deep", "depth": 17}"#, "nested more than 16"),
        (#"{"do": "deep", "depth": 100000}"#, "nested more than 16"),
        (#"{"do": "deep", "depth": 16}"#, "not a JSON object"),
        (#"{"do": "status", "status": 200, "body": ""}"#, "not a JSON object"),
        (#"{"do": "status", "status": 200, "body": "<html>"}"#, "not a JSON object"),
        (#"{"do": "status", "status": 200, "body": {"features": {}}}"#, "another type: features"),
        (#"{"do": "status", "status": 200, "body": {}}"#, "missing: features"),
        (#"{"do": "length", "add": -5}"#, "not a JSON object"),
    ])
    func answersBeyondTheLimits(_ fault: String, _ reason: String) async throws {
        let server = try await ReferenceCloud(["--fault", fault])
        let error = await features(try server.client())
        #expect(
            error?.kind == .format && error?.reason.contains(reason) == true, "\(fault): \(String(describing: error))")
    }

    /// The list of 2049 items, and one with 2048, which is only wrong in what it holds.
    @Test func longLists() async throws {
        let server = try await ReferenceCloud()
        let cloud = try server.client()
        for (count, reason) in [(2049, "2048 items"), (2048, "missing: id")] {
            let list = "[" + [String](repeating: "0", count: count).joined(separator: ",") + "]"
            try await server.fault(#"{"do": "status", "status": 200, "body": "{\"features\": \#(list)}"}"#)
            let error = await features(cloud)
            #expect(error?.kind == .format && error?.reason.contains(reason) == true, "\(String(describing: error))")
        }
    }

    /// The size that an answer announces is enough to refuse it: its body is not waited for.
    @Test func anAnnouncedSizeIsEnough() async throws {
        let fault = #"{"do": "status", "status": 200, "headers": {"Content-Length": "1048577"}}"#
        let server = try await ReferenceCloud(["--fault", fault])
        #expect(await features(try server.client())?.kind == .format)
    }

    @Test func redirectsAreNotFollowed() async throws {
        let other = try await ReferenceCloud()
        let server = try await ReferenceCloud()
        try await server.fault(#"{"do": "redirect", "location": "\#(other.url)/v1/products/1234/features"}"#)
        let error = await features(try server.client())
        #expect(error?.kind == .http && error?.httpStatus == 302)
        #expect(try await other.requests().isEmpty)
    }

    /// The page that a user is sent to: nothing but a page of the web. What the payment came to is not known then.
    @Test(arguments: [
        "file:///etc/passwd", "javascript:alert(1)", "bank://pay", "http://example.com/a", "https://user@example.com/",
        "https://example.com/ a", "//example.com", "/action", "https://", "http://localhost/a",
    ])
    func pagesThatNoUserIsSentTo(_ url: String) async throws {
        let body = #"{"status": "action_required", "paymentSecret": "s", "actionUrl": "\#(url)"}"#
        let server = try await ReferenceCloud([
            "--fault", #"{"do": "status", "status": 200, "body": \#(body), "times": 2}"#,
        ])
        let cloud = try server.client()
        let request = PaymentRequest(cartId: 1, serialNumber: serial, productIdentifier: "1234")
        let paid = await error {
            try await cloud.pay(
                request, card: TestCard.card(TestCard.good), idempotencyKey: idempotencyKey, key: nil)
        }
        #expect(paid?.isUnknownResult == true)
        let asked = await error { try await cloud.authenticate(cartId: 1, paymentSecret: "s", key: nil) }
        #expect(asked?.kind == .format)
    }

    @Test(arguments: ["https://example.com/a?b#c", "HTTPS://example.com", "http://127.0.0.1:8/a", "http://[::1]/a"])
    func pagesThatAUserIsSentTo(_ url: String) async throws {
        let body = #"{"status": "action_required", "paymentSecret": "s", "actionUrl": "\#(url)"}"#
        let server = try await ReferenceCloud(["--fault", #"{"do": "status", "status": 200, "body": \#(body)}"#])
        let outcome = try await server.client().authenticate(cartId: 1, paymentSecret: "s", key: nil)
        #expect(outcome == .actionRequired(PaymentAction(secret: "s", url: url)))
    }

    @Test(arguments: [
        "http://example.com", "http://127.0.0.1:1", "ftp://127.0.0.1", "file:///etc/passwd", "",
        "https://", "https://user@example.com", "https://example.com?x", "https://example.com#x", "https://a b",
        "https://example.com\\@evil", "HTTP://127.0.0.1:1", "https://[fe80::1%25eth0]/",
    ])
    func baseURLsThatAreRefused(_ url: String) {
        #expect(throws: Self.noBase) { try Site(ObviousCloudConfiguration(baseURL: url)) }
    }

    private static let noBase = ObviousCloudError(.argument, "the base URL is not a URL of https")

    @Test func plainHTTPOnLoopbackNeedsAFlag() async throws {
        let server = try await ReferenceCloud(["--insecure"])
        #expect(throws: Self.noBase) { try server.client() }
        let cloud = try server.client { $0.allowsInsecureLoopback = true }
        #expect(try await cloud.features(productId: "1234", key: nil).count == 4)
        #expect(throws: Self.noBase) {
            var configuration = ObviousCloudConfiguration(baseURL: "http://192.0.2.1")
            configuration.allowsInsecureLoopback = true
            return try Site(configuration)
        }
        // A payment needs one more.
        let request = PaymentRequest(cartId: 1, serialNumber: serial, productIdentifier: "1234")
        let card = try TestCard.card(TestCard.good)
        try await server.clearInsecure(cloud)
        let refused = await error {
            try await cloud.pay(request, card: card, idempotencyKey: idempotencyKey, key: nil)
        }
        #expect(refused?.kind == .argument)
        let permitted = try server.client {
            ($0.allowsInsecureLoopback, $0.allowsPaymentOverInsecureLoopback) = (true, true)
        }
        let cart = try await permitted.checkout(items: [7], serialNumber: serial, productIdentifier: "1234", key: nil)
        #expect(
            try await permitted.pay(
                PaymentRequest(cartId: cart.id, serialNumber: serial, productIdentifier: "1234"), card: card,
                idempotencyKey: idempotencyKey, key: nil) == .succeeded)
    }

    /// A server that speaks plain HTTP where TLS is due.
    @Test func plainHTTPWhereTLSIsDue() async throws {
        let server = try await ReferenceCloud(["--insecure"])
        let cloud = try server.client {
            $0.baseURL = "https://127.0.0.1:\(server.port)"
            $0.authorityFile = nil
        }
        #expect(await features(cloud)?.kind == .network)
    }

    @Test(arguments: [
        ("expired", "is not valid at this time"), ("wrong-host", "for another host name"),
        ("unknown-authority", "does not have its authority"),
    ])
    func badCertificates(_ kind: String, _ reason: String) async throws {
        let server = try await ReferenceCloud(["--certificate", kind])
        let error = await features(try server.client())
        #expect(
            error?.kind == .network && error?.reason.contains(reason) == true,
            "\(String(describing: error))")
    }

    @Test func anAuthorityOfTheSystemIsNotTheTestsOwn() async throws {
        let server = try await ReferenceCloud()
        #expect(await features(try server.client { $0.authorityFile = nil })?.kind == .network)
    }

    @Test func pinnedKeys() async throws {
        let server = try await ReferenceCloud()
        let right = try server.client { $0.publicKeySHA256 = server.pin }
        #expect(try await right.features(productId: "1234", key: nil).count == 4)
        let wrong = try server.client { $0.publicKeySHA256 = [UInt8](repeating: 1, count: 32) }
        #expect(await features(wrong)?.kind == .network)
    }

    /// A byte now and then: the whole call is limited, and so is each of its retries.
    @Test func slowDrip() async throws {
        let server = try await ReferenceCloud(["--fault", #"{"do": "drip", "bytes": 1, "pause": 0.2, "times": -1}"#])
        let clock = TestClock()
        let cloud = try server.client(clock) {
            $0.limits.wholeCall = 1500
            $0.limits.retries = [1000]
        }
        #expect(await features(cloud)?.kind == .timeout)
        #expect(clock.sleeps == [1000])
    }

    @Test func endlessHeaders() async throws {
        let long = String(repeating: "x", count: 60_000)
        let fault = #"{"do": "status", "status": 200, "headers": {"X-A": "\#(long)", "X-B": "\#(long)"}}"#
        let server = try await ReferenceCloud(["--fault", fault])
        let error = await features(try server.client())
        #expect(error?.kind == .format && error?.reason == "the answer exceeds its limit")
    }

    /// Text of a cloud that would change a terminal or a log.
    @Test func messagesArePrintable() async throws {
        let server = try await ReferenceCloud()
        let long = String(repeating: "m", count: 1000)
        try await server.fault(
            #"{"do": "status", "status": 400, "body": {"code": "A\u001b[2J", "message": "line\nline\u202e\#(long)"}}"#)
        let error = await features(try server.client())
        #expect(error?.code == "A?[2J")
        #expect(error?.reason.hasPrefix("line?line?m") == true && error?.reason.count == 200)
    }

    /// The hash beside the package is not that of the package.
    @Test func packageWithAnotherHash() async throws {
        let server = try await ReferenceCloud()
        let zeros = String(repeating: "0", count: 64)
        try await server.fault(
            #"{"do": "status", "status": 200, "body": {"package": "AAAA", "counter": "1", "sha256": "\#(zeros)"}}"#)
        let error = await error {
            try await server.client().provision(serialNumber: serial, productId: "1234", nonce: nil, key: nil)
        }
        #expect(error?.kind == .crypto)
    }

    /// Ids cannot leave their place in the path.
    @Test(arguments: ["..", "../../admin/log", "a/b", "a?b", "%2e%2e", "a b", "ä"])
    func idsStayInTheirPlace(_ id: String) async throws {
        let server = try await ReferenceCloud()
        let error = await error { try await server.client().features(productId: id, key: nil) }
        #expect(error?.code == "UNKNOWN_PRODUCT")
        let target = try await server.requests().first?["target"]?.string ?? ""
        #expect(target.hasPrefix("/v1/products/") && target.hasSuffix("/features"))
        #expect(target.split(separator: "/").count == 4)
        let empty = await TendonObviousCloudTests.error { try await server.client().features(productId: "", key: nil) }
        #expect(empty?.kind == .argument)
    }

    /// The headers of every call, and no others.
    @Test func headers() async throws {
        let server = try await ReferenceCloud()
        let key = try ObviousCloudConfiguration.apiKey(file: server.keyFile)
        _ = try await server.client().features(productId: "1234", key: nil)
        let headers = try await server.requests().first?["headers"]
        #expect(headers?["x-obvious-api-key"]?.string == key.text)
        #expect(headers?["accept"]?.string == "application/json")
        #expect(headers?["user-agent"]?.string?.hasPrefix("obv-gateway/") == true)
        guard case .object(let members) = headers else { return }
        #expect(Set(members.map(\.key)) == ["host", "accept", "user-agent", "x-obvious-api-key"])
    }

    @Test func withoutAKeyNothingIsSent() async throws {
        let server = try await ReferenceCloud()
        let cloud = try server.client { $0.apiKey = nil }
        #expect(await features(cloud) == .noAPIKey)
        #expect(try await server.requests().isEmpty)
        // The key of a call comes first.
        let wrong = await error {
            try await server.client().features(productId: "1234", key: ObviousAPIKey("another"))
        }
        #expect(wrong?.httpStatus == 401)
    }
}

extension ReferenceCloud {
    /// Its administration over plain HTTP.
    fileprivate func clearInsecure(_ cloud: HTTPSCloud) async throws {
        let request = HTTPRequest(
            url: CloudURL(url + "/admin/clear")!, headers: [], body: .bytes([]), limits: cloud.site.configuration.limits
        )
        _ = try await cloud.engine.run(request).get()
    }
}
