/* SPDX-License-Identifier: MIT */
/*
 * Connection: a link with its ATT bearer, GATT client and, if wanted, one
 * device session driven by it. What a gateway program uses.
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
 * GATT requests that a connection holds: the outstanding one of its session, and one that the session cancelled and
 * whose response is awaited. Programs with GATT requests of their own give the connection a larger table.
 */
#define TENDON_CONNECTION_REQUESTS 2
#define TENDON_CONNECTION_SUBSCRIPTIONS 16
/** Attempts whose reasons are kept, and the most that one connect() makes. */
#define TENDON_CONNECTION_ATTEMPTS_MAX 8
#define TENDON_CONNECTION_ATTEMPTS 4u
#define TENDON_CONNECTION_TIMEOUT_MS 10000u

/** Told about the link beside the session. Any member may be NULL. */
typedef struct tendon_connection_callbacks {
    void *context;
    void (*connected)(void *context, uint64_t now); /**< before the session is told */
    /** Exactly once for each tendon_connection_connect() that returned TENDON_OK; after the session was told. */
    void (*closed)(void *context, tendon_status reason, uint64_t now);
    /** Service Changed was indicated. Only after the application has discovered the characteristic, has passed its
     * handle to tendon_gatt_client_set_service_changed(), and has subscribed to it; sessions do not. */
    void (*service_changed)(void *context, uint16_t start, uint16_t end, uint64_t now);
} tendon_connection_callbacks;

typedef enum tendon_connection_state {
    TENDON_CONNECTION_IDLE = 0,
    TENDON_CONNECTION_CONNECTING,
    TENDON_CONNECTION_WAITING, /**< between two attempts */
    TENDON_CONNECTION_UP
} tendon_connection_state;

/** One attempt of a connect(). */
typedef struct tendon_connection_attempt {
    tendon_status reason; /**< why it failed; TENDON_OK: it did not, or it is under way */
    uint32_t began_ms;    /**< after connect() */
    uint32_t lasted_ms;   /**< until it failed or the link was up */
} tendon_connection_attempt;

/** Random numbers for the pauses between attempts, so that gateways which lose a device together do not meet again. */
typedef struct tendon_connection_jitter {
    void *context;
    uint32_t (*next)(void *context);
} tendon_connection_jitter;

/** Pause before attempt n + 1: 100 ms << (n - 1), and up to half of that more, by the jitter. */
#define TENDON_CONNECTION_PAUSE_MS 100u
/** Longest PDU that is sent again over a link that is made anew, see tendon_connection_connect(). */
#define TENDON_CONNECTION_FIRST_PDU_MAX 23u

/** The caller's memory; to be given back when idle and the session's deadline is never. */
typedef struct tendon_connection {
    tendon_link link;
    tendon_att_bearer bearer;
    tendon_gatt_client client;
    tendon_radio *radio;
    tendon_address peer;
    uint32_t
        connect_timeout_ms; /**< of connect(), all attempts together; TENDON_CONNECTION_TIMEOUT_MS unless changed */
    /** Attempts of one connect(); failures that a retry mends are retried. TENDON_CONNECTION_ATTEMPTS unless changed.
     */
    uint32_t connect_attempts;
    uint32_t attempt; /**< of the present or last connect(), from 1 */
    /** The result of connect(), one by one; [attempt - 1] is the last. */
    tendon_connection_attempt attempts[TENDON_CONNECTION_ATTEMPTS_MAX];
    tendon_connection_jitter jitter; /**< a generator of the connection's own unless changed */
    uint32_t jitter_state;
    uint64_t connect_began, attempt_began;
    bool holds_scan;
    bool again;            /**< the link was never established: it is made anew, and nobody is told */
    uint8_t first_length;  /**< of the PDU that was sent before anything was received */
    bool first_is_not_all; /**< more was sent then */
    uint8_t first[TENDON_CONNECTION_FIRST_PDU_MAX];
    uint8_t state; /**< tendon_connection_state */
    bool pairing_started, closing;
    tendon_status close_reason; /**< what closed() will say instead of TENDON_ERROR_CANCELLED; TENDON_OK: that */
    uint64_t connect_deadline, retry_at;
    tendon_source timer; /**< deadlines of bearer, session and retry */
    tendon_connection_callbacks callbacks;
    const tendon_session_inputs *inputs;
    void *session;
    const tendon_pairing_service *pairing;
    tendon_gatt_request *request_table; /**< that of tendon_connection_use_requests(); NULL: the one below */
    size_t request_capacity;
    tendon_gatt_request requests[TENDON_CONNECTION_REQUESTS];
    tendon_gatt_subscription subscriptions[TENDON_CONNECTION_SUBSCRIPTIONS];
} tendon_connection;

/**
 * Prepares a closed connection.
 * @param pairing borrowed as long as the connection lives; may be NULL: then pairing is refused.
 * @param callbacks copied; may be NULL.
 */
void tendon_connection_init(tendon_connection *connection, tendon_radio *radio, const tendon_address *peer,
                            const tendon_pairing_service *pairing, const tendon_connection_callbacks *callbacks);
/** The calls that a session makes on this connection. */
tendon_session_link tendon_connection_session_link(tendon_connection *connection);
/** Attaches the session that is to be driven; before connecting. */
void tendon_connection_attach(tendon_connection *connection, const tendon_session_inputs *inputs, void *session);

/**
 * Gives the GATT client a table of @p capacity requests (at least 1), for programs that queue GATT requests of their
 * own. Before connecting. @param table borrowed as long as the connection lives.
 */
void tendon_connection_use_requests(tendon_connection *connection, tendon_gatt_request *table, size_t capacity);

/**
 * Starts connecting; answered by connected(), or by closed(reason) after the last attempt. Attempts that were aborted,
 * refused or lost at once are repeated after a short pause, until connect_attempts or connect_timeout_ms; a scan of
 * this radio is paused from the first to the last. connection->attempts tells what became of each.
 *
 * A controller may call a link connected that never was, and end it with 0x3E within some connection intervals, before
 * the peer has sent anything. That belongs to the attempts as well: the link is made anew, what was sent is sent again
 * (one PDU, as a client has one request under way), and neither session nor program is told, unless no attempt is left.
 * The MTU exchange is the session's, or the program's.
 * @return TENDON_OK; TENDON_ERROR_WRONG_STATE unless idle; another error: the first attempt could not even start.
 */
tendon_status tendon_connection_connect(tendon_connection *connection);
/** Ends the link, or the attempts; closed(TENDON_ERROR_CANCELLED) follows. Nothing happens when idle. */
void tendon_connection_close(tendon_connection *connection);
/** True for reasons that another attempt may mend: aborted by the local side, 0x3E, 0x08, refused, peer gone, ... */
bool tendon_connection_retries(tendon_status reason);

/**
 * Sets the timer to the earliest deadline of bearer and session. The connection does it by itself after its callbacks,
 * and one step later after whatever sends a PDU or connects; call it after anything else that changes a deadline.
 */
void tendon_connection_refresh(tendon_connection *connection);

#ifdef __cplusplus
}
#endif
#endif
