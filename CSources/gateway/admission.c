/* SPDX-License-Identifier: MIT */
#include "tendon/gateway/admission.h"

#include <string.h>

#include "address_place.h"

typedef tendon_admission_record record;

/* ---- the table: open addressing, linear probing, no gaps within a run ---- */

/** At most so many slots are used: probing stays short. */
static size_t limit_of(const tendon_admission *admission) {
    return admission->slots / 4 * 3;
}

/** The worst that an attacker can do with addresses is a run as long as the table. */
static size_t place_of(const tendon_admission *admission, const tendon_address *address) {
    return tendon_address_place(address, admission->slots);
}

/** The record, or the free slot where it would be. */
static record *probe(const tendon_admission *admission, const tendon_address *address) {
    size_t place = place_of(admission, address);
    while (admission->records[place].state != TENDON_ADMISSION_UNKNOWN &&
           !tendon_address_equal(&admission->records[place].address, address)) {
        place = (place + 1) % admission->slots;
    }
    return &admission->records[place];
}

static record *find(const tendon_admission *admission, const tendon_address *address) {
    record *found = probe(admission, address);
    return found->state != TENDON_ADMISSION_UNKNOWN ? found : NULL;
}

/** What follows in the run moves up, so that it is found. */
static void erase(tendon_admission *admission, record *gone) {
    size_t hole = (size_t)(gone - admission->records);
    for (size_t next = (hole + 1) % admission->slots; admission->records[next].state != TENDON_ADMISSION_UNKNOWN;
         next = (next + 1) % admission->slots) {
        size_t home = place_of(admission, &admission->records[next].address);
        size_t from_home = (next + admission->slots - home) % admission->slots;
        size_t from_hole = (next + admission->slots - hole) % admission->slots;
        if (from_home >= from_hole) {
            admission->records[hole] = admission->records[next];
            hole = next;
        }
    }
    memset(&admission->records[hole], 0, sizeof admission->records[hole]);
    admission->count--;
}

static bool has_turn(const record *one) {
    return one->state == TENDON_ADMISSION_ATTEMPT || one->state == TENDON_ADMISSION_SERVED;
}

static uint64_t age_key(const record *one) {
    return one->seen ? one->seen_at : 0;
}

static size_t count_idle(const tendon_admission *admission, bool dismissed, uint64_t until) {
    size_t count = 0;
    for (size_t i = 0; i < admission->slots; i++) {
        const record *one = &admission->records[i];
        count += one->state != TENDON_ADMISSION_UNKNOWN && !has_turn(one) &&
                 (one->state == TENDON_ADMISSION_DISMISSED) == dismissed && age_key(one) <= until;
    }
    return count;
}

