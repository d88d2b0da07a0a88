// SPDX-License-Identifier: MIT
// What an output may know about a family: which events describe a lasting state, and what a person sees of a device.

/// A row per family; the command fills it, next to the names of its values.
package struct FamilyDescription: Sendable {
    package var family: String
    package var manufacturer: String
    package var model: String
    /// Events whose members are the state of a device, in addition to `connected` and `battery`, which all have.
    package var states: [String]
    /// An event of state is a measurement: it takes the place of the one before, with the members that it has not; but of two
    /// that have no member in common both are kept, because a device may send a measurement in parts. False: each event
    /// tells what has changed.
    package var measures: Bool
    /// What is shown of a device, and can be done with it.
    package var entities: [Entity]
    /// Its devices have an orientation, which can be recentered.
    package var hasOrientation: Bool

    package init(
        family: String, manufacturer: String, model: String, states: [String] = [], measures: Bool = false,
        entities: [Entity] = [], hasOrientation: Bool = false
    ) {
        self.family = family
        self.manufacturer = manufacturer
        self.model = model
        self.states = states
        self.measures = measures
        self.entities = entities
        self.hasOrientation = hasOrientation
    }
}

extension FamilyDescription? {
    /// Whether the members of the event are state.
    package func describesState(_ event: String) -> Bool {
        ["connected", "battery"].contains(event) || self?.states.contains(event) ?? false
    }

    package func measures(_ event: String) -> Bool { self.map { $0.measures && $0.states.contains(event) } ?? false }
}

/// One thing that a person sees of a device, or can do with it.
package struct Entity: Sendable {
    package enum Kind: Sendable {
        /// A number or a word of the state. `path`: its members, such as `rotation.yaw_deg`. What has a unit is a number.
        case sensor(path: String, unit: String? = nil, deviceClass: String? = nil, isNumber: Bool = false)
        /// Yes or no. `on`: the text of the state that means yes.
        case binary(path: String, on: String, deviceClass: String? = nil)
        /// Something that happens. `event`: the event; `types`: the values of its member that tells which; `fixed`: it
        /// has no such member, and always is this one.
        case happening(event: String, member: String?, types: [String], deviceClass: String? = nil)
        /// An action without a choice. `payload`: JSON of a `set`.
        case button(payload: String)
        /// An action with a choice: `path` is its state; nil: the device does not report it.
        case choice(path: String?, action: String, options: [String])
        /// An action with a number. `step`: what it is a multiple of, from the lower end on.
        case number(path: String?, action: String, range: ClosedRange<Double>, step: Double = 1, unit: String?)
        /// An action with a text. `length`: of its characters; `pattern`: a regular expression that it fits.
        case text(action: String, length: ClosedRange<Int>, pattern: String? = nil)
        /// The firmware of the device. Paths of what is installed, and what is available. `install`: JSON of a `set`. The
        /// state of an upgrade is in the members `update` and `progress`.
        case firmware(installed: String, latest: String, install: String)
    }

    package var id: String
    package var title: String
    package var kind: Kind
    /// Not shown on the first page.
    package var isDiagnostic: Bool

    package init(_ id: String, _ title: String, _ kind: Kind, isDiagnostic: Bool = false) {
        self.id = id
        self.title = title
        self.kind = kind
        self.isDiagnostic = isDiagnostic
    }
}

extension Entity {
    /// Of devices whose orientation is sent.
    package static let recenter = Entity("recenter", "Recenter", .button(payload: #"{"recenter":null}"#))
    /// What all families call it.
    package static let battery = Entity(
        "battery", "Battery", .sensor(path: "battery_percent", unit: "%", deviceClass: "battery"))
}
