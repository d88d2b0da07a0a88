/* SPDX-License-Identifier: MIT */
/* Activ5: orientation from motion, against turns whose true end is known. */
#include "test_bytes.h"

#include "tendon/devices/activ5.h"

#include <math.h>

#define DEGREE (3.14159265358979323846 / 180)

/** What the trainer says that is held like this and turns like that: rates before the vendor's correction. */
static tendon_activ5_imu motion(tendon_quaternion q, double x, double y, double z, double timestamp) {
    tendon_quaternion up = tendon_quaternion_multiply(
        tendon_quaternion_multiply(tendon_quaternion_conjugate(q), (tendon_quaternion){.z = 1}), q);
    return (tendon_activ5_imu){
        .acceleration = {up.x, up.y, up.z}, .gyro = {x / 1.15, y / 1.15, z / 1.15}, .timestamp = timestamp};
}

static tendon_quaternion about(int axis, double angle) {
    tendon_quaternion q = {0, 0, 0, cos(angle / 2)};
    *(axis == 0 ? &q.x : axis == 1 ? &q.y : &q.z) = sin(angle / 2);
    return q;
}

static void near(tendon_quaternion a, tendon_quaternion b, double limit) {
    double difference = tendon_activ5_orientation_difference(a, b);
    assert_true(fmin(difference, 2 * 180 * DEGREE - difference) < limit);
    assert_true(fabs(tendon_quaternion_norm(a) - 1) < 1e-12);
}

static void the_first_sample_is_levelled(void **state) {
    (void)state;
    for (int axis = 0; axis < 2; axis++) {
        for (int degrees = -180; degrees <= 180; degrees += 15) {
            tendon_activ5_orientation o;
            tendon_activ5_orientation_init(&o);
            tendon_quaternion held = about(axis, degrees * DEGREE);
            tendon_activ5_imu imu = motion(held, 9, 9, 9, 100);
            assert_true(tendon_activ5_orientation_update(&o, &imu));
            if (degrees != 180 && degrees != -180) { /* upside down every heading is as good */
                near(o.q, held, 1e-9);
            }
            tendon_activ5_imu felt = motion(o.q, 0, 0, 0, 0);
            for (int i = 0; i < 3; i++) {
                assert_true(fabs(felt.acceleration[i] - imu.acceleration[i]) < 1e-9);
            }
        }
    }
}

static void turns_about_each_axis_are_followed(void **state) {
    (void)state;
    for (int axis = 0; axis < 3; axis++) {
        for (int speed = -3; speed <= 3; speed += 2) { /* rad/s */
            tendon_activ5_orientation o;
            tendon_activ5_orientation_init(&o);
            for (int i = 0; i <= 50; i++) {
                double t = i * 0.040;
                double rate[3] = {0, 0, 0};
                rate[axis] = speed;
                tendon_activ5_imu imu = motion(about(axis, speed * t), rate[0], rate[1], rate[2], 5 + t);
                assert_true(tendon_activ5_orientation_update(&o, &imu));
                near(o.q, about(axis, speed * t), 1e-6);
            }
        }
    }
}

static void gravity_takes_drift_away_but_not_of_the_heading(void **state) {
    (void)state;
    tendon_activ5_orientation o;
    tendon_activ5_orientation_init(&o);
    for (int i = 0; i < 1500; i++) { /* a minute on the table, each rate 0.02 rad/s wrong */
        tendon_activ5_imu imu = motion((tendon_quaternion){.w = 1}, 0.02, 0.02, 0.02, i * 0.040);
        assert_true(tendon_activ5_orientation_update(&o, &imu));
    }
    tendon_euler angles = tendon_euler_rotations(o.q);
    assert_true(fabs(angles.x) < 0.03 && fabs(angles.y) < 0.03);
    assert_true(angles.z > 1.1 && angles.z < 1.3);
}

