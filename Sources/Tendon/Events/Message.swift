// SPDX-License-Identifier: MIT
import Synchronization

/// A message of the library for those who run the program.
///
/// ```swift
/// Tendon.onMessage = { message in print(message.source, message.text) }
/// ```
public struct Message: Sendable, Hashable {
    /// The module's part that it comes from: "bose", "feelspace".
    public let source: String
    /// One line, safe for logs and terminals.
    public let text: String

    package init(_ source: String, _ text: String) {
        self.source = source
        self.text = text
    }
}

private let receiver = Mutex<@Sendable (Message) -> Void>({ say("tendon: \($0.source): \($0.text)") })

/// Receives the messages of the library, on the thread where they arise: set it before the first use of the library. By
/// default they are written to standard error, a line each. There are none until a program enables them:
/// `BoseWearable.enableCommonLogging()`, `FSConnectionManager.logBleEvents`.
public var onMessage: @Sendable (Message) -> Void {
    get { receiver.withLock { $0 } }
    set { receiver.withLock { $0 = newValue } }
}

extension Message {
    package func send() { onMessage(self) }
}