/** For many at the same time: to find the one that was received longest ago takes as long as to find all of these. */
static void make_room(tendon_admission *admission, uint64_t now) {
    size_t wanted = limit_of(admission) / 8 + 1;
    bool dismissed = count_idle(admission, false, UINT64_MAX) == 0;
    uint64_t low = 0;
    uint64_t high = now;
    while (low < high) { /* the earliest time until which enough of them were received last */
        uint64_t middle = low + (high - low) / 2;
        if (count_idle(admission, dismissed, middle) >= wanted) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    for (size_t i = 0; i < admission->slots && wanted > 0;) {
        record *one = &admission->records[i];
        if (one->state != TENDON_ADMISSION_UNKNOWN && !has_turn(one) &&
            (one->state == TENDON_ADMISSION_DISMISSED) == dismissed && age_key(one) <= low) {
            erase(admission, one); /* another record may have moved here */
            wanted--;
        } else {
            i++;
        }
    }
}

/** A new record; NULL: there is no room. */
static record *add(tendon_admission *admission, const tendon_address *address, tendon_admission_state state,
                   uint64_t now) {
    if (admission->count >= limit_of(admission)) {
        make_room(admission, now);
        if (admission->count >= limit_of(admission)) {
            return NULL;
        }
    }
    record *made = probe(admission, address);
    *made = (record){.address = *address, .state = (uint8_t)state, .first_seen = now, .seen_at = now, .seen = true};
    admission->count++;
    return made;
}

/** A linear congruential generator: pauses need no better one. */
static uint32_t own_random(void *context) {
    tendon_admission *admission = context;
    admission->jitter = admission->jitter * 1664525u + 1013904223u;
    return admission->jitter >> 8;
}

void tendon_admission_init(tendon_admission *admission, tendon_admission_record *records, size_t slots,
                           const tendon_admission_random *random, uint32_t seed) {
    memset(records, 0, slots * sizeof *records);
    *admission = (tendon_admission){
        .records = records,
        .slots = slots,
        .random = random != NULL ? *random : (tendon_admission_random){.context = admission, .next = own_random},
        .served_max = TENDON_ADMISSION_SERVED_MAX,
        .unproven_max = TENDON_ADMISSION_UNPROVEN_MAX,
        .jitter = seed,
    };
}

/* ---- what was received ---- */

static uint8_t bit(uint8_t radio) {
    return (uint8_t)(1u << (radio % TENDON_ADMISSION_RADIOS));
}

static void hear(tendon_admission *admission, record *one, uint8_t radio, uint64_t now) {
    admission->receiving |= bit(radio);
    one->heard |= bit(radio);
    one->seen = true;
    one->seen_at = now;
}

bool tendon_admission_received(tendon_admission *admission, const tendon_address *address,
                               const tendon_admission_report *report, uint64_t now) {
    record *one = find(admission, address);
    bool is_new = one == NULL;
    if (is_new) {
        one = add(admission, address, TENDON_ADMISSION_WAITING, now);
        if (one == NULL) {
            return false;
        }
        one->family = report->family;
        one->preferred = report->preferred;
        one->response_until = report->awaits_response ? now + TENDON_ADMISSION_RESPONSE_MS : 0;
    }
    if (one->state == TENDON_ADMISSION_WAITING) {
        one->family = report->family; /* its scan response may have said more */
    }
    hear(admission, one, report->radio, now);
    return is_new;
}

bool tendon_admission_responded(tendon_admission *admission, const tendon_address *address, uint64_t now) {
    record *one = find(admission, address);
    if (one == NULL || now >= one->response_until) {
        return false;
    }
    one->response_until = 0;
    return true;
}

bool tendon_admission_heard(tendon_admission *admission, const tendon_address *address, uint8_t radio, uint64_t now,
                            uint8_t *family) {
    record *one = find(admission, address);
    if (one == NULL || one->state != TENDON_ADMISSION_SERVED) {
        return false;
    }
    hear(admission, one, radio, now);
    *family = one->family;
    return true;
}

void tendon_admission_radio_lost(tendon_admission *admission, uint8_t radio) {
    uint8_t others = (uint8_t)~bit(radio);
    admission->receiving &= others;
    for (size_t i = 0; i < admission->slots; i++) {
        record *one = &admission->records[i];
        one->heard &= others;
        one->failed &= others;
        one->bonded = one->bonded == radio + 1 ? 0 : one->bonded; /* the next radio may be another adapter */
        one->seen = one->seen && one->heard != 0;
    }
}

/* ---- turns ---- */

/** The device is expected to respond. */
static bool is_proven(const record *one) {
    return one->failures == 0 && (one->preferred || one->has_connected);
}

static int rank(const record *one) {
    return ((one->preferred ? 2 : 0) + (one->has_connected ? 1 : 0)) * 1000 -
           (one->failures < 999 ? one->failures : 999);
}

static bool comes_before(const record *one, const record *other, bool takes_newest) {
    if (rank(one) != rank(other)) {
        return rank(one) > rank(other);
    }
    return one->first_seen != other->first_seen && (one->first_seen > other->first_seen) == takes_newest;
}

static uint32_t answer_ms(const record *one) {
    if (is_proven(one) || one->preferred) {
        return TENDON_ADMISSION_PROVEN_MS;
    }
    uint32_t limit = TENDON_ADMISSION_STRANGER_MS << (one->failures < 2 ? one->failures : 2);
    return limit < TENDON_ADMISSION_PROVEN_MS ? limit : TENDON_ADMISSION_PROVEN_MS;
}

static bool is_present(const record *one, uint64_t now) {
    return one->seen && now <= one->seen_at + TENDON_ADMISSION_PRESENCE_MS;
}

static bool awaits_radios(const tendon_admission *admission, const record *one, uint8_t radios, uint64_t now) {
    uint8_t missing = (uint8_t)(radios & ~one->heard);
    uint64_t limit = (missing & ~admission->receiving) != 0 ? TENDON_ADMISSION_START_MS : TENDON_ADMISSION_SPREAD_MS;
    return missing != 0 && now < one->first_seen + limit;
}

static bool is_ready(const tendon_admission *admission, const record *one, uint8_t radios, uint64_t now) {
    bool takes_strangers = admission->unproven < admission->unproven_max && now >= admission->search_until;
    return one->state == TENDON_ADMISSION_WAITING && now >= one->not_before && now >= one->response_until &&
           is_present(one, now) && (takes_strangers || is_proven(one)) && !awaits_radios(admission, one, radios, now);
}

bool tendon_admission_next(tendon_admission *admission, uint8_t radios, tendon_admission_filter filter, void *context,
                           uint64_t now, tendon_address *address, uint8_t *family) {
    record *best = NULL;
    for (size_t i = 0; i < admission->slots && admission->served < admission->served_max; i++) {
        record *one = &admission->records[i];
        if (is_ready(admission, one, radios, now) && (filter == NULL || filter(context, &one->address, one->family)) &&
            (best == NULL || comes_before(one, best, admission->takes_newest))) {
            best = one;
        }
    }
    if (best == NULL) {
        return false;
    }
    admission->takes_newest = !admission->takes_newest;
    admission->served++;
    admission->unproven += !is_proven(best);
    best->state = TENDON_ADMISSION_ATTEMPT;
    *address = best->address;
    *family = best->family;
    return true;
}

bool tendon_admission_may_be_next(const tendon_admission *admission, const tendon_address *address, uint8_t radios,
                                  uint64_t now) {
    const record *one = find(admission, address);
    return one != NULL && admission->served < admission->served_max && is_ready(admission, one, radios, now);
}

bool tendon_admission_has_waiting(const tendon_admission *admission, uint64_t now) {
    for (size_t i = 0; i < admission->slots; i++) {
        const record *one = &admission->records[i];
        if (one->state == TENDON_ADMISSION_WAITING && one->not_before <= now && is_present(one, now)) {
            return true;
        }
    }
    return false;
}

/** When it may have its turn; UINT64_MAX: now, or not before it is received again. */
static uint64_t deadline_of(const tendon_admission *admission, const record *one, uint64_t now) {
    const uint64_t times[] = {one->not_before, one->response_until, one->first_seen + TENDON_ADMISSION_SPREAD_MS,
                              one->first_seen + TENDON_ADMISSION_START_MS, admission->search_until};
    uint64_t deadline = UINT64_MAX;
    if (one->state != TENDON_ADMISSION_WAITING || !one->seen) {
        return deadline;
    }
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        if (times[i] > now && times[i] <= one->seen_at + TENDON_ADMISSION_PRESENCE_MS && times[i] < deadline) {
            deadline = times[i];
        }
    }
    return deadline;
}

