/* SPDX-License-Identifier: MIT */
/*
 * Obvious session: opens OGP/1 on one connection and carries requests over it. Order: discovery, pairing unless the
 * connection is encrypted, OGP_STATUS, profile, notifications, HELLO. Then requests, events, and a PING after 20 s
 * without a request while an operation is open. Driven through tendon_obvious_session_inputs.
 *
 * Events and completions never come from within a call of this header.
 */
#ifndef TENDON_DEVICES_OBVIOUS_SESSION_H
#define TENDON_DEVICES_OBVIOUS_SESSION_H

#include "tendon/devices/obvious_receiver.h"
#include "tendon/devices/obvious_requests.h"
#include "tendon/devices/obvious_sender.h"
#include "tendon/devices/operation.h"
#include "tendon/host/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Memory of a session for a highest frame_max of 256 to 4096: one message in each direction. */
#define TENDON_OBVIOUS_SESSION_MEMORY(frame_max) (2 * (frame_max))

#define TENDON_OBVIOUS_DISCOVERY_TIMEOUT_MS 30000u
#define TENDON_OBVIOUS_OPERATION_TIMEOUT_MS 5000u /**< OGP_STATUS, and the write to enable notifications */
#define TENDON_OBVIOUS_PAIRING_ATTEMPTS 2u
#define TENDON_OBVIOUS_SUBSCRIBE_ATTEMPTS 4u
#define TENDON_OBVIOUS_KEEP_ALIVE_MS 20000u
/** So many protocol errors within ERRORS_MS disconnect the device; it stays disconnected for BAN_MS. */
#define TENDON_OBVIOUS_ERRORS_MAX 100u
#define TENDON_OBVIOUS_ERRORS_MS 10000u
#define TENDON_OBVIOUS_BAN_MS 60000u
/** Longest segment that is written with a response, for devices that do not support Write Without Response. */
#define TENDON_OBVIOUS_WRITE_MAX 128

typedef enum tendon_obvious_session_state {
    TENDON_OBVIOUS_SESSION_IDLE = 0,
    TENDON_OBVIOUS_SESSION_CONNECTING,
    TENDON_OBVIOUS_SESSION_OPENING,  /**< connected; discovery to HELLO */
    TENDON_OBVIOUS_SESSION_OPEN,     /**< requests are possible */
    TENDON_OBVIOUS_SESSION_UNUSABLE, /**< connected; session->status contains the reason */
    TENDON_OBVIOUS_SESSION_CLOSING,
    TENDON_OBVIOUS_SESSION_STATE_COUNT
} tendon_obvious_session_state;

typedef enum tendon_obvious_session_event_kind {
    TENDON_OBVIOUS_SESSION_EVENT_OPENED = 0, /**< HELLO was answered; limits, caps and boot_id are set */
    /**
     * The connection is up, but cannot be used: status UNSUPPORTED_PROFILE; UNAUTHORIZED (pairing failed); PROTOCOL
     * (a HELLO was refused, also a later one); TENDON_ERROR_TIMEOUT (no response to HELLO); the error of the write to
     * enable notifications.
     */
    TENDON_OBVIOUS_SESSION_EVENT_UNUSABLE,
    /** The connection, or the attempt, ended: status LINK_ERROR, PROTOCOL (100 errors, or another serial number), or
     * the reason of the radio. */
    TENDON_OBVIOUS_SESSION_EVENT_CLOSED,
    TENDON_OBVIOUS_SESSION_EVENT_DEVICE /**< the device sent an event: opcode, payload */
} tendon_obvious_session_event_kind;

/** Lent for the callback. */
typedef struct tendon_obvious_session_event {
    tendon_obvious_session_event_kind kind;
    tendon_status status;
    tendon_status cause;  /**< UNUSABLE: error of the GATT operation or of the pairing, if one failed */
    uint64_t received_at; /**< DEVICE: when its last segment arrived, monotonic nanoseconds */
    uint8_t opcode;
    const tendon_obvious_payload *payload;
} tendon_obvious_session_event;

typedef struct tendon_obvious_session_config {
    tendon_session_link link;
    const tendon_obvious_gatt *gatt; /**< borrowed; NULL: tendon_obvious_gatt_defaults() */
    uint8_t *memory;                 /**< borrowed: TENDON_OBVIOUS_SESSION_MEMORY(frame_max) bytes */
    uint16_t frame_max;              /**< 256 to 4096 */
    uint8_t window;                  /**< 1 to 32; announced, or less if the memory cannot hold so many segments */
    uint8_t nonce[8];                /**< of HELLO: random bytes */
    void *context;
    void (*on_event)(void *context, const tendon_obvious_session_event *event, uint64_t now);
} tendon_obvious_session_config;

