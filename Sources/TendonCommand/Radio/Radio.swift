// SPDX-License-Identifier: MIT
// Which radio the options choose, and what its errors mean for the exit status.
import CTendon
import Tendon
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

extension Arguments {
    /// The names of `--adapter`, which may be a list and may be given several times.
    func adapters() throws(CommandError) -> [String] {
        let names = all("--adapter").flatMap(listWords)
        guard Set(names).count == names.count else { throw .usage("--adapter names an adapter twice") }
        guard names.count <= Int(TENDON_RADIO_GROUP_MAX) else {
            throw .usage("--adapter takes at most \(TENDON_RADIO_GROUP_MAX) adapters")
        }
        return names
    }

    /// The one of `--adapter`, of a command that uses one radio.
    func adapter() throws(CommandError) -> String? {
        let names = try adapters()
        guard names.count <= 1 else { throw .usage("this command uses one adapter", next: "tendon run --help") }
        return names.first
    }

    /// The radio of a command that uses one.
    func radio() throws(CommandError) -> RadioChoice { try radio(adapter: try adapter()) }

    /// One for each adapter.
    func radios() throws(CommandError) -> [RadioChoice] {
        var radios: [RadioChoice] = []
        for name in try adapters() { radios.append(try radio(adapter: name)) }
        return radios.isEmpty ? [try radio(adapter: nil)] : radios
    }

    private func radio(adapter: String?) throws(CommandError) -> RadioChoice {
        let use = AdapterUse(value("--adapter-use") ?? "shared")
        if try radioName() == "virtual" {
            guard use == .shared else { throw .usage("--adapter-use is for --radio bluez") }
            return .virtual(directory: nil)
        }
        #if !(BlueZ || KernelSockets)
            throw CommandError(.noRadio, "this program was built without the radio bluez", next: "--radio virtual")
        #else
            return .bluez(adapter: adapter, use: use)
        #endif
    }

    /// `bluez` or `virtual`: of the option, of the configuration, else of the environment. `--adapter` stands for bluez.
    /// - Parameter standard: where nothing names a radio.
    func radioName(_ standard: String = "bluez") throws(CommandError) -> String {
        try checkAdapter()
        if let name = value("--radio") { return name }
        guard !has("--adapter"), let name = environment(RadioChoice.variable), !name.isEmpty else {
            return has("--adapter") ? "bluez" : standard
        }
        guard RadioChoice(environment: name) != nil else {
            throw .usage("\(RadioChoice.variable) is bluez or virtual, not '\(sanitized(name))'")
        }
        return name
    }

    /// The virtual radio has no adapters.
    func checkAdapter() throws(CommandError) {
        guard value("--radio") != "virtual" || !has("--adapter") else { throw .usage("--adapter is for --radio bluez") }
    }

    func address() throws(CommandError) -> WantedAddress? {
        guard let word = value("--address") else { return nil }
        return try WantedAddress(named: word, option: "--address")
    }
}

extension Option {
    static let coded = Option(
        name: "--coded", value: nil,
        help: "search on LE Coded too, for devices with long range; an error if the adapter cannot",
        setting: Setting("gateway", isFixed: true))

    /// Throws if the option is given and one of the radios is virtual: that has no PHYs.
    func check(_ arguments: Arguments, on radios: [RadioChoice]) throws(CommandError) {
        guard arguments.has(name), radios.contains(where: \.isVirtual) else { return }
        throw .usage("\(name) is for --radio bluez")
    }
}

extension AdapterUse {
    fileprivate init(_ word: String) {
        switch word {
        case "sole": self = .sole
        case "observer": self = .observer
        default: self = .shared
        }
    }
}

/// An address of the command line. Without a type both types are meant.
struct WantedAddress: Sendable {
    let address: Address
    let saysType: Bool

    init(_ address: Address) { (self.address, saysType) = (address, true) }

    init(_ word: String, option: String) throws(CommandError) {
        guard let address = Address(word) else {
            throw .usage(
                "\(option) takes AA:BB:CC:DD:EE:FF, AA:BB:CC:DD:EE:FF/random or AA:BB:CC:DD:EE:FF/public, not "
                    + "'\(sanitized(word))'"
                    + (DeviceNames.shared.all.isEmpty
                        ? "; a name needs a configuration that gives it: --config FILE" : ""))
        }
        self.address = address
        saysType = word.contains("/")
    }

    /// An address, or the name that the configuration gives to a device.
    init(named word: String, option: String) throws(CommandError) {
        if let known = DeviceNames.shared.address(of: word) {
            self = known
        } else if word.contains(":") || DeviceNames.shared.all.isEmpty {
            try self.init(word, option: option)
        } else {
            throw .unknown("name of a device", word, among: DeviceNames.shared.all)
        }
    }

    /// Whether a word stands for a device: an address, or a name of the configuration.
    static func isMeant(by word: String) -> Bool {
        Address(word) != nil || DeviceNames.shared.address(of: word) != nil
    }

    func matches(_ other: Address) -> Bool {
        address.value == other.value && (!saysType || address.rawType == other.rawType)
    }

