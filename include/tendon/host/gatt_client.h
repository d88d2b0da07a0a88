/* SPDX-License-Identifier: MIT */
/*
 * GATT client (Core Spec Vol 3 Part G 4): discovery, reads, writes,
 * notifications and indications, over one ATT bearer.
 *
 * Requests are queued in the caller's table and sent one at a time, in order. Every call that starts a request returns
 * its ID (> 0) or an error. Unless the call returned an error, its completion is called exactly once. Completions may
 * call any function of this header. Buffers and tables that a call borrows must stay valid until its completion.
 */
#ifndef TENDON_HOST_GATT_CLIENT_H
#define TENDON_HOST_GATT_CLIENT_H

#include "tendon/host/bearer.h"
#include "tendon/host/gatt_cache.h"

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

/** Result of a request, passed to its completion. Lent for the call. */
typedef struct tendon_gatt_result {
    uint32_t request;     /**< the ID that the call returned */
    tendon_status status; /**< TENDON_OK; TENDON_ATT_ERROR(..) from the peer; or another error */
    uint16_t handle;      /**< the attribute concerned; of an Error Response: its handle */
    uint16_t mtu;         /**< Exchange MTU: the negotiated ATT_MTU */
    const uint8_t *value; /**< reads: the value; lent for the call (the caller's buffer for long reads) */
    size_t length;
    size_t count; /**< discovery: items in the caller's table, also after an error or a cancel */
    uint64_t now; /**< monotonic ms of the input that completed it */
} tendon_gatt_result;

typedef void (*tendon_gatt_done)(void *context, const tendon_gatt_result *result);

/** Value of a notification or indication; lent for the call. */
typedef struct tendon_gatt_value {
    uint16_t handle;
    const uint8_t *value; /**< never NULL */
    size_t length;
    bool indication;      /**< true for an indication, which is already confirmed */
    uint64_t sequence;    /**< of the values of this subscription, from 1: a queue behind the callback shows its gaps */
    uint64_t received_at; /**< when its PDU arrived, monotonic nanoseconds */
} tendon_gatt_value;

typedef void (*tendon_gatt_on_value)(void *context, const tendon_gatt_value *value, uint64_t now);

