// SPDX-License-Identifier: MIT
// Bose: sensors and gestures by the names of the library.
import CTendon
import TendonSupport

enum BoseNames {
    static let sensors = (0..<Int(TENDON_BOSE_SENSOR_COUNT.rawValue)).map { text(tendon_bose_sensor_name(UInt8($0))) }
    private static let knownGestures = (UInt8.min...UInt8.max).filter(tendon_bose_gesture_known)
    static let gestures = knownGestures.map { text(tendon_bose_gesture_name($0)) }

    /// A sensor by name or number.
    static func sensor(_ word: String) throws(CommandError) -> UInt8 {
        if let number = parseInteger(word).flatMap({ UInt8(exactly: $0) }) { return number }
        guard let index = sensors.firstIndex(of: word) else { throw .unknown("sensor", word, among: sensors) }
        return UInt8(index)
    }

    /// A gesture by name or number.
    static func gesture(_ word: String) throws(CommandError) -> UInt8 {
        if let number = parseInteger(word).flatMap({ UInt8(exactly: $0) }) { return number }
        guard let index = gestures.firstIndex(of: word) else { throw .unknown("gesture", word, among: gestures) }
        return knownGestures[index]
    }
}
