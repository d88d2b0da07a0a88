// SPDX-License-Identifier: MIT
import Synchronization
import Tendon

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Storage for the bond.
///
/// ```swift
/// var configuration = GripManager.Configuration.system
/// configuration.persistentStorage = FileStorage(path: "/etc/camera/grip")
/// GripManager.default.configure(with: configuration)
/// ```
public protocol PersistentStorageProvider: Sendable {
    /// Returns the value; `nil` if there is none, or if it cannot be read.
    func string(forKey key: String) -> String?
    /// Stores a value of at most one line until it is set again or removed. The manager reads the value back: if the
    /// storage does not return it, storing has failed, see `GripManager.Issue`. It may be called from any thread.
    func set(_ value: String, forKey key: String)
    /// Removes the value; does nothing if there is none.
    func removeObject(forKey key: String)
}

/// Storage in memory, until the program ends.
///
/// ```swift
/// let configuration = GripManager.Configuration(persistentStorage: MemoryStorage())
/// ```
public final class MemoryStorage: PersistentStorageProvider {
    private let values = Mutex<[String: String]>([:])

    /// An empty storage.
    public init() {}

    /// Returns the value; `nil` if there is none.
    public func string(forKey key: String) -> String? { values.withLock { $0[key] } }
    /// Sets or replaces a value.
    public func set(_ value: String, forKey key: String) { values.withLock { $0[key] = value } }
    /// Removes the value; does nothing if there is none.
    public func removeObject(forKey key: String) { values.withLock { $0[key] = nil } }
}

/// A small file with a key and its value on each line. Each change replaces the whole file.
///
/// ```swift
/// let configuration = GripManager.Configuration(persistentStorage: FileStorage(path: "/etc/camera/grip"))
/// ```
public final class FileStorage: PersistentStorageProvider {
    private let path: String
    private let lock = Mutex(())

    /// Without a path: `$XDG_STATE_HOME/tendon/fjorden`, else `$HOME/.local/state/tendon/fjorden`.
    public init(path: String? = nil) {
        self.path = path ?? FileStorage.standardPath
    }

    private static var standardPath: String {
        if let state = getenv("XDG_STATE_HOME"), state.pointee != 0 {
            return String(cString: state) + "/tendon/fjorden"
        }
        if let home = getenv("HOME"), home.pointee != 0 {
            return String(cString: home) + "/.local/state/tendon/fjorden"
        }
        return "/var/lib/tendon/fjorden"
    }

    /// Returns the value; `nil` if there is none, or if the file cannot be read.
    public func string(forKey key: String) -> String? { lock.withLock { _ in read()[key] } }

    /// Creates the file if necessary; line breaks in the value become spaces.
    public func set(_ value: String, forKey key: String) {
        lock.withLock { _ in
            var values = read()
            values[key] = value
            write(values)
        }
    }

    /// Removes the value; does nothing if there is none.
    public func removeObject(forKey key: String) {
        lock.withLock { _ in
            var values = read()
            values[key] = nil
            write(values)
        }
    }

    private func read() -> [String: String] {
        var values: [String: String] = [:]
        let bytes = (try? contents(of: path, limit: 1 << 20)) ?? []
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            guard let end = line.firstIndex(of: " ") else { continue }
            values[String(line[..<end])] = String(line[line.index(after: end)...])
        }
        return values
    }

    private func write(_ values: [String: String]) {
        let lines = values.sorted { $0.key < $1.key }.map { key, value in
            key + " " + value.map { $0.isNewline ? " " : String($0) }.joined() + "\n"
        }
        replace(path, with: lines.joined())
    }
}

extension GripManager {
    /// The grips that the manager uses.
    public enum OperationMode: Sendable, Hashable {
        /// Grips in range of a radio.
        case system
        /// Grips in memory, see `GripManager.simulator`; no radio is used.
        case simulator
    }

    /// Configuration of a manager, set once by `configure(with:)`.
    public struct Configuration: Sendable {
        /// The grips that the manager uses.
        public var operationMode: OperationMode
        /// Maximum time to search for the bonded grip and connect, in seconds. Infinity: no limit.
        public var connectionTimeoutThreshold: Double = 5.0
        /// Storage of the bond, but not of its keys, see `bonds`.
        public var persistentStorage: any PersistentStorageProvider
        /// Minimum firmware version; grips with older firmware are rejected.
        public var minimumFirmware = FirmwareVersion(string: "1.0.0")
        /// UUIDs, codes and record format.
        public var profile = GripProfile()
        /// Whether to reconnect automatically after the connection was lost.
        public var autoReconnect = true
        /// The radio of the mode `system`.
        public var radio: RadioChoice = .automatic
        /// Storage of the keys.
        public var bonds: BondStorage = .standard
        /// The simulator of the mode `simulator`; `nil`: a simulator with one grip.
        public var simulator: GripSimulator?
        /// Called before pairing; returns whether to pair. `nil`: pairing is accepted. The connection timeout is paused
        /// meanwhile.
        public var pairingPrompt: (@Sendable (ConnectableGrip) async -> Bool)?

        /// Creates a configuration. Default storage: a file for `system`, memory for `simulator`.
        public init(
            operationMode: OperationMode = .system, connectionTimeoutThreshold: Double = 5.0,
            persistentStorage: (any PersistentStorageProvider)? = nil
        ) {
            self.operationMode = operationMode
            self.connectionTimeoutThreshold = connectionTimeoutThreshold
            self.persistentStorage =
                persistentStorage
                ?? (operationMode == .system ? FileStorage() as any PersistentStorageProvider : MemoryStorage())
        }

        /// The same as `system`.
        public static var `default`: Configuration { .system }
        /// Grips in range of a radio; the bond is stored in a file.
        public static var system: Configuration { Configuration() }
        /// Grips in memory; nothing is stored.
        public static var simulated: Configuration { Configuration(operationMode: .simulator) }
    }

    /// Options of `start`.
    public struct StartOptions: OptionSet, Sendable {
        public var rawValue: Int8
        public init(rawValue: Int8) { self.rawValue = rawValue }

        /// Request the Bluetooth permission if it is undecided. On Linux it is always decided.
        public static let askForBluetoothPermission = StartOptions(rawValue: 1)
    }
}
