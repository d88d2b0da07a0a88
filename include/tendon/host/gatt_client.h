/* SPDX-License-Identifier: MIT */
/*
 * GATT client (Core Spec Vol 3 Part G 4): discovery, reads, writes,
 * notifications and indications, over one ATT bearer.
 *
 * Requests wait in the caller's table and go out one at a time, in order.
 * Every call that starts one returns its id (> 0) or an error; its completion
 * is called exactly once unless the call returned an error. Completions may
 * call any function of this header. Buffers and tables that a call borrows
 * must stay until its completion.
 */
#ifndef TENDON_HOST_GATT_CLIENT_H
#define TENDON_HOST_GATT_CLIENT_H

#include "tendon/host/bearer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tendon_gatt_service {
    tendon_uuid uuid;
    uint16_t start_handle; /**< of the declaration */
    uint16_t end_handle;
    uint16_t declaration; /**< included services: handle of the include declaration; else 0 */
} tendon_gatt_service;

/** Characteristic properties, Core Spec Vol 3 Part G 3.3.1.1. */
enum {
    TENDON_GATT_BROADCAST = 0x01,
    TENDON_GATT_READ = 0x02,
    TENDON_GATT_WRITE_WITHOUT_RESPONSE = 0x04,
    TENDON_GATT_WRITE = 0x08,
    TENDON_GATT_NOTIFY = 0x10,
    TENDON_GATT_INDICATE = 0x20,
    TENDON_GATT_SIGNED_WRITE = 0x40,
    TENDON_GATT_EXTENDED = 0x80
};

typedef struct tendon_gatt_characteristic {
    tendon_uuid uuid;
    uint16_t declaration;
    uint16_t value_handle;
    uint16_t end_handle; /**< last handle that can hold one of its descriptors */
    uint8_t properties;
} tendon_gatt_characteristic;

typedef struct tendon_gatt_descriptor {
    tendon_uuid uuid;
    uint16_t handle;
} tendon_gatt_descriptor;

/** What a completion gets. Lent for the call. */
typedef struct tendon_gatt_result {
    uint32_t request;     /**< the id that the starting call returned */
    tendon_status status; /**< TENDON_OK; TENDON_ATT_ERROR(..) from the peer; or our own */
    uint16_t handle;      /**< the attribute concerned; of an Error Response: its handle */
    uint16_t mtu;         /**< Exchange MTU: the MTU now in force */
    const uint8_t *value; /**< reads: the value; lent for the call (the caller's buffer for long reads) */
    size_t length;
    size_t count; /**< discovery: items in the caller's table, also after an error or a cancel */
    uint64_t now; /**< monotonic ms of the input that completed it */
} tendon_gatt_result;

typedef void (*tendon_gatt_done)(void *context, const tendon_gatt_result *result);

/** A value that the peer sent by itself; lent for the call. */
typedef struct tendon_gatt_value {
    uint16_t handle;
    const uint8_t *value; /**< never NULL */
    size_t length;
    bool indication; /**< confirmed by us already */
} tendon_gatt_value;

typedef void (*tendon_gatt_on_value)(void *context, const tendon_gatt_value *value, uint64_t now);

/** One queued operation. Opaque: the caller gives an array of them. */
typedef struct tendon_gatt_request {
    uint32_t id; /**< 0: free */
    uint8_t kind, step, flags, restarts;
    uint16_t handle, end_handle, cursor, progress;
    uint16_t capacity, count;
    uint16_t length, offset, pages;
    tendon_uuid uuid;
    union {
        void *table;
        const void *data;
    } borrowed;
    tendon_gatt_done done;
    void *context;
    tendon_status status;
    uint64_t deadline;
} tendon_gatt_request;

/** One subscription. Opaque: the caller gives an array of them. */
typedef struct tendon_gatt_subscription {
    uint16_t value_handle, cccd_handle;
    uint32_t request; /**< the request that installed it */
    tendon_gatt_on_value on_value;
    void *context;
    uint64_t received;
} tendon_gatt_subscription;

/** Part of a reliable write. */
typedef struct tendon_gatt_write_part {
    uint16_t handle;
    uint16_t offset;
    const uint8_t *value;
    size_t length;
} tendon_gatt_write_part;

