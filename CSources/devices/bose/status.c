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

int tendon_bose_sdk_code(tendon_status status, tendon_bose_sdk_numbering *numbering) {
    static const struct {
        tendon_status status;
        uint8_t numbering, code;
    } table[] = {
        {TENDON_BOSE_ERROR_FIRMWARE_UPDATE_REQUIRED, TENDON_BOSE_SDK_SESSION, 1},
        {TENDON_BOSE_ERROR_UNSUPPORTED_DEVICE, TENDON_BOSE_SDK_SESSION, 2},
        {TENDON_BOSE_ERROR_NO_MATCHING_DEVICE_TYPE, TENDON_BOSE_SDK_SESSION, 3},
        {TENDON_ERROR_CANCELLED, TENDON_BOSE_SDK_SESSION, 4},
        {TENDON_BOSE_ERROR_DISCONNECTED_BY_DEVICE, TENDON_BOSE_SDK_SESSION, 5},
        {TENDON_BOSE_ERROR_REFRESH_REQUIRED, TENDON_BOSE_SDK_SESSION, 6},
        {TENDON_BOSE_ERROR_BONDING_FAILED, TENDON_BOSE_SDK_SESSION, 7},
        {TENDON_BOSE_ERROR_INVALID_RESPONSE, TENDON_BOSE_SDK_DEVICE, 1},
        {TENDON_BOSE_ERROR_DEVICE_OUT_OF_RANGE, TENDON_BOSE_SDK_DEVICE, 3},
        {TENDON_BOSE_ERROR_DEVICE_NOT_FOUND, TENDON_BOSE_SDK_DEVICE, 4},
        {TENDON_BOSE_ERROR_NO_FOCUS, TENDON_BOSE_SDK_DEVICE, 5},
        {TENDON_BOSE_ERROR_MISSING_REQUIRED_DATA, TENDON_BOSE_SDK_DEVICE, 6},
        {TENDON_BOSE_ERROR_INTENTS_CHECK_FAILED, TENDON_BOSE_SDK_DEVICE, 7},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].status == status) {
            if (numbering != NULL) {
                *numbering = (tendon_bose_sdk_numbering)table[i].numbering;
            }
            return table[i].code;
        }
    }
    if (numbering != NULL) {
        *numbering = TENDON_BOSE_SDK_NONE;
    }
    return 0;
}
