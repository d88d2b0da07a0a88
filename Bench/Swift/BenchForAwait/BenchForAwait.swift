// SPDX-License-Identifier: MIT
//
// How long does a notification take from the socket to a Swift `for await`, on the loop's executor and on another one?
// Limits: a bare loop, and the same path to a callback in C. CPU time of the whole process, without what fills the
// socket, because the path may use several threads. Built with the trait MainActorLoop, it measures the consumer on the
// main queue, which drives the loop then. See ../../README.md.
import BenchPeer
import Glibc
import Tendon

/// What is measured, in the order in which each round runs them.
enum Body: String, CaseIterable {
    case bareLoop = "bare_loop"
    case callback = "c_callback"
    #if MainActorLoop
        case onLoop = "for_await_on_main_queue"
        case elsewhere = "for_await_off_main_queue"
    #else
        case onLoop = "for_await_on_loop"
        case elsewhere = "for_await_elsewhere"
    #endif
}

/// One link and its notifications.
struct Stream: Sendable {
    let values: EventSequence<AttributeValue>
    let link: Int32
}

/// Returns the heap calls meanwhile: counted here, because getting here takes a hop.
@TendonActor
func consumeOnLoop(_ stream: Stream, count: Int, fill: Int) async throws -> UInt64 {
    let heap = bench_heap_calls()
    var target = min(fill, count)
    var received = 0
    bench_peer_fill(stream.link, target)
    for try await value in stream.values {
        precondition(value.count == 11)
        received += 1
        guard received == target else { continue }
        if received == count { break }
        let more = min(fill, count - received)
        target += more
        bench_peer_fill(stream.link, more)
    }
    return bench_heap_calls() - heap
}

/// Fills on the loop's thread, so that the loop finds all of it at once: batches of 32, as they come when the consumer
/// is behind. A single packet is sent from here.
@concurrent func consumeElsewhere(_ stream: Stream, count: Int, fill: Int) async throws -> UInt64 {
    @Sendable func refill(_ more: Int) async {
        if more == 1 {
            bench_peer_fill(stream.link, 1)
        } else {
            await Loop.shared.run { bench_peer_fill(stream.link, more) }
        }
    }
    let heap = bench_heap_calls()
    var target = min(fill, count)
    var received = 0
    await refill(target)
    for try await value in stream.values {
        precondition(value.count == 11)
        received += 1
        guard received == target else { continue }
        if received == count { break }
        let more = min(fill, count - received)
        target += more
        await refill(more)
    }
    return bench_heap_calls() - heap
}

struct Measurement {
    var ns: Double
    var heapCalls: UInt64
}

@main
struct BenchForAwait {
    let directory: String
    let stream: Stream
    let central: Central
    let peripheral: Peripheral

    init(directory: String) async throws {
        self.directory = directory
        guard bench_peer_start(directory) else { fatalError("no peer: \(errno)") }
        bench_c_callback(directory, 1, 1)
        central = try await Central(radio: .virtual(directory: directory))
        peripheral = try await central.connect(Address(0xC000_0000_0001, type: .random))
        let service = try await peripheral.discoverServices()[0]
        let characteristic = try await peripheral.discoverCharacteristics(of: service)[0]
        let values = try await peripheral.notifications(of: characteristic, capacity: 512)
        stream = Stream(values: values, link: bench_peer_link(1))
    }

    /// Returns the heap calls.
    func run(_ body: Body, count: Int, fill: Int) async throws -> UInt64 {
        let heap = bench_heap_calls()
        switch body {
        case .bareLoop: bench_bare_loop(count, fill)
        case .callback: directory.withCString { bench_c_callback($0, count, fill) }
        case .onLoop: return try await consumeOnLoop(stream, count: count, fill: fill)
        case .elsewhere: return try await consumeElsewhere(stream, count: count, fill: fill)
        }
        return bench_heap_calls() - heap
    }

    func measure(_ body: Body, count: Int, fill: Int) async throws -> Measurement {
        let started = bench_cpu_ns()
        let heap = try await run(body, count: count, fill: fill)
        let ns = Double(bench_cpu_ns() - started) / Double(count)
        return Measurement(ns: ns, heapCalls: heap)
    }

    /// All bodies side by side, one line each.
    func compare(_ question: String, fill: Int, count: Int, rounds: Int) async throws {
        var all: [Body: [Measurement]] = [:]
        for round in 0...rounds {
            for body in Body.allCases {
                let result = try await measure(body, count: count, fill: fill)
                if round > 0 { all[body, default: []].append(result) }  // the first warms up
            }
        }
        let bare = all[.bareLoop]!
        let callback = all[.callback]!
        for body in Body.allCases {
            let results = all[body]!
            let ratio = median(zip(results, bare).map { $0.ns / $1.ns })
            let added = median(zip(results, callback).map { $0.ns - $1.ns })
            let heap = results.reduce(0) { $0 + $1.heapCalls }
            print(
                """
                {"bench":"\(question)","name":"\(body.rawValue)","ns":\(short(median(results.map(\.ns)))),\
                "ns_min":\(short(results.map(\.ns).min()!)),"bytes":14,"limit":"bare_loop","ratio":\(short(ratio)),\
                "added_ns":\(short(added)),"rounds":\(rounds),"operations":\(count * rounds),"heap_calls":\(heap)}
                """)
        }
        precondition(stream.values.dropped == 0)
    }

    static func main() async throws {
        var template = Array("/tmp/tendon-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { fatalError("no directory: \(errno)") }
        let directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer {
            unlink(directory + "/dev-C00000000001-01.sock")
            rmdir(directory)
        }
        let bench = try await BenchForAwait(directory: directory)
        let arguments = CommandLine.arguments
        let quick = arguments.contains("--quick")
        if arguments.count >= 4, arguments[1] == "--count-only", let body = Body(rawValue: arguments[3]) {
            // For profilers: COUNT BODY [FILL].
            let fill = arguments.count > 4 ? Int(arguments[4])! : 256
            _ = try await bench.run(body, count: Int(arguments[2])!, fill: fill)
        } else if arguments.count == 3, arguments[1] == "--trace", let body = Body(rawValue: arguments[2]) {
            _ = try await bench.run(body, count: 4096, fill: 256)
            bench_heap_trace(8)
            _ = try await bench.run(body, count: 4096, fill: 256)
            bench_heap_trace(0)
        } else {
            try await bench.compare("for_await", fill: 256, count: quick ? 2048 : 10240, rounds: quick ? 3 : 21)
            try await bench.compare("for_await_one", fill: 1, count: quick ? 512 : 4096, rounds: quick ? 3 : 21)
        }
        await bench.peripheral.disconnect()
        await bench.central.close()
    }
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

/// With one decimal place, two where the number is small.
func short(_ value: Double) -> Double { (value * 100).rounded() / 100 }
