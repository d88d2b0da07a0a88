// SPDX-License-Identifier: MIT
import CTendon
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Tendon

/// The questions that an agent was asked.
final class Asked: Sendable {
    private let list = Mutex<[PairingAgent.Question]>([])
    private let ended = Flag()

    var all: [PairingAgent.Question] { list.withLock { $0 } }
    var isCancelled: Bool { ended.isSet }

    func note(_ question: PairingAgent.Question) { list.withLock { $0.append(question) } }

    /// The passkey that was shown last.
    var passkey: Passkey? {
        all.reversed().lazy.compactMap { question in
            switch question {
            case .show(let passkey), .compare(let passkey): passkey
            case .enter: nil
            }
        }.first
    }

    /// Never answers; ends when its task is cancelled.
    func waitForever(_ question: PairingAgent.Question) async -> PairingAgent.Answer {
        note(question)
        await untilCancelled()
        ended.set()
        return .reject
    }
}

/// A wearable in pairing mode with an agent, and a central with a file of bonds.
struct Pair {
    let directory = RadioDirectory()
    let wearable: SimulatedHost<tendon_simulated_bose>
    let central: Central
    let bonds: BondStorage

    init(_ agent: PairingAgent) async throws {
        bonds = .file(directory.path + "-bonds")
        let loop = try Loop()
        wearable = try await SimulatedHost.open(
            radio: directory.radio, address: directory.address, loop: loop, interval: .milliseconds(20), keeping: [],
            prepare: { device in
                var options = tendon_simulated_bose_options()
                options.pairing_required = true
                options.pairing_enabled = true
                return tendon_simulated_bose_init(device, &options)
            },
            seam: { tendon_simulated_bose_device($0) })
        let host = wearable.host
        let failure = await loop.run { () -> TendonError? in
            do throws(TendonError) {
                try host.setPairingAgent(agent)
                return nil
            } catch {
                return error
            }
        }
        #expect(failure == nil)
        central = try await Central(radio: directory.radio, bonds: bonds)
    }

    /// Connects and pairs; the name of the error, or "OK".
    func pair(as agent: PairingAgent) async throws -> String {
        try await central.setPairingAgent(agent)
        let peripheral = try await central.connect(wearable.address)
        var result = "OK"
        do throws(TendonError) { try await peripheral.pair() } catch { result = error.name }
        #expect(await peripheral.isEncrypted == (result == "OK"))
        await peripheral.disconnect()
        return result
    }

    func removeFiles() {
        for suffix in ["-bonds", "-bonds.lock"] { unlink(directory.path + suffix) }
    }
}

/// Who answers when devices pair.
@Suite(.timeLimit(.minutes(1)))
struct PairingAgentTests {
    /// A device that shows a passkey.
    private static func display(_ asked: Asked) -> PairingAgent {
        PairingAgent(inputOutput: .displayOnly, requiresAuthentication: false) { _, question in
            asked.note(question)
            return .accept
        }
    }

    @Test func aPasskeyIsEntered() async throws {
        let shown = Asked(), asked = Asked()
        let pair = try await Pair(Self.display(shown))
        defer { pair.removeFiles() }
        let agent = PairingAgent.asking { device, question in
            #expect(device == pair.wearable.address)
            asked.note(question)
            await eventually("a passkey is shown") { shown.passkey != nil }
            return shown.passkey.map { .passkey($0) } ?? .reject
        }
        #expect(try await pair.pair(as: agent) == "OK")
        #expect(asked.all == [.enter])
        let bond = try #require(try pair.bonds.bonds().first)
        #expect(bond.address == pair.wearable.address)
        #expect(bond.adapter == nil)
        #expect(bond.role == .peripheral)
        #expect(bond.isAuthenticated)
        #expect(bond.usesSecureConnections)
        #expect(bond.keySize == 16)
        #expect(!bond.hasIdentityKey)
        #expect(try pair.bonds.bonds() == [bond])
    }

    @Test func answersThatDoNotFitRejectThePairing() async throws {
        let shown = Asked()
        let pair = try await Pair(Self.display(shown))
        defer { pair.removeFiles() }
        for answer in [PairingAgent.Answer.accept, .reject] {
            #expect(try await pair.pair(as: .asking { _, _ in answer }) == "RADIO_ERROR_PAIRING_FAILED")
        }
        let wrong = PairingAgent.asking { _, _ in
            await eventually("shown again") { shown.all.count >= 3 }
            return (shown.passkey?.rawValue).flatMap { Passkey(rawValue: $0 ^ 1) }.map { .passkey($0) } ?? .reject
        }
        #expect(try await pair.pair(as: wrong) == "RADIO_ERROR_PAIRING_FAILED")
        #expect(try pair.bonds.bonds().isEmpty)
    }

