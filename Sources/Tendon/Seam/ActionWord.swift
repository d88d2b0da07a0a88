// SPDX-License-Identifier: MIT
// A word in the text of an action.

extension String {
    /// As `tendon_act_parse_text` takes it: in quotation marks if it would not be one word otherwise.
    package var actionWord: String {
        guard isEmpty || utf8.first == UInt8(ascii: "\"") || utf8.contains(where: { $0 == 0x20 || $0 == 0x09 }) else {
            return self
        }
        var word = "\""
        for character in unicodeScalars {
            if character == "\"" || character == "\\" { word.unicodeScalars.append("\\") }
            word.unicodeScalars.append(character)
        }
        return word + "\""
    }
}
