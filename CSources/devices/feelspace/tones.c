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
    for (size_t i = 0; i < count; i++) {
        if (!unit_of(hertz[i], 32.0f, 1000.0f, &bytes[2 + i]) ||
            !unit_of(seconds[i], 100.0f, 1.0f, &bytes[2 + count + i])) {
            return TENDON_ERROR_INVALID_ARGUMENT;
        }
    }
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_bytes(&writer, bytes, 2 + 2 * count);
    return tendon_writer_result(&writer);
}

/* In hundredths of a second and in hertz. */
typedef struct sound {
    uint8_t count, tone, gap;
    uint16_t hertz[3];
} sound;

static const sound sounds[TENDON_FEELSPACE_SOUND_COUNT] = {
    [TENDON_FEELSPACE_SOUND_START] = {2, 5, 10, {800, 1000, 0}},
    [TENDON_FEELSPACE_SOUND_STOP] = {2, 5, 10, {1000, 800, 0}},
    [TENDON_FEELSPACE_SOUND_SUCCESS] = {3, 5, 10, {1000, 1500, 2000}},
    [TENDON_FEELSPACE_SOUND_ERROR] = {3, 25, 25, {1000, 1000, 1000}},
    [TENDON_FEELSPACE_SOUND_SHORT_BEEP] = {1, 5, 10, {1500, 0, 0}},
    [TENDON_FEELSPACE_SOUND_DOUBLE_SHORT_BEEP] = {2, 5, 10, {1500, 1500, 0}},
    [TENDON_FEELSPACE_SOUND_TRIPLE_SHORT_BEEP] = {3, 5, 10, {1500, 1500, 1500}},
    [TENDON_FEELSPACE_SOUND_LONG_BEEP] = {1, 25, 25, {1500, 0, 0}},
    [TENDON_FEELSPACE_SOUND_DOUBLE_LONG_BEEP] = {2, 25, 25, {1500, 1500, 0}},
    [TENDON_FEELSPACE_SOUND_TRIPLE_LONG_BEEP] = {3, 25, 25, {1500, 1500, 1500}},
};

tendon_status tendon_feelspace_encode_sound(tendon_feelspace_sound which, uint8_t *out, size_t capacity) {
    if ((unsigned)which >= TENDON_FEELSPACE_SOUND_COUNT) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    const sound *s = &sounds[which];
    float seconds[5], hertz[5];
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (i > 0) {
            seconds[count] = (float)s->gap / 100.0f;
            hertz[count++] = 0.0f;
        }
        seconds[count] = (float)s->tone / 100.0f;
        hertz[count++] = (float)s->hertz[i];
    }
    return tendon_feelspace_encode_tone(seconds, hertz, count, out, capacity);
}
