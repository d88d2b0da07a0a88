/* SPDX-License-Identifier: MIT */
/* Simulated naviBelt: parameter requests and their responses. */
#include "feelspace_parts.h"

enum { ADVANCED_READ = 0x10, ADVANCED_CHANGE = 0x11, RESET = 0x12, CHANGE_BIT = 0x80 };
enum {
    ID_INTENSITY = 0x00,
    ID_HEADING_OFFSET = 0x01,
    ID_BUZZER = 0x02,
    ID_ACCURACY = 0x03,
    ID_FRONT_RANGE = 0x0A,
    ID_PERIOD = 0x0F,
    ID_PAIRING = 0x25
};
enum { PERIOD_LOWEST_MS = 20 };

static uint16_t u16_at(const uint8_t *bytes) {
    return (uint16_t)(bytes[0] | (uint32_t)bytes[1] << 8);
}

tendon_simulated_feelspace_settings tendon_simulated_feelspace_factory(const tendon_simulated_feelspace *belt) {
    tendon_simulated_feelspace_settings settings = {.intensity = 50,
                                                    .accuracy = 3,
                                                    .buzzer = 1,
                                                    .pairing = belt->options.pairing_required,
                                                    .heading_offset = 45,
                                                    .orientation_period_ms = 500,
                                                    .front_range = {225, 0, 160, 0, 225, 0, 1}};
    if (belt->options.unpatched) {
        settings.front_range[5] = 1; /* high byte of the third number: what the patch looks for */
    }
    return settings;
}

/* ---- responses ---- */

/** Value of an advanced parameter. False: this belt does not have it. */
static bool write_advanced(const tendon_simulated_feelspace *belt, uint8_t id, tendon_writer *out) {
    const tendon_simulated_feelspace_settings *settings = &belt->settings;
    switch (id) {
    case ID_INTENSITY:
        tendon_write_u8(out, settings->intensity);
        return true;
    case ID_HEADING_OFFSET:
        tendon_write_u16le(out, settings->heading_offset);
        return true;
    case ID_BUZZER:
        tendon_write_u8(out, settings->buzzer);
        return belt_has(belt, SINCE_PULSE);
    case ID_ACCURACY:
        tendon_write_u8(out, settings->accuracy);
        return true;
    case ID_FRONT_RANGE:
        tendon_write_bytes(out, settings->front_range, sizeof settings->front_range);
        return belt->options.generation == TENDON_FEELSPACE_GENERATION_NEWER;
    case ID_PERIOD:
        tendon_write_u16le(out, settings->orientation_period_ms);
        return belt_has(belt, SINCE_PERIOD);
    case ID_PAIRING:
        tendon_write_u8(out, settings->pairing);
        return true;
    default:
        return false;
    }
}

/** Responds with an advanced parameter. Returns false if this belt does not have it. */
static bool tell_advanced(tendon_simulated_feelspace *belt, uint8_t id) {
    uint8_t bytes[20];
    tendon_writer out = tendon_writer_make(bytes, sizeof bytes);
    tendon_write_u8(&out, ADVANCED_READ);
    tendon_write_u8(&out, id);
    if (!write_advanced(belt, id, &out)) {
        return false;
    }
    tendon_simulated_feelspace_notify(belt, BELT_PARAMETER, bytes, out.length);
    return true;
}

/* ---- changes, basic family ---- */

static tendon_simulated_feelspace_outcome change_mode(tendon_simulated_feelspace *belt, uint8_t mode, uint64_t now) {
    if (mode >= MODE_COUNT) {
        return TENDON_FEELSPACE_IGNORED_VALUE;
    }
    if (mode == MODE_CROSSING && !belt_has(belt, SINCE_PULSE)) {
        return TENDON_FEELSPACE_IGNORED_UNKNOWN;
    }
    tendon_simulated_feelspace_enter(belt, mode, now);
    tendon_simulated_feelspace_tell(belt, BASIC_MODE);
    return TENDON_FEELSPACE_TAKEN;
}

static void change_name(tendon_simulated_feelspace *belt, const uint8_t *text, size_t length, uint64_t now) {
    memset(belt->name + PREFIX, 0, sizeof belt->name - PREFIX);
    memcpy(belt->name + PREFIX, text, length);
    tendon_simulated_feelspace_tell(belt, BASIC_NAME);
    tendon_simulated_feelspace_hang_up(belt, now);
}

static tendon_simulated_feelspace_outcome change_basic(tendon_simulated_feelspace *belt, uint8_t parameter,
                                                       const uint8_t *value, size_t length, uint64_t now) {
    static const uint8_t least[] = {0, 1, 1, 2, 0}; /* bytes of a value */
    if (parameter < BASIC_MODE || parameter > BASIC_NAME) {
        return TENDON_FEELSPACE_IGNORED_UNKNOWN;
    }
    if (length < least[parameter] || (parameter == BASIC_NAME && length > NAME_MOST)) {
        return TENDON_FEELSPACE_REFUSED_LENGTH;
    }
    switch (parameter) {
    case BASIC_MODE:
        return change_mode(belt, value[0], now);
    case BASIC_INTENSITY: /* the third byte requests a short vibration at the new level */
        tendon_simulated_feelspace_set_intensity(belt, value[0]);
        return TENDON_FEELSPACE_TAKEN;
    case BASIC_HEADING_OFFSET:
        if (u16_at(value) > 359) {
            return TENDON_FEELSPACE_IGNORED_VALUE;
        }
        belt->settings.heading_offset = belt->stored.heading_offset = u16_at(value);
        tendon_simulated_feelspace_tell(belt, BASIC_HEADING_OFFSET);
        return TENDON_FEELSPACE_TAKEN;
    default:
        change_name(belt, value, length, now);
        return TENDON_FEELSPACE_TAKEN;
    }
}

