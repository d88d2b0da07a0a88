/* SPDX-License-Identifier: MIT */
/* FE05 and FE06. Two families share the pair: basic (01) and advanced (10 read and response, 11 change, 12 reset). */
#include "codec_parts.h"
#include "tendon/base/packed.h"

enum { PARAMETER_KINDS = TENDON_FEELSPACE_PARAMETER_PAIRING_REQUIRED + 1 };
enum { BASIC = 0x01, ADVANCED = 0x10, ADVANCED_CHANGE = 0x11, RESET = 0x12, CHANGE = 0x80 };

tendon_status tendon_feelspace_put(const uint8_t *bytes, size_t count, uint8_t *out, size_t capacity) {
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_bytes(&writer, bytes, count);
    return tendon_writer_result(&writer);
}

/* Up to five bytes: family and parameter, then the value's. @p fits: false is an argument out of its range. */
static tendon_status put(bool fits, uint16_t head, uint32_t value, size_t length, uint8_t *out, size_t capacity) {
    const uint8_t bytes[] = {(uint8_t)(head >> 8), (uint8_t)(head & 0xFF), (uint8_t)(value & 0xFF),
                             (uint8_t)(value >> 8 & 0xFF), (uint8_t)(value >> 16 & 0xFF)};
    return fits ? tendon_feelspace_put(bytes, length, out, capacity) : TENDON_ERROR_INVALID_ARGUMENT;
}

#define CHANGE_BASIC(parameter) (uint16_t)(BASIC << 8 | CHANGE | TENDON_FEELSPACE_BASIC_##parameter)
#define CHANGE_ADVANCED(parameter) (uint16_t)(ADVANCED_CHANGE << 8 | TENDON_FEELSPACE_ADVANCED_##parameter)

tendon_status tendon_feelspace_encode_read_advanced(int32_t parameter, uint8_t *out, size_t capacity) {
    return put(feelspace_within(parameter, 0, 255), ADVANCED << 8 | 1, (uint32_t)parameter, 3, out, capacity);
}

tendon_status tendon_feelspace_encode_set_mode(int32_t mode, uint8_t *out, size_t capacity) {
    bool fits = feelspace_within(mode, TENDON_FEELSPACE_MODE_STANDBY, TENDON_FEELSPACE_MODE_CROSSING) &&
                mode != TENDON_FEELSPACE_MODE_CALIBRATION;
    return put(fits, CHANGE_BASIC(MODE), (uint32_t)mode, 4, out, capacity);
}

tendon_status tendon_feelspace_encode_set_default_intensity(int32_t intensity, bool feedback, uint8_t *out,
                                                            size_t capacity) {
    return put(feelspace_within(intensity, 0, 100), CHANGE_BASIC(DEFAULT_INTENSITY),
               (uint32_t)intensity | (uint32_t)feedback << 16, 5, out, capacity);
}

tendon_status tendon_feelspace_encode_set_heading_offset(int32_t degrees, uint8_t *out, size_t capacity) {
    return put(feelspace_within(degrees, 0, 359), CHANGE_BASIC(HEADING_OFFSET), (uint32_t)degrees, 4, out, capacity);
}

tendon_status tendon_feelspace_encode_set_name(const char *suffix, size_t length, uint8_t *out, size_t capacity) {
    if (length > TENDON_FEELSPACE_PACKET_MAX - 2) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    uint8_t bytes[TENDON_FEELSPACE_PACKET_MAX] = {BASIC, CHANGE | TENDON_FEELSPACE_BASIC_NAME};
    for (size_t i = 0; i < length; i++) {
        bytes[2 + i] = (uint8_t)suffix[i];
        if (bytes[2 + i] == 0 || bytes[2 + i] > 0x7F) {
            return TENDON_ERROR_INVALID_ARGUMENT;
        }
    }
    return tendon_feelspace_put(bytes, 2 + length, out, capacity);
}

tendon_status tendon_feelspace_encode_set_accuracy_signal(bool in_app, bool in_compass, bool persistent, uint8_t *out,
                                                          size_t capacity) {
    uint32_t state = in_compass | (uint32_t)in_app << 1;
    return put(true, CHANGE_ADVANCED(ACCURACY_SIGNAL), persistent | state << 8, 4, out, capacity);
}

tendon_status tendon_feelspace_encode_set_pairing(bool required, bool persistent, uint8_t *out, size_t capacity) {
    return put(true, CHANGE_ADVANCED(PAIRING_REQUIRED), persistent | (uint32_t)required << 8, 4, out, capacity);
}

tendon_status tendon_feelspace_encode_set_orientation_period(int32_t period_ms, uint8_t *out, size_t capacity) {
    return put(feelspace_within(period_ms, 20, 65535), CHANGE_ADVANCED(ORIENTATION_PERIOD), (uint32_t)period_ms << 8, 5,
               out, capacity);
}

tendon_status tendon_feelspace_encode_reset(bool parameters, bool bluetooth, bool sensors, uint8_t *out,
                                            size_t capacity) {
    return put(true, (uint16_t)(RESET << 8 | parameters), bluetooth | (uint32_t)sensors << 8, 4, out, capacity);
}

