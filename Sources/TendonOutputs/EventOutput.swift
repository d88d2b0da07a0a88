// SPDX-License-Identifier: MIT
// The seam between what happens and where it goes: JSON lines, MQTT, and what is added later. An output is a module of
// its own that conforms to EventOutput; what comes back from outside goes through a CommandHandler.
import TendonSupport

/// A device as outputs name it.
package struct OutputDevice: Sendable, Hashable {
    package var family: String
    /// "AA:BB:CC:DD:EE:FF".
    package var address: String
    /// "public", "random_identity" ...
    package var addressType: String
    /// The local name; nil: not known yet.
    package var name: String?
    /// The name is the user's, from the configuration.
    package var isNamed: Bool

    package init(family: String, address: String, addressType: String, name: String? = nil, isNamed: Bool = false) {
        self.family = family
        self.address = address
        self.addressType = addressType
        self.name = name
        self.isNamed = isNamed
    }

    /// Address and type: two devices can have the same 48 bits.
    package var key: String { address + "/" + addressType }
}

/// What becomes of a device.
package enum Presence: Sendable {
    /// Connected: its session is open.
    case connected
    /// The connection ended; another one may follow.
    case disconnected
    /// It has another name, and is connected or not as before.
    case renamed
    /// Its bond was removed, or it was excluded: what was published about it goes away. It comes after all events of the
    /// connection.
    case forgotten
}

/// Devices of which outputs keep nothing. What is still said of one, such as that a program has ended which a rule had
/// started, does not bring it back; its next connection does.
package struct ForgottenDevices {
    private var keys: Set<String> = []
    /// Those that are remembered.
    private static let limit = 1024

    package init() {}

    package mutating func insert(_ key: String) {
        if keys.count >= ForgottenDevices.limit { keys.removeFirst() }
        keys.insert(key)
    }

    /// Whether an event of the device is of the time before.
    package mutating func drops(_ event: String, of key: String) -> Bool {
        guard keys.contains(key) else { return false }
        guard event == "connected" else { return true }
        keys.remove(key)
        return false
    }
}

/// Where events go. All functions are called from any thread, and none may block.
package protocol EventOutput: Sendable {
    /// Whether this event is wanted. Cheap: it is asked for every sample.
    func takes(_ event: EventName, of device: OutputDevice?) -> Bool

    /// One event. `compose` writes the line of docs/events.md with its end, and may be called at most once.
    func event(_ event: EventName, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void)

    /// Whether samples are wanted now. False: `takes` need not be asked.
    var takesSamples: Bool { get }

    /// Whether it is given the numbers of samples. It does not change.
    var takesNumbers: Bool { get }

    /// The numbers of one sample, on the thread that received it, before its line is composed: what is sent here leaves in
    /// the same turn.
    func sample(_ sample: OutputSample, of source: any SampleSource)

    /// Whether the line of a sample is wanted, too, of an output that takes none: its numbers are not all of it.
    func takesLine(of sample: OutputSample) -> Bool

    /// Makes the present orientation of a device the one that looks straight ahead; nil: of each device that has one.
    /// Returns these.
    func recenter(_ device: OutputDevice?) -> [OutputDevice]

    func device(_ device: OutputDevice, is presence: Presence)

    /// How many radios are open, and a sentence about each radio that is waited for.
    func radios(open: Int, waiting: [String])

    /// What operators measure of this output.
    var metrics: [Metric] { get }

    /// Nil: this output does not decide about connections.
    var agreement: (any LinkAgreement)? { get }

    /// Before the end: rows that are in no file, when all that waits is written; nil: it writes none.
    func missingRows() async -> UInt64?

    /// The program begins to end: it sends the devices away. From any thread; perhaps more than once.
    func ending()

    /// The end: writes, or stores, what waits. Returns within a few seconds.
    func finish() async

    /// After the end: whether something that it was given is lost, which it has reported.
    var hasLost: Bool { get }
}

extension EventOutput {
    package var agreement: (any LinkAgreement)? { nil }
    package func takes(_ event: EventName, of device: OutputDevice?) -> Bool { true }
    package func device(_ device: OutputDevice, is presence: Presence) {}
    package func radios(open: Int, waiting: [String]) {}
    package var metrics: [Metric] { [] }
    package var takesSamples: Bool { true }
    package var takesNumbers: Bool { false }
    package func sample(_ sample: OutputSample, of source: any SampleSource) {}
    package func takesLine(of sample: OutputSample) -> Bool { false }
    package func recenter(_ device: OutputDevice?) -> [OutputDevice] { [] }
    package func missingRows() async -> UInt64? { nil }
    package func ending() {}
    package func finish() async {}
    package var hasLost: Bool { false }
}

/// Decides with other gateways which device this one may connect to. All functions are called from any thread.
package protocol LinkAgreement: Sendable {
    /// A device advertises.
    func received(_ device: OutputDevice, rssi: Int)

    func mayConnect(to device: OutputDevice) -> Bool
}

/// What came of a command from outside.
package enum CommandResult: Sendable, Equatable {
    case done(JSON)
    case failed(String)
}

/// What a device has before it is connected, and one that never is: anyone in range can cause it. What an output keeps of a
/// device begins with another event.
package let eventsWithoutConnection: Set<String> = [
    "configuration_failed", "connect_failed", "disconnected", "malformed", "missing", "paired", "pairing", "refused",
]

extension CommandHandler {
    package func refusal(ofName name: String) -> String? { nil }

    package func takesArguments(_ action: String, _ family: String) -> Bool { true }
}

/// Carries out what comes from outside through an output. Any other program may be the sender: everything is checked.
package protocol CommandHandler: Sendable {
    /// Actions of a device, one member each: `{"vibrate": 90}`.
    func set(_ actions: JSON, of device: OutputDevice) async -> CommandResult

    /// False: the action is known, and takes none.
    func takesArguments(_ action: String, _ family: String) -> Bool

    /// A request to the gateway itself: "scan", "pair", "forget" ...
    func request(_ name: String, _ data: JSON) async -> CommandResult

    /// Another gateway takes the device.
    func disconnect(_ address: String, _ addressType: String) async

    /// Why no device can have this name; nil: one can.
    func refusal(ofName name: String) -> String?

    /// Runs `work`, which calls the functions above, where they run. From any thread.
    func start(_ work: @escaping @Sendable () async -> Void)
}

extension String {
    /// Whether it can be one level of a topic: what a rule publishes under, and what a device is called there.
    package var isTopicLevel: Bool {
        !isEmpty && utf8.count <= 64
            && unicodeScalars.allSatisfy { scalar in
                // Brokers may end a connection with a control character or a noncharacter in a topic (MQTT 5, 1.5.4).
                scalar.properties.generalCategory != .control && !scalar.properties.isNoncharacterCodePoint
                    && !"/+#".unicodeScalars.contains(scalar)
            }
            && !unicodeScalars.allSatisfy(\.properties.isWhitespace)
    }
}
