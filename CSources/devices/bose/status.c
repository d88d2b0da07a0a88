/* SPDX-License-Identifier: MIT */
#include "tendon/base/packed.h"
#include "tendon/devices/bose_codec.h"

tendon_status tendon_bose_status_from_att(tendon_status status) {
    if (TENDON_STATUS_LAYER(status) != TENDON_LAYER_ATT) {
        return status;
    }
    uint8_t code = TENDON_STATUS_CODE(status);
    if (code < 0x80 || code > 0x9F) {
        return status;
    }
    return TENDON_STATUS(TENDON_LAYER_BOSE, code <= 0x86 ? code : 0x9F);
}

#define NUMBER(name, code, text) TENDON_LAYER_BOSE * 256 + (code),
#define NAME(name, code, text) "BOSE_ERROR_" #name "\0"
#define TEXT(name, code, text) text "\0"

static const uint16_t numbers[] = {TENDON_BOSE_STATUS_LIST(NUMBER)};
enum { NUMBER_COUNT = sizeof numbers / sizeof numbers[0] };

const char *tendon_bose_status_name(tendon_status status) {
    return tendon_packed_status(TENDON_BOSE_STATUS_LIST(NAME), numbers, NUMBER_COUNT, status, tendon_status_name);
}

const char *tendon_bose_status_text(tendon_status status) {
    return tendon_packed_status(TENDON_BOSE_STATUS_LIST(TEXT), numbers, NUMBER_COUNT, status, tendon_status_text);
}
