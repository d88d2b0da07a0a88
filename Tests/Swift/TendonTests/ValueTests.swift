// SPDX-License-Identifier: MIT
import Glibc
import Tendon
import TestSupport
import Testing

struct ValueTests {
    /// Lists of all widths, in their order; what is cut off is left out.
    @Test func namesAndServicesInAdvertisingData() {
        let data: [UInt8] = [
            5, 0x03, 0xD2, 0xFD, 0x0F, 0x18, 5, 0x04, 0x78, 0x56, 0x34, 0x12, 4, 0x02, 0x0A, 0x18, 0xBE, 4, 0x09, 0x41,
            0x1B, 0x42, 9, 0x07, 1,
        ]
        #expect(advertisedServices(data) == ["fdd2", "180f", "12345678", "180a"])
        #expect(advertisedServices([]) == [] && advertisedName([]) == nil)
        let name = advertisedName(data)
        #expect(name?.hasPrefix("A") == true && name?.hasSuffix("B") == true && name?.contains("\u{1B}") == false)
    }

    @Test func uuids() throws {
        let short: BluetoothUUID = "fdd2"
        #expect(short == BluetoothUUID(UInt16(0xFDD2)))
        #expect(short.short == 0xFDD2)
        #expect(short.description == "0000fdd2-0000-1000-8000-00805f9b34fb")
        #expect(BluetoothUUID("0000FDD2-0000-1000-8000-00805F9B34FB") == short)
        #expect(Set([short, "0xFDD2", "180a"]).count == 2)
        for text in ["fdd", "", "0xfdd2f", "7b61ad83-041c-4333-a0ab-efb2ab7bdd4"] {
            #expect(BluetoothUUID(text) == nil)
        }
        #expect(("7b61ad83-041c-4333-a0ab-efb2ab7bdd43" as BluetoothUUID).short == nil)
        #expect(0xFDD2 as BluetoothUUID == short)
        #expect(([0x1234_5678, 0x180A] as [BluetoothUUID]) == ["12345678", "180a"])
    }

    @Test func addresses() throws {
        let address = try #require(Address("c0:ff:ee:00:11:22/random"))
        #expect(address == Address(0xC0FF_EE00_1122, type: .random))
        #expect(address.description == "C0:FF:EE:00:11:22")
        #expect(address != Address(0xC0FF_EE00_1122, type: .public))
        #expect(Address("C0:FF:EE:00:11") == nil)
    }

    /// An address has 48 bits; the higher ones of a number are ignored.
    @Test func addressesKeepTheLow48Bits() {
        let address = Address(0xABCD_C0FF_EE00_1122, type: .random)
        #expect(address.value == 0xC0FF_EE00_1122)
        #expect(address == Address(0xC0FF_EE00_1122, type: .random))
        #expect(Set([address, Address(0xC0FF_EE00_1122, type: .random)]).count == 1)
        #expect(Address(.max, type: .public).value == 0xFFFF_FFFF_FFFF)
    }

    @Test func errors() {
        let error = TendonError(status: -(1 * 256 + 0x05), operation: .read)
        #expect(error.layer == .att)
        #expect(error.code == 5)
        #expect(error.description.hasPrefix("read: "))
        #expect(!error.isTimeout)
    }

    /// What catches it does not need to know which operation was cancelled.
    @Test func cancellationIsOneValue() async throws {
        func shape<Failure: CancellableError>(_ error: Failure) -> Bool { error.isCancelled }
        #expect(shape(TendonError.cancelled))
        #expect(!shape(TendonError(status: -5, operation: .read)))
        let task = Task { () throws(TendonError) -> String in
            await untilCancelled()
            let central = try await Central(radio: .virtual(directory: "/tmp/tendon-no-such-radio-\(getpid())"))
            do throws(TendonError) {
                _ = try await central.connect(Address(0xC000_0000_0001, type: .random))
                return "connected"
            } catch .cancelled {
                return "cancelled"
            }
        }
        task.cancel()
        #expect(try await task.value == "cancelled")
    }
}
