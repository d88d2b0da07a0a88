/* SPDX-License-Identifier: MIT */
/*
 * The batch form: blocks of quaternions turned into arrays, and loops over
 * arrays of fixed length without calls or branches, which gcc and clang turn
 * into vector instructions at -O2 on any target that has them. Where a choice
 * is needed it is made by a sign or between constants: a choice between
 * results would keep gcc from it, which may not compute what might not be used.
 *
 * asin and atan are polynomials, minimax by Remez exchange; the greatest error
 * of the angle, in radians, stands beside each.
 */
#include "tendon/motion.h"
#include <float.h>
#include <math.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define HALF_PI 1.57079632679489661923
#define QUARTER_PI 0.78539816339744830962
#define NEAR_LOCK 0.9999 /* as in the plain form */
#define TAME 1e30        /* squared norms up to it; beyond, and for NaN, the plain form serves */

enum { BLOCK = 16 };

typedef struct block {
    double s[BLOCK];             /* 2(wy - zx) */
    double y1[BLOCK], x1[BLOCK]; /* atan2 arguments of the x rotation */
    double y2[BLOCK], x2[BLOCK]; /* and of the z rotation */
    double norm[BLOCK];          /* squared */
} block;

/* The plain form's own expressions, so that both see the same quadrant and the same side of a limit. */
static inline void load(block *b, const tendon_quaternion *q) {
    for (int i = 0; i < BLOCK; i++) {
        double x = q[i].x, y = q[i].y, z = q[i].z, w = q[i].w;
        double xx = x * x, yy = y * y, zz = z * z;
        b->s[i] = 2.0 * (w * y - z * x);
        b->y1[i] = 2.0 * (w * x + y * z);
        b->x1[i] = 1.0 - 2.0 * (xx + yy);
        b->y2[i] = 2.0 * (w * z + x * y);
        b->x2[i] = 1.0 - 2.0 * (yy + zz);
        b->norm[i] = xx + yy + zz + w * w;
    }
}

/* Sums of norms, halving the array; what is not finite spreads to the end. */
static inline bool is_tame(const double norm[BLOCK]) {
    double sum[BLOCK / 2];
    for (int i = 0; i < BLOCK / 2; i++) {
        sum[i] = norm[i] + norm[i + BLOCK / 2];
    }
    for (int i = 0; i < BLOCK / 4; i++) {
        sum[i] += sum[i + BLOCK / 4];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]) < TAME;
}

static inline void atan2_all(double y[BLOCK], const double x[BLOCK]) {
    for (int i = 0; i < BLOCK; i++) {
        double ay = fabs(y[i]), ax = fabs(x[i]);
        double high = ay > ax ? ay : ax, low = ay < ax ? ay : ax;
        /* x is 0 or at least the last digit of 1: when high is so small that DBL_MIN counts, low is 0. */
        double t = low / (high + DBL_MIN), u = t * t, uu = u * u;
        /* atan(t) / t on 0 <= t <= 1: 8.6e-8. In pairs, so that few operations wait for each other. */
        double p01 = 0.999998616179583 - 0.3332726342154916 * u, p23 = 0.19919200547984842 - 0.1378079222287062 * u;
        double p45 = 0.09334447346039002 - 0.051933642769057056 * u;
        double p67 = 0.019237990000174978 - 0.003360722509294565 * u;
        double p = (p01 + p23 * uu) + (p45 + p67 * uu) * (uu * uu);
        /* the octant: pi/2 - atan where |y| > |x|, then pi - that where x < 0 */
        double octant = QUARTER_PI + copysign(QUARTER_PI - t * p, ax - ay);
        y[i] = copysign(HALF_PI - copysign(octant, x[i]), y[i]);
    }
}

static inline double lesser(double a, double b) {
    return a < b ? a : b;
}

