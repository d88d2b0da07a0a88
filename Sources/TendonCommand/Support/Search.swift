// SPDX-License-Identifier: MIT
// Search of the C core for a run: its memory, families by name, and the scans that it needs active.
import CTendon
import Tendon
import TendonSupport

/// What the devices in range advertise. `tendon/gateway/search.h` says what each function does.
@TendonActor
final class Search {
    /// What a packet tells of its advertiser.
    struct Found {
        /// Nil: of none that is known so far.
        let family: String?
        let isServed: Bool
        let awaitsResponse: Bool
        let isResponse: Bool
    }

    /// What is looked for.
    @TendonActor
    private final class Scope {
        /// By the numbers that the C core has.
        let families = familyNames()
        var plan: GatewayPlan?
        nonisolated init() {}

        func serves(_ address: Address, _ family: UInt8) -> Bool {
            plan?.serves(address, family: families[Int(family)]) ?? false
        }
    }
    private let core = CBlock<tendon_search>()
    private let advertisers = CTable<tendon_search_advertiser>(capacity: 1024)  // a crowd, in 128 KiB
    private let definitions: CTable<UnsafePointer<tendon_definition>?>
    private let scope: Scope

    nonisolated init() {
        // As many as have numbers.
        let all = Definitions.all.prefix(Int(TENDON_SEARCH_NO_FAMILY) - Int(TENDON_SEARCH_DEFINED))
        let scope = Scope()
        let definitions = CTable<UnsafePointer<tendon_definition>?>(capacity: all.count)
        for (index, definition) in all.enumerated() { definitions.pointer[index] = UnsafePointer(definition.pointer) }
        var parts = tendon_search_scope()
        (parts.definitions, parts.definition_count) = (UnsafePointer(definitions.pointer), all.count)
        parts.context = context(of: scope)
        parts.serves = { context, address, family in
            let (scope, address) = (object(Scope.self, context), Address(address!.pointee))
            return TendonActor.assumeIsolated { scope.serves(address, family) }
        }
        tendon_search_init(core.pointer, advertisers.pointer, advertisers.capacity, &parts)
        self.definitions = definitions
        self.scope = scope
    }

    func take(_ report: CReport, for plan: GatewayPlan, _ now: UInt64) -> Found {
        scope.plan = plan
        let found = tendon_search_take(core.pointer, report, now)
        return Found(
            family: Int(found.family) == Int(TENDON_SEARCH_NO_FAMILY) ? nil : scope.families[Int(found.family)],
            isServed: found.is_served, awaitsResponse: found.awaits_response, isResponse: found.is_response)
    }

    /// As lines and tables have it; nil: none is known, or it was received too long ago.
    func name(of address: Address) -> String? {
        var (address, length) = (address.c, 0)
        guard let name = tendon_search_name(core.pointer, &address, &length) else { return nil }
        let text = printed(size: 3 * Int(TENDON_AD_LEGACY_MAX) + 1) { out in
            name.withMemoryRebound(to: UInt8.self, capacity: length) {
                _ = tendon_ad_text($0, length, out, 3 * Int(TENDON_AD_LEGACY_MAX) + 1)
            }
        }
        return text.isEmpty ? nil : sanitized(text)
    }

    func isActive(_ now: UInt64) -> Bool { tendon_search_is_active(core.pointer, now) }
    func deadline(_ now: UInt64) -> UInt64 { tendon_search_deadline(core.pointer, now) }
}

/// The active part of a radio's search: a second user of its scan, whose request makes the whole scan active.
@TendonActor
final class ResponseScan {
    private let core: RadioCore
    private var scanner: RadioCore.Scanner?
    var isActive: Bool { scanner != nil }

    init(_ central: Central) { core = central.core }

    /// A radio that has failed has no scan: the search itself reports that.
    func update(isActive: Bool) {
        guard isActive != self.isActive else { return }
        scanner?.stop()
        scanner = isActive ? try? core.scan(ScanOptions(isActive: true), report: { _, _ in }, ended: { _ in }) : nil
    }
}
