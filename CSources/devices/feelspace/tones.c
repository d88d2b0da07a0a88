/* SPDX-License-Identifier: MIT */
/* FE07: the buzzer. */
#include "internal.h"

/* Truncated and checked in single precision, as the vendor's program does it; the casts forbid wider registers. */
static bool unit_of(float value, float multiply, float divide, uint8_t *unit) {
    float product = (float)(value * multiply);
    float quotient = (float)(product / divide);
    if (!(value >= 0.0f && quotient < 256.0f)) { /* not a number fails too */
        return false;
    }
    *unit = (uint8_t)quotient;
    return true;
}

tendon_status tendon_feelspace_encode_tone(const float *seconds, const float *hertz, size_t count, uint8_t *out,
                                           size_t capacity) {
    if (count > TENDON_FEELSPACE_TONE_STEPS) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    uint8_t bytes[2 + 2 * TENDON_FEELSPACE_TONE_STEPS] = {0x01, (uint8_t)count};
    for (size_t i = 0; i < 2 * count; i++) {
        bool first = i < count; /* the frequencies, then the durations */
        if (!unit_of(first ? hertz[i] : seconds[i - count], first ? 32.0f : 100.0f, first ? 1000.0f : 1.0f,
                     &bytes[2 + i])) {
            return TENDON_ERROR_INVALID_ARGUMENT;
        }
    }
    return tendon_feelspace_put(bytes, 2 + 2 * count, out, capacity);
}

/* In the units of the wire: lengths of a tone and of the silence behind it, frequencies; 0: no further tone. */
static const uint8_t sounds[TENDON_FEELSPACE_SOUND_COUNT][5] = {
    [TENDON_FEELSPACE_SOUND_START] = {5, 10, 25, 32},
    [TENDON_FEELSPACE_SOUND_STOP] = {5, 10, 32, 25},
    [TENDON_FEELSPACE_SOUND_SUCCESS] = {5, 10, 32, 48, 64},
    [TENDON_FEELSPACE_SOUND_ERROR] = {25, 25, 32, 32, 32},
    [TENDON_FEELSPACE_SOUND_SHORT_BEEP] = {5, 10, 48},
    [TENDON_FEELSPACE_SOUND_DOUBLE_SHORT_BEEP] = {5, 10, 48, 48},
    [TENDON_FEELSPACE_SOUND_TRIPLE_SHORT_BEEP] = {5, 10, 48, 48, 48},
    [TENDON_FEELSPACE_SOUND_LONG_BEEP] = {25, 25, 48},
    [TENDON_FEELSPACE_SOUND_DOUBLE_LONG_BEEP] = {25, 25, 48, 48},
    [TENDON_FEELSPACE_SOUND_TRIPLE_LONG_BEEP] = {25, 25, 48, 48, 48},
};

tendon_status tendon_feelspace_encode_sound(tendon_feelspace_sound which, uint8_t *out, size_t capacity) {
    if ((unsigned)which >= TENDON_FEELSPACE_SOUND_COUNT) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    const uint8_t *sound = sounds[which];
    size_t tones = 1;
    while (tones < 3 && sound[2 + tones] != 0) {
        tones++;
    }
    size_t steps = 2 * tones - 1;
    uint8_t bytes[2 + 2 * 5] = {0x01, (uint8_t)steps};
    for (size_t i = 0; i < steps; i++) { /* tone, silence, tone ... */
        bytes[2 + i] = i % 2 == 0 ? sound[2 + i / 2] : 0;
        bytes[2 + steps + i] = sound[i % 2];
    }
    return tendon_feelspace_put(bytes, 2 + 2 * steps, out, capacity);
}
