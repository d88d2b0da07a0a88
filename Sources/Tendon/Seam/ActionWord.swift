// SPDX-License-Identifier: MIT
// A word in the text of an action.
import CTendon

extension String {
    /// As `tendon_act_parse_text` takes it: in quotation marks if it would not be one word otherwise.
    package var actionWord: String {
        String(unsafeUninitializedCapacity: 2 * utf8.count + 2) { out in
            withCString { word in
                out.withMemoryRebound(to: CChar.self) { tendon_act_quote(word, utf8.count, $0.baseAddress) }
            }
        }
    }
}
