// SPDX-License-Identifier: MIT
//
// With the import of the vendor's module alone.

import TendonActiv5
import Testing

@TendonActor
private final class Screen: A5DeviceDelegate {
    func searchCompleted() {}
    func deviceFound(device: A5Device) {}
    func deviceConnected(device: A5Device) {}
    func deviceDisconnected(device: A5Device) {}
    func deviceInitialized(device: A5Device) {}
}

struct ImportTests {
    @Test @TendonActor func theModuleBringsWhatItsAPINeeds() {
        let radio: RadioChoice = .automatic
        let address: Address? = Address("C0:00:00:00:00:01/random")
        #expect(address != nil && radio == .automatic)
        let screen = Screen()
        let manager = A5DeviceManager(radio: radio)
        manager.delegate = screen
        let events: EventStream<A5Event> = manager.events
        #expect(events.dropped == 0 && manager.delegate === screen)
    }
}