/* 225, 160, 225 degrees and 1; its persistence byte is 2, unlike any other's */
const uint8_t tendon_feelspace_front_range_patch[] = {
    ADVANCED_CHANGE, TENDON_FEELSPACE_ADVANCED_APP_FRONT_RANGE, 0x02, 0xE1, 0x00, 0xA0, 0x00, 0xE1, 0x00, 0x01};

/* ---- notifications ---- */

const char *tendon_feelspace_parameter_name(tendon_feelspace_parameter_kind kind) {
    return tendon_packed_name("mode\0default_intensity\0heading_offset\0name\0accuracy_signal\0app_front_range\0"
                              "orientation_period\0pairing_required",
                              PARAMETER_KINDS, kind);
}

/* Which parameter the two first bytes name, how long its packet is at least, and its highest value. */
static const struct row {
    uint8_t family, id, kind, length;
    uint16_t high;
} rows[] = {
    {BASIC, TENDON_FEELSPACE_BASIC_MODE, TENDON_FEELSPACE_PARAMETER_MODE, 3, TENDON_FEELSPACE_MODE_CROSSING},
    {BASIC, TENDON_FEELSPACE_BASIC_DEFAULT_INTENSITY, TENDON_FEELSPACE_PARAMETER_DEFAULT_INTENSITY, 3, 100},
    {BASIC, TENDON_FEELSPACE_BASIC_HEADING_OFFSET, TENDON_FEELSPACE_PARAMETER_HEADING_OFFSET, 4, 359},
    {BASIC, TENDON_FEELSPACE_BASIC_NAME, TENDON_FEELSPACE_PARAMETER_NAME, 3, UINT16_MAX},
    {ADVANCED, TENDON_FEELSPACE_ADVANCED_DEFAULT_INTENSITY, TENDON_FEELSPACE_PARAMETER_DEFAULT_INTENSITY, 3, 100},
    {ADVANCED, TENDON_FEELSPACE_ADVANCED_HEADING_OFFSET, TENDON_FEELSPACE_PARAMETER_HEADING_OFFSET, 4, 359},
    {ADVANCED, TENDON_FEELSPACE_ADVANCED_ACCURACY_SIGNAL, TENDON_FEELSPACE_PARAMETER_ACCURACY_SIGNAL, 3, 3},
    {ADVANCED, TENDON_FEELSPACE_ADVANCED_APP_FRONT_RANGE, TENDON_FEELSPACE_PARAMETER_APP_FRONT_RANGE, 9, UINT16_MAX},
    {ADVANCED, TENDON_FEELSPACE_ADVANCED_ORIENTATION_PERIOD, TENDON_FEELSPACE_PARAMETER_ORIENTATION_PERIOD, 4,
     UINT16_MAX},
    {ADVANCED, TENDON_FEELSPACE_ADVANCED_PAIRING_REQUIRED, TENDON_FEELSPACE_PARAMETER_PAIRING_REQUIRED, 3, UINT16_MAX},
};

static const struct row *row_of(uint8_t family, uint8_t id) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].family == family && rows[i].id == id) {
            return &rows[i];
        }
    }
    return NULL;
}

/* The value of a packet whose length was checked; @p value: its one or two bytes. */
static void take_value(const uint8_t *data, size_t length, uint16_t value, tendon_feelspace_parameter *p) {
    switch (p->kind) {
    case TENDON_FEELSPACE_PARAMETER_HEADING_OFFSET:
    case TENDON_FEELSPACE_PARAMETER_ORIENTATION_PERIOD:
        p->degrees = value; /* in the place of period_ms too */
        break;
    case TENDON_FEELSPACE_PARAMETER_APP_FRONT_RANGE:
        for (size_t i = 0; i < 3; i++) {
            p->front.range[i] = feelspace_word(data, 2 + 2 * i);
        }
        p->front.last = data[8];
        break;
    case TENDON_FEELSPACE_PARAMETER_NAME:
        p->name.text = (const char *)data + 2;
        p->name.length = length - 2;
        break;
    case TENDON_FEELSPACE_PARAMETER_PAIRING_REQUIRED:
        p->required = value != 0;
        break;
    default:
        p->mode = (uint8_t)value; /* in the place of intensity and accuracy_state too */
        break;
    }
}

tendon_status tendon_feelspace_decode_parameter(const uint8_t *data, size_t length, tendon_feelspace_parameter *out,
                                                size_t *offset) {
    if (length < 3) {
        return feelspace_needs(length, 3, offset);
    }
    const struct row *row = row_of(data[0], data[1]);
    if (row == NULL) {
        return feelspace_fail(TENDON_ERROR_UNSUPPORTED, data[0] == ADVANCED || data[0] == BASIC ? 1 : 0, offset);
    }
    if (length < row->length) {
        return feelspace_needs(length, row->length, offset);
    }
    uint16_t value = row->length == 4 ? feelspace_word(data, 2) : data[2];
    if (value > row->high) {
        return feelspace_fail(TENDON_FEELSPACE_ERROR_BAD_VALUE, 2, offset);
    }
    tendon_feelspace_parameter p = {.kind = (tendon_feelspace_parameter_kind)row->kind};
    take_value(data, length, value, &p);
    *out = p;
    return TENDON_OK;
}
