/* SPDX-License-Identifier: MIT */
/*
 * Advertising data (Core Spec Vol 3 Part C 11, Supplement Part A) and the
 * reports that carry it.
 */
#ifndef TENDON_HOST_ADVERTISEMENT_H
#define TENDON_HOST_ADVERTISEMENT_H

#include "tendon/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Longest advertising data after reassembly (Vol 4 Part E 7.8.54 ff.) and the legacy limit. */
#define TENDON_AD_EXTENDED_MAX 1650
#define TENDON_AD_LEGACY_MAX 31

/** Bits of tendon_ad_report.properties: the Event_Type of an extended report (Vol 4 Part E 7.7.65.13). */
enum {
    TENDON_AD_CONNECTABLE = 0x01,
    TENDON_AD_SCANNABLE = 0x02,
    TENDON_AD_DIRECTED = 0x04,
    TENDON_AD_SCAN_RESPONSE = 0x08,
    TENDON_AD_LEGACY = 0x10
};

/** What RSSI and TX power say when they say nothing. */
#define TENDON_RSSI_UNKNOWN 127

/** One advertisement, or one scan response, as received. Lent for the callback. */
typedef struct tendon_ad_report {
    tendon_address address;
    uint16_t properties;                /**< bits above; reserved bits kept */
    int8_t rssi;                        /**< dBm, TENDON_RSSI_UNKNOWN when not available */
    int8_t tx_power;                    /**< dBm, TENDON_RSSI_UNKNOWN when not available */
    uint8_t primary_phy, secondary_phy; /**< 1 LE 1M, 2 LE 2M, 3 LE Coded, 0 none */
    uint8_t set_id;                     /**< advertising SID, 0xFF: none */
    const uint8_t *data;
    size_t length;  /**< 0 to TENDON_AD_EXTENDED_MAX */
    bool truncated; /**< the controller or the reassembly lost the end */
} tendon_ad_report;

/** One AD structure. */
typedef struct tendon_ad_structure {
    uint8_t type;
    const uint8_t *data;
    size_t length; /**< 0 to 254 */
} tendon_ad_structure;

/** Iterator over AD structures. A length of 0 ends the significant part (Vol 3 Part C 11). */
typedef struct tendon_ad_iterator {
    tendon_reader reader;
} tendon_ad_iterator;

tendon_ad_iterator tendon_ad_begin(const uint8_t *data, size_t length);

/** True and the next structure; false at the end or at a cut structure (iterator->reader.status tells which). */
bool tendon_ad_next(tendon_ad_iterator *iterator, tendon_ad_structure *out);

#ifdef __cplusplus
}
#endif
#endif
