/* SPDX-License-Identifier: MIT */
/*
 * Bose wearables in range, from the advertisements of a scan: which advertiser
 * is a wearable, its name, its signal strength, and when it is lost.
 */
#ifndef TENDON_DEVICES_BOSE_SEARCH_H
#define TENDON_DEVICES_BOSE_SEARCH_H

#include "tendon/devices/bose_codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Maximum length of a name; a longer one is truncated before the character that does not fit. */
#define TENDON_BOSE_NAME_SIZE 64

/** A wearable in range. */
typedef struct tendon_bose_found {
    uint64_t seen_ms; /**< time of the last advertisement or scan response */
    tendon_address address;
    int8_t rssi;        /**< dBm, last known; TENDON_RSSI_UNKNOWN */
    bool old_firmware;  /**< see tendon_bose_session_config.old_firmware */
    bool complete_name; /**< false: name is a shortened one, or empty */
    uint8_t name_length;
    char name[TENDON_BOSE_NAME_SIZE]; /**< UTF-8, not terminated; often in the scan response only */
} tendon_bose_found;

/** Effect of an advertisement on the table. */
typedef enum tendon_bose_search_change {
    TENDON_BOSE_SEARCH_NONE = 0, /**< not of a wearable, or below rssi_cutoff */
    TENDON_BOSE_SEARCH_FOUND,    /**< a wearable that was not in the table */
    TENDON_BOSE_SEARCH_UPDATED,  /**< its name or its old_firmware changed */
    TENDON_BOSE_SEARCH_SEEN      /**< only its time and signal strength */
} tendon_bose_search_change;

/** Caller's memory. A program may read count, replaced_count and found[0] to found[count - 1], oldest first. */
typedef struct tendon_bose_search {
    tendon_bose_found *found;
    size_t capacity, count;
    /** Time without an advertisement after which a wearable is lost, in ms; 0: never. May be changed at any time. */
    uint64_t lost_after_ms;
    int8_t rssi_cutoff; /**< weaker advertisements are ignored, dBm; INT8_MIN: no limit. May be changed at any time. */
    bool has_replaced;  /**< private: replaced must be reported as lost */
    uint64_t replaced_count; /**< wearables dropped because the table was full */
    tendon_bose_found replaced;
} tendon_bose_search;

/** @param found table of @p capacity (at least 1) entries, borrowed. */
void tendon_bose_search_init(tendon_bose_search *search, tendon_bose_found *found, size_t capacity);
/**
 * Takes an advertisement or a scan response. In a full table a new wearable replaces the one that has not been seen for
 * the longest time.
 *
 * @param device set to the entry if the result is not NONE; valid until the next call.
 */
tendon_bose_search_change tendon_bose_search_on_advertisement(tendon_bose_search *search,
                                                              const tendon_ad_report *report, uint64_t now,
                                                              const tendon_bose_found **device);
/** Removes one wearable that was lost or replaced. Returns false if there is none. Call it until it returns false. */
bool tendon_bose_search_take_lost(tendon_bose_search *search, uint64_t now, tendon_bose_found *lost);
/** Returns the time at which the next wearable is lost; UINT64_MAX if there is none. */
uint64_t tendon_bose_search_deadline(const tendon_bose_search *search);
/** The wearable with the strongest signal; one with old firmware only if there is no other. NULL if there is none. */
const tendon_bose_found *tendon_bose_search_strongest(const tendon_bose_search *search);

#ifdef __cplusplus
}
#endif
#endif