uint64_t tendon_admission_deadline(const tendon_admission *admission, uint64_t now) {
    uint64_t deadline = UINT64_MAX;
    for (size_t i = 0; i < admission->slots; i++) {
        uint64_t own = deadline_of(admission, &admission->records[i], now);
        deadline = own < deadline ? own : deadline;
    }
    return deadline;
}

uint64_t tendon_admission_deadline_of(const tendon_admission *admission, const tendon_address *address, uint64_t now) {
    const record *one = find(admission, address);
    return one != NULL ? deadline_of(admission, one, now) : UINT64_MAX;
}

uint8_t tendon_admission_radios(const tendon_admission *admission, const tendon_address *address) {
    const record *one = find(admission, address);
    return one != NULL ? (uint8_t)(one->heard & ~one->failed) : 0;
}

uint8_t tendon_admission_receivers(const tendon_admission *admission, const tendon_address *address) {
    const record *one = find(admission, address);
    return one != NULL ? one->heard : 0;
}

uint32_t tendon_admission_answer_ms(const tendon_admission *admission, const tendon_address *address) {
    const record *one = find(admission, address);
    return one != NULL ? answer_ms(one) : 0;
}

static void finish_attempt(tendon_admission *admission, record *one) {
    if (one->state == TENDON_ADMISSION_ATTEMPT) {
        admission->unproven -= !is_proven(one);
        one->state = TENDON_ADMISSION_SERVED;
    }
}

