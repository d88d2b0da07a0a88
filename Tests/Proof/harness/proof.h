/* SPDX-License-Identifier: MIT */
/* What the proofs share: input of a known length at the very end of its array, so that a byte beyond it is an alarm. */
#ifndef TENDON_PROOF_H
#define TENDON_PROOF_H

#include "__fc_builtin.h"
#include "tendon/base.h"

#ifndef MIN
#define MIN 0
#endif

static uint8_t bytes[N];
static volatile int proof_unknown;

/** Reached only when a property does not hold; then an alarm. */
static inline void proof_fail(void) {
    //@ assert proof_fails: \false;
}

/** Unknown bytes, and a length from MIN to N; the caller splits on it, so that every length is apart. */
static inline size_t proof_length(void) {
    Frama_C_make_unknown((char *)bytes, N);
    return (size_t)Frama_C_interval(MIN, N);
}

/** Any number at all, which an index from outside may be. */
static inline size_t proof_index(void) {
    size_t index;
    Frama_C_make_unknown((char *)&index, sizeof index);
    return index;
}

static inline uint8_t *proof_input(size_t length) {
    return bytes + (N - length);
}

#endif
