// SPDX-License-Identifier: MIT
// What a broker keeps of devices that are renamed or forgotten, while it is there and while it is away.
import TendonOutputs
import TendonSupport
import Testing

@testable import TendonMQTT

private let grip = TestGateway.grip
private let address = "tendon/C0:00:00:00:08:01"
private let discovery = "homeassistant/device/tendon_c00000000801_random/config"
private let online = #"{"state":"online"}"#

/// A broker over several runs of a gateway.
private final class Retained {
    private(set) var messages: [String: String] = [:]

    /// Takes what the gateway has published, as a broker does: an empty message removes the one before.
    func take(_ gateway: TestGateway) {
        repeat {
            for message in gateway.published() where message.isRetained {
                messages[message.topic] = message.text.isEmpty ? nil : message.text
            }
            gateway.round()
        } while !gateway.broker.messages.isEmpty
    }

    /// Of devices; `bridge` is of the gateway.
    var topics: [String] { messages.keys.filter { !$0.hasPrefix("tendon/bridge") }.sorted() }
}

@Suite struct RetainedTests {
    private let broker = Retained()
    private var named: OutputDevice {
        OutputDevice(
            family: "fjorden", address: grip.address, addressType: grip.addressType, name: "left", isNamed: true)
    }

    /// Connected, with a state.
    private func site(queue: TestGateway? = nil) throws -> TestGateway {
        let gateway = try TestGateway(queue: queue)
        gateway.broker.acknowledges = true
        gateway.round(.connected(window: nil))
        gateway.round(.presence(grip, .connected))
        gateway.line("battery", #","battery_percent":70"#)
        gateway.round()
        broker.take(gateway)
        #expect(broker.topics == [discovery, address, address + "/availability"])
        return gateway
    }

    private func rename(_ gateway: TestGateway, to name: String, from: String = "C0:00:00:00:08:01") {
        gateway.received("tendon/bridge/gw/request/rename", #"{"from":"\#(from)","to":"\#(name)"}"#)
    }

    private func away(_ gateway: TestGateway) { gateway.round(.disconnected("away", isRefused: false)) }
    private func back(_ gateway: TestGateway) {
        gateway.round(.connected(window: nil))
        broker.take(gateway)
    }

    /// The process is killed; the next one reaches the broker.
    private func killed(_ gateway: TestGateway) throws -> TestGateway {
        gateway.worker.delivery.close()
        let next = try TestGateway(queue: gateway)
        next.broker.acknowledges = true
        back(next)
        return next
    }

    @Test(arguments: [false, true])
    func aConnectedDeviceStaysAvailableUnderItsNewName(byConfiguration: Bool) throws {
        let gateway = try site()
        if byConfiguration { gateway.round(.presence(named, .renamed)) } else { rename(gateway, to: "left") }
        broker.take(gateway)
        #expect(broker.topics == [discovery, "tendon/left", "tendon/left/availability"])
        #expect(broker.messages["tendon/left/availability"] == online)
        #expect(broker.messages[discovery]?.contains("tendon/left/availability") == true)
        gateway.round(.presence(named, .disconnected))
        broker.take(gateway)
        #expect(broker.messages["tendon/left/availability"] == #"{"state":"offline"}"#)
    }

    /// A name alone is no reason to know a device.
    @Test func aNameOfADeviceThatWasNeverConnected() throws {
        let gateway = try TestGateway()
        gateway.connect()
        gateway.round(.presence(named, .renamed))
        #expect(gateway.published().isEmpty && gateway.worker.devices.isEmpty)
    }

    @Test(arguments: [false, true])
    func aNewNameWhileTheBrokerIsAway(isKilled: Bool) throws {
        var gateway = try site()
        away(gateway)
        gateway.round(.presence(named, .renamed))
        #expect(broker.topics.contains(address + "/availability"))
        if isKilled { gateway = try killed(gateway) } else { back(gateway) }
        #expect(broker.topics == [discovery, "tendon/left", "tendon/left/availability"])
        #expect(broker.messages["tendon/left/availability"] == (isKilled ? #"{"state":"offline"}"# : online))
    }

    /// What was removed under a name that is used again is not removed once more.
    @Test func aNameThatComesBackWhileTheBrokerIsAway() throws {
        let gateway = try site()
        away(gateway)
        gateway.round(.presence(named, .renamed))
        rename(gateway, to: "C0:00:00:00:08:01", from: "left")
        gateway.round(.presence(grip, .renamed))
        rename(gateway, to: "C0:00:00:00:08:01", from: "left")
        back(gateway)
        #expect(broker.topics == [discovery, address, address + "/availability"])
        #expect(broker.messages[address + "/availability"] == online)
    }

    @Test func aForgottenDeviceLeavesNothing() throws {
        let gateway = try site()
        gateway.round(.presence(grip, .disconnected))
        gateway.round(.presence(grip, .forgotten))
        broker.take(gateway)
        #expect(broker.topics == [])
        #expect(broker.messages["tendon/bridge/gw/devices"] == "[]")
        #expect(gateway.worker.delivery.notes() == [:])
        gateway.round(.presence(grip, .forgotten))
        #expect(gateway.published() == [])
    }

    @Test(arguments: [false, true])
    func aDeviceThatIsForgottenWhileTheBrokerIsAway(isKilled: Bool) throws {
        var gateway = try site()
        away(gateway)
        gateway.round(.presence(grip, .forgotten))
        #expect(!broker.topics.isEmpty)
        if isKilled { gateway = try killed(gateway) } else { back(gateway) }
        #expect(broker.topics == [])
        #expect(broker.messages["tendon/bridge/gw/devices"] == "[]")
    }

    /// A program that a rule started ends later; a connection that ends is said by several.
    @Test func whatIsStillSaidOfAForgottenDevice() throws {
        let gateway = try site()
        gateway.round(.presence(grip, .forgotten))
        broker.take(gateway)
        gateway.line("executed")
        gateway.line("connection_parameters")
        gateway.line("sample", #","sensor":"force","force_n":1"#)
        gateway.round(.presence(grip, .disconnected), .presence(grip, .renamed))
        broker.take(gateway)
        #expect(broker.topics == [])
        #expect(gateway.worker.devices.isEmpty && gateway.worker.delivery.notes() == [:])
        // Its next connection is a new beginning.
        gateway.line("connected")
        gateway.round(.presence(grip, .connected))
        broker.take(gateway)
        #expect(broker.messages[address + "/availability"] == online)
        gateway.line("press")
        gateway.round()
        #expect(gateway.published().map(\.topic) == [address + "/event"])
    }

    /// Its discovery is larger than what the broker takes: everything else goes on.
    @Test func aMessageThatTheBrokerCannotTake() throws {
        let gateway = try TestGateway()
        gateway.broker.limit = 400
        gateway.broker.acknowledges = true
        gateway.round(.connected(window: nil))
        gateway.round(.presence(grip, .connected))
        gateway.line("press")
        gateway.round()
        broker.take(gateway)
        #expect(broker.messages[discovery] == nil && broker.messages[address + "/availability"] == online)
        #expect(gateway.worker.delivery.refused == 2 && gateway.worker.delivery.isIdle)
    }
}
