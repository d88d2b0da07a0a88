// SPDX-License-Identifier: MIT
import Tendon

/// Receives what a feature manager reports. A weak reference; called on the loop's thread.
///
/// ```swift
/// final class Host: OcelotFeatureEventListener {
///     func onFeatureUpdateStatus(_ status: Int) {
///         if status == FeatureUpdateConstants.SUCCESS { OcelotFeatureManager.getFeatureManager().getFeatureList() }
///     }
/// }
/// ```
@TendonActor
public protocol OcelotFeatureEventListener: AnyObject {
    /// A step or the result of an update: ``FeatureUpdateConstants``.
    func onFeatureUpdateStatus(_ status: Int)
    /// A step of provisioning, which is a part of an update: ``ProvisionUpdateConstants``.
    func onProvisioningStatus(_ status: Int)
    /// The features of the product by name; `nil`: the cloud did not answer.
    func onFeatureList(_ features: [String: Int]?)
    /// Whether a feature is enabled: 1, or disabled: 0.
    func onCheckFeatureStatus(_ featureid: Int, _ status: Int)
}

extension OcelotFeatureEventListener {
    public func onProvisioningStatus(_ status: Int) {}
    public func onFeatureList(_ features: [String: Int]?) {}
    public func onCheckFeatureStatus(_ featureid: Int, _ status: Int) {}
}

/// Receives the states of features. A weak reference; called on the loop's thread.
///
/// ```swift
/// final class Switches: OcelotToggleEventListener {
///     func onCheckFeatureStatus(_ featureid: Int, _ status: OcelotFeatureStatus) { print(featureid, status.toggleState) }
///     func didToggleFeatureStatus(_ featureId: Int, _ status: OcelotFeatureStatus) { print(featureId, status) }
///     func featureStatusFailure() { print("check all features again") }
/// }
/// ```
@TendonActor
public protocol OcelotToggleEventListener: AnyObject {
    /// The state of a feature was read.
    func onCheckFeatureStatus(_ featureid: Int, _ status: OcelotFeatureStatus)
    /// The states of several features were read.
    func onCheckFeatureStatuses(_ statuses: [Int: OcelotFeatureStatus])
    /// A feature was switched.
    func didToggleFeatureStatus(_ featureId: Int, _ status: OcelotFeatureStatus)
    /// Several features were switched, or changed on the device.
    func didToggleFeatureStatuses(_ statuses: [Int: OcelotFeatureStatus])
    /// A check or a switch failed: check all features again.
    func featureStatusFailure()
}

extension OcelotToggleEventListener {
    public func onCheckFeatureStatuses(_ statuses: [Int: OcelotFeatureStatus]) {}
    public func didToggleFeatureStatus(_ featureId: Int, _ status: OcelotFeatureStatus) {}
    public func didToggleFeatureStatuses(_ statuses: [Int: OcelotFeatureStatus]) {}
    public func featureStatusFailure() {}
}

/// A spelling that occurs once in the vendor's document.
@available(*, deprecated, renamed: "OcelotToggleEventListener")
public typealias OcelotTogglerEventListener = OcelotToggleEventListener

/// What a feature manager reports to its listeners, as a value.
public enum OcelotFeatureUpdate: Sendable, Hashable {
    /// A step or the result of an update: ``FeatureUpdateConstants``.
    case updateStatus(Int)
    /// A step of provisioning: ``ProvisionUpdateConstants``.
    case provisioningStatus(Int)
    /// The features of the product by name; `nil`: the cloud did not answer.
    case featureList([String: Int]?)
    /// The state of a feature was read.
    case checked(Int, OcelotFeatureStatus)
    /// The states of several features were read.
    case checkedAll([Int: OcelotFeatureStatus])
    /// A feature was switched.
    case toggled(Int, OcelotFeatureStatus)
    /// Several features were switched, or changed on the device.
    case toggledAll([Int: OcelotFeatureStatus])
    /// A check or a switch failed.
    case statusFailure

    @TendonActor func deliver(to listener: any OcelotFeatureEventListener) {
        switch self {
        case .updateStatus(let status): listener.onFeatureUpdateStatus(status)
        case .provisioningStatus(let status): listener.onProvisioningStatus(status)
        case .featureList(let features): listener.onFeatureList(features)
        case .checked(let id, let status): listener.onCheckFeatureStatus(id, status.enableState == .Enabled ? 1 : 0)
        case .checkedAll, .toggled, .toggledAll, .statusFailure: break
        }
    }

    @TendonActor func deliver(to listener: any OcelotToggleEventListener) {
        switch self {
        case .checked(let id, let status): listener.onCheckFeatureStatus(id, status)
        case .checkedAll(let statuses): listener.onCheckFeatureStatuses(statuses)
        case .toggled(let id, let status): listener.didToggleFeatureStatus(id, status)
        case .toggledAll(let statuses): listener.didToggleFeatureStatuses(statuses)
        case .statusFailure: listener.featureStatusFailure()
        case .updateStatus, .provisioningStatus, .featureList: break
        }
    }
}
