/* SPDX-License-Identifier: MIT */
/* Simulated naviBelt: commands. Each write is checked, executed or ignored, and recorded. */
#include "feelspace_parts.h"

typedef tendon_simulated_feelspace_outcome outcome;

enum { SYSTEM_SIGNAL = 0x20, STOP = 0x30, PULSE = 0x40, ALL_CHANNELS = 0xFF };
enum { CHANNEL_LENGTH = 18, PULSE_LENGTH = 17, PATTERN_LAST = 26, MASK_MOST = 6, MASK_MOST_BEFORE_PULSE = 4 };
enum { MASK = 0, BEARING = 3, TONES_MOST = 9 };

static uint16_t u16_at(const uint8_t *bytes) {
    return (uint16_t)(bytes[0] | (uint32_t)bytes[1] << 8);
}

/** A count that is not positive, read as signed, is endless. */
static int16_t iterations_of(uint8_t byte) {
    return byte >= 1 && byte <= 127 ? (int16_t)byte : (int16_t)-1;
}

static bool good_orientation(const tendon_simulated_feelspace *belt, uint8_t type, uint16_t orientation) {
    int most = belt_has(belt, SINCE_PULSE) ? MASK_MOST : MASK_MOST_BEFORE_PULSE;
    int motors = 0;
    for (uint32_t rest = orientation; rest != 0; rest >>= 1) {
        motors += (int)(rest & 1u);
    }
    return type <= BEARING && (type != MASK || motors <= most);
}

/** Own masks: such a pattern does not go with another one. */
static bool has_own_motors(uint8_t pattern) {
    return pattern > 5 && pattern != 8;
}

/**
 * Returns true if the belt executes a command: any command in app mode; otherwise commands on channel 0 that end by
 * themselves and clear no other channel.
 */
static bool allowed(const tendon_simulated_feelspace *belt, uint8_t channel, int16_t iterations, uint8_t clear) {
    return belt->mode == MODE_APP || (channel == 0 && iterations > 0 && clear == 0);
}

static void stop(tendon_simulated_feelspace *belt, uint8_t channel) {
    for (size_t i = 0; i < TENDON_SIMULATED_FEELSPACE_CHANNELS; i++) {
        if (channel == ALL_CHANNELS || channel == i) {
            belt->channels[i].active = false;
        }
    }
}

static void start(tendon_simulated_feelspace *belt, uint8_t number, const tendon_simulated_feelspace_channel *channel,
                  bool clear_others) {
    if (clear_others) {
        stop(belt, ALL_CHANNELS);
    }
    belt->channels[number] = *channel;
    belt->counters.vibrations++;
}

static outcome take_channel(tendon_simulated_feelspace *belt, const uint8_t *b, size_t length, uint64_t now) {
    if (length != CHANNEL_LENGTH) {
        return TENDON_FEELSPACE_REFUSED_LENGTH;
    }
    uint16_t intensity = u16_at(b + 2), start_ms = u16_at(b + 14);
    tendon_simulated_feelspace_channel channel = {.active = b[1] != 0,
                                                  .exclusive = b[16] != 0,
                                                  .pattern = b[1],
                                                  .intensity = b[2],
                                                  .orientation_type = b[6],
                                                  .orientation = u16_at(b + 7),
                                                  .iterations = iterations_of(b[11]),
                                                  .period_ms = u16_at(b + 12),
                                                  .started = now > start_ms ? now - start_ms : 0};
    if (b[1] > PATTERN_LAST || (intensity > 100 && intensity != 0xAAAA) || channel.period_ms == 0 ||
        start_ms >= channel.period_ms || !good_orientation(belt, b[6], channel.orientation) ||
        (b[6] == MASK && has_own_motors(b[1]))) {
        return TENDON_FEELSPACE_IGNORED_VALUE;
    }
    if (!allowed(belt, b[0], channel.iterations, b[17])) {
        return TENDON_FEELSPACE_IGNORED_MODE;
    }
    start(belt, b[0], &channel, b[17] != 0);
    return TENDON_FEELSPACE_TAKEN;
}

