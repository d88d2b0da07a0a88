/* SPDX-License-Identifier: MIT */
/*
 * Connection: a link with its ATT bearer, its GATT client and an optional device session. For gateway programs.
 *
 * All callbacks, the session's inputs included, come from the loop, never from within a call of this header.
 */
#ifndef TENDON_LINUX_CONNECTION_H
#define TENDON_LINUX_CONNECTION_H

#include "tendon/linux/radio.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * GATT requests that a connection holds: the outstanding one of its session, one that the session cancelled and whose
 * response is awaited, and the two that enable Service Changed and Robust Caching for the cache. Applications that send
 * GATT requests must give the connection a larger table.
 */
#define TENDON_CONNECTION_REQUESTS 4
/** The characteristics of a device file, and Service Changed. */
#define TENDON_CONNECTION_SUBSCRIPTIONS 21
/** Maximum number of attempts of one connect(), and of reasons that are kept. */
#define TENDON_CONNECTION_ATTEMPTS_MAX 8
#define TENDON_CONNECTION_ATTEMPTS 4u
#define TENDON_CONNECTION_TIMEOUT_MS 10000u

/** Callbacks of a connection, in addition to those of the session. Any member may be NULL. */
typedef struct tendon_connection_callbacks {
    void *context;
    void (*connected)(void *context, uint64_t now); /**< before the session is notified */
    /** Called exactly once for each tendon_connection_connect() that returned TENDON_OK; after the session was
     * notified. */
    void (*closed)(void *context, tendon_status reason, uint64_t now);
    /** Service Changed was indicated. Only after the application has discovered the characteristic, has passed its
     * handle to tendon_gatt_client_set_service_changed(), and has subscribed to it; sessions do not. */
    void (*service_changed)(void *context, uint16_t start, uint16_t end, uint64_t now);
    void (*paired)(void *context, tendon_status status, uint64_t now); /**< result of tendon_connection_pair() */
} tendon_connection_callbacks;

typedef enum tendon_connection_state {
    TENDON_CONNECTION_IDLE = 0,
    TENDON_CONNECTION_CONNECTING,
    TENDON_CONNECTION_WAITING, /**< between two attempts */
    TENDON_CONNECTION_UP,
    TENDON_CONNECTION_SECURING /**< connected, without the required security (tendon_radio_set_security()) */
} tendon_connection_state;

/** One attempt of a connect(). */
typedef struct tendon_connection_attempt {
    tendon_status reason; /**< reason of the failure; TENDON_OK: the attempt succeeded or is in progress */
    uint32_t began_ms;    /**< start of the attempt, in ms after connect() */
    uint32_t lasted_ms;   /**< duration in ms, until the attempt failed or succeeded */
} tendon_connection_attempt;

/** Random numbers for the pauses between attempts, so that gateways that lose a device at the same time do not retry at
 * the same time. */
typedef struct tendon_connection_jitter {
    void *context;
    uint32_t (*next)(void *context);
} tendon_connection_jitter;

/** Pause before attempt n + 1: 100 ms << (n - 1), plus a random time of at most half of that. */
#define TENDON_CONNECTION_PAUSE_MS 100u
/** Longest PDU that is sent again after a reconnection, see tendon_connection_connect(). */
#define TENDON_CONNECTION_FIRST_PDU_MAX 23u

/** A connection in the caller's memory, which may be released when the connection is idle and the deadline of the
 * session is UINT64_MAX. */
typedef struct tendon_connection {
    tendon_link link;
    tendon_att_bearer bearer;
    tendon_gatt_client client;
    tendon_radio *radio;
    /** Of a bonded peer with a private address: its identity address, once it has connected again. */
    tendon_address peer;
    uint32_t
        connect_timeout_ms; /**< of connect(), all attempts together; TENDON_CONNECTION_TIMEOUT_MS unless changed */
    /** Maximum number of attempts of one connect(); transient failures are retried. Default:
     * TENDON_CONNECTION_ATTEMPTS. */
    uint32_t connect_attempts;
    /** Set before connect(), for a known device that may be absent for hours: see tendon_connection_connect(). */
    bool background;
    uint32_t attempt; /**< number of the present or last attempt, from 1; in the background it stays at the maximum */
    /** The attempts of the present or last connect(); [attempt - 1] is the last. */
    tendon_connection_attempt attempts[TENDON_CONNECTION_ATTEMPTS_MAX];
    tendon_connection_jitter jitter; /**< default: a generator in the connection */
    uint32_t jitter_state;
    uint64_t connect_began, attempt_began;
    bool pauses_scan;
    bool again;            /**< reconnecting after 0x3E: the session and the application are not notified */
    uint8_t first_length;  /**< length of the first PDU sent before a PDU was received */
    bool first_is_not_all; /**< further PDUs were sent before the first PDU arrived */
    uint8_t first[TENDON_CONNECTION_FIRST_PDU_MAX];
    uint8_t state;        /**< tendon_connection_state */
    bool pairing_started; /**< the pairing service has started and not ended */
    bool pairing_asked;   /**< by the session or the application, which are notified of the end */
    bool pairing_needed;  /**< by a request that was refused */
    bool closing;
    tendon_status close_reason; /**< reason to pass to closed(); TENDON_OK means TENDON_ERROR_CANCELLED */
    uint64_t connect_deadline, retry_at;
    tendon_source timer; /**< deadlines of bearer, session and retry */
    tendon_connection_callbacks callbacks;
    const tendon_session_inputs *inputs;
    void *session;
    const tendon_pairing_service *pairing;
    tendon_gatt_cache *cache;           /**< of tendon_connection_use_cache(); NULL: each connection discovers */
    tendon_gatt_request *request_table; /**< table of tendon_connection_use_requests(); NULL: the table below */
    size_t request_capacity;
    tendon_gatt_request requests[TENDON_CONNECTION_REQUESTS];
    tendon_gatt_subscription subscriptions[TENDON_CONNECTION_SUBSCRIPTIONS];
} tendon_connection;

