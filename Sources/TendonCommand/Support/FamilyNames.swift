// SPDX-License-Identifier: MIT
// Families by name, from the library's table.
import CTendon
import Tendon
import TendonSupport

extension LocalName {
    /// As lines and tables have it.
    var shown: String { sanitized(text) }
}

/// Names of all families in the library's order, then those of device files.
func familyNames() -> [String] {
    sequence(state: 0) { index in
        defer { index += 1 }
        return tendon_family_at(index)
    }.map { text($0.pointee.name) } + Definitions.all.map(\.name)
}

/// The family's own name for a name or an alias.
func familyName(_ word: String) throws(CommandError) -> String {
    if let family = tendon_family_find(word) { return text(family.pointee.name) }
    if Definitions.named(word) != nil { return word }
    guard WantedAddress.isMeant(by: word) else {
        var error = CommandError.unknown("family", word, among: familyNames())
        if !error.message.contains("did you mean") {
            error.message += "; of a device file: \(Definitions.option.name) FILE"
        }
        throw error
    }
    throw .usage(
        "'\(sanitized(word))' is a device, and no family; a device follows --address, a family is one of: "
            + familyNames().joined(separator: ", "))
}

/// What a person calls a device of the family.
func familyTitle(_ name: String) -> String {
    tendon_family_find(name).map { text($0.pointee.title) } ?? Definitions.named(name)?.title ?? name
}

/// The family of an advertiser, by its advertisement, its scan response, or both; nil: none that is known so far.
func familyName(advertised data: [UInt8]) -> String? {
    tendon_family_from_advertisement(data, data.count).map { text($0.pointee.name) }
        ?? Definitions.recognizing(data)?.name
}

/// The family of a device, by the services and the name of which it has sent some in one packet and some in others.
func familyName(services: [BluetoothUUID], name: String?) -> String? {
    let names = name.map { [AdvertisingData.Element.localName($0)] } ?? []
    let packets = services.map { [.serviceUUIDs([$0])] + names } + [names]
    return packets.lazy.compactMap { familyName(advertised: (try? AdvertisingData($0))?.bytes ?? []) }.first
}
