// SPDX-License-Identifier: MIT
//
// With the import of the vendor's module alone.

import TendonBose
import Testing

struct ImportTests {
    @Test @TendonActor func theModuleBringsWhatItsAPINeeds() {
        var configuration = BoseWearable.Configuration()
        configuration.radio = RadioChoice.automatic
        let address: Address? = Address("C0:00:00:00:00:01/random")
        let wearable = BoseWearable(configuration)
        #expect(address != nil && !BoseWearable.formattedVersion.isEmpty)
    }
}
