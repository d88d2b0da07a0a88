// SPDX-License-Identifier: MIT
// Admission of the C core for the threads of a run: its memory, a lock, the time, and families by name.
import CTendon
import Synchronization
import Tendon

/// Which of the devices in range may connect, and when. `tendon/gateway/admission.h` says what each function does.
final class Admission: Sendable {
    private struct Table {
        let core = CBlock<tendon_admission>()
        let records = CTable<tendon_admission_record>(capacity: Int(TENDON_ADMISSION_SLOTS))
        /// By the numbers that the C core keeps.
        var families: [String] = []

        /// Nil: there are more families than numbers.
        mutating func number(of family: String) -> UInt8? {
            if !families.contains(family), families.count <= UInt8.max { families.append(family) }
            return families.firstIndex(of: family).map { UInt8($0) }
        }
    }
    private let table = Mutex(Table())
    private let clock: @Sendable () -> UInt64

    /// - Parameters:
    ///   - random: nil: the generator of the C core.
    ///   - clock: the time where a function is called without one, in milliseconds.
    init(
        random: tendon_admission_random? = nil, clock: @escaping @Sendable () -> UInt64 = tendon_monotonic_ms
    ) {
        self.clock = clock
        let seed = UInt32.random(in: .min ... .max)
        table.withLock { table in
            let (core, records) = (table.core.pointer, table.records)
            if var random {
                tendon_admission_init(core, records.pointer, records.capacity, &random, seed)
            } else {
                tendon_admission_init(core, records.pointer, records.capacity, nil, seed)
            }
        }
    }

    private func call<Result: Sendable>(
        _ address: Address, _ body: (CPointer<tendon_admission>, inout tendon_address) -> Result
    ) -> Result {
        var c = address.c
        return table.withLock { body($0.core.pointer, &c) }
    }

    /// True if the device was not known.
    func received(
        _ address: Address, family: String, isPreferred: Bool, awaitsResponse: Bool, radio: Int = 0
    ) -> Bool {
        guard let number = table.withLock({ $0.number(of: family) }) else { return false }
        var report = tendon_admission_report(
            family: number, radio: UInt8(radio), preferred: isPreferred, awaits_response: awaitsResponse)
        return call(address) { tendon_admission_received($0, &$1, &report, clock()) }
    }
    func responded(_ address: Address) -> Bool { call(address) { tendon_admission_responded($0, &$1, clock()) } }
    /// Of a device that is connected, which was received; nil: it is not connected.
    func servedFamily(of address: Address, on radio: Int, now: UInt64) -> String? {
        var number: UInt8 = 0
        let isServed = call(address) { tendon_admission_heard($0, &$1, UInt8(radio), now, &number) }
        return isServed ? table.withLock { $0.families[Int(number)] } : nil
    }
    func forgetPresence(radio: Int = 0) {
        table.withLock { tendon_admission_radio_lost($0.core.pointer, UInt8(radio)) }
    }

    /// The next devices; they have a turn from now on.
    /// - Parameter isAllowed: whether a device, by address and family, may have one.
    func next(
        among radios: UInt8 = 0, where isAllowed: @escaping (Address, String) -> Bool = { _, _ in true }
    ) -> [(address: Address, family: String)] {
        final class Filter {
            let passes: (Address, UInt8) -> Bool
            init(_ passes: @escaping (Address, UInt8) -> Bool) { self.passes = passes }
        }
        let now = clock()
        return table.withLock { table in
            let families = table.families
            let filter = Filter { isAllowed($0, families[Int($1)]) }
            var turns: [(address: Address, family: String)] = []
            var (address, number) = (tendon_address(), UInt8(0))
            while tendon_admission_next(
                table.core.pointer, radios, { object(Filter.self, $0).passes(Address($1!.pointee), $2) },
                context(of: filter), now, &address, &number)
            {
                turns.append((Address(address), families[Int(number)]))
            }
            return turns
        }
    }
    func mayBeNext(_ address: Address, now: UInt64, among radios: UInt8) -> Bool {
        call(address) { tendon_admission_may_be_next($0, &$1, radios, now) }
    }
    func hasWaiting(now: UInt64) -> Bool { table.withLock { tendon_admission_has_waiting($0.core.pointer, now) } }
    func deadline(now: UInt64) -> UInt64 { table.withLock { tendon_admission_deadline($0.core.pointer, now) } }
    func deadline(of address: Address, now: UInt64) -> UInt64 {
        call(address) { tendon_admission_deadline_of($0, &$1, now) }
    }
    func radios(for address: Address) -> UInt8 { call(address) { tendon_admission_radios($0, &$1) } }
    /// In milliseconds.
    func answerLimit(_ address: Address) -> UInt64 { call(address) { UInt64(tendon_admission_answer_ms($0, &$1)) } }

    func answered(_ address: Address) { call(address) { tendon_admission_answered($0, &$1) } }
    func connected(_ address: Address) { call(address) { tendon_admission_connected($0, &$1, clock()) } }
    /// Returns the pause before the next turn, in milliseconds; nil: none is tried after it.
    @discardableResult
    func endTurn(of address: Address, _ ending: tendon_admission_ending) -> UInt64? {
        var ending = ending
        let pause = call(address) { tendon_admission_end_turn($0, &$1, &ending, clock()) }
        return pause == .max ? nil : pause
    }
    func postpone(_ address: Address) { call(address) { tendon_admission_postpone($0, &$1, clock()) } }

    func readmit(_ address: Address) { call(address) { tendon_admission_readmit($0, &$1) } }
    func forget(_ address: Address) { call(address) { tendon_admission_forget($0, &$1) } }

    @discardableResult
    func dismiss(_ address: Address) -> Bool { call(address) { tendon_admission_dismiss($0, &$1, clock()) } }
    func recall(_ address: Address) { call(address) { tendon_admission_recall($0, &$1) } }
    func recallAll() { table.withLock { tendon_admission_recall($0.core.pointer, nil) } }
    func isDismissed(_ address: Address) -> Bool {
        call(address) { tendon_admission_state_of($0, &$1) == TENDON_ADMISSION_DISMISSED }
    }
    /// True if another program has removed the bond that the radio had.
    func look(at address: Address, isBonded: Bool, radio: Int) -> Bool {
        call(address) { tendon_admission_look_at_bond($0, &$1, isBonded, UInt8(radio)) }
    }
}
