// SPDX-License-Identifier: MIT
import CTendon
import TestSupport
import Testing

@testable import Tendon

/// Memory that the C core borrows is freed with its owner.
@Suite struct MemoryTests {
    /// Those of the count itself, which has a text, are not counted.
    private func frees(in body: () -> Void) -> Int { calls(of: "free", body) - calls(of: "free") {} }

    private func frees(_ make: () -> AnyObject) -> Int {
        var object: AnyObject? = make()
        withExtendedLifetime(object) {}
        return frees(in: { object = nil })
    }

    @Test func theOwnerAndItsMemoryAreFreed() {
        #expect(frees { CBlock<tendon_uuid>() } == 2)
        #expect(frees { CTable<tendon_uuid>(capacity: 3) } == 2)
        #expect(frees { CBytes([1, 2, 3]) } == 2)
        #expect(frees { CText("text") } == 2)
    }

    @Test func aRingIsFreed() {
        func use() {
            var ring = Ring<Int>(capacity: 4)
            _ = ring.push(1, .dropNewest)
        }
        use()  // the first one makes its type's metadata
        #expect(frees(in: use) == 1)
    }
}
