// SPDX-License-Identifier: MIT
// The families of devices that the command knows: one row each.
import CTendon
import TendonOutputs

/// What the command can do with the devices of a family. Its name and its title come from the library's table.
struct Family: Sendable {
    let name: String
    /// `run` and `stream`.
    let stream: StreamForm
    /// `simulate`.
    let simulation: SimulationMaker
    /// What outputs such as MQTT show of a device; nil: its events only.
    var description: FamilyDescription?
    /// What `sample` events name in their member `sensor`.
    var sensors: [String] = []
    /// `tendon FAMILY ...`.
    var commands: [Command] = []
    /// `decode` and `encode`.
    var decoded: [DecodedValue] = []
    var encoded: [EncodedValue] = []
}

/// The table. A new family adds its row here; those of device files follow.
let families: [Family] =
    [
        .activ5,
        .bose,
        .feelspace,
        .fjorden,
        .obvious,
    ] + Definitions.all.map { Family($0) }

/// Makes a simulated device; its number counts from 0.
typealias SimulationMaker = @Sendable (SimulationSettings, _ number: Int) throws(CommandError) -> any FamilySimulation

extension Family {
    init(
        name: String, stream: any FamilyStream.Type, simulation: @escaping SimulationMaker,
        description: FamilyDescription? = nil, sensors: [String] = [], commands: [Command] = [],
        decoded: [DecodedValue] = [], encoded: [EncodedValue] = []
    ) {
        self.init(
            name: name, stream: StreamForm(stream), simulation: simulation, description: description, sensors: sensors,
            commands: commands, decoded: decoded, encoded: encoded)
    }

    static func named(_ name: String) -> Family? { families.first { $0.name == name } }
}

/// A value that `decode` takes apart: the value of a characteristic.
struct DecodedValue: Sendable {
    let kind: String
    let characteristic: tendon_uuid
    /// Of a characteristic that can be in several.
    var service: tendon_uuid?
    /// What it holds.
    let summary: String
}

/// A value that `encode` makes.
struct EncodedValue: Sendable {
    let kind: String
    /// Its operands as help shows them, with values and units.
    let operands: String
    let summary: String
    let encode: @Sendable (_ words: [String]) throws(CommandError) -> [UInt8]
}
