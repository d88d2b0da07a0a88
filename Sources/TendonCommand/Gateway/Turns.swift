// SPDX-License-Identifier: MIT
// Turns of the C core for a run: their memory, the time, and families by name. `tendon/fleet/turns.h` says what each function
// does.
import CTendon
import Tendon
import TendonSupport

/// What a run decides, and does.
protocol TurnOwner: AnyObject, Sendable {
    @TendonActor func serves(_ address: Address, family: String) -> Bool
    @TendonActor func expects(_ address: Address) -> Bool
    @TendonActor func mayConnect(to address: Address, family: String) -> Bool
    @TendonActor func begin(_ address: Address, _ family: String, over radio: Int) -> Bool
    @TendonActor func bondRemoved(of address: Address)
}

/// Which of the devices in range is connected to, over which radio, and when.
@TendonActor
final class Turns {
    let core = CBlock<tendon_turns>()
    private let records = CTable<tendon_admission_record>(capacity: Int(TENDON_ADMISSION_SLOTS))
    private let advertisers = CTable<tendon_search_advertiser>(capacity: 1024)  // a crowd, in 128 KiB
    private let families = NumberedFamilies()
    private weak var owner: (any TurnOwner)?
    let clock: @Sendable () -> UInt64

    /// - Parameters:
    ///   - random: nil: the generator of the C core.
    ///   - clock: the time, in milliseconds.
    nonisolated init(
        random: tendon_admission_random? = nil, clock: @escaping @Sendable () -> UInt64 = tendon_monotonic_ms
    ) {
        self.clock = clock
        var config = tendon_turns_config()
        let definitions = families.definitions
        (config.definitions, config.definition_count) = (UnsafePointer(definitions.pointer), definitions.capacity)
        (config.records, config.record_count) = (records.pointer, records.capacity)
        (config.advertisers, config.advertiser_count) = (advertisers.pointer, advertisers.capacity)
        config.seed = UInt32.random(in: .min ... .max)
        config.owner.context = context(of: self)
        config.owner.serves = { Turns.ask($0, $1, $2) { $0.serves($1, family: $2) } }
        config.owner.expects = { Turns.ask($0, $1, 0) { owner, address, _ in owner.expects(address) } }
        config.owner.begin = { context, address, family, radio, _ in
            Turns.ask(context, address, family) { $0.begin($1, $2, over: Int(radio)) }
        }
        config.owner.bond_removed = { context, address in
            _ = Turns.ask(context, address, 0) { owner, address, _ in
                owner.bondRemoved(of: address)
                return true
            }
        }
        withOptionalPointer(to: random) {
            config.random = $0
            tendon_turns_init(core.pointer, &config)
        }
    }

    /// - Parameter agrees: other gateways are asked before a device is connected to.
    func decide(by owner: any TurnOwner, agrees: Bool) {
        self.owner = owner
        guard agrees else { return }
        core.pointer.pointee.owner.may_connect = { Turns.ask($0, $1, $2) { $0.mayConnect(to: $1, family: $2) } }
    }

    private nonisolated static func ask(
        _ context: UnsafeMutableRawPointer?, _ address: UnsafePointer<tendon_address>?, _ family: UInt8,
        _ body: @TendonActor (any TurnOwner, Address, String) -> Bool
    ) -> Bool {
        let (turns, address) = (object(Turns.self, context), Address(address!.pointee))
        return TendonActor.assumeIsolated {
            turns.owner.map { body($0, address, turns.families.name(family) ?? "") } ?? false
        }
    }

    private func call<Result>(
        _ address: Address, _ body: (CPointer<tendon_turns>, inout tendon_address) -> Result
    ) -> Result {
        var c = address.c
        return body(core.pointer, &c)
    }

    /// Of the admission within.
    private func admit<Result>(
        _ address: Address, _ body: (CPointer<tendon_admission>, inout tendon_address) -> Result
    ) -> Result {
        var c = address.c
        return body(core.member(\.admission), &c)
    }

