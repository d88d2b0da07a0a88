/* SPDX-License-Identifier: MIT */
/*
 * GATT cache of one device (Core Spec Vol 3 Part G 2.5.2): the attribute handles that a profile requires, valid as long
 * as the device reports the same Database Hash (7.3). With a cache, a discovery that was done before costs one request.
 *
 * The key is the identity of the device (address and address type) and its Database Hash. Nothing is kept of a device
 * without a Database Hash, bonded or not: 2.5.2 would permit it for a bonded device, but a device that changes its
 * table without an indication would then be used with wrong handles. Nothing is kept of an address that is no identity.
 */
#ifndef TENDON_HOST_GATT_CACHE_H
#define TENDON_HOST_GATT_CACHE_H

#include "tendon/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Handles discovered for a characteristic; all 0 if none. */
typedef struct tendon_gatt_handles {
    uint16_t service; /**< start handle of its service, 0: the service is absent */
    uint16_t service_end;
    uint16_t value; /**< value handle, 0: the characteristic is absent */
    uint16_t cccd;  /**< 0: absent, or not requested */
    uint8_t properties;
} tendon_gatt_handles;

enum {
    TENDON_GATT_HASH_SIZE = 16,
    /** Maximum number of characteristics of a cache, Service Changed included. */
    TENDON_GATT_CACHE_ROWS = 24,
    /** Longest encoded cache in bytes. */
    TENDON_GATT_CACHE_RECORD_MAX = 38 + 9 * TENDON_GATT_CACHE_ROWS
};

/** Where caches outlive the process, for example linux/gatt_store.h. The functions may block. */
typedef struct tendon_gatt_cache_store {
    void *context;
    /** Reads the record of a device. @return its length, or an error (TENDON_ERROR_NOT_FOUND: none). */
    tendon_status (*load)(void *context, const tendon_address *device, uint8_t *out, size_t capacity);
    tendon_status (*save)(void *context, const tendon_address *device, const uint8_t *bytes, size_t length);
    tendon_status (*remove)(void *context, const tendon_address *device);
} tendon_gatt_cache_store;

typedef enum tendon_gatt_cache_state {
    TENDON_GATT_CACHE_EMPTY = 0,
    TENDON_GATT_CACHE_FILLING, /**< the hash was read, the discovery that belongs to it is in progress */
    TENDON_GATT_CACHE_VALID,
    TENDON_GATT_CACHE_STALE /**< dropped while connected: what was discovered may be wrong */
} tendon_gatt_cache_state;

/** What a record contains. */
typedef struct tendon_gatt_cache_record {
    tendon_address device; /**< type PUBLIC or RANDOM: an identity address is the same as the address without this
                              property */
    uint8_t hash[TENDON_GATT_HASH_SIZE];
    uint32_t profile; /**< which characteristics the rows are */
    uint8_t count;
    tendon_gatt_handles rows[TENDON_GATT_CACHE_ROWS];
} tendon_gatt_cache_record;

/** The caller's memory: one for each device, as long as its connections use it. */
typedef struct tendon_gatt_cache {
    uint8_t state;     /**< tendon_gatt_cache_state */
    bool identity;     /**< false: nothing is kept of this address */
    bool without_hash; /**< the device has no Database Hash: it is not read again */
    tendon_gatt_cache_store store;
    tendon_gatt_cache_record record;
    tendon_status store_status; /**< of the latest call of the store; an error does not affect the connection */
    struct {
        uint32_t hits;       /**< discoveries that the cache answered */
        uint32_t misses;     /**< discoveries that were done, without an entry for this profile */
        uint32_t mismatches; /**< discoveries that were done because the hash differed */
        uint32_t drops;      /**< by Service Changed, Database Out Of Sync and tendon_gatt_cache_drop() */
    } counters;
} tendon_gatt_cache;

/**
 * Prepares the cache of a device and loads its record, if @p store has a valid one.
 * @param store copied; NULL: the cache lasts as long as its memory.
 */
void tendon_gatt_cache_init(tendon_gatt_cache *cache, const tendon_address *device,
                            const tendon_gatt_cache_store *store);
/** Forgets what is kept of the device, in memory and in the store. A connection of the device discovers again before
 * its next request. */
void tendon_gatt_cache_drop(tendon_gatt_cache *cache);

/* Used by the GATT client and by the discovery (devices/profile.h). */

/** A new connection begins: what was not finished on the last one is forgotten. */
void tendon_gatt_cache_begin(tendon_gatt_cache *cache);

/**
 * Compares with the hash that the device reports.
 * @return true if the cache is valid for this hash and profile; otherwise the discovery ends with
 *   tendon_gatt_cache_put(), which nothing may have invalidated in the meantime.
 */
bool tendon_gatt_cache_check(tendon_gatt_cache *cache, const uint8_t hash[TENDON_GATT_HASH_SIZE], uint32_t profile,
                             size_t count);
/** The device has no Database Hash. */
void tendon_gatt_cache_without_hash(tendon_gatt_cache *cache);
/** Keeps the result of a discovery. */
void tendon_gatt_cache_put(tendon_gatt_cache *cache, const tendon_gatt_handles *rows, size_t count);

/* Codec of a record. */

/** @return the length; TENDON_ERROR_BUFFER_TOO_SMALL; TENDON_ERROR_OVERFLOW (too many rows). */
tendon_status tendon_gatt_cache_encode(const tendon_gatt_cache_record *record, uint8_t *out, size_t capacity);
/**
 * Decodes a whole record.
 * @return TENDON_OK; TENDON_ERROR_TRUNCATED, _MALFORMED, _UNSUPPORTED (version) with the *offset of the first wrong
 *   byte (may be NULL).
 */
tendon_status tendon_gatt_cache_decode(const uint8_t *bytes, size_t length, tendon_gatt_cache_record *out,
                                       size_t *offset);

#ifdef __cplusplus
}
#endif
#endif
