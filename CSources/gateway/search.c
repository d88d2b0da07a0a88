/* SPDX-License-Identifier: MIT */
#include "tendon/gateway/search.h"

#include <string.h>

#include "address_place.h"

typedef tendon_search_advertiser advertiser;

/** Slots in which a device can be. */
enum { NEAR = 16 };
/** Two packets, and a name. */
enum { ALL_MAX = 2 * TENDON_AD_LEGACY_MAX + 2 + TENDON_AD_LEGACY_MAX };

void tendon_search_init(tendon_search *search, tendon_search_advertiser *advertisers, size_t capacity,
                        const tendon_search_scope *scope) {
    memset(advertisers, 0, capacity * sizeof *advertisers);
    *search = (tendon_search){.advertisers = advertisers, .capacity = capacity};
    if (scope != NULL) {
        search->scope = *scope;
    }
}

/* ---- the table ---- */

/** A free slot, else that of a device that does not matter, else of any; the one that was received longest ago. */
static bool goes_before(const advertiser *one, const advertiser *other) {
    if (!one->used || !other->used) {
        return !one->used && other->used;
    }
    return one->matters != other->matters ? other->matters : one->seen_at < other->seen_at;
}

static bool is_of(const advertiser *one, const tendon_address *address) {
    return one->used && tendon_address_equal(&one->address, address);
}

/** Its slot, or the one that it can have. */
static advertiser *place_for(const tendon_search *search, const tendon_address *address) {
    size_t place = tendon_address_place(address, search->capacity);
    advertiser *first = &search->advertisers[place];
    for (size_t i = 0; i < NEAR && i < search->capacity; i++) {
        advertiser *one = &search->advertisers[(place + i) % search->capacity];
        if (is_of(one, address)) {
            return one;
        }
        first = goes_before(one, first) ? one : first;
    }
    return first;
}

/* ---- what is said about a device ---- */

static bool serves(const tendon_search *search, const advertiser *one, uint8_t family) {
    return family != TENDON_SEARCH_NO_FAMILY &&
           (search->scope.serves == NULL || search->scope.serves(search->scope.context, &one->address, family));
}

static uint8_t number_of(const tendon_family *family) {
    for (uint8_t i = 0; family != NULL && i < TENDON_SEARCH_DEFINED; i++) {
        if (tendon_family_at(i) == family) {
            return i;
        }
    }
    return TENDON_SEARCH_NO_FAMILY;
}

/**
 * Whether there are families of which it is one if its scan response has the rest; one that is found by its name has
 * all.
 * @param defined set to the device file that it is of, one that looks for the name before others.
 * @param served set if one of the families is served.
 */
static bool awaits_rest(const tendon_search *search, const advertiser *one, const uint8_t *data, size_t length,
                        uint8_t *defined, bool *served) {
    uint8_t family = number_of(tendon_family_awaiting_name(data, length));
    bool awaits = family != TENDON_SEARCH_NO_FAMILY, is_named = false;
    *served = serves(search, one, family);
    for (size_t i = 0; i < search->scope.definition_count && !is_named; i++) {
        const tendon_definition *definition = search->scope.definitions[i];
        tendon_meant meant = tendon_definition_means(definition, data, length);
        bool has_name = definition->find.name != 0;
        uint8_t number = (uint8_t)(TENDON_SEARCH_DEFINED + i);
        if (meant == TENDON_PERHAPS_MEANT) {
            awaits = true;
            *served = *served || serves(search, one, number);
        } else if (meant == TENDON_MEANT && (has_name || *defined == TENDON_SEARCH_NO_FAMILY)) {
            *defined = number;
            is_named = has_name;
        }
    }
    return awaits && !is_named;
}

/** Length of the whole structures: padding, or one that is truncated, would hide what follows it. */
static size_t length_of_whole(const uint8_t *data, size_t length) {
    tendon_ad_iterator iterator = tendon_ad_begin(data, length);
    tendon_ad_structure one;
    size_t whole = 0;
    while (tendon_ad_next(&iterator, &one)) {
        whole = (size_t)(one.data + one.length - data);
    }
    return whole;
}

/** A complete name stays; a device may send a shortened one in its advertisement. */
static void learn_name(advertiser *one, const uint8_t *data, size_t length) {
    tendon_ad_structure name;
    if (!tendon_ad_find_name(data, length, &name)) {
        return;
    }
    bool is_complete = name.type == TENDON_AD_NAME_COMPLETE;
    if (is_complete || !one->has_complete_name) {
        size_t kept = name.length < sizeof one->name ? name.length : sizeof one->name;
        while (kept > 0 && kept < name.length && (name.data[kept] & 0xC0) == 0x80) {
            kept--; /* whole characters of UTF-8 */
        }
        one->name_length = (uint8_t)kept;
        one->has_complete_name = is_complete;
        memcpy(one->name, name.data, kept);
    }
}

