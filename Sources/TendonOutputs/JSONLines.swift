// SPDX-License-Identifier: MIT
// JSON lines on a descriptor: the output of docs/events.md.
import TendonSupport

package struct JSONLines: EventOutput {
    private let output: LineOutput
    /// Lines wait for the reader instead of being dropped. Not for what runs on the loop.
    private let waits: Bool

    package init(_ output: LineOutput, waits: Bool = false) {
        self.output = output
        self.waits = waits
    }

    /// A line that finds the buffer full is dropped and counted, unless lines wait.
    package func event(_ event: StaticString, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {
        if waits {
            output.appendBlocking(compose)
        } else {
            output.append(isLast: event.isEqual(to: "summary"), compose)
        }
    }

    package func ready() async { await output.ready() }
}
