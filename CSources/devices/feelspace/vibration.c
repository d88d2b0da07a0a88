/* SPDX-License-Identifier: MIT */
/*
 * FE03. The first byte is a channel's index or an operation: 00 to 05, 20
 * system signal, 30 stop, 40 pulse.
 */
#include "codec_parts.h"

enum { SYSTEM_SIGNAL = 0x20, STOP = 0x30, PULSE = 0x40, ALL_CHANNELS = 0xFF };
enum { DEFAULT_INTENSITY = 0xAAAA };

bool tendon_feelspace_pattern_takes_mask(uint8_t pattern) {
    return pattern <= TENDON_FEELSPACE_PATTERN_DOUBLE_LONG || pattern == TENDON_FEELSPACE_PATTERN_FADE_OUT;
}

bool tendon_feelspace_iterations_endless(int32_t iterations) {
    return iterations <= 0 || iterations > 127;
}

static unsigned bits_set(uint16_t mask) {
    unsigned count = 0;
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        count++;
    }
    return count;
}

/* ---- packets by table: member of the struct, byte, kind, range ---- */

enum {
    BYTE = 0x00,
    WORD = 0x01,    /* two bytes */
    FLAG = 0x02,    /* a bool */
    DEFAULT = 0x04, /* -1 is AA in each byte */
    COUNT = 0x08,   /* signed, and everything that is not positive is -1 for a belt */
    FOREVER = 0x10, /* -1 is sent as 0 */
    PLACE = 0x20,   /* an orientation: reduced according to its type, which is the previous field */
    START = 0x40    /* reduced modulo the field before, the period */
};

typedef struct field {
    uint8_t member, at, kind;
    int8_t low;
    uint16_t high;
} field;

#define CHANNEL(name) (uint8_t) offsetof(tendon_feelspace_channel, name)
#define PULSES(name) (uint8_t) offsetof(tendon_feelspace_pulse, name)

_Static_assert(sizeof(tendon_feelspace_channel) <= 256 && sizeof(tendon_feelspace_pulse) <= 256,
               "the fields hold offsets of one byte");

static const field channel_fields[] = {
    {CHANNEL(channel), 0, BYTE, 0, TENDON_FEELSPACE_CHANNELS_EXTENDED - 1},
    {CHANNEL(pattern), 1, BYTE, 0, TENDON_FEELSPACE_PATTERN_LAST},
    {CHANNEL(intensity), 2, WORD | DEFAULT, -1, 100},
    {CHANNEL(orientation_type), 6, BYTE, 0, TENDON_FEELSPACE_ORIENTATION_BEARING},
    {CHANNEL(orientation), 7, WORD | PLACE, 0, 65535},
    {CHANNEL(iterations), 11, COUNT, -1, 255}, /* -1 and 255 are the same byte */
    {CHANNEL(period_ms), 12, WORD, 1, 65535},
    {CHANNEL(start_ms), 14, WORD | START, 0, 65535},
    {CHANNEL(exclusive), 16, FLAG, 0, 255},
    {CHANNEL(clear_others), 17, FLAG, 0, 255},
};

static const field pulse_fields[] = {
    {PULSES(channel), 1, BYTE, 0, TENDON_FEELSPACE_CHANNELS_EXTENDED - 1},
    {PULSES(orientation_type), 2, BYTE, 0, TENDON_FEELSPACE_ORIENTATION_BEARING},
    {PULSES(orientation), 3, WORD | PLACE, 0, 65535},
    {PULSES(intensity), 5, DEFAULT, -1, 100},
    {PULSES(on_ms), 6, WORD, 1, 65535},
    {PULSES(pulse_iterations), 8, BYTE, 1, 255},
    {PULSES(series_iterations), 9, COUNT | FOREVER, -1, 127},
    {PULSES(pulse_period_ms), 10, WORD, 1, 65535},
    {PULSES(series_period_ms), 12, WORD, 1, 65535},
    {PULSES(timer_option), 14, BYTE, 0, 2},
    {PULSES(exclusive), 15, FLAG, 0, 255},
    {PULSES(clear_others), 16, FLAG, 0, 255},
};

