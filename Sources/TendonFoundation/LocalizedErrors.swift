// SPDX-License-Identifier: MIT
// The only module that imports Foundation: a program that has Foundation anyway imports it beside the others, and
// `localizedDescription` of an `any Error` is then the text of the error.
import Foundation
import TendonActiv5
import TendonBose
import TendonFeelSpace
import TendonFjorden
import TendonGateway
import TendonObvious

extension TendonError: LocalizedError {
    /// One line of plain English.
    public var errorDescription: String? { description }
}

extension BoseWearableError: LocalizedError {}

extension BoseWearableError.ErrorCode: LocalizedError {}

extension BLECoreError: LocalizedError {}

extension IntentsCheckFailed: LocalizedError {
    /// One line of plain English.
    public var errorDescription: String? {
        BoseWearableError.intentsNotFulfilled(
            sensors: missingSensors, samplePeriods: missingSamplePeriods, gestures: missingGestures
        ).errorDescription
    }
}

extension A5Error: LocalizedError {}

extension FSConnectionError: LocalizedError {}

extension FjordenError: LocalizedError {}

extension GripCommandError: LocalizedError {
    /// One line of plain English.
    public var errorDescription: String? { "\(self)" }
}

extension GatewayError: LocalizedError {
    /// One line of plain English.
    public var errorDescription: String? { description }
}

extension OcelotError: LocalizedError {
    /// One line of plain English.
    public var errorDescription: String? { description }
}

extension ObviousCloudError: LocalizedError {
    /// One line of plain English.
    public var errorDescription: String? { description }
}

extension FSBeltConnectionError: LocalizedError {}

extension AttributeError: LocalizedError {
    /// One line of plain English.
    public var errorDescription: String? { description }
}
