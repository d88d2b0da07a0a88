// SPDX-License-Identifier: MIT
// The file of metrics: written whole, again after each interval, gone at the end; and what the kernel says of this process.
import Foundation
import Synchronization
import TendonOutputs
import TestSupport
import Testing

@testable import TendonMetrics

@Suite(.timeLimit(.minutes(1))) struct MetricsFileTests {
    final class Place: Sendable {
        let directory = NSTemporaryDirectory() + "tendon-metrics-\(UUID().uuidString)"
        var path: String { directory + "/tendon.prom" }
        let reports = Mutex<[String]>([])

        init() { try! FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(atPath: directory) }

        var names: [String] { try! FileManager.default.contentsOfDirectory(atPath: directory) }
        var text: String? { FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } }

        func file(interval: UInt64, _ compose: @escaping @Sendable () -> [UInt8]) throws -> MetricsFile {
            try MetricsFile(
                path, interval: interval, report: { text in self.reports.withLock { $0.append(text) } },
                compose: compose)
        }
    }

    private func failures(_ file: MetricsFile) -> Double { file.metrics[0].samples[0].value }

    @Test func theFileIsThereFromTheStartToTheEnd() async throws {
        let place = Place()
        // Left by a process that was killed.
        FileManager.default.createFile(atPath: place.path + ".new", contents: Data("old".utf8))
        let file = try place.file(interval: 600_000) { Array("text\n".utf8) }
        #expect(place.text == "text\n")
        #expect(place.names == ["tendon.prom"])
        let rights = try FileManager.default.attributesOfItem(atPath: place.path)[.posixPermissions]
        #expect(rights as? Int == 0o644)
        #expect(!file.takes("press", of: nil))
        #expect(
            file.metrics.map { "\($0.name) \($0.kind) \($0.samples[0].value)" } == [
                "tendon_metrics_file_failures counter 0.0"
            ])
        await file.finish()
        #expect(place.names == [])
    }

    /// Figures that nothing would renew are not left there.
    @Test func withoutAThreadThereIsNoFile() {
        let place = Place()
        let (error, _) = failing("pthread_create", with: EAGAIN) {
            #expect(throws: MetricsError.self) { try place.file(interval: 600_000) { Array("text".utf8) } }
        }
        #expect(error?.text.hasSuffix("no thread: Resource temporarily unavailable") == true)
        #expect(place.names == [])
    }

    /// A link at the name of the new file is not followed.
    @Test func aLinkIsNotWrittenThrough() async throws {
        let place = Place()
        let target = place.directory + "/target"
        FileManager.default.createFile(atPath: target, contents: Data("kept".utf8))
        try FileManager.default.createSymbolicLink(atPath: place.path + ".new", withDestinationPath: target)
        let file = try place.file(interval: 600_000) { Array("text".utf8) }
        #expect(place.text == "text")
        #expect(FileManager.default.contents(atPath: target) == Data("kept".utf8))
        await file.finish()
    }

    @Test func itIsWrittenAgainAfterEachInterval() async throws {
        let place = Place()
        let count = Mutex(0)
        let file = try place.file(interval: 1) {
            count.withLock {
                $0 += 1
                return Array("\($0)".utf8)
            }
        }
        await eventually("it is written ten times") { place.text.flatMap { Int($0) } ?? 0 >= 10 }
        #expect(place.reports.withLock { $0 } == [])
        await file.finish()
    }

    /// Not without a pause, also after the first interval.
    @Test func anIntervalIsBetweenTwoFiles() async throws {
        let place = Place()
        let count = Mutex(0)
        let started = ContinuousClock.now
        let file = try place.file(interval: 50) {
            count.withLock { $0 += 1 }
            return []
        }
        await eventually("it is written five times") { count.withLock { $0 } >= 5 }
        // Four intervals of a clock that counts whole milliseconds.
        #expect(ContinuousClock.now - started >= .milliseconds(4 * (50 - 1)))
        await file.finish()
    }

    @Test func aFailureIsReportedOnceAndCounted() async throws {
        let place = Place()
        let file = try place.file(interval: 1) { Array("text".utf8) }
        // Nothing can be renamed to a directory.
        let away = place.directory + "/away"
        var told: [String] = []
        for _ in 0..<2 {
            try FileManager.default.createDirectory(atPath: away, withIntermediateDirectories: true)
            let before = failures(file)
            await eventually("a directory takes the place of the file") {
                try? FileManager.default.removeItem(atPath: place.path)
                return (try? FileManager.default.moveItem(atPath: away, toPath: place.path)) != nil
            }
            await eventually("it fails twice") { failures(file) >= before + 2 }
            told.append("\(place.path): Is a directory")
            #expect(place.reports.withLock { $0 } == told)
            try FileManager.default.removeItem(atPath: place.path)
            await eventually("it is written again") { place.text == "text" }
            told.append("\(place.path): written again")
            await eventually("it is told") { place.reports.withLock { $0 } == told }
        }
        let total = failures(file)
        await file.finish()
        #expect(failures(file) == total)
        #expect(place.names == [])
    }

    @Test func aFileThatCannotBeWrittenAtTheStartIsAnError() throws {
        func refusal(_ path: String) -> String? {
            do throws(MetricsError) {
                _ = try MetricsFile(path, interval: 1, report: { _ in }, compose: { Array("x".utf8) })
                return nil
            } catch {
                return error.text
            }
        }
        let missing = missingPath()
        #expect(refusal(missing) == "\(missing): No such file or directory")
        let place = Place()
        try FileManager.default.createDirectory(atPath: place.path, withIntermediateDirectories: true)
        #expect(refusal(place.path) == "\(place.path): Is a directory")
        #expect(place.names == ["tendon.prom"])
    }

    /// proc(5) and clock_gettime(2), as another reader of the same kernel sees them.
    @Test func figuresOfThisProcess() throws {
        let metrics = ProcessFigures.metrics()
        #expect(
            metrics.map { "\($0.name) \($0.kind) \($0.unit ?? "-")" } == [
                "tendon_process_start_time_seconds gauge seconds", "tendon_process_cpu_seconds counter seconds",
                "tendon_process_resident_memory_bytes gauge bytes", "tendon_process_open_fds gauge fds",
            ])
        let values = metrics.map { $0.samples[0].value }
        let age = Date().timeIntervalSince1970 - values[0]
        #expect((0..<3600).contains(age))
        // clock() asks the kernel in another way, which may be a tick behind.
        #expect(values[1] > 0 && values[1] <= Double(clock()) / 1_000_000 + 1)
        #expect((1_000_000...16_000_000_000).contains(values[2]))
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        // Tests run beside this one.
        #expect(values[3] >= 3 && abs(values[3] - Double(open)) < 500)
    }
}
