// SPDX-License-Identifier: MIT
import CTendon
import Tendon

extension A5Device: Wearable {}

extension WearableFamily<A5Device> {
    /// Activ5 trainers.
    public static var activ5: WearableFamily {
        WearableFamily(tendon_activ5_family.recognizes) { address, name, central in
            A5Device(address, name: name ?? "", on: central)
        }
    }
}