typedef struct tendon_gatt_client_config {
    tendon_att_bearer *bearer; /**< init()ed; its client is set by tendon_gatt_client_init() */
    tendon_gatt_request *requests;
    size_t request_capacity; /**< at least 1 */
    tendon_gatt_subscription *subscriptions;
    size_t subscription_capacity;
    void *context; /**< for the two callbacks below; each may be NULL */
    /** Service Changed (0x2A05) for a valid range. The handles in it are stale. */
    void (*on_service_changed)(void *context, uint16_t start, uint16_t end, uint64_t now);
    /** The 30 s transaction time-out struck: the link must be closed. */
    void (*on_bearer_closed)(void *context, uint64_t now);
} tendon_gatt_client_config;

/**
 * Holds no PDU: what blocks is built again from its request when the link is writable, so values and tables that a
 * request borrows must stay until its completion.
 */
typedef struct tendon_gatt_client {
    uint8_t in_flight_opcode;
    uint8_t confirmations; /**< owed to the peer while the link blocks */
    bool closed;           /**< after disconnected() or the transaction time-out */
    bool blocked;          /**< the next request waits for writable() */
    bool pumping, mtu_exchanged;
    uint16_t service_changed_handle;
    uint16_t sent_mtu;  /**< the ATT_MTU when the request on the air was built */
    uint32_t in_flight; /**< id of the request on the air, 0: none */
    uint32_t next_id;
    tendon_att_bearer *bearer;
    tendon_gatt_client_config config;
    size_t queued;
    size_t subscription_end;  /**< no subscription at or beyond this index */
    size_t last_subscription; /**< where the last value went: tried first */
    uint64_t transaction_deadline;
    uint64_t now; /**< of the latest input, for completions */
} tendon_gatt_client;

/**
 * Prepares the client for a new link. Not from a callback of the same client.
 * @return TENDON_OK or TENDON_ERROR_INVALID_ARGUMENT (no bearer, no request table).
 */
tendon_status tendon_gatt_client_init(tendon_gatt_client *client, const tendon_gatt_client_config *config);

/**
 * The link is gone: every request completes with @p reason (< 0), in order; subscriptions are forgotten.
 * Until the next init() every call that starts a request returns TENDON_ERROR_DISCONNECTED.
 */
void tendon_gatt_client_disconnected(tendon_gatt_client *client, tendon_status reason, uint64_t now);

/**
 * Takes the request back: its completion is called with TENDON_ERROR_CANCELLED before this
 * returns. On the air already, its response is awaited and ignored; the next one waits for it.
 * A long or reliable write that has prepared parts is ended with Execute Write (cancel).
 * @return TENDON_OK or TENDON_ERROR_NOT_FOUND.
 */
tendon_status tendon_gatt_client_cancel(tendon_gatt_client *client, uint32_t request, uint64_t now);

/** Limits the request to @p deadline (monotonic ms); past it, it completes with TENDON_ERROR_TIMEOUT as if cancelled.
 */
tendon_status tendon_gatt_client_set_deadline(tendon_gatt_client *client, uint32_t request, uint64_t deadline);

/*
 * What the peer can do wrong, and what then happens:
 * - a response of another procedure, a second response, an Error Response that names another request: ignored and
 *   counted (unexpected_response); the request on the air goes on waiting. Ending it would pair its late answer with
 *   the next request.
 *   What cannot be told, since ATT responses name no request: a second response when the next request on the air
 *   is of the same kind.
 * - a response of the right procedure that breaks its rules: TENDON_GATT_ERROR_BAD_RESPONSE, or NO_PROGRESS for handles
 *   that do not advance; the items before the bad one stay in the table.
 * Every call returns the request's id, TENDON_ERROR_INVALID_ARGUMENT, TENDON_ERROR_DISCONNECTED,
 * TENDON_GATT_ERROR_QUEUE_FULL, or the send error when the link failed at once.
 */

/*
 * Server configuration, Vol 3 Part G 4.3. Once per link: a second call is TENDON_ERROR_WRONG_STATE. An answer below 23
 * is TENDON_GATT_ERROR_BAD_RESPONSE and leaves the MTU at 23.
 */
tendon_status tendon_gatt_exchange_mtu(tendon_gatt_client *client, tendon_gatt_done done, void *context, uint64_t now);

/*
 * Discovery, 4.4 to 4.7. A full table completes with TENDON_ERROR_TABLE_FULL and the items before. A Service Changed
 * that hits the range of a discovery under way starts it again, at most TENDON_GATT_RESTARTS_MAX times; then it
 * completes with TENDON_ATT_ERROR(DATABASE_OUT_OF_SYNC).
 */
