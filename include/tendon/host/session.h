/* SPDX-License-Identifier: MIT */
/*
 * The seam between a device session (room devices) and whoever holds its link
 * (room linux, a test, a replay). Neither side knows the other's types.
 */
#ifndef TENDON_HOST_SESSION_H
#define TENDON_HOST_SESSION_H

#include "tendon/host/gatt_client.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a session asks for. Answers come through tendon_session_inputs, never from within these calls. */
typedef struct tendon_session_link {
    void *context;
    /**
     * Start connecting; answered by connected() or disconnected(reason), once. Asked again meanwhile, the attempt goes
     * on, or it is refused with TENDON_ERROR_WRONG_STATE.
     */
    tendon_status (*connect)(void *context);
    /** End the link, or the attempt; answered by disconnected(TENDON_ERROR_CANCELLED). */
    void (*disconnect)(void *context);
    /** Start pairing; answered by paired(). TENDON_RADIO_ERROR_NO_PAIRING_SERVICE: there is none. May be NULL. */
    tendon_status (*pair)(void *context);
    /** True when a bond with this peer is stored. NULL means no. */
    bool (*bonded)(void *context);
    /**
     * Removes the bond and its keys; the link, if there is one, may end. TENDON_ERROR_NOT_FOUND: there was none.
     * May be NULL.
     */
    tendon_status (*forget)(void *context);
} tendon_session_link;

/** What a session is told. Each family exports one constant of this type; @p session is its context. */
typedef struct tendon_session_inputs {
    /** The link is up. The client is valid until disconnected(). */
    void (*connected)(void *session, tendon_gatt_client *client, uint64_t now);
    /**
     * The connection, or the attempt, ended: TENDON_ERROR_CANCELLED on our own request, else the reason.
     *
     * Call tendon_gatt_client_disconnected() first: it completes the outstanding requests, and their completions may
     * use the session. In this call the session releases the client. tendon_connection and the radio in memory keep
     * this order; so must other code that drives a session.
     */
    void (*disconnected)(void *session, tendon_status reason, uint64_t now);
    void (*paired)(void *session, tendon_status status, uint64_t now);
    void (*tick)(void *session, uint64_t now);
    /** When tick() is due next; UINT64_MAX: never. */
    uint64_t (*deadline)(const void *session);
} tendon_session_inputs;

/**
 * Pairing seam: that of a radio (linux/radio.h), or a script in tests and in simulation.
 * The result arrives through @p done, never from within start(); TENDON_OK: the link is encrypted and the bond stored.
 */
typedef struct tendon_pairing_service {
    void *context;
    tendon_status (*start)(void *context, const tendon_address *peer,
                           void (*done)(void *done_context, tendon_status status, uint64_t now), void *done_context,
                           uint64_t now);
    void (*cancel)(void *context, const tendon_address *peer);
    bool (*bonded)(void *context, const tendon_address *peer);
    /** Removes the bond, as tendon_session_link.forget does. May be NULL. */
    tendon_status (*forget)(void *context, const tendon_address *peer);
} tendon_pairing_service;

#ifdef __cplusplus
}
#endif
#endif
