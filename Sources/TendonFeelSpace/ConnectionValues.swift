// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// How far a connection has come: the states of the vendor's document. `FSConnectionManager.phase` has the others.
public enum FSConnectionState: UInt32, Sendable, CaseIterable {
    /// There is no connection, and none is being made.
    case notConnected = 0
    /// The connection is being made, or is attempted again after a pause.
    case connecting
    /// The services of the belt are being discovered, pairing included.
    case discoveringServices
    /// Mode and intensity are being read.
    case handshake
    /// Commands can be sent.
    case connected

    /// As the vendor's document once spells it.
    @available(*, deprecated, renamed: "handshake")
    public static var hanshake: FSConnectionState { .handshake }

    init(_ c: tendon_feelspace_state) {
        self =
            switch FSConnectionPhase(c) {
            case .notConnected, .scanning: .notConnected
            case .connecting, .reconnecting: .connecting
            case .discoveringServices: .discoveringServices
            case .handshake: .handshake
            case .connected: .connected
            }
    }
}

/// All states of search and connection.
public enum FSConnectionPhase: UInt32, Sendable, CaseIterable {
    /// There is no connection.
    case notConnected = 0
    /// A search is in progress.
    case scanning
    /// The connection is being made.
    case connecting
    /// The services of the belt are being discovered, pairing included.
    case discoveringServices
    /// Mode and intensity are being read.
    case handshake
    /// Commands can be sent.
    case connected
    /// The pause before another attempt.
    case reconnecting

    init(_ c: tendon_feelspace_state) { self = FSConnectionPhase(rawValue: c.rawValue) ?? .notConnected }
}

/// What caused a change of state.
public enum FSConnectionEvent: UInt32, Sendable, CaseIterable {
    /// A search was asked for.
    case scanStarted = 0
    /// Its time is over.
    case scanTimeout
    /// The radio does not search.
    case scanFailed
    /// It was stopped, or a connection began.
    case scanCanceled
    /// A connection was asked for.
    case connectionStarted
    /// The link is up.
    case connectionEstablished
    /// What the belt has is known.
    case servicesDiscovered
    /// Mode and intensity are known.
    case handshakeFinished
    /// As asked, or the belt was switched off.
    case connectionClosed
    /// The link ended by itself.
    case connectionLost
    /// The link could not be made.
    case connectionFailed
    /// The belt lacks something, or did not answer.
    case serviceDiscoveryFailed
    /// The belt did not answer, or refused.
    case handshakeFailed
    /// Another attempt after a loss.
    case reconnectionStarted
    /// The last attempt failed.
    case reconnectionFailed
}

/// Why a connection ended or did not come about, as the vendor's release 2.2 has it.
public enum FSConnectionError: UInt32, Error, Sendable, CaseIterable {
    /// The radio is switched off.
    case btPoweredOff = 1
    /// The radio is not permitted.
    case btUnauthorized
    /// There is no radio.
    case btUnsupported
    /// The radio does not tell its state.
    case btStateNotificationFailed
    /// The radio's state is not known.
    case btStateUnknown
    /// The radio is being reset.
    case btStateResetting
    /// The link was not made in time.
    case connectionTimeout
    /// Discovery was not done in time.
    case serviceDiscoveryTimeout
    /// The handshake was not done in time.
    case handshakeTimeout
    /// The link was not made again in time.
    case reconnectionTimeout
    /// The link could not be made.
    case connectionFailed
    /// The controller takes no more links.
    case connectionLimitReached
    /// The belt ended the link.
    case peripheralDisconnected
    /// The belt was switched off.
    case powerOff
    /// The link was lost.
    case unexpectedDisconnection
    /// Pairing failed.
    case pairingFailed
    /// The belt wants pairing before it tells what it has.
    case gattDiscoveryPermissionError
    /// The belt lacks something that every belt has.
    case serviceDiscoveryFailed
    /// The belt wants pairing before it answers.
    case handshakePermissionError
    /// The belt refused, or answered what it may not answer.
    case handshakeFailed
    /// The program cancelled the task that waited, or ended the attempt.
    case cancelled = 0xFFFF

