/* SPDX-License-Identifier: MIT */
/* What is checked before and beside the parser: limits of the text, base64. No heap, no library. */
#include "obvious_cloud.h"

#include <string.h>

const char *tendon_cloud_status_text(tendon_cloud_status status) {
    switch (status) {
    case TENDON_CLOUD_OK:
        return "no error";
    case TENDON_CLOUD_TOO_LARGE:
        return "the answer exceeds 1 MiB";
    case TENDON_CLOUD_TOO_DEEP:
        return "the answer is nested more than 16 deep";
    case TENDON_CLOUD_STRING_TOO_LONG:
        return "a string exceeds 64 KiB";
    case TENDON_CLOUD_TOO_MANY_ITEMS:
        return "a list exceeds 2048 items";
    case TENDON_CLOUD_NOT_JSON:
        return "the answer is not a JSON object";
    case TENDON_CLOUD_MISSING:
        return "a member is missing";
    case TENDON_CLOUD_WRONG_TYPE:
        return "a member is of another type";
    case TENDON_CLOUD_OUT_OF_RANGE:
        return "a value is out of its range";
    case TENDON_CLOUD_DUPLICATE:
        return "an id or a name occurs twice";
    case TENDON_CLOUD_NO_MEMORY:
        break;
    }
    return "out of memory";
}

/* The index behind the closing quote of the string whose text begins at @p at; length if it has none. */
static size_t string_end(const char *text, size_t length, size_t at) {
    while (at < length && text[at] != '"') {
        at += text[at] == '\\' && length - at > 1 ? 2 : 1;
    }
    return at < length ? at + 1 : length;
}

tendon_cloud_status tendon_cloud_check_limits(const char *text, size_t length) {
    size_t items[TENDON_CLOUD_DEPTH_MAX] = {0}; /* commas so far, of each open array or object */
    size_t depth = 0;
    if (length > TENDON_CLOUD_BODY_MAX) {
        return TENDON_CLOUD_TOO_LARGE;
    }
    for (size_t at = 0; at < length; at++) {
        switch (text[at]) {
        case '"': {
            size_t end = string_end(text, length, at + 1);
            if (end - at - 2 > TENDON_CLOUD_STRING_MAX && end - at >= 2) {
                return TENDON_CLOUD_STRING_TOO_LONG;
            }
            at = end - 1;
            break;
        }
        case '[':
        case '{':
            if (depth >= TENDON_CLOUD_DEPTH_MAX) {
                return TENDON_CLOUD_TOO_DEEP;
            }
            items[depth++] = 0;
            break;
        case ']':
        case '}':
            if (depth > 0) {
                depth--;
            }
            break;
        case ',':
            if (depth > 0 && ++items[depth - 1] >= TENDON_CLOUD_ITEMS_MAX) {
                return TENDON_CLOUD_TOO_MANY_ITEMS;
            }
            break;
        default:
            break;
        }
    }
    return TENDON_CLOUD_OK;
}

static int sextet(char digit) {
    if (digit >= 'A' && digit <= 'Z') {
        return digit - 'A';
    }
    if (digit >= 'a' && digit <= 'z') {
        return digit - 'a' + 26;
    }
    if (digit >= '0' && digit <= '9') {
        return digit - '0' + 52;
    }
    return digit == '+' ? 62 : digit == '/' ? 63 : -1;
}

ptrdiff_t tendon_cloud_base64(const char *text, size_t length, uint8_t *out, size_t size) {
    size_t padding = 0, written = 0;
    if (length % 4 != 0) {
        return -1;
    }
    while (padding < 2 && padding < length && text[length - padding - 1] == '=') {
        padding++;
    }
    for (size_t at = 0; at < length; at += 4) {
        size_t digits = at + 4 == length ? 4 - padding : 4;
        uint32_t group = 0;
        for (size_t i = 0; i < 4; i++) {
            int value = i < digits ? sextet(text[at + i]) : 0;
            if (value < 0) {
                return -1;
            }
            group = group << 6 | (uint32_t)value;
        }
        /* Bits that no byte takes must be zero: one text for each value. */
        if ((group & ((1u << 8 * (4 - digits)) - 1)) != 0) {
            return -1;
        }
        for (size_t i = 0; i + 1 < digits; i++) {
            if (written >= size) {
                return -1;
            }
            out[written++] = (uint8_t)(group >> (16 - 8 * i));
        }
    }
    return (ptrdiff_t)written;
}
