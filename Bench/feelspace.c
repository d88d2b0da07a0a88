/* SPDX-License-Identifier: MIT */
/*
 * How long does a command for a vibration channel of the belt take to encode, checked and normalised? Limits: the same
 * 18 bytes put together without any check, and copied.
 */
#include "bench.h"

#include <string.h>
#include <tendon/devices/feelspace.h>

static const tendon_feelspace_channel command = {
    .channel = 1,
    .pattern = TENDON_FEELSPACE_PATTERN_CONTINUOUS,
    .intensity = 40,
    .orientation_type = TENDON_FEELSPACE_ORIENTATION_BEARING,
    .orientation = 450,
    .iterations = -1,
    .period_ms = 500,
    .start_ms = 750,
    .exclusive = true,
};

/* The same struct, at an address that the optimiser knows nothing about. */
static const tendon_feelspace_channel *hidden(void) {
    return (const tendon_feelspace_channel *)(const void *)bench_hide((const uint8_t *)&command);
}

static void encode(void *context, size_t count) {
    uint8_t out[TENDON_FEELSPACE_CHANNEL_LENGTH];
    (void)context;
    for (size_t i = 0; i < count; i++) {
        (void)tendon_feelspace_encode_channel(hidden(), TENDON_FEELSPACE_CHANNELS_DOCUMENTED, out, sizeof out);
        bench_keep(out);
    }
}

static void put(uint8_t *out, int32_t value) {
    out[0] = (uint8_t)value;
    out[1] = (uint8_t)(value >> 8);
}

static void unchecked(void *context, size_t count) {
    uint8_t out[TENDON_FEELSPACE_CHANNEL_LENGTH] = {0};
    (void)context;
    for (size_t i = 0; i < count; i++) {
        const tendon_feelspace_channel *c = hidden();
        out[0] = (uint8_t)c->channel;
        out[1] = (uint8_t)c->pattern;
        put(out + 2, c->intensity);
        out[6] = (uint8_t)c->orientation_type;
        put(out + 7, c->orientation % 360);
        out[11] = (uint8_t)c->iterations;
        put(out + 12, c->period_ms);
        put(out + 14, c->start_ms % c->period_ms);
        out[16] = c->exclusive;
        out[17] = c->clear_others;
        bench_keep(out);
    }
}

static void copy(void *context, size_t count) {
    uint8_t out[TENDON_FEELSPACE_CHANNEL_LENGTH];
    (void)context;
    for (size_t i = 0; i < count; i++) {
        memcpy(out, hidden(), sizeof out);
        bench_keep(out);
    }
}

int main(int argc, char **argv) {
    static const bench_body bodies[] = {
        {"unchecked_encode", unchecked, NULL, TENDON_FEELSPACE_CHANNEL_LENGTH, 0},
        {"memcpy", copy, NULL, TENDON_FEELSPACE_CHANNEL_LENGTH, 0},
        {"channel_encode", encode, NULL, TENDON_FEELSPACE_CHANNEL_LENGTH, 0},
    };
    return bench_main(argc, argv, "feelspace", bodies, sizeof bodies / sizeof bodies[0], 0);
}
