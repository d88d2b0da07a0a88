/* SPDX-License-Identifier: MIT */
/* Quaternions and the plain Euler angles: conventions of docs/protocols/bose.md. */
#include "test_bytes.h"

#include "tendon/motion.h"

#include <math.h>

#define PI 3.14159265358979323846
#define DEGREE (PI / 180.0)

static void assert_near(double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance)) {
        fail_msg("%.17g is not %.17g within %g", a, b, tolerance);
    }
}

static void assert_quaternion(tendon_quaternion q, double x, double y, double z, double w) {
    assert_near(q.x, x, 1e-12);
    assert_near(q.y, y, 1e-12);
    assert_near(q.z, z, 1e-12);
    assert_near(q.w, w, 1e-12);
}

static double uniform(dice *d) {
    return (double)(roll(d) >> 11) / 4503599627370496.0 - 1.0;
}

static tendon_quaternion random_unit(dice *d) {
    tendon_quaternion q, unit;
    do {
        q = (tendon_quaternion){uniform(d), uniform(d), uniform(d), uniform(d)};
    } while (tendon_quaternion_normalize(q, &unit) != TENDON_OK);
    return unit;
}

/* i j = k and its permutations: they distinguish Hamilton's convention from the other one. */
static void hamilton_units(void **state) {
    (void)state;
    tendon_quaternion i = {1, 0, 0, 0}, j = {0, 1, 0, 0}, k = {0, 0, 1, 0}, one = {0, 0, 0, 1};
    assert_quaternion(tendon_quaternion_multiply(i, j), 0, 0, 1, 0);
    assert_quaternion(tendon_quaternion_multiply(j, k), 1, 0, 0, 0);
    assert_quaternion(tendon_quaternion_multiply(k, i), 0, 1, 0, 0);
    assert_quaternion(tendon_quaternion_multiply(j, i), 0, 0, -1, 0);
    assert_quaternion(tendon_quaternion_multiply(i, i), 0, 0, 0, -1);
    assert_quaternion(tendon_quaternion_multiply(j, j), 0, 0, 0, -1);
    assert_quaternion(tendon_quaternion_multiply(k, k), 0, 0, 0, -1);
    assert_quaternion(tendon_quaternion_multiply(one, k), 0, 0, 1, 0);
    tendon_quaternion a = {1, 2, 3, 4}, b = {5, 6, 7, 8};
    assert_quaternion(tendon_quaternion_multiply(a, b), 24, 48, 48, -6);
}

/* The mapping (1,0,0,0) of the migration guide: (x, y, z, w) becomes (w, z, -y, -x). */
static void mapping_of_the_guide(void **state) {
    (void)state;
    tendon_quaternion q = {0.1, 0.2, 0.3, 0.4}, map = {1, 0, 0, 0};
    assert_quaternion(tendon_quaternion_multiply(q, map), 0.4, 0.3, -0.2, -0.1);
}

static void inverse_and_conjugate(void **state) {
    (void)state;
    dice d = {1};
    for (int n = 0; n < 1000; n++) {
        tendon_quaternion q = {uniform(&d) * 10, uniform(&d), uniform(&d), uniform(&d)}, inverse;
        assert_int_equal(tendon_quaternion_inverse(q, &inverse), TENDON_OK);
        assert_quaternion(tendon_quaternion_multiply(q, inverse), 0, 0, 0, 1);
        assert_quaternion(tendon_quaternion_multiply(inverse, q), 0, 0, 0, 1);
        tendon_quaternion c = tendon_quaternion_conjugate(q);
        assert_true(c.x == -q.x && c.y == -q.y && c.z == -q.z && c.w == q.w);
    }
}

static void normalize_extremes_i07(void **state) {
    (void)state;
    static const double sizes[] = {1e-320, 1e-300, 1e-160, 1e-8, 1, 1e8, 1e160, 1e300};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        tendon_quaternion q = {sizes[i], -sizes[i], sizes[i], sizes[i]}, out;
        assert_int_equal(tendon_quaternion_normalize(q, &out), TENDON_OK);
        assert_near(out.x, 0.5, 1e-3);
        assert_near(out.y, -0.5, 1e-3);
        assert_near(tendon_quaternion_norm(out), 1.0, 1e-12);
    }
    static const double bad[] = {0.0, -0.0, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        for (size_t at = 0; at < 4; at++) {
            double c[4] = {0, 0, 0, 0};
            c[at] = bad[i];
            tendon_quaternion q = {c[0], c[1], c[2], c[3]}, out = {7, 7, 7, 7};
            assert_int_equal(tendon_quaternion_normalize(q, &out), TENDON_ERROR_INVALID_ARGUMENT);
            assert_int_equal(tendon_quaternion_inverse(q, &out), TENDON_ERROR_INVALID_ARGUMENT);
            assert_true(out.x == 7 && out.w == 7);
            if (bad[i] != 0.0) { /* beside good parts too */
                q = (tendon_quaternion){at == 0 ? bad[i] : 1, at == 1 ? bad[i] : 1, at == 2 ? bad[i] : 1,
                                        at == 3 ? bad[i] : 1};
                assert_int_equal(tendon_quaternion_normalize(q, &out), TENDON_ERROR_INVALID_ARGUMENT);
            }
        }
    }
}

