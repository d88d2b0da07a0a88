// SPDX-License-Identifier: MIT
import Synchronization
import Tendon

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Where the bond is kept.
///
/// ```swift
/// var configuration = GripManager.Configuration.system
/// configuration.persistentStorage = FileStorage(path: "/etc/camera/grip")
/// GripManager.default.configure(with: configuration)
/// ```
public protocol PersistentStorageProvider: Sendable {
    /// `nil`: there is none, or it cannot be read.
    func string(forKey key: String) -> String?
    /// Keeps a value of at most one line until it is set again or removed. The manager reads the value back: a storage
    /// that does not return it has failed, see `GripManager.Issue`. It may be called from any thread.
    func set(_ value: String, forKey key: String)
    /// Does nothing where there is none.
    func removeObject(forKey key: String)
}

/// For as long as the program runs.
///
/// ```swift
/// let configuration = GripManager.Configuration(persistentStorage: MemoryStorage())
/// ```
public final class MemoryStorage: PersistentStorageProvider {
    private let values = Mutex<[String: String]>([:])

    /// Empty.
    public init() {}

    /// `nil`: there is none.
    public func string(forKey key: String) -> String? { values.withLock { $0[key] } }
    /// In place of what was there.
    public func set(_ value: String, forKey key: String) { values.withLock { $0[key] = value } }
    /// Does nothing where there is none.
    public func removeObject(forKey key: String) { values.withLock { $0[key] = nil } }
}

/// A small file: a key and its value on each line. Changes replace the file at once.
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

    /// `nil`: there is none, or the file cannot be read.
    public func string(forKey key: String) -> String? { lock.withLock { _ in read()[key] } }

    /// The file is made where there is none; ends of lines in the value become spaces.
    public func set(_ value: String, forKey key: String) {
        lock.withLock { _ in
            var values = read()
            values[key] = value
            write(values)
        }
    }

    /// Does nothing where there is none.
    public func removeObject(forKey key: String) {
        lock.withLock { _ in
            var values = read()
            values[key] = nil
            write(values)
        }
    }

    private func read() -> [String: String] {
        var values: [String: String] = [:]
        for line in (contents(of: path) ?? "").split(separator: "\n") {
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
    /// Where grips are looked for.
    public enum OperationMode: Sendable, Hashable {
        /// Grips in range of a radio.
        case system
        /// Grips in memory, see `GripManager.simulator`; no radio is touched.
        case simulator
    }

    /// What a manager is given once, by `configure(with:)`.
    public struct Configuration: Sendable {
        /// Where grips are looked for.
        public var operationMode: OperationMode
        /// Maximum time to search for the bonded grip and connect, in seconds. Infinity: no limit.
        public var connectionTimeoutThreshold: Double = 5.0
        /// Where the bond is kept; not its keys, see `bonds`.
        public var persistentStorage: any PersistentStorageProvider
        /// Older grips are refused.
        public var minimumFirmware = FirmwareVersion(string: "1.0.0")
        /// UUIDs, codes and record format.
        public var profile = GripProfile()
        /// Looks for a grip again that is lost.
        public var autoReconnect = true
        /// Of the mode `system`.
        public var radio: RadioChoice = .automatic
        /// Where its keys are kept.
        public var bonds: BondStorage = .standard
        /// What the mode `simulator` runs on; `nil`: one with a single grip.
        public var simulator: GripSimulator?
        /// Asked before the radio pairs; `nil`: yes. The time for connecting does not run meanwhile.
        public var pairingPrompt: (@Sendable (ConnectableGrip) async -> Bool)?

        /// Without a storage: a file for `system`, memory for `simulator`.
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
        /// Grips in range of a radio; the bond in a file.
        public static var system: Configuration { Configuration() }
        /// Grips in memory; nothing is kept.
        public static var simulated: Configuration { Configuration(operationMode: .simulator) }
    }

    /// What `start` may do.
    public struct StartOptions: OptionSet, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Ask for the permission when it was not decided. On Linux it always is.
        public static let askForBluetoothPermission = StartOptions(rawValue: 1)
    }
}
