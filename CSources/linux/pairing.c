/* SPDX-License-Identifier: MIT */
#include "pairing.h"

#include <string.h>

/** The peers' own limit for one step is 30 s (Core Spec Vol 3 Part H 3.4). */
#define PAIRING_LIMIT_MS 35000u

tendon_address tendon_pairing_own(const tendon_radio *radio, bool central) {
    static const tendon_address nobody = {.type = TENDON_ADDRESS_TYPE_PUBLIC};
    /* A program's address on the virtual radio is another one each time. */
    return central && radio->ops->bond_radio == TENDON_BOND_VIRTUAL ? nobody : radio->address;
}

const tendon_bond *tendon_pairing_key(const tendon_radio *radio, const tendon_address *peer) {
    if (radio->bonds == NULL) {
        return NULL;
    }
    const tendon_address own = tendon_pairing_own(radio, true);
    return tendon_bonds_find(radio->bonds, (tendon_bond_radio)radio->ops->bond_radio, &own, peer);
}

/** The open link that we have started; NULL: there is none. */
static tendon_link *link_to(const tendon_radio *radio, const tendon_address *peer) {
    tendon_link *link = radio->links;
    while (link != NULL && (link->accepted || link->closing || link->state != TENDON_LINK_OPEN ||
                            !tendon_address_equal(&link->peer, peer))) {
        link = link->next;
    }
    return link;
}

void tendon_pairing_close(tendon_radio *radio) {
    if (radio->attempt.busy) {
        radio->attempt.busy = false;
        tendon_loop_remove(radio->loop, &radio->attempt.timer);
    }
}

void tendon_pairing_finish(tendon_radio *radio, tendon_status status, uint64_t now) {
    const tendon_pairing_attempt attempt = radio->attempt;
    if (attempt.busy) {
        tendon_pairing_close(radio);
        attempt.done(attempt.done_context, status, now); /* may start the next one */
    }
}

void tendon_pairing_finish_later(tendon_radio *radio, tendon_status status) {
    radio->attempt.result = status;
    radio->attempt.timer.deadline = 0;
}

static void attempt_expired(void *context, uint64_t now) {
    tendon_radio *radio = context;
    const tendon_address peer = radio->attempt.peer;
    tendon_status status = radio->attempt.result;
    if (status == TENDON_ERROR_TIMEOUT) {
        radio->ops->pair_cancel(radio, &peer);
    }
    tendon_pairing_finish(radio, status, now);
}

static void cancel(void *context, const tendon_address *peer) {
    tendon_radio *radio = context;
    if (radio->attempt.busy && tendon_address_equal(&radio->attempt.peer, peer)) {
        tendon_pairing_close(radio);
        radio->ops->pair_cancel(radio, peer);
    }
}

static tendon_status start(void *context, const tendon_address *peer,
                           void (*done)(void *done_context, tendon_status status, uint64_t now), void *done_context,
                           uint64_t now) {
    tendon_radio *radio = context;
    tendon_pairing_attempt *attempt = &radio->attempt;
    tendon_link *link = link_to(radio, peer);
    if (attempt->busy) {
        return TENDON_ERROR_BUSY;
    }
    if (link == NULL) {
        return TENDON_ERROR_WRONG_STATE;
    }
    *attempt = (tendon_pairing_attempt){
        .busy = true, .peer = *peer, .done = done, .done_context = done_context, .result = TENDON_ERROR_TIMEOUT};
    tendon_source_init(&attempt->timer, -1, radio, NULL, attempt_expired);
    attempt->timer.deadline = now + PAIRING_LIMIT_MS;
    (void)tendon_loop_add(radio->loop, &attempt->timer); /* without a descriptor it cannot fail */
    tendon_status status = TENDON_OK;
    if (link->encrypted && tendon_pairing_key(radio, peer) != NULL) {
        tendon_pairing_finish_later(radio, TENDON_OK);
    } else {
        status = radio->ops->pair(radio, link);
    }
    if (status < 0) {
        tendon_pairing_close(radio);
    }
    return status;
}

static bool bonded(void *context, const tendon_address *peer) {
    return tendon_pairing_key(context, peer) != NULL;
}

static tendon_status forget(void *context, const tendon_address *peer) {
    return tendon_radio_forget(context, peer);
}

tendon_status tendon_radio_use_bonds(tendon_radio *radio, tendon_bonds *bonds) {
    if (radio->ops->use_bonds == NULL) {
        return TENDON_ERROR_UNSUPPORTED;
    }
    if (radio->bonds != NULL) {
        return TENDON_ERROR_WRONG_STATE;
    }
    radio->bonds = bonds;
    radio->pairing = (tendon_pairing_service){
        .context = radio, .start = start, .cancel = cancel, .bonded = bonded, .forget = forget};
    tendon_status status = radio->ops->use_bonds(radio);
    if (status < 0) {
        radio->bonds = NULL;
    }
    return status;
}

const tendon_pairing_service *tendon_radio_pairing(tendon_radio *radio) {
    return radio->bonds != NULL ? &radio->pairing : NULL;
}

tendon_status tendon_radio_set_pairable(tendon_radio *radio, bool pairable) {
    if (radio->bonds == NULL) {
        return TENDON_RADIO_ERROR_NO_PAIRING_SERVICE;
    }
    if (radio->pairable_told && radio->pairable == pairable) {
        return TENDON_OK;
    }
    radio->pairable = pairable;
    radio->pairable_told = true;
    return radio->ops->set_pairable(radio, pairable);
}

tendon_status tendon_radio_forget(tendon_radio *radio, const tendon_address *peer) {
    if (radio->bonds == NULL) {
        return TENDON_RADIO_ERROR_NO_PAIRING_SERVICE;
    }
    const tendon_address own = tendon_pairing_own(radio, true);
    tendon_status removed = tendon_bonds_remove(radio->bonds, (tendon_bond_radio)radio->ops->bond_radio, &own, peer);
    if (removed < 0) {
        return removed;
    }
    cancel(radio, peer);
    radio->ops->unpair(radio, peer);
    return removed > 0 ? TENDON_OK : TENDON_ERROR_NOT_FOUND;
}

tendon_status tendon_radio_forget_all(tendon_radio *radio) {
    if (radio->bonds == NULL) {
        return TENDON_RADIO_ERROR_NO_PAIRING_SERVICE;
    }
    const tendon_address own = tendon_pairing_own(radio, false);
    const tendon_bonds before = *radio->bonds;
    tendon_status removed = tendon_bonds_remove(radio->bonds, (tendon_bond_radio)radio->ops->bond_radio, &own, NULL);
    for (size_t i = 0; i < before.count && removed > 0; i++) {
        if (before.items[i].radio == radio->ops->bond_radio && tendon_address_equal(&before.items[i].own, &own)) {
            radio->ops->unpair(radio, &before.items[i].peer);
        }
    }
    return removed;
}
