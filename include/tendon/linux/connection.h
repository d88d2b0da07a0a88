/* SPDX-License-Identifier: MIT */
/*
 * Connection: a link with its ATT bearer, GATT client and, if wanted, one
 * device session driven by it. What a gateway program uses.
 */
#ifndef TENDON_LINUX_CONNECTION_H
#define TENDON_LINUX_CONNECTION_H

#include "tendon/linux/radio.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_CONNECTION_REQUESTS 8
#define TENDON_CONNECTION_SUBSCRIPTIONS 16

/** Told about the link beside the session. Any member may be NULL. */
typedef struct tendon_connection_callbacks {
    void *context;
    void (*connected)(void *context, uint64_t now);
    void (*closed)(void *context, tendon_status reason, uint64_t now);
    void (*service_changed)(void *context, uint16_t start, uint16_t end, uint64_t now);
} tendon_connection_callbacks;

typedef struct tendon_connection {
    tendon_link link;
    tendon_att_bearer bearer;
    tendon_gatt_client client;
    tendon_radio *radio;
    tendon_address peer;
    uint32_t connect_timeout_ms;
    uint32_t connect_attempts; /**< attempts of one connect(); failures that a retry mends are retried */
    uint32_t attempt;
    tendon_source timer; /**< deadlines of bearer and session */
    tendon_connection_callbacks callbacks;
    const tendon_session_inputs *inputs;
    void *session;
    const tendon_pairing_service *pairing;
    tendon_gatt_request requests[TENDON_CONNECTION_REQUESTS];
    tendon_gatt_subscription subscriptions[TENDON_CONNECTION_SUBSCRIPTIONS];
} tendon_connection;

/** Prepares a closed connection. @param pairing may be NULL: then pairing is refused. */
void tendon_connection_init(tendon_connection *connection, tendon_radio *radio, const tendon_address *peer,
                            const tendon_pairing_service *pairing, const tendon_connection_callbacks *callbacks);
/** The calls that a session makes on this connection. */
tendon_session_link tendon_connection_session_link(tendon_connection *connection);
/** Attaches the session that is to be driven; before connecting. */
void tendon_connection_attach(tendon_connection *connection, const tendon_session_inputs *inputs, void *session);
tendon_status tendon_connection_connect(tendon_connection *connection);
void tendon_connection_close(tendon_connection *connection);
/**
 * Sets the timer to the earliest deadline of bearer and session. Call after using client or session from
 * outside their callbacks; the connection's own callbacks do it themselves.
 */
void tendon_connection_refresh(tendon_connection *connection);

#ifdef __cplusplus
}
#endif
#endif