/* The library's sqrt must be able to set errno, which would make each a call. */
#if defined(__SSE2__)
static inline void sqrt_all(const double z[BLOCK], double root[BLOCK]) {
    for (int i = 0; i < BLOCK; i += 2) {
        _mm_storeu_pd(root + i, _mm_sqrt_pd(_mm_loadu_pd(z + i)));
    }
}
#elif defined(__aarch64__)
static inline void sqrt_all(const double z[BLOCK], double root[BLOCK]) {
    for (int i = 0; i < BLOCK; i += 2) {
        vst1q_f64(root + i, vsqrtq_f64(vld1q_f64(z + i)));
    }
}
#else
/* z times 1/sqrt(z): a first guess from the halved exponent, then three of Newton's steps, 4e-11. 0 stays 0. */
static inline void sqrt_all(const double z[BLOCK], double root[BLOCK]) {
    uint64_t bits[BLOCK];
    memcpy(bits, z, sizeof bits);
    for (int i = 0; i < BLOCK; i++) {
        bits[i] = UINT64_C(0x5FE6EB50C7B537A9) - (bits[i] >> 1);
    }
    memcpy(root, bits, sizeof bits);
    for (int i = 0; i < BLOCK; i++) {
        double half = 0.5 * z[i], y = root[i];
        y = y * (1.5 - half * y * y);
        y = y * (1.5 - half * y * y);
        y = y * (1.5 - half * y * y);
        root[i] = z[i] * y;
    }
}
#endif

/* asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)) above 1/2; at 1 and beyond that is pi/2, as it should be. */
static inline void asin_all(double s[BLOCK]) {
    double square[BLOCK], half[BLOCK], root[BLOCK];
    for (int i = 0; i < BLOCK; i++) {
        double a = lesser(fabs(s[i]), 1.0);
        square[i] = a * a;
        half[i] = 0.5 - 0.5 * a;
    }
    for (int i = 0; i < BLOCK; i++) {
        square[i] = lesser(square[i], half[i]); /* they cross at 1/2 */
    }
    sqrt_all(square, root);
    for (int i = 0; i < BLOCK; i++) {
        /* (asin(r) - r) / (r z) with z = r r on 0 <= z <= 1/4: 1.3e-7, doubling included */
        double a = fabs(s[i]), z = square[i], r = root[i];
        double p01 = 0.16665733892125004 + 0.07540303828348204 * z;
        double p23 = 0.03988736005481765 + 0.05050536261167709 * z;
        double p = p01 + p23 * (z * z);
        double base = a > 0.5 ? HALF_PI : 0.0, factor = a > 0.5 ? -2.0 : 1.0;
        s[i] = copysign(base + factor * (r + r * z * p), s[i]);
    }
}

static inline void store(tendon_euler *out, const block *b, const double lock[BLOCK]) {
    for (int i = 0; i < BLOCK; i++) {
        out[i].x = b->y1[i];
        out[i].y = b->s[i];
        out[i].z = b->y2[i];
        out[i].near_gimbal_lock = fabs(lock[i]) > NEAR_LOCK;
    }
}

static void convert(const tendon_quaternion *q, tendon_euler *out) {
    block b;
    double lock[BLOCK];
    load(&b, q);
    if (!is_tame(b.norm)) {
        for (int i = 0; i < BLOCK; i++) {
            out[i] = tendon_euler_rotations(q[i]);
        }
        return;
    }
    for (int i = 0; i < BLOCK; i++) {
        lock[i] = b.s[i];
    }
    atan2_all(b.y1, b.x1);
    atan2_all(b.y2, b.x2);
    asin_all(b.s);
    store(out, &b, lock);
}

void tendon_euler_rotations_batch(const tendon_quaternion *q, tendon_euler *out, size_t count) {
    size_t done = 0;
    for (; count - done >= BLOCK; done += BLOCK) {
        convert(q + done, out + done);
    }
    if (done < count) {
        tendon_quaternion rest[BLOCK] = {{0}};
        tendon_euler converted[BLOCK];
        for (size_t i = done; i < count; i++) {
            rest[i - done] = q[i];
        }
        convert(rest, converted);
        for (size_t i = done; i < count; i++) {
            out[i] = converted[i - done];
        }
    }
}
