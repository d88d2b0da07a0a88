/* SPDX-License-Identifier: MIT */
#include "tendon/host/advertisement.h"

/* One character and the bytes it took; 0xFFFFFFFF: not valid UTF-8 (one byte is taken then). */
typedef struct character {
    uint32_t code;
    size_t size;
} character;

#define INVALID 0xFFFFFFFFu
#define REPLACEMENT_SIZE 3

static character next_character(const uint8_t *data, size_t left) {
    character bad = {INVALID, 1};
    uint8_t first = data[0];
    if (first < 0x80) {
        character ascii = {first, 1};
        return ascii;
    }
    size_t size = first >= 0xC2 && first <= 0xDF   ? 2
                  : first >= 0xE0 && first <= 0xEF ? 3
                  : first >= 0xF0 && first <= 0xF4 ? 4
                                                   : 0;
    if (size == 0 || size > left) {
        return bad;
    }
    uint32_t code = first & (0x7Fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((data[i] & 0xC0u) != 0x80u) {
            return bad;
        }
        code = code << 6 | (data[i] & 0x3Fu);
    }
    bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
    if (overlong || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
        return bad;
    }
    character good = {code, size};
    return good;
}

/* What moves the cursor, ends a line or reorders text on a terminal. */
static bool is_unsafe(uint32_t code) {
    return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x061C || code == 0x200E || code == 0x200F ||
           (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF ||
           code == INVALID;
}

size_t tendon_ad_text(const uint8_t *data, size_t length, char *out, size_t capacity) {
    static const uint8_t replacement[REPLACEMENT_SIZE] = {0xEF, 0xBF, 0xBD};
    size_t written = 0;
    if (capacity == 0) {
        return 0;
    }
    for (size_t i = 0; i < length && data[i] != 0;) {
        character next = next_character(data + i, length - i);
        bool replaced = is_unsafe(next.code);
        size_t size = replaced ? REPLACEMENT_SIZE : next.size;
        if (size > capacity - 1 - written) {
            break;
        }
        memcpy(out + written, replaced ? replacement : data + i, size);
        written += size;
        i += next.size;
    }
    out[written] = '\0';
    return written;
}

tendon_status tendon_ad_name(const uint8_t *data, size_t length, char *out, size_t capacity) {
    tendon_ad_structure name;
    if (!tendon_ad_find(data, length, TENDON_AD_NAME_COMPLETE, &name) &&
        !tendon_ad_find(data, length, TENDON_AD_NAME_SHORTENED, &name)) {
        return TENDON_ERROR_NOT_FOUND;
    }
    return (tendon_status)tendon_ad_text(name.data, name.length, out, capacity);
}
