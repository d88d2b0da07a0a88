/* SPDX-License-Identifier: MIT */
/* FE07: the buzzer. */
#include "codec_parts.h"

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