    /// Without a passkey that one shows and the other enters, the virtual radio has Just Works.
    @Test func theDeviceHasAKeyboard() async throws {
        let device = PairingAgent(inputOutput: .keyboardOnly, requiresAuthentication: false) { _, question in
            Issue.record("asked: \(question)")
            return .reject
        }
        let pair = try await Pair(device)
        defer { pair.removeFiles() }
        #expect(try await pair.pair(as: Self.display(Asked())) == "OK")
        #expect(try pair.bonds.bonds().map(\.isAuthenticated) == [false])
        try await pair.central.forget(pair.wearable.address)
        #expect(try await pair.pair(as: .asking { _, _ in .accept }) == "RADIO_ERROR_PAIRING_TOO_WEAK")
    }

    @Test func aPasskeyForADeviceWithoutADisplay() async throws {
        let pair = try await Pair(.accepting)
        defer { pair.removeFiles() }
        let passkey = try #require(Passkey("123456"))
        #expect(try await pair.pair(as: .passkey(passkey)) == "RADIO_ERROR_PAIRING_TOO_WEAK")
        #expect(try pair.bonds.bonds().isEmpty)
        #expect(try await pair.pair(as: .accepting) == "OK")
        #expect(try pair.bonds.bonds().map(\.isAuthenticated) == [false])
        #expect(await pair.central.isBonded(with: pair.wearable.address))
        try await pair.central.setPairingAgent(.passkey(passkey))
        #expect(await !pair.central.isBonded(with: pair.wearable.address), "it is not worth enough")
    }

    /// A connection is used once it has the required security, or not at all.
    @Test func whatAConnectionMustHave() async throws {
        let asked = Asked()
        let pair = try await Pair(Self.display(asked))
        defer { pair.removeFiles() }
        let address = pair.wearable.address
        try await pair.central.setPairingAgent(.accepting)
        for security in [ConnectionSecurity.authenticated, .encrypted] {
            await pair.central.requireSecurity(security)
            var result = "OK"
            do throws(TendonError) {
                let peripheral = try await pair.central.connect(address)
                #expect(await peripheral.isEncrypted)
                await peripheral.disconnect()
            } catch {
                result = error.name
            }
            #expect(result == (security == .encrypted ? "OK" : "RADIO_ERROR_NOT_SECURE"))
        }
        #expect(try pair.bonds.bonds().map(\.isAuthenticated) == [false])
        // A bond that is too weak is replaced, by an agent that can.
        try await pair.central.setPairingAgent(
            .asking { _, _ in
                await eventually("a passkey is shown") { asked.passkey != nil }
                return asked.passkey.map { .passkey($0) } ?? .reject
            })
        await pair.central.requireSecurity(.authenticated)
        for _ in 0..<2 {
            let peripheral = try await pair.central.connect(address)
            #expect(await peripheral.isEncrypted)
            await peripheral.disconnect()
        }
        #expect(asked.all.count == 1)
        #expect(try pair.bonds.bonds().map(\.isAuthenticated) == [true])
        try await pair.central.forget(address)
        await pair.central.requireSecurity(.none)
        let open = try await pair.central.connect(address)
        #expect(await !open.isEncrypted)
        await open.disconnect()
    }

    /// Another agent, or a radio that closes: nobody waits for the answer.
    @Test(arguments: [false, true])
    func aQuestionThatNobodyAnswersEnds(_ radioCloses: Bool) async throws {
        let asked = Asked()
        let pair = try await Pair(Self.display(Asked()))
        defer { pair.removeFiles() }
        try await pair.central.setPairingAgent(.asking { _, question in await asked.waitForever(question) })
        do {
            let peripheral = try await pair.central.connect(pair.wearable.address)
            let pairing = Task { try? await peripheral.pair() }
            await eventually("the question is asked") { asked.all == [.enter] }
            await peripheral.disconnect()
            await pairing.value
        }
        #expect(!asked.isCancelled, "the device may come back")
        if radioCloses { await pair.central.close() } else { try await pair.central.setPairingAgent(.accepting) }
        await eventually("the question is cancelled") { asked.isCancelled }
    }

    /// The device has asked again: the answer to the first question comes late, and is not the second's.
    @Test func anAnswerToAnEarlierQuestionIsIgnored() async throws {
        let shown = Asked(), asked = Asked(), isAskedAgain = Flag(), isAnswered = Flag()
        let pair = try await Pair(Self.display(shown))
        defer { pair.removeFiles() }
        let agent = PairingAgent.asking { _, question in
            asked.note(question)
            if asked.all.count == 1 {
                await eventually("asked again") { isAskedAgain.isSet }
                isAnswered.set()
                return .reject
            }
            await eventually("answered, and shown again") { isAnswered.isSet && shown.all.count >= 2 }
            for _ in 0..<20 { await onLoop {} }
            return shown.passkey.map { .passkey($0) } ?? .reject
        }
        try await pair.central.setPairingAgent(agent)
        let first = try await pair.central.connect(pair.wearable.address)
        let pairing = Task { try? await first.pair() }
        await eventually("the question is asked") { asked.all.count == 1 }
        await first.disconnect()
        await pairing.value
        let second = try await pair.central.connect(pair.wearable.address)
        let again = Task { try await second.pair() }
        await eventually("the question is asked again") { asked.all.count == 2 }
        isAskedAgain.set()
        try await again.value
        #expect(await second.isEncrypted)
    }

