// SPDX-License-Identifier: MIT
import CTendon

/// Whether a feature is bought.
public enum OcelotEnableStatus: Int, Sendable, CaseIterable {
    /// It is not.
    case Disabled = 0
    /// It is.
    case Enabled = 1
    /// The device does not know.
    case Unknown = 255
}

/// The user's switch of a feature.
public enum OcelotToggleStatus: Int, Sendable, CaseIterable {
    /// It has no switch.
    case Unsupported = 0
    /// On.
    case Activated = 1
    /// Off.
    case Deactivated = 2
    /// The device does not know.
    case Unknown = 255
}

/// The state of a feature. The device runs it if it is enabled and its switch, if it has one, is on.
///
/// ```swift
/// switch status {
/// case .Disabled: print("not bought")
/// case .Enabled(let toggleState): print(toggleState == .Activated ? "on" : "off")
/// }
/// ```
public enum OcelotFeatureStatus: Sendable, Hashable {
    /// It is not bought. `toggleState` is `Unsupported`; `Unknown` if the device does not know whether it is bought.
    case Disabled(toggleState: OcelotToggleStatus)
    /// It is bought.
    case Enabled(toggleState: OcelotToggleStatus)

    /// It is not bought.
    public static var Disabled: OcelotFeatureStatus { .Disabled(toggleState: .Unsupported) }

    /// The user's switch.
    public var toggleState: OcelotToggleStatus {
        switch self {
        case .Disabled(let toggleState), .Enabled(let toggleState): toggleState
        }
    }

    /// Whether it is bought.
    public var enableState: OcelotEnableStatus {
        switch self {
        case .Disabled(.Unknown): .Unknown
        case .Disabled: .Disabled
        case .Enabled: .Enabled
        }
    }

    /// The switch, with its other name.
    public func getToggleState() -> OcelotToggleStatus { toggleState }
    /// Whether it is bought, with its other name.
    public func getEnableState() -> OcelotEnableStatus { enableState }

    init(_ c: tendon_obvious_feature) {
        self =
            switch Int(c.enable) {
            case OcelotEnableStatus.Enabled.rawValue:
                .Enabled(toggleState: OcelotToggleStatus(rawValue: Int(c.toggle)) ?? .Unknown)
            case OcelotEnableStatus.Disabled.rawValue: .Disabled
            default: .Disabled(toggleState: .Unknown)
            }
    }
}
