/* SPDX-License-Identifier: MIT */
#include "tendon/linux/recognition.h"

#include <string.h>

/** Index of the latest packet of the advertiser, or of the place where it is kept from now on. */
static size_t place_of(tendon_recognition *recognition, const tendon_address *address) {
    for (size_t i = 0; i < TENDON_RECOGNITION_ADVERTISERS; i++) {
        if (recognition->latest[i].length > 0 && tendon_address_equal(&recognition->latest[i].address, address)) {
            return i;
        }
    }
    const size_t place = recognition->next;
    recognition->next = (place + 1) % TENDON_RECOGNITION_ADVERTISERS;
    recognition->latest[place].address = *address;
    recognition->latest[place].length = 0;
    return place;
}

bool tendon_recognition_take(tendon_recognition *recognition, const tendon_ad_report *report) {
    const bool response = (report->properties & TENDON_AD_SCAN_RESPONSE) != 0;
    uint8_t both[2 * TENDON_AD_LEGACY_MAX];
    if (recognition->recognizes(report->data, report->length)) {
        return true;
    }
    if (report->length == 0 || report->length > TENDON_AD_LEGACY_MAX) {
        return false;
    }
    const size_t place = place_of(recognition, &report->address);
    const size_t before = recognition->latest[place].response != response ? recognition->latest[place].length : 0;
    memcpy(both, recognition->latest[place].data, before);
    memcpy(both + before, report->data, report->length);
    recognition->latest[place].response = response;
    recognition->latest[place].length = (uint8_t)report->length;
    memcpy(recognition->latest[place].data, report->data, report->length);
    return before > 0 && recognition->recognizes(both, before + report->length);
}
