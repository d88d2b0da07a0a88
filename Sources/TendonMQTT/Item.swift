// SPDX-License-Identifier: MIT
// What waits for the worker's thread: lines of events, and what libmosquitto and the command report.
import TendonOutputs
import TendonSupport

typealias Mailbox = TendonOutputs.Mailbox<Item>

enum Item {
    case line(LineItem)
    case presence(OutputDevice, Presence)
    case radios(open: Int, waiting: [String])
    /// The broker has accepted the connection; how many messages it takes unacknowledged, if it says that.
    case connected(window: Int?)
    /// The connection, or the attempt, ended; why, and whether a retry may soon help.
    case disconnected(String, isRefused: Bool)
    /// The broker has a message, by libmosquitto's number, or refuses it with a code of MQTT 5.
    case acknowledged(Int32, refusal: Int32?)
    /// The broker will send nothing of these topics, for a reason.
    case subscriptionRefused(String, String)
    case received(topic: String, payload: [UInt8], isRetained: Bool)
    /// A device advertises.
    case signal(OutputDevice, Int)
    /// A command has come to this, by its number.
    case answered(Int, CommandResult)
    case finish
}

/// Who waits for what comes of a command.
struct Answer: Sendable {
    enum Receiver: Sendable {
        case request(String)
        /// The device's key.
        case set(String)
    }

    var receiver: Receiver
    var transaction: JSON?
}
