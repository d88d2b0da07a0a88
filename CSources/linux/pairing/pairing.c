/* SPDX-License-Identifier: MIT */
#include "pairing.h"

#include <string.h>

/** The peers' own limit for one step is 30 s (Core Spec Vol 3 Part H 3.4). */
#define PAIRING_LIMIT_MS 35000u
#define RETRY_PAUSE_MS 500u

const tendon_bond *tendon_pairing_key(const tendon_radio *radio, const tendon_address *peer) {
    if (radio->bonds == NULL) {
        return NULL;
    }
    const tendon_address own = tendon_pairing_own(radio, true);
    (void)tendon_bonds_refresh(
        radio->bonds); /* if the file cannot be read, the last state that was read remains valid */
    const tendon_bond *bond = tendon_bonds_find(radio->bonds, (tendon_bond_radio)radio->ops->bond_radio, &own, peer);
    bool suffices = bond != NULL && tendon_pairing_suffices(radio, bond) &&
                    (radio->security != TENDON_SECURITY_AUTHENTICATED || tendon_bond_is_authenticated(bond));
    return suffices ? bond : NULL;
}

/** A bond of a peer that is connected. */
static bool in_use(void *context, const tendon_bond *bond) {
    const tendon_radio *radio = context;
    const tendon_link *link = radio->links;
    while (link != NULL && !tendon_address_equal(&link->identity, &bond->peer)) {
        link = link->next;
    }
    return link != NULL;
}

tendon_status tendon_pairing_store(tendon_radio *radio, const tendon_bond *bond, bool replaces) {
    tendon_status status = replaces ? tendon_bonds_store_replacing(radio->bonds, bond, in_use, radio)
                                    : tendon_bonds_store(radio->bonds, bond);
    radio->store_failure = status < 0 ? status : TENDON_OK;
    return status;
}

void tendon_pairing_stored(tendon_link *link, uint64_t now) {
    link->keyed = true;
    if (link->callbacks.bonded != NULL) {
        link->callbacks.bonded(link->callbacks.context, now);
    }
}

const tendon_address *tendon_pairing_name(const tendon_link *link) {
    return link->keyed ? &link->identity : &link->peer;
}

static bool is_open(const tendon_link *link) {
    return link->state == TENDON_LINK_OPEN;
}

/** The open link that this radio started, by the address of its connection or by its identity; NULL: none. */
static tendon_link *link_to(const tendon_radio *radio, const tendon_address *peer) {
    tendon_link *found = NULL;
    for (tendon_link *link = radio->links; link != NULL; link = link->next) {
        if (link->accepted || !is_open(link)) {
            continue;
        }
        if (tendon_address_equal(&link->peer, peer)) {
            return link;
        }
        found = tendon_address_equal(tendon_pairing_name(link), peer) ? link : found;
    }
    return found;
}

/** The address under which the keys of @p peer are stored: that of its connection can be a private one. */
static tendon_address name_of(tendon_radio *radio, const tendon_address *peer) {
    const tendon_link *link = radio->links;
    while (link != NULL && !(is_open(link) && tendon_address_equal(&link->peer, peer))) {
        link = link->next;
    }
    const tendon_address *identity =
        link != NULL ? tendon_pairing_name(link) : tendon_radio_identity_of(radio, peer, tendon_monotonic_ms());
    return identity != NULL ? *identity : *peer;
}

/** Sets the timer to the earliest deadline; without one it is not with the loop. */
static void set_timer(tendon_radio *radio) {
    uint64_t earliest = UINT64_MAX;
    for (const tendon_link *link = radio->links; link != NULL; link = link->next) {
        const tendon_pairing_attempt *attempt = &link->pairing;
        uint64_t next = attempt->state == TENDON_PAIRING_RETRYING && attempt->retry_at < attempt->deadline
                            ? attempt->retry_at
                            : attempt->deadline;
        earliest = attempt->state != TENDON_PAIRING_NONE && next < earliest ? next : earliest;
    }
    radio->pairing_timer.deadline = earliest;
    if (earliest == UINT64_MAX) {
        tendon_loop_remove(radio->loop, &radio->pairing_timer);
    } else if (!radio->pairing_timer.added) {
        (void)tendon_loop_add(radio->loop, &radio->pairing_timer); /* without a descriptor it cannot fail */
    }
}

