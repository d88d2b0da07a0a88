// SPDX-License-Identifier: MIT
import CTendon

/// The six digits that one side of a pairing shows and the other one enters or compares.
///
/// ```swift
/// let passkey = Passkey("012345")
/// ```
public struct Passkey: RawRepresentable, Sendable, Hashable, LosslessStringConvertible {
    /// 0 to 999999.
    public let rawValue: UInt32

    /// `nil`: more than six digits.
    public init?(rawValue: UInt32) {
        guard rawValue <= TENDON_PASSKEY_MAX else { return nil }
        self.rawValue = rawValue
    }

    /// Exactly six digits; `nil`: anything else.
    public init?(_ description: String) {
        guard description.utf8.count == 6, description.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        guard let number = UInt32(description) else { return nil }
        rawValue = number
    }

    /// Six digits, as devices show them.
    public var description: String { String(String(1_000_000 + rawValue).dropFirst()) }
}

/// The component that answers for the user when devices pair, and what a key must be worth.
///
/// Set it with ``Central/setPairingAgent(_:)``. Without one, a central pairs with Just Works: the connection is
/// encrypted, but a device between the two is not noticed.
///
/// ```swift
/// try await central.setPairingAgent(
///     .asking { device, question in
///         guard case .enter = question else { return .reject }
///         print("which passkey does \(device) show?")
///         return readLine().flatMap(Passkey.init).map { .passkey($0) } ?? .reject
///     })
/// ```
public struct PairingAgent: Sendable {
    /// What this side can show and enter: the IO capability of the Core Specification, Vol 3 Part H 2.3.2.
    public enum InputOutput: UInt8, Sendable {
        /// It shows a passkey.
        case displayOnly = 0
        /// It shows a passkey, and a person answers yes or no.
        case displayYesNo
        /// A person, or the agent in place of one, enters the passkey that the device shows.
        case keyboardOnly
        /// Neither: Just Works.
        case noInputNoOutput
        /// Both.
        case keyboardDisplay
    }

    /// What a pairing needs from a person.
    public enum Question: Sendable, Hashable {
        /// Does the device show this passkey too? Answer with `.accept` or `.reject`.
        case compare(Passkey)
        /// Which passkey does the device show? Answer with `.passkey`.
        case enter
        /// The person enters this passkey at the device; the answer is ignored.
        case show(Passkey)
    }

    /// An answer. One that does not fit the question rejects the pairing.
    public enum Answer: Sendable, Hashable {
        /// Both devices show the same passkey.
        case accept
        /// The device shows this passkey.
        case passkey(Passkey)
        /// The pairing fails.
        case reject
    }

    /// What this side can show and enter.
    public var inputOutput: InputOutput
    /// The smallest length of a key, in bytes, 7 to 16; a shorter one is rejected.
    public var minimumKeySize = 7
    /// Rejects Just Works, and bonds that were made with it.
    public var requiresAuthentication: Bool
    /// Rejects LE Legacy Pairing, and bonds that were made with it.
    public var requiresSecureConnections = false
    /// The passkey that every device shows, for example on its label.
    public var passkey: Passkey?
    /// A file of passkeys that only its owner can access. A line is an address or `*`, a space and six digits; `#` begins
    /// a comment. It is read for every question.
    public var passkeyFile: String?
    /// Asks a person for what neither `passkey` nor `passkeyFile` answers; `nil`: the pairing is rejected.
    ///
    /// The device waits for at most 30 s. The task is cancelled if the device asks again, if another agent is set, and
    /// when the radio closes.
    public var handler: (@Sendable (_ device: Address, _ question: Question) async -> Answer)?

    /// An agent of these members; the factory functions cover the usual ones.
    public init(
        inputOutput: InputOutput, requiresAuthentication: Bool, passkey: Passkey? = nil, passkeyFile: String? = nil,
        handler: (@Sendable (_ device: Address, _ question: Question) async -> Answer)? = nil
    ) {
        self.inputOutput = inputOutput
        self.requiresAuthentication = requiresAuthentication
        self.passkey = passkey
        self.passkeyFile = passkeyFile
        self.handler = handler
    }

    /// Accepts Just Works: the default of a central.
    public static let accepting = PairingAgent(inputOutput: .noInputNoOutput, requiresAuthentication: false)

    /// Enters this passkey when a device shows one; rejects Just Works.
    public static func passkey(_ passkey: Passkey) -> PairingAgent {
        PairingAgent(inputOutput: .keyboardOnly, requiresAuthentication: true, passkey: passkey)
    }

