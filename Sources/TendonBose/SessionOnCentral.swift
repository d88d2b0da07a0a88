// SPDX-License-Identifier: MIT
import CTendon
import Tendon

extension WearableDeviceSession {
    /// A closed session with a device that the program found by itself, on a radio of its own.
    ///
    /// ```swift
    /// let session = WearableDeviceSession(address, on: central)
    /// try await session.openAndWait()
    /// ```
    ///
    /// - Parameters:
    ///   - address: where it is reached.
    ///   - name: as it advertises, where the program knows it.
    ///   - central: the radio; it must stay open.
    ///   - hasOldFirmware: the device advertises that it lacks the sensor service; opening says what to do.
    ///   - sensorIntent: checked when the session opens.
    ///   - gestureIntent: checked when the session opens.
    ///   - pairingHandler: stands in for a pairing delegate: with it, or one, a device that wants pairing is
    ///     paired, and its bond kept where the central keeps its bonds.
    public convenience init(
        _ address: Address, name: String? = nil, on central: Central, hasOldFirmware: Bool = false,
        sensorIntent: SensorIntent? = nil, gestureIntent: GestureIntent? = nil,
        pairingHandler: PairingHandler? = nil
    ) {
        let core = SessionCore(
            radio: central.core, address: address, isOldFirmware: hasOldFirmware,
            intent: tendon_bose_intent(sensorIntent, gestureIntent), checker: nil, pairing: .radio)
        core.pairingHandler = pairingHandler
        self.init(core: core, name: name)
    }
}
