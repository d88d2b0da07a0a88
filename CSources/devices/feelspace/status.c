/* SPDX-License-Identifier: MIT */
#include "tendon/devices/feelspace_codec.h"

const char *tendon_feelspace_status_name(tendon_status status) {
#define TENDON_FEELSPACE_STATUS_NAME(name, code, text)                                                                 \
    case TENDON_FEELSPACE_ERROR_##name:                                                                                \
        return "FEELSPACE_ERROR_" #name;
    switch (status) {
        TENDON_FEELSPACE_STATUS_LIST(TENDON_FEELSPACE_STATUS_NAME)
    default:
        return tendon_status_name(status);
    }
#undef TENDON_FEELSPACE_STATUS_NAME
}

const char *tendon_feelspace_status_text(tendon_status status) {
#define TENDON_FEELSPACE_STATUS_TEXT(name, code, text)                                                                 \
    case TENDON_FEELSPACE_ERROR_##name:                                                                                \
        return text;
    switch (status) {
        TENDON_FEELSPACE_STATUS_LIST(TENDON_FEELSPACE_STATUS_TEXT)
    default:
        return tendon_status_text(status);
    }
#undef TENDON_FEELSPACE_STATUS_TEXT
}

const char *tendon_feelspace_mode_name(uint8_t mode) {
    static const char *const names[] = {"standby", "wait", "compass", "app", "pause", "calibration", "crossing"};
    return mode < sizeof names / sizeof names[0] ? names[mode] : "unknown";
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