static void end(tendon_link *link) {
    bool running = link->pairing.state == TENDON_PAIRING_RUNNING;
    link->pairing.state = TENDON_PAIRING_NONE;
    link->pairing.result = TENDON_ERROR_CANCELLED;
    set_timer(link->radio);
    if (running) {
        link->radio->ops->pair_cancel(link->radio, link);
    }
    link->question = TENDON_PAIRING_NOTHING; /* a later answer would be another program's */
}

void tendon_pairing_link_ended(tendon_link *link) {
    if (link->pairing.state != TENDON_PAIRING_NONE) {
        end(link);
    }
}

void tendon_pairing_close(tendon_radio *radio) {
    for (tendon_link *link = radio->links; link != NULL; link = link->next) {
        link->pairing.state = TENDON_PAIRING_NONE;
    }
    if (radio->bonds != NULL) {
        tendon_loop_remove(radio->loop, &radio->pairing_timer);
    }
}

void tendon_radio_note_failure(const tendon_link *link, tendon_status reason, uint64_t now) {
    const tendon_radio *radio = link->radio;
    if (reason < 0 && reason != TENDON_ERROR_CANCELLED && !link->accepted && radio->on_peer_failure != NULL) {
        radio->on_peer_failure(radio->report_context, &link->peer, reason, now);
    }
}

void tendon_pairing_finish(tendon_link *link, tendon_status status, uint64_t now) {
    tendon_radio *radio = link->radio;
    const tendon_pairing_attempt attempt = link->pairing;
    if (attempt.state == TENDON_PAIRING_NONE) {
        return;
    }
    tendon_radio_note_failure(link, status, now);
    link->pairing.state = TENDON_PAIRING_NONE;
    link->question = TENDON_PAIRING_NOTHING;
    set_timer(radio);
    attempt.done(attempt.done_context, status, now); /* may start the next one */
}

void tendon_pairing_retry(tendon_link *link, uint64_t now) {
    link->pairing.state = TENDON_PAIRING_RETRYING;
    link->pairing.retry_at = now + RETRY_PAUSE_MS;
    set_timer(link->radio);
}

void tendon_pairing_encrypted(tendon_link *link, uint64_t now) {
    if (link->pairing.state == TENDON_PAIRING_ENCRYPTING) {
        tendon_pairing_finish(link, TENDON_OK, now);
    }
}

static void pair_again(tendon_link *link, uint64_t now) {
    link->pairing.state = TENDON_PAIRING_RUNNING;
    tendon_status status = link->radio->ops->pair(link->radio, link);
    if (status == TENDON_ERROR_WOULD_BLOCK) {
        tendon_pairing_retry(link, now);
    } else if (status < 0) {
        tendon_pairing_finish(link, status, now);
    }
}

static void attempt_due(tendon_link *link, uint64_t now) {
    tendon_pairing_attempt *attempt = &link->pairing;
    if (attempt->state == TENDON_PAIRING_ENDED) {
        tendon_pairing_finish(link, attempt->result, now);
    } else if (attempt->deadline > now) {
        pair_again(link, now);
    } else {
        if (attempt->state == TENDON_PAIRING_RUNNING) {
            link->radio->ops->pair_cancel(link->radio, link);
        }
        tendon_pairing_finish(link, TENDON_ERROR_TIMEOUT, now);
    }
}

