// SPDX-License-Identifier: MIT
import Testing

@testable import TendonLSL

struct LSLLibraryTests {
    @Test func aFileThatIsNotThere() {
        let error = #expect(throws: LSLError.self) { _ = try LSLLibrary.open("/nowhere/liblsl.so") }
        #expect(error?.text.hasPrefix("liblsl cannot be opened: /nowhere/liblsl.so: ") == true)
    }

    /// The C library is a library, and none of these.
    @Test func anotherLibrary() {
        let error = #expect(throws: LSLError.self) { _ = try LSLLibrary.open("libc.so.6") }
        #expect(error?.text == "libc.so.6 is no liblsl that can be used: it has no lsl_create_streaminfo")
    }

    @Test func nanosecondsAreKept() {
        #expect(LSLLibrary.seconds(0) == 0)
        #expect(LSLLibrary.seconds(86_400_123_456_789) == 86400.123456789)
    }
}