enum {
    CHANNEL_FIELDS = sizeof channel_fields / sizeof channel_fields[0],
    PULSE_FIELDS = sizeof pulse_fields / sizeof pulse_fields[0]
};

/* Returns the encoded orientation; -1: a mask of more motors than can vibrate. */
static int32_t place(int32_t type, int32_t orientation) {
    if (type == TENDON_FEELSPACE_ORIENTATION_MASK) {
        uint16_t mask = (uint16_t)((uint32_t)orientation & 0xFFFFu);
        return bits_set(mask) <= TENDON_FEELSPACE_MOTORS_MAX ? mask : -1;
    }
    return feelspace_wrap(orientation, type == TENDON_FEELSPACE_ORIENTATION_MOTOR ? 16 : 360);
}

static tendon_status encode(const void *from, uint8_t first, const field *fields, size_t count, size_t length,
                            uint8_t *out, size_t capacity) {
    uint8_t bytes[TENDON_FEELSPACE_CHANNEL_LENGTH] = {first};
    int32_t value = 1;
    for (size_t i = 0; i < count; i++) {
        const field *f = &fields[i];
        const void *member = (const uint8_t *)from + f->member;
        int32_t before = value;
        value = (f->kind & FLAG) != 0 ? *(const bool *)member : *(const int32_t *)member;
        if ((f->kind & PLACE) != 0) {
            value = place(before, value);
        } else if ((f->kind & START) != 0) {
            value = feelspace_wrap(value, before);
        }
        if (!feelspace_within(value, f->low, f->high)) {
            return TENDON_ERROR_INVALID_ARGUMENT;
        }
        uint32_t raw = (uint32_t)value;
        if (value < 0 && (f->kind & (DEFAULT | FOREVER)) != 0) {
            raw = (f->kind & DEFAULT) != 0 ? DEFAULT_INTENSITY : 0;
        }
        bytes[f->at] = (uint8_t)(raw & 0xFFu);
        if ((f->kind & WORD) != 0) {
            bytes[f->at + 1] = (uint8_t)(raw >> 8 & 0xFFu);
        }
    }
    return tendon_feelspace_put(bytes, length, out, capacity);
}

static tendon_status decode(const uint8_t *data, const field *fields, size_t count, void *to, size_t *offset) {
    for (size_t i = 0; i < count; i++) {
        const field *f = &fields[i];
        void *member = (uint8_t *)to + f->member;
        int32_t value = (f->kind & WORD) != 0 ? feelspace_word(data, f->at) : data[f->at];
        if ((f->kind & DEFAULT) != 0 &&
            value == ((f->kind & WORD) != 0 ? DEFAULT_INTENSITY : DEFAULT_INTENSITY & 0xFF)) {
            value = -1;
        }
        if ((f->kind & COUNT) != 0 && (value == 0 || value > INT8_MAX)) {
            value = -1;
        }
        if (!feelspace_within(value, f->low, f->high)) {
            return feelspace_fail(TENDON_FEELSPACE_ERROR_BAD_VALUE, f->at, offset);
        }
        if ((f->kind & FLAG) != 0) {
            *(bool *)member = value != 0;
        } else {
            *(int32_t *)member = value;
        }
    }
    return TENDON_OK;
}

/* ---- channels ---- */

tendon_status tendon_feelspace_encode_channel(const tendon_feelspace_channel *channel,
                                              tendon_feelspace_channels channels, uint8_t *out, size_t capacity) {
    bool masked = channel->orientation_type == TENDON_FEELSPACE_ORIENTATION_MASK;
    if (channel->channel >= (int32_t)channels ||
        (masked && !tendon_feelspace_pattern_takes_mask((uint8_t)((uint32_t)channel->pattern & 0xFFu)))) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    return encode(channel, 0, channel_fields, CHANNEL_FIELDS, TENDON_FEELSPACE_CHANNEL_LENGTH, out, capacity);
}

