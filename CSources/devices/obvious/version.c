/* SPDX-License-Identifier: MIT */
/* Version codes. */
#include "tendon/devices/obvious_codec.h"

enum { GROUPS = 3, GROUP_DIGITS = 3, GROUP_SIZE = 1000 };

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

tendon_status tendon_obvious_parse_version(const char *text, size_t length, uint32_t *code) {
    uint32_t value = 0;
    size_t at = 0;
    for (unsigned group = 0; group < GROUPS; group++) {
        uint32_t number = 0;
        unsigned digits = 0;
        for (; at < length && is_digit(text[at]); at++) {
            number = number * 10 + (uint32_t)(text[at] - '0');
            digits++;
            if (digits > GROUP_DIGITS) {
                return TENDON_OBVIOUS_ERROR_VER_FORMAT;
            }
        }
        bool last = group == GROUPS - 1;
        if (digits == 0 || (last ? at != length : at >= length || text[at] != '.')) {
            return TENDON_OBVIOUS_ERROR_VER_FORMAT;
        }
        at++;
        value = value * GROUP_SIZE + number;
    }
    *code = value;
    return TENDON_OK;
}

tendon_status tendon_obvious_format_version(uint32_t code, char out[TENDON_OBVIOUS_VERSION_SIZE]) {
    if (code > TENDON_OBVIOUS_VERSION_MAX) {
        return TENDON_OBVIOUS_ERROR_VER_RANGE;
    }
    tendon_status length = 0;
    bool shown = false;
    uint32_t unit = 100000000;
    for (unsigned at = 1; at <= GROUPS * GROUP_DIGITS; at++) {
        uint32_t digit = code / unit;
        code -= digit * unit;
        unit /= 10;
        bool last = at % GROUP_DIGITS == 0;
        shown = shown || last || digit != 0;
        if (shown) {
            out[length++] = (char)('0' + digit);
        }
        if (last) {
            out[length++] = '.';
            shown = false;
        }
    }
    out[--length] = '\0';
    return length;
}
