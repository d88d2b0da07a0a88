/* SPDX-License-Identifier: MIT */
/*
 * Finding a family's characteristics: all sessions discover by rows of
 * what they need. Works on services in 16-bit and in 128-bit form.
 *
 * Order on the air: all primary services, the characteristics of each service
 * that a row names, the descriptors of each found row that wants its CCCD
 * (Core Spec Vol 3 Part G 4.4.1, 4.6.1, 4.7.1). Pages of a few items, so the
 * peer's table may have any size.
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
    TENDON_PROFILE_CCCD = 0x02,     /**< its CCCD is looked for; REQUIRED too: must be there */
    TENDON_PROFILE_ANYWHERE = 0x04  /**< in any service; the row's service is not looked at */
};

/**
 * Says which characteristic row @p row is: fills what it has to (both come all 0) and returns the flags. A family has
 * one such function; nothing of the table needs memory. @p context is that of the discovery.
 */
typedef uint8_t (*tendon_profile_row)(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic);

/** What was found of a row; all 0: nothing. Complete after TENDON_OK only. */
typedef struct tendon_profile_found {
    uint16_t service; /**< start handle of its service, 0: the service is not there */
    uint16_t service_end;
    uint16_t value; /**< value handle, 0: the characteristic is not there */
    uint16_t cccd;  /**< 0: none, or not looked for */
    uint8_t properties;
} tendon_profile_found;

enum { TENDON_PROFILE_PAGE = 4 };

/** One discovery. Opaque. */
typedef struct tendon_profile {
    uint8_t step, row, turn;
    tendon_profile_row row_of;
    tendon_profile_found *found;
    size_t count;
    tendon_gatt_client *client;
    void *context;
    void (*done)(void *context, tendon_status status, size_t row, uint64_t now);
    uint32_t request; /**< on the air; 0: none */
    uint32_t limit;   /**< ms for each request; 0: the 30 s of ATT */
    bool *over;       /**< of the call that asks, while it does */
    uint16_t cursor, end;
    union {
        tendon_gatt_service services[TENDON_PROFILE_PAGE];
        tendon_gatt_characteristic characteristics[TENDON_PROFILE_PAGE];
        tendon_gatt_descriptor descriptors[TENDON_PROFILE_PAGE];
    } page;
} tendon_profile;

/**
 * Starts. @p found, for @p count rows (255 at most), is cleared here and borrowed until the end.
 * @p done is called once: TENDON_OK; TENDON_ERROR_NOT_FOUND with the first missing row
 * that is required (found[row].service tells whether its service is there); or what a request met.
 * After tendon_profile_cancel() it is not called.
 * @return TENDON_OK, or what the first request met: then nothing was started.
 */
tendon_status tendon_profile_start(tendon_profile *profile, tendon_gatt_client *client, tendon_profile_row row_of,
                                   tendon_profile_found *found, size_t count,
                                   void (*done)(void *context, tendon_status status, size_t row, uint64_t now),
                                   void *context, uint64_t now);

/** From here on each request may take @p ms; past it the discovery ends with TENDON_ERROR_TIMEOUT. */
void tendon_profile_limit(tendon_profile *profile, uint32_t ms, uint64_t now);

/** Ends it without a call of done. Also right when nothing runs. */
void tendon_profile_cancel(tendon_profile *profile, uint64_t now);

/** The row whose value handle is @p handle; count when there is none. */
size_t tendon_profile_row_of(const tendon_profile_found *found, size_t count, uint16_t handle);

#ifdef __cplusplus
}
#endif
#endif