#define TENDON_GATT_RESTARTS_MAX 3
/** Most pages that one discovery asks for; then TENDON_GATT_ERROR_NO_PROGRESS. */
#define TENDON_GATT_PAGES_MAX 1024
tendon_status tendon_gatt_discover_services(tendon_gatt_client *client, tendon_gatt_service *table, size_t capacity,
                                            tendon_gatt_done done, void *context, uint64_t now);
/** Those at or beyond handle @p first: the page after a full table. */
tendon_status tendon_gatt_discover_services_from(tendon_gatt_client *client, uint16_t first, tendon_gatt_service *table,
                                                 size_t capacity, tendon_gatt_done done, void *context, uint64_t now);
/** A 16-bit UUID is asked for in its 128-bit form too, when no service has the short one. */
tendon_status tendon_gatt_discover_services_by_uuid(tendon_gatt_client *client, const tendon_uuid *uuid,
                                                    tendon_gatt_service *table, size_t capacity, tendon_gatt_done done,
                                                    void *context, uint64_t now);
/** A 128-bit UUID is read from the included service's declaration (4.5.1) after the list is complete. */
tendon_status tendon_gatt_find_included(tendon_gatt_client *client, uint16_t start, uint16_t end,
                                        tendon_gatt_service *table, size_t capacity, tendon_gatt_done done,
                                        void *context, uint64_t now);
tendon_status tendon_gatt_discover_characteristics(tendon_gatt_client *client, uint16_t start, uint16_t end,
                                                   tendon_gatt_characteristic *table, size_t capacity,
                                                   tendon_gatt_done done, void *context, uint64_t now);
/** As above, and keeps only those of @p uuid (GATT/CL/GAD/BV-05-C). */
tendon_status tendon_gatt_discover_characteristics_by_uuid(tendon_gatt_client *client, uint16_t start, uint16_t end,
                                                           const tendon_uuid *uuid, tendon_gatt_characteristic *table,
                                                           size_t capacity, tendon_gatt_done done, void *context,
                                                           uint64_t now);
tendon_status tendon_gatt_discover_descriptors(tendon_gatt_client *client, uint16_t start, uint16_t end,
                                               tendon_gatt_descriptor *table, size_t capacity, tendon_gatt_done done,
                                               void *context, uint64_t now);

/* Reads, 4.8. */
tendon_status tendon_gatt_read(tendon_gatt_client *client, uint16_t handle, tendon_gatt_done done, void *context,
                               uint64_t now);
/**
 * Value from @p offset on, by Read and Read Blob, into @p buffer. Longer than @p capacity:
 * TENDON_ERROR_BUFFER_TOO_SMALL; going on beyond byte 512: VALUE_TOO_LONG. Attribute Not Long after the first part is
 * the end of the value; Invalid Offset in mid-read is an error (the value shrank). With an error, result.value and
 * length are what was read before.
 */
tendon_status tendon_gatt_read_long(tendon_gatt_client *client, uint16_t handle, uint16_t offset, uint8_t *buffer,
                                    size_t capacity, tendon_gatt_done done, void *context, uint64_t now);
/** Value of the first match; result.handle is its handle. */
tendon_status tendon_gatt_read_by_uuid(tendon_gatt_client *client, uint16_t start, uint16_t end,
                                       const tendon_uuid *uuid, tendon_gatt_done done, void *context, uint64_t now);
/** Database Hash (0x2B2A) of the whole range; any other length than 16 is TENDON_GATT_ERROR_BAD_RESPONSE. */
tendon_status tendon_gatt_read_database_hash(tendon_gatt_client *client, tendon_gatt_done done, void *context,
                                             uint64_t now);
/** Concatenated values, undivided. @p handles: at least 2, borrowed. */
tendon_status tendon_gatt_read_multiple(tendon_gatt_client *client, const uint16_t *handles, size_t count,
                                        tendon_gatt_done done, void *context, uint64_t now);
/** Length-value list: walk it with tendon_att_items. */
tendon_status tendon_gatt_read_multiple_variable(tendon_gatt_client *client, const uint16_t *handles, size_t count,
                                                 tendon_gatt_done done, void *context, uint64_t now);

/* Writes, 4.9. Values are borrowed until the completion. A value that does not fit the MTU:
 * TENDON_ERROR_BUFFER_TOO_SMALL. */