static tendon_link *first_due(const tendon_radio *radio) {
    tendon_link *link = radio->links;
    while (link != NULL && (!link->pairing.due || link->pairing.state == TENDON_PAIRING_NONE)) {
        link = link->next;
    }
    return link;
}

/* A callback may start another procedure or close a link: only those that were due before it are handled. */
static void timer_expired(void *context, uint64_t now) {
    tendon_radio *radio = context;
    for (tendon_link *link = radio->links; link != NULL; link = link->next) {
        tendon_pairing_attempt *attempt = &link->pairing;
        attempt->due =
            attempt->deadline <= now || (attempt->state == TENDON_PAIRING_RETRYING && attempt->retry_at <= now);
    }
    for (tendon_link *link = first_due(radio); link != NULL; link = first_due(radio)) {
        link->pairing.due = false;
        attempt_due(link, now);
    }
    set_timer(radio);
}

static void cancel(void *context, const tendon_address *peer) {
    tendon_link *link = link_to(context, peer);
    if (link != NULL) {
        tendon_pairing_link_ended(link);
    }
}

void tendon_radio_set_pairing_policy(tendon_radio *radio, const tendon_pairing_policy *policy) {
    radio->policy = policy != NULL ? *policy : (tendon_pairing_policy){.restricted = false};
}

tendon_status tendon_radio_set_security(tendon_radio *radio, tendon_security security) {
    if ((unsigned)security > TENDON_SECURITY_AUTHENTICATED) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    radio->security = (uint8_t)security;
    return TENDON_OK;
}

bool tendon_link_has_security(const tendon_link *link, tendon_security security) {
    const tendon_bond *bond = security == TENDON_SECURITY_AUTHENTICATED ? tendon_pairing_bond_in_use(link) : NULL;
    return security == TENDON_SECURITY_NONE ||
           (link->state == TENDON_LINK_OPEN && link->encrypted &&
            (security == TENDON_SECURITY_ENCRYPTED || (bond != NULL && tendon_bond_is_authenticated(bond))));
}

bool tendon_radio_may_pair(const tendon_radio *radio, const tendon_address *peer, uint64_t now) {
    const tendon_pairing_policy *policy = &radio->policy;
    bool allowed = !policy->restricted || now < policy->window_until;
    for (size_t i = 0; i < policy->allowed_count && !allowed; i++) {
        allowed = tendon_address_equal(&policy->allowed[i], peer);
    }
    return allowed;
}

/** Permitted, with an entry for its key, and an agent that can make the key that is required. */
static tendon_status permission(tendon_link *link, const tendon_address *peer, uint64_t now) {
    tendon_radio *radio = link->radio;
    if (!tendon_radio_may_pair(radio, peer, now)) {
        return TENDON_RADIO_ERROR_PAIRING_NOT_ALLOWED;
    }
    if (tendon_pairing_is_strict(link) && radio->agent.io == TENDON_PAIRING_NO_INPUT_NO_OUTPUT) {
        return TENDON_RADIO_ERROR_PAIRING_TOO_WEAK; /* the kernel would lose the key that it has for others */
    }
    if (tendon_pairing_bond_of(link) == NULL && !tendon_bonds_have_room(radio->bonds)) {
        return TENDON_RADIO_ERROR_BONDS_FULL;
    }
    /* The device would keep a key that this radio has not: one with room for one bond would be locked. */
    return radio->store_failure = tendon_bonds_may_change(radio->bonds);
}

/** Begins the procedure of link->pairing in its state; RUNNING: the radio pairs. */
static tendon_status begin(tendon_link *link, uint64_t now) {
    tendon_radio *radio = link->radio;
    tendon_status status = link->pairing.state == TENDON_PAIRING_RUNNING ? radio->ops->pair(radio, link) : TENDON_OK;
    if (status == TENDON_ERROR_WOULD_BLOCK) {
        tendon_pairing_retry(link, now);
        return TENDON_OK;
    }
    if (status < 0) {
        tendon_radio_note_failure(link, status, now);
        link->pairing.state = TENDON_PAIRING_NONE;
    }
    set_timer(radio);
    return status;
}

