// SPDX-License-Identifier: MIT
// Few lines about a disk, by the time that the test sets.
import Testing

@testable import TendonSupport

@Suite struct DiskReportTests {
    /// The other programs on the disk leave a little room, and take it again: once in ten seconds, for a day.
    @Test func aDiskThatIsAlwaysNearlyFull() {
        var report = DiskReport()
        /// What is worth a line: the failure, the return.
        func lines(_ times: [(UInt64, works: Bool)]) -> [Bool] {
            times.map { $0.works ? report.works($0.0) : report.failed($0.0) }
        }
        #expect(
            lines([(0, false), (5000, false), (10_000, true), (11_000, true)]) == [true, false, true, false])
        let day = stride(from: UInt64(20_000), to: 86_400_000, by: 10_000).flatMap { [($0, false), ($0 + 5000, true)] }
        #expect(lines(day).count(where: { $0 }) == 1)
        #expect(lines([(86_420_000, true)]) == [true])
        // Now it has to work for 20 s.
        #expect(
            lines([(86_430_000, false), (86_440_000, true), (86_450_000, true), (86_460_000, true)])
                == [true, false, false, true])
    }

    /// A recording: rows of a moment that fit are no return.
    @Test func aDiskThatIsFull() {
        var report = DiskReport(patience: 10_000)
        let lines = [
            report.failed(0), report.works(250), report.failed(500), report.works(750), report.works(10_749),
            report.works(10_750), report.failed(11_000),
        ]
        #expect(lines == [true, false, false, false, false, true, true])
    }
}
