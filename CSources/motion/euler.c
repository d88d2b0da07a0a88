/* SPDX-License-Identifier: MIT */
#include "tendon/motion.h"
#include <math.h>

/* Beyond this |s| the x and z rotations are not well defined: our design, docs/protocols/bose.md. */
#define NEAR_LOCK 0.9999
#define PI 3.14159265358979323846
#define HALF_PI 1.57079632679489661923

tendon_euler tendon_euler_rotations(tendon_quaternion q) {
    double s = 2.0 * (q.w * q.y - q.z * q.x);
    tendon_euler out;
    out.x = atan2(2.0 * (q.w * q.x + q.y * q.z), 1.0 - 2.0 * (q.x * q.x + q.y * q.y));
    out.y = fabs(s) >= 1.0 ? copysign(HALF_PI, s) : asin(s);
    out.z = atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y * q.y + q.z * q.z));
    out.near_gimbal_lock = fabs(s) > NEAR_LOCK;
    return out;
}

tendon_angles tendon_euler_legacy(tendon_quaternion q) {
    tendon_euler e = tendon_euler_rotations(q);
    double pitch = e.x + PI;
    if (pitch > PI) {
        pitch -= 2.0 * PI;
    }
    return (tendon_angles){pitch, -e.y, -e.z, e.near_gimbal_lock};
}

tendon_angles tendon_euler_guide(tendon_quaternion q) {
    static const tendon_quaternion map = {1.0, 0.0, 0.0, 0.0};
    tendon_euler e = tendon_euler_rotations(tendon_quaternion_multiply(q, map));
    return (tendon_angles){e.x, e.y, -e.z, e.near_gimbal_lock};
}

tendon_angles tendon_euler_head(tendon_quaternion q) {
    tendon_angles angles = tendon_euler_guide(q);
    angles.roll = -angles.roll;
    return angles;
}
