// SPDX-License-Identifier: MIT
import Testing
import TendonOutputs

/// Where an output with a thread of its own is awaited.
@Suite(.timeLimit(.minutes(1))) struct OutputEndTests {
    @Test func whoWaitsBeforeTheEndGoesOn() async {
        let end = OutputEnd()
        async let first: Void = end.wait()
        async let second: Void = end.wait()
        await Task.yield()
        end.reach()
        await first
        await second
    }

    @Test func afterTheEndNobodyWaits() async {
        let end = OutputEnd()
        end.reach()
        await end.wait()
        end.reach()
        await end.wait()
    }
}
