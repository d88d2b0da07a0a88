// SPDX-License-Identifier: MIT
//
// How long does a line of output take? Limit: printf of the same line into a buffer. See ../../README.md.
import BenchPeer
import CTendon
import Glibc
import TendonOutputs
import TendonSupport

/// What is measured, in the order in which each round runs them.
enum Body: String, CaseIterable {
    case printf = "printf"
    case writer = "line_writer"
    case compact = "line_writer_compact"
    case output = "line_output"
    case seam = "line_through_seam"
}

/// A sample of the rotation sensor with the device's members, as `tendon run` prints it.
func write(_ number: Int, _ members: [UInt8], to line: inout LineWriter) {
    let turn = Double(number) * 1e-5
    line.begin("sample")
    line.prepared(members)
    var sample = tendon_bose_sample()
    sample.sensor_id = UInt8(TENDON_BOSE_ROTATION.rawValue)
    sample.has_quaternion = true
    sample.quaternion = tendon_quaternion(
        x: 0.9999389611182323 - turn, y: -0.00701947140328385, z: 0.005371421595556258, w: turn)
    sample.has_accuracy = true
    sample.accuracy_rad = 0.010010376609900451
    line.members { tendon_bose_sample_members($0, &sample, UInt64(number), 0, 0, 0) }
    line.end()
}

struct Measurement {
    var ns: Double
    var heapCalls: UInt64
}

struct Bench {
    let members = Array(
        #","family":"bose","address":"C0:7E:00:00:1D:C3","address_type":"random","name":"LE-Bose Frames""#.utf8)
    var writer = LineWriter(capacity: 1 << 16)
    let output: LineOutput
    let outputs: [any EventOutput]
    let device = OutputDevice(
        family: "bose", address: "C0:7E:00:00:1D:C3", addressType: "random", name: "LE-Bose Frames")

    init(output: LineOutput) {
        self.output = output
        outputs = [JSONLines(output, waits: true)]
    }

    mutating func run(_ body: Body, _ count: Int) -> Int {
        var bytes = 0
        switch body {
        case .printf: bytes = members.withUnsafeBufferPointer { bench_printf_lines($0.baseAddress, $0.count, count) }
        case .writer, .compact:
            writer.isCompact = body == .compact
            for number in 0..<count {
                if writer.count > 60_000 {
                    bytes += writer.count
                    writer.removeAll()
                }
                write(number, members, to: &writer)
            }
            bytes += writer.count
            writer.removeAll()
        case .output:
            // As many at a time as a batch of samples has.
            for number in 0..<count {
                output.appendBlocking { write(number, members, to: &$0) }
            }
            _ = output.flush(patience: 1000)
        case .seam:
            for number in 0..<count {
                for one in outputs where one.takes("sample", of: device) {
                    one.event("sample", of: device) { write(number, members, to: &$0) }
                }
            }
            _ = output.flush(patience: 1000)
        }
        return bytes / count
    }

    mutating func measure(_ body: Body, _ count: Int) -> (Measurement, bytes: Int) {
        let heap = bench_heap_calls()
        let started = bench_cpu_ns()
        let bytes = run(body, count)
        let ns = Double(bench_cpu_ns() - started) / Double(count)
        return (Measurement(ns: ns, heapCalls: bench_heap_calls() - heap), bytes)
    }
}

@main
struct BenchLines {
    static func main() {
        let quick = CommandLine.arguments.contains("--quick")
        let (count, rounds) = quick ? (2048, 3) : (10240, 21)
        let null = open("/dev/null", O_WRONLY)
        var bench = Bench(output: LineOutput(descriptor: null))
        var all: [Body: [Measurement]] = [:]
        var bytes = 0
        for round in 0...rounds {
            for body in Body.allCases {
                let (result, size) = bench.measure(body, count)
                if size > 0, body == .writer { bytes = size }
                if round > 0 { all[body, default: []].append(result) }  // the first warms up
            }
        }
        let limit = all[.printf] ?? []
        for body in Body.allCases {
            let results = all[body] ?? []
            let ratio = median(zip(results, limit).map { $0.ns / $1.ns })
            let heap = results.reduce(0) { $0 + $1.heapCalls }
            print(
                """
                {"bench":"line","name":"\(body.rawValue)","ns":\(short(median(results.map(\.ns)))),\
                "ns_min":\(short(results.map(\.ns).min() ?? 0)),"bytes":\(bytes),"limit":"printf","ratio":\(short(ratio)),\
                "rounds":\(rounds),"operations":\(count * rounds),"heap_calls":\(heap)}
                """)
        }
    }
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

/// With one decimal place, two where the number is small.
func short(_ value: Double) -> Double { (value * 100).rounded() / 100 }
