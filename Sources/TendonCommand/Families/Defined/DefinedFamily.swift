// SPDX-License-Identifier: MIT
// A family that a file defines: its row, what rules and outputs know of it.
import CTendon
import Tendon
import TendonOutputs
import TendonSupport

extension Family {
    init(_ definition: Definition) {
        let name = definition.name
        self.init(
            name: name, stream: StreamForm(definition),
            simulation: { (settings, number) throws(CommandError) in
                try DefinedSimulation(definition, settings, number: number)
            },
            description: FamilyDescription(definition), sensors: definition.sensors,
            decoded: definition.rows.filter { $0.hasValues }.map { row in
                DecodedValue(
                    kind: definition.word(row.name) ?? "", characteristic: row.uuid, service: row.service,
                    summary: definition.eventNames(of: row).joined(separator: ", "))
            },
            encoded: definition.actions.indices.map { action in
                EncodedValue(
                    kind: definition.word(definition.actions[action].name) ?? "",
                    operands: definition.usage(of: action), summary: "write the action"
                ) { (words) throws(CommandError) in
                    try DefinedCall(definition, action, words).encoded()
                }
            })
    }
}

extension tendon_definition_row {
    var hasValues: Bool { Int(layout) != TENDON_DEFINITION_NONE }
    /// Of its values, which is the same for reading and for notifications.
    var layout: UInt16 { Int(notified) != TENDON_DEFINITION_NONE ? notified : read }
}

extension tendon_definition_event {
    var isSample: Bool { Int(flags) & TENDON_EVENT_SAMPLE != 0 }
    var isState: Bool { Int(flags) & TENDON_EVENT_STATE != 0 }
}

extension Definition {
    /// Events of samples: a setting of an output can choose some of them.
    var sensors: [String] { events.filter(\.isSample).compactMap { word($0.name) } }

    /// Samples of all families have one event, and the name of theirs is the sensor.
    func lineName(of event: Int) -> EventName {
        events[event].isSample ? "sample" : eventName(events[event].name)
    }

    func events(of layout: UInt16) -> [Int] { events.indices.filter { events[$0].layout == layout } }

    func eventNames(of row: tendon_definition_row) -> [String] {
        events(of: row.layout).compactMap { word(events[$0].name) }
    }

    /// The arguments of an action as help shows them: "RATE_HZ off|on".
    func usage(of action: Int) -> String {
        arguments(of: action).map { field in
            field.count > 0 ? words(of: field).joined(separator: "|") : (word(field.name) ?? "").uppercased()
        }.joined(separator: " ")
    }
}

// MARK: - Rules

extension StreamForm {
    init(_ definition: Definition) {
        self.init(
            happenings: definition.events.indices.filter { !definition.events[$0].isSample }.map { index in
                let name = definition.events[index].name
                let choices = definition.fields(of: index).filter { $0.count > 0 }
                let detail = choices.count == 1 ? choices.first : nil
                return RuleEvent(
                    name: definition.word(name) ?? "", details: detail.map(definition.words) ?? [],
                    sources: [
                        RuleSource(definition.eventName(name), detail: detail.flatMap { definition.word($0.name) })
                    ])
            },
            actions: definition.actions.indices.map { action in
                RuleAction(
                    name: definition.word(definition.actions[action].name) ?? "",
                    arguments: definition.usage(of: action),
                    takesOne: definition.arguments(of: action).count == 1
                ) { (words) throws(CommandError) in
                    try DefinedCall(definition, action, words)
                }
            },
            values: definition.events.indices.flatMap { index in
                definition.fields(of: index).filter { $0.isNumber || $0.isBit }.map { field in
                    RuleValue(
                        name: definition.word(field.name) ?? "", event: definition.lineName(of: index),
                        member: definition.word(field.name) ?? "",
                        words: definition.named(by: field).map { ($0.word, Double($0.number)) })
                }
            },
            make: { (_) throws(CommandError) in DefinedStream(definition) })
    }
}

/// Now, at this place, with its zone: "2026-11-29T13:07:30+01:00"; of a device that counts the time of its place without.
private func localTime(for field: tendon_field) -> String {
    var text = [CChar](repeating: 0, count: Int(TENDON_LOCAL_TIME_SIZE))
    _ = tendon_local_time(&text)
    let length = "2026-11-29T13:07:30".utf8.count
    return String(
        decoding: text.prefix { $0 != 0 }.prefix(field.isLocalDate ? length : .max).map { UInt8(bitPattern: $0) },
        as: UTF8.self)
}

