// SPDX-License-Identifier: MIT
import Foundation
import TendonObvious
import TendonSupport
import TestSupport
import Testing

@testable import TendonObviousCloud

/// Which calls are repeated, when, and how often. Time is simulated.
@Suite(.serialized) struct RetryTests {
    /// Of this test's payments.
    private let key = UUID().uuidString.lowercased()
    private static let kept = ReferenceCloud.kept()
    /// Without the requests of an earlier test.
    private func server(_ fault: String? = nil) async throws -> ReferenceCloud {
        let server = try await Self.kept.value
        try await server.clear()
        if let fault { try await server.fault(fault) }
        return server
    }

    private func count(_ server: ReferenceCloud, _ method: String) async throws -> Int {
        try await server.requests().count { $0["method"]?.string == method }
    }

    @Test(arguments: [
        (#"{"do": "status", "status": 503, "times": 2}"#, [1000, 2000] as [UInt64]),
        (#"{"do": "status", "status": 502}"#, [1000]),
        (#"{"do": "status", "status": 504, "times": 3}"#, [1000, 2000, 4000]),
        (#"{"do": "status", "status": 429, "headers": {"Retry-After": "7"}}"#, [7000]),
        (#"{"do": "status", "status": 503, "headers": {"Retry-After": "3600"}}"#, [60000]),
        (#"{"do": "status", "status": 503, "headers": {"Retry-After": "0"}}"#, [1000]),
        (#"{"do": "status", "status": 503, "headers": {"Retry-After": "soon"}}"#, [1000]),
        (#"{"do": "close", "times": 1}"#, [1000]),
        (#"{"do": "cut", "after": 10}"#, [1000]),
        (#"{"do": "length", "add": 5}"#, [1000]),
    ])
    func passingFailures(_ fault: String, _ sleeps: [UInt64]) async throws {
        let server = try await self.server()
        let clock = TestClock()
        let cloud = try server.client(clock)
        // The first request is on a new connection: libcurl repeats by itself what fails on a used one.
        try await server.fault(fault)
        #expect(try await cloud.features(productId: "1234", key: nil).count == 4)
        #expect(clock.sleeps == sleeps)
    }

    @Test func afterThreeRetriesItEnds() async throws {
        let server = try await self.server(#"{"do": "status", "status": 503, "times": -1}"#)
        let clock = TestClock()
        let error = await error { try await server.client(clock).features(productId: "1234", key: nil) }
        #expect(error?.httpStatus == 503 && clock.sleeps == [1000, 2000, 4000])
        #expect(try await count(server, "GET") == 4)
    }

    @Test(arguments: [400, 401, 403, 404, 409, 500, 501, 505])
    func otherStatusesAreFinal(_ status: Int) async throws {
        let server = try await self.server(#"{"do": "status", "status": \#(status), "times": -1}"#)
        let clock = TestClock()
        let error = await error { try await server.client(clock).features(productId: "1234", key: nil) }
        #expect(error?.kind == .http && error?.httpStatus == status && clock.sleeps.isEmpty)
    }

    @Test func jitterIsAFifth() async throws {
        let server = try await self.server(#"{"do": "status", "status": 503, "times": 3}"#)
        let (clock, values) = (TestClock(), Values([0.8, 1.2, 99]))
        let cloud = try HTTPSCloud(server.configuration(), clock: clock, jitter: { values.next() })
        _ = try await cloud.features(productId: "1234", key: nil)
        #expect(clock.sleeps == [800, 2400, 4800])
    }

    @Test func theNetworkIsNotThere() async throws {
        let server = try await self.server()
        let clock = TestClock()
        let error = await error {
            try await server.client(clock) { $0.baseURL = "https://127.0.0.1:\(heldPort())" }
                .features(productId: "1234", key: nil)
        }
        #expect(error?.kind == .network && clock.sleeps == [1000, 2000, 4000])
    }

    @Test func idempotentPostsAreRepeated() async throws {
        let server = try await self.server()
        let cloud = try server.client()
        for path in ["provision", "feature-update/result", "firmware-result"] {
            try await server.fault(#"{"do": "status", "status": 503, "match": "POST /v1/devices/\#(serial)/\#(path)"}"#)
        }
        _ = try await cloud.provision(serialNumber: serial, productId: "1234", nonce: nil, key: nil)
        try await cloud.reportFeatureUpdate(serialNumber: serial, counter: 1, status: 0, key: nil)
        try await cloud.reportFirmware(serialNumber: serial, versionCode: 1, status: "FAILED", key: nil)
        #expect(try await server.requests().count == 6)
    }

    /// Each request would make a cart.
    @Test func aCheckoutIsNotRepeated() async throws {
        let server = try await self.server(#"{"do": "close"}"#)
        let error = await error {
            try await server.client().checkout(
                items: [7], serialNumber: serial, productIdentifier: "1234", key: nil)
        }
        #expect(error?.kind == .network)
        #expect(try await server.requests().count == 1)
    }

    // MARK: Payments

    private func pay(_ cloud: HTTPSCloud, _ server: ReferenceCloud, _ faults: [String]) async throws -> PaymentOutcome {
        let cart = try await cloud.checkout(items: [7], serialNumber: serial, productIdentifier: "1234", key: nil)
        try await server.clear()
        for fault in faults { try await server.fault(fault) }
        return try await cloud.pay(
            PaymentRequest(cartId: cart.id, serialNumber: serial, productIdentifier: "1234"),
            card: TestCard.card(TestCard.good), idempotencyKey: key, key: nil)
    }

    /// libcurl may repeat a request by itself on a connection that it uses again: a payment's is new, and nothing else uses
    /// it afterwards.
    @Test func aPaymentHasAConnectionOfItsOwn() async throws {
        let server = try await self.server()
        let cart = try await server.client().checkout(
            items: [7], serialNumber: serial, productIdentifier: "1234", key: nil)
        let cloud = try server.client()
        let catalog = { _ = try await cloud.defaultCatalog(productId: nil, key: nil) }
        let pay = {
            _ = try await cloud.pay(
                PaymentRequest(cartId: cart.id, serialNumber: serial, productIdentifier: "1234"),
                card: TestCard.card(TestCard.good), idempotencyKey: key, key: nil)
        }
        try await server.clear()
        for call in [pay, catalog, catalog, pay] { try await call() }
        let ports = try await server.requests().compactMap { $0["port"]?.integer }
        #expect(ports.count == 4 && Set(ports).count == 3 && ports[1] == ports[2], "\(ports)")
    }

    /// The payment was made and its answer lost: the second request with the same key gets it, and nothing is charged twice.
    @Test(arguments: [true, false])
    func aPaymentWithoutAnAnswerIsRepeatedOnce(_ wasMade: Bool) async throws {
        let server = try await self.server()
        let clock = TestClock()
        let outcome = try await pay(
            server.client(clock), server, [#"{"do": "close", "done": \#(wasMade), "match": "POST /v1/carts/"}"#])
        #expect(outcome == .succeeded && clock.sleeps == [1000])
        let requests = try await server.requests()
        #expect(requests.count == 2)
        #expect(requests.allSatisfy { $0["headers"]?["idempotency-key"]?.string == key })
    }

    /// What the second request is refused says nothing about the first, except that the cart is paid.
    @Test(arguments: [(409, "ALREADY_PAID", true), (409, "CONFLICT", false), (403, "ALREADY_PAID", false)])
    func aRefusalAfterAPaymentWithoutAnAnswer(_ status: Int, _ code: String, _ isPaid: Bool) async throws {
        let server = try await self.server()
        let refusal = #"{\"code\": \"\#(code)\", \"message\": \"no\"}"#
        let error = await error {
            try await pay(
                server.client(), server,
                [
                    #"{"do": "close", "match": "POST /v1/carts/"}"#,
                    #"{"do": "status", "status": \#(status), "body": "\#(refusal)", "match": "POST /v1/carts/"}"#,
                ])
        }
        #expect(error?.isUnknownResult == !isPaid && error?.isCartPaid == isPaid)
        #expect(try await server.requests().count == 2)
    }

    @Test(arguments: [
        (#"{"do": "close", "times": -1, "match": "POST /v1/carts/"}"#, 2),
        (#"{"do": "cut", "after": 0, "times": -1, "match": "POST /v1/carts/"}"#, 1),
        (#"{"do": "cut", "after": 10, "times": -1, "match": "POST /v1/carts/"}"#, 1),
    ])
    func aPaymentWithAnUnknownResult(_ fault: String, _ requests: Int) async throws {
        let server = try await self.server()
        let error = await error { try await pay(server.client(), server, [fault]) }
        #expect(error == .unknownResult)
        #expect(try await server.requests().count == requests)
    }

    /// A proxy that lost its backend, or limits requests, does not say whether the card was charged.
    @Test(arguments: [500, 502, 503, 504, 408, 425, 429, 302])
    func aPaymentIsNotRepeatedAfterAnAnswer(_ status: Int) async throws {
        let server = try await self.server()
        let clock = TestClock()
        let error = await error {
            try await pay(
                server.client(clock), server, [#"{"do": "status", "status": \#(status), "match": "POST /v1/carts/"}"#])
        }
        #expect(error?.httpStatus == status && error?.isUnknownResult == true && clock.sleeps.isEmpty)
        #expect(try await server.requests().count == 1)
    }

    @Test(arguments: [400, 401, 403, 404, 409, 413, 422])
    func aPaymentThatIsRejectedIsNotMade(_ status: Int) async throws {
        let server = try await self.server()
        let fault = #"{"do": "status", "status": \#(status), "match": "POST /v1/carts/"}"#
        let error = await error { try await pay(server.client(), server, [fault]) }
        #expect(error?.kind == .http && error?.httpStatus == status && error?.isUnknownResult == false)
    }

    /// 200 and 402 that cannot be read, or contradict themselves.
    @Test(arguments: [
        #""status": 200, "body": "<html>""#, #""status": 200, "body": """#,
        #""status": 200, "body": {"status": "paid"}"#,
        #""status": 402, "body": "declined""#, #""status": 402, "body": {"status": "succeeded", "paymentId": "p1"}"#,
    ])
    func aPaymentWithAnAnswerThatCannotBeRead(_ answer: String) async throws {
        let server = try await self.server()
        let fault = #"{"do": "status", \#(answer), "match": "POST /v1/carts/"}"#
        let error = await error { try await pay(server.client(), server, [fault]) }
        #expect(error?.isUnknownResult == true)
    }

    /// What the second request did not do, the first may have done.
    @Test(arguments: [#"{"do": "status", "status": 401, "match": "POST /v1/carts/"}"#, #"{"do": "silent"}"#])
    func aSecondRequestThatFailsSaysNothingOfTheFirst(_ second: String) async throws {
        let server = try await self.server()
        let client = try server.client { $0.limits.wholeCall = 2000 }
        let error = await error {
            try await pay(client, server, [#"{"do": "close", "match": "POST /v1/carts/"}"#, second])
        }
        #expect(error?.isUnknownResult == true)
        #expect(try await server.requests().count == 2)
    }

    /// Nothing was sent: the result is known.
    @Test func aPaymentWithoutANetwork() async throws {
        let server = try await self.server()
        let cloud = try server.client { $0.baseURL = "https://127.0.0.1:\(heldPort())" }
        let error = await error {
            try await cloud.pay(
                PaymentRequest(cartId: 1, serialNumber: serial, productIdentifier: "1234"),
                card: TestCard.card(TestCard.good), idempotencyKey: key, key: nil)
        }
        #expect(error?.kind == .network)
    }

    @Test func aPaymentNeedsAKeyOfItsOwn() async throws {
        let server = try await self.server()
        for key in ["", "x", String(repeating: "z", count: 36), "0\r\nX-Evil: 1" + String(repeating: "0", count: 25)] {
            let error = await error {
                try await server.client().pay(
                    PaymentRequest(cartId: 1, serialNumber: serial, productIdentifier: "1234"),
                    card: TestCard.card(TestCard.good), idempotencyKey: key, key: nil)
            }
            #expect(error?.kind == .argument)
        }
        #expect(try await server.requests().isEmpty)
    }
}