/* A rotation about one axis shows in that angle alone, right-handed. */
static void single_axes(void **state) {
    (void)state;
    for (int degrees = -89; degrees <= 89; degrees++) {
        double a = degrees * DEGREE, s = sin(a / 2), c = cos(a / 2);
        tendon_euler e = tendon_euler_rotations((tendon_quaternion){s, 0, 0, c});
        assert_near(e.x, a, 1e-12);
        assert_near(e.y, 0, 1e-12);
        assert_near(e.z, 0, 1e-12);
        e = tendon_euler_rotations((tendon_quaternion){0, s, 0, c});
        assert_near(e.x, 0, 1e-12);
        assert_near(e.y, a, 1e-9);
        assert_near(e.z, 0, 1e-12);
        e = tendon_euler_rotations((tendon_quaternion){0, 0, s, c});
        assert_near(e.x, 0, 1e-12);
        assert_near(e.y, 0, 1e-12);
        assert_near(e.z, a, 1e-12);
    }
}

/* z, then y', then x'': the angles build the quaternion again. */
static void intrinsic_order(void **state) {
    (void)state;
    dice d = {2};
    for (int n = 0; n < 10000; n++) {
        double x = uniform(&d) * PI, y = uniform(&d) * 1.55, z = uniform(&d) * PI;
        tendon_quaternion qx = {sin(x / 2), 0, 0, cos(x / 2)}, qy = {0, sin(y / 2), 0, cos(y / 2)},
                          qz = {0, 0, sin(z / 2), cos(z / 2)};
        tendon_euler e = tendon_euler_rotations(tendon_quaternion_multiply(qz, tendon_quaternion_multiply(qy, qx)));
        assert_near(e.x, x, 1e-9);
        assert_near(e.y, y, 1e-9);
        assert_near(e.z, z, 1e-9);
    }
}

static void assert_degrees(double a, double degrees) {
    assert_near(a / DEGREE, degrees, 2e-3);
}

/* The poses of docs/protocols/bose.md: q, x/y/z rotation of the mapped q, guide angles, deprecated angles. */
static void worked_head_poses(void **state) {
    (void)state;
    static const struct {
        tendon_quaternion q;
        double x, y, z, guide[3], legacy[3];
        bool lock;
    } poses[] = {
        {{1, 0, 0, 0}, 0, 0, 0, {0, 0, 0}, {0, 0, 0}, false},
        {{0.984808, 0, 0, -0.173648}, 20, 0, 0, {20, 0, 0}, {20, 0, 0}, false},
        {{0.991445, 0, 0.130526, 0}, 0, -15, 0, {0, -15, 0}, {0, 15, 0}, false},
        {{0.965926, -0.258819, 0, 0}, 0, 0, -30, {0, 0, 30}, {0, 0, 30}, false},
        {{0.920379, -0.314916, -0.006213, -0.231715},
         25.3376,
         9.0548,
         -35.7383,
         {25.3376, 9.0548, 35.7383},
         {25.3376, -9.0548, 35.7383},
         false},
    };
    for (size_t i = 0; i < sizeof poses / sizeof poses[0]; i++) {
        tendon_quaternion map = {1, 0, 0, 0};
        tendon_euler e = tendon_euler_rotations(tendon_quaternion_multiply(poses[i].q, map));
        assert_degrees(e.x, poses[i].x);
        assert_degrees(e.y, poses[i].y);
        assert_degrees(e.z, poses[i].z);
        tendon_angles guide = tendon_euler_guide(poses[i].q);
        assert_degrees(guide.pitch, poses[i].guide[0]);
        assert_degrees(guide.roll, poses[i].guide[1]);
        assert_degrees(guide.yaw, poses[i].guide[2]);
        tendon_angles legacy = tendon_euler_legacy(poses[i].q);
        assert_degrees(legacy.pitch, poses[i].legacy[0]);
        assert_degrees(legacy.roll, poses[i].legacy[1]);
        assert_degrees(legacy.yaw, poses[i].legacy[2]);
        /* head angles: the guide's, but the roll positive to the left */
        tendon_angles head = tendon_euler_head(poses[i].q);
        assert_true(head.pitch == guide.pitch && head.roll == -guide.roll && head.yaw == guide.yaw);
        assert_int_equal(head.near_gimbal_lock, poses[i].lock);
    }
}

