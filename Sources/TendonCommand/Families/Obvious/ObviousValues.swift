// SPDX-License-Identifier: MIT
// Obvious: its row of the table, and the values that `decode` and `encode` know.
import CTendon
import Tendon
import TendonObvious
import TendonSupport

extension Family {
    static let obvious = Family(
        name: "obvious", stream: ObviousStream.self, simulation: ObviousSimulation.init,
        description: .obvious,
        commands: [
            .obviousInfo, .obviousFeatures, .obviousUpdate, .obviousToggle, .obviousFirmwareCheck,
            .obviousFirmwareUpgrade, .obviousCatalog, .obviousCheckout, .obviousPay,
        ],
        decoded: [
            DecodedValue(
                kind: "data", characteristic: tendon_obvious_gatt_defaults().data,
                summary: "a segment that is a whole message, of OGP_DATA"),
            DecodedValue(
                kind: "status", characteristic: tendon_obvious_gatt_defaults().status,
                summary: "version of the protocol, of OGP_STATUS"),
        ],
        encoded: [
            EncodedValue(
                kind: "feature_status", operands: "features=ID,... [corr=0..65535] [msgseq=0..255]",
                summary: "request for the states of features, as one segment"
            ) { (words) throws(CommandError) in
                try segment(words, "features", TENDON_OBVIOUS_FEATURE_STATUS, size: 2) { (text) throws(CommandError) in
                    tendon_obvious_feature(id: try feature(text), enable: 0, toggle: 0)
                }
            },
            EncodedValue(
                kind: "feature_toggle", operands: "features=ID:on|off|flip,... [corr=0..65535] [msgseq=0..255]",
                summary: "request to switch features, as one segment"
            ) { (words) throws(CommandError) in
                try segment(words, "features", TENDON_OBVIOUS_FEATURE_TOGGLE, size: 3) { (text) throws(CommandError) in
                    let parts = text.split(separator: ":").map(String.init)
                    let states: [String: UInt8] = ["on": 1, "off": 2, "flip": 0x80]
                    guard parts.count == 2, let toggle = states[parts[1]] else {
                        throw .usage("'\(sanitized(text))' is not ID:on, ID:off or ID:flip")
                    }
                    return tendon_obvious_feature(id: try feature(parts[0]), enable: 0, toggle: toggle)
                }
            },
        ])

    private static func feature(_ text: String) throws(CommandError) -> UInt16 {
        guard let id = UInt16(text), (1...1024).contains(id) else {
            throw .usage("'\(sanitized(text))' is not the number of a feature, 1 to 1024")
        }
        return id
    }

    /// A request about features as one segment: a list that needs several is refused.
    private static func segment(
        _ words: [String], _ name: String, _ opcode: tendon_obvious_opcode, size: Int,
        _ parse: (String) throws(CommandError) -> tendon_obvious_feature
    ) throws(CommandError) -> [UInt8] {
        let values = try NamedValues(words, names: [name, "corr", "msgseq"])
        var items: [UInt8] = []
        let list = listWords(try values.text(name))
        guard (1...Int(TENDON_OBVIOUS_LIST_MAX)).contains(list.count) else {
            throw .usage("\(name) takes 1 to \(TENDON_OBVIOUS_LIST_MAX) features")
        }
        for word in list {
            var item = [UInt8](repeating: 0, count: size)
            tendon_obvious_put_feature(try parse(word), UInt8(size), &item)
            items += item
        }
        var frame = tendon_obvious_frame()
        frame.opcode = UInt8(opcode.rawValue)
        frame.corr = try values.number("corr", in: 0...65535, default: 1)
        let sequence = try values.number("msgseq", in: 0...255, default: 0) as UInt8
        let whole = try EncodedValue.packet(capacity: Int(TENDON_OBVIOUS_FRAME_MAX)) { out, capacity in
            items.withUnsafeBufferPointer { items in
                var payload = tendon_obvious_payload()
                payload.features.items = items.baseAddress
                payload.features.count = UInt8(list.count)
                payload.features.item_size = UInt8(size)
                return tendon_obvious_encode_frame(&frame, &payload, out, capacity)
            }
        }
        return try EncodedValue.packet(capacity: Int(TENDON_OBVIOUS_SEGMENT_MAX)) { out, capacity in
            tendon_obvious_encode_segment(whole, whole.count, capacity, sequence, 0, true, out)
        }
    }
}
