/* SPDX-License-Identifier: MIT */
/*
 * Search: what the devices in range advertise. An advertisement and a scan response of a device count together: for its
 * family, and for its name. The scan is passive, and active only while a device that is served has something to tell
 * that only its scan response contains: an active scan makes every device in range send one more packet for each
 * advertisement.
 *
 * No I/O, no heap. A bounded table, in which a packet costs the same however large it is; devices that are not served
 * make room first.
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
#define TENDON_SEARCH_ADVERTISERS 256
/** Families: those of tendon_family_at(), then the definitions. */
#define TENDON_SEARCH_NO_FAMILY 0xFFu
#define TENDON_SEARCH_DEFINED 5u

/** One advertiser. Private. */
typedef struct tendon_search_advertiser {
    tendon_address address;
    bool used, matters; /**< it is served, or was asked */
    bool asked;
    bool answered;      /**< since it was asked */
    bool has_responded; /**< at some time */
    bool was_in_vain;   /**< it was asked, and did not respond in time */
    uint8_t lengths[2]; /**< of its latest advertisement and scan response; 0: none */
    uint8_t data[2][TENDON_AD_LEGACY_MAX];
    uint8_t name_length;
    bool has_complete_name;
    char name[TENDON_AD_LEGACY_MAX];
    uint64_t seen_at, asked_at;
} tendon_search_advertiser;

/** What is looked for. */
typedef struct tendon_search_scope {
    const tendon_definition *const *definitions; /**< borrowed; may be NULL if there are none */
    size_t definition_count;
    void *context;
    /** Returns whether a device of this family is served. NULL: all are. */
    bool (*serves)(void *context, const tendon_address *address, uint8_t family);
} tendon_search_scope;

/** Caller's memory. Private. */
typedef struct tendon_search {
    tendon_search_advertiser *advertisers; /**< a hash table: a device is in one of a few slots */
    size_t capacity;
    tendon_search_scope scope;
    uint64_t active_until; /**< no device is asked from then on */
} tendon_search;

/** What a packet tells of its advertiser. */
typedef struct tendon_search_found {
    uint8_t family;       /**< TENDON_SEARCH_NO_FAMILY: of none that is known so far */
    bool is_served;       /**< it has a family, which is served */
    bool awaits_response; /**< it is served, or may be, and its name, or the rest of what is demanded, is expected in
                             its scan response */
    bool is_response;     /**< the packet is one */
    const char *name;     /**< as it was advertised, perhaps no UTF-8; lent until the next call; NULL: none */
    size_t name_length;
} tendon_search_found;

/**
 * @param advertisers table of @p capacity (at least 1) entries, borrowed; it is cleared.
 * @param scope copied; NULL: all families, no definitions.
 */
void tendon_search_init(tendon_search *search, tendon_search_advertiser *advertisers, size_t capacity,
                        const tendon_search_scope *scope);

/** Takes an advertisement or a scan response. A device that awaits its response is asked: the scan is active for a
 * time, unless the device was asked lately. */
tendon_search_found tendon_search_take(tendon_search *search, const tendon_ad_report *report, uint64_t now);
/** Returns the name of a device as in tendon_search_found; NULL: none is known, or it was received too long ago. */
const char *tendon_search_name(const tendon_search *search, const tendon_address *address, size_t *length);

/** Returns whether the scan must be active. */
bool tendon_search_is_active(const tendon_search *search, uint64_t now);
/** Returns when it need not be active any more, if nothing is received before; UINT64_MAX: it is not active. */
uint64_t tendon_search_deadline(const tendon_search *search, uint64_t now);

#ifdef __cplusplus
}
#endif
#endif
