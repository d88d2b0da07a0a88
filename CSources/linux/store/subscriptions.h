/* SPDX-License-Identifier: MIT */
/* Kept subscriptions: the record of a central, and the steps of a connection. Internal to linux. */
#ifndef TENDON_SUBSCRIPTIONS_INTERNAL_H
#define TENDON_SUBSCRIPTIONS_INTERNAL_H

#include "tendon/linux/peripheral.h"

enum { TENDON_SUBSCRIPTION_BOND_SIZE = 8, TENDON_SUBSCRIPTION_RECORD_MAX = 36 + TENDON_SUBSCRIPTIONS_MAX };

/** What a file has. */
typedef struct tendon_subscription_record {
    uint8_t bond[TENDON_SUBSCRIPTION_BOND_SIZE]; /**< tells a new pairing of the same central; the key cannot be
                                                    computed from it */
    uint8_t hash[16];                            /**< Database Hash of the attribute table */
    bool service_changed;                        /**< subscribed to its indications */
    uint8_t count;
    uint8_t values[TENDON_SUBSCRIPTIONS_MAX]; /**< in the order of the CCCDs: 1 notify, 2 indicate */
} tendon_subscription_record;

/** @return the length, or TENDON_ERROR_BUFFER_TOO_SMALL. */
tendon_status tendon_subscription_record_encode(const tendon_subscription_record *record, uint8_t *out,
                                                size_t capacity);
/** @param offset of the first wrong byte. @return TENDON_OK, TENDON_ERROR_TRUNCATED, _MALFORMED, or _UNSUPPORTED:
 * another version. */
tendon_status tendon_subscription_record_decode(const uint8_t *bytes, size_t length, tendon_subscription_record *record,
                                                size_t *offset);

/** The bond of the connection may be known now: its subscriptions are restored, once. */
void tendon_subscriptions_restore(tendon_peripheral_link *place, uint64_t now);
/** CCCDs may have changed, or there may be room for an indication. */
void tendon_subscriptions_keep(tendon_peripheral_link *place, uint64_t now);
/** The connection has ended, and the server still has its CCCDs. */
void tendon_subscriptions_ended(tendon_peripheral_link *place);

#endif
