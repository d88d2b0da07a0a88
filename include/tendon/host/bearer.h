/* SPDX-License-Identifier: MIT */
/* SPDX-License-Identifier: MIT */
/*
 * ATT bearer: what a GATT client and a GATT server on one link share. The way
 * out is one function of the caller's; the way in is tendon_att_bearer_receive().
 *
 * Who does what: the bearer looks at the opcode only. It drops what is empty,
 * too long or late, answers what nobody here can (unknown requests, requests
 * without a server), and hands the rest on as raw PDUs. The receiver decodes
 * with tendon_att_bearer_decode(), which counts what is malformed, and decides
 * what a malformed PDU means to it (a client ends the procedure in flight, a
 * server answers Invalid PDU). So each PDU is decoded once and counted once.
 */
#ifndef TENDON_HOST_BEARER_H
#define TENDON_HOST_BEARER_H

#include "tendon/host/att.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tendon_gatt_client;
struct tendon_gatt_connection;

/** How PDUs leave. */
typedef struct tendon_bearer_io {
    void *context;
    /**
     * Sends one whole PDU now; the bytes are borrowed for the call.
     * @return TENDON_OK, TENDON_ERROR_WOULD_BLOCK (nothing was sent; the sender keeps
     *         it and tries again when told writable), or another error (the link is lost).
     */
    tendon_status (*send)(void *context, const uint8_t *pdu, size_t length);
} tendon_bearer_io;

/** What a bearer saw; every rejected PDU is counted in exactly one of these. */
typedef struct tendon_bearer_counters {
    uint32_t received;            /**< PDUs in, good and bad */
    uint32_t sent;                /**< PDUs out */
    uint32_t malformed;           /**< PDUs that did not decode, oversized ones included */
    uint32_t unknown_opcode;      /**< opcode unknown to ATT */
    uint32_t unexpected_response; /**< response with nothing outstanding, or of another procedure */
    uint32_t unhandled_value;     /**< notification or indication of a handle nobody subscribed */
    uint32_t unexpected_confirmation;
    uint32_t refused_requests; /**< known requests answered with Request Not Supported: there is no server */
    uint32_t ignored_commands; /**< commands dropped: there is no server */
    uint32_t after_close;      /**< PDUs received after the bearer was closed; ignored */
} tendon_bearer_counters;

/** One per link. The caller owns it; init before use. */
typedef struct tendon_att_bearer {
    tendon_bearer_io io;
    uint16_t mtu;         /**< negotiated ATT_MTU, TENDON_ATT_MTU_MIN at first */
    uint16_t own_mtu;     /**< what we are ready to receive, 23 to 517 */
    bool closed;          /**< nothing is sent or accepted; set by tendon_att_bearer_close() */
    bool refusal_pending; /**< an Error Response of the bearer's own waits for the link */
    uint8_t refusal[5];
    tendon_bearer_counters counters;
    struct tendon_gatt_client *client;     /**< NULL: responses and notifications are counted and dropped */
    struct tendon_gatt_connection *server; /**< NULL: requests are answered Request Not Supported */
} tendon_att_bearer;

/** @param own_mtu our receive MTU, 23 to 517; clamped to that range. */
void tendon_att_bearer_init(tendon_att_bearer *bearer, tendon_bearer_io io, uint16_t own_mtu);

/**
 * Takes one PDU from the link and routes it: responses, notifications and
 * indications to the client, requests, commands and confirmations to the server.
 * @param now monotonic milliseconds.
 * @return TENDON_OK, or why the PDU was rejected (already counted; nothing to do).
 */
tendon_status tendon_att_bearer_receive(tendon_att_bearer *bearer, const uint8_t *pdu, size_t length, uint64_t now);

/**
 * For the receivers: tendon_att_decode() that counts a failure as malformed.
 * @return TENDON_OK, TENDON_ERROR_TRUNCATED or TENDON_ERROR_MALFORMED.
 */
tendon_status tendon_att_bearer_decode(tendon_att_bearer *bearer, const uint8_t *pdu, size_t length,
                                       tendon_att_pdu *out);

/**
 * Answers a request with an Error Response. When the link blocks it is kept and sent once writable; a second one
 * while the first waits is dropped, for the peer then broke the one-request-at-a-time rule (Vol 3 Part F 3.3.2).
 * @param handle the attribute in error, 0 when there is none.
 * @return TENDON_OK, also when kept; or the error of the link.
 */
tendon_status tendon_att_bearer_refuse(tendon_att_bearer *bearer, uint8_t request_opcode, uint16_t handle,
                                       uint8_t error);

/**
 * Marks the bearer closed: it sends and accepts nothing further. The component that owns the connection sees the mark
 * and disconnects. Used after a transaction timeout, and by a device that disconnects. May be called from any callback.
 */
void tendon_att_bearer_close(tendon_att_bearer *bearer);

/** Sends through io and counts; TENDON_ERROR_DISCONNECTED when the bearer is closed. */
tendon_status tendon_att_bearer_send(tendon_att_bearer *bearer, const uint8_t *pdu, size_t length);

/** The link accepts PDUs again: first a kept refusal goes out, then client and server send what they kept. */
void tendon_att_bearer_writable(tendon_att_bearer *bearer, uint64_t now);

/** Lets client and server act on the time. */
void tendon_att_bearer_tick(tendon_att_bearer *bearer, uint64_t now);

/** When tick() is due next, monotonic milliseconds; UINT64_MAX: never. */
uint64_t tendon_att_bearer_deadline(const tendon_att_bearer *bearer);

#ifdef __cplusplus
}
#endif
#endif
