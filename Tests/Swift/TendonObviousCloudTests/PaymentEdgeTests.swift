// SPDX-License-Identifier: MIT
import Testing

@testable import TendonObvious

/// A payment at the ends of its ranges.
@Suite struct PaymentEdgeTests {
    @Test func theSmallestCart() {
        var flow = PaymentFlow()
        #expect(flow.handle(.pay(cart: 1, isValid: true), at: 0) == [.sendPayment])
    }

    /// The time is over at the deadline for what is not decided; a decision counts whenever it arrives.
    @Test(
        arguments: [
            (599_999, .succeeded, [.paySuccess]), (600_000, .succeeded, [.paySuccess]),
            (700_000, .succeeded, [.paySuccess]),
            (599_999, .pending, []), (600_000, .pending, [.payFail("authentication timeout")]),
        ] as [(UInt64, PaymentOutcome, [PaymentFlow.Effect])])
    func anAnswerAtTheVeryEnd(time: UInt64, outcome: PaymentOutcome, effects: [PaymentFlow.Effect]) {
        var flow = PaymentFlow()
        let action = PaymentAction(secret: "s1", url: "https://page")
        _ = flow.handle(.pay(cart: 9, isValid: true), at: 0)
        _ = flow.handle(.payEnded(.success(.actionRequired(action))), at: 0)
        _ = flow.handle(.authenticate(cart: 9, secret: "s1", isApplePay: false), at: 0)
        #expect(flow.handle(.time, at: 3000) == [.poll(cart: 9, secret: "s1")])
        #expect(flow.handle(.pollEnded(cart: 9, secret: "s1", .success(outcome)), at: time) == effects)
    }
}
