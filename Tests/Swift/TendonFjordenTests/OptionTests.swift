// SPDX-License-Identifier: MIT
import CTendon
import Tendon
import Testing

@testable import TendonFjorden

/// Each option of the simulated grip, alone: the C core gets it, and nothing else changes.
@Suite struct OptionTests {
    private struct Row {
        let name: String
        let change: (inout SimulatedGrip.Options) -> Void
        let value: (tendon_simulated_fjorden_options) -> String
    }

    private let rows: [Row] = [
        Row(name: "name", change: { $0.name = "my grip" }, value: { String(cString: $0.name) }),
        Row(name: "firmware", change: { $0.firmware = "2.0.1" }, value: { String(cString: $0.firmware) }),
        Row(name: "serial", change: { $0.serial = "A7" }, value: { String(cString: $0.serial) }),
        Row(name: "battery", change: { $0.battery = 55 }, value: { "\($0.battery)" }),
        Row(name: "lacks", change: { $0.lacks = .battery }, value: { "\($0.lacks)" }),
        Row(name: "isOpen", change: { $0.isOpen = true }, value: { "\($0.open)" }),
        Row(name: "rejectsPairing", change: { $0.rejectsPairing = true }, value: { "\($0.rejects_pairing)" }),
        Row(name: "isBonded", change: { $0.isBonded = true }, value: { "\($0.bonded)" }),
        Row(name: "isPlayedWith", change: { $0.isPlayedWith = true }, value: { "\($0.hand)" }),
        Row(name: "isFlatOut", change: { $0.isFlatOut = true }, value: { "\($0.flat_out)" }),
        Row(name: "limit", change: { $0.limit = 7 }, value: { "\($0.event_limit)" }),
    ]

    private func values(_ options: SimulatedGrip.Options) throws -> [String] {
        let block = CBlock<tendon_simulated_fjorden>()
        let texts = [options.name, options.firmware, options.serial].map { CText($0) }
        #expect(SimulatedGrip.prepare(block.pointer, options, texts) >= 0)
        return withExtendedLifetime(texts) { rows.map { $0.value(block.pointer.pointee.options) } }
    }

    @Test func eachOptionAlone() throws {
        let defaults = try values(SimulatedGrip.Options())
        for (changed, row) in rows.enumerated() {
            var options = SimulatedGrip.Options()
            row.change(&options)
            let values = try values(options)
            for (index, value) in values.enumerated() {
                #expect((value != defaults[index]) == (index == changed), "\(row.name): \(rows[index].name)")
            }
        }
    }
}
