/* SPDX-License-Identifier: MIT */
/* The data of Out of Band pairing as bytes and as text. */
#include "../base/text.h"
#include "tendon/host/advertisement.h"
#include "tendon/linux/out_of_band.h"

#include <string.h>

enum { ADDRESS_SIZE = 7, VALUE_SIZE = 16, RANDOM_ADDRESS = 0x01 };
/** Structures that were found. */
enum { HAS_ADDRESS = 1, HAS_ROLE = 2, HAS_CONFIRM = 4, HAS_RANDOM = 8, HAS_LEGACY = 16 };
/* Security Manager TK Value; in advertising data the same number is a Device ID. */
#define TEMPORARY_KEY TENDON_AD_DEVICE_ID

static tendon_status wrong_at(size_t *offset, size_t where, tendon_status status) {
    if (offset != NULL) {
        *offset = where;
    }
    return status;
}

static bool take_address(tendon_reader *value, tendon_out_of_band *out) {
    const uint8_t *wire = tendon_read_bytes(value, ADDRESS_SIZE);
    if (wire == NULL) {
        return false;
    }
    out->address = tendon_address_from_wire(wire, (wire[6] & RANDOM_ADDRESS) != 0 ? TENDON_ADDRESS_TYPE_RANDOM
                                                                                  : TENDON_ADDRESS_TYPE_PUBLIC);
    return true;
}

/** A value of all zeros means to the kernel that there is none. */
static bool take_value(tendon_reader *value, uint8_t out[VALUE_SIZE]) {
    const uint8_t *bytes = tendon_read_bytes(value, VALUE_SIZE);
    uint8_t any = 0;
    for (size_t i = 0; bytes != NULL && i < VALUE_SIZE; i++) {
        out[i] = bytes[i];
        any |= bytes[i];
    }
    return any != 0;
}

/** @return the bit of the structure; 0: of another type; TENDON_ERROR_MALFORMED. */
static int take(uint8_t type, tendon_reader *value, tendon_out_of_band *out) {
    bool good = true;
    int found = 0;
    switch (type) {
    case TENDON_AD_DEVICE_ADDRESS:
        good = take_address(value, out);
        found = HAS_ADDRESS;
        break;
    case TENDON_AD_ROLE:
        out->role = tendon_read_u8(value);
        good = tendon_reader_ok(value);
        found = HAS_ROLE;
        break;
    case TENDON_AD_SECURE_CONFIRMATION:
        good = take_value(value, out->confirm);
        found = HAS_CONFIRM;
        break;
    case TENDON_AD_SECURE_RANDOM:
        good = take_value(value, out->random);
        found = HAS_RANDOM;
        break;
    case TEMPORARY_KEY:
        return HAS_LEGACY;
    default:
        return 0;
    }
    return good && tendon_reader_remaining(value) == 0 ? found : TENDON_ERROR_MALFORMED;
}

/** Whether only zeros are left: an early end of the structures (Core Spec Vol 3 Part C 11). */
static bool is_end(const uint8_t *data, size_t length, size_t position) {
    for (size_t i = position; i < length; i++) {
        if (data[i] != 0) {
            return false;
        }
    }
    return true;
}

