/* SPDX-License-Identifier: MIT */
#include "tendon/base/status.h"

typedef struct line {
    char *out;
    size_t capacity, length;
} line;

static void put(line *to, char c) {
    if (to->length + 1 < to->capacity) {
        to->out[to->length] = c;
    }
    to->length++;
}

static void put_text(line *to, const char *text) {
    for (size_t i = 0; text[i] != '\0'; i++) {
        put(to, text[i]);
    }
}

/** Specifications and the kernel's headers write their codes in hexadecimal, errno.h writes decimal numbers. */
static void put_code(line *to, uint8_t code, bool hexadecimal) {
    static const char digits[] = "0123456789ABCDEF";
    if (hexadecimal) {
        put_text(to, "0x");
        put(to, digits[code >> 4]);
        put(to, digits[code & 15]);
        return;
    }
    if (code >= 100) {
        put(to, digits[code / 100]);
    }
    if (code >= 10) {
        put(to, digits[code / 10 % 10]);
    }
    put(to, digits[code % 10]);
}

static bool has_number(tendon_layer layer) {
    return layer == TENDON_LAYER_SYSTEM || (layer >= TENDON_LAYER_ATT && layer <= TENDON_LAYER_MANAGEMENT);
}

tendon_status tendon_status_format(tendon_status status, const char *name, const char *text, char *out,
                                   size_t capacity) {
    line to = {.out = out, .capacity = capacity};
    const tendon_layer layer = status < 0 ? TENDON_STATUS_LAYER(status) : TENDON_LAYER_BASE;
    put_text(&to, text != NULL ? text : tendon_status_text(status));
    put_text(&to, " (");
    put_text(&to, name != NULL ? name : tendon_status_name(status));
    if (has_number(layer)) {
        put_text(&to, ", ");
        put_code(&to, TENDON_STATUS_CODE(status), layer != TENDON_LAYER_SYSTEM);
    }
    put(&to, ')');
    if (capacity > 0) {
        out[to.length < capacity ? to.length : capacity - 1] = '\0';
    }
    return to.length < capacity ? (tendon_status)to.length : TENDON_ERROR_BUFFER_TOO_SMALL;
}
