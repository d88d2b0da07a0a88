/* SPDX-License-Identifier: MIT */
/*
 * Scripted pairing service: pairing without a radio, played from a script, for
 * tests.
 */
#ifndef TENDON_SIMULATE_PAIRING_H
#define TENDON_SIMULATE_PAIRING_H

#include "tendon/host.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tendon_scripted_pairing {
    tendon_status outcome; /**< TENDON_OK: pairing succeeds and the bond is kept; < 0: it fails with this */
    uint32_t delay_ms;     /**< until the outcome */
    tendon_address bonds[4];
    size_t bond_count;
    void (*done)(void *context, tendon_status status, uint64_t now);
    void *done_context;
    tendon_address peer;
    uint64_t deadline; /**< UINT64_MAX: no pairing in progress */
    uint32_t started;  /**< number of attempts */
} tendon_scripted_pairing;

void tendon_scripted_pairing_init(tendon_scripted_pairing *pairing, tendon_status outcome, uint32_t delay_ms);
tendon_pairing_service tendon_scripted_pairing_service(tendon_scripted_pairing *pairing);
void tendon_scripted_pairing_tick(tendon_scripted_pairing *pairing, uint64_t now);
uint64_t tendon_scripted_pairing_deadline(const tendon_scripted_pairing *pairing);

#ifdef __cplusplus
}
#endif
#endif
