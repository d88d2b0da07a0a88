// SPDX-License-Identifier: MIT
// Search of the C core: of which families the devices in range are. A run has the one of its turns.
import CTendon
import Tendon
import TendonSupport

/// The families by the numbers that the C core has. It borrows those of device files.
struct NumberedFamilies: @unchecked Sendable {
    // The table is never written after it was made.
    private let names = familyNames()
    let definitions: CTable<UnsafePointer<tendon_definition>?>

    init() {
        // As many as have numbers.
        let all = Definitions.all.prefix(Int(TENDON_SEARCH_NO_FAMILY) - Int(TENDON_SEARCH_DEFINED))
        definitions = CTable(capacity: all.count)
        for (index, definition) in all.enumerated() { definitions.pointer[index] = UnsafePointer(definition.pointer) }
    }

    /// Nil: of none that is known so far.
    func name(_ number: UInt8) -> String? {
        number != UInt8(TENDON_SEARCH_NO_FAMILY) && Int(number) < names.count ? names[Int(number)] : nil
    }

    func number(of name: String) -> UInt8? { names.firstIndex(of: name).flatMap { UInt8(exactly: $0) } }
}

/// What advertisers have sent, and of which families they are. `tendon/gateway/search.h` says what each function does.
final class AdvertisedFamilies: @unchecked Sendable {
    // Only memory; its owner determines who may use it.
    private let core = CBlock<tendon_search>()
    private let advertisers = CTable<tendon_search_advertiser>(capacity: 1024)  // a crowd, in 128 KiB
    private let families = NumberedFamilies()
    /// Whether a device can answer a scan request: a name that decides is waited for.
    private let hearsResponses: Bool

    init(hearsResponses: Bool = true) {
        self.hearsResponses = hearsResponses
        var scope = tendon_search_scope()
        let definitions = families.definitions
        (scope.definitions, scope.definition_count) = (UnsafePointer(definitions.pointer), definitions.capacity)
        tendon_search_init(core.pointer, advertisers.pointer, advertisers.capacity, &scope)
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
            return families.name(tendon_search_take(core.pointer, &report, now).family)
        }
    }

    func family(of advertisement: Advertisement) -> String? {
        family(
            of: advertisement.address, sending: advertisement.data, isScannable: advertisement.isScannable,
            isResponse: advertisement.isScanResponse, advertisement.time)
    }
}
