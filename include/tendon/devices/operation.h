/* SPDX-License-Identifier: MIT */
/*
 * One GATT operation at a time, from its start to its completion; shared by all sessions. A client may reject an
 * operation, and a callback that receives a result may disconnect. In all cases a session receives one completion per
 * operation, and none for an operation that it cancelled.
 *
 * If the GATT client has a cache that was dropped while connected (Service Changed, Database Out Of Sync), the next
 * operation discovers the characteristics of the session again before it is sent. An operation that fails with Database
 * Out Of Sync (0x12) is sent a second time after that. The session's table is replaced when the discovery is complete.
 * If the discovery fails, so does the operation; the table stays, and the next operation discovers again. If a handle
 * has moved that the session has subscribed to, the operation completes with Database Out Of Sync and the connection
 * ends with that reason: what was subscribed would send no values.
 */
#ifndef TENDON_DEVICES_OPERATION_H
#define TENDON_DEVICES_OPERATION_H

#include "tendon/devices/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Flag of a kind: the operation has the timeout of the client, not the limit of the rules. */
enum { TENDON_OPERATION_UNLIMITED = 0x80 };

/** Rules for all operations of a family's sessions, and where their results enter it; one constant per family. */
typedef struct tendon_operation_rules {
    tendon_gatt_done done;      /**< calls tendon_operation_ended() first */
    tendon_gatt_on_value value; /**< of all subscriptions; NULL: there are none */
    /** End of the discovery: calls tendon_operation_reset() first. NULL: there is none. */
    void (*discovered)(void *context, tendon_status status, size_t row, uint64_t now);
    uint32_t limit;    /**< ms that an operation may take, unless its refusal begins a pairing; 0: no limit but the
                          client's */
    uint32_t capacity; /**< of the buffer for long reads */
} tendon_operation_rules;

typedef enum tendon_operation_verb {
    TENDON_OPERATION_MTU,
    TENDON_OPERATION_READ,
    TENDON_OPERATION_READ_LONG,  /**< into the buffer */
    TENDON_OPERATION_WRITE,      /**< in several requests if the MTU is too small for one */
    TENDON_OPERATION_WRITE_LONG, /**< in several requests in any case */
    TENDON_OPERATION_UNSUBSCRIBE,
    TENDON_OPERATION_SUBSCRIBE /**< private: tendon_operation_subscribe() */
} tendon_operation_verb;

/** What the outstanding operation is, for a second attempt. Private. */
typedef struct tendon_operation_call {
    uint8_t verb; /**< tendon_operation_verb */
    bool indicate, rediscovering;
    bool repeated; /**< its first attempt failed with Database Out Of Sync */
    uint8_t row;   /**< of the discovery, while that is repeated */
    uint16_t handle;
    const uint8_t *bytes;
    size_t length;
    const tendon_profile_found *found;
} tendon_operation_call;

typedef struct tendon_operation {
    uint8_t kind;     /**< kind of the outstanding operation, a number of the session; 0: none */
    uint32_t request; /**< its ID; 0 until the client has it */
    const tendon_operation_rules *rules;
    tendon_gatt_client *client; /**< NULL: not connected */
    void *context;              /**< of the functions of the rules */
    uint8_t *buffer;            /**< destination of long reads */
    uint64_t now;               /**< of the session's latest input */
    tendon_operation_call call; /**< sessions read only call.repeated */
    /* The latest discovery of the session, and its repetition. */
    tendon_profile_row row_of;
    tendon_profile_found *found;
    size_t count;
    tendon_profile again;
} tendon_operation;

/**
 * Starts an operation. There must be a client and no outstanding operation. done() follows, also if the client rejects
 * the operation.
 * @param bytes of writes, lent until done(); else NULL
 */
void tendon_operation_start(tendon_operation *operation, uint8_t kind, tendon_operation_verb verb, uint16_t handle,
                            const uint8_t *bytes, size_t length);
/** Subscribes in the same way. */
void tendon_operation_subscribe(tendon_operation *operation, uint8_t kind, const tendon_profile_found *found,
                                bool indicate);

/** Starts a discovery: discovered() follows, also if it is rejected. @p kind 0: other operations may run meanwhile. */
void tendon_operation_discover(tendon_operation *operation, uint8_t kind, tendon_profile *profile,
                               tendon_profile_row row_of, tendon_profile_found *found, size_t count);

/**
 * Ends the outstanding operation and takes the time of the result. done() must call it first.
 * @return the kind of the operation; 0 if the result does not belong to the outstanding operation, or if the operation
 *   is repeated (call.repeated is set then).
 */
uint8_t tendon_operation_ended(tendon_operation *operation, const tendon_gatt_result *result);

/** Returns when the PDU arrived that is being taken, monotonic nanoseconds; 0: none is. For the events of a session. */
uint64_t tendon_operation_received_at(const tendon_operation *operation);

/** Forgets the outstanding operation. */
void tendon_operation_reset(tendon_operation *operation);

#ifdef __cplusplus
}
#endif
#endif