    // MARK: Radios

    func use(_ central: Central, as radio: Int) throws(TendonError) {
        try check(tendon_turns_use_radio(core.pointer, UInt8(radio), central.core.radio), .openRadio)
        central.core.onFailure(of: self) { [weak self, weak central] _ in
            TendonActor.assumeIsolated { if let central { self?.stop(radio, central) } }
        }
    }

    func stop(_ radio: Int, _ central: Central) {
        central.core.onFailure(of: self, nil)
        tendon_turns_stop_radio(core.pointer, UInt8(radio))
    }
    func lose(_ radio: Int) { tendon_turns_lose_radio(core.pointer, UInt8(radio)) }

    // MARK: What is received

    func take(_ report: CReport, _ radio: Int) -> tendon_turns_taken {
        tendon_turns_take(core.pointer, UInt8(radio), report, clock())
    }

    /// Nil: of none that is known so far.
    func family(_ taken: tendon_turns_taken) -> String? { families.name(taken.family) }

    /// Returns when `step` is due.
    func follow(_ address: Address, _ taken: tendon_turns_taken) -> UInt64 {
        var taken = taken
        return call(address) { tendon_turns_follow($0, &$1, &taken, clock()) }
    }

    /// False: it is left alone.
    func add(_ address: Address, family: String, over radio: Int) -> Bool {
        guard let number = families.number(of: family) else { return false }
        return call(address) { tendon_turns_add($0, &$1, number, UInt8(radio), clock()) }
    }

    /// As lines and tables have it; nil: none is known, or it was received too long ago.
    func name(of address: Address) -> String? {
        var (address, length) = (address.c, 0)
        guard let name = tendon_search_name(core.member(\.search), &address, &length) else { return nil }
        let text = printed(size: 3 * Int(TENDON_AD_LEGACY_MAX) + 1) { out in
            name.withMemoryRebound(to: UInt8.self, capacity: length) {
                _ = tendon_ad_text($0, length, out, 3 * Int(TENDON_AD_LEGACY_MAX) + 1)
            }
        }
        return text.isEmpty ? nil : sanitized(text)
    }

    // MARK: Turns

    func step() { tendon_turns_step(core.pointer, clock()) }
    var deadline: UInt64 { tendon_turns_deadline(core.pointer, clock()) }
    func finish() { tendon_turns_finish(core.pointer) }

    /// In milliseconds.
    func answerLimit(_ address: Address) -> UInt64 { admit(address) { UInt64(tendon_admission_answer_ms($0, &$1)) } }
    func answered(_ address: Address) { admit(address) { tendon_admission_answered($0, &$1) } }
    func connected(_ address: Address, over radio: UInt8) {
        call(address) { tendon_turns_connected($0, &$1, radio, clock()) }
    }

    /// By this program.
    func bondChanged(_ address: Address) { call(address) { tendon_turns_bond_changed($0, &$1, clock()) } }

    /// Returns the pause before the next turn, in milliseconds; nil: none is tried after it.
    @discardableResult
    func end(_ address: Address, _ ending: tendon_admission_ending, _ cause: TendonError? = nil) -> UInt64? {
        var ending = ending
        let pause = call(address) { tendon_turns_end($0, &$1, &ending, cause?.status ?? 0, clock()) }
        return pause == .max ? nil : pause
    }

    // MARK: Devices that are left alone

    func readmit(_ address: Address) { admit(address) { tendon_admission_readmit($0, &$1) } }
    func forget(_ address: Address) { admit(address) { tendon_admission_forget($0, &$1) } }
    /// True if it was not dismissed before.
    func dismiss(_ address: Address) -> Bool { admit(address) { tendon_admission_dismiss($0, &$1, clock()) } }
    func recall(_ address: Address) { admit(address) { tendon_admission_recall($0, &$1) } }
    func recallAll() { tendon_admission_recall(core.member(\.admission), nil) }
}
