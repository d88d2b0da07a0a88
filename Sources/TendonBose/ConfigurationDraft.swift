// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// The configurations of a simulated wearable before its session is open: those it starts with, and changes, which are
/// written when the session opens.
struct ConfigurationDraft {
    private(set) var sensors: SensorConfiguration
    private(set) var gestures: GestureConfiguration
    private(set) var hasSensors = false
    private(set) var hasGestures = false

    init() {
        let options = tendon_simulated_bose_frames()
        let numbers = (0..<32).filter { options.sensor_mask & (1 << $0) != 0 }
        let sensorBytes = numbers.flatMap { number -> [UInt8] in [UInt8(number), 0, 0] }
        var sensorC = tendon_bose_sensor_configuration()
        _ = tendon_bose_decode_sensor_configuration(sensorBytes, sensorBytes.count, &sensorC, nil)
        sensors = SensorConfiguration(sensorC, nil)
        let gestureBytes = GestureType.all(in: options.gesture_mask).flatMap { gesture -> [UInt8] in
            [gesture.rawValue, 0]
        }
        var gestureC = tendon_bose_gesture_configuration()
        _ = tendon_bose_decode_gesture_configuration(gestureBytes, gestureBytes.count, nil, &gestureC, nil)
        gestures = GestureConfiguration(gestureC)
    }

    mutating func changeSensors(_ change: (inout SensorConfiguration) -> Void) {
        change(&sensors)
        hasSensors = true
    }

    mutating func changeGestures(_ change: (inout GestureConfiguration) -> Void) {
        change(&gestures)
        hasGestures = true
    }
}
