/* SPDX-License-Identifier: MIT */
/*
 * The SSE2 operations that the decoders use, for Frama-C: which bytes they read and write is exact, the numbers that
 * they compute are any numbers. The vectors are seen from outside through memory alone.
 */
#ifndef TENDON_PROOF_EMMINTRIN_H
#define TENDON_PROOF_EMMINTRIN_H

#include "__fc_builtin.h"

typedef struct {
    unsigned char bytes[16];
} __m128i;
typedef struct {
    double numbers[2];
} __m128d;

static inline __m128i proof_any_integers(void) {
    __m128i any;
    Frama_C_make_unknown((char *)&any, sizeof any);
    return any;
}

static inline __m128d proof_any_doubles(void) {
    __m128d any = {{Frama_C_double_interval(-1e300, 1e300), Frama_C_double_interval(-1e300, 1e300)}};
    return any;
}

static inline __m128i _mm_loadl_epi64(const __m128i *from) {
    const volatile unsigned char *bytes = (const volatile unsigned char *)from;
    for (int i = 0; i < 8; i++) {
        (void)bytes[i];
    }
    return proof_any_integers();
}

static inline void _mm_storel_epi64(__m128i *to, __m128i value) {
    for (int i = 0; i < 8; i++) {
        ((unsigned char *)to)[i] = value.bytes[i];
    }
}

static inline void _mm_storeu_pd(double *to, __m128d value) {
    to[0] = value.numbers[0];
    to[1] = value.numbers[1];
}

#define _mm_or_si128(a, b) ((void)(a), (void)(b), proof_any_integers())
#define _mm_slli_epi16(a, n) ((void)(a), proof_any_integers())
#define _mm_srli_epi16(a, n) ((void)(a), proof_any_integers())
#define _mm_srai_epi32(a, n) ((void)(a), proof_any_integers())
#define _mm_srli_si128(a, n) ((void)(a), proof_any_integers())
#define _mm_unpacklo_epi16(a, b) ((void)(a), (void)(b), proof_any_integers())
#define _mm_sub_epi32(a, b) ((void)(a), (void)(b), proof_any_integers())
#define _mm_set1_epi32(n) ((void)(n), proof_any_integers())
#define _mm_cvtepi32_pd(a) ((void)(a), proof_any_doubles())
#define _mm_set1_pd(n) ((void)(n), proof_any_doubles())
#define _mm_mul_pd(a, b) ((void)(a), (void)(b), proof_any_doubles())
#define _mm_add_pd(a, b) ((void)(a), (void)(b), proof_any_doubles())

#endif
