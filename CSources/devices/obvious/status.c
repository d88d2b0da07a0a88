/* SPDX-License-Identifier: MIT */
#include "tendon/base/packed.h"
#include "tendon/devices/obvious_codec.h"

#define ONE(name, code, text) +1
#define NAME(name, code, text) #name "\0"
#define TEXT(name, code, text) text "\0"

enum { COUNT = 0 TENDON_OBVIOUS_STATUS_LIST(ONE), WIRE_LAST = 26, SEGMENT_FIRST = 48 };

/* The codes in the order of the list: first and last of each range. */
static const uint8_t ranges[][2] = {{1, WIRE_LAST}, {32, 38}, {SEGMENT_FIRST, 60}, {64, 66}, {80, 85}, {255, 255}};
_Static_assert(26 + 7 + 13 + 3 + 6 + 1 == COUNT, "a status is missing in the ranges");

/* NULL: of another layer, or unknown. */
static const char *string_of(const char *strings, tendon_status status) {
    unsigned code = 0u - (unsigned)status - TENDON_LAYER_OBVIOUS * 256u, before = 0;
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        unsigned first = ranges[i][0], last = ranges[i][1];
        if (code >= first && code <= last) {
            return tendon_packed_string(strings, NULL, COUNT, before + code - first);
        }
        before += last - first + 1;
    }
    return NULL;
}

const char *tendon_obvious_status_name(tendon_status status) {
    const char *name = string_of(TENDON_OBVIOUS_STATUS_LIST(NAME), status);
    return name != NULL ? name : tendon_status_name(status);
}

const char *tendon_obvious_status_text(tendon_status status) {
    const char *text = string_of(TENDON_OBVIOUS_STATUS_LIST(TEXT), status);
    if (text == NULL) {
        return tendon_status_text(status);
    }
    unsigned code = TENDON_STATUS_CODE(status);
    return *text != '\0'          ? text
           : code <= WIRE_LAST    ? "request rejected"
           : code < SEGMENT_FIRST ? "malformed frame"
                                  : "malformed segment";
}

tendon_status tendon_obvious_status_from_wire(uint8_t status) {
    if (status == 0) {
        return TENDON_OK;
    }
    return status <= WIRE_LAST ? TENDON_STATUS(TENDON_LAYER_OBVIOUS, status) : TENDON_OBVIOUS_ERROR_INTERNAL;
}
