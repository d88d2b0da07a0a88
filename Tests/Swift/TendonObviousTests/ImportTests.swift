// SPDX-License-Identifier: MIT
//
// With the import of the vendor's module alone.

import TendonObvious
import Testing

struct ImportTests {
    @Test @TendonActor func theModuleBringsWhatItsAPINeeds() throws {
        let radio: RadioChoice = .automatic
        let address = try #require(Address("C0:00:00:00:00:01/random"))
        let connector = OcelotDeviceConnector(to: address, productId: "1234", radio: radio, bonds: BondStorage.memory)
        let states: EventStream<OcelotDeviceConnector.State> = connector.states
        #expect(states.dropped == 0 && connector.state == .disconnected)
    }
}
