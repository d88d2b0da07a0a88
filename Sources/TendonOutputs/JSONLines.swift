// SPDX-License-Identifier: MIT
// JSON lines on a descriptor: the output of docs/events.md.
import TendonSupport

package struct JSONLines: EventOutput {
    private let output: LineOutput
    /// Lines wait for the reader instead of being dropped. Not for what runs on the loop.
    private let waits: Bool
    /// Samples find room while fewer lines wait.
    private let sampleLimit: Int

    package init(_ output: LineOutput, waits: Bool = false, sampleLimit: Int = .max) {
        (self.output, self.waits, self.sampleLimit) = (output, waits, sampleLimit)
    }

    /// A line that finds the buffer full is dropped and counted, unless lines wait.
    package func event(_ event: EventName, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {
        if waits {
            output.appendBlocking(compose)
        } else {
            output.append(isLast: event.isEqual(to: "summary"), compose)
        }
    }

    /// A sample. False: it was dropped, and the caller counts that.
    package func sample(_ compose: (inout LineWriter) -> Void) -> Bool {
        output.append(atMost: sampleLimit, compose)
    }
}
