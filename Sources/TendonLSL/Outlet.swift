// SPDX-License-Identifier: MIT
// One stream of the library, from its description to its end.
import TendonOutputs

/// A stream that exists. Its owner ends it by `LSLLibrary.destroyOutlet`, on a thread that may wait.
struct Outlet: @unchecked Sendable {
    let description: StreamDescription
    // Used by one thread at a time, as the library requires.
    let pointer: OpaquePointer

    init(_ description: StreamDescription, _ library: LSLLibrary) throws(LSLError) {
        func checked(_ pointer: OpaquePointer?, _ step: String) throws(LSLError) -> OpaquePointer {
            guard let pointer else {
                let reason = library.lastError()
                throw LSLError(
                    "the stream '\(description.name)' cannot be \(step)" + (reason.isEmpty ? "" : ": \(reason)"))
            }
            return pointer
        }
        let info = try checked(
            library.createInfo(
                description.name, description.type, Int32(description.channels.count), description.rate,
                description.isText ? LSLFormat.text : LSLFormat.double, description.source), "described")
        defer { library.destroyInfo(info) }
        let root = try checked(library.description(info), "described")
        for section in description.sections {
            let element = try checked(library.append(root, section.name), "described")
            for member in section.members {
                _ = try checked(library.appendValue(element, member.name, member.value), "described")
            }
        }
        let channels = try checked(library.append(root, "channels"), "described")
        for channel in description.channels {
            let element = try checked(library.append(channels, "channel"), "described")
            for (name, value) in [("label", channel.label), ("unit", channel.unit), ("type", channel.type)]
            where !value.isEmpty {
                _ = try checked(library.appendValue(element, name, value), "described")
            }
        }
        pointer = try checked(library.createOutlet(info), "opened")
        self.description = description
    }
}
