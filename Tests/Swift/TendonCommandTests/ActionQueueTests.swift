// SPDX-License-Identifier: MIT
import Tendon
import TendonOutputs
import TendonSupport
import TestSupport
import Testing

@testable import TendonCommand

/// Actions that wait for a device.
@Suite struct ActionQueueTests {
    private struct Nothing: RuleCall {}

    private func calls(_ count: Int) -> [RuleBoard.Call] {
        (0..<count).map { RuleBoard.Call(text: "\($0)", call: Nothing()) }
    }

    /// Sixteen may wait. Of a message all are queued, or none.
    @TendonActor
    @Test func allOrNone() async throws {
        let directory = RadioDirectory()
        let central = try await Central(radio: directory.radio, bonds: .none)
        let arguments = try Arguments([], options: Option.common + Command.runAll.options)
        let (label, reporter, board) = (DeviceLabel("bose", directory.address), Reporter(), RuleBoard([]))
        let device = ServedDevice(
            label: label, central: central, settings: try StreamSettings(arguments), reporter: reporter, rules: board,
            turns: Turns(), row: reporter.add(label))
        #expect(board.order(calls(1), of: label.device) == nil, "it is not connected")
        let place = board.join(device)
        #expect(board.order(calls(14), of: label.device) == true)
        #expect(board.order(calls(3), of: label.device) == false)
        #expect(board.order(calls(2), of: label.device) == true)
        #expect(board.order(calls(1), of: label.device) == false)
        var waiting = place.calls.makeAsyncIterator()
        #expect(await waiting.next()?.text == "0")
        place.took()
        #expect(board.order(calls(1), of: label.device) == true)
        board.leave(place)
        var rest: [String] = []
        while let call = await waiting.next() { rest.append(call.text) }
        #expect(rest == (1..<14).map(String.init) + ["0", "1", "0"])
        central.close()
    }
}

@Suite struct OperandTests {
    @Test(arguments: ["-3.5", "-.5", "-3", "-1e3"])
    func negativeNumbersAreOperands(word: String) throws {
        #expect(try Arguments(["run", word], options: Option.common).operands == ["run", word])
    }

    @Test(arguments: ["-x", "-inf", "-3x", "-nan"])
    func otherWordsAreOptions(word: String) {
        #expect(throws: CommandError.self) { try Arguments(["run", word], options: Option.common) }
    }
}
