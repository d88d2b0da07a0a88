// SPDX-License-Identifier: MIT
// The functions of liblsl that are used, from the library of the machine, which is opened when the program runs. Their forms
// are those of lsl_c.h (https://github.com/sccn/liblsl), which are the same since 1.15.
#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Why there are no streams, in a sentence.
package struct LSLError: Error, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }
}

/// A table of functions: tests have another one.
package struct LSLLibrary: Sendable {
    /// Nil: it cannot be made, and `lastError` says why.
    package var createInfo:
        @Sendable (
            _ name: String, _ type: String, _ channels: Int32, _ rate: Double, _ format: Int32, _ source: String
        ) -> OpaquePointer?
    package var destroyInfo: @Sendable (OpaquePointer) -> Void
    /// The element `desc` of a description; valid as long as it.
    package var description: @Sendable (OpaquePointer) -> OpaquePointer?
    package var append: @Sendable (_ element: OpaquePointer, _ name: String) -> OpaquePointer?
    package var appendValue: @Sendable (_ element: OpaquePointer, _ name: String, _ value: String) -> OpaquePointer?
    /// Copies the description. Opens sockets and starts two threads.
    package var createOutlet: @Sendable (_ info: OpaquePointer) -> OpaquePointer?
    /// Ends the threads; takes 25 ms and more.
    package var destroyOutlet: @Sendable (OpaquePointer) -> Void
    package var hasReceivers: @Sendable (OpaquePointer) -> Bool
    /// As many numbers as there are channels. Time in seconds of `clock`; 0: now. Returns 0, or a negative error.
    package var pushNumbers: @Sendable (OpaquePointer, UnsafePointer<Double>, _ time: Double) -> Int32
    /// Of one channel.
    package var pushText: @Sendable (OpaquePointer, String, _ time: Double) -> Int32
    package var lastError: @Sendable () -> String
    /// Seconds.
    package var clock: @Sendable () -> Double
    /// 110 is 1.10.
    package var protocolVersion: @Sendable () -> Int32
}

/// `lsl_channel_format_t`.
enum LSLFormat {
    static let double: Int32 = 2
    static let text: Int32 = 3
}

// MARK: - The library of the machine

extension LSLLibrary {
    /// Names by which the loader finds it: that of its interface, which releases since 1.16 have, and that for developers.
    private static let names = ["liblsl.so.2", "liblsl.so"]
    /// Where it comes from.
    package static let source = "https://github.com/sccn/liblsl/releases"

