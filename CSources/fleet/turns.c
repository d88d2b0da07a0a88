/* SPDX-License-Identifier: MIT */
#include "tendon/fleet/turns.h"

#include <string.h>

void tendon_turns_init(tendon_turns *turns, const tendon_turns_config *config) {
    *turns = (tendon_turns){.owner = config->owner};
    tendon_admission_init(&turns->admission, config->records, config->record_count, config->random, config->seed);
    tendon_search_init(&turns->search, config->advertisers, config->advertiser_count,
                       &(tendon_search_scope){.definitions = config->definitions,
                                              .definition_count = config->definition_count,
                                              .context = config->owner.context,
                                              .serves = config->owner.serves});
}

/* ---- radios ---- */

static uint8_t bit(uint8_t number) {
    return (uint8_t)(1u << number);
}

uint8_t tendon_turns_radios(const tendon_turns *turns) {
    uint8_t radios = 0;
    for (uint8_t number = 0; number < TENDON_ADMISSION_RADIOS; number++) {
        radios |= turns->radios[number] != NULL ? bit(number) : 0;
    }
    return radios;
}

tendon_status tendon_turns_use_radio(tendon_turns *turns, uint8_t number, tendon_radio *radio) {
    tendon_status status = tendon_radio_group_add(&turns->group, radio, 0);
    if (status >= 0) {
        turns->radios[number] = radio;
    }
    return status;
}

/** Asks for scan responses while a device has something to tell. */
static void step_scan(tendon_turns *turns, uint8_t number, bool asks) {
    tendon_radio *radio = turns->radios[number];
    if (radio == NULL || asks == ((turns->asks & bit(number)) != 0)) {
        return;
    }
    turns->asks ^= bit(number);
    if (asks) {
        turns->asking[number] = (tendon_scan_lease){0};
        (void)tendon_radio_scan_acquire(radio, &turns->asking[number], &(tendon_scan_parameters){.active = true});
    } else {
        (void)tendon_radio_scan_release(radio, &turns->asking[number]);
    }
}

void tendon_turns_stop_radio(tendon_turns *turns, uint8_t number) {
    if (turns->radios[number] != NULL) {
        step_scan(turns, number, false);
        tendon_radio_group_remove(&turns->group, turns->radios[number]);
        turns->radios[number] = NULL;
    }
}

void tendon_turns_lose_radio(tendon_turns *turns, uint8_t number) {
    tendon_admission_radio_lost(&turns->admission, number);
}

static uint8_t number_of(const tendon_turns *turns, const tendon_radio *radio) {
    uint8_t number = 0;
    while (turns->radios[number] != radio) {
        number++;
    }
    return number;
}

static bool choose_among(const tendon_turns *turns, uint32_t radios, const tendon_address *address, uint64_t now,
                         uint8_t *chosen) {
    uint32_t members = 0;
    tendon_radio *radio = NULL;
    for (size_t i = 0; i < turns->group.count; i++) {
        members |= (radios >> number_of(turns, turns->group.members[i].radio) & 1u) << i;
    }
    bool has_room = tendon_radio_group_choose_among(&turns->group, address, members, now, &radio) >= 0;
    *chosen = has_room ? number_of(turns, radio) : 0;
    return has_room;
}

/** The radio that connects to the device. False: none has room. */
static bool choose_radio(const tendon_turns *turns, const tendon_address *address, uint64_t now, uint8_t *chosen) {
    const tendon_admission *admission = &turns->admission;
    return choose_among(turns, tendon_admission_radios(admission, address), address, now, chosen) ||
           choose_among(turns, tendon_admission_receivers(admission, address), address, now, chosen);
}

/* ---- bonds ---- */

static bool is_bonded(const tendon_turns *turns, uint8_t number, const tendon_address *address) {
    tendon_radio *radio = turns->radios[number];
    const tendon_pairing_service *pairing = radio != NULL ? tendon_radio_pairing(radio) : NULL;
    return pairing != NULL && pairing->bonded(pairing->context, address);
}

/** A bond that another program has removed is noticed when the device advertises, and when its turn has ended. */
static void look_at_bond(tendon_turns *turns, const tendon_address *address, uint8_t number, uint64_t now) {
    if (turns->radios[number] != NULL &&
        tendon_admission_look_at_bond(&turns->admission, address, is_bonded(turns, number, address), number)) {
        (void)tendon_admission_dismiss(&turns->admission, address, now);
        turns->owner.bond_removed(turns->owner.context, address);
    }
}

static bool is_expected(const tendon_turns *turns, const tendon_address *address) {
    bool expected = turns->owner.expects(turns->owner.context, address);
    for (uint8_t number = 0; number < TENDON_ADMISSION_RADIOS && !expected; number++) {
        expected = is_bonded(turns, number, address);
    }
    return expected;
}

/* ---- the begin of a turn ---- */

static bool may_begin(void *context, const tendon_address *address, uint8_t family) {
    const tendon_turns_owner *owner = &((const tendon_turns *)context)->owner;
    return owner->serves(owner->context, address, family) &&
           (owner->may_connect == NULL || owner->may_connect(owner->context, address, family));
}

static bool begin(tendon_turns *turns, const tendon_address *address, uint8_t family, uint64_t now) {
    uint8_t number;
    if (!choose_radio(turns, address, now, &number)) {
        return false;
    }
    tendon_radio_group_assign(&turns->group, turns->radios[number]);
    bool has_begun = turns->owner.begin(turns->owner.context, address, family, number, now);
    if (!has_begun) {
        tendon_radio_group_release(&turns->group, turns->radios[number]);
    }
    return has_begun;
}

