// SPDX-License-Identifier: MIT
import CTendon
import Tendon
import Testing

@testable import TendonCommand

/// The request to end the command.
@Suite struct TerminationTests {
    /// It may come when the loop that it wakes is closed and its owner is released.
    @Test func aLoopIsKeptForAsLongAsItMayBeWoken() {
        let termination = Termination()
        weak var memory: CBlock<tendon_loop>?
        do {
            let loop = CBlock<tendon_loop>()
            memory = loop
            #expect(tendon_loop_init(loop.pointer) >= 0)
            termination.onRequest(wake: loop)
            tendon_loop_close(loop.pointer)
        }
        #expect(memory?.pointer.pointee.wake_fd == -1)
        #expect(termination.request())
    }
}
