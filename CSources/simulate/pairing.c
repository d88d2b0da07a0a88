/* SPDX-License-Identifier: MIT */
#include "tendon/simulate/pairing.h"

void tendon_scripted_pairing_init(tendon_scripted_pairing *pairing, tendon_status outcome, uint32_t delay_ms) {
    memset(pairing, 0, sizeof *pairing);
    pairing->outcome = outcome;
    pairing->delay_ms = delay_ms;
    pairing->deadline = UINT64_MAX;
}

static size_t bond_of(const tendon_scripted_pairing *pairing, const tendon_address *peer) {
    size_t i = 0;
    while (i < pairing->bond_count && !tendon_address_equal(&pairing->bonds[i], peer)) {
        i++;
    }
    return i;
}

static bool bonded(void *context, const tendon_address *peer) {
    const tendon_scripted_pairing *pairing = context;
    return bond_of(pairing, peer) < pairing->bond_count;
}

static tendon_status start(void *context, const tendon_address *peer,
                           void (*done)(void *done_context, tendon_status status, uint64_t now), void *done_context,
                           uint64_t now) {
    tendon_scripted_pairing *pairing = context;
    if (pairing->deadline != UINT64_MAX) {
        return TENDON_ERROR_BUSY;
    }
    pairing->peer = *peer;
    pairing->done = done;
    pairing->done_context = done_context;
    pairing->deadline = now + pairing->delay_ms; /* tick() reports the result, even if the delay is 0 */
    pairing->started++;
    return TENDON_OK;
}

static void cancel(void *context, const tendon_address *peer) {
    tendon_scripted_pairing *pairing = context;
    if (pairing->deadline != UINT64_MAX && tendon_address_equal(&pairing->peer, peer)) {
        pairing->deadline = UINT64_MAX;
    }
}

static tendon_status forget(void *context, const tendon_address *peer) {
    tendon_scripted_pairing *pairing = context;
    size_t index = bond_of(pairing, peer);
    if (index == pairing->bond_count) {
        return TENDON_ERROR_NOT_FOUND;
    }
    pairing->bond_count--;
    pairing->bonds[index] = pairing->bonds[pairing->bond_count];
    return TENDON_OK;
}

tendon_pairing_service tendon_scripted_pairing_service(tendon_scripted_pairing *pairing) {
    return (tendon_pairing_service){
        .context = pairing, .start = start, .cancel = cancel, .bonded = bonded, .forget = forget};
}

void tendon_scripted_pairing_tick(tendon_scripted_pairing *pairing, uint64_t now) {
    if (now < pairing->deadline || pairing->deadline == UINT64_MAX) {
        return;
    }
    const size_t capacity = sizeof pairing->bonds / sizeof pairing->bonds[0];
    tendon_status outcome = pairing->outcome;
    pairing->deadline = UINT64_MAX;
    if (outcome >= 0 && bond_of(pairing, &pairing->peer) == pairing->bond_count) {
        if (pairing->bond_count < capacity) {
            pairing->bonds[pairing->bond_count] = pairing->peer;
            pairing->bond_count++;
        } else {
            outcome = TENDON_ERROR_TABLE_FULL;
        }
    }
    if (pairing->done != NULL) {
        pairing->done(pairing->done_context, outcome, now); /* may start the next one */
    }
}

uint64_t tendon_scripted_pairing_deadline(const tendon_scripted_pairing *pairing) {
    return pairing->deadline;
}
