// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// A version as semantic versioning has it; "v1.2" is 1.2.0. The build does not count in comparisons.
///
/// ```swift
/// if let version = FirmwareVersion(string: "v1.2") { print(version, version.patch) }   // 1.2.0 0
/// ```
public struct FirmwareVersion: Sendable, Comparable, Hashable {
    /// First number.
    public let major: Int
    /// Second number; 0 if absent.
    public let minor: Int
    /// Third number; 0 if absent.
    public let patch: Int
    /// The part after a hyphen, such as "beta.1"; a pre-release precedes the release in comparisons.
    public let preRelease: String?
    /// The part after a plus sign.
    public let build: String?

    /// `nil`: not a version.
    public init?(string: String) {
        let parsed: FirmwareVersion? = lending(string) { text, count in
            var c = tendon_fjorden_version()
            guard tendon_fjorden_version_parse(text, count, &c) else { return nil }
            return FirmwareVersion(c)
        }
        guard let parsed else { return nil }
        self = parsed
    }

    private init(_ c: tendon_fjorden_version) {
        major = Int(c.major)
        minor = Int(c.minor)
        patch = Int(c.patch)
        preRelease = c.prerelease == nil ? nil : text(c.prerelease, c.prerelease_length)
        build = c.build == nil ? nil : text(c.build, c.build_length)
    }

    /// Lends the version as the C core has it.
    func withC<Result>(_ body: (UnsafePointer<tendon_fjorden_version>) -> Result) -> Result {
        lending(description) { text, count in
            var c = tendon_fjorden_version()
            _ = tendon_fjorden_version_parse(text, count, &c)
            return withPointer(to: &c, body)
        }
    }

    private static func compare(_ a: FirmwareVersion, _ b: FirmwareVersion) -> Int32 {
        a.withC { a in b.withC { b in tendon_fjorden_version_compare(a, b) } }
    }

    public static func < (a: FirmwareVersion, b: FirmwareVersion) -> Bool { compare(a, b) < 0 }
    public static func == (a: FirmwareVersion, b: FirmwareVersion) -> Bool { compare(a, b) == 0 }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(major)
        hasher.combine(minor)
        hasher.combine(patch)
    }
}

extension FirmwareVersion: CustomStringConvertible {
    public var description: String {
        "\(major).\(minor).\(patch)" + (preRelease.map { "-" + $0 } ?? "") + (build.map { "+" + $0 } ?? "")
    }
}
