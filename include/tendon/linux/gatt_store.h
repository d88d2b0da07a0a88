/* SPDX-License-Identifier: MIT */
/*
 * GATT caches on the disk: one file for each device, in a directory that only its owner can read. A file is replaced as
 * a whole, as the journal's are (linux/journal.h): if the process is killed at any moment, it contains the record
 * before or the new one. A file that is not a valid record counts as none.
 *
 * A change blocks the calling thread for two fsync() calls, and for at most 500 ms if another process holds the lock of
 * the directory. It happens once for each attribute table of a device, not for each connection.
 */
#ifndef TENDON_LINUX_GATT_STORE_H
#define TENDON_LINUX_GATT_STORE_H

#include "tendon/host/gatt_cache.h"
#include "tendon/linux/journal.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Caller's memory. */
typedef struct tendon_gatt_store {
    tendon_journal journal;
} tendon_gatt_store;

/**
 * Chooses the directory, which is created with the first record.
 * @param directory NULL: $XDG_STATE_HOME/tendon/gatt, else $HOME/.local/state/tendon/gatt, else /var/lib/tendon/gatt.
 * @return TENDON_OK; TENDON_ERROR_OVERFLOW: the path is too long; TENDON_ERROR_INVALID_ARGUMENT: it is empty.
 */
tendon_status tendon_gatt_store_open(tendon_gatt_store *store, const char *directory);
/** Returns the functions for tendon_gatt_cache_init(). @param store borrowed as long as the caches exist. */
tendon_gatt_cache_store tendon_gatt_store_functions(tendon_gatt_store *store);
/** Returns the functions for tendon_gatt_table_init(): the same records, with the answers of discoveries. */
tendon_gatt_cache_store tendon_gatt_store_table_functions(tendon_gatt_store *store);
/** Removes the record of a device. @return TENDON_OK, also if it has none, or an error as of tendon_journal_remove().
 */
tendon_status tendon_gatt_store_drop(const tendon_gatt_store *store, const tendon_address *device);
/** Removes the records of all devices. @return the number of devices, or an error as of tendon_journal_clear(). */
tendon_status tendon_gatt_store_clear(const tendon_gatt_store *store);

#ifdef __cplusplus
}
#endif
#endif