static outcome take_pulse(tendon_simulated_feelspace *belt, const uint8_t *b, size_t length, uint64_t now) {
    if (!belt_has(belt, SINCE_PULSE)) {
        return TENDON_FEELSPACE_IGNORED_UNKNOWN;
    }
    if (length != PULSE_LENGTH) {
        return TENDON_FEELSPACE_REFUSED_LENGTH;
    }
    tendon_simulated_feelspace_channel channel = {.active = true,
                                                  .exclusive = b[15] != 0,
                                                  .pulses = true,
                                                  .pattern = 1,
                                                  .intensity = b[5],
                                                  .orientation_type = b[2],
                                                  .orientation = u16_at(b + 3),
                                                  .iterations = iterations_of(b[9]),
                                                  .on_ms = u16_at(b + 6),
                                                  .pulse_count = b[8],
                                                  .pulse_period_ms = u16_at(b + 10),
                                                  .period_ms = u16_at(b + 12),
                                                  .started = now};
    if (b[1] >= TENDON_SIMULATED_FEELSPACE_CHANNELS || !good_orientation(belt, b[2], channel.orientation) ||
        (b[5] > 100 && b[5] != INTENSITY_DEFAULT) || channel.on_ms == 0 || b[8] == 0 || channel.pulse_period_ms == 0 ||
        channel.period_ms == 0 || b[14] > 2) {
        return TENDON_FEELSPACE_IGNORED_VALUE;
    }
    if (!allowed(belt, b[1], channel.iterations, b[16])) {
        return TENDON_FEELSPACE_IGNORED_MODE;
    }
    const tendon_simulated_feelspace_channel *before = &belt->channels[b[1]];
    bool keeps = b[14] == 2 || (b[14] == 1 && before->period_ms == channel.period_ms);
    if (before->active && keeps) {
        channel.started = before->started;
    }
    start(belt, b[1], &channel, b[16] != 0);
    return TENDON_FEELSPACE_TAKEN;
}

static outcome take_vibration(tendon_simulated_feelspace *belt, const uint8_t *b, size_t length, uint64_t now) {
    if (length == 0) {
        return TENDON_FEELSPACE_REFUSED_LENGTH;
    }
    if (b[0] < TENDON_SIMULATED_FEELSPACE_CHANNELS) {
        return take_channel(belt, b, length, now);
    }
    if (b[0] == PULSE) {
        return take_pulse(belt, b, length, now);
    }
    if (b[0] != SYSTEM_SIGNAL && b[0] != STOP) {
        return TENDON_FEELSPACE_IGNORED_VALUE;
    }
    if (length != 2) {
        return TENDON_FEELSPACE_REFUSED_LENGTH;
    }
    if (b[0] == SYSTEM_SIGNAL) {
        if (b[1] > 2) {
            return TENDON_FEELSPACE_IGNORED_VALUE;
        }
        belt->last_signal = b[1];
        belt->counters.signals++;
        return TENDON_FEELSPACE_TAKEN;
    }
    if (b[1] >= TENDON_SIMULATED_FEELSPACE_CHANNELS && b[1] != ALL_CHANNELS) {
        return TENDON_FEELSPACE_IGNORED_VALUE;
    }
    if (belt->mode != MODE_APP) {
        return TENDON_FEELSPACE_IGNORED_MODE;
    }
    stop(belt, b[1]);
    return TENDON_FEELSPACE_TAKEN;
}

static outcome take_tones(const uint8_t *b, size_t length) {
    if (length < 2 || length != 2u + 2u * b[1]) {
        return TENDON_FEELSPACE_REFUSED_LENGTH;
    }
    return b[0] == 1 && b[1] <= TONES_MOST ? TENDON_FEELSPACE_TAKEN : TENDON_FEELSPACE_IGNORED_VALUE;
}

/** The raw sensor stream. */
static outcome take_sensor_command(tendon_simulated_feelspace *belt, const uint8_t *b, size_t length, uint64_t now) {
    if (length != 2) {
        return TENDON_FEELSPACE_REFUSED_LENGTH;
    }
    if (b[0] != 1 || b[1] > 1) {
        return TENDON_FEELSPACE_IGNORED_VALUE;
    }
    bool on = b[1] == 1 && tendon_simulated_feelspace_listens(belt, BELT_SENSOR_DATA);
    belt->next_raw = on ? now : UINT64_MAX;
    return TENDON_FEELSPACE_TAKEN;
}

/** The error log: a header, then one entry for each error of this session. */
static void tell_errors(tendon_simulated_feelspace *belt) {
    uint8_t bytes[12];
    tendon_writer out = tendon_writer_make(bytes, sizeof bytes);
    uint8_t count = belt->error_count;
    tendon_write_u8(&out, 0x0B);
    tendon_write_u16le(&out, 1); /* session */
    tendon_write_u8(&out, count);
    tendon_write_u32le(&out, count > 0 ? belt->errors[0].code : 0);
    tendon_write_u32le(&out, count > 0 ? belt->errors[count - 1].code : 0);
    tendon_simulated_feelspace_notify(belt, BELT_DEBUG_OUTPUT, bytes, sizeof bytes);
    for (uint8_t i = 0; i < count; i++) {
        out = tendon_writer_make(bytes, sizeof bytes);
        tendon_write_u8(&out, 0x0C);
        tendon_write_u32le(&out, belt->errors[i].code);
        tendon_write_u32le(&out, belt->errors[i].ms);
        tendon_write_u16le(&out, 1);
        tendon_write_u8(&out, 0);
        tendon_simulated_feelspace_notify(belt, BELT_DEBUG_OUTPUT, bytes, sizeof bytes);
    }
}