void tendon_admission_answered(tendon_admission *admission, const tendon_address *address) {
    record *one = find(admission, address);
    if (one != NULL) {
        finish_attempt(admission, one);
    }
}

void tendon_admission_connected(tendon_admission *admission, const tendon_address *address, uint64_t now) {
    record *one = find(admission, address);
    if (one != NULL && one->state != TENDON_ADMISSION_DISMISSED) {
        finish_attempt(admission, one);
        one->has_connected = true;
        one->connected_at = now;
        one->failed = 0;
        one->failures = 0;
    }
}

/** record.bonded: the bond that the next look finds, if any, is removed now that the turn has ended. */
enum { TO_BE_REMOVED = 0xFF };

/** Returns what the record keeps of a device that is dismissed. */
static record dismissed(const record *one) {
    return (record){.address = one->address,
                    .state = TENDON_ADMISSION_DISMISSED,
                    .heard = one->heard,
                    .bonded = one->leaves ? TO_BE_REMOVED : one->bonded,
                    .first_seen = one->first_seen,
                    .seen_at = one->seen_at,
                    .seen = one->seen};
}

/** @param setbacks how many of them count for the pause. */
static uint64_t leave(tendon_admission *admission, record *one, unsigned setbacks, uint64_t now) {
    uint64_t pause = (uint64_t)TENDON_ADMISSION_PAUSE_MS << (setbacks < 7 ? setbacks : 7);
    pause = pause < TENDON_ADMISSION_PAUSE_MAX_MS ? pause : TENDON_ADMISSION_PAUSE_MAX_MS;
    pause += admission->random.next(admission->random.context) % (pause / 2 + 1);
    admission->served -= has_turn(one);
    if (has_turn(one)) {
        one->state = TENDON_ADMISSION_WAITING;
    }
    one->not_before = now + pause;
    if (one->leaves) {
        *one = dismissed(one);
    }
    return pause;
}

static uint16_t one_more(uint16_t count) {
    return count < UINT16_MAX ? (uint16_t)(count + 1) : count;
}

void tendon_admission_postpone(tendon_admission *admission, const tendon_address *address, uint64_t now) {
    record *one = find(admission, address);
    if (one != NULL) {
        finish_attempt(admission, one);
        one->failures = 0;
        (void)leave(admission, one, 0, now);
    }
}

/** The session did not open, for a reason of the device. */
static uint64_t fail(tendon_admission *admission, record *one, uint8_t radio, uint64_t now) {
    if (one->state == TENDON_ADMISSION_ATTEMPT) {
        uint64_t until = now + answer_ms(one); /* as long as the attempts took */
        admission->search_until = until > admission->search_until ? until : admission->search_until;
    }
    finish_attempt(admission, one); /* before the failure counts: it says whether the attempt was one to a stranger */
    one->failures = one_more(one->failures);
    one->setbacks = one_more(one->setbacks);
    uint8_t failed = (uint8_t)(one->failed | bit(radio));
    one->failed = (one->heard & ~failed) == 0 ? 0 : failed;
    return leave(admission, one, one->setbacks, now);
}

