// SPDX-License-Identifier: MIT
import CTendon
import Tendon

extension WearableDeviceSession {
    /// Creates a closed session with a device that the application found, on the application's radio.
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
    ///   - hasOldFirmware: the device advertises that it lacks the sensor service; the error of opening contains the
    ///     remedy.
    ///   - sensorIntent: checked when the session opens.
    ///   - gestureIntent: checked when the session opens.
    ///   - pairingHandler: replaces a pairing delegate: prompts the user to put the device into pairing mode. Bonds are
    ///     kept where the central keeps them.
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