    /// The radio is asked to end it, too: a pairing of the same connection is possible at once.
    @Test func aPairingThatIsCancelledEnds() async throws {
        let shown = Asked(), asked = Asked()
        let pair = try await Pair(Self.display(shown))
        defer { pair.removeFiles() }
        let agent = PairingAgent.asking { _, question in await asked.waitForever(question) }
        try await pair.central.setPairingAgent(agent)
        let peripheral = try await pair.central.connect(pair.wearable.address)
        let pairing = Task { try await peripheral.pair() }
        await eventually("the question is asked") { asked.all.count == 1 }
        pairing.cancel()
        await #expect(throws: TendonError.cancelled) { try await pairing.value }
        await onLoop {}
        let again = Task { try? await peripheral.pair() }
        await eventually("the question is asked again") { asked.all.count == 2 }
        again.cancel()
        await again.value
    }

    /// The keys stay where the file that has them cannot be written.
    @Test func aBondThatCannotBeForgotten() async throws {
        let pair = try await Pair(.accepting)
        defer { pair.removeFiles() }
        let address = pair.wearable.address
        #expect(try await pair.pair(as: .accepting) == "OK")
        let core = pair.central.core
        func forget() async -> TendonError? {
            await onLoop {
                failing("fsync", with: EIO, all: true) { () -> TendonError? in
                    do throws(TendonError) {
                        try core.forget(address)
                        return nil
                    } catch {
                        return error
                    }
                }.result
            }
        }
        #expect(await forget() == TendonError(status: TendonError.system(EIO), operation: .pair))
        #expect(await pair.central.isBonded(with: address))
    }

    @Test func anAgentThatCannotBe() async throws {
        let directory = RadioDirectory()
        let central = try await Central(radio: directory.radio, bonds: .memory)
        func fails(_ agent: PairingAgent) async -> String {
            do throws(TendonError) {
                try await central.setPairingAgent(agent)
                return "OK"
            } catch {
                return error.name
            }
        }
        var agent = PairingAgent.accepting
        for size in [-1, 6, 17, 262] {
            agent.minimumKeySize = size
            #expect(await fails(agent) == "ERROR_INVALID_ARGUMENT", "\(size)")
        }
        #expect(await fails(.file("/tmp/none\0/passkeys")) == "ERROR_INVALID_ARGUMENT")
        #expect(await fails(.file(directory.path + "-none")) == "ERROR_NOT_FOUND")
        agent = PairingAgent(inputOutput: .noInputNoOutput, requiresAuthentication: true)
        #expect(await fails(agent) == "ERROR_INVALID_ARGUMENT")
        #expect(await fails(.accepting) == "OK")
        let unable = try await Central(radio: directory.radio, bonds: .none)
        await #expect(throws: TendonError.self) { try await unable.setPairingAgent(.accepting) }
    }

    @Test(
        arguments: [
            ("000000", 0), ("012345", 12345), ("999999", 999_999), ("12345", nil), ("1234567", nil), ("", nil),
            ("+12345", nil), ("١٢٣٤٥٦", nil), ("12345 ", nil),
        ] as [(String, UInt32?)])
    func passkeysAreSixDigits(_ text: String, _ number: UInt32?) {
        #expect(Passkey(text)?.rawValue == number)
        if number != nil { #expect(Passkey(text)?.description == text) }
        #expect(Passkey(rawValue: 999_999) != nil && Passkey(rawValue: 1_000_000) == nil)
    }

    @Test func answersFitTheirQuestion() throws {
        let one = try #require(Passkey("000001")), two = try #require(Passkey("000002"))
        let table: [(PairingAgent.Question, PairingAgent.Answer, Bool, UInt32)] = [
            (.compare(one), .accept, true, 0), (.compare(one), .reject, false, 0),
            (.compare(one), .passkey(one), true, 0), (.compare(one), .passkey(two), false, 0),
            (.enter, .passkey(two), true, 2), (.enter, .accept, false, 0), (.enter, .reject, false, 0),
            (.show(one), .accept, false, 0),
        ]
        for (question, answer, accepted, passkey) in table {
            #expect(question.resolve(answer) == (accepted, passkey), "\(question) \(answer)")
        }
    }

    @Test func bondsOfAFileThatIsNone() throws {
        #expect(try BondStorage.memory.bonds().isEmpty)
        #expect(try BondStorage.none.bonds().isEmpty)
        #expect(try BondStorage.file("/tmp/tendon-none-\(getpid())").bonds().isEmpty)
        #expect(throws: TendonError.self) { try BondStorage.file("/dev/null").bonds() }
    }
}
