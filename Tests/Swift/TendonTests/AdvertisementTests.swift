// SPDX-License-Identifier: MIT
import CTendon
import Testing

@testable import Tendon

/// What a report of the C core becomes, field by field; AD structures as the Core Specification has them (Vol 3 Part C, 11).
@Suite struct AdvertisementTests {
    private func advertisement(
        _ data: [UInt8] = [], _ change: (inout tendon_ad_report) -> Void = { _ in }
    ) -> Advertisement {
        data.withUnsafeBufferPointer { bytes in
            var report = tendon_ad_report()
            report.address = Address(0xC0FF_EE00_1122, type: .random).c
            (report.rssi, report.tx_power) = (-61, 4)
            (report.data, report.length) = (bytes.baseAddress, bytes.count)
            change(&report)
            return Advertisement(report, time: 77)
        }
    }

    @Test func fields() {
        let all = advertisement([1, 2, 3]) { $0.truncated = true }
        #expect(all.address == Address(0xC0FF_EE00_1122, type: .random))
        #expect((all.rssi, all.txPower, all.time, all.data) == (-61, 4, 77, [1, 2, 3]))
        #expect(all.isTruncated && !advertisement().isTruncated)
        let unknown = advertisement {
            ($0.rssi, $0.tx_power) = (Int8(TENDON_RSSI_UNKNOWN), Int8(TENDON_RSSI_UNKNOWN))
        }
        #expect(unknown.rssi == nil && unknown.txPower == nil)
    }

    @Test func aResolvedAddress() {
        let identity = Address(0xC0FF_EE00_1122, type: .random)
        #expect(advertisement().privateAddress == nil)
        let resolved = advertisement { $0.private_address = Address(0x7081_940D_FBAA, type: .random).c }
        #expect(resolved.address == identity)
        #expect(resolved.privateAddress == Address(0x7081_940D_FBAA, type: .random))
    }

    @Test func phys() {
        let legacy = advertisement { ($0.primary_phy, $0.secondary_phy) = (1, 0) }
        #expect(legacy.primaryPHY == .le1M && legacy.secondaryPHY == nil)
        let long = advertisement { ($0.primary_phy, $0.secondary_phy) = (3, 2) }
        #expect(long.primaryPHY == .leCoded && long.secondaryPHY == .le2M)
        let reserved = advertisement { ($0.primary_phy, $0.secondary_phy) = (0, 4) }
        #expect(reserved.primaryPHY == nil && reserved.secondaryPHY == nil)
    }

    @Test(arguments: [
        (TENDON_AD_CONNECTABLE, [true, false, false, false]), (TENDON_AD_SCANNABLE, [false, true, false, false]),
        (TENDON_AD_SCAN_RESPONSE, [false, false, true, false]), (TENDON_AD_LEGACY, [false, false, false, true]),
        (0, [false, false, false, false]),
    ])
    func properties(bit: Int, expected: [Bool]) {
        let one = advertisement { $0.properties = UInt16(bit) }
        #expect([one.isConnectable, one.isScannable, one.isScanResponse, one.isLegacy] == expected)
    }

    @Test func structures() {
        // Flags, a company's data, and one that is cut off.
        let data: [UInt8] = [2, 0x01, 0x06, 5, 0xFF, 0x9E, 0x00, 0xAA, 0xBB, 9, 0x09, 0x41]
        let one = advertisement(data)
        #expect(
            one.structures == [
                AdvertisementStructure(type: 0x01, value: [0x06]),
                AdvertisementStructure(type: 0xFF, value: [0x9E, 0x00, 0xAA, 0xBB]),
            ])
        #expect(one.manufacturerData?.company == 0x009E && one.manufacturerData?.value == [0xAA, 0xBB])
        #expect(advertisement([2, 0xFF, 0x9E]).manufacturerData == nil)
        #expect(advertisement([3, 0xFF, 0x9E, 0x01]).manufacturerData?.company == 0x019E)
        #expect(advertisement([3, 0xFF, 0x9E, 0x01]).manufacturerData?.value == [])
        #expect(advertisement().structures == [])
    }

    @Test func namesAndServices() {
        let one = advertisement([4, 0x09, 0x41, 0x42, 0x43, 3, 0x03, 0xD2, 0xFD])
        #expect(one.localName == "ABC" && one.serviceUUIDs == ["fdd2"])
    }

    /// In a set or a dictionary: what differs in one half of the number is not put into one bucket.
    @Test func hashesOfIdentifiersDiffer() {
        let texts = [
            "7b61ad83-041c-4333-a0ab-efb2ab7bdd43", "7b61ad83-041c-4333-a0ab-efb2ab7bdd44",
            "7b61ad84-041c-4333-a0ab-efb2ab7bdd43",
        ]
        #expect(Set(texts.map { BluetoothUUID($0)?.hashValue }).count == 3)
        #expect(BluetoothUUID("fdd2").uuidString == "0000FDD2-0000-1000-8000-00805F9B34FB")
    }

    /// A block is zero, whatever was in its memory before.
    @Test func blocksAreZero() {
        for _ in 0..<8 {
            let block = CBlock<tendon_ad_report>()
            withUnsafeBytes(of: block.pointer.pointee) { #expect($0.allSatisfy { $0 == 0 }) }
            withUnsafeMutableBytes(of: &block.pointer.pointee) { for index in $0.indices { $0[index] = 0xA5 } }
        }
    }

    @Test func anAdapterThatIsNotThereIsAnError() async {
        await #expect(throws: TendonError.self) { try await Central(radio: .bluez(adapter: "no-such-adapter")) }
    }
}
