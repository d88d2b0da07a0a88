// SPDX-License-Identifier: MIT
//
// What a simulated device needs around it; the device itself is in the tests of its module.
import CTendon
import Glibc
import Synchronization
import Testing

@testable import Tendon

/// A directory for a virtual radio of its own; removed with the object.
public final class RadioDirectory: Sendable {
    private static let next = Atomic<UInt32>(0)
    private let number: UInt32
    public let path: String
    public var radio: RadioChoice { .virtual(directory: path) }
    /// For a device there; no two directories have the same.
    public var address: Address { Address(0xD000_0000_0000 | UInt64(number), type: .random) }

    public init() {
        number = Self.next.wrappingAdd(1, ordering: .relaxed).newValue
        path = "/tmp/tendon-test-\(getpid())-\(number)"
    }

    deinit { rmdir(path) }
}

/// A path that leads nowhere, whoever runs the test: its directory was made under a new name, and removed.
public func missingPath() -> String {
    var name = Array("/tmp/tendon-missing-XXXXXX".utf8CString)
    precondition(mkdtemp(&name) != nil && rmdir(name) == 0)
    return String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self) + "/file"
}

/// A port of this machine on which nobody listens, and which nobody else gets as long as this process lives; a server with
/// SO_REUSEADDR may listen on it.
public func heldPort() -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var on: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            precondition(bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0)
        }
    }
    return UInt16(bigEndian: address.sin_port)
}

/// A loop whose thread stands still until `release()`: a device that does not respond.
public final class Halt: Sendable {
    private let reader: Int32
    private let writer: Int32
    private let central: Peripheral?

    /// Returns when the loop stands still.
    public init(_ loop: Loop) async {
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0)
        (reader, writer) = (ends[0], ends[1])
        central = nil
        let (reader, isStill) = (reader, Flag())
        loop.post {
            isStill.set()
            var byte: UInt8 = 0
            _ = Glibc.read(reader, &byte, 1)
        }
        await eventually("the loop stands still") { isStill.isSet }
    }

    /// Of this connection nothing is read any more: what a device sees of a central that is silent.
    public init(_ central: Peripheral) async {
        (reader, writer) = (-1, -1)
        self.central = central
        await Self.reads(central, false)
    }

    /// May be called more than once.
    public func release() {
        if let central {
            Task { await Self.reads(central, true) }
            return
        }
        var byte: UInt8 = 1
        _ = write(writer, &byte, 1)
    }

    @TendonActor
    private static func reads(_ central: Peripheral, _ isReading: Bool) {
        let core = central.core
        guard core.state == .connected else { return }
        let source = core.block.member(\.link.source)
        _ = tendon_loop_update(core.loop.core.block.pointer, source, isReading ? UInt32(TENDON_READABLE) : 0)
    }

    deinit {
        guard central == nil else { return }
        close(writer)
        close(reader)
    }
}

/// What a test can bring to a halt.
public protocol Haltable: Sendable {
    func halted() async -> Halt
}

extension Loop: Haltable {
    public func halted() async -> Halt { await Halt(self) }
}

extension Peripheral: Haltable {
    public nonisolated func halted() async -> Halt { await Halt(self) }
}
