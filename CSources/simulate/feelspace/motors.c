/* SPDX-License-Identifier: MIT */
/*
 * Simulated naviBelt: which motors turn. The lengths of pulses inside a
 * pattern are our choice, the vendor does not publish them.
 */
#include "feelspace_parts.h"

enum { MOTORS = TENDON_SIMULATED_FEELSPACE_MOTORS, MOST_AT_ONCE = 6, MOST_BEFORE_PULSE = 4 };

/** Pulses of a pattern, by its number; patterns that bring their own motors turn all the time. */
static const struct {
    uint16_t on_ms, apart_ms;
    uint8_t count;
} rhythms[] = {{0, 1, 0}, {UINT16_MAX, UINT16_MAX, 1}, {100, 100, 1}, {300, 300, 1}, {100, 200, 2}, {300, 450, 2}};

/** The motor that serves an angle: each serves 11.25 degrees to both sides. */
static unsigned motor_at(unsigned degrees) {
    return (4 * (degrees % 360) + 45) / 90 % MOTORS;
}

/** Bit i: motor i. */
static uint32_t motors_of(const tendon_simulated_feelspace *belt, const tendon_simulated_feelspace_channel *channel,
                          uint64_t elapsed, uint64_t now) {
    unsigned heading = tendon_simulated_feelspace_heading(belt, now);
    if (channel->pattern > 5 && channel->pattern != 8) { /* it goes round */
        return 1u << (elapsed % channel->period_ms * MOTORS / channel->period_ms);
    }
    switch (channel->orientation_type) {
    case 0:
        return channel->orientation;
    case 1:
        return 1u << channel->orientation % MOTORS;
    case 2:
        return 1u << motor_at(channel->orientation);
    default:
        return 1u << motor_at(channel->orientation % 360u + 360u - heading);
    }
}

/** Whether a channel's rhythm is on at a time since its start. */
static bool is_on(const tendon_simulated_feelspace_channel *channel, uint64_t elapsed) {
    uint64_t inside = elapsed % channel->period_ms;
    if (channel->iterations > 0 && elapsed >= (uint64_t)channel->iterations * channel->period_ms) {
        return false;
    }
    if (channel->pulses) {
        uint64_t pulse = inside / channel->pulse_period_ms;
        return pulse < channel->pulse_count && inside % channel->pulse_period_ms < channel->on_ms;
    }
    if (channel->pattern >= sizeof rhythms / sizeof rhythms[0]) {
        return true;
    }
    uint64_t pulse = inside / rhythms[channel->pattern].apart_ms;
    return pulse < rhythms[channel->pattern].count &&
           inside % rhythms[channel->pattern].apart_ms < rhythms[channel->pattern].on_ms;
}

/** Turns motors as long as there are some to spare. */
static unsigned turn(uint32_t motors, uint8_t intensity, unsigned count, unsigned most, uint8_t *out) {
    for (unsigned i = 0; i < MOTORS && count < most; i++) {
        if ((motors >> i & 1u) != 0 && out[i] == 0 && intensity > 0) {
            out[i] = intensity;
            count++;
        }
    }
    return count;
}

unsigned tendon_simulated_feelspace_motors(const tendon_simulated_feelspace *belt, uint64_t now,
                                           uint8_t out[TENDON_SIMULATED_FEELSPACE_MOTORS]) {
    unsigned heading = tendon_simulated_feelspace_heading(belt, now);
    unsigned most = belt_has(belt, SINCE_PULSE) ? MOST_AT_ONCE : MOST_BEFORE_PULSE, count = 0;
    int exclusive = -1;
    memset(out, 0, MOTORS);
    for (int i = 0; i < TENDON_SIMULATED_FEELSPACE_CHANNELS; i++) {
        const tendon_simulated_feelspace_channel *channel = &belt->channels[i];
        uint64_t elapsed = now > channel->started ? now - channel->started : 0;
        bool runs = channel->active &&
                    (channel->iterations < 0 || elapsed < (uint64_t)channel->iterations * channel->period_ms);
        exclusive = runs && channel->exclusive && exclusive < 0 ? i : exclusive;
    }
    for (int i = 0; i < TENDON_SIMULATED_FEELSPACE_CHANNELS; i++) {
        const tendon_simulated_feelspace_channel *channel = &belt->channels[i];
        uint64_t elapsed = now > channel->started ? now - channel->started : 0;
        if (channel->active && (exclusive < 0 || exclusive == i) && is_on(channel, elapsed)) {
            uint8_t intensity = channel->intensity == INTENSITY_DEFAULT ? belt->settings.intensity : channel->intensity;
            count = turn(motors_of(belt, channel, elapsed, now), intensity, count, most, out);
        }
    }
    if (belt->mode == MODE_COMPASS || belt->mode == MODE_CROSSING) {
        unsigned target = belt->mode == MODE_COMPASS ? 0 : belt->crossing_heading;
        count = turn(1u << motor_at(target + 360u - heading), belt->settings.intensity, count, most, out);
    }
    return count;
}
