/* SPDX-License-Identifier: MIT */
/*
 * Activ5 session: carries the requests of one device (activ5_device.h) over GATT: discovery, then one operation at a
 * time, in order. Driven through tendon_activ5_session_inputs.
 *
 * One device: init() the device with a NULL request handler, init() the session with it, attach
 * tendon_activ5_session_inputs to the connection, and tendon_activ5_device_connect(), any number of times. With a
 * manager: at its CONNECT request, init() a session for that device and start connecting. When the connection, or the
 * attempt, has ended, the device gets its previous request handler back before it reports the end. So one session
 * serves one connection; after that it can be initialized again.
 *
 * Operations that are queued when one of them times out fail with it: the device has left a request without a response,
 * and ATT sends no other until then. Operations that are queued when the connection ends fail with its reason, before
 * DISCONNECTED.
 */
#ifndef TENDON_DEVICES_ACTIV5_SESSION_H
#define TENDON_DEVICES_ACTIV5_SESSION_H

#include "tendon/devices/activ5_device.h"
#include "tendon/devices/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Timeouts of the whole discovery, and of each operation after it. */
#define TENDON_ACTIV5_DISCOVERY_TIMEOUT_MS 30000u
#define TENDON_ACTIV5_OPERATION_TIMEOUT_MS 5000u
/** Maximum number of pending operations; further calls return TENDON_GATT_ERROR_QUEUE_FULL. */
#define TENDON_ACTIV5_QUEUE_SIZE 16
/** Maximum length of a value that is read. */
#define TENDON_ACTIV5_VALUE_MAX 512

typedef struct tendon_activ5_operation {
    uint8_t kind, characteristic, length;
    uint8_t value[TENDON_ACTIV5_SEND_MAX + 2];
} tendon_activ5_operation;

/** Rows of the discovery: each characteristic, and service F0F0. */
#define TENDON_ACTIV5_ROWS TENDON_ACTIV5_CHARACTERISTIC_COUNT

/** Caller's memory; all private. */
typedef struct tendon_activ5_session {
    tendon_engine engine;
    uint8_t first, waiting;       /**< of the queue */
    tendon_activ5_device *device; /**< NULL: released */
    tendon_session_link link;
    tendon_activ5_on_request saved_request;
    void *saved_context;
    uint64_t illegal_inputs;                                 /**< of the connection, at a wrong time */
    tendon_profile_found found[TENDON_ACTIV5_ROWS];          /**< by tendon_activ5_characteristic; 0 is service F0F0 */
    tendon_activ5_operation queue[TENDON_ACTIV5_QUEUE_SIZE]; /**< ring */
    uint8_t value[TENDON_ACTIV5_VALUE_MAX];                  /**< of a long read */
} tendon_activ5_session;

/** The inputs of a session, for tendon_connection_attach() and for tests. */
extern const tendon_session_inputs tendon_activ5_session_inputs;

/**
 * Attaches the session to the device and handles its requests. CONNECT and DISCONNECT become calls of @p link (copied).
 * @return TENDON_OK or TENDON_ERROR_INVALID_ARGUMENT (no connect or disconnect, a connected device).
 */
tendon_status tendon_activ5_session_init(tendon_activ5_session *session, const tendon_session_link *link,
                                         tendon_activ5_device *device);

#ifdef __cplusplus
}
#endif
#endif
