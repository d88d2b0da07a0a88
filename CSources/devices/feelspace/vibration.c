/* SPDX-License-Identifier: MIT */
/*
 * FE03. The first byte is a channel's index or an operation: 00 to 05, 20
 * system signal, 30 stop, 40 pulse.
 */
#include "internal.h"

enum { SYSTEM_SIGNAL = 0x20, STOP = 0x30, PULSE = 0x40, ALL_CHANNELS = 0xFF };
enum { DEFAULT_INTENSITY = 0xAAAA, DEFAULT_PULSE_INTENSITY = 0xAA };

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

static bool orientation_valid(int32_t type, int32_t orientation) {
    return feelspace_within(type, TENDON_FEELSPACE_ORIENTATION_MASK, TENDON_FEELSPACE_ORIENTATION_BEARING) &&
           (type != TENDON_FEELSPACE_ORIENTATION_MASK ||
            bits_set((uint16_t)((uint32_t)orientation & 0xFFFFu)) <= TENDON_FEELSPACE_MOTORS_MAX);
}

static uint16_t orientation_on_wire(int32_t type, int32_t orientation) {
    switch (type) {
    case TENDON_FEELSPACE_ORIENTATION_MASK:
        return (uint16_t)((uint32_t)orientation & 0xFFFFu);
    case TENDON_FEELSPACE_ORIENTATION_MOTOR:
        return feelspace_wrap(orientation, 16);
    default:
        return feelspace_wrap(orientation, 360);
    }
}

static bool channel_valid(const tendon_feelspace_channel *c, tendon_feelspace_channels channels) {
    if (!feelspace_within(c->channel, 0, (int32_t)channels - 1) ||
        !feelspace_within(c->pattern, 0, TENDON_FEELSPACE_PATTERN_LAST) || !feelspace_within(c->intensity, -1, 100) ||
        !feelspace_within(c->iterations, -1, 255) || !feelspace_within(c->period_ms, 1, 65535)) {
        return false;
    }
    return orientation_valid(c->orientation_type, c->orientation) &&
           (c->orientation_type != TENDON_FEELSPACE_ORIENTATION_MASK ||
            tendon_feelspace_pattern_takes_mask((uint8_t)c->pattern));
}

tendon_status tendon_feelspace_encode_channel(const tendon_feelspace_channel *channel,
                                              tendon_feelspace_channels channels, uint8_t *out, size_t capacity) {
    if (!channel_valid(channel, channels)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_u8(&writer, (uint8_t)channel->channel);
    tendon_write_u8(&writer, (uint8_t)channel->pattern);
    tendon_write_u16le(&writer, feelspace_intensity(channel->intensity));
    tendon_write_u16le(&writer, 0);
    tendon_write_u8(&writer, (uint8_t)channel->orientation_type);
    tendon_write_u16le(&writer, orientation_on_wire(channel->orientation_type, channel->orientation));
    tendon_write_u16le(&writer, 0);
    tendon_write_u8(&writer, (uint8_t)((uint32_t)channel->iterations & 0xFFu)); /* -1 and 255 are the same byte */
    tendon_write_u16le(&writer, (uint16_t)channel->period_ms);
    tendon_write_u16le(&writer, feelspace_wrap(channel->start_ms, channel->period_ms));
    tendon_write_u8(&writer, channel->exclusive);
    tendon_write_u8(&writer, channel->clear_others);
    return tendon_writer_result(&writer);
}

/* A belt's count: signed, and everything that is not positive repeats for ever. */
static int32_t iterations_of(int8_t byte) {
    return byte > 0 ? byte : -1;
}

tendon_status tendon_feelspace_decode_channel(const uint8_t *data, size_t length, tendon_feelspace_channel *out,
                                              size_t *offset) {
    if (length < TENDON_FEELSPACE_CHANNEL_LENGTH) {
        return feelspace_needs(length, TENDON_FEELSPACE_CHANNEL_LENGTH, offset);
    }
    tendon_reader reader = tendon_reader_make(data, length);
    tendon_feelspace_channel c = {0};
    c.channel = tendon_read_u8(&reader);
    c.pattern = tendon_read_u8(&reader);
    uint16_t intensity = tendon_read_u16le(&reader);
    c.intensity = intensity == DEFAULT_INTENSITY ? -1 : intensity;
    (void)tendon_read_u16le(&reader);
    c.orientation_type = tendon_read_u8(&reader);
    c.orientation = tendon_read_u16le(&reader);
    (void)tendon_read_u16le(&reader);
    c.iterations = iterations_of(tendon_read_i8(&reader));
    c.period_ms = tendon_read_u16le(&reader);
    c.start_ms = tendon_read_u16le(&reader);
    c.exclusive = tendon_read_u8(&reader) != 0;
    c.clear_others = tendon_read_u8(&reader) != 0;
    const struct {
        bool wrong;
        size_t at;
    } checks[] = {{c.channel >= TENDON_FEELSPACE_CHANNELS_EXTENDED, 0},
                  {c.pattern > TENDON_FEELSPACE_PATTERN_LAST, 1},
                  {c.intensity > 100, 2},
                  {c.orientation_type > TENDON_FEELSPACE_ORIENTATION_BEARING, 6},
                  {c.period_ms == 0, 12}};
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        if (checks[i].wrong) {
            return feelspace_fail(TENDON_FEELSPACE_ERROR_BAD_VALUE, checks[i].at, offset);
        }
    }
    *out = c;
    return TENDON_OK;
}

