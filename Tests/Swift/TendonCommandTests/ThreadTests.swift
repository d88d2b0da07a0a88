// SPDX-License-Identifier: MIT
import Tendon
import TestSupport
import Testing

@testable import TendonCommand

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// What the command does when the system has no more threads.
@Suite(.timeLimit(.minutes(1))) struct ThreadTests {
    /// Signals end the program as they would by themselves: a handler without a reader would swallow them.
    @Test func signalsWithoutAThread() {
        var before = sigaction()
        #expect(sigaction(SIGTERM, nil, &before) == 0)
        let closed = calls(of: "close") {
            let starts = failing("pthread_create", with: EAGAIN) { Termination.watchSignals() }.calls
            #expect(starts == 1)
        }
        #expect(closed == 2, "both ends of the pipe")
        var after = sigaction()
        #expect(sigaction(SIGTERM, nil, &after) == 0)
        func bytes(_ action: sigaction) -> [UInt8] { withUnsafeBytes(of: action) { Array($0.prefix(8)) } }
        #expect(bytes(before) == bytes(after), "the handler")
    }

    /// Nobody can answer: the pairing is rejected, and does not wait for ever.
    @Test func aQuestionWithoutAThread() async throws {
        let device = try #require(Address("C0:00:00:00:00:01/random"))
        for question in [PairingAgent.Question.enter, .compare(try #require(Passkey("123456")))] {
            failNextCall(of: "pthread_create", with: EAGAIN)
            let answer = await PairingQuestions.answer(device, question)
            guard case .reject = answer else {
                Issue.record("\(answer)")
                continue
            }
        }
    }
}
