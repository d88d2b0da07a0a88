// SPDX-License-Identifier: MIT
import Testing

@testable import TendonObvious

/// A version is one number: three digits for each of the last two parts.
@Suite struct VersionTests {
    @Test(
        arguments: [
            (0, "0.0.0"), (1_003_000, "1.3.0"), (12_034_005, "12.34.5"), (999_999_999, "999.999.999"),
            (1_000_000_000, nil), (.max, nil),
        ] as [(UInt32, String?)])
    func texts(code: UInt32, text: String?) { #expect(versionText(code) == text) }
}