    /// Opens the library, which stays open as long as the program.
    /// - Parameter path: its file; nil: the one that the loader finds.
    package static func open(_ path: String?) throws(LSLError) -> LSLLibrary {
        var reasons: [String] = []
        for name in path.map({ [$0] }) ?? names {
            if let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) { return try LSLLibrary(Symbols(handle, of: name)) }
            reasons.append(dlerror().map { String(cString: $0) } ?? name)
        }
        throw LSLError(
            path == nil
                ? "liblsl is not installed (\(reasons[0])); its packages are at \(source)"
                : "liblsl cannot be opened: \(reasons[0])")
    }

    /// The functions of an open library.
    private struct Symbols {
        let handle: UnsafeMutableRawPointer
        let name: String

        init(_ handle: UnsafeMutableRawPointer, of name: String) { (self.handle, self.name) = (handle, name) }

        /// - Parameter form: a function of C.
        func function<Form>(_ symbol: String, _ form: Form.Type) throws(LSLError) -> Form {
            guard let address = dlsym(handle, symbol) else {
                throw LSLError("\(name) is no liblsl that can be used: it has no \(symbol)")
            }
            return unsafeBitCast(address, to: form)
        }
    }

    private typealias Text = UnsafePointer<CChar>

    private init(_ symbols: Symbols) throws(LSLError) {
        let createInfo = try symbols.function(
            "lsl_create_streaminfo",
            (@convention(c) (Text, Text, Int32, Double, Int32, Text) -> OpaquePointer?).self)
        self.createInfo = { createInfo($0, $1, $2, $3, $4, $5) }
        let destroyInfo = try symbols.function(
            "lsl_destroy_streaminfo", (@convention(c) (OpaquePointer) -> Void).self)
        self.destroyInfo = { destroyInfo($0) }
        let description = try symbols.function(
            "lsl_get_desc", (@convention(c) (OpaquePointer) -> OpaquePointer?).self)
        self.description = { description($0) }
        let append = try symbols.function(
            "lsl_append_child", (@convention(c) (OpaquePointer, Text) -> OpaquePointer?).self)
        self.append = { append($0, $1) }
        let appendValue = try symbols.function(
            "lsl_append_child_value", (@convention(c) (OpaquePointer, Text, Text) -> OpaquePointer?).self)
        self.appendValue = { appendValue($0, $1, $2) }
        let createOutlet = try symbols.function(
            "lsl_create_outlet", (@convention(c) (OpaquePointer, Int32, Int32) -> OpaquePointer?).self)
        self.createOutlet = { createOutlet($0, 0, LSLLibrary.bufferedSeconds) }
        let destroyOutlet = try symbols.function(
            "lsl_destroy_outlet", (@convention(c) (OpaquePointer) -> Void).self)
        self.destroyOutlet = { destroyOutlet($0) }
        let hasReceivers = try symbols.function(
            "lsl_have_consumers", (@convention(c) (OpaquePointer) -> Int32).self)
        self.hasReceivers = { hasReceivers($0) != 0 }
        let pushNumbers = try symbols.function(
            "lsl_push_sample_dtp",
            (@convention(c) (OpaquePointer, UnsafePointer<Double>, Double, Int32) -> Int32).self)
        self.pushNumbers = { pushNumbers($0, $1, $2, 1) }
        let pushText = try symbols.function(
            "lsl_push_sample_strtp",
            (@convention(c) (OpaquePointer, UnsafePointer<Text>, Double, Int32) -> Int32).self)
        self.pushText = { outlet, text, time in
            text.withCString { bytes in withUnsafePointer(to: bytes) { pushText(outlet, $0, time, 1) } }
        }
        let lastError = try symbols.function("lsl_last_error", (@convention(c) () -> Text?).self)
        self.lastError = { lastError().map { String(cString: $0) } ?? "" }
        let clock = try symbols.function("lsl_local_clock", (@convention(c) () -> Double).self)
        self.clock = { clock() }
        let protocolVersion = try symbols.function("lsl_protocol_version", (@convention(c) () -> Int32).self)
        self.protocolVersion = { protocolVersion() }
    }

    /// What waits for a receiver whose network is interrupted: the library's own default, six minutes.
    private static let bufferedSeconds: Int32 = 360
}

// MARK: - The clock

extension LSLLibrary {
    /// What both clocks may differ by, in seconds: they are read one after the other.
    private static let tolerance = 0.001

    /// Seconds of monotonic nanoseconds, without a loss in the division: as the library computes its own.
    static func seconds(_ nanoseconds: UInt64) -> Double {
        Double(nanoseconds / 1_000_000_000) + Double(nanoseconds % 1_000_000_000) / 1e9
    }

    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Throws if the library cannot be used: another protocol, or a clock that is not CLOCK_MONOTONIC, by which the times of
    /// samples are known.
    package func check() throws(LSLError) {
        let version = protocolVersion()
        guard version / 100 == 1 else {
            throw LSLError("this liblsl has the protocol \(Double(version) / 100); 1.00 to 1.99 is known")
        }
        let before = LSLLibrary.now, time = clock(), after = LSLLibrary.now
        guard (before - LSLLibrary.tolerance...after + LSLLibrary.tolerance).contains(time) else {
            throw LSLError("the clock of this liblsl is not that of the samples (CLOCK_MONOTONIC)")
        }
    }
}
