// SPDX-License-Identifier: MIT
// The figures in a file, for a node exporter's textfile collector. See docs/metrics.md.
import CTendon
import TendonOutputs
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Why the file cannot be written, in a sentence.
package struct MetricsError: Error, Sendable {
    package let text: String
}

/// Writes the file at the start and after each interval; removes it at the end.
package final class MetricsFile: EventOutput, @unchecked Sendable {
    private let path: String
    private let interval: UInt64
    private let compose: @Sendable () -> [UInt8]
    private let report: @Sendable (String) -> Void
    private let end = OutputEnd()
    // Guarded by `lock`.
    private let lock = ThreadLock()
    private var isOver = false
    private var failures: UInt64 = 0

    /// - Parameters:
    ///   - interval: milliseconds.
    ///   - report: takes sentences for people, from any thread.
    package init(
        _ path: String, interval: UInt64, report: @escaping @Sendable (String) -> Void,
        compose: @escaping @Sendable () -> [UInt8]
    ) throws(MetricsError) {
        (self.path, self.interval, self.compose, self.report) = (path, interval, compose, report)
        try MetricsFile.check(path)
        try write(compose())
        let number = startThread { self.run() }
        guard number == 0 else {
            unlink(path)
            throw MetricsError(text: "\(sanitized(path)): no thread: \(text(strerror(number)))")
        }
    }

    /// The file is replaced, and removed at the end: one that is something else is left alone.
    private static func check(_ path: String) throws(MetricsError) {
        // What comes out of a pipe or a terminal is for others.
        guard !WholeFile.isSpecial(path) else { return }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let number = errno
            if number == ENOENT { return }
            throw MetricsError(text: "\(sanitized(path)): \(text(strerror(number)))")
        }
        defer { close(descriptor) }
        let beginning = Array("# TYPE tendon_".utf8)
        var found = [UInt8](repeating: 0, count: beginning.count)
        let count = read(descriptor, &found, found.count)
        guard count > 0, found != beginning else { return }
        throw MetricsError(text: "\(sanitized(path)) exists and has no metrics of tendon; it is not replaced")
    }

    package func takes(_ event: EventName, of device: OutputDevice?) -> Bool { false }

    package func event(_ event: EventName, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {}

    package var metrics: [Metric] {
        [
            Metric(
                "tendon_metrics_file_failures", .counter, "Times that the file of metrics could not be written.",
                Double(lock.locked { failures }))
        ]
    }

    package func finish() async {
        lock.locked {
            isOver = true
            lock.wakeAll()
        }
        await end.wait()
    }

    private func run() {
        var next = tendon_monotonic_ms() + interval
        var isFailing = false
        while true {
            let isOver = lock.locked {
                while !self.isOver, tendon_monotonic_ms() < next { _ = lock.wait(until: next) }
                return self.isOver
            }
            if isOver { break }
            next = tendon_monotonic_ms() + interval
            do throws(MetricsError) {
                try write(compose())
                if isFailing { report("\(sanitized(path)): written again") }
                isFailing = false
            } catch {
                lock.locked { failures += 1 }
                if !isFailing { report(error.text) }
                isFailing = true
            }
        }
        // Figures of a gateway that ended would look like those of one that stands still.
        unlink(path)
        end.reach()
    }

    /// To a new file that takes the old one's name: a reader sees all of it. A collector reads names in .prom only, so it
    /// ignores the new file.
    private func write(_ bytes: [UInt8]) throws(MetricsError) {
        let number = WholeFile.replace(path, with: bytes, mode: 0o644, synchronizes: false)
        guard number == 0 else { throw MetricsError(text: "\(sanitized(path)): \(String(cString: strerror(number)))") }
    }
}
