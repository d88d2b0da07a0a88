/* SPDX-License-Identifier: MIT */
/*
 * One GATT operation at a time: what all sessions have in common between a
 * starting call of the client and its completion. A link in memory may answer
 * before the call returns, a client may refuse it, a callback that receives a result may disconnect: a session sees one
 * completion for each operation in all these cases, and none for what it has given up.
 */
#ifndef TENDON_DEVICES_OPERATION_H
#define TENDON_DEVICES_OPERATION_H

#include "tendon/devices/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** In a kind: the operation has the time that the client gives it, whatever the limit says. */
enum { TENDON_OPERATION_UNLIMITED = 0x80 };

/** Of all operations of a family's sessions: one constant. */
typedef struct tendon_operation_rules {
    tendon_gatt_done done; /**< the session's; calls tendon_operation_ended() first */
    uint32_t limit;        /**< ms that an operation may take; 0: no limit but the client's */
    uint32_t capacity;     /**< of the buffer for long reads */
} tendon_operation_rules;

typedef struct tendon_operation {
    uint8_t kind;     /**< what is on the air, by the session's own numbers; 0: nothing */
    bool starting;    /**< within the starting call */
    uint32_t request; /**< id, once the starting call has returned */
    const tendon_operation_rules *rules;
    tendon_gatt_client *client; /**< NULL: no link */
    void *context;              /**< of done, of subscriptions and of the discovery */
    uint8_t *buffer;            /**< where long reads go */
    uint64_t now;               /**< of the session's latest input */
} tendon_operation;

typedef enum tendon_operation_verb {
    TENDON_OPERATION_MTU,
    TENDON_OPERATION_READ,
    TENDON_OPERATION_READ_LONG, /**< into the buffer */
    TENDON_OPERATION_WRITE,
    TENDON_OPERATION_WRITE_LONG,
    TENDON_OPERATION_UNSUBSCRIBE
} tendon_operation_verb;

/**
 * Starts one, for which there must be a client and nothing on the air; done() follows, also when the client refuses it.
 * @param bytes of writes, lent until done(); else NULL
 */
void tendon_operation_start(tendon_operation *operation, uint8_t kind, tendon_operation_verb verb, uint16_t handle,
                            const uint8_t *bytes, size_t length);
/** Likewise; the context of @p on_value is that of done(). */
void tendon_operation_subscribe(tendon_operation *operation, uint8_t kind, const tendon_profile_found *found,
                                bool indicate, tendon_gatt_on_value on_value);

/**
 * Starts a discovery, which ends with its own @p done, also when it is refused; that begins with
 * tendon_operation_reset(). @p kind 0: other operations may go on meanwhile.
 */
void tendon_operation_discover(tendon_operation *operation, uint8_t kind, tendon_profile *profile,
                               tendon_profile_row row_of, tendon_profile_found *found, size_t count,
                               void (*done)(void *context, tendon_status status, size_t row, uint64_t now));

/**
 * The first thing that done() calls: takes the result's time and frees the air.
 * @return the kind of what has ended; 0: the result is of nothing that is on the air.
 */
uint8_t tendon_operation_ended(tendon_operation *operation, const tendon_gatt_result *result);

/** Forgets what is on the air. */
void tendon_operation_reset(tendon_operation *operation);

#ifdef __cplusplus
}
#endif
#endif
