/* SPDX-License-Identifier: MIT */
/*
 * Tendon: motion component. Quaternions (Hamilton convention, scalar last) and Euler angles. Depends on base and libm
 * only.
 */
#ifndef TENDON_MOTION_H
#define TENDON_MOTION_H

#include "tendon/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tendon_quaternion {
    double x, y, z, w;
} tendon_quaternion;

/** Radians. */
typedef struct tendon_euler {
    double x, y, z;
    bool near_gimbal_lock; /**< |2(wy - zx)| > 0.9999: x and z are not well defined */
} tendon_euler;

typedef struct tendon_angles {
    double pitch, roll, yaw; /**< radians */
    bool near_gimbal_lock;
} tendon_angles;

/** Returns the Hamilton product a * b: first rotation b, then rotation a. */
tendon_quaternion tendon_quaternion_multiply(tendon_quaternion a, tendon_quaternion b);
/** Computes the inverse: conjugate / squared norm. TENDON_ERROR_INVALID_ARGUMENT if @p q is zero. */
tendon_status tendon_quaternion_inverse(tendon_quaternion q, tendon_quaternion *out);
/** Scales to norm 1. TENDON_ERROR_INVALID_ARGUMENT if @p q is zero or not finite. */
tendon_status tendon_quaternion_normalize(tendon_quaternion q, tendon_quaternion *out);
tendon_quaternion tendon_quaternion_conjugate(tendon_quaternion q);
double tendon_quaternion_norm(tendon_quaternion q);

/** Right-handed rotations about x, y, z (intrinsic z-y'-x''). q is not normalized; NaN results in NaN.
 * Of what is no rotation, such as {0, 0, 0, 0}, the angles mean nothing: test tendon_quaternion_norm(). */
tendon_euler tendon_euler_rotations(tendon_quaternion q);
/** Deprecated pitch, roll, yaw of the Bose SDK: raw device quaternion only. */
tendon_angles tendon_euler_legacy(tendon_quaternion q);
/** Bose migration guide: m = q * (1,0,0,0); pitch x(m), roll +y(m) (right shoulder positive), yaw -z(m). */
tendon_angles tendon_euler_guide(tendon_quaternion q);
/** Head angles with the documented signs: pitch up, roll to the LEFT shoulder, yaw to the right positive. */
tendon_angles tendon_euler_head(tendon_quaternion q);

/**
 * Converts @p count quaternions in one call. Error below 1e-6 rad where |s| <= 0.9999, below 1e-4 beyond
 * (s = 2(wy - zx)). @p q and @p out must not overlap.
 */
void tendon_euler_rotations_batch(const tendon_quaternion *q, tendon_euler *out, size_t count);

#ifdef __cplusplus
}
#endif
#endif