/** The end of a request of tendon_obvious_session_request(). The next one may be started within. */
typedef void (*tendon_obvious_on_response)(void *context, const tendon_obvious_response *response, uint64_t now);

typedef struct tendon_obvious_session_counters {
    uint32_t segments; /**< received values of OGP_DATA */
    uint32_t errors;   /**< protocol errors; duplicates, late segments and those beyond the window do not count */
    uint32_t illegal_inputs;
} tendon_obvious_session_counters;

/** Caller's memory. An application may read state, flags, frame_max, caps, boot_id, status, serial and counters; the
 * rest is private. Small members that are used often come first: shorter instructions. */
typedef struct tendon_obvious_session {
    uint8_t state;      /**< tendon_obvious_session_state */
    uint8_t window;     /**< announced to the device */
    bool keep_alive;    /**< an operation is open: set by its owner */
    bool has_serial;    /**< serial is that of GET_DEVICE_INFO on this connection */
    uint16_t flags;     /**< of OGP_STATUS */
    uint16_t frame_max; /**< the lower one of both sides */
    uint32_t caps, boot_id;
    tendon_status status; /**< UNUSABLE: the reason */
    struct {
        uint8_t step, pairings, tries;
        bool lost;    /* the sender gave up: handled by the next tick */
        bool inside;  /* a segment is being written */
        bool waiting; /* control contains a segment that could not be sent */
        tendon_status reason, cause;
        tendon_obvious_on_response on_response;
        void *context;
        uint32_t errors; /* since errors_at */
        uint64_t deadline, active_at, errors_at, banned_until;
        uint8_t control[TENDON_OBVIOUS_CONTROL_SIZE];
    } work;
    tendon_profile_found found[2];
    tendon_operation op;
    uint64_t serial;
    tendon_obvious_session_counters counters;
    tendon_obvious_session_config config;
    tendon_obvious_request request, ping;
    uint8_t ping_frame[TENDON_OBVIOUS_FRAME_OVERHEAD];
    tendon_obvious_requests requests;
    tendon_obvious_receiver receiver;
    tendon_obvious_sender sender;
    union {
        tendon_profile discovery;
        uint8_t segment[TENDON_OBVIOUS_WRITE_MAX];
    } scratch;
} tendon_obvious_session;

/** The inputs of a session, for tendon_connection_attach() and for tests. */
extern const tendon_session_inputs tendon_obvious_session_inputs;

/** @return TENDON_OK or TENDON_ERROR_INVALID_ARGUMENT. */
tendon_status tendon_obvious_session_init(tendon_obvious_session *session, const tendon_obvious_session_config *config);

/**
 * Starts connecting; OPENED, UNUSABLE or CLOSED follows.
 * @return TENDON_OK; TENDON_ERROR_WRONG_STATE unless IDLE; PROTOCOL during BAN_MS after too many errors; the error of
 *   the link.
 */
tendon_status tendon_obvious_session_connect(tendon_obvious_session *session, uint64_t now);
/** Disconnects; CLOSED follows, with TENDON_ERROR_CANCELLED. Does nothing if the session is IDLE. */
void tendon_obvious_session_disconnect(tendon_obvious_session *session, uint64_t now);

/**
 * Sends a request with the session's own frame; on_response() follows once. HELLO and GET_DEVICE_INFO update the
 * session. Their payloads must be valid (of HELLO: NULL, the session fills it).
 * @return TENDON_OK; TENDON_ERROR_BUSY if the frame is in use; session->status if the connection is unusable;
 *   TENDON_ERROR_DISCONNECTED; the status of tendon_obvious_request_prepare().
 */
tendon_status tendon_obvious_session_request(tendon_obvious_session *session, uint8_t opcode,
                                             const tendon_obvious_payload *payload,
                                             tendon_obvious_on_response on_response, void *context, uint64_t now);

/** Returns true if the data of an advertisement contains the OGP service. @p gatt NULL: the default UUIDs. */
bool tendon_obvious_recognize(const tendon_obvious_gatt *gatt, const uint8_t *data, size_t length);

#ifdef __cplusplus
}
#endif
#endif
