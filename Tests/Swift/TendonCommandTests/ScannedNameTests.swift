// SPDX-License-Identifier: MIT
import Tendon
import Testing

@testable import TendonCommand

/// The name of a device whose advertisement has the shortened one, and whose scan response the complete one.
@Suite struct ScannedNameTests {
    private let short: [UInt8] = [5, 0x08] + Array("Bell".utf8)
    private let complete: [UInt8] = [9, 0x09] + Array("Bellevue".utf8)
    private let other: [UInt8] = [4, 0x09] + Array("Two".utf8)
    private let empty: [UInt8] = [1, 0x09]

    @Test func aNameDoesNotAlternate() {
        var device = ScannedDevice(Address(1, type: .random))
        let packets = [short, complete] + Array(repeating: [short, complete, empty, []], count: 10).flatMap(\.self)
        let changes = packets.filter { device.add(data: $0, rssi: nil, family: nil) }
        #expect(changes == [short, complete])
        #expect(device.name == "Bellevue")
        // Another complete name is a new one.
        #expect(device.add(data: other, rssi: nil, family: nil) && device.name == "Two")
    }

    @Test func anEmptyNameHidesNone() {
        #expect(LocalName(advertisedIn: empty) == nil && LocalName(advertisedIn: [1, 0x08]) == nil)
        #expect(LocalName(advertisedIn: empty + short)?.text == "Bell")
        #expect(LocalName.learned(nil, from: short)?.text == "Bell")
        let known = LocalName(advertisedIn: complete)
        #expect(LocalName.learned(known, from: empty + short) == known)
    }
}
