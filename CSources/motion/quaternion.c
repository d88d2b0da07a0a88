/* SPDX-License-Identifier: MIT */
#include "tendon/motion.h"
#include <math.h>

tendon_quaternion tendon_quaternion_multiply(tendon_quaternion a, tendon_quaternion b) {
    return (tendon_quaternion){
        .x = a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        .y = a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        .z = a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
        .w = a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
    };
}

static double squared_norm(tendon_quaternion q) {
    return q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
}

tendon_quaternion tendon_quaternion_conjugate(tendon_quaternion q) {
    return (tendon_quaternion){-q.x, -q.y, -q.z, q.w};
}

double tendon_quaternion_norm(tendon_quaternion q) {
    return sqrt(squared_norm(q));
}

/* 0 for what has no direction (all zero, not finite), else a power of two that brings the largest part near 1. */
static double prescale(tendon_quaternion q) {
    double largest = fmax(fmax(fabs(q.x), fabs(q.y)), fmax(fabs(q.z), fabs(q.w)));
    double sum = q.x + q.y + q.z + q.w;
    if (largest == 0.0 || !isfinite(largest) || isnan(sum)) {
        return 0.0;
    }
    int exponent;
    (void)frexp(largest, &exponent);
    /* ldexp(1, 1074) would overflow; such tiny parts are scaled far enough by 2^1000. */
    return ldexp(1.0, exponent < -1000 ? 1000 : -exponent);
}

static tendon_quaternion times(tendon_quaternion q, double factor) {
    return (tendon_quaternion){q.x * factor, q.y * factor, q.z * factor, q.w * factor};
}

tendon_status tendon_quaternion_inverse(tendon_quaternion q, tendon_quaternion *out) {
    double factor = prescale(q);
    if (factor == 0.0) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    /* conj(q f) / |q f|^2 * f = conj(q) / |q|^2, without overflow of the square. */
    tendon_quaternion near_one = times(q, factor);
    *out = times(times(tendon_quaternion_conjugate(near_one), 1.0 / squared_norm(near_one)), factor);
    return TENDON_OK;
}

tendon_status tendon_quaternion_normalize(tendon_quaternion q, tendon_quaternion *out) {
    double factor = prescale(q);
    if (factor == 0.0) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_quaternion near_one = times(q, factor);
    *out = times(near_one, 1.0 / tendon_quaternion_norm(near_one));
    return TENDON_OK;
}
