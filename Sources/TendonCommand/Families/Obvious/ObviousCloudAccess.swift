// SPDX-License-Identifier: MIT
// The cloud that the commands of Obvious use: options over the environment's variables.
import TendonObvious
import TendonObviousCloud
import TendonSupport

struct CloudAccess: Sendable {
    /// Option, the variable that it stands for.
    private static let variables = [
        "--cloud": "TENDON_OBVIOUS_BASE_URL",
        "--ca-file": "TENDON_OBVIOUS_CA_FILE",
        "--api-key-file": "TENDON_OBVIOUS_API_KEY_FILE",
        "--keys-file": "TENDON_OBVIOUS_KEYS_FILE",
    ]

    static let keysFile = Option(
        name: "--keys-file", value: "FILE",
        help: "public keys that sign packages and firmware, a line each: product, number of the key, 64 "
            + "hexadecimal digits; default: $TENDON_OBVIOUS_KEYS_FILE")

    static let options: [Option] = [
        Option(name: "--cloud", value: "URL", help: "base URL of the cloud; default: $TENDON_OBVIOUS_BASE_URL"),
        Option(
            name: "--ca-file", value: "FILE",
            help: "trust these certificate authorities (PEM) instead of the system's; default: $TENDON_OBVIOUS_CA_FILE"),
        Option(
            name: "--api-key-file", value: "FILE",
            help: "file with the API key, readable by its owner alone; default: $TENDON_OBVIOUS_API_KEY_FILE, "
                + "or the key itself in $TENDON_OBVIOUS_API_KEY"),
    ]

    static let product = Option(
        name: "--product", value: "ID", help: "product of the device: a number", takes: .integer(0...Int(UInt32.max)))
    static let appVersion = Option(
        name: "--app-version", value: "X.Y.Z", help: "version of the application, for the cloud", standard: "1.0.0",
        takes: .parsed { (text) throws(CommandError) in
            guard ObviousVersion.code(text) != nil else {
                throw .usage("it is of the form 1.2.3, not '\(sanitized(text))'")
            }
        })
    static let serial = Option(
        name: "--serial", value: "SERIAL", help: "serial number of the device: 16 hexadecimal digits")

    /// Installs the cloud; every call of this program uses it.
    static func install(_ arguments: Arguments) throws(CommandError) {
        let authorities: String?
        do throws(ObviousCloudError) {
            let configuration = try ObviousCloudConfiguration.environment(variables["--cloud"] ?? "") { name in
                let option = variables.first { $0.value == name }?.key
                return option.flatMap { arguments.value($0) } ?? environment(name)
            }
            guard configuration.apiKey != nil else { throw .noAPIKey }
            try ObviousCloud.install(configuration)
            authorities = configuration.authorityFile
        } catch {
            throw CommandError(error)
        }
        // libcurl opens it for each request, and its error has no name.
        if let authorities { _ = try readFile(authorities, limit: 1 << 24) }
    }

    /// The keys of `--keys-file`; none without one.
    static func keys(_ arguments: Arguments) throws(CommandError) -> [ObviousKey] {
        guard let path = arguments.value("--keys-file") ?? environment("TENDON_OBVIOUS_KEYS_FILE") else { return [] }
        do throws(ObviousCloudError) {
            return try ObviousCloudConfiguration.keys(file: path)
        } catch {
            throw CommandError(.failed, "\(sanitized(path)): \(error)")
        }
    }

    /// Runs calls of the cloud; Ctrl-C ends them.
    static func result<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(ObviousCloudError) -> Value
    ) async throws(CommandError) -> Result<Value, ObviousCloudError> {
        try await Termination.task(for: nil) { () throws(CommandError) in
            do throws(ObviousCloudError) { return .success(try await body()) } catch { return .failure(error) }
        }
    }

    /// The same for calls whose errors need no more than their own words.
    static func call<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(ObviousCloudError) -> Value
    ) async throws(CommandError) -> Value {
        switch try await result(body) {
        case .success(let value): return value
        case .failure(let error): throw CommandError(error)
        }
    }
}

extension Arguments {
    /// `--serial` as the cloud spells it; nil: not given.
    func serial() throws(CommandError) -> String? {
        guard let text = value("--serial") else { return nil }
        guard text.utf8.count == 16, text.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
            throw .usage("--serial takes 16 hexadecimal digits, not '\(sanitized(text))'")
        }
        return text.uppercased()
    }

    /// `--product`: a decimal number, as devices report it; nil: not given.
    func product() throws(CommandError) -> String? {
        try integer(CloudAccess.product).map { "\($0)" }
    }
}

extension CommandError {
    /// What happened, and what to do next.
    init(_ error: ObviousCloudError) {
        guard !error.isCancelled else {
            self = .interrupted
            return
        }
        var status = ExitStatus.failed
        var next: String?
        switch error.kind {
        case .noAPIKey:
            status = .usage
            next = "--api-key-file FILE, or set TENDON_OBVIOUS_API_KEY_FILE"
        case .argument where error.reason.hasSuffix("is not set"):
            status = .usage
            next =
                "--cloud https://api.example.com --api-key-file FILE, or set TENDON_OBVIOUS_BASE_URL and "
                + "TENDON_OBVIOUS_API_KEY_FILE"
        case .argument: status = .usage
        case .notSupported: next = "swift build --traits BlueZ,ObviousCloud, which needs libcurl"
        case .network where error.reason.contains("is not trusted"):
            next = "--ca-file FILE, with the certificate authority of the cloud"
        case .network where error.reason.hasSuffix("is not valid at this time"):
            next = "check the clock of this machine, and the certificate"
        case .network: next = "check the URL of --cloud, and --ca-file if the cloud has an authority of its own"
        case .timeout: next = "the same command again later"
        case .http where error.httpStatus == 401: next = "check the key of --api-key-file"
        default: break
        }
        self.init(status, "the cloud: \(error)", next: next)
    }
}