tendon_status tendon_out_of_band_decode(const uint8_t *data, size_t length, tendon_out_of_band *out, size_t *offset) {
    enum { REQUIRED = HAS_ADDRESS | HAS_CONFIRM | HAS_RANDOM };
    tendon_out_of_band device = {.role = TENDON_LE_ROLE_UNKNOWN};
    int all = 0;
    uint8_t type = 0;
    tendon_reader value;
    if (length > TENDON_OUT_OF_BAND_LENGTH_MAX) {
        return wrong_at(offset, TENDON_OUT_OF_BAND_LENGTH_MAX, TENDON_ERROR_OVERFLOW);
    }
    tendon_ad_iterator iterator = tendon_ad_begin(data, length);
    size_t at = 0;
    while (tendon_ad_next_part(&iterator, &type, &value)) {
        int found = take(type, &value, &device);
        if (found < 0 || (found & all) != 0) {
            return wrong_at(offset, at, TENDON_ERROR_MALFORMED);
        }
        all |= found;
        at = iterator.reader.position;
    }
    if (!tendon_reader_ok(&iterator.reader)) {
        return wrong_at(offset, at, TENDON_ERROR_TRUNCATED);
    }
    if (!is_end(data, length, at)) {
        return wrong_at(offset, at, TENDON_ERROR_MALFORMED);
    }
    if ((all & REQUIRED) != REQUIRED) {
        bool legacy = (all & HAS_LEGACY) != 0 && (all & (HAS_CONFIRM | HAS_RANDOM)) == 0;
        return wrong_at(offset, length, legacy ? TENDON_ERROR_UNSUPPORTED : TENDON_ERROR_MALFORMED);
    }
    *out = device;
    return TENDON_OK;
}

static void write_head(tendon_writer *writer, size_t size, tendon_ad_type type) {
    tendon_write_u8(writer, (uint8_t)(size + 1));
    tendon_write_u8(writer, (uint8_t)type);
}

tendon_status tendon_out_of_band_encode(const tendon_out_of_band *data, uint8_t *out, size_t capacity) {
    tendon_writer writer = tendon_writer_make(out, capacity);
    uint8_t wire[6];
    tendon_address_to_wire(&data->address, wire);
    write_head(&writer, ADDRESS_SIZE, TENDON_AD_DEVICE_ADDRESS);
    tendon_write_bytes(&writer, wire, sizeof wire);
    tendon_write_u8(&writer, data->address.type == TENDON_ADDRESS_TYPE_RANDOM ? RANDOM_ADDRESS : 0);
    if (data->role != TENDON_LE_ROLE_UNKNOWN) {
        write_head(&writer, 1, TENDON_AD_ROLE);
        tendon_write_u8(&writer, data->role);
    }
    write_head(&writer, VALUE_SIZE, TENDON_AD_SECURE_CONFIRMATION);
    tendon_write_bytes(&writer, data->confirm, VALUE_SIZE);
    write_head(&writer, VALUE_SIZE, TENDON_AD_SECURE_RANDOM);
    tendon_write_bytes(&writer, data->random, VALUE_SIZE);
    return tendon_writer_result(&writer);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

tendon_status tendon_out_of_band_parse(const char *text, size_t length, tendon_out_of_band *out, size_t *offset) {
    uint8_t data[TENDON_OUT_OF_BAND_LENGTH_MAX] = {0};
    size_t from = 0, count = 0;
    while (from < length && is_blank(text[from])) {
        from++;
    }
    while (length > from && is_blank(text[length - 1])) {
        length--;
    }
    for (size_t i = from; i < length; i += 2) {
        int high = tendon_hex_value(text[i]), low = i + 1 < length ? tendon_hex_value(text[i + 1]) : -1;
        if (high < 0 || low < 0) {
            return wrong_at(offset, high < 0 ? i : i + 1, TENDON_ERROR_MALFORMED);
        }
        if (count == sizeof data) {
            return wrong_at(offset, i, TENDON_ERROR_OVERFLOW);
        }
        data[count++] = (uint8_t)(high << 4 | low);
    }
    size_t where = 0;
    tendon_status status = tendon_out_of_band_decode(data, count, out, &where);
    return status < 0 ? wrong_at(offset, from + 2 * where, status) : status;
}

char *tendon_out_of_band_format(const tendon_out_of_band *data, char out[TENDON_OUT_OF_BAND_STRING_SIZE]) {
    static const char digits[] = "0123456789abcdef";
    uint8_t bytes[TENDON_OUT_OF_BAND_SIZE];
    tendon_status length = tendon_out_of_band_encode(data, bytes, sizeof bytes); /* always fits */
    char *to = out;
    for (tendon_status i = 0; i < length; i++) {
        *to++ = digits[bytes[i] >> 4];
        *to++ = digits[bytes[i] & 0xFu];
    }
    *to = '\0';
    return out;
}
