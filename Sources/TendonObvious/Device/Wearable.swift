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
    /// Obvious devices of a product; its id is that of the cloud, and empty if the program uses no cloud.
    public static func obvious(productId: String) -> WearableFamily {
        WearableFamily(tendon_obvious_family.recognizes) { address, _, central in
            OcelotDeviceConnector(to: address, productId: productId, on: central)
        }
    }
}
