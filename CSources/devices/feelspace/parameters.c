/* SPDX-License-Identifier: MIT */
/*
 * FE05 and FE06. Two families share the pair: basic (01) and advanced (10 read
 * and answer, 11 change, 12 reset).
 */
#include "internal.h"

enum { BASIC = 0x01, ADVANCED = 0x10, ADVANCED_CHANGE = 0x11, RESET = 0x12, CHANGE = 0x80 };

static tendon_status encode_bytes(const uint8_t *bytes, size_t count, uint8_t *out, size_t capacity) {
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_bytes(&writer, bytes, count);
    return tendon_writer_result(&writer);
}

tendon_status tendon_feelspace_encode_read_basic(int32_t parameter, uint8_t *out, size_t capacity) {
    if (!feelspace_within(parameter, TENDON_FEELSPACE_BASIC_MODE, TENDON_FEELSPACE_BASIC_NAME)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    const uint8_t bytes[] = {BASIC, (uint8_t)parameter};
    return encode_bytes(bytes, sizeof bytes, out, capacity);
}

tendon_status tendon_feelspace_encode_read_advanced(int32_t parameter, uint8_t *out, size_t capacity) {
    if (!feelspace_within(parameter, 0, 255)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    const uint8_t bytes[] = {ADVANCED, 1, (uint8_t)parameter};
    return encode_bytes(bytes, sizeof bytes, out, capacity);
}

tendon_status tendon_feelspace_encode_set_mode(int32_t mode, uint8_t *out, size_t capacity) {
    if (!feelspace_within(mode, TENDON_FEELSPACE_MODE_STANDBY, TENDON_FEELSPACE_MODE_CROSSING) ||
        mode == TENDON_FEELSPACE_MODE_CALIBRATION) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    const uint8_t bytes[] = {BASIC, CHANGE | TENDON_FEELSPACE_BASIC_MODE, (uint8_t)mode, 0};
    return encode_bytes(bytes, sizeof bytes, out, capacity);
}

tendon_status tendon_feelspace_encode_set_default_intensity(int32_t intensity, bool feedback, uint8_t *out,
                                                            size_t capacity) {
    if (!feelspace_within(intensity, 0, 100)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    const uint8_t bytes[] = {BASIC, CHANGE | TENDON_FEELSPACE_BASIC_DEFAULT_INTENSITY, (uint8_t)intensity, 0, feedback};
    return encode_bytes(bytes, sizeof bytes, out, capacity);
}

tendon_status tendon_feelspace_encode_set_heading_offset(int32_t degrees, uint8_t *out, size_t capacity) {
    if (!feelspace_within(degrees, 0, 359)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    const uint8_t bytes[] = {BASIC, CHANGE | TENDON_FEELSPACE_BASIC_HEADING_OFFSET, (uint8_t)(degrees & 0xFF),
                             (uint8_t)(degrees >> 8)};
    return encode_bytes(bytes, sizeof bytes, out, capacity);
}

tendon_status tendon_feelspace_encode_set_heading_offset_advanced(int32_t degrees, bool persistent, uint8_t *out,
                                                                  size_t capacity) {
    if (!feelspace_within(degrees, 0, 359)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    const uint8_t bytes[] = {ADVANCED_CHANGE, TENDON_FEELSPACE_ADVANCED_HEADING_OFFSET, persistent,
                             (uint8_t)(degrees & 0xFF), (uint8_t)(degrees >> 8)};
    return encode_bytes(bytes, sizeof bytes, out, capacity);
}

tendon_status tendon_feelspace_encode_set_name(const char *suffix, size_t length, uint8_t *out, size_t capacity) {
    if (length > TENDON_FEELSPACE_PACKET_MAX - 2) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    for (size_t i = 0; i < length; i++) {
        if (suffix[i] == '\0' || ((unsigned char)suffix[i] & 0x80u) != 0) {
            return TENDON_ERROR_INVALID_ARGUMENT;
        }
    }
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_u8(&writer, BASIC);
    tendon_write_u8(&writer, CHANGE | TENDON_FEELSPACE_BASIC_NAME);
    tendon_write_bytes(&writer, suffix, length);
    return tendon_writer_result(&writer);
}

tendon_status tendon_feelspace_encode_set_accuracy_signal(bool in_app, bool in_compass, bool persistent, uint8_t *out,
                                                          size_t capacity) {
    const uint8_t bytes[] = {ADVANCED_CHANGE, TENDON_FEELSPACE_ADVANCED_ACCURACY_SIGNAL, persistent,
                             (uint8_t)((in_compass ? 1 : 0) + (in_app ? 2 : 0))};
    return encode_bytes(bytes, sizeof bytes, out, capacity);
}

tendon_status tendon_feelspace_encode_set_pairing(bool required, bool persistent, uint8_t *out, size_t capacity) {
    const uint8_t bytes[] = {ADVANCED_CHANGE, TENDON_FEELSPACE_ADVANCED_PAIRING_REQUIRED, persistent, required};
    return encode_bytes(bytes, sizeof bytes, out, capacity);
}

tendon_status tendon_feelspace_encode_set_orientation_period(int32_t period_ms, uint8_t *out, size_t capacity) {
    if (!feelspace_within(period_ms, 20, 65535)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    const uint8_t bytes[] = {ADVANCED_CHANGE, TENDON_FEELSPACE_ADVANCED_ORIENTATION_PERIOD, 0,
                             (uint8_t)(period_ms & 0xFF), (uint8_t)(period_ms >> 8)};
    return encode_bytes(bytes, sizeof bytes, out, capacity);
}

tendon_status tendon_feelspace_encode_reset(bool parameters, bool bluetooth, bool sensors, uint8_t *out,
                                            size_t capacity) {
    const uint8_t bytes[] = {RESET, parameters, bluetooth, sensors};
    return encode_bytes(bytes, sizeof bytes, out, capacity);
}

tendon_status tendon_feelspace_encode_front_range_patch(uint8_t *out, size_t capacity) {
    /* 225, 160, 225 degrees and 1; its persistence byte is 2, unlike any other's */
    static const uint8_t bytes[] = {
        ADVANCED_CHANGE, TENDON_FEELSPACE_ADVANCED_APP_FRONT_RANGE, 0x02, 0xE1, 0x00, 0xA0, 0x00, 0xE1, 0x00, 0x01};
    return encode_bytes(bytes, sizeof bytes, out, capacity);
}

/* ---- notifications ---- */

const char *tendon_feelspace_parameter_name(tendon_feelspace_parameter_kind kind) {
    static const char *const names[] = {
        "mode",
        "default_intensity",
        "heading_offset",
        "name",
        "accuracy_signal",
        "app_front_range",
        "orientation_period",
        "pairing_required",
    };
    return (size_t)kind < sizeof names / sizeof names[0] ? names[kind] : "unknown";
}

/* Which parameter the two first bytes name; false: one to be ignored. */
static bool kind_of(uint8_t family, uint8_t id, tendon_feelspace_parameter_kind *kind) {
    static const struct {
        uint8_t family, id, kind;
    } table[] = {
        {BASIC, TENDON_FEELSPACE_BASIC_MODE, TENDON_FEELSPACE_PARAMETER_MODE},
        {BASIC, TENDON_FEELSPACE_BASIC_DEFAULT_INTENSITY, TENDON_FEELSPACE_PARAMETER_DEFAULT_INTENSITY},
        {BASIC, TENDON_FEELSPACE_BASIC_HEADING_OFFSET, TENDON_FEELSPACE_PARAMETER_HEADING_OFFSET},
        {BASIC, TENDON_FEELSPACE_BASIC_NAME, TENDON_FEELSPACE_PARAMETER_NAME},
        {ADVANCED, TENDON_FEELSPACE_ADVANCED_DEFAULT_INTENSITY, TENDON_FEELSPACE_PARAMETER_DEFAULT_INTENSITY},
        {ADVANCED, TENDON_FEELSPACE_ADVANCED_HEADING_OFFSET, TENDON_FEELSPACE_PARAMETER_HEADING_OFFSET},
        {ADVANCED, TENDON_FEELSPACE_ADVANCED_ACCURACY_SIGNAL, TENDON_FEELSPACE_PARAMETER_ACCURACY_SIGNAL},
        {ADVANCED, TENDON_FEELSPACE_ADVANCED_APP_FRONT_RANGE, TENDON_FEELSPACE_PARAMETER_APP_FRONT_RANGE},
        {ADVANCED, TENDON_FEELSPACE_ADVANCED_ORIENTATION_PERIOD, TENDON_FEELSPACE_PARAMETER_ORIENTATION_PERIOD},
        {ADVANCED, TENDON_FEELSPACE_ADVANCED_PAIRING_REQUIRED, TENDON_FEELSPACE_PARAMETER_PAIRING_REQUIRED},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].family == family && table[i].id == id) {
            *kind = (tendon_feelspace_parameter_kind)table[i].kind;
            return true;
        }
    }
    return false;
}

/* Reads the value into @p p. @return false: out of its range. */
static bool read_value(tendon_reader *reader, tendon_feelspace_parameter *p) {
    switch (p->kind) {
    case TENDON_FEELSPACE_PARAMETER_MODE:
        p->mode = tendon_read_u8(reader);
        return feelspace_is_mode(p->mode);
    case TENDON_FEELSPACE_PARAMETER_DEFAULT_INTENSITY:
        p->intensity = tendon_read_u8(reader);
        return p->intensity <= 100;
    case TENDON_FEELSPACE_PARAMETER_HEADING_OFFSET:
        p->degrees = tendon_read_u16le(reader);
        return p->degrees <= 359;
    case TENDON_FEELSPACE_PARAMETER_ACCURACY_SIGNAL:
        p->accuracy_state = tendon_read_u8(reader);
        return p->accuracy_state <= 3;
    case TENDON_FEELSPACE_PARAMETER_APP_FRONT_RANGE:
        for (size_t i = 0; i < 3; i++) {
            p->front.range[i] = tendon_read_u16le(reader);
        }
        p->front.last = tendon_read_u8(reader);
        return true;
    case TENDON_FEELSPACE_PARAMETER_ORIENTATION_PERIOD:
        p->period_ms = tendon_read_u16le(reader);
        return true;
    case TENDON_FEELSPACE_PARAMETER_PAIRING_REQUIRED:
        p->required = tendon_read_u8(reader) != 0;
        return true;
    case TENDON_FEELSPACE_PARAMETER_NAME:
        p->name.length = tendon_reader_remaining(reader);
        p->name.text = (const char *)tendon_read_bytes(reader, p->name.length);
        return true;
    }
    return false;
}

tendon_status tendon_feelspace_decode_parameter(const uint8_t *data, size_t length, tendon_feelspace_parameter *out,
                                                size_t *offset) {
    if (length < 3) {
        return feelspace_needs(length, 3, offset);
    }
    tendon_reader reader = tendon_reader_make(data, length);
    uint8_t family = tendon_read_u8(&reader);
    uint8_t id = tendon_read_u8(&reader);
    tendon_feelspace_parameter p = {0};
    if (!kind_of(family, id, &p.kind)) {
        return feelspace_fail(TENDON_ERROR_UNSUPPORTED, family == ADVANCED || family == BASIC ? 1 : 0, offset);
    }
    bool valid = read_value(&reader, &p);
    if (!tendon_reader_ok(&reader)) {
        return feelspace_fail(TENDON_ERROR_TRUNCATED, reader.error_offset, offset);
    }
    if (!valid) {
        return feelspace_fail(TENDON_FEELSPACE_ERROR_BAD_VALUE, 2, offset);
    }
    *out = p;
    return TENDON_OK;
}
