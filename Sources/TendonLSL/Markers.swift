// SPDX-License-Identifier: MIT
// Which events are markers, and the words of a marker.
import TendonOutputs
import TendonSupport

/// What happens to devices, by the tables of their families: connections, gestures, buttons.
struct Markers {
    private struct Kind {
        let event: String
        /// The member that says which; nil: there is one only.
        let member: String?
    }
    /// By the family.
    private let kinds: [String: [Kind]]
    private static let ofAll = [Kind(event: "connected", member: nil), Kind(event: "disconnected", member: "reason")]
    /// Further words of a line that tell two happenings of a kind apart.
    private static let details = ["button", "press"]

    init(_ families: [FamilyDescription]) {
        kinds = Dictionary(
            families.map { family in
                (
                    family.family,
                    family.entities.compactMap { entity in
                        guard case .happening(let event, let member, _, _) = entity.kind else { return nil }
                        return Kind(event: event, member: member)
                    }
                )
            }, uniquingKeysWith: { first, _ in first })
    }

    func contains(_ event: EventName, of family: String) -> Bool { kind(event.description, family) != nil }

    private func kind(_ event: String, _ family: String) -> Kind? {
        (Markers.ofAll + (kinds[family] ?? [])).first { $0.event == event }
    }

    /// "gesture double_tap", "button home short", "disconnected connection_lost"; nil: it is none.
    func text(_ event: String, of family: String, _ line: JSON) -> String? {
        guard let kind = kind(event, family) else { return nil }
        var words = [event]
        for member in [kind.member].compactMap({ $0 }) + Markers.details.filter({ $0 != kind.member }) {
            switch line[member] {
            case .string(let word): words.append(word)
            case .integer(let number): words.append(String(number))
            default: break
            }
        }
        return sanitized(words.joined(separator: " "))
    }
}