static void begin_all(tendon_turns *turns, uint64_t now) {
    uint8_t radios = tendon_turns_radios(turns);
    tendon_address address;
    uint8_t family;
    while (!turns->is_over && radios != 0 &&
           tendon_admission_next(&turns->admission, radios, may_begin, turns, now, &address, &family)) {
        if (!begin(turns, &address, family, now)) {
            tendon_admission_postpone(&turns->admission, &address, now);
        }
    }
}

void tendon_turns_step(tendon_turns *turns, uint64_t now) {
    bool asks = tendon_search_is_active(&turns->search, now);
    for (uint8_t number = 0; number < TENDON_ADMISSION_RADIOS; number++) {
        step_scan(turns, number, asks);
    }
    begin_all(turns, now);
    turns->looked_at = now;
}

/** Not before the next look because of the time alone. */
static uint64_t not_too_soon(const tendon_turns *turns, uint64_t deadline) {
    uint64_t earliest = turns->looked_at + TENDON_TURNS_GRANULARITY_MS;
    return deadline > earliest ? deadline : earliest;
}

uint64_t tendon_turns_deadline(const tendon_turns *turns, uint64_t now) {
    uint64_t scan = tendon_search_deadline(&turns->search, now);
    if (turns->is_over) {
        return scan;
    }
    uint64_t turn = not_too_soon(turns, tendon_admission_deadline(&turns->admission, now));
    uint64_t ask = turns->owner.may_connect != NULL && tendon_admission_has_waiting(&turns->admission, now)
                       ? now + TENDON_TURNS_ASK_MS
                       : UINT64_MAX;
    turn = ask < turn ? ask : turn;
    return scan < turn ? scan : turn;
}

void tendon_turns_finish(tendon_turns *turns) {
    turns->is_over = true;
}

/* ---- what is received ---- */

tendon_turns_taken tendon_turns_take(tendon_turns *turns, uint8_t radio, const tendon_ad_report *report, uint64_t now) {
    const tendon_address *address = &report->address;
    tendon_turns_taken taken = {0};
    if (tendon_admission_heard(&turns->admission, address, radio, now, &taken.family)) {
        taken.is_connected = taken.is_served = true;
        look_at_bond(turns, address, radio, now);
        return taken;
    }
    const tendon_search_found found = tendon_search_take(&turns->search, report, now);
    if (found.is_response) {
        (void)tendon_admission_responded(&turns->admission, address, now);
    }
    taken.family = found.family;
    taken.is_served = found.is_served;
    taken.name = found.name;
    taken.name_length = found.name_length;
    if (found.is_served) {
        const tendon_admission_report received = {.family = found.family,
                                                  .radio = radio,
                                                  .preferred = is_expected(turns, address),
                                                  .awaits_response = found.awaits_response};
        taken.is_new = tendon_admission_received(&turns->admission, address, &received, now);
        look_at_bond(turns, address, radio, now);
        taken.is_left = tendon_admission_state_of(&turns->admission, address) == TENDON_ADMISSION_DISMISSED;
    }
    return taken;
}

uint64_t tendon_turns_follow(tendon_turns *turns, const tendon_address *address, const tendon_turns_taken *taken,
                             uint64_t now) {
    uint8_t radios = tendon_turns_radios(turns);
    if (taken->is_served && tendon_admission_may_be_next(&turns->admission, address, radios, now) &&
        may_begin(turns, address, taken->family)) {
        begin_all(turns, now);
    }
    uint8_t asks = tendon_search_is_active(&turns->search, now) ? radios : 0;
    return asks != turns->asks ? 0 : not_too_soon(turns, tendon_admission_deadline_of(&turns->admission, address, now));
}

bool tendon_turns_add(tendon_turns *turns, const tendon_address *address, uint8_t family, uint8_t radio, uint64_t now) {
    const tendon_admission_report received = {.family = family, .radio = radio, .preferred = true};
    if (tendon_admission_state_of(&turns->admission, address) == TENDON_ADMISSION_DISMISSED) {
        return false;
    }
    (void)tendon_admission_received(&turns->admission, address, &received, now);
    return true;
}

/* ---- a connection, and the end of a turn ---- */

void tendon_turns_connected(tendon_turns *turns, const tendon_address *address, uint8_t radio, uint64_t now) {
    tendon_admission_connected(&turns->admission, address, now);
    look_at_bond(turns, address, radio, now);
}

void tendon_turns_bond_changed(tendon_turns *turns, const tendon_address *address, uint64_t now) {
    for (uint8_t number = 0; number < TENDON_ADMISSION_RADIOS; number++) {
        look_at_bond(turns, address, number, now);
    }
}

uint64_t tendon_turns_end(tendon_turns *turns, const tendon_address *address, const tendon_admission_ending *ending,
                          tendon_status cause, uint64_t now) {
    tendon_radio *radio = turns->radios[ending->radio];
    tendon_admission_ending own = *ending;
    own.was_released = own.was_released || radio == NULL;
    uint64_t pause = tendon_admission_end_turn(&turns->admission, address, &own, now);
    if (radio != NULL) {
        tendon_radio_group_release(&turns->group, radio);
        (void)tendon_radio_group_refused(&turns->group, radio, cause, now);
        look_at_bond(turns, address, ending->radio, now);
    }
    return pause;
}
