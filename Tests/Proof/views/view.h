/* SPDX-License-Identifier: MIT */
/* What the proofs of views share; see Tests/Proof/README.md, "Views". */
#ifndef TENDON_PROOF_VIEW_H
#define TENDON_PROOF_VIEW_H

#include "../harness/proof.h"

/** Reads both ends of a view that a decoder returned: one that is too long, or begins outside its input, is an alarm.
 */
static inline void proof_view(const void *view, size_t length) {
    static volatile uint8_t sink;
    const uint8_t *start = view;
    if (length > 0) {
        sink = start[0];
        sink = start[length - 1];
    }
}

/** A byte of the input with each of its values apart, as far as they can decide about a view of at most @p most bytes.
 */
static inline uint8_t proof_pinned(size_t most) {
    int value = Frama_C_interval(0, (int)most + 1);
    //@ split value;
    return (uint8_t)(value <= (int)most ? value : Frama_C_interval((int)most + 1, 255));
}

#endif