tendon_status tendon_feelspace_decode_channel(const uint8_t *data, size_t length, tendon_feelspace_channel *out,
                                              size_t *offset) {
    if (length < TENDON_FEELSPACE_CHANNEL_LENGTH) {
        return feelspace_needs(length, TENDON_FEELSPACE_CHANNEL_LENGTH, offset);
    }
    tendon_feelspace_channel c;
    tendon_status status = decode(data, channel_fields, CHANNEL_FIELDS, &c, offset);
    if (status == TENDON_OK) {
        *out = c;
    }
    return status;
}

/* ---- pulses ---- */

tendon_status tendon_feelspace_encode_pulse(const tendon_feelspace_pulse *pulse, uint8_t *out, size_t capacity) {
    return encode(pulse, PULSE, pulse_fields, PULSE_FIELDS, TENDON_FEELSPACE_PULSE_LENGTH, out, capacity);
}

tendon_status tendon_feelspace_decode_pulse(const uint8_t *data, size_t length, tendon_feelspace_pulse *out,
                                            size_t *offset) {
    if (length < TENDON_FEELSPACE_PULSE_LENGTH) {
        return feelspace_needs(length, TENDON_FEELSPACE_PULSE_LENGTH, offset);
    }
    if (data[0] != PULSE) {
        return feelspace_fail(TENDON_FEELSPACE_ERROR_BAD_VALUE, 0, offset);
    }
    tendon_feelspace_pulse p;
    tendon_status status = decode(data, pulse_fields, PULSE_FIELDS, &p, offset);
    if (status == TENDON_OK) {
        *out = p;
    }
    return status;
}

static tendon_status encode_two(uint8_t operation, uint8_t operand, uint8_t *out, size_t capacity) {
    const uint8_t bytes[] = {operation, operand};
    return tendon_feelspace_put(bytes, sizeof bytes, out, capacity);
}

tendon_status tendon_feelspace_encode_system_signal(int32_t signal, uint8_t *out, size_t capacity) {
    return feelspace_within(signal, TENDON_FEELSPACE_SIGNAL_WARNING, TENDON_FEELSPACE_SIGNAL_BATTERY)
               ? encode_two(SYSTEM_SIGNAL, (uint8_t)signal, out, capacity)
               : TENDON_ERROR_INVALID_ARGUMENT;
}

tendon_status tendon_feelspace_encode_stop(int32_t channel, tendon_feelspace_channels channels, uint8_t *out,
                                           size_t capacity) {
    return feelspace_within(channel, -1, (int32_t)channels - 1)
               ? encode_two(STOP, channel < 0 ? ALL_CHANNELS : (uint8_t)channel, out, capacity)
               : TENDON_ERROR_INVALID_ARGUMENT;
}

bool tendon_feelspace_belt_accepts(uint8_t mode, const uint8_t *packet, size_t length) {
    if (length == 0) {
        return false;
    }
    bool in_app = mode == TENDON_FEELSPACE_MODE_APP;
    switch (packet[0]) {
    case SYSTEM_SIGNAL:
        return length >= 2 && packet[1] <= TENDON_FEELSPACE_SIGNAL_BATTERY;
    case STOP:
        return in_app && length >= 2 && (packet[1] < TENDON_FEELSPACE_CHANNELS_EXTENDED || packet[1] == ALL_CHANNELS);
    case PULSE: {
        tendon_feelspace_pulse p;
        return tendon_feelspace_decode_pulse(packet, length, &p, NULL) == TENDON_OK &&
               (in_app || (p.channel == 0 && p.series_iterations > 0 && !p.clear_others));
    }
    default: {
        tendon_feelspace_channel c;
        return tendon_feelspace_decode_channel(packet, length, &c, NULL) == TENDON_OK &&
               (in_app || (c.channel == 0 && c.iterations > 0 && !c.clear_others));
    }
    }
}
