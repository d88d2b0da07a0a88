/* SPDX-License-Identifier: MIT */
/* FE14 debug output: development packets. */
#include "codec_parts.h"

tendon_status tendon_feelspace_decode_debug(const uint8_t *data, size_t length, tendon_feelspace_debug *out,
                                            size_t *offset) {
    enum { ERROR_LENGTH = 5, LOG_LENGTH = 12 };
    tendon_feelspace_debug d = {.kind = TENDON_FEELSPACE_DEBUG_OTHER};
    size_t needed = 1;
    if (length > 0 && data[0] == TENDON_FEELSPACE_DEBUG_ERROR) {
        needed = ERROR_LENGTH;
    } else if (length > 0 &&
               (data[0] == TENDON_FEELSPACE_DEBUG_LOG_HEADER || data[0] == TENDON_FEELSPACE_DEBUG_LOG_ENTRY)) {
        needed = LOG_LENGTH;
    }
    if (length < needed) {
        return feelspace_needs(length, needed, offset);
    }
    if (needed > 1) {
        bool header = data[0] == TENDON_FEELSPACE_DEBUG_LOG_HEADER;
        d.kind = (tendon_feelspace_debug_kind)data[0];
        d.error = feelspace_long(data, header ? 4 : 1);
    }
    if (d.kind == TENDON_FEELSPACE_DEBUG_LOG_HEADER) {
        d.session = feelspace_word(data, 1);
        d.count = data[3];
        d.last_error = feelspace_long(data, 8);
    } else if (d.kind == TENDON_FEELSPACE_DEBUG_LOG_ENTRY) {
        d.time_ms = feelspace_long(data, 5);
        d.session = feelspace_word(data, 9);
        d.more = data[11] != 0;
    }
    *out = d;
    return TENDON_OK;
}
