/* SPDX-License-Identifier: MIT */
#include "tendon/base/address.h"
#include "text.h"
#include <string.h>

tendon_address tendon_address_from_wire(const uint8_t wire[6], uint8_t type) {
    tendon_address address = {{wire[5], wire[4], wire[3], wire[2], wire[1], wire[0]}, type};
    return address;
}

void tendon_address_to_wire(const tendon_address *address, uint8_t wire[6]) {
    for (size_t i = 0; i < sizeof(address->bytes); i++) {
        wire[i] = address->bytes[sizeof(address->bytes) - 1 - i];
    }
}

bool tendon_address_equal(const tendon_address *a, const tendon_address *b) {
    return a->type == b->type && memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

bool tendon_address_is_resolvable(const tendon_address *address) {
    return address->type == TENDON_ADDRESS_TYPE_RANDOM && (address->bytes[0] & 0xC0u) == 0x40u;
}

static tendon_status wrong_at(size_t *offset, size_t where) {
    if (offset != NULL) {
        *offset = where;
    }
    return TENDON_ERROR_MALFORMED;
}

/* Compares the rest of the text with a suffix, ignoring case. */
static bool is_suffix(const char *text, size_t length, const char *suffix, size_t suffix_length) {
    if (length != suffix_length) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        char c = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] - 'A' + 'a') : text[i];
        if (c != suffix[i]) {
            return false;
        }
    }
    return true;
}

tendon_status tendon_address_parse(const char *text, size_t length, tendon_address *out, size_t *offset) {
    enum { DIGITS_END = TENDON_ADDRESS_STRING_SIZE - 1 };
    tendon_address address = {{0}, TENDON_ADDRESS_TYPE_PUBLIC};
    for (size_t i = 0; i < DIGITS_END; i++) {
        if (i >= length) {
            return wrong_at(offset, length);
        }
        if (i % 3 == 2) {
            if (text[i] != ':') {
                return wrong_at(offset, i);
            }
            continue;
        }
        int digit = tendon_hex_value(text[i]);
        if (digit < 0) {
            return wrong_at(offset, i);
        }
        address.bytes[i / 3] = (uint8_t)((unsigned)address.bytes[i / 3] << 4 | (unsigned)digit);
    }
    if (length > DIGITS_END) {
        if (is_suffix(text + DIGITS_END, length - DIGITS_END, "/random", 7)) {
            address.type = TENDON_ADDRESS_TYPE_RANDOM;
        } else if (!is_suffix(text + DIGITS_END, length - DIGITS_END, "/public", 7)) {
            return wrong_at(offset, DIGITS_END);
        }
    }
    *out = address;
    return TENDON_OK;
}

char *tendon_address_format(const tendon_address *address, char out[TENDON_ADDRESS_STRING_SIZE]) {
    static const char digits[] = "0123456789ABCDEF";
    char *to = out;
    for (size_t i = 0; i < sizeof(address->bytes); i++) {
        if (i > 0) {
            *to++ = ':';
        }
        *to++ = digits[address->bytes[i] >> 4];
        *to++ = digits[address->bytes[i] & 0xFu];
    }
    *to = '\0';
    return out;
}
