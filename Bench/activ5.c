/* SPDX-License-Identifier: MIT */
/*
 * How long do the Activ5 trainer's force and motion take to decode, a force as text over the deframer, and the squeeze
 * detector per sample? Limits: the binary values without any check, the text copied, the sample compared with both
 * thresholds.
 */
#include "bench.h"

#include <string.h>
#include <tendon/devices/activ5.h>

static const uint8_t force[2] = {0x2C, 0x01};
static const uint8_t motion[16] = {0x3E, 0x00, 0xF2, 0xFE, 0xAB, 0x10, 0xF6, 0xFF,
                                   0xDE, 0xFC, 0xEC, 0xFF, 0xE2, 0x2A, 0x16, 0x00};
static const uint8_t text[10] = {0x12, 'I', 'S', '1', '0', '0', '/', 'I', 'S', 0x13};

static double little_endian(const uint8_t *bytes) {
    return (double)(int16_t)((uint16_t)bytes[1] << 8 | bytes[0]);
}

static void unchecked(void *context, size_t count) {
    (void)context;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *input = bench_hide(force);
        double newtons = little_endian(input) * 0.27156315909;
        bench_keep(&newtons);
    }
}

static void unchecked_motion(void *context, size_t count) {
    double out[8];
    (void)context;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *input = bench_hide(motion);
        for (size_t k = 0; k < 8; k++) {
            out[k] = little_endian(input + 2 * k);
        }
        bench_keep(out);
    }
}

static void copy(void *context, size_t count) {
    uint8_t out[sizeof text];
    (void)context;
    for (size_t i = 0; i < count; i++) {
        memcpy(out, bench_hide(text), sizeof out);
        bench_keep(out);
    }
}

/* What the detector sees, and the two comparisons that no detector can be without. */
static double newtons_of(size_t i) {
    return (i & 8u) != 0 ? 40.0 : 1.0;
}

static void bare_thresholds(void *context, size_t count) {
    volatile double low = 10.0, high = 20.0;
    unsigned crossed = 0;
    (void)context;
    for (size_t i = 0; i < count; i++) {
        double newtons = newtons_of(i);
        crossed += (unsigned)(newtons < low) + (unsigned)(newtons > high);
        bench_keep(&crossed);
    }
}

typedef struct value {
    tendon_activ5_characteristic which;
    const uint8_t *bytes;
    size_t length;
} value;

static void decode(void *context, size_t count) {
    const value *v = context;
    tendon_activ5_message message;
    for (size_t i = 0; i < count; i++) {
        (void)tendon_activ5_parse_value(v->which, bench_hide(v->bytes), v->length, &message);
        bench_keep(&message);
    }
}

static void on_text(void *context, tendon_status status, const tendon_activ5_message *message, uint64_t now) {
    (void)context, (void)status, (void)now;
    bench_keep(message);
}

static void frames(void *context, size_t count) {
    tendon_activ5_deframer *deframer = context;
    for (size_t i = 0; i < count; i++) {
        tendon_activ5_deframer_feed(deframer, bench_hide(text), sizeof text, i, on_text, NULL);
    }
}

/* A press and a release of 8 samples each, at the stream's 100 ms. */
static void squeezes(void *context, size_t count) {
    const tendon_activ5_squeeze_config config = tendon_activ5_squeeze_defaults();
    tendon_activ5_squeeze *squeeze = context;
    for (size_t i = 0; i < count; i++) {
        unsigned what = tendon_activ5_squeeze_sample(squeeze, &config, newtons_of(i), i * 100);
        bench_keep(&what);
    }
}

int main(int argc, char **argv) {
    static value force_value = {TENDON_ACTIV5_FORCE, force, sizeof force};
    static value motion_value = {TENDON_ACTIV5_IMU, motion, sizeof motion};
    static tendon_activ5_deframer deframer;
    static tendon_activ5_squeeze squeeze;
    enum { FORCE, MOTION, COPY, THRESHOLDS };
    const bench_body bodies[] = {
        [FORCE] = {"unchecked_force", unchecked, NULL, sizeof force, FORCE},
        [MOTION] = {"unchecked_imu", unchecked_motion, NULL, sizeof motion, MOTION},
        [COPY] = {"memcpy_text", copy, NULL, sizeof text, COPY},
        [THRESHOLDS] = {"bare_thresholds", bare_thresholds, NULL, 0, THRESHOLDS},
        {"force_decode", decode, &force_value, sizeof force, FORCE},
        {"imu_decode", decode, &motion_value, sizeof motion, MOTION},
        {"force_text", frames, &deframer, sizeof text, COPY},
        {"squeeze_sample", squeezes, &squeeze, 0, THRESHOLDS},
    };
    return bench_main(argc, argv, "activ5", bodies, sizeof bodies / sizeof bodies[0], 0);
}
