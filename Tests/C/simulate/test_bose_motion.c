/* SPDX-License-Identifier: MIT */
/*
 * Simulated Bose wearable: the motion script and the samples along it, against
 * the table and the formulas of docs/protocols/bose.md 3, written out here.
 */
#include "bose_fixture.h"

#include <math.h>

#include "tendon/motion.h"

#define PI 3.14159265358979323846
#define DEGREES(radians) ((radians)*180 / PI)

/** 3.3 to 3.5: head angles of a quaternion x, y, z, w. */
static tendon_pose head_angles(const double q[4]) {
    double x = q[3], y = q[2], z = -q[1], w = -q[0]; /* m = q * (1,0,0,0) */
    double s = 2 * (w * y - z * x);
    return (tendon_pose){.pitch = atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
                         .roll = -(fabs(s) >= 1 ? copysign(PI / 2, s) : asin(s)),
                         .yaw = -atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))};
}

static void poses_of_the_table(void **state) {
    static const struct {
        double pitch, roll, yaw, q[4]; /* degrees */
    } rows[] = {
        {0, 0, 0, {1, 0, 0, 0}},
        {20, 0, 0, {0.984808, 0, 0, -0.173648}},
        {0, 15, 0, {0.991445, 0, 0.130526, 0}},
        {0, 0, 30, {0.965926, -0.258819, 0, 0}},
        {25.3376, -9.0548, 35.7383, {0.920379, -0.314916, -0.006213, -0.231715}},
        {0, 90, 0, {0.707107, 0, 0.707107, 0}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double q[4];
        tendon_simulated_bose_quaternion(
            (tendon_pose){rows[i].pitch * PI / 180, rows[i].roll * PI / 180, rows[i].yaw * PI / 180}, q);
        for (int k = 0; k < 4; k++) {
            assert_true(fabs(q[k] - rows[i].q[k]) < 2e-6);
        }
    }
}

static void head_angles_of_the_quaternion_are_the_pose(void **state) {
    (void)state;
    for (uint64_t ms = 0; ms < 20000; ms++) {
        tendon_pose pose = tendon_simulated_bose_pose(ms);
        double q[4];
        tendon_simulated_bose_quaternion(pose, q);
        tendon_pose back = head_angles(q);
        assert_true(fabs(back.pitch - pose.pitch) < 1e-12);
        assert_true(fabs(back.roll - pose.roll) < 1e-12);
        assert_true(fabs(back.yaw - pose.yaw) < 1e-12);
        tendon_angles angles = tendon_euler_head((tendon_quaternion){q[0], q[1], q[2], q[3]});
        assert_true(fabs(angles.pitch - pose.pitch) < 1e-12);
        assert_true(fabs(angles.roll - pose.roll) < 1e-12);
        assert_true(fabs(angles.yaw - pose.yaw) < 1e-12);
    }
}

static void script_is_smooth_periodic_and_wide(void **state) {
    double pitch = 0, roll_ = 0, yaw = 0;
    (void)state;
    for (uint64_t ms = 0; ms < 20000; ms++) {
        tendon_pose now = tendon_simulated_bose_pose(ms), next = tendon_simulated_bose_pose(ms + 1);
        tendon_pose later = tendon_simulated_bose_pose(ms + 20000 * 1000003ull);
        assert_true(now.pitch == later.pitch && now.roll == later.roll && now.yaw == later.yaw);
        assert_true(fabs(next.pitch - now.pitch) < 0.0003 && fabs(next.roll - now.roll) < 0.0003 &&
                    fabs(next.yaw - now.yaw) < 0.0004);
        pitch = fmax(pitch, now.pitch);
        roll_ = fmax(roll_, now.roll);
        yaw = fmax(yaw, now.yaw);
    }
    assert_true(fabs(DEGREES(pitch) - 25) < 0.001 && fabs(DEGREES(roll_) - 15) < 0.001 &&
                fabs(DEGREES(yaw) - 60) < 0.001);
}

/** The yaw swings once in 20 s, the pitch twice, the roll three times. */
static void quarters_of_the_script(void **state) {
    static const struct {
        uint64_t ms;
        double pitch, roll, yaw;
    } rows[] = {
        {0, 0, 0, 0}, {2500, 25, 0, 0}, {5000, 0, -15, 60}, {10000, 0, 0, 0}, {15000, 0, 15, -60}, {20000, 0, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tendon_pose pose = tendon_simulated_bose_pose(rows[i].ms);
        bool slanted = rows[i].ms == 2500; /* only the pitch has an even quarter there */
        assert_true(fabs(DEGREES(pose.pitch) - rows[i].pitch) < 1e-9);
        assert_true(slanted || fabs(DEGREES(pose.roll) - rows[i].roll) < 1e-9);
        assert_true(slanted || fabs(DEGREES(pose.yaw) - rows[i].yaw) < 1e-9);
    }
}

/** Everything at 20 ms over a whole script; returns the number of notifications. */
static size_t record_script(bose_fixture *f) {
    const tendon_simulated_bose_options options = {.sensor_mask = 0x7F};
    bose_init(f, &options);
    bose_connect(f, 0, 185);
    bose_listen(f, 0);
    bose_exchange(f, 0, "12 20 00 00 00 14 01 00 14 02 00 14 03 00 14 04 00 14 05 00 14 06 00 14", "13");
    device_forget(&f->in, 0);
    device_run(&f->in, 5000 + 20000);
    assert_int_equal(f->in.centrals[0].count, 1000);
    return f->in.centrals[0].count;
}

static double scaled(const uint8_t *bytes, int raw_max, double scaled_max) {
    int raw = (int16_t)(uint16_t)(bytes[0] << 8 | bytes[1]);
    return (raw + raw_max) * (2 * scaled_max) / (2 * raw_max) - scaled_max;
}

static void vector_of(const uint8_t *bytes, double scaled_max, double out[3]) {
    for (int i = 0; i < 3; i++) {
        out[i] = scaled(bytes + 2 * i, 32767, scaled_max);
    }
}

static void rotate(const double q[4], const double v[3], double out[3]) { /* body to earth: q v conj(q) */
    double t[3] = {2 * (q[1] * v[2] - q[2] * v[1]), 2 * (q[2] * v[0] - q[0] * v[2]), 2 * (q[0] * v[1] - q[1] * v[0])};
    out[0] = v[0] + q[3] * t[0] + q[1] * t[2] - q[2] * t[1];
    out[1] = v[1] + q[3] * t[1] + q[2] * t[0] - q[0] * t[2];
    out[2] = v[2] + q[3] * t[2] + q[0] * t[1] - q[1] * t[0];
}

/* Offsets in a notification of all seven: 10, 10, 13, 11, 10, 10, 15 bytes after the 3 of the PDU. */
enum { ACCELEROMETER = 3, GYROSCOPE = 13, ROTATION = 23, GAME = 36, ORIENTATION = 47, MAGNETOMETER = 57, RAW = 67 };

static void every_sample_agrees_with_the_script(void **state) {
    bose_fixture *f = *state;
    size_t count = record_script(f);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *b = f->in.centrals[0].pdus[i].bytes;
        assert_int_equal(f->in.centrals[0].pdus[i].length, 82);
        tendon_pose pose = tendon_simulated_bose_pose(20 * (i + 1));
        double q[4], v[3], earth[3];
        for (int k = 0; k < 4; k++) {
            q[k] = scaled(b + ROTATION + 3 + 2 * k, 16383, 1);
        }
        tendon_pose decoded = head_angles(q);
        assert_true(fabs(decoded.pitch - pose.pitch) < 2e-4);
        assert_true(fabs(decoded.roll - pose.roll) < 2e-4);
        assert_true(fabs(decoded.yaw - pose.yaw) < 2e-4);
        assert_memory_equal(b + ROTATION + 3, b + GAME + 3, 8);
        assert_true(fabs(scaled(b + ROTATION + 11, 16383, 1) - 0.0100104) < 1e-6);
        vector_of(b + ACCELEROMETER + 3, 8, v);
        rotate(q, v, earth);
        assert_true(fabs(earth[0]) < 5e-4 && fabs(earth[1]) < 5e-4 && fabs(earth[2] - 1) < 5e-4);
        vector_of(b + MAGNETOMETER + 3, 1300, v);
        rotate(q, v, earth);
        assert_true(fabs(earth[0]) < 0.05 && fabs(earth[1] - 20) < 0.05 && fabs(earth[2] + 40) < 0.05);
        vector_of(b + ORIENTATION + 3, 360, v);
        assert_true(fabs(v[0] - DEGREES(pose.pitch)) < 0.01 && fabs(v[1] - DEGREES(pose.roll)) < 0.01 &&
                    fabs(v[2] - DEGREES(pose.yaw)) < 0.01);
        double biased[3], bias[3];
        vector_of(b + RAW + 3, 1300, biased);
        vector_of(b + RAW + 9, 1300, bias);
        vector_of(b + MAGNETOMETER + 3, 1300, v);
        for (int k = 0; k < 3; k++) {
            assert_true(fabs(biased[k] - bias[k] - v[k]) < 0.1);
        }
        assert_int_equal(b[ACCELEROMETER + 9], 3);
        assert_int_equal(b[GYROSCOPE + 9], 3);
    }
}

/** At the start all three angles grow, and the head is level: the body axes are those of the angles. */
static void gyroscope_signs_are_those_of_the_angles(void **state) {
    bose_fixture *f = *state;
    record_script(f);
    double v[3];
    vector_of(f->in.centrals[0].pdus[999].bytes + GYROSCOPE + 3, 2000, v); /* at 20,000 ms, as at 0 */
    assert_true(fabs(v[0] - 25 * 2 * PI / 10) < 0.07);
    assert_true(fabs(v[1] - 15 * 3 * 2 * PI / 20) < 0.07);
    assert_true(fabs(v[2] - 60 * 2 * PI / 20) < 0.07);
}

/** q turned by the measured rate for a time is q at the end of it: Hamilton product with (w dt / 2, 1). */
static void gyroscope_carries_one_quaternion_to_the_next(void **state) {
    bose_fixture *f = *state;
    size_t count = record_script(f);
    for (size_t i = 0; i + 1 < count; i++) {
        double v[3], q[4], next[4];
        tendon_simulated_bose_quaternion(tendon_simulated_bose_pose(20 * (i + 1) - 5), q);
        tendon_simulated_bose_quaternion(tendon_simulated_bose_pose(20 * (i + 1) + 5), next);
        vector_of(f->in.centrals[0].pdus[i].bytes + GYROSCOPE + 3, 2000, v);
        double half = 0.010 / 2 * PI / 180;
        double b[3] = {v[0] * half, v[1] * half, v[2] * half};
        double turned[4] = {
            q[3] * b[0] + q[0] + q[1] * b[2] - q[2] * b[1], q[3] * b[1] - q[0] * b[2] + q[1] + q[2] * b[0],
            q[3] * b[2] + q[0] * b[1] - q[1] * b[0] + q[2], q[3] - q[0] * b[0] - q[1] * b[1] - q[2] * b[2]};
        for (int k = 0; k < 4; k++) {
            assert_true(fabs(turned[k] - next[k]) < 2e-5);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poses_of_the_table),
        cmocka_unit_test(head_angles_of_the_quaternion_are_the_pose),
        cmocka_unit_test(script_is_smooth_periodic_and_wide),
        cmocka_unit_test(quarters_of_the_script),
        bose_test(every_sample_agrees_with_the_script),
        bose_test(gyroscope_signs_are_those_of_the_angles),
        bose_test(gyroscope_carries_one_quaternion_to_the_next),
    };
    return cmocka_run_group_tests_name("simulate_bose_motion", tests, NULL, NULL);
}
