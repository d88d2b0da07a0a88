/* SPDX-License-Identifier: MIT */
/* FE01, FE02, FE04, FE09, FE0C: decoders of the belt's notifications. */
#include "codec_parts.h"

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

#if defined(__GNUC__)
#define ONCE __attribute__((noinline)) /* one copy instead of four saves flash memory */
#else
#define ONCE
#endif

/* A field whose bytes are incomplete is absent, never guessed. */
ONCE static uint16_t optional(const uint8_t *data, size_t length, size_t at, bool *has) {
    *has = length >= at + 2;
    return *has ? feelspace_word(data, at) : 0;
}

ONCE static int16_t signed_word(const uint8_t *data, size_t at) {
    return tendon_i16_from_u16(feelspace_word(data, at));
}

ONCE static double fraction(int32_t raw) {
    return (double)raw / 256.0;
}

tendon_status tendon_feelspace_decode_battery(const uint8_t *data, size_t length, tendon_feelspace_battery *out,
                                              size_t *offset) {
    if (length < 5) {
        return feelspace_needs(length, 5, offset);
    }
    uint16_t level = feelspace_word(data, 1);
    uint16_t time = feelspace_word(data, 3);
    out->power_status_raw = data[0];
    out->power_status = data[0] <= TENDON_FEELSPACE_POWER_EXTERNAL ? data[0] : 0;
    out->level_percent = fraction(level < 25600 ? level : 25600);
    out->tte_ttf_s = (double)time * 5.625;
    out->saturated = time == 0xFFFF;
    out->current_ma = tendon_i16_from_u16(optional(data, length, 5, &out->has_current));
    out->voltage_mv = optional(data, length, 7, &out->has_voltage);
    out->temperature_c = fraction(tendon_i16_from_u16(optional(data, length, 9, &out->has_temperature)));
    out->aux_percent = fraction(optional(data, length, 11, &out->has_aux));
    out->has_vsl_power = length >= 14;
    out->vsl_power_status = out->has_vsl_power ? feelspace_signed(data[13]) : 0;
    out->vsl_level_percent = fraction(optional(data, length, 14, &out->has_vsl_level));
    return TENDON_OK;
}

tendon_status tendon_feelspace_decode_orientation(const uint8_t *data, size_t length, tendon_feelspace_orientation *out,
                                                  size_t *offset) {
    if (length < 16) {
        return feelspace_needs(length, 16, offset);
    }
    out->sensor_id = data[0];
    out->heading = signed_word(data, 1);
    out->heading_360 = feelspace_wrap(out->heading, 360);
    out->box_heading = signed_word(data, 3);
    out->box_roll = signed_word(data, 5);
    out->box_pitch = signed_word(data, 7);
    out->accuracy_deg = (uint16_t)signed_word(data, 9);
    out->magnetometer_status = feelspace_signed(data[11]);
    out->accelerometer_status = feelspace_signed(data[12]);
    out->gyroscope_status = feelspace_signed(data[13]);
    out->fusion_status = feelspace_signed(data[14]);
    out->accurate = data[15] == 0;
    return TENDON_OK;
}

tendon_status tendon_feelspace_decode_firmware(const uint8_t *data, size_t length, tendon_feelspace_firmware *out,
                                               size_t *offset) {
    if (length == 0) {
        return feelspace_needs(length, 1, offset);
    }
    out->version = length >= 2 ? feelspace_word(data, 0) : data[0];
    out->has_variant = length >= 3;
    out->variant = out->has_variant ? data[2] : 0;
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