/* ---- changes, advanced family ---- */

/** Puts a value into @p settings. The length is right. False: out of range. */
static bool take_advanced(tendon_simulated_feelspace_settings *settings, uint8_t id, const uint8_t *value) {
    uint8_t intensity = value[0] < INTENSITY_LOWEST ? (uint8_t)INTENSITY_LOWEST : value[0];
    switch (id) {
    case ID_INTENSITY:
        settings->intensity = intensity > 100 ? 100 : intensity;
        return true;
    case ID_HEADING_OFFSET:
        settings->heading_offset = u16_at(value);
        return u16_at(value) <= 359;
    case ID_BUZZER:
        settings->buzzer = value[0];
        return value[0] <= 1;
    case ID_ACCURACY:
        settings->accuracy = value[0];
        return value[0] <= 3;
    case ID_FRONT_RANGE:
        memcpy(settings->front_range, value, sizeof settings->front_range);
        return true;
    case ID_PERIOD:
        settings->orientation_period_ms = u16_at(value);
        return u16_at(value) >= PERIOD_LOWEST_MS;
    default:
        settings->pairing = value[0];
        return value[0] <= 1;
    }
}

static tendon_simulated_feelspace_outcome change_advanced(tendon_simulated_feelspace *belt, const uint8_t *request,
                                                          size_t length) {
    uint8_t probe[20];
    tendon_writer present = tendon_writer_make(probe, sizeof probe);
    if (length < 3) {
        return TENDON_FEELSPACE_REFUSED_LENGTH;
    }
    uint8_t id = request[1], persistent = request[2];
    if (!write_advanced(belt, id, &present) || !belt_has(belt, SINCE_PERSISTENT)) {
        return TENDON_FEELSPACE_IGNORED_UNKNOWN;
    }
    if (length < 3 + present.length) {
        return TENDON_FEELSPACE_REFUSED_LENGTH;
    }
    tendon_simulated_feelspace_settings changed = belt->settings, stored = belt->stored;
    if (!take_advanced(&changed, id, request + 3) || persistent > 2) {
        return TENDON_FEELSPACE_IGNORED_VALUE;
    }
    belt->settings = changed;
    if (persistent != 0 && take_advanced(&stored, id, request + 3)) {
        belt->stored = stored;
    }
    (void)tell_advanced(belt, id);
    return TENDON_FEELSPACE_TAKEN;
}

static tendon_simulated_feelspace_outcome read_advanced(tendon_simulated_feelspace *belt, const uint8_t *request,
                                                        size_t length) {
    if (length < 3 || length != 2u + request[1]) {
        return TENDON_FEELSPACE_REFUSED_LENGTH;
    }
    bool known = false;
    for (size_t i = 2; i < length; i++) {
        bool told = tell_advanced(belt, request[i]);
        known = known || told;
    }
    return known ? TENDON_FEELSPACE_TAKEN : TENDON_FEELSPACE_IGNORED_UNKNOWN;
}

static tendon_simulated_feelspace_outcome reset(tendon_simulated_feelspace *belt, const uint8_t *request,
                                                size_t length) {
    if (length != 4) {
        return TENDON_FEELSPACE_REFUSED_LENGTH;
    }
    if (!belt_has(belt, SINCE_RESET)) {
        return TENDON_FEELSPACE_IGNORED_UNKNOWN;
    }
    if (request[1] == 1) {
        belt->settings = belt->stored = tendon_simulated_feelspace_factory(belt);
    }
    return TENDON_FEELSPACE_TAKEN;
}

tendon_simulated_feelspace_outcome tendon_simulated_feelspace_request(tendon_simulated_feelspace *belt,
                                                                      const uint8_t *value, size_t length,
                                                                      uint64_t now) {
    if (length < 2) {
        return TENDON_FEELSPACE_REFUSED_LENGTH;
    }
    if (belt->silent) {
        return TENDON_FEELSPACE_IGNORED_FAULT;
    }
    switch (value[0]) {
    case BASIC:
        if ((value[1] & CHANGE_BIT) != 0) {
            return change_basic(belt, value[1] & (CHANGE_BIT - 1), value + 2, length - 2, now);
        }
        if (value[1] < BASIC_MODE || value[1] > BASIC_NAME) {
            return TENDON_FEELSPACE_IGNORED_UNKNOWN;
        }
        tendon_simulated_feelspace_tell(belt, value[1]);
        return TENDON_FEELSPACE_TAKEN;
    case ADVANCED_READ:
        return read_advanced(belt, value, length);
    case ADVANCED_CHANGE:
        return change_advanced(belt, value, length);
    case RESET:
        return reset(belt, value, length);
    default:
        return TENDON_FEELSPACE_IGNORED_UNKNOWN;
    }
}
