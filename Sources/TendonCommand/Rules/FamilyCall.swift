// SPDX-License-Identifier: MIT
// Actions of families. Their names, words and mistakes are those of the C core, so that rules, MQTT, the page and
// the gateway in C take the same.
import CTendon
import Tendon
import TendonSupport

/// An action of one of the five families, whose words were checked. What its numbers mean: `tendon_act`.
struct FamilyCall: DeviceCall {
    let kind: tendon_act_kind
    let number: Int
    let detail: Int

    init(_ family: String, _ name: String, _ words: [String]) throws(CommandError) {
        let act = try tendon_act(family, nil, [name] + words)
        (kind, number, detail) = (act.kind, Int(act.number), Int(act.detail))
    }

    func act() -> tendon_act {
        var act = tendon_act()
        (act.kind, act.number, act.detail) = (kind, Int32(number), UInt32(detail))
        return act
    }
}

extension tendon_act {
    /// - Parameters:
    ///   - definition: the device file that the family is of, if it is.
    ///   - words: the name, then the arguments.
    init(_ family: String, _ definition: UnsafePointer<tendon_definition>?, _ words: [String]) throws(CommandError) {
        self.init()
        let texts = words.map { CBytes(Array($0.utf8)) }
        let parts = texts.map { part in tendon_act_word(text: part.lendText { $0 }, length: part.count) }
        var mistake = tendon_act_mistake()
        let status = withExtendedLifetime(texts) {
            tendon_act_parse(family, definition, parts, parts.count, &self, &mistake)
        }
        guard status >= 0 else { throw .usage(text(of: mistake.text)) }
    }
}

extension RuleAction {
    /// The table of a family.
    static func all(of family: String) -> [RuleAction] {
        var actions: [RuleAction] = []
        var index = 0
        while let row = tendon_act_at(index)?.pointee {
            index += 1
            guard text(row.family) == family else { continue }
            let name = text(row.name)
            actions.append(
                RuleAction(name: name, arguments: text(row.arguments)) { (words) throws(CommandError) in
                    try FamilyCall(family, name, words)
                })
        }
        return actions
    }
}