static uint64_t lose(tendon_admission *admission, record *one, uint64_t now) {
    finish_attempt(admission, one);
    one->setbacks = now < one->connected_at + TENDON_ADMISSION_CONNECTION_MS ? one_more(one->setbacks) : 0;
    return leave(admission, one, one->setbacks, now);
}

uint64_t tendon_admission_end_turn(tendon_admission *admission, const tendon_address *address,
                                   const tendon_admission_ending *ending, uint64_t now) {
    record *one = find(admission, address);
    uint64_t pause = UINT64_MAX;
    if (one == NULL) {
        return pause;
    }
    bool failed = !ending->was_released && !ending->was_open;
    if (ending->was_released) {
        tendon_admission_postpone(admission, address, now);
    } else {
        pause = failed ? fail(admission, one, ending->radio, now) : lose(admission, one, now);
    }
    if (!ending->is_last && (!failed || ending->may_retry)) {
        return pause;
    }
    if (one->state == TENDON_ADMISSION_WAITING) {
        one->state = TENDON_ADMISSION_EXCLUDED;
    }
    return UINT64_MAX;
}

/* ---- devices that are left alone ---- */

void tendon_admission_readmit(tendon_admission *admission, const tendon_address *address) {
    record *one = find(admission, address);
    if (one != NULL && one->state == TENDON_ADMISSION_EXCLUDED) {
        one->state = TENDON_ADMISSION_WAITING;
        one->not_before = 0;
    }
}

void tendon_admission_forget(tendon_admission *admission, const tendon_address *address) {
    record *one = find(admission, address);
    if (one != NULL && !has_turn(one) && one->state != TENDON_ADMISSION_DISMISSED) {
        erase(admission, one);
    }
}

bool tendon_admission_dismiss(tendon_admission *admission, const tendon_address *address, uint64_t now) {
    record *one = find(admission, address);
    if (one == NULL) {
        return add(admission, address, TENDON_ADMISSION_DISMISSED, now) != NULL;
    }
    if (one->leaves || one->state == TENDON_ADMISSION_DISMISSED) {
        return false;
    }
    if (has_turn(one)) {
        one->leaves = true;
    } else {
        *one = dismissed(one);
    }
    return true;
}

void tendon_admission_recall(tendon_admission *admission, const tendon_address *address) {
    record *one = address != NULL ? find(admission, address) : NULL;
    if (one != NULL) {
        one->leaves = false;
        if (one->state == TENDON_ADMISSION_DISMISSED) {
            erase(admission, one);
        }
        return;
    }
    for (size_t i = 0; address == NULL && i < admission->slots;) {
        admission->records[i].leaves = false;
        if (admission->records[i].state == TENDON_ADMISSION_DISMISSED) {
            erase(admission, &admission->records[i]); /* another record may have moved here */
        } else {
            i++;
        }
    }
}

bool tendon_admission_look_at_bond(tendon_admission *admission, const tendon_address *address, bool is_bonded,
                                   uint8_t radio) {
    record *one = find(admission, address);
    if (one == NULL || one->leaves) {
        return false;
    }
    uint8_t before = one->bonded;
    bool is_known = before == radio + 1, is_dismissed = one->state == TENDON_ADMISSION_DISMISSED;
    if (is_bonded && is_dismissed && !is_known && before != TO_BE_REMOVED) {
        erase(admission, one);
        return false;
    }
    if (is_bonded) {
        one->bonded = (uint8_t)(radio + 1);
    } else if (is_known || before == TO_BE_REMOVED) {
        one->bonded = 0;
    }
    return is_known && !is_bonded && !is_dismissed;
}

tendon_admission_state tendon_admission_state_of(const tendon_admission *admission, const tendon_address *address) {
    const record *one = find(admission, address);
    return one == NULL                                               ? TENDON_ADMISSION_UNKNOWN
           : one->leaves || one->state == TENDON_ADMISSION_DISMISSED ? TENDON_ADMISSION_DISMISSED
                                                                     : (tendon_admission_state)one->state;
}