static void tilt_left_90_is_the_lock(void **state) {
    (void)state;
    double h = sqrt(0.5);
    tendon_quaternion q = {h, 0, h, 0};
    assert_degrees(tendon_euler_head(q).roll, 90);
    assert_degrees(tendon_euler_guide(q).roll, -90);
    assert_true(tendon_euler_head(q).near_gimbal_lock);
    assert_true(tendon_euler_legacy(q).near_gimbal_lock);
}

static void gimbal_lock_is_clamped_and_flagged(void **state) {
    (void)state;
    tendon_euler e = tendon_euler_rotations((tendon_quaternion){0, 1, 0, 1}); /* s = 2: not a unit */
    assert_true(e.y == PI / 2);
    assert_true(e.near_gimbal_lock);
    e = tendon_euler_rotations((tendon_quaternion){0, -1, 0, 1});
    assert_true(e.y == -PI / 2);
    e = tendon_euler_rotations((tendon_quaternion){0, 0.5, 0, 0.9999});
    assert_false(e.near_gimbal_lock); /* s = 0.9999 itself is not beyond */
    e = tendon_euler_rotations((tendon_quaternion){0, 0.5, 0, 0.99991});
    assert_true(e.near_gimbal_lock);
    e = tendon_euler_rotations((tendon_quaternion){0.5, 0.5, 0.5, 0.5}); /* s = 0, atan2(1, 0) */
    assert_near(e.x, PI / 2, 1e-12);
    e = tendon_euler_rotations((tendon_quaternion){0, 0, 0, 0});
    assert_true(e.x == 0 && e.y == 0 && e.z == 0 && !e.near_gimbal_lock);
}

static void legacy_pitch_stays_in_its_range(void **state) {
    (void)state;
    dice d = {4};
    assert_true(tendon_euler_legacy((tendon_quaternion){.w = 1}).pitch == PI); /* the upper end is included */
    for (int n = 0; n < 100000; n++) {
        tendon_quaternion q = random_unit(&d);
        tendon_angles a = tendon_euler_legacy(q);
        assert_true(a.pitch > -PI - 1e-15 && a.pitch <= PI);
        tendon_angles g = tendon_euler_guide(q);
        double off = fabs(a.pitch - g.pitch);
        if (!a.near_gimbal_lock) {
            assert_true(off < 1e-6 || fabs(off - 2 * PI) < 1e-6); /* the same angle for unit quaternions */
            assert_near(a.roll, -g.roll, 1e-7);
        }
    }
}

static void a_rotation_and_its_negative_are_one(void **state) {
    (void)state;
    dice d = {6};
    for (int n = 0; n < 1000; n++) {
        tendon_quaternion q = random_unit(&d), m = {-q.x, -q.y, -q.z, -q.w};
        tendon_euler a = tendon_euler_rotations(q), b = tendon_euler_rotations(m);
        assert_true(a.x == b.x && a.y == b.y && a.z == b.z);
    }
}

static void nan_in_nan_out_i07(void **state) {
    (void)state;
    for (size_t at = 0; at < 4; at++) {
        double c[4] = {0.5, 0.5, 0, 0.5};
        c[at] = NAN;
        tendon_quaternion q = {c[0], c[1], c[2], c[3]};
        tendon_euler e = tendon_euler_rotations(q);
        assert_true(isnan(e.x) && isnan(e.y) && isnan(e.z) && !e.near_gimbal_lock);
        tendon_angles a = tendon_euler_head(q);
        assert_true(isnan(a.pitch) && isnan(a.roll) && isnan(a.yaw));
        a = tendon_euler_legacy(q);
        assert_true(isnan(a.pitch) && isnan(a.roll) && isnan(a.yaw));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hamilton_units),
        cmocka_unit_test(mapping_of_the_guide),
        cmocka_unit_test(inverse_and_conjugate),
        cmocka_unit_test(normalize_extremes_i07),
        cmocka_unit_test(single_axes),
        cmocka_unit_test(intrinsic_order),
        cmocka_unit_test(worked_head_poses),
        cmocka_unit_test(tilt_left_90_is_the_lock),
        cmocka_unit_test(gimbal_lock_is_clamped_and_flagged),
        cmocka_unit_test(legacy_pitch_stays_in_its_range),
        cmocka_unit_test(a_rotation_and_its_negative_are_one),
        cmocka_unit_test(nan_in_nan_out_i07),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