static void a_tare_learns_the_offsets(void **state) {
    (void)state;
    tendon_activ5_orientation o;
    tendon_activ5_orientation_init(&o);
    tendon_activ5_orientation_tare(&o, 1.0);
    int samples = 0;
    for (; o.taring; samples++) {
        double noise = samples % 2 == 0 ? 0.001 : -0.001;
        tendon_activ5_imu imu = motion((tendon_quaternion){.w = 1}, 0.02 + noise, -0.03, 0.05, samples * 0.050);
        assert_true(tendon_activ5_orientation_update(&o, &imu));
        assert_in_range(samples, 0, 30);
    }
    assert_int_equal(samples, 21); /* the first and one second */
    assert_true(fabs(o.offset[0] - 0.02) < 1e-4);
    assert_true(fabs(o.offset[1] + 0.03) < 1e-12);
    assert_true(fabs(o.offset[2] - 0.05) < 1e-12);
    tendon_activ5_orientation_reset(&o);
    for (int i = 0; i < 1500; i++) {
        tendon_activ5_imu imu = motion((tendon_quaternion){.w = 1}, 0.02, -0.03, 0.05, 10 + i * 0.040);
        assert_true(tendon_activ5_orientation_update(&o, &imu));
    }
    near(o.q, (tendon_quaternion){.w = 1}, 0.01);
    tendon_activ5_orientation_tare(&o, 0); /* one sample is enough */
    tendon_activ5_imu imu = motion((tendon_quaternion){.w = 1}, 0.5, 0, 0, 200);
    assert_true(tendon_activ5_orientation_update(&o, &imu));
    assert_false(o.taring);
    assert_true(fabs(o.offset[0] - 0.5) < 1e-12);
    tendon_activ5_orientation_tare(&o, 1.0); /* the pause before it is no part of it */
    for (samples = 0; o.taring; samples++) {
        imu = motion((tendon_quaternion){.w = 1}, 0.25, 0, 0, 300 + samples * 0.050);
        assert_true(tendon_activ5_orientation_update(&o, &imu));
        assert_in_range(samples, 0, 30);
    }
    assert_int_equal(samples, 21);
    assert_true(fabs(o.offset[0] - 0.25) < 1e-12);
}

/* Made level at once again, like the first sample, however soon after the sample before. */
static void after_a_reset_the_next_sample_is_the_first(void **state) {
    (void)state;
    tendon_activ5_orientation o, fresh;
    tendon_activ5_orientation_init(&o);
    tendon_activ5_orientation_init(&fresh);
    tendon_activ5_imu imu = motion((tendon_quaternion){.w = 1}, 0, 0, 0, 10);
    assert_true(tendon_activ5_orientation_update(&o, &imu));
    tendon_activ5_orientation_reset(&o);
    imu = motion(about(0, 0.5), 1, 0, 0, 10.04);
    assert_true(tendon_activ5_orientation_update(&o, &imu));
    assert_true(tendon_activ5_orientation_update(&fresh, &imu));
    near(o.q, about(0, 0.5), 1e-9);
    near(o.q, fresh.q, 1e-12);
}

static void mal_I07_what_runs_backwards_or_is_no_number_changes_nothing(void **state) {
    (void)state;
    tendon_activ5_orientation o, before;
    tendon_activ5_orientation_init(&o);
    tendon_activ5_orientation_tare(&o, 10);
    tendon_activ5_imu imu = motion(about(0, 0.5), 0, 0, 0, 50);
    assert_true(tendon_activ5_orientation_update(&o, &imu));
    before = o;
    imu = motion(about(0, -0.5), 1, 1, 1, 49.999);
    assert_false(tendon_activ5_orientation_update(&o, &imu));
    for (int i = 0; i < 7; i++) {
        for (int kind = 0; kind < 3; kind++) {
            imu = motion(about(0, -0.5), 1, 1, 1, 50.040);
            double *member = i < 3 ? &imu.acceleration[i] : i < 6 ? &imu.gyro[i - 3] : &imu.timestamp;
            *member = kind == 0 ? NAN : kind == 1 ? INFINITY : -INFINITY;
            assert_false(tendon_activ5_orientation_update(&o, &imu));
        }
    }
    assert_memory_equal(&o, &before, sizeof o);
    imu = motion(about(0, 0.5), 0, 0, 0, 50); /* the same time again is not backwards */
    assert_true(tendon_activ5_orientation_update(&o, &imu));
}

