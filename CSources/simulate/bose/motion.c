/* SPDX-License-Identifier: MIT */
/*
 * Simulated Bose wearable: the motion script and the samples that a device
 * measures along it. Own formulas throughout: nothing of component motion, which the
 * client's angles come from.
 */
#include "bose_parts.h"
#include <math.h>

#define SCRIPT_PERIOD_MS 20000u
#define PI 3.14159265358979323846

/** Vector accuracy (2.3) and quaternion accuracy (164 counts: 0.01 rad) of all samples. */
enum { ACCURACY_HIGH = 3, ROTATION_ACCURACY = 164 };

/** Earth's field where the wearer is: 20 uT to the north, 40 uT down; and the offset of the uncalibrated sensor. */
static const double field_north = 20, field_up = -40;
static const double bias[3] = {5, -3, 8};

/** Harmonics of one period: smooth, and 0 at its start. */
static tendon_pose pose_at(double ms) {
    const double turn = 2 * PI / SCRIPT_PERIOD_MS;
    tendon_pose pose = {
        .pitch = 25 * PI / 180 * sin(2 * turn * ms),
        .roll = 15 * PI / 180 * sin(3 * turn * ms),
        .yaw = 60 * PI / 180 * sin(turn * ms),
    };
    return pose;
}

tendon_pose tendon_simulated_bose_pose(uint64_t device_ms) {
    return pose_at((double)(device_ms % SCRIPT_PERIOD_MS));
}

/**
 * 3.5: m = Rz(-yaw) Ry(-roll) Rx(pitch), intrinsic, in the frame X right, Y forward, Z up; the device reports q with
 * q * (1,0,0,0) = m, that is q = (w, z, -y, -x) of m except for the sign of all four, which is chosen so that a level
 * head facing north is (1,0,0,0).
 */
void tendon_simulated_bose_quaternion(tendon_pose pose, double out[4]) {
    double cx = cos(pose.pitch / 2), sx = sin(pose.pitch / 2);
    double cy = cos(-pose.roll / 2), sy = sin(-pose.roll / 2);
    double cz = cos(-pose.yaw / 2), sz = sin(-pose.yaw / 2);
    out[0] = cz * cy * cx + sz * sy * sx;    /* w of m */
    out[1] = sz * cy * cx - cz * sy * sx;    /* z */
    out[2] = -(cz * sy * cx + sz * cy * sx); /* -y */
    out[3] = -(cz * cy * sx - sz * sy * cx); /* -x */
}

static void rotation_at(double ms, double q[4]) {
    tendon_simulated_bose_quaternion(pose_at(ms), q);
}

/** An earth vector (east 0, north, up) as the body (right, back, down) sees it: conj(q) * v * q, as matrix rows. */
static void to_body(const double q[4], double north, double up, double out[3]) {
    double x = q[0], y = q[1], z = q[2], w = q[3];
    out[0] = 2 * (x * y + w * z) * north + 2 * (x * z - w * y) * up;
    out[1] = (1 - 2 * (x * x + z * z)) * north + 2 * (y * z + w * x) * up;
    out[2] = 2 * (y * z - w * x) * north + (1 - 2 * (x * x + y * y)) * up;
}

/** Turning rate in the body frame, deg/s: 2 conj(q) dq/dt, with the slope over 1 ms. */
static void turning_rate(double ms, double out[3]) {
    const double half = 0.5;
    double q[4], before[4], after[4], d[4];
    rotation_at(ms, q);
    rotation_at(ms - half, before);
    rotation_at(ms + half, after);
    for (int i = 0; i < 4; i++) {
        d[i] = (after[i] - before[i]) * (1000 / (2 * half)); /* per second */
    }
    double to_degrees = 2 * 180 / PI;
    out[0] = to_degrees * (q[3] * d[0] - q[0] * d[3] - q[1] * d[2] + q[2] * d[1]);
    out[1] = to_degrees * (q[3] * d[1] - q[1] * d[3] - q[2] * d[0] + q[0] * d[2]);
    out[2] = to_degrees * (q[3] * d[2] - q[2] * d[3] - q[0] * d[1] + q[1] * d[0]);
}

/** The formula of 2.2 backwards, to the nearest count within the range. */
static void write_scaled(tendon_writer *out, size_t sensor, double value) {
    const tendon_simulated_bose_sensor *range = &tendon_simulated_bose_sensors[sensor];
    double scale = ((double)range->scaled_max - range->scaled_min) / ((double)range->raw_max - range->raw_min);
    double raw = floor((value - range->scaled_min) / scale + range->raw_min + 0.5);
    raw = raw < range->raw_min ? range->raw_min : raw;
    raw = raw > range->raw_max ? range->raw_max : raw;
    tendon_write_u16be(out, (uint16_t)(int16_t)raw);
}

static void write_vector(tendon_writer *out, size_t sensor, const double v[3]) {
    for (int i = 0; i < 3; i++) {
        write_scaled(out, sensor, v[i]);
    }
}

static void write_quaternion(tendon_writer *out, size_t sensor, const double q[4]) {
    for (int i = 0; i < 4; i++) {
        write_scaled(out, sensor, q[i]);
    }
}

void tendon_simulated_bose_write_record(tendon_writer *out, size_t sensor, uint64_t device_ms) {
    double ms = (double)(device_ms % SCRIPT_PERIOD_MS);
    double q[4], v[3];
    rotation_at(ms, q);
    tendon_write_u8(out, (uint8_t)sensor);
    tendon_write_u16be(out, (uint16_t)(device_ms & 0xFFFFu));
    switch (sensor) {
    case 0: /* gravity's counterforce, 1 g upwards: (0,0,-1) at rest (2.3) */
        to_body(q, 0, 1, v);
        write_vector(out, sensor, v);
        tendon_write_u8(out, ACCURACY_HIGH);
        break;
    case 1:
        turning_rate(ms, v);
        write_vector(out, sensor, v);
        tendon_write_u8(out, ACCURACY_HIGH);
        break;
    case 2:
        write_quaternion(out, sensor, q);
        tendon_write_u16be(out, ROTATION_ACCURACY);
        break;
    case 3:
        write_quaternion(out, sensor, q);
        break;
    case 4: {
        tendon_pose pose = pose_at(ms);
        double degrees[3] = {pose.pitch * 180 / PI, pose.roll * 180 / PI, pose.yaw * 180 / PI};
        write_vector(out, sensor, degrees);
        tendon_write_u8(out, ACCURACY_HIGH);
        break;
    }
    default: /* 5 and 6 */
        to_body(q, field_north, field_up, v);
        if (sensor == 5) {
            write_vector(out, sensor, v);
            tendon_write_u8(out, ACCURACY_HIGH);
        } else {
            double biased[3] = {v[0] + bias[0], v[1] + bias[1], v[2] + bias[2]};
            write_vector(out, sensor, biased);
            write_vector(out, sensor, bias);
        }
        break;
    }
}