/** Its latest packets one after the other, and its name, if that was in an earlier one. Returns their length. */
static size_t join(advertiser *one, uint8_t all[ALL_MAX]) {
    tendon_ad_structure name = {.length = 0};
    size_t length = one->lengths[0];
    memcpy(all, one->data[0], length);
    memcpy(all + length, one->data[1], one->lengths[1]);
    length += one->lengths[1];
    learn_name(one, all, length);
    bool has_name = tendon_ad_find_name(all, length, &name);
    if (one->name_length > 0 && (!has_name || (one->has_complete_name && name.type != TENDON_AD_NAME_COMPLETE))) {
        all[length] = (uint8_t)(one->name_length + 1);
        all[length + 1] = one->has_complete_name ? TENDON_AD_NAME_COMPLETE : TENDON_AD_NAME_SHORTENED;
        memcpy(all + length + 2, one->name, one->name_length);
        length += 2u + one->name_length;
    }
    return length;
}

/* ---- who is asked ---- */

static bool is_asked(const advertiser *one) {
    return one->used && one->asked && !one->answered;
}

static void ask(tendon_search *search, advertiser *one, uint64_t now) {
    if (!one->asked || now >= one->asked_at + TENDON_SEARCH_PAUSE_MS) {
        one->asked = true;
        one->answered = false;
        one->asked_at = now;
        search->active_until = now + TENDON_SEARCH_ASK_MS;
    }
}

static void note_response(tendon_search *search, advertiser *one) {
    bool was_asked = is_asked(one);
    one->answered = true;
    one->has_responded = true;
    if (was_asked) {
        search->active_until = 0;
        for (size_t i = 0; i < search->capacity; i++) {
            uint64_t end = search->advertisers[i].asked_at + TENDON_SEARCH_ASK_MS;
            if (is_asked(&search->advertisers[i]) && end > search->active_until) {
                search->active_until = end;
            }
        }
    }
}

bool tendon_search_is_active(const tendon_search *search, uint64_t now) {
    return now < search->active_until;
}

uint64_t tendon_search_deadline(const tendon_search *search, uint64_t now) {
    return now < search->active_until ? search->active_until : UINT64_MAX;
}

/* ---- packets ---- */

/** @param can_respond it has a scan response, and this packet is none. */
static void recognize(const tendon_search *search, const advertiser *one, const uint8_t *data, size_t length,
                      bool can_respond, tendon_search_found *found) {
    bool may_be_served = false, awaits = false;
    uint8_t defined = TENDON_SEARCH_NO_FAMILY;
    found->family = number_of(tendon_family_from_advertisement(data, length));
    if (found->family == TENDON_SEARCH_NO_FAMILY) {
        awaits = awaits_rest(search, one, data, length, &defined, &may_be_served) && !one->has_responded;
        if (!awaits || !can_respond || one->was_in_vain) {
            found->family = defined; /* else the response decides, if it comes */
        }
    }
    found->is_served = serves(search, one, found->family);
    found->awaits_response = can_respond && (awaits || one->name_length == 0) &&
                             (found->is_served || may_be_served || serves(search, one, defined));
}

tendon_search_found tendon_search_take(tendon_search *search, const tendon_ad_report *report, uint64_t now) {
    tendon_search_found found = {.is_response = (report->properties & TENDON_AD_SCAN_RESPONSE) != 0};
    bool may_have_response = !found.is_response && (report->properties & TENDON_AD_SCANNABLE) != 0;
    advertiser *one = place_for(search, &report->address);
    uint8_t all[ALL_MAX];
    const uint8_t *data = report->data;
    size_t length = report->length;
    if (!is_of(one, &report->address)) {
        *one = (advertiser){.address = report->address, .used = true};
    }
    one->seen_at = now;
    one->was_in_vain = one->was_in_vain || (is_asked(one) && now >= one->asked_at + TENDON_SEARCH_ASK_MS);
    if (found.is_response) {
        note_response(search, one);
    }
    if (length <= TENDON_AD_LEGACY_MAX) {
        one->lengths[found.is_response] = (uint8_t)length_of_whole(data, length);
        memcpy(one->data[found.is_response], length > 0 ? data : all, one->lengths[found.is_response]);
        data = all;
        length = join(one, all);
    } else {
        learn_name(one, data, length); /* an extended advertisement has all in one packet */
    }
    recognize(search, one, data, length, may_have_response, &found);
    if (found.awaits_response) {
        ask(search, one, now);
    }
    one->matters = found.is_served || one->asked;
    found.name = one->name_length > 0 ? one->name : NULL;
    found.name_length = one->name_length;
    return found;
}

const char *tendon_search_name(const tendon_search *search, const tendon_address *address, size_t *length) {
    const advertiser *one = place_for(search, address);
    bool is_known = is_of(one, address) && one->name_length > 0;
    *length = is_known ? one->name_length : 0;
    return is_known ? one->name : NULL;
}
