// SPDX-License-Identifier: MIT
import TendonObvious
import TestSupport
import Testing

@testable import TendonObviousCloud

/// A cancelled task ends its call within 100 ms, and no transfer is left behind.
@Suite(.serialized) struct CancelTests {
    /// Cancels a call while `server` does what `fault` says, and measures.
    private func measure(
        _ fault: String, throws expected: ObviousCloudError = .cancelled,
        _ body: @escaping @Sendable (HTTPSCloud) async throws -> Void
    ) async throws {
        let server = try await ReferenceCloud()
        let cloud = try server.client()
        try await server.clear()
        try await server.fault(fault)
        let task = Task { try await body(cloud) }
        await eventually("a transfer") { cloud.engine.active > 0 }
        // The request arrived: the server is silent, or in the middle of its answer.
        try await eventually("the request") { try await !server.requests().isEmpty }
        task.cancel()
        let result = await endsInTime(task)
        #expect(throws: expected) { try result.get() }
        #expect(cloud.engine.active == 0)
        // The engine works as before.
        try await server.clear()
        #expect(try await cloud.features(productId: "1234", key: nil).count == 4)
    }

    @Test func silentServer() async throws {
        try await measure(#"{"do": "silent"}"#) { _ = try await $0.features(productId: "1234", key: nil) }
    }

    @Test func midway() async throws {
        try await measure(#"{"do": "drip", "bytes": 1, "pause": 0.05}"#) {
            _ = try await $0.defaultCatalog(productId: nil, key: nil)
        }
    }

    /// The request has left: whether the card is charged is not known.
    @Test func inAPayment() async throws {
        try await measure(#"{"do": "silent"}"#, throws: .unknownResult) {
            _ = try await $0.pay(
                PaymentRequest(cartId: 1, serialNumber: serial, productIdentifier: "1234"),
                card: TestCard.card(TestCard.good), idempotencyKey: idempotencyKey, key: nil)
        }
    }

    @Test func inADownload() async throws {
        let path = "/tmp/tendon-cancel-\(UInt64.random(in: 0...UInt64.max))"
        try await measure(#"{"do": "drip", "bytes": 1, "pause": 0.05, "match": "GET /v1/firmware"}"#) {
            let release = FirmwareRelease(
                info: OcelotFirmwareInfo(versionCode: 1, versionName: "1", releaseNotes: "", upgradeMessage: ""),
                size: 65536, crc32: 0, sha256: [], manifest: [], url: "/v1/firmware/0.bin")
            try await $0.downloadImage(of: release, to: path, key: nil, progress: nil)
        }
        for suffix in ["", ".part", ".etag"] { unlinked(path + suffix) }
    }

    @Test func beforeItStarts() async throws {
        let server = try await ReferenceCloud()
        let cloud = try server.client()
        let task = Task { () -> (any Error)? in
            await untilCancelled()
            do {
                _ = try await cloud.features(productId: "1234", key: nil)
                return nil
            } catch {
                return error
            }
        }
        task.cancel()
        #expect(await task.value as? ObviousCloudError == .cancelled)
        #expect(try await server.requests().isEmpty)
    }

    /// Between two attempts.
    @Test func inAPause() async throws {
        let server = try await ReferenceCloud(["--fault", #"{"do": "status", "status": 503, "times": -1}"#])
        let cloud = try HTTPSCloud(server.configuration())
        let task = Task { () -> (any Error)? in
            do {
                _ = try await cloud.features(productId: "1234", key: nil)
                return nil
            } catch {
                return error
            }
        }
        try await eventually("the request") { try await !server.requests().isEmpty }
        task.cancel()
        #expect(await task.value as? ObviousCloudError == .cancelled)
    }

    /// Between the two requests of a payment: whether the card is charged is known if the first one never left.
    @Test(arguments: [true, false]) func inThePauseOfAPayment(_ wasSent: Bool) async throws {
        let server = try await ReferenceCloud(["--fault", #"{"do": "close", "times": -1}"#])
        let port = heldPort()
        var configuration = try server.configuration()
        configuration.limits.retries = [600_000]
        if !wasSent { configuration.baseURL = "https://127.0.0.1:\(port)" }
        let (cloud, isBegun) = (try HTTPSCloud(configuration), Flag())
        let task = Task {
            isBegun.set()
            return await error {
                try await cloud.pay(
                    PaymentRequest(cartId: 1, serialNumber: serial, productIdentifier: "1234"),
                    card: TestCard.card(TestCard.good), idempotencyKey: idempotencyKey, key: nil)
            }
        }
        await eventually("it begins") { isBegun.isSet }
        if wasSent { try await eventually("the request") { try await !server.requests().isEmpty } }
        await eventually("it has ended") { cloud.engine.active == 0 }
        task.cancel()
        #expect(await task.value == (wasSent ? .unknownResult : .cancelled))
    }

    /// An engine that is released ends its thread; its clients can be many.
    @Test func manyEngines() async throws {
        let server = try await ReferenceCloud()
        for _ in 0..<20 {
            let cloud = try server.client()
            #expect(try await cloud.features(productId: "1234", key: nil).count == 4)
        }
        let unused = try server.client()
        #expect(unused.engine.active == 0)
    }

    @Test func manyTransfersAtOnce() async throws {
        let server = try await ReferenceCloud()
        let cloud = try server.client()
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<16 { group.addTask { try await cloud.features(productId: "1234", key: nil).count } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == [Int](repeating: 4, count: 16) && cloud.engine.active == 0)
    }
}
