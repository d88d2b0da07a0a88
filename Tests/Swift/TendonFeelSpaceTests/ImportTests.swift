// SPDX-License-Identifier: MIT
//
// With the import of the vendor's module alone.

import TendonFeelSpace
import Testing

struct ImportTests {
    @Test @TendonActor func theModuleBringsWhatItsAPINeeds() {
        let radio: RadioChoice = .automatic
        let address: Address? = Address("C0:00:00:00:00:01/random")
        let manager = FSConnectionManager(radio: radio, bonds: .memory)
        let updates: EventStream<FSCommandUpdate> = manager.commandManager.updates(capacity: 4)
        #expect(address.map { FSBelt(address: $0) }?.address == address)
        #expect(updates.dropped == 0 && manager.state == .notConnected)
    }
}
