/* SPDX-License-Identifier: MIT */
#include "tendon/base/uuid.h"
#include "text.h"
#include <string.h>

/* 00000000-0000-1000-8000-00805F9B34FB */
static const tendon_uuid base_uuid = {{0, 0, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0x80, 0x5F, 0x9B, 0x34, 0xFB}};

tendon_uuid tendon_uuid_from_u32(uint32_t value) {
    tendon_uuid uuid = base_uuid;
    uuid.bytes[0] = (uint8_t)(value >> 24);
    uuid.bytes[1] = (uint8_t)(value >> 16 & 0xFFu);
    uuid.bytes[2] = (uint8_t)(value >> 8 & 0xFFu);
    uuid.bytes[3] = (uint8_t)(value & 0xFFu);
    return uuid;
}

tendon_uuid tendon_uuid_from_u16(uint16_t value) {
    return tendon_uuid_from_u32(value);
}

tendon_status tendon_uuid_from_wire(const uint8_t *wire, size_t length, tendon_uuid *out) {
    if (length == 2) {
        *out = tendon_uuid_from_u32((uint32_t)wire[1] << 8 | wire[0]);
        return TENDON_OK;
    }
    if (length == 4) {
        *out =
            tendon_uuid_from_u32((uint32_t)wire[3] << 24 | (uint32_t)wire[2] << 16 | (uint32_t)wire[1] << 8 | wire[0]);
        return TENDON_OK;
    }
    if (length != sizeof(out->bytes)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    for (size_t i = 0; i < sizeof(out->bytes); i++) {
        out->bytes[i] = wire[sizeof(out->bytes) - 1 - i];
    }
    return TENDON_OK;
}

size_t tendon_uuid_to_wire(const tendon_uuid *uuid, uint8_t out[16]) {
    uint16_t value;
    if (tendon_uuid_as_u16(uuid, &value)) {
        out[0] = (uint8_t)(value & 0xFFu);
        out[1] = (uint8_t)(value >> 8);
        return 2;
    }
    for (size_t i = 0; i < sizeof(uuid->bytes); i++) {
        out[i] = uuid->bytes[sizeof(uuid->bytes) - 1 - i];
    }
    return sizeof(uuid->bytes);
}

bool tendon_uuid_equal(const tendon_uuid *a, const tendon_uuid *b) {
    return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

bool tendon_uuid_as_u32(const tendon_uuid *uuid, uint32_t *out) {
    if (memcmp(uuid->bytes + 4, base_uuid.bytes + 4, sizeof(uuid->bytes) - 4) != 0) {
        return false;
    }
    *out = (uint32_t)uuid->bytes[0] << 24 | (uint32_t)uuid->bytes[1] << 16 | (uint32_t)uuid->bytes[2] << 8 |
           uuid->bytes[3];
    return true;
}

bool tendon_uuid_as_u16(const tendon_uuid *uuid, uint16_t *out) {
    uint32_t value;
    if (!tendon_uuid_as_u32(uuid, &value) || value > UINT16_MAX) {
        return false;
    }
    *out = (uint16_t)value;
    return true;
}

static tendon_status wrong_at(size_t *offset, size_t where) {
    if (offset != NULL) {
        *offset = where;
    }
    return TENDON_ERROR_MALFORMED;
}

static bool is_dash_place(size_t index) {
    return index == 8 || index == 13 || index == 18 || index == 23;
}

static tendon_status parse_long(const char *text, tendon_uuid *out, size_t *offset) {
    tendon_uuid uuid = {{0}};
    size_t nibble = 0;
    for (size_t i = 0; i < TENDON_UUID_STRING_SIZE - 1; i++) {
        int digit = tendon_hex_value(text[i]);
        if (is_dash_place(i) ? text[i] != '-' : digit < 0) {
            return wrong_at(offset, i);
        }
        if (!is_dash_place(i)) {
            uuid.bytes[nibble / 2] = (uint8_t)((unsigned)uuid.bytes[nibble / 2] << 4 | (unsigned)digit);
            nibble++;
        }
    }
    *out = uuid;
    return TENDON_OK;
}

tendon_status tendon_uuid_parse(const char *text, size_t length, tendon_uuid *out, size_t *offset) {
    if (length == TENDON_UUID_STRING_SIZE - 1) {
        return parse_long(text, out, offset);
    }
    size_t start = length >= 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 2 : 0;
    uint32_t value = 0;
    size_t i = start;
    for (; i < length && i < start + 8; i++) {
        int digit = tendon_hex_value(text[i]);
        if (digit < 0) {
            return wrong_at(offset, i);
        }
        value = value << 4 | (uint32_t)digit;
    }
    if (i != length || (i != start + 4 && i != start + 8)) {
        return wrong_at(offset, i);
    }
    *out = tendon_uuid_from_u32(value);
    return TENDON_OK;
}

char *tendon_uuid_format(const tendon_uuid *uuid, char out[TENDON_UUID_STRING_SIZE]) {
    static const char digits[] = "0123456789abcdef";
    char *to = out;
    for (size_t i = 0; i < sizeof(uuid->bytes); i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            *to++ = '-';
        }
        *to++ = digits[uuid->bytes[i] >> 4];
        *to++ = digits[uuid->bytes[i] & 0xFu];
    }
    *to = '\0';
    return out;
}
