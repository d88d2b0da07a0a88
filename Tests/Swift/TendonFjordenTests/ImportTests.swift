// SPDX-License-Identifier: MIT
//
// With the import of the vendor's module alone.

import Testing
import TendonFjorden

struct ImportTests {
    @Test @TendonActor func theModuleBringsWhatItsAPINeeds() throws {
        let radio: RadioChoice = .automatic
        let address = try #require(Address("C0:00:00:00:00:01/random"))
        let grip = ConnectableGrip(id: address)
        #expect(grip.id == address && radio == .automatic)
        let failure: TendonError? = nil
        #expect(failure == nil)
    }
}
