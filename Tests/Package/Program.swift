// SPDX-License-Identifier: MIT
// A program with all modules in one file, as a package that depends on this one has it; see scripts/test_package.sh.
// Every type is named without its module: a name that two modules have does not compile.
import Tendon
import TendonActiv5
import TendonBose
import TendonFeelSpace
import TendonFjorden
import TendonGateway
import TendonObvious
import TendonObviousCloud

struct Everything {
    var address: Address
    var quaternion: Quaternion
    var wearable: WearableDevice?
    var trainer: A5Device?
    var belt: FSConnectionManager?
    var grip: GripManager?
    var errors: (TendonError?, BoseWearableError?, A5Error?, FSConnectionError?, FjordenError?, ObviousCloudError?)
    var gateway: Gateway?
    var cloud: ObviousCloudConfiguration?
}

@main
struct Program {
    static func main() async throws {
        let device = try await SimulatedWearable(radio: .virtual())
        let central = try await Central(radio: .virtual(), bonds: .memory)
        let own = device.address
        for try await found in try await central.scan() where found.address == own {
            print("found \(found.localName ?? "a device without a name")", terminator: "; ")
            break
        }
        await central.close()
        do {
            let automatic = try await Central(bonds: .memory)
            precondition(automatic.radioName == "bluez")
            print("automatic: an adapter")
        } catch {
            print("automatic: \(error)")
        }
    }
}
