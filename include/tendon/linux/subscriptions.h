/* SPDX-License-Identifier: MIT */
/*
 * What bonded centrals have subscribed to, kept between their connections (Core Specification Vol 3 Part G 3.3.3.3):
 * one file for each central, in a directory that only its owner can read. A central that connects again with the key of
 * its bond is notified without writing its CCCDs again. If the attribute table is another one by then, its CCCDs are
 * 0, and it receives a Service Changed indication if it had subscribed to these (7.1).
 *
 * A file is replaced as a whole, as the journal's are (linux/journal.h). A file that is not a valid record, or that was
 * written with another key, counts as none. There are at most as many files as bonds.
 *
 * A change of a CCCD blocks the calling thread for two fsync() calls, and for at most 500 ms if another process holds
 * the lock of the directory.
 */
#ifndef TENDON_LINUX_SUBSCRIPTIONS_H
#define TENDON_LINUX_SUBSCRIPTIONS_H

#include "tendon/linux/journal.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Maximum number of CCCDs of a server whose subscriptions are kept. */
#define TENDON_SUBSCRIPTIONS_MAX 64

/** Caller's memory. */
typedef struct tendon_subscription_store {
    tendon_journal journal;
    tendon_status status; /**< of the latest access. A record that cannot be read is read again with the next PDU; one
                             that cannot be written, when the connection ends */
} tendon_subscription_store;

/** The central of one connection. Opaque. */
typedef struct tendon_kept_subscriptions {
    tendon_address central;
    uint8_t key[16]; /**< of the bond */
    bool bonded, stale, announces, announced, unsaved;
    uint8_t values[TENDON_SUBSCRIPTIONS_MAX]; /**< CCCDs, as they are in the file */
} tendon_kept_subscriptions;

/**
 * Chooses the directory, which is created with the first record. Each device has its own, also if one machine is
 * several.
 * @param directory NULL: $XDG_STATE_HOME/tendon/subscriptions, else $HOME/.local/state/tendon/subscriptions, else
 *   /var/lib/tendon/subscriptions.
 * @return TENDON_OK; TENDON_ERROR_OVERFLOW: the path is too long; TENDON_ERROR_INVALID_ARGUMENT: it is empty.
 */
tendon_status tendon_subscription_store_open(tendon_subscription_store *store, const char *directory);

#ifdef __cplusplus
}
#endif
#endif
