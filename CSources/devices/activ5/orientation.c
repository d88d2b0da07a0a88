/* SPDX-License-Identifier: MIT */
#include "tendon/devices/activ5_orientation.h"

#include <math.h>
#include <string.h>

/** How fast the result is pulled towards gravity, 1/s: time constant of a second. */
#define PULL 1.0
/** After a longer pause, the rotation during the pause is unknown. */
#define GAP_S 1.0
/** After this long its timestamps begin again: 2^32 ticks. */
#define WRAP_TICKS 4294967296.0

void tendon_activ5_orientation_reset(tendon_activ5_orientation *orientation) {
    orientation->q = (tendon_quaternion){.w = 1};
    orientation->started = false;
}

void tendon_activ5_orientation_init(tendon_activ5_orientation *orientation) {
    memset(orientation, 0, sizeof *orientation);
    tendon_activ5_orientation_reset(orientation);
}

void tendon_activ5_orientation_tare(tendon_activ5_orientation *orientation, double duration_s) {
    memset(orientation->sum, 0, sizeof orientation->sum);
    orientation->left_s = duration_s;
    orientation->count = 0;
    orientation->taring = true;
}

static void take_tare(tendon_activ5_orientation *orientation, const double rate[3], double elapsed_s) {
    orientation->left_s -= orientation->count > 0 ? elapsed_s : 0;
    orientation->count++;
    orientation->taring = orientation->left_s > 0;
    for (int i = 0; i < 3; i++) {
        orientation->sum[i] += rate[i];
        if (!orientation->taring) {
            orientation->offset[i] = orientation->sum[i] / orientation->count;
        }
    }
}

/** A turn about an axis, by as many radians as the axis is long. */
static tendon_quaternion turn(double x, double y, double z) {
    double angle = sqrt(x * x + y * y + z * z);
    double scale = angle > 1e-9 ? sin(angle / 2) / angle : 0.5;
    return (tendon_quaternion){x * scale, y * scale, z * scale, cos(angle / 2)};
}

/** Rotates @p q so that the measured acceleration points up: completely, or partially. */
static tendon_quaternion level(tendon_quaternion q, const double a[3], double part) {
    double square = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
    if (!(square > 0.25 && square < 2.25)) {
        return q; /* a fall or a blow: this is not gravity */
    }
    double norm = sqrt(square);
    tendon_quaternion felt = {a[0] / norm, a[1] / norm, a[2] / norm, 0};
    tendon_quaternion up =
        tendon_quaternion_multiply(tendon_quaternion_multiply(q, felt), tendon_quaternion_conjugate(q));
    /* The axis is up x Z, as long as the sine of the angle. */
    double sine = sqrt(up.x * up.x + up.y * up.y);
    double angle = part * atan2(sine, up.z);
    double scale = sine > 1e-9 ? angle / sine : 0;
    bool upside_down = sine <= 1e-9 && up.z < 0;
    tendon_quaternion back = upside_down ? turn(angle, 0, 0) : turn(up.y * scale, -up.x * scale, 0);
    return tendon_quaternion_multiply(back, q);
}

static bool is_number(double value) {
    return value > -1e9 && value < 1e9;
}

bool tendon_activ5_orientation_update(tendon_activ5_orientation *orientation, const tendon_activ5_imu *imu) {
    tendon_activ5_imu scaled = tendon_activ5_scaled(imu);
    bool good = is_number(imu->timestamp);
    for (int i = 0; i < 3; i++) {
        good = good && is_number(imu->acceleration[i]) && is_number(scaled.gyro[i]);
    }
    double elapsed = orientation->started || orientation->count > 0 ? imu->timestamp - orientation->timestamp : 0;
    double wrap = tendon_activ5_to_s(WRAP_TICKS);
    elapsed += elapsed < -wrap / 2 ? wrap : 0;
    if (!good || elapsed < 0) {
        return false;
    }
    if (orientation->taring) {
        take_tare(orientation, scaled.gyro, elapsed);
    }
    tendon_quaternion q = orientation->q;
    bool whole = !orientation->started || elapsed > GAP_S;
    if (!whole) {
        const double *offset = orientation->offset;
        q = tendon_quaternion_multiply(q, turn((scaled.gyro[0] - offset[0]) * elapsed,
                                               (scaled.gyro[1] - offset[1]) * elapsed,
                                               (scaled.gyro[2] - offset[2]) * elapsed));
    }
    q = level(q, scaled.acceleration, whole ? 1 : PULL * elapsed);
    (void)tendon_quaternion_normalize(q, &orientation->q); /* of norm 1 except for rounding */
    orientation->timestamp = imu->timestamp;
    orientation->started = true;
    return true;
}

double tendon_activ5_orientation_difference(tendon_quaternion a, tendon_quaternion b) {
    tendon_quaternion d = tendon_quaternion_multiply(a, tendon_quaternion_conjugate(b));
    return 2 * atan2(sqrt(d.x * d.x + d.y * d.y + d.z * d.z), d.w);
}