tendon_status tendon_gatt_write(tendon_gatt_client *client, uint16_t handle, const uint8_t *value, size_t length,
                                tendon_gatt_done done, void *context, uint64_t now);
/** Write command: sent at once, ahead of queued requests. @return TENDON_OK, TENDON_ERROR_WOULD_BLOCK,
 * TENDON_ERROR_BUFFER_TOO_SMALL (longer than MTU-3). */
tendon_status tendon_gatt_write_command(tendon_gatt_client *client, uint16_t handle, const uint8_t *value,
                                        size_t length);
/** Signed Write Command; @p signature is 12 bytes, made by the caller. */
tendon_status tendon_gatt_signed_write_command(tendon_gatt_client *client, uint16_t handle, const uint8_t *value,
                                               size_t length, const uint8_t signature[12]);
/** Prepare Write and Execute Write from @p offset; echoes are not compared (4.9.4). */
tendon_status tendon_gatt_write_long(tendon_gatt_client *client, uint16_t handle, uint16_t offset, const uint8_t *value,
                                     size_t length, tendon_gatt_done done, void *context, uint64_t now);
/** Writes a value of any length up to 512 bytes: a Write Request if it fits the MTU, otherwise as a long write from 0.
 */
tendon_status tendon_gatt_write_value(tendon_gatt_client *client, uint16_t handle, const uint8_t *value, size_t length,
                                      tendon_gatt_done done, void *context, uint64_t now);
/** All parts or none; echoes are compared (4.9.5), a difference cancels and completes with GATT_ERROR_VERIFY.
 * @p parts and their values are borrowed until the completion. */
tendon_status tendon_gatt_write_reliable(tendon_gatt_client *client, const tendon_gatt_write_part *parts, size_t count,
                                         tendon_gatt_done done, void *context, uint64_t now);

/**
 * Installs @p on_value for @p value_handle (in place of an older one), then writes 1 (notify) or 2 (indicate) to the
 * CCCD. The handler is in place before the write leaves; a refused or cancelled write removes it.
 * @return the request's id, TENDON_ERROR_TABLE_FULL when there is no free subscription, or as above.
 */
tendon_status tendon_gatt_subscribe(tendon_gatt_client *client, uint16_t value_handle, uint16_t cccd_handle,
                                    bool indicate, tendon_gatt_on_value on_value, void *value_context,
                                    tendon_gatt_done done, void *context, uint64_t now);
/**
 * As tendon_gatt_subscribe(), for a characteristic whose CCCD is not known: looks for the descriptor 0x2902 between the
 * characteristic's value and its end_handle first, in the same request. Completes with TENDON_ERROR_NOT_FOUND if the
 * characteristic has none.
 * @param characteristic only read in this call; value_handle and end_handle are used.
 */
tendon_status tendon_gatt_subscribe_characteristic(tendon_gatt_client *client,
                                                   const tendon_gatt_characteristic *characteristic, bool indicate,
                                                   tendon_gatt_on_value on_value, void *value_context,
                                                   tendon_gatt_done done, void *context, uint64_t now);
/**
 * Removes the handler at once and writes 0 to the CCCD. TENDON_ERROR_NOT_FOUND: there is no subscription.
 * TENDON_ERROR_WRONG_STATE: its CCCD is still being looked for; cancel that request instead.
 */
tendon_status tendon_gatt_unsubscribe(tendon_gatt_client *client, uint16_t value_handle, tendon_gatt_done done,
                                      void *context, uint64_t now);

/**
 * Tells the client where Service Changed is, so that its indications are checked and reported. 0: nowhere.
 * A wrong range is confirmed, counted (malformed) and not reported. A subscription of the handle gets the value too.
 */
void tendon_gatt_client_set_service_changed(tendon_gatt_client *client, uint16_t value_handle);

/*
 * Called by the bearer. receive() gets responses, notifications and indications, and counts what it rejects.
 */
tendon_status tendon_gatt_client_receive(tendon_gatt_client *client, const uint8_t *pdu, size_t length, uint64_t now);
void tendon_gatt_client_writable(tendon_gatt_client *client, uint64_t now);
void tendon_gatt_client_tick(tendon_gatt_client *client, uint64_t now);
uint64_t tendon_gatt_client_deadline(const tendon_gatt_client *client);

#ifdef __cplusplus
}
#endif
#endif
