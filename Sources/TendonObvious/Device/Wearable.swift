// SPDX-License-Identifier: MIT
import CTendon
import Tendon

extension OcelotDeviceConnector: Wearable {
    /// Disconnects and waits for the end of the connection. Returns immediately if the task is cancelled; the connection
    /// still ends.
    public func closeAndWait() async {
        var states = states.makeAsyncIterator()
        disconnect()
        while state != .disconnected, await states.next(isolation: TendonActor.shared) != nil {}
    }
}

extension WearableFamily<OcelotDeviceConnector> {
    /// Obvious devices of a product. Its id is the number that the cloud has for it; operations of a device that was made with
    /// something else fail with `OcelotError.noProduct`, also those that need no cloud.
    public static func obvious(productId: String) -> WearableFamily {
        WearableFamily(tendon_obvious_family.recognizes) { address, _, central in
            OcelotDeviceConnector(to: address, productId: productId, on: central)
        }
    }
}
