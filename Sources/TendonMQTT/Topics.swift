// SPDX-License-Identifier: MIT
// The topics, in the manner of zigbee2mqtt. docs/mqtt.md lists them.
import TendonOutputs

struct Topics: Sendable {
    let base: String
    let gateway: String

    var bridge: String { "\(base)/bridge/\(gateway)" }
    var bridgeState: String { "\(bridge)/state" }
    var information: String { "\(bridge)/info" }
    var devices: String { "\(bridge)/devices" }
    func response(_ request: String) -> String { "\(bridge)/response/\(request)" }

    func rule(_ name: String) -> String { "\(base)/rule/\(name)" }

    func state(_ name: String) -> String { "\(base)/\(name)" }
    func availability(_ name: String) -> String { "\(base)/\(name)/availability" }
    func event(_ name: String) -> String { "\(base)/\(name)/event" }
    func stream(_ name: String, _ sensor: String) -> String { "\(base)/\(name)/stream/\(sensor)" }

    /// `key`: address and type, with a slash.
    func claim(_ gateway: String, _ key: String) -> String { "\(base)/bridge/\(gateway)/claim/\(key)" }
    /// For gateways that share devices.
    var neighbors: [String] { ["\(base)/bridge/+/state", "\(base)/bridge/+/claim/+/+"] }

    enum Neighbor: Equatable {
        case state(String)
        case claim(String, key: String)
    }

    /// What a topic of `neighbors` means.
    func neighbor(_ topic: String) -> Neighbor? {
        guard topic.hasPrefix(base + "/bridge/") else { return nil }
        let levels = topic.dropFirst(base.count + 8).split(separator: "/", omittingEmptySubsequences: false)
        guard let gateway = levels.first.map(String.init), Topics.isLevel(gateway) else { return nil }
        if levels.count == 2, levels[1] == "state" { return .state(gateway) }
        guard levels.count == 4, levels[1] == "claim", Topics.isLevel(String(levels[2])),
            Topics.isLevel(String(levels[3]))
        else { return nil }
        return .claim(gateway, key: "\(levels[2])/\(levels[3])")
    }

    /// What the gateway subscribes to.
    var subscriptions: [String] { ["\(base)/+/set", "\(base)/+/get", "\(bridge)/request/+"] }

    enum Incoming: Equatable {
        case set(String)
        case get(String)
        case request(String)
    }

    /// What a topic of `subscriptions` means; nil: nothing of ours.
    func incoming(_ topic: String) -> Incoming? {
        let request = bridge + "/request/"
        if topic.hasPrefix(request) {
            let name = String(topic.dropFirst(request.count))
            return Topics.isLevel(name) ? .request(name) : nil
        }
        guard topic.hasPrefix(base + "/") else { return nil }
        let levels = topic.dropFirst(base.count + 1).split(separator: "/", omittingEmptySubsequences: false)
        guard levels.count == 2, Topics.isName(String(levels[0])) else { return nil }
        switch levels[1] {
        case "set": return .set(String(levels[0]))
        case "get": return .get(String(levels[0]))
        default: return nil
        }
    }

    /// One level of a topic.
    static func isLevel(_ text: String) -> Bool { text.isTopicLevel }

    /// A name that a device may have.
    static func isName(_ text: String) -> Bool {
        isLevel(text) && !["bridge", "rule"].contains(text) && !text.hasPrefix("$")
    }
}
