/* SPDX-License-Identifier: MIT */
#include "tendon/base/packed.h"
#include "tendon/devices/feelspace_codec.h"

#define NUMBER(name, code, text) TENDON_LAYER_FEELSPACE * 256 + (code),
#define NAME(name, code, text) "FEELSPACE_ERROR_" #name "\0"
#define TEXT(name, code, text) text "\0"

static const uint16_t numbers[] = {TENDON_FEELSPACE_STATUS_LIST(NUMBER)};
enum { NUMBER_COUNT = sizeof numbers / sizeof numbers[0], MODES = TENDON_FEELSPACE_MODE_CROSSING + 1 };

const char *tendon_feelspace_status_name(tendon_status status) {
    return tendon_packed_status(TENDON_FEELSPACE_STATUS_LIST(NAME), numbers, NUMBER_COUNT, status, tendon_status_name);
}

const char *tendon_feelspace_status_text(tendon_status status) {
    return tendon_packed_status(TENDON_FEELSPACE_STATUS_LIST(TEXT), numbers, NUMBER_COUNT, status, tendon_status_text);
}

const char *tendon_feelspace_mode_name(uint8_t mode) {
    return tendon_packed_name("standby\0wait\0compass\0app\0pause\0calibration\0crossing", MODES, mode);
}

bool tendon_feelspace_is_belt_name(const char *name, size_t length) {
    static const char prefix[] = "naviguertel";
    if (length < sizeof prefix - 1) {
        return false;
    }
    for (size_t i = 0; i < sizeof prefix - 1; i++) {
        char c = name[i];
        if (c >= 'A' && c <= 'Z') {
            c = (char)(c - 'A' + 'a');
        }
        if (c != prefix[i]) {
            return false;
        }
    }
    return true;
}
