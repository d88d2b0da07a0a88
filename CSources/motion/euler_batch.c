/* SPDX-License-Identifier: MIT */
/*
 * The batch form: blocks of quaternions turned into arrays, and loops over
 * arrays of fixed length without calls or branches, which gcc and clang turn
 * into vector instructions at -O2 on any target that has them. Where a choice
 * is needed it is made by a sign or between constants: a choice between
 * results would keep gcc from it, which may not compute what might not be used.
 *
 * Sums that may cancel are computed in double, what follows in float, four at
 * a time where double would be two: rounding the arguments of atan2 and asin
 * then moves the angle by no more than the last digit of a float, 4e-7 rad in
 * all. asin and atan are polynomials, minimax by Remez exchange; the greatest
 * error of the angle, in radians, stands beside each.
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

#define HALF_PI 1.57079632679489661923f
#define QUARTER_PI 0.78539816339744830962f
#define NEAR_LOCK 0.9999 /* as in the plain form */

enum { BLOCK = 16 };

/* The arguments of atan2 for one rotation; the angle takes the place of y. */
typedef struct rotation {
    float y[BLOCK], x[BLOCK];
    float above[BLOCK]; /* |x| - |y|: its sign is right where both are too small for a float */
} rotation;

typedef struct block {
    double s[BLOCK];  /* 2(wy - zx) */
    float y[BLOCK];   /* the same; then its asin */
    float end[BLOCK]; /* (1 - |s|) / 2, 0 where |s| is above 1: exact near the end, where a float of s is not */
    rotation first, third;
} block;

static inline void set(rotation *r, int i, double y, double x) {
    r->y[i] = (float)y;
    r->x[i] = (float)x;
    r->above[i] = (float)(fabs(x) - fabs(y));
}

/* The plain form's own expressions, so that both see the same quadrant and the same side of a limit. */
static inline void load(block *b, const tendon_quaternion *q) {
    for (int i = 0; i < BLOCK; i++) {
        double x = q[i].x, y = q[i].y, z = q[i].z, w = q[i].w;
        double xx = x * x, yy = y * y, zz = z * z;
        double s = 2.0 * (w * y - z * x), rest = 1.0 - fabs(s);
        b->s[i] = s;
        b->y[i] = (float)s;
        b->end[i] = (float)(0.25 * (rest + fabs(rest)));
        set(&b->first, i, 2.0 * (w * x + y * z), 1.0 - 2.0 * (xx + yy));
        set(&b->third, i, 2.0 * (w * z + x * y), 1.0 - 2.0 * (yy + zz));
    }
}

/* Sums of all arguments, halving the array; what is not finite spreads to the end, and the plain form serves. */
static inline bool is_tame(const block *b) {
    float sum[BLOCK];
    for (int i = 0; i < BLOCK; i++) {
        sum[i] = (b->first.x[i] + b->first.y[i]) + (b->third.x[i] + b->third.y[i]) + b->y[i];
    }
    for (int i = 0; i < BLOCK / 2; i++) {
        sum[i] += sum[i + BLOCK / 2];
    }
    for (int i = 0; i < BLOCK / 4; i++) {
        sum[i] += sum[i + BLOCK / 4];
    }
    return fabsf((sum[0] + sum[1]) + (sum[2] + sum[3])) <= FLT_MAX;
}

static inline void atan2_all(rotation *r) {
    for (int i = 0; i < BLOCK; i++) {
        float ay = fabsf(r->y[i]), ax = fabsf(r->x[i]);
        float high = ay > ax ? ay : ax, low = ay < ax ? ay : ax;
        /* x is 0 or at least the last digit of 1: when high is so small that FLT_MIN counts, the angle is 0 or pi/2. */
        float t = low / (high + FLT_MIN), u = t * t, uu = u * u;
        /* atan(t) / t on 0 <= t <= 1: 8.6e-8 */
        float p01 = 0.9999986f - 0.33327263f * u, p23 = 0.199192f - 0.13780792f * u;
        float p45 = 0.093344475f - 0.051933643f * u, p67 = 0.01923799f - 0.0033607225f * u;
        float p = p01 + uu * (p23 + uu * (p45 + uu * p67));
        /* the octant: pi/2 - atan where |y| > |x|, then pi - that where x < 0 */
        float octant = QUARTER_PI + copysignf(QUARTER_PI - t * p, r->above[i]);
        r->y[i] = copysignf(HALF_PI - copysignf(octant, r->x[i]), r->y[i]);
    }
}

/* The library's sqrtf must be able to set errno, which would make each a call. */
#if defined(__SSE2__)
static inline void sqrt_all(const float z[BLOCK], float root[BLOCK]) {
    for (int i = 0; i < BLOCK; i += 4) {
        _mm_storeu_ps(root + i, _mm_sqrt_ps(_mm_loadu_ps(z + i)));
    }
}
#elif defined(__aarch64__)
static inline void sqrt_all(const float z[BLOCK], float root[BLOCK]) {
    for (int i = 0; i < BLOCK; i += 4) {
        vst1q_f32(root + i, vsqrtq_f32(vld1q_f32(z + i)));
    }
}
#else
/* z times 1/sqrt(z): a first guess from the halved exponent, then three of Newton's steps. 0 stays 0. */
static inline void sqrt_all(const float z[BLOCK], float root[BLOCK]) {
    uint32_t bits[BLOCK];
    memcpy(bits, z, sizeof bits);
    for (int i = 0; i < BLOCK; i++) {
        bits[i] = UINT32_C(0x5F3759DF) - (bits[i] >> 1);
    }
    memcpy(root, bits, sizeof bits);
    for (int i = 0; i < BLOCK; i++) {
        float half = 0.5f * z[i], y = root[i];
        y = y * (1.5f - half * y * y);
        y = y * (1.5f - half * y * y);
        y = y * (1.5f - half * y * y);
        root[i] = z[i] * y;
    }
}
#endif

/* asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)) above 1/2; at 1 and beyond that is pi/2, as it should be. */
static inline void asin_all(float y[BLOCK], const float end[BLOCK]) {
    float square[BLOCK], root[BLOCK];
    for (int i = 0; i < BLOCK; i++) {
        float whole = y[i] * y[i];
        square[i] = whole < end[i] ? whole : end[i]; /* they cross at 1/2 */
    }
    sqrt_all(square, root);
    for (int i = 0; i < BLOCK; i++) {
        /* (asin(r) - r) / (r z) with z = r r on 0 <= z <= 1/4: 1.3e-7, doubling included */
        float a = fabsf(y[i]), z = square[i], r = root[i];
        float p01 = 0.16665734f + 0.07540304f * z, p23 = 0.03988736f + 0.05050536f * z;
        float p = p01 + p23 * (z * z);
        float base = a > 0.5f ? HALF_PI : 0.0f, factor = a > 0.5f ? -2.0f : 1.0f;
        y[i] = copysignf(base + factor * (r + r * z * p), y[i]);
    }
}

static void convert(const tendon_quaternion *q, tendon_euler *out) {
    block b;
    load(&b, q);
    if (!is_tame(&b)) {
        for (int i = 0; i < BLOCK; i++) {
            out[i] = tendon_euler_rotations(q[i]);
        }
        return;
    }
    atan2_all(&b.first);
    atan2_all(&b.third);
    asin_all(b.y, b.end);
    for (int i = 0; i < BLOCK; i++) {
        out[i].x = (double)b.first.y[i];
        out[i].y = (double)b.y[i];
        out[i].z = (double)b.third.y[i];
        out[i].near_gimbal_lock = fabs(b.s[i]) > NEAR_LOCK;
    }
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