/** One queued operation. Opaque: the caller gives an array of them. */
typedef struct tendon_gatt_request {
    uint32_t id; /**< 0: free */
    uint8_t kind, step, flags, restarts;
    bool limited; /**< by tendon_gatt_client_set_limit() */
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

typedef struct tendon_gatt_client_config {
    tendon_att_bearer *bearer; /**< init()ed; its client is set by tendon_gatt_client_init() */
    tendon_gatt_request *requests;
    size_t request_capacity; /**< at least 1 */
    tendon_gatt_subscription *subscriptions;
    size_t subscription_capacity;
    /** Of the connected device; borrowed until the next init(). Service Changed and Database Out Of Sync (0x12) drop
     * it. NULL: each connection discovers. */
    tendon_gatt_cache *cache;
    void *context; /**< for the two callbacks below; each may be NULL */
    /** Called when the peer indicates Service Changed (0x2A05) with a valid range. The handles in it are stale. */
    void (*on_service_changed)(void *context, uint16_t start, uint16_t end, uint64_t now);
    /** Called after the transaction timeout of 30 s, and if the write that enables Service Changed is rejected with
     * Database Out Of Sync. The owner of the connection must disconnect. */
    void (*on_bearer_closed)(void *context, uint64_t now);
    /**
     * Called when the peer has refused a request with Insufficient Authentication (0x05) or Insufficient Encryption
     * (0x0F). True: the security of the connection is being raised; tendon_gatt_client_secured() follows, never from
     * within this call, and no request is sent before it. False: the request completes with the error.
     *
     * At most once for a request; not for those that the client makes by itself (Database Hash, Service Changed).
     * NULL: a refused request completes with the error.
     */
    bool (*on_insecure)(void *context, uint8_t error, uint64_t now);
} tendon_gatt_client_config;

/**
 * A GATT client. It stores no PDU: if a send would block, it builds the PDU again from the request in writable(). So
 * the values and tables that a request borrows must stay valid until its completion.
 */
typedef struct tendon_gatt_client {
    uint8_t in_flight_opcode;
    uint8_t confirmations; /**< confirmations to send when writable */
    bool closed;           /**< after disconnected() or the transaction timeout */
    bool blocked;          /**< the next request waits for writable() */
    bool pumping, mtu_exchanged;
    bool securing;           /**< on_insecure() has begun: no request is sent before secured() */
    bool insecure;           /**< raising the security of this connection has failed */
    uint8_t refusal;         /**< ATT error of the request that was refused for security */
    uint16_t refused_handle; /**< the handle in that error */
    uint16_t service_changed_handle;
    uint16_t sent_mtu;  /**< the ATT_MTU for which the outstanding request was built */
    uint32_t in_flight; /**< ID of the outstanding request, 0: none */
    uint32_t refused;   /**< ID of the request that was refused for security last, 0: none */
    uint32_t next_id;
    tendon_att_bearer *bearer;
    tendon_gatt_client_config config;
    size_t queued;
    size_t subscription_end;  /**< no subscription at or beyond this index */
    size_t last_subscription; /**< the subscription of the last value, compared first */
    uint64_t transaction_deadline;
    uint64_t now; /**< of the latest input, for completions */
    void (*on_writable)(void *context, uint64_t now);
    void *writable_context;
} tendon_gatt_client;

/**
 * Prepares the client for a new connection. Must not be called from a callback of the same client.
 * @return TENDON_OK or TENDON_ERROR_INVALID_ARGUMENT (no bearer, no request table).
 */
tendon_status tendon_gatt_client_init(tendon_gatt_client *client, const tendon_gatt_client_config *config);

/**
 * Notifies the client that the connection ended. Every request completes with @p reason (< 0), in order. All
 * subscriptions are removed. Until the next init(), every call that starts a request returns TENDON_ERROR_DISCONNECTED.
 */
void tendon_gatt_client_disconnected(tendon_gatt_client *client, tendon_status reason, uint64_t now);

/**
 * Ends what on_insecure() began; does nothing if it began nothing, or if the connection has ended. TENDON_OK: the
 * refused request is sent again, once, and a second refusal completes it. A negative status: it completes with the
 * error of its refusal, and on_insecure() is not called again before the next init().
 *
 * Until then requests can be cancelled, and complete with TENDON_ERROR_TIMEOUT at their deadlines, but not at
 * the limit of the refused request (tendon_gatt_client_set_limit()).
 */
void tendon_gatt_client_secured(tendon_gatt_client *client, tendon_status status, uint64_t now);

/**
 * Sets a function that is called when PDUs can be sent again, after the queued requests were sent. A session uses it to
 * continue after tendon_gatt_write_command() returned TENDON_ERROR_WOULD_BLOCK. NULL: none, as after init().
 */
void tendon_gatt_client_set_on_writable(tendon_gatt_client *client, void (*on_writable)(void *context, uint64_t now),
                                        void *context);

/**
 * Cancels a request: its completion is called with TENDON_ERROR_CANCELLED before this function returns. If the request
 * is outstanding, the client waits for its response and ignores it; the next request is sent after that. If a long
 * write has prepared parts, the client sends Execute Write (cancel).
 * @return TENDON_OK or TENDON_ERROR_NOT_FOUND.
 */
tendon_status tendon_gatt_client_cancel(tendon_gatt_client *client, uint32_t request, uint64_t now);

/** Sets a deadline (monotonic ms). When it passes, the request is cancelled and completes with TENDON_ERROR_TIMEOUT.
 */
tendon_status tendon_gatt_client_set_deadline(tendon_gatt_client *client, uint32_t request, uint64_t deadline);
/** Sets a deadline @p ms from @p now, which a pairing ends: after on_insecure(), in which a user may take part, the
 * request has the 30 s of ATT. Until secured() this call has no effect. */
void tendon_gatt_client_set_limit(tendon_gatt_client *client, uint32_t request, uint32_t ms, uint64_t now);

/*
 * Protocol violations of the peer:
 * - a response of another procedure, a second response, an Error Response that names another request: ignored and
 * counted (unexpected_response). The outstanding request still waits: if it ended here, the client would match its late
 * response to the next request. The client cannot detect a second response if the next request has the same opcode,
 * because an ATT response does not identify its request.
 * - a response of the right procedure that breaks its rules: TENDON_GATT_ERROR_BAD_RESPONSE, or
 * TENDON_GATT_ERROR_NO_PROGRESS for handles that are out of order. The items before the wrong one stay in the table.
 * Every call returns the ID of the request, TENDON_ERROR_INVALID_ARGUMENT, TENDON_ERROR_DISCONNECTED,
 * TENDON_GATT_ERROR_QUEUE_FULL, or the error of a send within the call.
 */

/*
 * Server configuration, Vol 3 Part G 4.3. Once per connection: a second call returns TENDON_ERROR_WRONG_STATE. A
 * response with an MTU below 23 completes with TENDON_GATT_ERROR_BAD_RESPONSE, and the MTU stays 23.
 */
tendon_status tendon_gatt_exchange_mtu(tendon_gatt_client *client, tendon_gatt_done done, void *context, uint64_t now);

/*
 * Discovery, 4.4 to 4.7. If the table is full, a discovery completes with TENDON_ERROR_TABLE_FULL and the items in the
 * table. If a Service Changed indication affects the range of a discovery in progress, the client restarts the
 * discovery at most TENDON_GATT_RESTARTS_MAX times; then it completes with TENDON_ATT_ERROR(DATABASE_OUT_OF_SYNC).
 */
#define TENDON_GATT_RESTARTS_MAX 3
/** Maximum number of requests of one discovery; then it completes with TENDON_GATT_ERROR_NO_PROGRESS. */
#define TENDON_GATT_PAGES_MAX 1024
tendon_status tendon_gatt_discover_services(tendon_gatt_client *client, tendon_gatt_service *table, size_t capacity,
                                            tendon_gatt_done done, void *context, uint64_t now);
/** Discovers the services from handle @p first on, for example after a full table. */
tendon_status tendon_gatt_discover_services_from(tendon_gatt_client *client, uint16_t first, tendon_gatt_service *table,
                                                 size_t capacity, tendon_gatt_done done, void *context, uint64_t now);
/** Discovers the services with @p uuid. If no service has a 16-bit UUID, its 128-bit form is requested too. */
tendon_status tendon_gatt_discover_services_by_uuid(tendon_gatt_client *client, const tendon_uuid *uuid,
                                                    tendon_gatt_service *table, size_t capacity, tendon_gatt_done done,
                                                    void *context, uint64_t now);
/** Finds included services. After the list is complete, 128-bit UUIDs are read from the declarations (4.5.1). */
tendon_status tendon_gatt_find_included(tendon_gatt_client *client, uint16_t start, uint16_t end,
                                        tendon_gatt_service *table, size_t capacity, tendon_gatt_done done,
                                        void *context, uint64_t now);
tendon_status tendon_gatt_discover_characteristics(tendon_gatt_client *client, uint16_t start, uint16_t end,
                                                   tendon_gatt_characteristic *table, size_t capacity,
                                                   tendon_gatt_done done, void *context, uint64_t now);
/** Like tendon_gatt_discover_characteristics(), but keeps only the characteristics with @p uuid (GATT/CL/GAD/BV-05-C).
 */
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
 * Reads the value from @p offset on with Read and Read Blob requests into @p buffer. Completes with
 * TENDON_ERROR_BUFFER_TOO_SMALL if the value is longer than @p capacity, and with TENDON_GATT_ERROR_VALUE_TOO_LONG if
 * it continues after byte 512. Attribute Not Long after the first part ends the value. Invalid Offset after the first
 * part is an error (the value became shorter). After an error, result.value and length contain the bytes read before
 * it.
 */
tendon_status tendon_gatt_read_long(tendon_gatt_client *client, uint16_t handle, uint16_t offset, uint8_t *buffer,
                                    size_t capacity, tendon_gatt_done done, void *context, uint64_t now);
/** Reads the value of the first match; result.handle is its handle. */
tendon_status tendon_gatt_read_by_uuid(tendon_gatt_client *client, uint16_t start, uint16_t end,
                                       const tendon_uuid *uuid, tendon_gatt_done done, void *context, uint64_t now);
/** Reads the Database Hash (0x2B2A). A length other than 16 completes with TENDON_GATT_ERROR_BAD_RESPONSE. */
tendon_status tendon_gatt_read_database_hash(tendon_gatt_client *client, tendon_gatt_done done, void *context,
                                             uint64_t now);
/* Writes, 4.9. Values are borrowed until the completion. TENDON_ERROR_BUFFER_TOO_SMALL if a value does not fit the MTU.
 */
tendon_status tendon_gatt_write(tendon_gatt_client *client, uint16_t handle, const uint8_t *value, size_t length,
                                tendon_gatt_done done, void *context, uint64_t now);
/** Sends a Write Command within this call, before queued requests. @return TENDON_OK, TENDON_ERROR_WOULD_BLOCK,
 * TENDON_ERROR_BUFFER_TOO_SMALL (longer than MTU-3). */
tendon_status tendon_gatt_write_command(tendon_gatt_client *client, uint16_t handle, const uint8_t *value,
                                        size_t length);
/** Writes from @p offset on with Prepare Write and Execute Write. The values in the responses are not compared (4.9.4).
 */
tendon_status tendon_gatt_write_long(tendon_gatt_client *client, uint16_t handle, uint16_t offset, const uint8_t *value,
                                     size_t length, tendon_gatt_done done, void *context, uint64_t now);
/** Writes a value of any length up to 512 bytes: a Write Request if it fits the MTU, otherwise as a long write from 0.
 */
tendon_status tendon_gatt_write_value(tendon_gatt_client *client, uint16_t handle, const uint8_t *value, size_t length,
                                      tendon_gatt_done done, void *context, uint64_t now);
/**
 * Installs @p on_value for @p value_handle (and replaces an older one), then writes 1 (notify) or 2 (indicate) to the
 * CCCD. The handler is installed before the write is sent; a rejected or cancelled write removes it.
 * @return the ID of the request, TENDON_ERROR_TABLE_FULL if no subscription is free, or an error as above.
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
 * Removes the handler within this call and writes 0 to the CCCD. TENDON_ERROR_NOT_FOUND if no subscription exists.
 * TENDON_ERROR_WRONG_STATE if the discovery of its CCCD is in progress; cancel that request instead.
 */
tendon_status tendon_gatt_unsubscribe(tendon_gatt_client *client, uint16_t value_handle, tendon_gatt_done done,
                                      void *context, uint64_t now);

/**
 * Sets the value handle of Service Changed (0: none), so that its indications are checked and reported. An indication
 * with a wrong range is confirmed, counted (malformed) and not reported. A subscription of the handle receives the
 * value too.
 */
void tendon_gatt_client_set_service_changed(tendon_gatt_client *client, uint16_t value_handle);

/**
 * Sets the value handle of Service Changed, and enables its indications when no other request is queued, so that
 * nothing waits for it. A rejected write is ignored, except that Database Out Of Sync closes the bearer: the peer sends
 * no values until the next request (2.5.2.1), and the handles may be others. If the peer reports a change of that
 * handle before the write is sent, by Service Changed or Database Out Of Sync, it is not sent: call it again after the
 * next discovery. A write that waits already is not queued twice. @return the ID of the request, or an error as above.
 */
tendon_status tendon_gatt_enable_service_changed(tendon_gatt_client *client, uint16_t value_handle,
                                                 uint16_t cccd_handle, uint64_t now);

/**
 * Sets the bit Robust Caching of Client Supported Features (7.2), when no other request is queued: from then on the
 * peer answers Database Out Of Sync to a request that could use a handle of before a change. Once for each connection:
 * the peer keeps the bit only for a bonded client, and a second write of it changes nothing. A rejected write, and one
 * whose handle changes, is treated as that of tendon_gatt_enable_service_changed(). @return the ID of the request, or
 * an error as above.
 */
tendon_status tendon_gatt_enable_robust_caching(tendon_gatt_client *client, uint16_t value_handle, uint64_t now);

/*
 * Called by the bearer. receive() takes responses, notifications and indications, and counts those that it rejects.
 */
tendon_status tendon_gatt_client_receive(tendon_gatt_client *client, const uint8_t *pdu, size_t length, uint64_t now);
void tendon_gatt_client_writable(tendon_gatt_client *client, uint64_t now);
void tendon_gatt_client_tick(tendon_gatt_client *client, uint64_t now);
uint64_t tendon_gatt_client_deadline(const tendon_gatt_client *client);

#ifdef __cplusplus
}
#endif
#endif
