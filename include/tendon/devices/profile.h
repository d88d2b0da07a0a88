/* SPDX-License-Identifier: MIT */
/*
 * Discovery of a family's characteristics, for all sessions: a table of rows lists the characteristics that a session
 * requires. Services may have 16-bit or 128-bit UUIDs.
 *
 * Order of the procedures: all primary services, the characteristics of each service that a row names, the descriptors
 * of each discovered row that requires its CCCD (Core Spec Vol 3 Part G 4.4.1, 4.6.1, 4.7.1). The results are read in
 * pages of a few items, so the peer's table may have any size.
 *
 * If the GATT client has a cache, the discovery reads the Database Hash first. If the cache is valid for it, nothing
 * else is requested. Otherwise the discovery also finds Service Changed and Client Supported Features, and fills the
 * cache. When the session has nothing to send, the indications of Service Changed and Robust Caching are enabled.
 * Without rows that is all that a discovery does, see linux/gatt_table.h.
 */
#ifndef TENDON_DEVICES_PROFILE_H
#define TENDON_DEVICES_PROFILE_H

#include "tendon/host/gatt_client.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Flags of a row. */
enum {
    TENDON_PROFILE_REQUIRED = 0x01, /**< without it the discovery fails with TENDON_ERROR_NOT_FOUND */
    TENDON_PROFILE_CCCD = 0x02,     /**< its CCCD is discovered; with REQUIRED it must be present */
    TENDON_PROFILE_ANYWHERE = 0x04  /**< in any service; the service of the row is ignored */
};

/**
 * Describes the characteristic of row @p row: sets the UUIDs (both are 0 before) and returns the flags. A family has
 * one such function, so the table needs no memory. @p context is that of the discovery.
 */
typedef uint8_t (*tendon_profile_row)(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic);

/** Handles discovered for a row; all 0 if none. Complete only after TENDON_OK. */
typedef tendon_gatt_handles tendon_profile_found;

enum {
    TENDON_PROFILE_PAGE = 4,
    /** Rows before those of the family in a tendon_gatt_cache_record: Service Changed, Client Supported Features. */
    TENDON_PROFILE_OWN_ROWS = 2
};

/** One discovery. Opaque. */
typedef struct tendon_profile {
    uint8_t step, row;
    tendon_profile_row row_of;
    tendon_profile_found *found;
    size_t count;
    tendon_gatt_client *client;
    void *context;
    void (*done)(void *context, tendon_status status, size_t row, uint64_t now);
    uint32_t request; /**< the outstanding request; 0: none */
    uint32_t limit;   /**< ms for each request; 0: the 30 s of ATT */
    uint16_t cursor, end;
    bool caching; /**< the Database Hash was read: rows of Generic Attribute follow, and the result is kept */
    tendon_profile_found own[TENDON_PROFILE_OWN_ROWS]; /**< of those rows */
    union {
        tendon_gatt_service services[TENDON_PROFILE_PAGE];
        tendon_gatt_characteristic characteristics[TENDON_PROFILE_PAGE];
        tendon_gatt_descriptor descriptors[TENDON_PROFILE_PAGE];
    } page;
} tendon_profile;

/**
 * Starts. @p found, for @p count rows (255 at most), is cleared here and borrowed until the end.
 * @p done is called once: TENDON_OK; TENDON_ERROR_NOT_FOUND with the first missing required row (found[row].service is
 * 0 if its service is absent); or the error of a request. After tendon_profile_cancel() it is not called.
 * @return TENDON_OK, or the error of the first request; then nothing was started.
 */
tendon_status tendon_profile_start(tendon_profile *profile, tendon_gatt_client *client, tendon_profile_row row_of,
                                   tendon_profile_found *found, size_t count,
                                   void (*done)(void *context, tendon_status status, size_t row, uint64_t now),
                                   void *context, uint64_t now);

/** Limits each further request to @p ms; then the discovery ends with TENDON_ERROR_TIMEOUT. */
void tendon_profile_limit(tendon_profile *profile, uint32_t ms, uint64_t now);

/** Ends the discovery without a call of done(). Does nothing if no discovery is in progress. */
void tendon_profile_cancel(tendon_profile *profile, uint64_t now);

/** Returns the number of these rows in a tendon_gatt_cache_record (profile): other rows have another one. */
uint32_t tendon_profile_number(tendon_profile_row row_of, void *context, size_t count);

/** Returns the row whose value handle is @p handle; count if there is none. */
size_t tendon_profile_row_of(const tendon_profile_found *found, size_t count, uint16_t handle);

#ifdef __cplusplus
}
#endif
#endif