static tendon_status start(void *context, const tendon_address *peer,
                           void (*done)(void *done_context, tendon_status status, uint64_t now), void *done_context,
                           uint64_t now) {
    tendon_radio *radio = context;
    tendon_link *link = link_to(radio, peer);
    if (link == NULL) {
        return TENDON_ERROR_WRONG_STATE;
    }
    if (link->pairing.state != TENDON_PAIRING_NONE) {
        return TENDON_ERROR_BUSY;
    }
    bool bonded = tendon_pairing_key(radio, tendon_pairing_name(link)) != NULL;
    tendon_status status = bonded && (link->encrypted || link->encrypting) ? TENDON_OK : permission(link, peer, now);
    if (status < 0) {
        tendon_radio_note_failure(link, status, now);
        return status;
    }
    link->pairing = (tendon_pairing_attempt){.state = TENDON_PAIRING_RUNNING,
                                             .deadline = now + PAIRING_LIMIT_MS,
                                             .done = done,
                                             .done_context = done_context};
    if (bonded && link->encrypted) {
        link->pairing.state = TENDON_PAIRING_ENDED;
        link->pairing.deadline = now;
    } else if (bonded && link->encrypting) {
        link->pairing.state = TENDON_PAIRING_ENCRYPTING;
    }
    return begin(link, now);
}

static bool bonded(void *context, const tendon_address *peer) {
    const tendon_address name = name_of(context, peer);
    return tendon_pairing_key(context, &name) != NULL;
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
    radio->agent = tendon_pairing_agent_accept();
    radio->pairing = (tendon_pairing_service){
        .context = radio, .start = start, .cancel = cancel, .bonded = bonded, .forget = forget};
    tendon_source_init(&radio->pairing_timer, -1, radio, NULL, timer_expired);
    tendon_status status = radio->ops->use_bonds(radio);
    if (status < 0) {
        radio->bonds = NULL;
        radio->bonds_failure = status;
    }
    return status;
}

tendon_status tendon_radio_open_bonds(tendon_radio *radio, tendon_bonds *bonds, const char *path) {
    tendon_status status = tendon_bonds_open(bonds, path);
    if (status < 0) {
        radio->bonds_failure = status;
        return status;
    }
    return tendon_radio_use_bonds(radio, bonds);
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
    const tendon_address own = tendon_pairing_own(radio, true), name = name_of(radio, peer);
    tendon_status removed = tendon_bonds_remove(radio->bonds, (tendon_bond_radio)radio->ops->bond_radio, &own, &name);
    if (removed < 0) {
        return removed;
    }
    cancel(radio, peer);
    tendon_status status = radio->ops->unpair(radio, &name);
    return status < 0 ? status : removed > 0 ? TENDON_OK : TENDON_ERROR_NOT_FOUND;
}

tendon_status tendon_radio_forget_all(tendon_radio *radio) {
    if (radio->bonds == NULL) {
        return TENDON_RADIO_ERROR_NO_PAIRING_SERVICE;
    }
    const tendon_address own = tendon_pairing_own(radio, false);
    (void)tendon_bonds_refresh(radio->bonds);
    const tendon_bonds before = *radio->bonds;
    tendon_status removed = tendon_bonds_remove(radio->bonds, (tendon_bond_radio)radio->ops->bond_radio, &own, NULL);
    tendon_status status = TENDON_OK;
    for (size_t i = 0; i < before.count && removed > 0; i++) {
        if (before.items[i].radio == radio->ops->bond_radio && tendon_address_equal(&before.items[i].own, &own)) {
            tendon_status unpaired = radio->ops->unpair(radio, &before.items[i].peer);
            status = status < 0 ? status : unpaired;
        }
    }
    return status < 0 ? status : removed;
}