static bool pulse_valid(const tendon_feelspace_pulse *p) {
    return feelspace_within(p->channel, 0, TENDON_FEELSPACE_CHANNELS_EXTENDED - 1) &&
           orientation_valid(p->orientation_type, p->orientation) && feelspace_within(p->intensity, -1, 100) &&
           feelspace_within(p->on_ms, 1, 65535) && feelspace_within(p->pulse_iterations, 1, 255) &&
           feelspace_within(p->series_iterations, -1, 127) && feelspace_within(p->pulse_period_ms, 1, 65535) &&
           feelspace_within(p->series_period_ms, 1, 65535) && feelspace_within(p->timer_option, 0, 2);
}

tendon_status tendon_feelspace_encode_pulse(const tendon_feelspace_pulse *pulse, uint8_t *out, size_t capacity) {
    if (!pulse_valid(pulse)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_u8(&writer, PULSE);
    tendon_write_u8(&writer, (uint8_t)pulse->channel);
    tendon_write_u8(&writer, (uint8_t)pulse->orientation_type);
    tendon_write_u16le(&writer, orientation_on_wire(pulse->orientation_type, pulse->orientation));
    tendon_write_u8(&writer, (uint8_t)(feelspace_intensity(pulse->intensity) & 0xFFu));
    tendon_write_u16le(&writer, (uint16_t)pulse->on_ms);
    tendon_write_u8(&writer, (uint8_t)pulse->pulse_iterations);
    tendon_write_u8(&writer, pulse->series_iterations > 0 ? (uint8_t)pulse->series_iterations : 0);
    tendon_write_u16le(&writer, (uint16_t)pulse->pulse_period_ms);
    tendon_write_u16le(&writer, (uint16_t)pulse->series_period_ms);
    tendon_write_u8(&writer, (uint8_t)pulse->timer_option);
    tendon_write_u8(&writer, pulse->exclusive);
    tendon_write_u8(&writer, pulse->clear_others);
    return tendon_writer_result(&writer);
}

tendon_status tendon_feelspace_decode_pulse(const uint8_t *data, size_t length, tendon_feelspace_pulse *out,
                                            size_t *offset) {
    if (length < TENDON_FEELSPACE_PULSE_LENGTH) {
        return feelspace_needs(length, TENDON_FEELSPACE_PULSE_LENGTH, offset);
    }
    tendon_reader reader = tendon_reader_make(data, length);
    tendon_feelspace_pulse p = {0};
    uint8_t operation = tendon_read_u8(&reader);
    p.channel = tendon_read_u8(&reader);
    p.orientation_type = tendon_read_u8(&reader);
    p.orientation = tendon_read_u16le(&reader);
    uint8_t intensity = tendon_read_u8(&reader);
    p.intensity = intensity == DEFAULT_PULSE_INTENSITY ? -1 : intensity;
    p.on_ms = tendon_read_u16le(&reader);
    p.pulse_iterations = tendon_read_u8(&reader);
    p.series_iterations = iterations_of(tendon_read_i8(&reader));
    p.pulse_period_ms = tendon_read_u16le(&reader);
    p.series_period_ms = tendon_read_u16le(&reader);
    p.timer_option = tendon_read_u8(&reader);
    p.exclusive = tendon_read_u8(&reader) != 0;
    p.clear_others = tendon_read_u8(&reader) != 0;
    const struct {
        bool wrong;
        size_t at;
    } checks[] = {{operation != PULSE, 0},
                  {p.channel >= TENDON_FEELSPACE_CHANNELS_EXTENDED, 1},
                  {p.orientation_type > TENDON_FEELSPACE_ORIENTATION_BEARING, 2},
                  {p.intensity > 100, 5},
                  {p.on_ms == 0, 6},
                  {p.pulse_iterations == 0, 8},
                  {p.pulse_period_ms == 0, 10},
                  {p.series_period_ms == 0, 12},
                  {p.timer_option > 2, 14}};
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        if (checks[i].wrong) {
            return feelspace_fail(TENDON_FEELSPACE_ERROR_BAD_VALUE, checks[i].at, offset);
        }
    }
    *out = p;
    return TENDON_OK;
}

static tendon_status encode_two(uint8_t operation, uint8_t operand, uint8_t *out, size_t capacity) {
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_u8(&writer, operation);
    tendon_write_u8(&writer, operand);
    return tendon_writer_result(&writer);
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
