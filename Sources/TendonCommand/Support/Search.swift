// SPDX-License-Identifier: MIT
// Search of the C core: of which families the devices in range are, and for a run the scans that it needs active.
import CTendon
import Tendon
import TendonSupport

/// What advertisers have sent, and of which families they are. `tendon/gateway/search.h` says what each function does.
final class AdvertisedFamilies: @unchecked Sendable {
    // Only memory; its owner determines who may use it.
    let core = CBlock<tendon_search>()
    private let advertisers = CTable<tendon_search_advertiser>(capacity: 1024)  // a crowd, in 128 KiB
    private let definitions: CTable<UnsafePointer<tendon_definition>?>
    /// By the numbers that the C core has.
    let names = familyNames()
    /// Whether a device can answer a scan request: a name that decides is waited for.
    private let hearsResponses: Bool

    init(
        hearsResponses: Bool = true, context: CContext? = nil,
        serves: (@convention(c) (CContext?, UnsafePointer<tendon_address>?, UInt8) -> Bool)? = nil
    ) {
        self.hearsResponses = hearsResponses
        // As many as have numbers.
        let all = Definitions.all.prefix(Int(TENDON_SEARCH_NO_FAMILY) - Int(TENDON_SEARCH_DEFINED))
        definitions = CTable<UnsafePointer<tendon_definition>?>(capacity: all.count)
        for (index, definition) in all.enumerated() { definitions.pointer[index] = UnsafePointer(definition.pointer) }
        var scope = tendon_search_scope()
        (scope.definitions, scope.definition_count) = (UnsafePointer(definitions.pointer), all.count)
        (scope.context, scope.serves) = (context, serves)
        tendon_search_init(core.pointer, advertisers.pointer, advertisers.capacity, &scope)
    }

    /// Nil: of none that is known so far.
    func name(of found: tendon_search_found) -> String? {
        Int(found.family) == Int(TENDON_SEARCH_NO_FAMILY) ? nil : names[Int(found.family)]
    }

    /// The family of an advertiser, after this packet.
    func family(of address: Address, sending data: [UInt8], isScannable: Bool, isResponse: Bool, _ now: UInt64)
        -> String?
    {
        data.withUnsafeBufferPointer { bytes in
            var report = tendon_ad_report()
            report.address = address.c
            report.properties = UInt16(
                (isScannable && hearsResponses ? TENDON_AD_SCANNABLE : 0) | (isResponse ? TENDON_AD_SCAN_RESPONSE : 0))
            (report.data, report.length) = (bytes.baseAddress, bytes.count)
            return name(of: tendon_search_take(core.pointer, &report, now))
        }
    }

    func family(of advertisement: Advertisement) -> String? {
        family(
            of: advertisement.address, sending: advertisement.data, isScannable: advertisement.isScannable,
            isResponse: advertisement.isScanResponse, advertisement.time)
    }
}

/// The same for a run.
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
        let families = familyNames()
        var plan: GatewayPlan?
        nonisolated init() {}

        func serves(_ address: Address, _ family: UInt8) -> Bool {
            plan?.serves(address, family: families[Int(family)]) ?? false
        }
    }
    private let families: AdvertisedFamilies
    private var core: CBlock<tendon_search> { families.core }
    private let scope: Scope

    nonisolated init() {
        let scope = Scope()
        families = AdvertisedFamilies(context: context(of: scope)) { context, address, family in
            let (scope, address) = (object(Scope.self, context), Address(address!.pointee))
            return TendonActor.assumeIsolated { scope.serves(address, family) }
        }
        self.scope = scope
    }

    func take(_ report: CReport, for plan: GatewayPlan, _ now: UInt64) -> Found {
        scope.plan = plan
        let found = tendon_search_take(core.pointer, report, now)
        return Found(
            family: families.name(of: found), isServed: found.is_served, awaitsResponse: found.awaits_response,
            isResponse: found.is_response)
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
