// SPDX-License-Identifier: MIT
// What the kernel knows of this process. The names differ from those of the client libraries (process_...), because a
// node exporter has metrics of these names about itself, and refuses a second set.
import CTendon
import TendonOutputs

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

enum ProcessFigures {
    /// Seconds since 1970.
    private static let started = Double(tendon_realtime_us()) / 1e6 - uptime()

    static func metrics() -> [Metric] {
        var metrics: [Metric] = [
            Metric(
                "tendon_process_start_time_seconds", .gauge, unit: "seconds", "When the process started, since 1970.",
                started),
            Metric(
                "tendon_process_cpu_seconds", .counter, unit: "seconds", "User and system time of the process.", cpu()),
        ]
        if let pages = words("/proc/self/statm").dropFirst().first.flatMap({ Double($0) }) {
            metrics.append(
                Metric(
                    "tendon_process_resident_memory_bytes", .gauge, unit: "bytes", "Memory of the process in RAM.",
                    pages * Double(sysconf(Int32(_SC_PAGESIZE)))))
        }
        if let count = descriptors() {
            metrics.append(Metric("tendon_process_open_fds", .gauge, unit: "fds", "Open descriptors.", Double(count)))
        }
        return metrics
    }

    private static func cpu() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Seconds since the process started: field 22 of stat is its start, in ticks since the machine started.
    private static func uptime() -> Double {
        var now = timespec()
        clock_gettime(CLOCK_BOOTTIME, &now)
        // The second field is a name in parentheses, which may contain anything.
        guard let end = text("/proc/self/stat").lastIndex(of: UInt8(ascii: ")")) else { return 0 }
        let fields = words("/proc/self/stat", from: end + 1)
        guard fields.count > 19, let ticks = Double(fields[19]) else { return 0 }
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9 - ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    private static func descriptors() -> Int? {
        guard let directory = opendir("/proc/self/fd") else { return nil }
        defer { closedir(directory) }
        var count = 0
        while let entry = readdir(directory) {
            if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 }
        }
        // Without the directory itself.
        return count - 1
    }

    private static func text(_ path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }

    private static func words(_ path: String, from start: Int = 0) -> [String] {
        String(decoding: text(path).dropFirst(start), as: UTF8.self).split(whereSeparator: \.isWhitespace)
            .map(String.init)
    }
}