/** Timestamps are 32-bit ticks: from 32,749 s they go to -32,749 s. */
static void mal_I06_timestamps_wrap(void **state) {
    (void)state;
    tendon_activ5_orientation o;
    tendon_activ5_orientation_init(&o);
    double last = tendon_activ5_to_s(2147483647.0), first = tendon_activ5_to_s(-2147483648.0);
    tendon_activ5_imu imu = motion((tendon_quaternion){.w = 1}, 0, 0, 1, last - 0.020);
    assert_true(tendon_activ5_orientation_update(&o, &imu));
    imu = motion((tendon_quaternion){.w = 1}, 0, 0, 1, first + 0.020);
    assert_true(tendon_activ5_orientation_update(&o, &imu));
    near(o.q, about(2, 0.040), 1e-4);
}

static void after_a_gap_only_gravity_counts(void **state) {
    (void)state;
    tendon_activ5_orientation o;
    tendon_activ5_orientation_init(&o);
    for (int i = 0; i <= 25; i++) { /* heading 1 rad */
        tendon_activ5_imu imu = motion((tendon_quaternion){.w = 1}, 0, 0, 1, i * 0.040);
        assert_true(tendon_activ5_orientation_update(&o, &imu));
    }
    tendon_quaternion held = tendon_quaternion_multiply(about(2, 1), about(0, 1.2));
    tendon_activ5_imu imu = motion(held, 30, 30, 30, 60);
    assert_true(tendon_activ5_orientation_update(&o, &imu));
    near(o.q, held, 1e-6);
    /* a blow and a fall are no gravity */
    for (int i = 0; i < 2; i++) {
        imu = motion((tendon_quaternion){.w = 1}, 0, 0, 0, 60.040 + i * 0.040);
        for (int axis = 0; axis < 3; axis++) {
            imu.acceleration[axis] *= i == 0 ? 6 : 0.1;
        }
        assert_true(tendon_activ5_orientation_update(&o, &imu));
        near(o.q, held, 1e-6);
    }
}

/** Whatever a trainer can send: the result stays of norm 1. */
static void random_motion_stays_a_rotation(void **state) {
    (void)state;
    uint64_t seed = 88172645463325252u;
    tendon_activ5_orientation o;
    tendon_activ5_orientation_init(&o);
    double t = 0;
    for (int i = 0; i < 100000; i++) {
        double values[7];
        for (int k = 0; k < 7; k++) {
            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
            values[k] = (double)(int16_t)(seed >> 24);
        }
        t += fabs(values[6]) * 1e-5;
        tendon_activ5_imu imu = {.acceleration = {values[0] / 4095, values[1] / 4095, values[2] / 4095},
                                 .gyro = {values[3] / 900, values[4] / 900, values[5] / 900},
                                 .timestamp = t};
        assert_true(tendon_activ5_orientation_update(&o, &imu));
        assert_true(fabs(tendon_quaternion_norm(o.q) - 1) < 1e-12);
    }
}

static void differences(void **state) {
    (void)state;
    for (int axis = 0; axis < 3; axis++) {
        for (int degrees = 0; degrees <= 350; degrees += 10) {
            double angle = degrees * DEGREE;
            tendon_quaternion b = tendon_quaternion_multiply(about(1, 0.3), about(2, -0.7));
            tendon_quaternion a = tendon_quaternion_multiply(about(axis, angle), b);
            assert_true(fabs(tendon_activ5_orientation_difference(a, b) - angle) < 1e-9);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_sample_is_levelled),
        cmocka_unit_test(turns_about_each_axis_are_followed),
        cmocka_unit_test(gravity_takes_drift_away_but_not_of_the_heading),
        cmocka_unit_test(a_tare_learns_the_offsets),
        cmocka_unit_test(after_a_reset_the_next_sample_is_the_first),
        cmocka_unit_test(mal_I07_what_runs_backwards_or_is_no_number_changes_nothing),
        cmocka_unit_test(mal_I06_timestamps_wrap),
        cmocka_unit_test(after_a_gap_only_gravity_counts),
        cmocka_unit_test(random_motion_stays_a_rotation),
        cmocka_unit_test(differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
