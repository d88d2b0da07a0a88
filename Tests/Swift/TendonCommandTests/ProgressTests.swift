// SPDX-License-Identifier: MIT
import Testing

@testable import TendonCommand

/// The bar of a transfer, in simulated time.
@Suite struct ProgressTests {
    private func estimate(_ bytes: Int, of total: Int, after milliseconds: UInt64, from: Int = 0) -> TransferEstimate {
        var estimate = TransferEstimate(start: 1000, from: from)
        estimate.update(bytes, of: total, at: 1000 + milliseconds)
        return estimate
    }

    @Test func rateAndTimeLeft() {
        let half = estimate(5000, of: 10000, after: 2000)
        #expect(half.rate == 2500)
        #expect(half.secondsLeft == 2)
        #expect(estimate(3000, of: 10000, after: 2000).secondsLeft == 5, "4.67 seconds are 5")
        #expect(estimate(10000, of: 10000, after: 2000).secondsLeft == 0)
    }

    /// What was there before a resumed transfer is no part of its rate.
    @Test func aResumedTransfer() {
        let resumed = estimate(6000, of: 10000, after: 1000, from: 5000)
        #expect(resumed.rate == 1000)
        #expect(resumed.secondsLeft == 4)
    }

    @Test func tooEarlyToTell() {
        #expect(estimate(100, of: 10000, after: 199).rate == nil)
        #expect(estimate(100, of: 10000, after: 200).rate == 500)
        #expect(estimate(5000, of: 10000, after: 5000, from: 5000).secondsLeft == nil, "nothing has arrived")
    }

    @Test func theLine() {
        let half = estimate(5000, of: 10000, after: 2000)
        #expect(
            ProgressBar.line("transfer", 50, half, columns: 80)
                == "transfer  [###################                    ]   50 %  2.5 kB/s  0:02 left")
        #expect(
            ProgressBar.line("transfer", 50, half, columns: 50) == "transfer  [####     ]   50 %  2.5 kB/s  0:02 left")
        for columns in 1...120 {
            for percent in [0, 1, 50, 99, 100] {
                #expect(ProgressBar.line("transfer", percent, half, columns: columns).count < max(columns, 1) + 1)
            }
        }
    }

    @Test func numbersForPeople() {
        #expect(ProgressBar.rate(999) == "999 B/s")
        #expect(ProgressBar.rate(1000) == "1.0 kB/s")
        #expect(ProgressBar.rate(2_345_678) == "2.3 MB/s")
        #expect(ProgressBar.time(0) == "0:00")
        #expect(ProgressBar.time(59) == "0:59")
        #expect(ProgressBar.time(61) == "1:01")
        #expect(ProgressBar.time(3723) == "1:02:03")
    }
}