/// An action with its arguments, checked.
struct DefinedCall: DeviceCall {
    let definition: Definition
    let action: Int
    private let words: [String]

    init(_ definition: Definition, _ action: Int, _ words: [String]) throws(CommandError) {
        (self.definition, self.action, self.words) = (definition, action, words)
        _ = try act()
    }

    /// Again with each call: `now` is another time then.
    func act() throws(CommandError) -> tendon_act {
        let fields = definition.arguments(of: action)
        let name = definition.word(definition.actions[action].name) ?? ""
        let timed = words.enumerated().map { index, word in
            word == "now" && index < fields.count && fields[index].isDate ? localTime(for: fields[index]) : word
        }
        return try tendon_act(definition.name, UnsafePointer(definition.pointer), [name] + timed)
    }

    func encoded() throws(CommandError) -> [UInt8] {
        let act = try act()
        return withUnsafeBytes(of: act.bytes) { Array($0.prefix(Int(act.length))) }
    }
}

// MARK: - Outputs

extension FamilyDescription {
    /// Each number and word of an event that is state is an entity, each action without arguments or with one a button, a
    /// choice, a number or a text.
    init(_ definition: Definition) {
        var entities: [Entity] = []
        for index in definition.events.indices where definition.events[index].isState {
            for field in definition.fields(of: index) {
                if let entity = Entity(field, of: definition.events[index], definition),
                    !entities.contains(where: { $0.id == entity.id })
                {
                    entities.append(entity)
                }
            }
        }
        for index in definition.events.indices {
            let event = definition.events[index]
            guard !event.isState, !event.isSample, let name = definition.word(event.name) else { continue }
            let choices = definition.fields(of: index).filter { $0.count > 0 }
            let member = choices.count == 1 ? choices.first : nil
            entities.add(
                Entity(
                    name, Entity.title(name),
                    .happening(
                        event: name, member: member.flatMap { definition.word($0.name) },
                        types: member.map(definition.words) ?? [name])), otherwise: "event")
        }
        for index in definition.actions.indices {
            guard let entity = Entity(action: index, definition) else { continue }
            // What is set and reported, with the same range and words, is one entity.
            if entity.hasState { entities.removeAll { $0.id == entity.id } }
            entities.add(entity, otherwise: "action")
        }
        self.init(
            family: definition.name, manufacturer: "", model: definition.title,
            states: definition.events.filter(\.isState).compactMap { definition.word($0.name) }, measures: true,
            entities: entities)
    }
}

extension [Entity] {
    /// - Parameter kind: ends the id if another entity has it: of two with one id Home Assistant would have the last.
    fileprivate mutating func add(_ entity: Entity, otherwise kind: String) {
        var entity = entity
        if contains(where: { $0.id == entity.id }) { entity.id += "_" + kind }
        append(entity)
    }
}

extension Entity {
    /// An action whose state is known.
    fileprivate var hasState: Bool {
        switch kind {
        case .choice(let path, _, _), .number(let path, _, _, _, _): path != nil
        default: false
        }
    }

    /// "heart_rate_bpm" is "Heart rate bpm".
    static func title(_ name: String) -> String {
        let text = name.split(separator: "_").joined(separator: " ")
        return text.prefix(1).uppercased() + text.dropFirst()
    }

    init?(_ field: tendon_field, of event: tendon_definition_event, _ definition: Definition) {
        guard let member = definition.word(field.name) else { return nil }
        // What an event calls only `state` has the name of the event in the state.
        let name = member == "state" ? definition.word(event.name) ?? member : member
        // The newest sample is an object of the state.
        let path = event.isSample ? "\(definition.word(event.name) ?? "").\(member)" : name
        let title = definition.word(field.title) ?? Entity.title(name)
        let unit = definition.word(field.unit), kind = definition.word(field.kind)
        if field.isFlag {
            self.init(name, title, .binary(path: path, on: "true", deviceClass: kind))
        } else if field.isNumber || field.count > 0 {
            let isNumber = field.isNumber && (field.count == 0 || unit != nil || kind != nil)
            self.init(name, title, .sensor(path: path, unit: unit, deviceClass: kind, isNumber: isNumber))
        } else if field.isDate {
            // Home Assistant takes a time with a zone alone for one.
            self.init(
                name, title,
                .sensor(path: path, unit: nil, deviceClass: field.isLocalDate ? nil : kind ?? "timestamp"))
        } else {
            return nil
        }
    }

