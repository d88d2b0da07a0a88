// SPDX-License-Identifier: MIT
//
// How many heap calls does an element of a vendor module's sequence cost, on the loop's executor? Exactly counted, after
// warm-up, against a simulated device of this process on a loop of its own, which streams as fast as the connection
// takes it. See ../../README.md.
import BenchPeer
import Glibc
import Tendon

/// One sequence of one module.
struct VendorSequence: Sendable {
    let name: String
    /// Elements to pass before counting, and to count.
    static let warmUp = 2000
    /// Connects to a device on this radio; returns the heap calls, and the CPU time in nanoseconds, for `count` elements.
    let run: @Sendable (_ radio: RadioChoice, _ count: Int) async throws -> (heap: UInt64, ns: UInt64)
}

/// Takes the warm-up, then counts. `--trace` prints the stacks of the first heap calls.
@TendonActor
func consume<Sequence: AsyncSequence>(
    _ sequence: Sequence, count: Int
) async throws(Sequence.Failure) -> (heap: UInt64, ns: UInt64) {
    var iterator = sequence.makeAsyncIterator()
    for _ in 0..<VendorSequence.warmUp { _ = try await iterator.next(isolation: TendonActor.shared) }
    if CommandLine.arguments.contains("--trace") { bench_heap_trace(6) }
    let (heap, started) = (bench_heap_calls(), bench_cpu_ns())
    for _ in 0..<count {
        guard try await iterator.next(isolation: TendonActor.shared) != nil else { fatalError("the device is gone") }
    }
    return (bench_heap_calls() - heap, bench_cpu_ns() - started)
}

@main
struct BenchVendors {
    static let sequences: [VendorSequence] =
        activ5Sequences + boseSequences + feelSpaceSequences + fjordenSequences

    static func main() async throws {
        let quick = CommandLine.arguments.contains("--quick")
        let count = quick ? 5000 : 50000
        // `--only NAME`: for profilers.
        let only = CommandLine.arguments.firstIndex(of: "--only").map { CommandLine.arguments[$0 + 1] }
        for sequence in sequences where only == nil || sequence.name == only {
            var template = Array("/tmp/tendon-bench-XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { fatalError("no directory: \(errno)") }
            let directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            defer { rmdir(directory) }
            let (heap, ns) = try await sequence.run(.virtual(directory: directory), count)
            let each = (Double(ns) / Double(count) * 10).rounded() / 10
            print(
                """
                {"bench":"vendor_sequences","name":"\(sequence.name)","ns":\(each),"operations":\(count),\
                "heap_calls":\(heap)}
                """)
        }
    }
}