/**
 * Prepares a closed connection.
 * @param pairing borrowed as long as the connection exists; NULL: pairing is rejected.
 * @param callbacks copied; may be NULL.
 */
void tendon_connection_init(tendon_connection *connection, tendon_radio *radio, const tendon_address *peer,
                            const tendon_pairing_service *pairing, const tendon_connection_callbacks *callbacks);
/** Returns the functions that a session calls on this connection. */
tendon_session_link tendon_connection_session_link(tendon_connection *connection);
/** Attaches the session. Call it before connecting. */
void tendon_connection_attach(tendon_connection *connection, const tendon_session_inputs *inputs, void *session);

/**
 * Gives the GATT client a table of @p capacity requests (at least 1), for applications that queue GATT requests. Call
 * it before connecting. @param table borrowed as long as the connection exists.
 */
void tendon_connection_use_requests(tendon_connection *connection, tendon_gatt_request *table, size_t capacity);

/**
 * Gives the GATT client the cache of this peer, so that a session that knows the peer's Database Hash discovers
 * nothing. Call it before connecting. @param cache borrowed as long as the connection exists; NULL: none.
 */
void tendon_connection_use_cache(tendon_connection *connection, tendon_gatt_cache *cache);

/**
 * Starts connecting; connected() follows, or closed(reason) after the last attempt. Transient failures (see
 * tendon_connection_retries()), of the first attempt too, are retried after a short pause, at most connect_attempts
 * times and for connect_timeout_ms. A scan of this radio is paused from the first attempt to the last.
 * connection->attempts contains the result of each attempt.
 *
 * A controller can report a connection that was never established, and end it with 0x3E within a few connection
 * intervals, before the peer sends a PDU. This also counts as a failed attempt: the connection is attempted again, and
 * the PDU that was sent (one outstanding request) is sent again. The session and the application are notified only if
 * no attempt is left. The session, or the application, exchanges the MTU.
 *
 * If the device refuses a GATT request for lack of security (0x05, 0x0F), and no session decides when to pair
 * (tendon_session_inputs.pairs), the pairing service encrypts a connection that is not encrypted with the key
 * of the bond, or pairs if the policy permits it. Then the request is sent again, once. A refusal over an encrypted
 * connection is the result of the request: a better key needs a new connection (tendon_radio_set_security()). An error
 * of pairing is passed to tendon_radio.on_peer_failure, and the request completes with the refusal; further refusals on
 * this connection do not pair again.
 *
 * If the radio requires security (tendon_radio_set_security()), connected() is called when the connection has it.
 *
 * With background, connect() waits for the device without a limit (tendon_radio_connect_in_background()): neither the
 * number of attempts nor their time ends it, and a scan of this radio goes on. The pause between attempts that fail
 * grows to TENDON_CONNECTION_PAUSE_MS << 7 and half of that. tendon_connection_close() ends it.
 * @return TENDON_OK; TENDON_ERROR_WRONG_STATE unless idle; another error if the first attempt could not start
 * for a reason that is not transient.
 */
tendon_status tendon_connection_connect(tendon_connection *connection);
/** Disconnects, or ends the attempts; closed(TENDON_ERROR_CANCELLED) follows. Does nothing if the connection is idle.
 */
void tendon_connection_close(tendon_connection *connection);
/**
 * Pairs, or waits for the pairing that a request has begun; tendon_connection_callbacks.paired() follows, unless the
 * connection ends first. With a key that is stored, the connection is encrypted with that.
 * @return TENDON_OK; TENDON_RADIO_ERROR_NO_PAIRING_SERVICE, or the bonds_failure of the radio;
 * TENDON_ERROR_WRONG_STATE: not connected; TENDON_ERROR_BUSY: it was called already; another error of
 * tendon_pairing_service.start().
 */
tendon_status tendon_connection_pair(tendon_connection *connection);
/** The caller of tendon_connection_pair() no longer waits, and is not notified. The pairing goes on if a request needs
 * it, otherwise it is cancelled. */
void tendon_connection_leave_pairing(tendon_connection *connection);
/**
 * Returns true for a transient failure, which another attempt can resolve: HCI 0x3E and 0x02 (never established), no
 * answer (OUT_OF_RANGE, of HCI 0x08 among others), PEER_CLOSED, ADAPTER_BUSY (HCI 0x0B, 0x0C), 0x0D (limited
 * resources; ECONNREFUSED), 0x16 (ended by the local host; ECONNABORTED), 0x03, 0x22, 0x28, 0x3A, COMMAND_TIMEOUT.
 * Not for 0x09 (connection limit), 0x0E and 0x0F (the peer rejects this machine), pairing, a missing capability, an
 * adapter that is off. CSources/linux/connection_retries.c has the table.
 */
bool tendon_connection_retries(tendon_status reason);

/**
 * Sets the timer to the earliest deadline of the bearer and the session. The connection calls it after its callbacks,
 * and in the step after a PDU was sent or a connect() was started. Call it after any other call that changes a
 * deadline.
 */
void tendon_connection_refresh(tendon_connection *connection);

#ifdef __cplusplus
}
#endif
#endif
