// SPDX-License-Identifier: MIT
import Foundation
import ObviousTestSupport
import Synchronization
import TendonObvious
import TendonSupport
import Testing

@testable import TendonObviousCloud

/// The reference cloud (examples/cloud) as a process of its own, on loopback with TLS; it ends with the object.
final class ReferenceCloud: Sendable {
    let url: String
    let port: Int
    let authorityFile: String
    let keyFile: String
    /// Public key of its packages, key id 1.
    let publicKey: [UInt8]
    let pin: [UInt8]
    let folder: String
    private let process: ServerProcess

    struct Failure: Error {}

    init(_ options: [String] = []) async throws {
        folder = NSTemporaryDirectory() + "obvious-cloud-" + UUID().uuidString
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("examples/cloud/tendon-obvious-cloud").path
        let arguments = ["/usr/bin/python3", script, "--port", "0", "--data", folder, "--until-input-ends"]
        process = try ServerProcess("/usr/bin/python3", arguments + options, outputs: folder)
        guard let site = try? JSON(parsing: await process.firstLine()), let url = site["url"]?.string,
            let port = site["port"]?.integer, let key = site["apiKeyFile"]?.string,
            let publicKey = site["keys"]?["1"]?.string
        else { throw Failure() }
        (self.url, self.port, keyFile) = (url, port, key)
        authorityFile = site["ca"]?.string ?? ""
        self.publicKey = bytes(publicKey)
        pin = bytes(site["spki_sha256"]?.string ?? "")
    }

    /// What the process printed on both outputs.
    var printed: [UInt8] { process.printed }

    func configuration() throws -> ObviousCloudConfiguration {
        var configuration = ObviousCloudConfiguration(baseURL: url)
        configuration.apiKey = try ObviousCloudConfiguration.apiKey(file: keyFile)
        configuration.authorityFile = authorityFile
        // The machine that runs the tests may be busy.
        (configuration.limits.connect, configuration.limits.wholeCall) = (60_000, 120_000)
        return configuration
    }

    /// A client of it, which keeps it running; no retry waits.
    func client(
        _ clock: TestClock = TestClock(), _ change: (inout ObviousCloudConfiguration) -> Void = { _ in }
    ) throws -> HTTPSCloud {
        var configuration = try configuration()
        change(&configuration)
        return try HTTPSCloud(configuration, clock: clock, jitter: { [self] in withExtendedLifetime(self) { 1 } })
    }

    // MARK: Its administration

    private func post(_ path: String, _ body: String) async throws -> JSON? {
        let cloud = try client { $0.limits.wholeCall = 60_000 }
        let request = HTTPRequest(
            url: CloudURL(url + path)!, headers: [], body: .bytes(Array(body.utf8)), authorityFile: authorityFile,
            limits: cloud.site.configuration.limits)
        let answer = try await cloud.engine.run(request).get()
        #expect(answer.status < 300, "\(path): \(answer.status) \(String(decoding: answer.body, as: UTF8.self))")
        return try? JSON(parsing: answer.body)
    }

    /// See examples/cloud/obvious_cloud/faults.py.
    func fault(_ json: String) async throws { _ = try await post("/admin/faults", json) }

    /// Forgets faults and requests.
    func clear() async throws { _ = try await post("/admin/clear", "{}") }

    /// Requests so far: method, target, headers.
    func requests() async throws -> [JSON] { try await post("/admin/log", "{}")?["requests"]?.array ?? [] }

    /// The key of each time that the card was charged for a cart, whoever wanted it.
    func charges(_ cart: Int) async throws -> [String] {
        (try await post("/admin/charges", "{}")?["charges"]?.array ?? [])
            .filter { $0["cart"]?.integer == cart }.compactMap { $0["key"]?.string }
    }

    func unlock(_ serial: String, _ features: [Int]) async throws {
        let body: JSON = ["serial": JSON(serial), "product": "1234", "features": JSON(features)]
        _ = try await post("/admin/unlock", body.text)
    }

    func forbidProvisioning() async throws {
        _ = try await post("/admin/product", #"{"id": "1234", "inField": false}"#)
    }

    /// The user's answer on the page of a payment.
    func visit(_ url: String) async throws -> Int {
        let cloud = try client()
        let request = HTTPRequest(
            url: CloudURL(url)!, headers: [], authorityFile: authorityFile, limits: cloud.site.configuration.limits)
        return try await cloud.engine.run(request).get().status
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    // MARK: One for a suite whose tests run one after the other

    /// It starts with the first test, in a quarter of a second of processor time, and stays until this process ends.
    static func kept(_ options: [String] = []) -> Task<ReferenceCloud, any Error> {
        Task {
            let cloud = try await ReferenceCloud(options)
            let places = [cloud.folder, cloud.folder + ".out", cloud.folder + ".err"]
            leftAtExit.withLock { left in
                if left.isEmpty {
                    atexit {
                        for place in leftAtExit.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: place) }
                    }
                }
                left += places
            }
            return cloud
        }
    }
}

private let leftAtExit = Mutex<[String]>([])

typealias TestClock = ObviousTestSupport.TestClock

func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// The error that `body` throws; nil and an issue: none.
func error<Value>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
) async -> ObviousCloudError? {
    do {
        _ = try await body()
        Issue.record("nothing was thrown")
        return nil
    } catch let error as ObviousCloudError {
        return error
    } catch {
        Issue.record("another error: \(error)")
        return nil
    }
}

/// Test cards, in parts: no whole number stands in this file or in the program's constants.
enum TestCard {
    static func number(_ parts: [String]) -> String { parts.joined() }
    static var good: String { number(["4242", "4242", "4242", "4242"]) }
    static var declined: String { number(["4000", "0000", "0000", "0002"]) }
    static var action: String { number(["4000", "0000", "0000", "3220"]) }

    static func card(_ number: String) throws -> PaymentCard {
        try PaymentCard(number: number, expMonth: 4, expYear: 2099, cvc: "123")
    }
}

let serial = "00000000000000A1"
let idempotencyKey = "0a1b2c3d-0000-4000-8000-000000000001"
