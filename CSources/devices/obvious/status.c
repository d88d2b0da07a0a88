/* SPDX-License-Identifier: MIT */
#include "tendon/base/packed.h"
#include "tendon/devices/obvious_codec.h"

#define NUMBER(name, code, text) TENDON_LAYER_OBVIOUS * 256 + (code),
#define NAME(name, code, text) #name "\0"
#define TEXT(name, code, text) text "\0"

static const uint16_t numbers[] = {TENDON_OBVIOUS_STATUS_LIST(NUMBER)};
enum { NUMBER_COUNT = sizeof numbers / sizeof numbers[0], WIRE_LAST = 26, SEGMENT_FIRST = 48 };

const char *tendon_obvious_status_name(tendon_status status) {
    return tendon_packed_status(TENDON_OBVIOUS_STATUS_LIST(NAME), numbers, NUMBER_COUNT, status, tendon_status_name);
}

const char *tendon_obvious_status_text(tendon_status status) {
    const char *text =
        tendon_packed_status(TENDON_OBVIOUS_STATUS_LIST(TEXT), numbers, NUMBER_COUNT, status, tendon_status_text);
    if (*text == '\0') {
        unsigned code = (unsigned)TENDON_STATUS_CODE(status);
        text = code <= WIRE_LAST      ? "the request or the object was rejected"
               : code < SEGMENT_FIRST ? "the frame violates the protocol"
                                      : "the segment violates the protocol";
    }
    return text;
}

tendon_status tendon_obvious_status_from_wire(uint8_t status) {
    if (status == 0) {
        return TENDON_OK;
    }
    return status <= WIRE_LAST ? TENDON_STATUS(TENDON_LAYER_OBVIOUS, status) : TENDON_OBVIOUS_ERROR_INTERNAL;
}
