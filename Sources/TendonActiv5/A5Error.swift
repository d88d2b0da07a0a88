// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Errors of calls to a trainer, and of values that it sent.
public enum A5Error: Error, Sendable, Hashable {
    /// The task was cancelled, or the application closed the connection.
    case cancelled
    /// It has no motion sensor.
    case imuUnsupported
    /// The battery level is not known yet; it is being read.
    case batteryLevelNotReadable
    /// The characteristic for it has not been found (yet).
    case notReady
    /// The device cannot do this.
    case unsupported
    /// The sample rate is outside its range.
    case range
    /// An argument is outside its documented range: its name, the range and the value.
    case invalidArgument(String)
    /// A malformed value of the device.
    case malformed(TendonError)
    /// An error of another layer: the device rejected a request, the connection was lost, the radio failed.
    case host(TendonError)

    init(_ status: tendon_status, _ operation: TendonError.Operation) {
        let error = TendonError(status: status, operation: operation)
        self =
            switch Int(status) {
            case TENDON_ERROR_CANCELLED: .cancelled
            case TENDON_ACTIV5_ERROR_IMU_UNSUPPORTED: .imuUnsupported
            case TENDON_ACTIV5_ERROR_BATTERY_LEVEL_NOT_READABLE: .batteryLevelNotReadable
            case TENDON_ACTIV5_ERROR_NOT_READY: .notReady
            case TENDON_ACTIV5_ERROR_UNSUPPORTED: .unsupported
            case TENDON_ACTIV5_ERROR_RANGE where operation == .write: .range
            default: error.layer == .activ5 ? .malformed(error) : .host(error)
            }
    }

    /// One line of plain English.
    public var text: String {
        func line(_ code: Int) -> String { String(cString: tendon_activ5_status_text(tendon_status(code))) }
        return switch self {
        case .cancelled: String(cString: tendon_status_text(Int32(TENDON_ERROR_CANCELLED)))
        case .imuUnsupported: line(TENDON_ACTIV5_ERROR_IMU_UNSUPPORTED)
        case .batteryLevelNotReadable: line(TENDON_ACTIV5_ERROR_BATTERY_LEVEL_NOT_READABLE)
        case .notReady: line(TENDON_ACTIV5_ERROR_NOT_READY)
        case .unsupported: line(TENDON_ACTIV5_ERROR_UNSUPPORTED)
        case .range: "sampleRate: " + line(TENDON_ACTIV5_ERROR_RANGE) + ", -32768 to 32767"
        case .invalidArgument(let what): what
        case .malformed(let error):
            "\(error.operation.rawValue): \(String(cString: tendon_activ5_status_text(error.status)))"
        case .host(let error): "\(error.operation.rawValue): \(error.text)"
        }
    }
}

extension A5Error: CustomStringConvertible {
    /// One line of plain English, as `text`.
    public var description: String { text }
    /// The same, under the name that phone code prints.
    public var localizedDescription: String { text }
    /// The same, in the form of Foundation's `LocalizedError`. The module `TendonFoundation` adds the conformance.
    public var errorDescription: String? { text }
}

extension A5Error: CancellableError {
    /// Whether the task was cancelled, or the program closed the connection meanwhile.
    public var isCancelled: Bool { self == .cancelled }
}

/// Result of calls that have no result in the vendor's library; it can be ignored.
public typealias A5Result = Result<Void, A5Error>