static outcome take_debug(tendon_simulated_feelspace *belt, const uint8_t *b, size_t length) {
    if (length == 0) {
        return TENDON_FEELSPACE_REFUSED_LENGTH;
    }
    if (b[0] == 0x0B && length == 1) {
        tell_errors(belt);
        return TENDON_FEELSPACE_TAKEN;
    }
    return b[0] == 0x02 ? TENDON_FEELSPACE_TAKEN : TENDON_FEELSPACE_IGNORED_VALUE;
}

static outcome take(tendon_simulated_feelspace *belt, unsigned characteristic, const uint8_t *value, size_t length,
                    uint64_t now) {
    switch (characteristic) {
    case BELT_KEEP_ALIVE:
        if (length == 0 || length > 4) {
            return TENDON_FEELSPACE_REFUSED_LENGTH;
        }
        belt->counters.answers++;
        belt->unanswered_since = UINT64_MAX;
        return TENDON_FEELSPACE_TAKEN;
    case BELT_VIBRATION:
        return take_vibration(belt, value, length, now);
    case BELT_REQUEST:
        return tendon_simulated_feelspace_request(belt, value, length, now);
    case BELT_BUZZER:
        return take_tones(value, length);
    case BELT_SENSOR_COMMAND:
        return take_sensor_command(belt, value, length, now);
    default:
        return take_debug(belt, value, length);
    }
}

static void record(tendon_simulated_feelspace *belt, unsigned characteristic, const uint8_t *value, size_t length,
                   outcome result, uint64_t now) {
    static const uint16_t types[BELT_CHARACTERISTICS] = {0xFE01, 0xFE02, 0xFE03, 0xFE04, 0xFE05, 0xFE06, 0xFE07,
                                                         0xFE09, 0xFE0A, 0xFE0B, 0xFE0C, 0xFE13, 0xFE14};
    tendon_simulated_feelspace_record *entry = &belt->records[belt->recorded % TENDON_SIMULATED_FEELSPACE_RECORDS];
    *entry = (tendon_simulated_feelspace_record){.at = now,
                                                 .characteristic = types[characteristic],
                                                 .outcome = (uint8_t)result,
                                                 .length = (uint8_t)(length < 255 ? length : 255)};
    if (length > 0) {
        memcpy(entry->bytes, value, length < sizeof entry->bytes ? length : sizeof entry->bytes);
    }
    belt->recorded++;
    belt->counters.writes++;
    belt->counters.taken += result == TENDON_FEELSPACE_TAKEN ? 1 : 0;
    belt->counters.refused_writes += result == TENDON_FEELSPACE_REFUSED_LENGTH ? 1 : 0;
    belt->counters.ignored += result != TENDON_FEELSPACE_TAKEN && result != TENDON_FEELSPACE_REFUSED_LENGTH ? 1 : 0;
}

tendon_status tendon_simulated_feelspace_write(tendon_simulated_feelspace *belt, unsigned characteristic,
                                               const uint8_t *value, size_t length, uint64_t now) {
    belt->writing = true;
    outcome result = take(belt, characteristic, value, length, now);
    belt->writing = false;
    if (characteristic != BELT_KEEP_ALIVE || result != TENDON_FEELSPACE_TAKEN) { /* responses are only counted */
        record(belt, characteristic, value, length, result, now);
    }
    return result == TENDON_FEELSPACE_REFUSED_LENGTH ? TENDON_ATT_ERROR(TENDON_ATT_INVALID_ATTRIBUTE_VALUE_LENGTH)
                                                     : TENDON_OK;
}

const tendon_simulated_feelspace_record *tendon_simulated_feelspace_recorded(const tendon_simulated_feelspace *belt,
                                                                             uint64_t index) {
    if (index >= belt->recorded || belt->recorded - index > TENDON_SIMULATED_FEELSPACE_RECORDS) {
        return NULL;
    }
    return &belt->records[index % TENDON_SIMULATED_FEELSPACE_RECORDS];
}

const char *tendon_simulated_feelspace_outcome_name(uint8_t result) {
    static const char *const names[] = {"taken", "wrong_mode", "bad_value", "unknown", "bad_length", "silent"};
    return result < sizeof names / sizeof names[0] ? names[result] : "unknown";
}
