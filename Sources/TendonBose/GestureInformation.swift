// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Gesture information of a device.
public struct GestureInformation: Sendable {
    let c: tendon_bose_gesture_information

    init(_ c: tendon_bose_gesture_information) { self.c = c }

    /// In the device's order.
    public var availableGestures: [GestureType] {
        elements(c.records, of: tendon_bose_gesture_record.self, c.count).map { GestureType(id: $0.gesture_id) }
    }
}

extension GestureInformation: CustomDebugStringConvertible {
    /// The available gestures by name.
    public var debugDescription: String { "GestureInformation(\(names(availableGestures)))" }
}

/// The enabled gestures. A value: change a copy and write it to the device.
///
/// ```swift
/// try await device.configureGestures { $0.set(gesture: .headNod, enabled: true) }
/// ```
public struct GestureConfiguration: Sendable {
    private(set) var c: tendon_bose_gesture_configuration

    init(_ c: tendon_bose_gesture_configuration) { self.c = c }

    private var entries: [tendon_bose_gesture_entry] {
        elements(c.entries, of: tendon_bose_gesture_entry.self, c.count)
    }

    /// Enables or disables a gesture. Returns false if the device does not have the gesture.
    @discardableResult
    public mutating func set(gesture: GestureType, enabled: Bool) -> Bool {
        tendon_bose_set_gesture(&c, gesture.rawValue, enabled) >= 0
    }

    /// Enables all known gestures.
    public mutating func enableAll() { tendon_bose_set_all_gestures(&c, true) }
    /// Disables all gestures.
    public mutating func disableAll() { tendon_bose_set_all_gestures(&c, false) }

    /// False also for a gesture that the device does not have.
    public func isEnabled(gesture: GestureType) -> Bool { enabledGestures.contains(gesture) }

    /// In the device's order.
    public var allGestures: [GestureType] { entries.map { GestureType(id: $0.gesture_id) } }
    /// In the device's order.
    public var enabledGestures: [GestureType] {
        entries.filter(\.enabled).map { GestureType(id: $0.gesture_id) }
    }
}

extension GestureConfiguration: Equatable, CustomDebugStringConvertible {
    public static func == (a: GestureConfiguration, b: GestureConfiguration) -> Bool {
        a.allGestures == b.allGestures && a.enabledGestures == b.enabledGestures
    }

    /// The enabled gestures by name.
    public var debugDescription: String { "GestureConfiguration(enabled: \(names(enabledGestures)))" }
}

/// For descriptions: "double_tap, head_nod".
func names<Element: CustomStringConvertible>(_ elements: some Sequence<Element>) -> String {
    elements.map(\.description).joined(separator: ", ")
}