    /// What is said of a device with the same 48 bits that is not meant, because of its type; nil: it is meant.
    func mismatch(_ other: Address) -> String? {
        matches(other) ? nil : "\(other) is in range, with the type \(other.typeName)"
    }

    /// All addresses that match.
    var addresses: [tendon_address] {
        if saysType { return [address.c] }
        return [Address.AddressType.public, .random].map { Address(address.value, type: $0).c }
    }
}

extension Address.AddressType {
    /// As events have it.
    init?(named name: String) {
        let all: [Address.AddressType] = [.public, .random, .publicIdentity, .randomIdentity, .anonymous]
        guard let type = all.first(where: { Address(0, type: $0).typeName == name }) else { return nil }
        self = type
    }
}

extension Address {
    var typeName: String {
        switch type {
        case .public: "public"
        case .random: "random"
        case .publicIdentity: "public_identity"
        case .randomIdentity: "random_identity"
        case .anonymous: "anonymous"
        case nil: "unknown"
        }
    }
}

extension String {
    /// A name that `tendon_bluez_open()` takes: hciN, an address without a type, or a USB path such as 1-1.4.
    var isAdapterName: Bool { isAdapterIndex || (!contains("/") && Address(self) != nil) || isUSBPath }

    private var isUSBPath: Bool {
        let parts = split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, utf8.count < 24 else { return false }
        let numbers = [parts[0]] + parts[1].split(separator: ".", omittingEmptySubsequences: false)
        return numbers.allSatisfy { !$0.isEmpty && $0.allSatisfy { ("0"..."9").contains($0) } }
    }

    /// hciN
    var isAdapterIndex: Bool {
        hasPrefix("hci") && count > 3 && dropFirst(3).allSatisfy { ("0"..."9").contains($0) } && count < 8
    }
}

extension RadioChoice {
    /// Simulated devices only, also by the environment.
    var isVirtual: Bool {
        switch self {
        case .virtual: true
        case .bluez: false
        case .automatic: environment(RadioChoice.variable) == "virtual"
        }
    }
}

extension CommandError {
    /// An error of the library: the radio's own are status 3, a device that is not there 4.
    init(_ error: TendonError) {
        let description = describe(error)
        switch (error.layer, Int(error.status)) {
        case (.base, TENDON_ERROR_CANCELLED) where Termination.shared.isSignalled: self = .interrupted
        case (.radio, TENDON_RADIO_ERROR_OUT_OF_RANGE), (.bose, TENDON_BOSE_ERROR_DEVICE_NOT_FOUND):
            self.init(.noDevice, description, next: "tendon scan")
        case (.radio, TENDON_RADIO_ERROR_PAIRING_FAILED), (.radio, TENDON_RADIO_ERROR_NO_PAIRING_SERVICE),
            (.radio, TENDON_RADIO_ERROR_PEER_CLOSED):
            self.init(.failed, description)
        case (.radio, _), (.hci, _), (.management, _): self.init(.noRadio, description, next: CommandError.radioAdvice)
        case (.base, TENDON_ERROR_UNSUPPORTED) where error.operation == .scan:
            self.init(.noRadio, "the adapter does not support LE Coded", next: "the same without \(Option.coded.name)")
        case (_, _) where error.operation == .openRadio:
            // Which directory, and what is wrong with it, if it is that of the virtual radio.
            let finding = Finding.examine()[Int(TENDON_FINDING_DIRECTORY.rawValue)]
            if finding.state == TENDON_FINDING_LACKING, [.base, .system].contains(error.layer) {
                self.init(.noRadio, "\(finding.what) (\(error.name))", next: finding.remedy)
            } else {
                self.init(.noRadio, description, next: CommandError.radioAdvice)
            }
        default: self.init(.failed, description)
        }
    }

    /// A search without a result.
    /// - Parameters:
    ///   - family: the only one that was searched for.
    ///   - device: the same.
    static func nothingFound(
        _ family: String?, _ device: WantedAddress?, onVirtualRadio isVirtual: Bool
    ) -> CommandError {
        let simulated = device.map { " --address \($0.address)/\($0.saysType ? $0.address.typeName : "random")" } ?? ""
        return CommandError(
            .noDevice, device.map { "the device \($0.address) was not found" } ?? "no device was found",
            next: isVirtual
                ? "tendon simulate \(family ?? "bose")\(family.map { Definitions.words(for: $0) } ?? "") --radio virtual\(simulated) &"
                : "tendon scan; tendon doctor")
    }

    /// What to do about an adapter that is missing or cannot be used.
    static let radioAdvice = "tendon doctor; for simulated devices: --radio virtual"
}

/// Runs `body` where the caller runs; an error of the library becomes one of the command.
func translating<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws(TendonError) -> Result
) async throws(CommandError) -> Result {
    do {
        return try await body()
    } catch {
        throw CommandError(error)
    }
}

/// What happened, its name and its number; a system error in the system's words.
func describe(_ error: TendonError) -> String {
    guard error.layer == .system else { return error.description }
    return "\(error.operation.rawValue): \(systemWords(error))"
}

/// A system error without the operation: of a file that is named beside it.
func systemWords(_ error: TendonError) -> String { text(strerror(Int32(error.code))) }
