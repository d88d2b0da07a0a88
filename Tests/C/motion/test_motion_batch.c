/* SPDX-License-Identifier: MIT */
/*
 * The batch form against the plain one: a million random quaternions (TENDON_SOAK=100000000 for as many), and all
 * that can be made of boundary values.
 */
#include "test_bytes.h"

#include "tendon/motion.h"

#include <math.h>

#define PI 3.14159265358979323846

static double worst_free, worst_lock;

/* +pi and -pi are one angle: which of the two comes out may hang on the last digit. */
static double apart(double a, double b) {
    if (isnan(a) || isnan(b)) {
        return isnan(a) && isnan(b) ? 0.0 : INFINITY;
    }
    double difference = fabs(a - b);
    return difference > PI ? fabs(difference - 2 * PI) : difference;
}

static void compare(const tendon_quaternion *q, size_t count) {
    tendon_euler *out = malloc(count * sizeof *out);
    tendon_euler_rotations_batch(q, out, count);
    for (size_t i = 0; i < count; i++) {
        tendon_euler plain = tendon_euler_rotations(q[i]);
        double s = fabs(2.0 * (q[i].w * q[i].y - q[i].z * q[i].x));
        double error = fmax(apart(out[i].x, plain.x), fmax(apart(out[i].y, plain.y), apart(out[i].z, plain.z)));
        double limit = s > 0.9999 ? 1e-4 : 1e-6;
        double *worst = s > 0.9999 ? &worst_lock : &worst_free;
        *worst = error > *worst ? error : *worst;
        if (!(error < limit) || (out[i].near_gimbal_lock != plain.near_gimbal_lock && fabs(s - 0.9999) > 1e-12)) {
            fail_msg("%a %a %a %a: %g apart, lock %d %d", q[i].x, q[i].y, q[i].z, q[i].w, error,
                     out[i].near_gimbal_lock, plain.near_gimbal_lock);
        }
    }
    free(out);
}

static double uniform(dice *d) {
    return (double)(roll(d) >> 11) / 4503599627370496.0 - 1.0;
}

static void random_quaternions(void **state) {
    (void)state;
    const char *soak = getenv("TENDON_SOAK");
    unsigned long count = soak != NULL ? strtoul(soak, NULL, 10) : 1000000;
    enum { CHUNK = 4096 };
    tendon_quaternion *q = malloc(CHUNK * sizeof *q);
    dice d = {20};
    for (unsigned long done = 0; done < count; done += CHUNK) {
        for (size_t i = 0; i < CHUNK; i++) {
            tendon_quaternion raw = {uniform(&d), uniform(&d), uniform(&d), uniform(&d)};
            switch (i % 4) {
            case 0: /* near the lock: y and w alike, or x and z opposite */
                raw.y = raw.w + uniform(&d) * 1e-3;
                raw.x = raw.z * uniform(&d) * 1e-3;
                raw.z = uniform(&d) * 1e-3;
                break;
            case 1: /* as a device sends them */
                raw = (tendon_quaternion){floor(raw.x * 16383) / 16383, floor(raw.y * 16383) / 16383,
                                          floor(raw.z * 16383) / 16383, floor(raw.w * 16383) / 16383};
                break;
            default:
                break;
            }
            if (i % 4 == 3 || tendon_quaternion_normalize(raw, &q[i]) != TENDON_OK) {
                q[i] = raw; /* not a unit */
            }
        }
        compare(q, CHUNK);
    }
    free(q);
    print_message("# largest error %.3g rad, beyond |s| = 0.9999 %.3g rad\n", worst_free, worst_lock);
}

static void every_boundary_quaternion(void **state) {
    (void)state;
    static const double values[] = {0.0,
                                    -0.0,
                                    0.5,
                                    -0.5,
                                    1.0,
                                    -1.0,
                                    0.70710678118654752,
                                    -0.70710678118654752,
                                    0.70710678118654757,
                                    5e-324,
                                    -5e-324,
                                    1e-300,
                                    -1e-160,
                                    1e-16,
                                    -1e-8,
                                    1.0 / 16383,
                                    32767.0 / 16383,
                                    -2.0,
                                    1e8,
                                    1e14,
                                    -1e16,
                                    1e160,
                                    INFINITY,
                                    -INFINITY,
                                    NAN};
    enum { COUNT = sizeof values / sizeof values[0], ROW = COUNT * COUNT };
    tendon_quaternion *q = malloc(ROW * sizeof *q);
    for (size_t a = 0; a < COUNT; a++) {
        for (size_t b = 0; b < COUNT; b++) {
            for (size_t i = 0; i < ROW; i++) {
                q[i] = (tendon_quaternion){values[a], values[b], values[i / COUNT], values[i % COUNT]};
            }
            compare(q, ROW);
        }
    }
    /* sorted the other way round, so that tame ones stand in blocks by themselves */
    for (size_t i = 0; i < ROW; i++) {
        q[i] = (tendon_quaternion){values[i / COUNT % 18], values[i % 18], values[i / 3 % 18], values[i / 7 % 18]};
    }
    compare(q, ROW);
    free(q);
}

/* |s| on both sides of 1/2, 0.9999 and 1, in steps of one last digit. */
static void around_the_limits(void **state) {
    (void)state;
    static const double limits[] = {0.5, 0.9999, 1.0};
    tendon_quaternion q[64];
    for (size_t l = 0; l < 3; l++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            double w = limits[l];
            for (int i = 0; i < 32; i++) {
                w = nextafter(w, 0.0);
            }
            for (size_t i = 0; i < 64; i++) {
                q[i] = (tendon_quaternion){0, sign * 0.5, 0, w}; /* s = w */
                w = nextafter(w, 2.0);
            }
            compare(q, 64);
        }
    }
}

static void any_count_and_nothing_beyond(void **state) {
    (void)state;
    dice d = {8};
    for (size_t count = 0; count <= 70; count++) {
        tendon_quaternion *q = calloc(count > 0 ? count : 1, sizeof *q);
        tendon_euler *out = malloc((count + 1) * sizeof *out);
        memset(out, 0x5A, (count + 1) * sizeof *out);
        tendon_euler beyond = out[count];
        for (size_t i = 0; i < count; i++) {
            q[i] = (tendon_quaternion){uniform(&d), uniform(&d), uniform(&d), uniform(&d)};
        }
        tendon_euler_rotations_batch(q, out, count);
        assert_memory_equal(&out[count], &beyond, sizeof beyond);
        compare(q, count);
        free(out);
        free(q);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_quaternions),
        cmocka_unit_test(every_boundary_quaternion),
        cmocka_unit_test(around_the_limits),
        cmocka_unit_test(any_count_and_nothing_beyond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