    /// Looks passkeys up in a file; rejects Just Works.
    public static func file(_ path: String) -> PairingAgent {
        PairingAgent(inputOutput: .keyboardOnly, requiresAuthentication: true, passkeyFile: path)
    }

    /// Asks a person who has a keyboard and a display; rejects Just Works.
    public static func asking(
        _ handler: @escaping @Sendable (_ device: Address, _ question: Question) async -> Answer
    ) -> PairingAgent {
        PairingAgent(inputOutput: .keyboardDisplay, requiresAuthentication: true, handler: handler)
    }
}

extension PairingAgent.Question {
    init?(_ question: tendon_pairing_question, _ number: UInt32) {
        guard let passkey = Passkey(rawValue: number) else { return nil }
        switch question {
        case TENDON_PAIRING_COMPARE: self = .compare(passkey)
        case TENDON_PAIRING_ENTER: self = .enter
        case TENDON_PAIRING_SHOW: self = .show(passkey)
        default: return nil
        }
    }

    /// The answer as the C core takes it.
    func resolve(_ answer: PairingAgent.Answer) -> (accepted: Bool, passkey: UInt32) {
        switch (self, answer) {
        case (.compare, .accept): (true, 0)
        case (.compare(let shown), .passkey(let seen)): (shown == seen, 0)
        case (.enter, .passkey(let entered)): (true, entered.rawValue)
        default: (false, 0)
        }
    }
}

/// The agent of one radio: what the C core borrows, and the questions that wait. All of it is for the loop's thread.
final class PairingAgentCore: @unchecked Sendable {
    // Used only on the loop's thread; the handler is constant.
    private let loop: Loop
    private let radio: CPointer<tendon_radio>
    private let path: CText?
    private let handler: (@Sendable (Address, PairingAgent.Question) async -> PairingAgent.Answer)?
    private var pending: [Address: (number: UInt64, task: Task<Void, Never>)] = [:]
    private var asked: UInt64 = 0

    /// Sets the agent of the radio.
    init(_ agent: PairingAgent, _ radio: CPointer<tendon_radio>, _ loop: Loop) throws(TendonError) {
        (self.loop, self.radio, handler) = (loop, radio, agent.handler)
        path = agent.passkeyFile.map(CText.init)
        let isText = agent.passkeyFile?.utf8.contains(0) != true
        guard isText, let size = UInt8(exactly: agent.minimumKeySize) else {
            throw TendonError(status: Int32(TENDON_ERROR_INVALID_ARGUMENT), operation: .pair)
        }
        var c = tendon_pairing_agent()
        c.io = agent.inputOutput.rawValue
        c.key_size_min = size
        c.authenticated = agent.requiresAuthentication
        c.secure_connections_only = agent.requiresSecureConnections
        c.has_passkey = agent.passkey != nil
        c.passkey = agent.passkey?.rawValue ?? 0
        c.passkey_file = path.map { UnsafePointer($0.pointer) }
        if handler != nil {
            c.context = context(of: self)
            c.ask = { context, peer, question, passkey, _ in
                guard let peer, let question = PairingAgent.Question(question, passkey) else { return }
                object(PairingAgentCore.self, context).ask(Address(peer.pointee), question)
            }
        }
        try check(tendon_radio_set_pairing_agent(radio, &c), .pair)
    }

    private func ask(_ device: Address, _ question: PairingAgent.Question) {
        guard let handler else { return }
        asked += 1
        let number = asked
        pending[device]?.task.cancel()
        let task = Task { [weak self, loop] in
            let answer = await handler(device, question)
            loop.post { [weak self] in self?.take(answer, to: question, of: device, number) }
        }
        pending[device] = (number, task)
    }

    /// An answer to a question that was asked again, or whose radio is closed, is ignored.
    private func take(
        _ answer: PairingAgent.Answer, to question: PairingAgent.Question, of device: Address, _ number: UInt64
    ) {
        guard pending[device]?.number == number else { return }
        pending[device] = nil
        if case .show = question { return }
        var peer = device.c
        let (accepted, passkey) = question.resolve(answer)
        // It fails if the device waits no longer.
        tendon_radio_answer_pairing(radio, &peer, accepted, passkey, tendon_monotonic_ms())
        loop.core.touched()
    }

    /// The radio has another agent, or is about to close.
    func cancel() {
        for (_, task) in pending.values { task.cancel() }
        pending = [:]
    }
}
