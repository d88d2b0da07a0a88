/* SPDX-License-Identifier: MIT */
/*
 * Search: what the devices in range advertise. An advertisement and a scan response of a device count together: for its
 * family, and for its name. The scan is passive, and active only while a device has something to tell that only its
 * scan response contains: an active scan makes every device in range send one more packet for each advertisement.
 *
 * No I/O, no heap. A bounded table; devices of no family make room first.
 */
#ifndef TENDON_GATEWAY_SEARCH_H
#define TENDON_GATEWAY_SEARCH_H

#include "tendon/definition.h"
#include "tendon/devices.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Time for which the scan is active for a device, in ms: three advertisements of one that advertises once per
 * second, and after which it is asked again. Our design. */
#define TENDON_SEARCH_ASK_MS 3000u
#define TENDON_SEARCH_PAUSE_MS 60000u
/** Recommended number of advertisers. */
#define TENDON_SEARCH_ADVERTISERS 64
/** Families: those of tendon_family_at(), then the definitions. */
#define TENDON_SEARCH_NO_FAMILY 0xFFu
#define TENDON_SEARCH_DEFINED 5u

/** One advertiser. Private. */
typedef struct tendon_search_advertiser {
    tendon_address address;
    bool used, asked, answered;
    uint8_t family;     /**< TENDON_SEARCH_NO_FAMILY: none so far */
    uint8_t lengths[2]; /**< of its latest advertisement and scan response; 0: none */
    uint8_t data[2][TENDON_AD_LEGACY_MAX];
    uint8_t name_length;
    bool has_complete_name;
    char name[TENDON_AD_LEGACY_MAX];
    uint64_t seen_at, asked_at;
} tendon_search_advertiser;

/** Caller's memory. Private. */
typedef struct tendon_search {
    tendon_search_advertiser *advertisers;
    size_t capacity;
    const tendon_definition *const *definitions;
    size_t definition_count;
} tendon_search;

/** What a packet tells of its advertiser. */
typedef struct tendon_search_found {
    uint8_t family;       /**< TENDON_SEARCH_NO_FAMILY: of none that is known so far */
    bool awaits_response; /**< its name is expected in its scan response */
    bool is_response;     /**< the packet is one */
    const char *name;     /**< as it was advertised, perhaps no UTF-8; lent until the next call; NULL: none */
    size_t name_length;
} tendon_search_found;

/**
 * @param advertisers table of @p capacity (at least 1) entries, borrowed; it is cleared.
 * @param definitions borrowed; may be NULL if there are none.
 */
void tendon_search_init(tendon_search *search, tendon_search_advertiser *advertisers, size_t capacity,
                        const tendon_definition *const *definitions, size_t definition_count);

/** Takes an advertisement or a scan response. */
tendon_search_found tendon_search_take(tendon_search *search, const tendon_ad_report *report, uint64_t now);

/** Asks a device, which was taken, for its scan response: the scan is active for a time, unless it was asked lately. */
void tendon_search_ask(tendon_search *search, const tendon_address *address, uint64_t now);
/** Returns whether the scan must be active. */
bool tendon_search_is_active(const tendon_search *search, uint64_t now);
/** Returns when it need not be active any more, if nothing is received before; UINT64_MAX: it is not active. */
uint64_t tendon_search_deadline(const tendon_search *search, uint64_t now);

#ifdef __cplusplus
}
#endif
#endif
