// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// States of search and connection: those of the vendor's release 2.2.
public enum FSConnectionState: Int, Sendable, CaseIterable {
    /// Not connected.
    case notConnected = 0
    /// The state of the adapter is not known yet. Never reported: the adapter is opened in the same call.
    case initializing
    /// A search is in progress.
    case scanning
    /// Connecting.
    case connecting
    /// Discovering the services of the belt; includes pairing.
    case discoveringServices
    /// Reading mode and intensity.
    case handshake
    /// Commands can be sent.
    case connected
    /// The pause before another attempt.
    case reconnecting

    /// A spelling that occurs once in the vendor's document.
    @available(*, deprecated, renamed: "handshake")
    public static var hanshake: FSConnectionState { .handshake }

    init(_ c: tendon_feelspace_state) {
        self =
            switch c {
            case TENDON_FEELSPACE_SCANNING: .scanning
            case TENDON_FEELSPACE_CONNECTING: .connecting
            case TENDON_FEELSPACE_DISCOVERING_SERVICES: .discoveringServices
            case TENDON_FEELSPACE_HANDSHAKE: .handshake
            case TENDON_FEELSPACE_CONNECTED: .connected
            case TENDON_FEELSPACE_RECONNECTING: .reconnecting
            default: .notConnected
            }
    }
}

/// Cause of a state change.
public enum FSConnectionEvent: UInt32, Sendable, CaseIterable {
    /// A search was requested.
    case scanStarted = 0
    /// The search timed out.
    case scanTimeout
    /// The radio cannot scan.
    case scanFailed
    /// It was stopped, or a connection began.
    case scanCanceled
    /// A connection was requested.
    case connectionStarted
    /// The belt is connected.
    case connectionEstablished
    /// The services of the belt are discovered.
    case servicesDiscovered
    /// Mode and intensity are known.
    case handshakeFinished
    /// The connection ended as requested, or because the belt was switched off.
    case connectionClosed
    /// The connection was lost.
    case connectionLost
    /// Connecting failed.
    case connectionFailed
    /// The belt lacks a required characteristic, or did not respond.
    case serviceDiscoveryFailed
    /// The belt did not respond, or rejected a request.
    case handshakeFailed
    /// Another attempt after a loss.
    case reconnectionStarted
    /// The last attempt failed.
    case reconnectionFailed
}

/// The reason why a connection ended or failed, as in the vendor's release 2.2.
public enum FSConnectionError: UInt32, Error, Sendable, CaseIterable {
    /// The Bluetooth adapter is powered off.
    case btPoweredOff = 1
    /// The program is not permitted to use Bluetooth.
    case btUnauthorized
    /// The machine has no Bluetooth adapter.
    case btUnsupported
    /// The state of the adapter could not be read.
    case btStateNotificationFailed
    /// The state of the adapter is not known.
    case btStateUnknown
    /// The adapter is being reset.
    case btStateResetting
    /// Connecting timed out.
    case connectionTimeout
    /// The discovery timed out.
    case serviceDiscoveryTimeout
    /// The handshake timed out.
    case handshakeTimeout
    /// Reconnecting timed out.
    case reconnectionTimeout
    /// Connecting failed.
    case connectionFailed
    /// The controller supports no more connections.
    case connectionLimitReached
    /// The belt disconnected.
    case peripheralDisconnected
    /// The belt was switched off.
    case powerOff
    /// The connection was lost.
    case unexpectedDisconnection
    /// Pairing failed.
    case pairingFailed
    /// The belt requires pairing for the discovery.
    case gattDiscoveryPermissionError
    /// The belt lacks a required characteristic.
    case serviceDiscoveryFailed
    /// The belt requires pairing for the handshake.
    case handshakePermissionError
    /// The belt rejected the handshake, or sent an invalid response.
    case handshakeFailed
    /// The search found no belt.
    case beltNotFound = 0xFFFE
    /// The program cancelled the task that waited, or ended the attempt.
    case cancelled = 0xFFFF

    init?(_ c: tendon_feelspace_connection_error) { self.init(rawValue: c.rawValue) }

    /// Why a search brought no belt.
    init(_ cause: FSScanTerminationCause) {
        self =
            switch cause {
            case .timeout: .beltNotFound
            case .btNotAvailable: .btUnsupported
            case .btNotActive: .btPoweredOff
            case .alreadyConnected: .connectionFailed
            case .canceled: .cancelled
            }
    }
}

extension FSConnectionError: CancellableError {
    /// Whether the operation ended because the program cancelled it.
    public var isCancelled: Bool { self == .cancelled }
}

extension FSConnectionError {
    /// The same as `localizedDescription`, in the form of Foundation's `LocalizedError`. The module `TendonFoundation` adds
    /// the conformance.
    public var errorDescription: String? { localizedDescription }

