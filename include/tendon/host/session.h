/* SPDX-License-Identifier: MIT */
/*
 * The interface between a device session (devices component) and the owner of its connection (the linux component, a
 * test, or a replay). Neither side depends on the types of the other.
 */
#ifndef TENDON_HOST_SESSION_H
#define TENDON_HOST_SESSION_H

#include "tendon/host/gatt_client.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Requests of a session to the owner of its connection. The results arrive through tendon_session_inputs, never from
 * within these calls. */
typedef struct tendon_session_link {
    void *context;
    /**
     * Starts connecting. connected() or disconnected(reason) is called once with the result. A second call during the
     * attempt has no effect, or returns TENDON_ERROR_WRONG_STATE.
     */
    tendon_status (*connect)(void *context);
    /** Disconnects, or ends the attempt; disconnected(TENDON_ERROR_CANCELLED) follows. */
    void (*disconnect)(void *context);
    /** Starts pairing; paired() follows. TENDON_RADIO_ERROR_NO_PAIRING_SERVICE if no pairing service is set. May be
     * NULL. */
    tendon_status (*pair)(void *context);
    /** Returns true if a bond with this peer is stored. NULL means no. */
    bool (*bonded)(void *context);
    /**
     * Removes the bond and its keys. This can disconnect the peer. TENDON_ERROR_NOT_FOUND if no bond exists. May be
     * NULL.
     */
    tendon_status (*forget)(void *context);
} tendon_session_link;

/** Inputs of a session. Each family exports one constant of this type; @p session is its context. */
typedef struct tendon_session_inputs {
    /** Called when the device is connected. The client is valid until disconnected(). */
    void (*connected)(void *session, tendon_gatt_client *client, uint64_t now);
    /**
     * Called when the connection, or the attempt, ended. The reason is TENDON_ERROR_CANCELLED if the session requested
     * it.
     *
     * Call tendon_gatt_client_disconnected() first: it completes the outstanding requests, and their completions may
     * use the session. In this call the session releases the client. tendon_connection and the radio in memory keep
     * this order; so must other code that drives a session.
     */
    void (*disconnected)(void *session, tendon_status reason, uint64_t now);
    void (*paired)(void *session, tendon_status status, uint64_t now);
    void (*tick)(void *session, uint64_t now);
    /** Returns the monotonic time in ms at which tick() must be called; UINT64_MAX means never. */
    uint64_t (*deadline)(const void *session);
    /**
     * The session decides when to pair. Otherwise the owner of the connection pairs when the device refuses a request
     * for lack of security, and the request is sent again, once (tendon_gatt_client_config.on_insecure).
     */
    bool pairs;
} tendon_session_inputs;

/**
 * Pairing service: that of a radio (linux/radio.h), or a script in tests and in simulation. @p done is called with the
 * result, never from within start(). TENDON_OK means that the connection is encrypted and the bond is stored.
 */
typedef struct tendon_pairing_service {
    void *context;
    /** TENDON_ERROR_BUSY: this peer is pairing. */
    tendon_status (*start)(void *context, const tendon_address *peer,
                           void (*done)(void *done_context, tendon_status status, uint64_t now), void *done_context,
                           uint64_t now);
    /** Ends the procedure without a result. */
    void (*cancel)(void *context, const tendon_address *peer);
    bool (*bonded)(void *context, const tendon_address *peer);
    /** Removes the bond, as tendon_session_link.forget does. May be NULL. */
    tendon_status (*forget)(void *context, const tendon_address *peer);
} tendon_pairing_service;

#ifdef __cplusplus
}
#endif
#endif
