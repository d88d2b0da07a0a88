// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import TendonOutputs
import TendonSupport
import Testing

@testable import Tendon
@testable import TendonCommand

/// Which devices a long scan remembers.
@Suite struct ScanViewTests {
    private final class Found: EventOutput {
        let addresses = Mutex<[String]>([])

        func event(_ event: EventName, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {
            addresses.withLock { $0.append(device?.address ?? "") }
        }
    }

    private static func advertisement(_ number: UInt64, at time: UInt64) -> Advertisement {
        var report = tendon_ad_report()
        report.address = Address(0xC000_0000_0000 | number, type: .random).c
        return Advertisement(report, time: time)
    }

    /// A neighbor that makes addresses up does not push out a device that keeps advertising, although it was found first.
    @Test func aDeviceThatKeepsAdvertisingStays() throws {
        let words = ["--address", "C0:00:00:0F:FF:FF/random"]
        let found = Found()
        var view = ScanView(
            events: Events(style: .json, others: [found]), every: false,
            filter: try ScanFilter(Arguments(words, options: Option.common + Command.scan.options)), limit: nil)
        for number: UInt64 in 0..<5000 {
            if number % 1000 == 0 { _ = view.add(Self.advertisement(0xFFFFF, at: number)) }
            _ = view.add(Self.advertisement(number, at: number))
        }
        _ = view.add(Self.advertisement(0xFFFFF, at: 5000))
        #expect(found.addresses.withLock { $0 } == ["C0:00:00:0F:FF:FF"], "found once")
        #expect(view.found == 1)
        // One that was silent for as many devices as are remembered is found again.
        for number: UInt64 in 5000..<10_000 { _ = view.add(Self.advertisement(number, at: number)) }
        _ = view.add(Self.advertisement(0xFFFFF, at: 10_000))
        #expect(view.found == 2)
    }

    /// Against a list that is searched from its beginning.
    @Test(arguments: [1, 2, 7])
    func theKeyThatWasUsedLongestAgoIsForgotten(_ capacity: Int) throws {
        var table = RecentTable<UInt32, Int>(capacity: capacity)
        var list: [(key: UInt32, value: Int)] = []
        var state: UInt32 = 1
        for step in 0..<2000 {
            state = state &* 1_664_525 &+ 1_013_904_223
            let key = (state >> 16) % UInt32(capacity + 3)
            table.set(key, step)
            list.removeAll { $0.key == key }
            if list.count == capacity { list.removeFirst() }
            list.append((key, step))
            for key in 0..<UInt32(capacity + 3) {
                try #require(table[key] == list.first { $0.key == key }?.value, "step \(step), key \(key)")
            }
            try #require(table.values.sorted() == list.map(\.value))
        }
    }
}
