// SPDX-License-Identifier: MIT
// What a stream is called and what is in it, for the header that receivers read and recorders store.
import TendonOutputs
import TendonSupport

/// The header of one stream; it does not change while the stream lasts.
struct StreamDescription: Equatable {
    struct Channel: Equatable {
        var label: String
        /// Empty: it has none, or it is not known.
        var unit: String
        var type: String
    }

    var name: String
    var type: String
    /// What receivers find the stream by after a restart: it has neither the name of the device nor that of the machine.
    var source: String
    var channels: [Channel]
    /// Samples per second; 0: irregular.
    var rate: Double
    var isText: Bool
    /// Elements of the description beside the channels: name, and members with their values.
    var sections: [(name: String, members: [(name: String, value: String)])] {
        [
            ("acquisition", [("manufacturer", manufacturer), ("model", model)].filter { !$0.1.isEmpty }),
            ("device", [("family", family), ("address", address), ("address_type", addressType)]),
        ]
    }
    private var manufacturer: String
    private var model: String
    private var family: String
    private var address: String
    private var addressType: String
}

extension StreamDescription {
    /// - Parameter title: the last word of its name, and of its source.
    private init(
        _ device: OutputDevice, _ known: FamilyDescription?, title: String, type: String, _ channels: [Channel],
        rate: Double, isText: Bool
    ) {
        name = StreamDescription.text((device.name ?? device.address) + " " + title)
        self.type = StreamDescription.text(type)
        source = StreamDescription.text("tendon/\(device.key)/\(title)")
        self.channels = channels.map {
            Channel(label: sanitized($0.label), unit: sanitized($0.unit), type: sanitized($0.type))
        }
        (self.rate, self.isText) = (rate, isText)
        (manufacturer, model) = (sanitized(known?.manufacturer ?? ""), sanitized(known?.model ?? ""))
        (family, address, addressType) = (sanitized(device.family), device.address, device.addressType)
    }

    /// Of the samples of a sensor.
    init(_ device: OutputDevice, _ known: FamilyDescription?, _ form: SampleForm, rate: Double) {
        let types = StreamDescription.types(form)
        self.init(
            device, known, title: form.sensor, type: StreamDescription.type(form, types),
            zip(form.channels, types).map { Channel(label: $0.name, unit: $0.unit, type: $1) }, rate: rate,
            isText: false)
    }

    /// Of what happens to a device.
    init(markersOf device: OutputDevice, _ known: FamilyDescription?) {
        self.init(
            device, known, title: "markers", type: "Markers", [Channel(label: "marker", unit: "", type: "Marker")],
            rate: 0, isText: true)
    }

    /// The words that receivers compare are between apostrophes in their queries, which have no other form.
    private static func text(_ text: String) -> String {
        String(sanitized(text).map { $0 == "'" ? "_" : $0 })
    }

    // MARK: Types, by https://github.com/sccn/xdf/wiki/Meta-Data

    /// What the channels measure.
    private static func types(_ form: SampleForm) -> [String] {
        let isQuaternion = form.channels.prefix(4).map(\.name) == ["x", "y", "z", "w"]
        return form.channels.enumerated().map { index, channel in
            // The real part of a quaternion is its first number there.
            if isQuaternion, index < 4 { return "Orientation" + ["B", "C", "D", "A"][index] }
            switch channel.unit {
            case "g": return "Acceleration" + axis(channel)
            case "deg/s", "rad/s": return "AngularVelocity" + axis(channel)
            case "deg" where ["pitch", "roll", "yaw", "heading"].contains(channel.name):
                return "Orientation" + channel.name.prefix(1).uppercased() + channel.name.dropFirst()
            case "N": return "Force"
            default: return form.sensor
            }
        }
    }

    private static func axis(_ channel: SampleChannel) -> String {
        guard let last = channel.name.last, "xyz".contains(last) else { return "" }
        return last.uppercased()
    }

    /// Movements are found by the type that they have everywhere, other things by the name of their sensor.
    private static func type(_ form: SampleForm, _ types: [String]) -> String {
        guard let first = types.first else { return form.sensor }
        let moves = ["Orientation", "Acceleration", "AngularVelocity"].contains { first.hasPrefix($0) }
        return moves ? "MoCap" : first
    }
}
