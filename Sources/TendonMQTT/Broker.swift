// SPDX-License-Identifier: MIT
// The broker as the worker sees it. `Client` is the one of libmosquitto; what happens there goes to the mailbox.

protocol Broker: AnyObject {
    func subscribe(_ topics: [String])

    /// libmosquitto's number of the message; nil: it was not taken.
    func publish(_ topic: String, _ payload: [UInt8], quality: Int32, isRetained: Bool) -> Int32?

    /// Publishes a last message and disconnects.
    func stop(_ topic: String, _ payload: [UInt8])
}