    init?(action: Int, _ definition: Definition) {
        guard let name = definition.word(definition.actions[action].name) else { return nil }
        let title = definition.word(definition.actions[action].title) ?? Entity.title(name)
        let arguments = definition.arguments(of: action)
        guard let only = arguments.first else {
            self.init(name, title, .button(payload: #"{"\#(name)":true}"#))
            return
        }
        guard arguments.count == 1 else { return nil }
        guard !only.isDate else {
            self.init(name, title, .button(payload: #"{"\#(name)":"now"}"#))
            return
        }
        if only.count > 0 {
            let options = definition.words(of: only)
            let isReported = definition.stateHas(name) { field in
                field.count > 0 && definition.words(of: field).allSatisfy(options.contains)
            }
            self.init(name, title, .choice(path: isReported ? name : nil, action: name, options: options))
            return
        }
        if only.isText || only.isBytes {
            let bytes = definition.bytes(of: only, action)
            self.init(
                name, title,
                .text(action: name, length: only.characters(bytes), pattern: only.hexPattern(bytes)))
            return
        }
        let (range, step) = only.figures
        let unit = definition.word(only.unit)
        // Home Assistant takes no number that is out of the range.
        let isReported = definition.stateHas(name) { field in
            field.isNumber && field.count == 0 && definition.word(field.unit) == unit
                && range.lowerBound <= field.figures.range.lowerBound
                && field.figures.range.upperBound <= range.upperBound
        }
        self.init(
            name, title,
            .number(path: isReported ? name : nil, action: name, range: range, step: step, unit: unit))
    }
}

extension Definition {
    /// Whether an event that is state has such a member of this name.
    fileprivate func stateHas(_ name: String, where isMeant: (tendon_field) -> Bool) -> Bool {
        events.indices.contains { index in
            events[index].isState && !events[index].isSample
                && fields(of: index).contains { isMeant($0) && word($0.name) == name }
        }
    }

    /// How many bytes of a text or of bytes an action takes.
    fileprivate func bytes(of field: tendon_field, _ action: Int) -> ClosedRange<Int> {
        let most = withUnsafePointer(to: field) { Int(tendon_act_most(pointer, action, $0)) }
        return min(field.size > 0 && field.isBytes ? most : Int(field.at_least), most)...most
    }
}

extension tendon_field {
    /// As characters: one of a text can have several bytes. Home Assistant wants less of them at least than at most.
    fileprivate func characters(_ bytes: ClosedRange<Int>) -> ClosedRange<Int> {
        let most = max(1, bytes.upperBound)
        return isBytes ? 0...2 * most : min(1, bytes.lowerBound, most - 1)...most
    }
    /// Of bytes.
    fileprivate func hexPattern(_ bytes: ClosedRange<Int>) -> String? {
        isBytes ? "^([0-9a-fA-F]{2}){\(bytes.lowerBound),\(bytes.upperBound)}$" : nil
    }
    /// What a person may choose, and the smallest difference: 0.1 of an integer with the factor 0.1.
    fileprivate var figures: (range: ClosedRange<Double>, step: Double) {
        // As a person writes it: 3 * 0.1 is 0.30000000000000004.
        func rounded(_ value: Double) -> Double { abs(value) < 1e9 ? (value * 1e6).rounded() / 1e6 : value.rounded() }
        if tendon_field_type(UInt32(type)) == TENDON_FIELD_FLOAT32 {
            let steps = [1, 0.1, 0.01, 0.001]
            return (-1_000_000...1_000_000, steps[is_rounded ? min(Int(decimals), 3) : 3])
        }
        // Of integers, those that a number of JSON has exactly.
        let most = 9_007_199_254_740_991.0
        let ends = [low, high].map { rounded(max(-most, min(most, Double($0))) * factor / divisor + offset) }.sorted()
        // Rounded down, so that the greatest value is a step, too. Home Assistant takes no smaller one than 0.001.
        let step = abs(factor / divisor)
        let steps = abs(step) < 1e9 ? (step * 1e6 + 1e-6).rounded(.down) / 1e6 : step.rounded()
        return (ends[0]...ends[1], max(0.001, steps))
    }
}
