// SPDX-License-Identifier: MIT
// A liblsl that keeps what it was given, and fails where it is told to.
import Synchronization
import TendonOutputs
import TendonSupport

@testable import TendonLSL

final class FakeLibrary: Sendable {
    struct Info: Equatable {
        var name = "", type = "", source = ""
        var channels: Int32 = 0, format: Int32 = 0
        var rate = 0.0
        /// Elements below `desc`: "channels", "channels/channel", "channels/channel/label=x".
        var elements: [String] = []
    }

    struct Pushed: Equatable {
        var outlet: String
        var numbers: [Double] = []
        var text = ""
        var time = 0.0
    }

    private struct State {
        var next = 1
        /// By the number of a pointer. An element is its description and its path.
        var infos: [Int: Info] = [:]
        var elements: [Int: (info: Int, path: String)] = [:]
        var outlets: [Int: Info] = [:]
        var made: [Info] = []
        var ended: [String] = []
        var pushed: [Pushed] = []
        var received: Set<String> = []
        var failing: Set<String> = []

        /// The number of another pointer.
        mutating func number() -> Int {
            next += 1
            return next
        }
    }

    private let state = Mutex(State())

    /// Descriptions of the streams that were opened, in their order.
    var made: [Info] { state.withLock { $0.made } }
    /// Names of the streams that have ended.
    var ended: [String] { state.withLock { $0.ended } }
    var open: [String] { state.withLock { $0.outlets.values.map(\.name).sorted() } }
    /// Descriptions that are not destroyed.
    var left: Int { state.withLock { $0.infos.count } }
    func takePushed() -> [Pushed] {
        state.withLock { state in
            defer { state.pushed = [] }
            return state.pushed
        }
    }
    /// Somebody receives the streams of these names.
    func receive(_ names: Set<String>) { state.withLock { $0.received = names } }
    /// These functions fail.
    func fail(_ functions: Set<String>) { state.withLock { $0.failing = functions } }

    private func number(_ pointer: OpaquePointer) -> Int { Int(bitPattern: pointer) }

    /// A pointer with the number that `body` returns; nil: the function fails.
    private func made(by function: String, _ body: (inout State) -> Int?) -> OpaquePointer? {
        let number = state.withLock { state in state.failing.contains(function) ? nil : body(&state) }
        return number.flatMap { OpaquePointer(bitPattern: $0) }
    }

    private func append(_ element: OpaquePointer, _ text: String, _ function: String) -> OpaquePointer? {
        let element = number(element)
        return made(by: function) { state in
            guard let parent = state.elements[element] else { return nil }
            let path = parent.path.isEmpty ? text : parent.path + "/" + text
            state.infos[parent.info]?.elements.append(path)
            let number = state.number()
            state.elements[number] = (parent.info, path)
            return number
        }
    }

    private func push(_ outlet: OpaquePointer, _ function: String, _ pushed: Pushed) -> Int32 {
        let outlet = number(outlet)
        return state.withLock { state in
            guard !state.failing.contains(function) else { return -4 }
            var pushed = pushed
            pushed.outlet = state.outlets[outlet]?.name ?? "none"
            state.pushed.append(pushed)
            return 0
        }
    }

    private func channels(of outlet: OpaquePointer) -> Int {
        let outlet = number(outlet)
        return state.withLock { Int($0.outlets[outlet]?.channels ?? 0) }
    }

    private func createInfo(_ info: Info) -> OpaquePointer? {
        made(by: "createInfo") { state in
            let number = state.number()
            state.infos[number] = info
            return number
        }
    }

    private func description(of info: OpaquePointer) -> OpaquePointer? {
        let info = number(info)
        return made(by: "description") { state in
            let number = state.number()
            state.elements[number] = (info, "")
            return number
        }
    }

    private func createOutlet(_ info: OpaquePointer) -> OpaquePointer? {
        let info = number(info)
        return made(by: "createOutlet") { state in
            guard let info = state.infos[info] else { return nil }
            let number = state.number()
            state.outlets[number] = info
            state.made.append(info)
            return number
        }
    }

    private func destroyInfo(_ info: OpaquePointer) {
        let info = number(info)
        state.withLock { $0.infos[info] = nil }
    }

    private func destroyOutlet(_ outlet: OpaquePointer) {
        let outlet = number(outlet)
        state.withLock { state in
            state.ended.append(state.outlets.removeValue(forKey: outlet)?.name ?? "none")
        }
    }

    private func hasReceivers(_ outlet: OpaquePointer) -> Bool {
        let outlet = number(outlet)
        return state.withLock { $0.received.contains($0.outlets[outlet]?.name ?? "none") }
    }

    var functions: LSLLibrary {
        LSLLibrary(
            createInfo: { [self] in
                createInfo(Info(name: $0, type: $1, source: $5, channels: $2, format: $4, rate: $3))
            },
            destroyInfo: { [self] in destroyInfo($0) },
            description: { [self] in description(of: $0) },
            append: { [self] in append($0, $1, "append") },
            appendValue: { [self] in append($0, $1 + "=" + $2, "appendValue") },
            createOutlet: { [self] in createOutlet($0) },
            destroyOutlet: { [self] in destroyOutlet($0) },
            hasReceivers: { [self] in hasReceivers($0) },
            pushNumbers: { [self] outlet, numbers, time in
                let numbers = Array(UnsafeBufferPointer(start: numbers, count: channels(of: outlet)))
                return push(outlet, "pushNumbers", Pushed(outlet: "", numbers: numbers, time: time))
            },
            pushText: { [self] in push($0, "pushText", Pushed(outlet: "", text: $1, time: $2)) },
            lastError: { "out of order" },
            clock: { LSLLibrary.now },
            protocolVersion: { 110 })
    }
}