    /// The error as one line of text.
    public var localizedDescription: String {
        switch self {
        case .btPoweredOff: "the Bluetooth adapter is powered off"
        case .btUnauthorized: "the program is not permitted to use Bluetooth"
        case .btUnsupported: "this machine has no Bluetooth adapter"
        case .btStateNotificationFailed, .btStateUnknown: "the state of the Bluetooth adapter is not known"
        case .btStateResetting: "the Bluetooth adapter is being reset"
        case .connectionTimeout: "the belt did not respond to the connection request in time"
        case .serviceDiscoveryTimeout: "the services of the belt were not discovered in time"
        case .handshakeTimeout: "the belt did not respond to the handshake in time"
        case .reconnectionTimeout: "the belt did not respond in time after the connection was lost"
        case .connectionFailed: "the connection to the belt failed"
        case .connectionLimitReached: "the Bluetooth adapter supports no more connections"
        case .peripheralDisconnected: "the belt disconnected"
        case .powerOff: "the belt was switched off"
        case .unexpectedDisconnection: "the connection to the belt was lost"
        case .pairingFailed:
            "pairing with the belt failed: disconnect it from other devices, hold its home button until it pulses fast, "
                + "then connect again"
        case .gattDiscoveryPermissionError, .handshakePermissionError:
            "the belt requires pairing: hold its home button until it pulses fast, then connect again"
        case .serviceDiscoveryFailed: "the belt lacks a characteristic that this library requires"
        case .handshakeFailed: "the belt rejected the handshake"
        case .beltNotFound: "no belt is in range: switch it on, and disconnect it from other devices"
        case .cancelled: "the program cancelled the connection attempt"
        }
    }
}

/// Why a search ended.
public enum FSScanTerminationCause: UInt32, Sendable, CaseIterable {
    /// Its time is over.
    case timeout = 0
    /// The machine has no Bluetooth adapter.
    case btNotAvailable
    /// The Bluetooth adapter is powered off.
    case btNotActive
    /// There is a connection.
    case alreadyConnected
    /// It was stopped, or a connection began.
    case canceled
}

// MARK: Values of the navigation controller

/// The connection as the navigation controller reports it. `FSNavigationController.detailedConnectionState` has the steps.
public enum FSBeltConnectionState: UInt32, Sendable, CaseIterable {
    /// Not connected.
    case notConnected = 0
    /// A search is in progress.
    case searching
    /// Connecting, including discovery and handshake, or waiting for another attempt.
    case connecting
    /// The belt can be used.
    case connected

    /// The name of `notConnected` in release 2.0.
    public static var disconnected: FSBeltConnectionState { .notConnected }
    /// The name of `searching` in release 2.0.
    public static var scanning: FSBeltConnectionState { .searching }

    init(_ c: tendon_feelspace_state) {
        self =
            switch FSConnectionState(c) {
            case .notConnected, .initializing: .notConnected
            case .scanning: .searching
            case .connecting, .discoveringServices, .handshake, .reconnecting: .connecting
            case .connected: .connected
            }
    }
}

/// Status of a belt that a search finds.
public enum FSBeltConnectionStatus: Sendable {
    /// Nothing.
    case unknown
    /// It is connected.
    case connected
    /// It was connected before.
    case known
    /// It was connected before, and is in range.
    case knownAdvertising
    /// It is in range.
    case advertising
}

/// The reason why a connection ended, as reported by the navigation controller of release 2.2.
public enum FSBeltConnectionError: Error, Sendable, CaseIterable {
    /// No error.
    case noError
    /// The Bluetooth adapter is powered off.
    case btPoweredOff
    /// The program is not permitted to use Bluetooth.
    case btUnauthorized
    /// The machine has no Bluetooth adapter.
    case btUnsupported
    /// The state of the adapter is not known.
    case btStateError
    /// The connection was lost.
    case unexpectedDisconnection
    /// The search found no belt.
    case noBeltFound
    /// Connecting timed out.
    case connectionTimeout
    /// Connecting failed, or the belt sent an invalid response.
    case connectionFailed
    /// The controller supports no more connections.
    case connectionLimitReached
    /// The belt disconnected.
    case beltDisconnection
    /// The belt was switched off.
    case beltPoweredOff
    /// The belt requires pairing, or has lost its bond.
    case pairingPermissionError

    init(_ c: tendon_feelspace_connection_error) {
        self =
            switch FSConnectionError(c) {
            case nil: .noError
            case .btPoweredOff: .btPoweredOff
            case .btUnauthorized: .btUnauthorized
            case .btUnsupported: .btUnsupported
            case .btStateNotificationFailed, .btStateUnknown, .btStateResetting: .btStateError
            case .unexpectedDisconnection: .unexpectedDisconnection
            case .connectionTimeout, .serviceDiscoveryTimeout, .handshakeTimeout, .reconnectionTimeout:
                .connectionTimeout
            case .beltNotFound: .noBeltFound
            case .connectionFailed, .serviceDiscoveryFailed, .handshakeFailed, .cancelled: .connectionFailed
            case .connectionLimitReached: .connectionLimitReached
            case .peripheralDisconnected: .beltDisconnection
            case .powerOff: .beltPoweredOff
            case .pairingFailed, .gattDiscoveryPermissionError, .handshakePermissionError: .pairingPermissionError
            }
    }
}

extension FSBeltConnectionError {
    /// The same as `localizedDescription`, in the form of Foundation's `LocalizedError`. The module `TendonFoundation` adds
    /// the conformance.
    public var errorDescription: String? { localizedDescription }

    /// The error as one line of text.
    public var localizedDescription: String { detailed?.localizedDescription ?? "no error" }

    private var detailed: FSConnectionError? {
        switch self {
        case .noError: nil
        case .btPoweredOff: .btPoweredOff
        case .btUnauthorized: .btUnauthorized
        case .btUnsupported: .btUnsupported
        case .btStateError: .btStateUnknown
        case .unexpectedDisconnection: .unexpectedDisconnection
        case .noBeltFound: .beltNotFound
        case .connectionTimeout: .connectionTimeout
        case .connectionFailed: .connectionFailed
        case .connectionLimitReached: .connectionLimitReached
        case .beltDisconnection: .peripheralDisconnected
        case .beltPoweredOff: .powerOff
        case .pairingPermissionError: .handshakePermissionError
        }
    }
}
