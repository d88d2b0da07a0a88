// SPDX-License-Identifier: MIT
// The broker as the worker sees it. `Client` is the one of libmosquitto; what happens there goes to the mailbox.

/// What becomes of a message that is handed over.
enum PublishResult: Equatable {
    /// With libmosquitto's number.
    case taken(Int32)
    /// Not now: there is no connection, or no memory.
    case later
    /// Never: why.
    case refused(String)
}

protocol Broker: AnyObject {
    func subscribe(_ topics: [String])

    func publish(_ topic: String, _ payload: [UInt8], quality: Int32, isRetained: Bool) -> PublishResult

    /// Publishes a last message and disconnects.
    func stop(_ topic: String, _ payload: [UInt8])
}