    init?(_ c: tendon_feelspace_connection_error) { self.init(rawValue: c.rawValue) }
}

extension FSConnectionError: CancellableError {
    /// Whether the operation ended because the program cancelled it.
    public var isCancelled: Bool { self == .cancelled }
}

extension FSConnectionError {
    /// What happened, in one line.
    public var localizedDescription: String {
        switch self {
        case .btPoweredOff: "the Bluetooth adapter is powered off"
        case .btUnauthorized: "the program is not permitted to use Bluetooth"
        case .btUnsupported: "this machine has no Bluetooth adapter"
        case .btStateNotificationFailed, .btStateUnknown: "the state of the Bluetooth adapter is not known"
        case .btStateResetting: "the Bluetooth adapter is being reset"
        case .connectionTimeout: "the belt did not respond to the connection request in time"
        case .serviceDiscoveryTimeout: "the services of the belt were not discovered in time"
        case .handshakeTimeout: "the belt did not answer the handshake in time"
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
        case .cancelled: "the program cancelled the connection attempt"
        }
    }
}

/// Why a search ended.
public enum FSScanTerminationCause: UInt32, Sendable, CaseIterable {
    /// Its time is over.
    case timeout = 0
    /// There is no radio.
    case btNotAvailable
    /// The radio is switched off.
    case btNotActive
    /// There is a connection.
    case alreadyConnected
    /// It was stopped, or a connection began.
    case canceled
}

// MARK: As the navigation controller reports it

/// The connection as the navigation controller reports it. `FSNavigationController.connectionPhase` has the steps.
public enum FSBeltConnectionState: UInt32, Sendable, CaseIterable {
    /// There is no connection.
    case notConnected = 0
    /// A search is in progress.
    case searching
    /// The connection is being made, discovery and handshake included, or is attempted again after a pause.
    case connecting
    /// The belt can be used.
    case connected

    /// As release 2.0 calls `notConnected`.
    public static var disconnected: FSBeltConnectionState { .notConnected }
    /// As release 2.0 calls `searching`.
    public static var scanning: FSBeltConnectionState { .searching }

    init(_ c: tendon_feelspace_state) {
        self =
            switch FSConnectionPhase(c) {
            case .notConnected: .notConnected
            case .scanning: .searching
            case .connecting, .discoveringServices, .handshake, .reconnecting: .connecting
            case .connected: .connected
            }
    }
}

/// What is known of a belt that a search finds.
public enum FSBeltConnectionStatus: Sendable {
    /// Nothing.
    case unknown
    /// It is connected.
    case connected
    /// It was connected before.
    case known
    /// It was connected before, and is in reach.
    case knownAdvertising
    /// It is in reach.
    case advertising
}

/// Why a connection ended, as the navigation controller of release 2.2 tells it.
public enum FSBeltConnectionError: Error, Sendable, CaseIterable {
    /// All is well.
    case noError
    /// The radio is switched off.
    case btPoweredOff
    /// The radio is not permitted.
    case btUnauthorized
    /// There is no radio.
    case btUnsupported
    /// The radio's state is not known.
    case btStateError
    /// The link was lost.
    case unexpectedDisconnection
    /// The search's time is over.
    case noBeltFound
    /// It was not done in time.
    case connectionTimeout
    /// The link could not be made, or the belt did not answer as it must.
    case connectionFailed
    /// The controller takes no more links.
    case connectionLimitReached
    /// The belt ended the link.
    case beltDisconnection
    /// The belt was switched off.
    case beltPoweredOff
    /// The belt wants pairing, or its bond was lost.
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
            case .connectionFailed, .serviceDiscoveryFailed, .handshakeFailed, .cancelled: .connectionFailed
            case .connectionLimitReached: .connectionLimitReached
            case .peripheralDisconnected: .beltDisconnection
            case .powerOff: .beltPoweredOff
            case .pairingFailed, .gattDiscoveryPermissionError, .handshakePermissionError: .pairingPermissionError
            }
    }
}
