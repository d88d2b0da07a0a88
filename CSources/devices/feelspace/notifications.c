/* SPDX-License-Identifier: MIT */
/* FE01, FE02, FE04, FE09, FE0C: what a belt tells of itself. */
#include "internal.h"

tendon_status tendon_feelspace_encode_keep_alive_answer(uint8_t *out, size_t capacity) {
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_u8(&writer, 0);
    return tendon_writer_result(&writer);
}

tendon_status tendon_feelspace_decode_keep_alive(const uint8_t *data, size_t length, uint8_t *mode, size_t *offset) {
    if (length < 2) {
        return feelspace_needs(length, 2, offset);
    }
    if (!feelspace_is_mode(data[1])) {
        return feelspace_fail(TENDON_FEELSPACE_ERROR_BAD_VALUE, 1, offset);
    }
    *mode = data[1];
    return TENDON_OK;
}

tendon_status tendon_feelspace_decode_button(const uint8_t *data, size_t length, tendon_feelspace_press *out,
                                             size_t *offset) {
    if (length < 5) {
        return feelspace_needs(length, 5, offset);
    }
    if (data[0] < TENDON_FEELSPACE_BUTTON_POWER || data[0] > TENDON_FEELSPACE_BUTTON_HOME) {
        return feelspace_fail(TENDON_FEELSPACE_ERROR_BAD_VALUE, 0, offset);
    }
    for (size_t at = 3; at <= 4; at++) {
        if (!feelspace_is_mode(data[at])) {
            return feelspace_fail(TENDON_FEELSPACE_ERROR_BAD_VALUE, at, offset);
        }
    }
    *out = (tendon_feelspace_press){.button = data[0],
                                    .press_code = data[1],
                                    .is_long = data[1] >= 3,
                                    .previous_mode = data[3],
                                    .new_mode = data[4]};
    return TENDON_OK;
}

static double percent(uint16_t raw) {
    return (double)raw / 256.0;
}

/* A field whose bytes are incomplete is absent, never guessed: each tells by the reader whether it was there. */
static void read_optional(tendon_reader *reader, tendon_feelspace_battery *b) {
    b->current_ma = tendon_read_i16le(reader);
    b->has_current = tendon_reader_ok(reader);
    b->voltage_mv = tendon_read_u16le(reader);
    b->has_voltage = tendon_reader_ok(reader);
    b->temperature_c = (double)tendon_read_i16le(reader) / 256.0;
    b->has_temperature = tendon_reader_ok(reader);
    b->aux_percent = percent(tendon_read_u16le(reader));
    b->has_aux = tendon_reader_ok(reader);
    b->vsl_power_status = tendon_read_i8(reader);
    b->has_vsl_power = tendon_reader_ok(reader);
    b->vsl_level_percent = percent(tendon_read_u16le(reader));
    b->has_vsl_level = tendon_reader_ok(reader);
}

tendon_status tendon_feelspace_decode_battery(const uint8_t *data, size_t length, tendon_feelspace_battery *out,
                                              size_t *offset) {
    if (length < 5) {
        return feelspace_needs(length, 5, offset);
    }
    tendon_reader reader = tendon_reader_make(data, length);
    tendon_feelspace_battery b = {0};
    b.power_status_raw = tendon_read_u8(&reader);
    b.power_status = b.power_status_raw <= TENDON_FEELSPACE_POWER_EXTERNAL ? b.power_status_raw : 0;
    b.level_percent = percent(tendon_read_u16le(&reader));
    if (b.level_percent > 100.0) {
        b.level_percent = 100.0;
    }
    uint16_t time = tendon_read_u16le(&reader);
    b.tte_ttf_s = (double)time * 5.625;
    b.saturated = time == 0xFFFF;
    read_optional(&reader, &b);
    *out = b;
    return TENDON_OK;
}

tendon_status tendon_feelspace_decode_orientation(const uint8_t *data, size_t length, tendon_feelspace_orientation *out,
                                                  size_t *offset) {
    if (length < 16) {
        return feelspace_needs(length, 16, offset);
    }
    tendon_reader reader = tendon_reader_make(data, length);
    tendon_feelspace_orientation o = {0};
    o.sensor_id = tendon_read_u8(&reader);
    o.heading = tendon_read_i16le(&reader);
    o.heading_360 = feelspace_wrap(o.heading, 360);
    o.box_heading = tendon_read_i16le(&reader);
    o.box_roll = tendon_read_i16le(&reader);
    o.box_pitch = tendon_read_i16le(&reader);
    o.accuracy_deg = tendon_read_u16le(&reader);
    o.magnetometer_status = tendon_read_i8(&reader);
    o.accelerometer_status = tendon_read_i8(&reader);
    o.gyroscope_status = tendon_read_i8(&reader);
    o.fusion_status = tendon_read_i8(&reader);
    o.accurate = tendon_read_u8(&reader) == 0;
    *out = o;
    return TENDON_OK;
}

tendon_status tendon_feelspace_decode_firmware(const uint8_t *data, size_t length, tendon_feelspace_firmware *out,
                                               size_t *offset) {
    if (length == 0) {
        return feelspace_needs(length, 1, offset);
    }
    tendon_feelspace_firmware f = {.version = data[0]};
    if (length >= 2) {
        f.version = (uint16_t)(f.version | (uint32_t)data[1] << 8);
    }
    if (length >= 3) {
        f.has_variant = true;
        f.variant = data[2];
    }
    *out = f;
    return TENDON_OK;
}

bool tendon_feelspace_has_feature(const tendon_feelspace_firmware *firmware, tendon_feelspace_feature feature) {
    static const uint8_t first[TENDON_FEELSPACE_FEATURE_COUNT] = {
        [TENDON_FEELSPACE_FEATURE_PERSISTENT_CHANGE] = 41,
        [TENDON_FEELSPACE_FEATURE_RESET] = 43,
        [TENDON_FEELSPACE_FEATURE_CROSSING] = 45,
        [TENDON_FEELSPACE_FEATURE_PULSE] = 45,
        [TENDON_FEELSPACE_FEATURE_BUZZER] = 45,
        [TENDON_FEELSPACE_FEATURE_ORIENTATION_PERIOD] = 52,
    };
    if ((unsigned)feature >= TENDON_FEELSPACE_FEATURE_COUNT) {
        return false;
    }
    /* Newer hardware numbers from 1 again, and has all of it. */
    bool renumbered = firmware->has_variant && firmware->variant > 3;
    return renumbered || firmware->version >= first[feature];
}

bool tendon_feelspace_patch_candidate(const tendon_feelspace_firmware *firmware) {
    return (firmware->version & 0xFF) == 4 && firmware->has_variant && firmware->variant == 4;
}

bool tendon_feelspace_patch_needed(const tendon_feelspace_parameter *front_range) {
    return front_range->kind == TENDON_FEELSPACE_PARAMETER_APP_FRONT_RANGE && front_range->front.range[2] > 0xFF;
}
