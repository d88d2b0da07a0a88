// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Information about a device. A version that the device cannot read is `nil`.
public struct OcelotDeviceInfo: Sendable, Hashable {
    /// 16 upper-case hexadecimal digits.
    public let serialNumber: String?
    /// "1.3.0"
    public let firmwareVersion: String?
    /// Of the radio's software.
    public let softDeviceVersion: String?
    /// Of the bootloader.
    public let bootLoaderVersion: String?
    /// Percent; `nil`: unknown.
    public let battery: Int?
    /// Counter of the last feature package.
    public let featureCounter: UInt64
    /// Whether the device is provisioned.
    public let isProvisioned: Bool

    init(_ c: borrowing tendon_obvious_manager) {
        serialNumber = serialText(c.serial)
        firmwareVersion = versionText(c.fw)
        softDeviceVersion = versionText(c.stack)
        bootLoaderVersion = versionText(c.bootloader)
        battery = c.battery <= 100 ? Int(c.battery) : nil
        featureCounter = c.counter
        isProvisioned = c.flags & 1 != 0
    }
}

/// Receives the information about a device. Called once, on the loop's thread.
///
/// ```swift
/// final class Host: OcelotDeviceInfoListener {
///     func onDeviceInfoAvailable(_ info: OcelotDeviceInfo?) { print(info?.serialNumber ?? "unknown") }
/// }
/// ```
@TendonActor
public protocol OcelotDeviceInfoListener: AnyObject {
    /// `nil`: it could not be read.
    func onDeviceInfoAvailable(_ info: OcelotDeviceInfo?)
}

/// The listener's other name.
public typealias OcelotDeviceInfoDelegate = OcelotDeviceInfoListener

/// 16 upper-case digits, most significant first.
func serialText(_ serial: UInt64) -> String {
    let digits = String(serial, radix: 16, uppercase: true)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
