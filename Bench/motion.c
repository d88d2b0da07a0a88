/* SPDX-License-Identifier: MIT */
/* How long does a quaternion take to become Euler angles, one by one and in a batch? Limit: the same with libm. */
#include "bench.h"

#include <math.h>
#include <tendon/motion.h>

#define BATCH 256

static tendon_quaternion input[BATCH];
static tendon_euler output[BATCH];

static void fill(void) {
    uint32_t state = 1;
    for (size_t i = 0; i < BATCH; i++) {
        double parts[4];
        for (size_t k = 0; k < 4; k++) {
            state = state * 1664525u + 1013904223u;
            parts[k] = (double)(state >> 8) / 8388608.0 - 1.0;
        }
        tendon_quaternion q = {parts[0], parts[1], parts[2], parts[3]};
        if (tendon_quaternion_normalize(q, &input[i]) < 0) {
            input[i] = (tendon_quaternion){0, 0, 0, 1};
        }
    }
}

/* The formulas as they stand in docs/protocols/bose.md, with libm. */
static void with_libm(void *context, size_t count) {
    (void)context;
    for (size_t i = 0; i < count; i++) {
        const tendon_quaternion q = input[i % BATCH];
        double s = 2 * (q.w * q.y - q.z * q.x);
        output[i % BATCH].x = atan2(2 * (q.w * q.x + q.y * q.z), 1 - 2 * (q.x * q.x + q.y * q.y));
        output[i % BATCH].y = fabs(s) >= 1 ? copysign(1.57079632679489661923, s) : asin(s);
        output[i % BATCH].z = atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z));
        output[i % BATCH].near_gimbal_lock = fabs(s) > 0.9999;
        bench_keep(output);
    }
}

static void one_by_one(void *context, size_t count) {
    (void)context;
    for (size_t i = 0; i < count; i++) {
        output[i % BATCH] = tendon_euler_rotations(input[i % BATCH]);
        bench_keep(output);
    }
}

static void in_batches(void *context, size_t count) {
    (void)context;
    while (count > 0) {
        size_t now = count < BATCH ? count : BATCH;
        tendon_euler_rotations_batch(input, output, now);
        bench_keep(output);
        count -= now;
    }
}

int main(int argc, char **argv) {
    static const bench_body bodies[] = {
        {"libm", with_libm, NULL, sizeof(tendon_quaternion), 0},
        {"tendon_euler_rotations", one_by_one, NULL, sizeof(tendon_quaternion), 0},
        {"tendon_euler_rotations_batch", in_batches, NULL, sizeof(tendon_quaternion), 0},
    };
    fill();
    return bench_main(argc, argv, "motion", bodies, 3, 0);
}
