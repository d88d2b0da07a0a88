/* SPDX-License-Identifier: MIT */
#include "tendon/gateway/search.h"

#include <string.h>

typedef tendon_search_advertiser advertiser;

void tendon_search_init(tendon_search *search, tendon_search_advertiser *advertisers, size_t capacity,
                        const tendon_definition *const *definitions, size_t definition_count) {
    memset(advertisers, 0, capacity * sizeof *advertisers);
    *search = (tendon_search){.advertisers = advertisers,
                              .capacity = capacity,
                              .definitions = definitions,
                              .definition_count = definition_count};
}

/* ---- the table ---- */

static advertiser *find(const tendon_search *search, const tendon_address *address) {
    for (size_t i = 0; i < search->capacity; i++) {
        if (search->advertisers[i].used && tendon_address_equal(&search->advertisers[i].address, address)) {
            return &search->advertisers[i];
        }
    }
    return NULL;
}

/** A free slot, else that of a device of no family, else of any; the one that was received longest ago. */
static bool goes_before(const advertiser *one, const advertiser *other) {
    bool is_stranger = one->family == TENDON_SEARCH_NO_FAMILY;
    if (!one->used || !other->used) {
        return !one->used && other->used;
    }
    return is_stranger != (other->family == TENDON_SEARCH_NO_FAMILY) ? is_stranger : one->seen_at < other->seen_at;
}

static advertiser *slot_for(tendon_search *search, const tendon_address *address) {
    advertiser *slot = find(search, address);
    if (slot != NULL) {
        return slot;
    }
    slot = &search->advertisers[0];
    for (size_t i = 1; i < search->capacity; i++) {
        if (goes_before(&search->advertisers[i], slot)) {
            slot = &search->advertisers[i];
        }
    }
    *slot = (advertiser){.address = *address, .used = true, .family = TENDON_SEARCH_NO_FAMILY};
    return slot;
}

/* ---- what is said about a device ---- */

static uint8_t definition_of(const tendon_search *search, const uint8_t *data, size_t length) {
    uint8_t found = TENDON_SEARCH_NO_FAMILY;
    for (size_t i = 0; i < search->definition_count; i++) {
        if (tendon_definition_recognizes(search->definitions[i], data, length)) {
            if (search->definitions[i]->find.name != 0) {
                return (uint8_t)(TENDON_SEARCH_DEFINED + i); /* one that looks for the name goes first */
            }
            found = found == TENDON_SEARCH_NO_FAMILY ? (uint8_t)(TENDON_SEARCH_DEFINED + i) : found;
        }
    }
    return found;
}

static bool a_definition_awaits_name(const tendon_search *search, const uint8_t *data, size_t length) {
    for (size_t i = 0; i < search->definition_count; i++) {
        if (tendon_definition_awaits_name(search->definitions[i], data, length)) {
            return true;
        }
    }
    return false;
}

static uint8_t family_of(const tendon_search *search, const uint8_t *data, size_t length, bool may_have_response) {
    const tendon_family *family = tendon_family_from_advertisement(data, length);
    for (uint8_t i = 0; family != NULL && i < TENDON_SEARCH_DEFINED; i++) {
        if (tendon_family_at(i) == family) {
            return i;
        }
    }
    if (may_have_response && a_definition_awaits_name(search, data, length)) {
        return TENDON_SEARCH_NO_FAMILY; /* the name decides, if it can come */
    }
    return definition_of(search, data, length);
}

/** A complete name stays; a device may send a shortened one in its advertisement. */
static void learn_name(advertiser *one, const uint8_t *data, size_t length) {
    tendon_ad_structure name;
    if (!tendon_ad_find_name(data, length, &name)) {
        return;
    }
    bool is_complete = name.type == TENDON_AD_NAME_COMPLETE;
    if (is_complete || !one->has_complete_name) {
        one->name_length = (uint8_t)(name.length < sizeof one->name ? name.length : sizeof one->name);
        one->has_complete_name = is_complete;
        memcpy(one->name, name.data, one->name_length);
    }
}

tendon_search_found tendon_search_take(tendon_search *search, const tendon_ad_report *report, uint64_t now) {
    bool is_response = (report->properties & TENDON_AD_SCAN_RESPONSE) != 0;
    bool may_have_response = !is_response && (report->properties & TENDON_AD_SCANNABLE) != 0;
    advertiser *one = slot_for(search, &report->address);
    uint8_t both[2 * TENDON_AD_LEGACY_MAX];
    const uint8_t *data = report->data;
    size_t length = report->length;
    one->seen_at = now;
    one->answered = one->answered || is_response;
    if (length <= TENDON_AD_LEGACY_MAX) { /* an extended advertisement has all in one packet */
        one->lengths[is_response] = (uint8_t)length;
        memcpy(one->data[is_response], length > 0 ? data : both, length);
        memcpy(both, one->data[0], one->lengths[0]);
        memcpy(both + one->lengths[0], one->data[1], one->lengths[1]);
        data = both;
        length = (size_t)one->lengths[0] + one->lengths[1];
    }
    learn_name(one, data, length);
    one->family = family_of(search, data, length, may_have_response && one->name_length == 0);
    tendon_search_found found = {.family = one->family,
                                 .is_response = is_response,
                                 .awaits_response = may_have_response && one->name_length == 0,
                                 .name = one->name_length > 0 ? one->name : NULL,
                                 .name_length = one->name_length};
    /* A device that may be of a family only by its name is worth the question; other strangers are not. */
    if (found.family == TENDON_SEARCH_NO_FAMILY) {
        found.awaits_response = found.awaits_response && (tendon_family_awaiting_name(data, length) != NULL ||
                                                          a_definition_awaits_name(search, data, length));
    }
    return found;
}

/* ---- who is asked ---- */

static bool is_asked(const advertiser *one, uint64_t now) {
    return one->used && one->asked && !one->answered && now < one->asked_at + TENDON_SEARCH_ASK_MS;
}

void tendon_search_ask(tendon_search *search, const tendon_address *address, uint64_t now) {
    advertiser *one = find(search, address);
    if (one != NULL && (!one->asked || now >= one->asked_at + TENDON_SEARCH_PAUSE_MS)) {
        one->asked = true;
        one->answered = false;
        one->asked_at = now;
    }
}

bool tendon_search_is_active(const tendon_search *search, uint64_t now) {
    return tendon_search_deadline(search, now) != UINT64_MAX;
}

uint64_t tendon_search_deadline(const tendon_search *search, uint64_t now) {
    uint64_t deadline = 0;
    for (size_t i = 0; i < search->capacity; i++) {
        if (is_asked(&search->advertisers[i], now)) {
            uint64_t end = search->advertisers[i].asked_at + TENDON_SEARCH_ASK_MS;
            deadline = end > deadline ? end : deadline;
        }
    }
    return deadline == 0 ? UINT64_MAX : deadline;
}
