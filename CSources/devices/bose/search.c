/* SPDX-License-Identifier: MIT */
#include "tendon/devices/bose_search.h"

#include <string.h>

void tendon_bose_search_init(tendon_bose_search *search, tendon_bose_found *found, size_t capacity) {
    memset(search, 0, sizeof *search);
    search->found = found;
    search->capacity = capacity;
    search->rssi_cutoff = INT8_MIN;
}

static size_t index_of(const tendon_bose_search *search, const tendon_address *address) {
    size_t i = 0;
    while (i < search->count && !tendon_address_equal(&search->found[i].address, address)) {
        i++;
    }
    return i;
}

static size_t oldest(const tendon_bose_search *search) {
    size_t at = 0;
    for (size_t i = 1; i < search->count; i++) {
        at = search->found[i].seen_ms < search->found[at].seen_ms ? i : at;
    }
    return at;
}

static void drop(tendon_bose_search *search, size_t index) {
    search->count--;
    memmove(&search->found[index], &search->found[index + 1], (search->count - index) * sizeof search->found[0]);
}

static tendon_bose_found *append(tendon_bose_search *search, const tendon_address *address) {
    if (search->count == search->capacity) {
        size_t index = oldest(search);
        search->replaced = search->found[index];
        search->has_replaced = true;
        search->replaced_count++;
        drop(search, index);
    }
    tendon_bose_found *device = &search->found[search->count++];
    memset(device, 0, sizeof *device);
    device->address = *address;
    device->rssi = TENDON_RSSI_UNKNOWN;
    return device;
}

/* Length of the longest beginning that fits and does not end within a character of UTF-8. */
static size_t whole_characters(const uint8_t *text, size_t length) {
    if (length <= TENDON_BOSE_NAME_SIZE) {
        return length;
    }
    length = TENDON_BOSE_NAME_SIZE;
    while (length > 0 && (text[length] & 0xC0) == 0x80) {
        length--;
    }
    return length;
}

/* A shortened name never replaces a complete one. */
static bool take_name(tendon_bose_found *device, const tendon_ad_report *report) {
    tendon_ad_structure name;
    if (!tendon_ad_find_name(report->data, report->length, &name)) {
        return false;
    }
    bool complete = name.type == TENDON_AD_NAME_COMPLETE;
    if (device->complete_name && !complete) {
        return false;
    }
    size_t length = whole_characters(name.data, name.length);
    device->complete_name = complete;
    if (length == device->name_length && memcmp(device->name, name.data, length) == 0) {
        return false;
    }
    device->name_length = (uint8_t)length;
    memcpy(device->name, name.data, length);
    return true;
}

tendon_bose_search_change tendon_bose_search_on_advertisement(tendon_bose_search *search,
                                                              const tendon_ad_report *report, uint64_t now,
                                                              const tendon_bose_found **device) {
    if (report->rssi != TENDON_RSSI_UNKNOWN && report->rssi < search->rssi_cutoff) {
        return TENDON_BOSE_SEARCH_NONE;
    }
    tendon_bose_advertised kind = tendon_bose_recognize(report->data, report->length);
    size_t index = index_of(search, &report->address);
    bool known = index < search->count;
    if (!known && kind == TENDON_BOSE_ADVERTISED_NOTHING) {
        return TENDON_BOSE_SEARCH_NONE;
    }
    tendon_bose_found *entry = known ? &search->found[index] : append(search, &report->address);
    bool old_firmware = known ? entry->old_firmware && kind != TENDON_BOSE_ADVERTISED_SENSOR_SERVICE
                              : kind == TENDON_BOSE_ADVERTISED_OLD_FIRMWARE;
    bool changed = old_firmware != entry->old_firmware;
    entry->old_firmware = old_firmware;
    changed = take_name(entry, report) || changed;
    entry->rssi = report->rssi != TENDON_RSSI_UNKNOWN ? report->rssi : entry->rssi;
    entry->seen_ms = now;
    *device = entry;
    if (!known) {
        return TENDON_BOSE_SEARCH_FOUND;
    }
    return changed ? TENDON_BOSE_SEARCH_UPDATED : TENDON_BOSE_SEARCH_SEEN;
}

bool tendon_bose_search_take_lost(tendon_bose_search *search, uint64_t now, tendon_bose_found *lost) {
    if (search->has_replaced) {
        search->has_replaced = false;
        *lost = search->replaced;
        return true;
    }
    if (now < tendon_bose_search_deadline(search)) {
        return false;
    }
    size_t index = oldest(search);
    *lost = search->found[index];
    drop(search, index);
    return true;
}

uint64_t tendon_bose_search_deadline(const tendon_bose_search *search) {
    if (search->has_replaced) {
        return 0;
    }
    if (search->count == 0 || search->lost_after_ms == 0) {
        return UINT64_MAX;
    }
    uint64_t seen = search->found[oldest(search)].seen_ms;
    return seen > UINT64_MAX - search->lost_after_ms ? UINT64_MAX : seen + search->lost_after_ms;
}

static int strength(const tendon_bose_found *device) {
    int rssi = device->rssi == TENDON_RSSI_UNKNOWN ? INT8_MIN : device->rssi;
    return device->old_firmware ? rssi - UINT8_MAX : rssi;
}

const tendon_bose_found *tendon_bose_search_strongest(const tendon_bose_search *search) {
    const tendon_bose_found *best = NULL;
    for (size_t i = 0; i < search->count; i++) {
        best = best == NULL || strength(&search->found[i]) > strength(best) ? &search->found[i] : best;
    }
    return best;
}
