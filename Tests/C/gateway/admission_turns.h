/* SPDX-License-Identifier: MIT */
/* Turns that end, for the tests of admission. */
#ifndef TENDON_TEST_ADMISSION_TURNS_H
#define TENDON_TEST_ADMISSION_TURNS_H

#include "tendon/gateway/admission.h"

/** An attempt that may succeed another time. */
static inline uint64_t turn_fails(tendon_admission *a, const tendon_address *address, uint8_t radio, uint64_t now) {
    return tendon_admission_end_turn(a, address, &(tendon_admission_ending){.radio = radio, .may_retry = true}, now);
}

static inline uint64_t turn_is_lost(tendon_admission *a, const tendon_address *address, uint64_t now) {
    return tendon_admission_end_turn(a, address, &(tendon_admission_ending){.was_open = true}, now);
}

static inline uint64_t turn_is_released(tendon_admission *a, const tendon_address *address, uint64_t now) {
    return tendon_admission_end_turn(a, address, &(tendon_admission_ending){.was_open = true, .was_released = true},
                                     now);
}

#endif
