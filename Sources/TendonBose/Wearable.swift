// SPDX-License-Identifier: MIT
import CTendon
import Tendon

extension WearableDeviceSession: Wearable {}

extension WearableFamily<WearableDeviceSession> {
    /// Bose wearables.
    public static var bose: WearableFamily {
        WearableFamily(tendon_bose_family.recognizes) { address, name, central in
            WearableDeviceSession(address, name: name, on: central)
        }
    }
}
