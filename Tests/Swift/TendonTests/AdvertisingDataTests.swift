// SPDX-License-Identifier: MIT
import CTendon
import Testing

@testable import Tendon

/// What a device of the program's own advertises: the bytes of Core Specification Supplement Part A.
struct AdvertisingDataTests {
    private func status(_ body: () throws(TendonError) -> Void) -> Int32 {
        do throws(TendonError) {
            try body()
            return 0
        } catch {
            #expect(error.operation == .advertise)
            return error.status
        }
    }

    @Test func eachElementHasItsBytes() throws {
        let rows: [(AdvertisingData.Element, [UInt8])] = [
            (.flags, [2, 1, 6]),
            (.serviceUUIDs(["180d", "180f"]), [5, 3, 0x0D, 0x18, 0x0F, 0x18]),
            (.serviceUUIDs(["180d"], isComplete: false), [3, 2, 0x0D, 0x18]),
            (.serviceUUIDs([]), []),
            (
                .serviceUUIDs(["00112233-4455-6677-8899-aabbccddeeff"]),
                [17, 7] + [0xFF, 0xEE, 0xDD, 0xCC, 0xBB, 0xAA, 0x99, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0]
            ),
            (.localName("Tendon"), [7, 9] + Array("Tendon".utf8)),
            (.localName(""), [1, 9]),
            (.txPower(-4), [2, 0x0A, 0xFC]),
            (.appearance(0x0341), [3, 0x19, 0x41, 3]),
            (.serviceData("180f", [100]), [4, 0x16, 0x0F, 0x18, 100]),
            (.manufacturerData(company: 0x009E, [1, 2]), [5, 0xFF, 0x9E, 0, 1, 2]),
            (.structure(type: 0x24, [0x16, 0x2F]), [3, 0x24, 0x16, 0x2F]),
        ]
        for (element, bytes) in rows {
            #expect(try AdvertisingData([element]).bytes == bytes, "\(element)")
        }
        let all = try AdvertisingData([.flags, .serviceUUIDs(["180d"]), .localName("Tendon")])
        #expect(all.bytes == [2, 1, 6, 3, 3, 0x0D, 0x18, 7, 9] + Array("Tendon".utf8))
        #expect(try AdvertisingData(bytes: all.bytes) == all)
    }

    @Test func finishedBytesFillThePacket() throws {
        let full = [30, 0xFF] + [UInt8](repeating: 7, count: 29)
        #expect(try AdvertisingData(bytes: full).bytes == full)
        #expect(
            status { () throws(TendonError) in _ = try AdvertisingData(bytes: full + [0]) }
                == Int32(TENDON_ERROR_OVERFLOW))
    }

    /// The bytes before stay: their count is the offset.
    @Test func anElementThatDoesNotFitLeavesTheBytesBefore() throws {
        var data = try AdvertisingData([.flags])
        let before = data.bytes
        #expect(
            status { () throws(TendonError) in
                try data.append(.structure(type: 0xFF, [UInt8](repeating: 0, count: 27)))
            } == Int32(TENDON_ERROR_BUFFER_TOO_SMALL))
        #expect(
            status { () throws(TendonError) in
                try data.append(.structure(type: 0xFF, [UInt8](repeating: 0, count: 255)))
            } == Int32(TENDON_ERROR_OVERFLOW))
        #expect(
            status { () throws(TendonError) in
                try data.append(.serviceUUIDs(["180d", "00112233-4455-6677-8899-aabbccddeeff"]))
            } == Int32(TENDON_ERROR_INVALID_ARGUMENT))
        #expect(data.bytes == before)
        try data.append(.structure(type: 0xFF, [UInt8](repeating: 0, count: 26)))
        #expect(data.bytes.count == AdvertisingData.capacity)
        #expect(
            status { () throws(TendonError) in
                _ = try AdvertisingData([
                    .flags, .appearance(1), .serviceData("180f", [UInt8](repeating: 0, count: 30)),
                ])
            } == Int32(TENDON_ERROR_BUFFER_TOO_SMALL))
    }

    @Test func aNameIsShortenedBetweenTwoCharacters() throws {
        let data = try AdvertisingData([.flags, .localName("Größe" + String(repeating: "ß", count: 12))])
        #expect(data.bytes.count == 30)  // one byte is left, half a character
        #expect(data.bytes[4] == 8)
        #expect(advertisedName(data.bytes) == "Größe" + String(repeating: "ß", count: 9))
    }

    @Test func finishedBytesAreCheckedAtEachLength() {
        let whole: [UInt8] = [2, 1, 6, 3, 3, 0x0D, 0x18]
        for count in 0...whole.count {
            let isWhole = [0, 3, 7].contains(count)
            #expect(
                status { () throws(TendonError) in _ = try AdvertisingData(bytes: Array(whole.prefix(count))) }
                    == (isWhole ? 0 : Int32(TENDON_ERROR_TRUNCATED)))
        }
        #expect(
            status { () throws(TendonError) in
                _ = try AdvertisingData(bytes: [UInt8](repeating: 0, count: 32))
            } == Int32(TENDON_ERROR_OVERFLOW))
    }

    /// Five UUIDs of 16 bits take 12 bytes, one of 128 bits 18: 31 with the flags would be 33.
    @Test func withoutDataItAdvertisesWhatFits() {
        let long: BluetoothUUID = "00112233-4455-6677-8899-aabbccddeeff"
        func services(_ uuids: [BluetoothUUID]) -> [UInt8] {
            AdvertisingData.standard(for: uuids.map { LocalService($0, []) }).bytes
        }
        #expect(services([]) == [2, 1, 6])
        #expect(services(["180d"]) == [2, 1, 6, 3, 3, 0x0D, 0x18])
        #expect(services([long, "180d", "180f"]).prefix(9) == [2, 1, 6, 5, 3, 0x0D, 0x18, 0x0F, 0x18])
        #expect(services([long, "180d", "180f"]).count == 27)
        #expect(services([long, long])[3...4] == [17, 6])  // one of two: incomplete
        let many = (0..<20).map { BluetoothUUID(UInt16(0x1800 + $0)) }
        #expect(services(many)[3...4] == [27, 2])
        #expect(AdvertisingData.standard(name: "HR").bytes == [3, 9, 0x48, 0x52])
        #expect(AdvertisingData.standard(name: "").bytes == [])
    }
}
