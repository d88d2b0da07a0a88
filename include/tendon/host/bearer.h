/* SPDX-License-Identifier: MIT */
/* SPDX-License-Identifier: MIT */
/*
 * ATT bearer: shared by the GATT client and the GATT server of one connection. To send, it calls one function of the
 * caller (tendon_bearer_io). The caller passes each received PDU to tendon_att_bearer_receive().
 *
 * The bearer reads only the opcode. It drops PDUs that are empty, too long, or received after it was closed. It rejects
 * unknown requests, and requests if it has no server, with an Error Response. It passes all other PDUs on to the client
 * or the server. The receiver decodes a PDU with tendon_att_bearer_decode(), which counts malformed PDUs. A client then
 * ends the outstanding procedure; a server responds with Invalid PDU. So each PDU is decoded once and counted once.
 */
#ifndef TENDON_HOST_BEARER_H
#define TENDON_HOST_BEARER_H

#include "tendon/host/att.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tendon_gatt_client;
struct tendon_gatt_connection;

/** The function that sends PDUs. */
typedef struct tendon_bearer_io {
    void *context;
    /**
     * Sends one whole PDU; the bytes are borrowed for the call. It must not call tendon_att_bearer_receive():
     * the sessions rely on it. A response that is there immediately is passed on after the call.
     * @return TENDON_OK, TENDON_ERROR_WOULD_BLOCK (nothing was sent; the sender keeps the PDU and sends it again in its
     * writable()), or another error (the connection is lost).
     */
    tendon_status (*send)(void *context, const uint8_t *pdu, size_t length);
} tendon_bearer_io;

/** Counters of a bearer. Every rejected PDU is counted in exactly one of them. */
typedef struct tendon_bearer_counters {
    uint32_t received;            /**< received PDUs, valid or not */
    uint32_t sent;                /**< sent PDUs */
    uint32_t malformed;           /**< malformed PDUs, including PDUs that are too long */
    uint32_t unknown_opcode;      /**< opcode unknown to ATT */
    uint32_t unexpected_response; /**< response without an outstanding request, or of another procedure */
    uint32_t unhandled_value;     /**< notification or indication of a handle without a subscription */
    uint32_t unexpected_confirmation;
    uint32_t refused_requests; /**< known requests rejected with Request Not Supported, because there is no server */
    uint32_t ignored_commands; /**< commands dropped, because there is no server */
    uint32_t after_close;      /**< PDUs received after the bearer was closed; ignored */
} tendon_bearer_counters;

/** ATT bearer of one connection. The caller owns it and calls tendon_att_bearer_init() before use. */
typedef struct tendon_att_bearer {
    tendon_bearer_io io;
    uint16_t mtu;         /**< negotiated ATT_MTU, TENDON_ATT_MTU_MIN at first */
    uint16_t own_mtu;     /**< receive MTU of this side, 23 to 517 */
    bool closed;          /**< nothing is sent or accepted; set by tendon_att_bearer_close() */
    bool refusal_pending; /**< the bearer's own Error Response is kept until writable() */
    uint8_t refusal[5];
    /** When the PDU arrived that is being taken: monotonic nanoseconds. 0: none is. */
    uint64_t received_at;
    /** Connection interval in microseconds: so long a PDU can wait before it is sent. 0: none waits. Kept by the owner
     * of the bearer. */
    uint32_t interval_us;
    tendon_bearer_counters counters;
    struct tendon_gatt_client *client;     /**< NULL: responses and notifications are counted and dropped */
    struct tendon_gatt_connection *server; /**< NULL: requests are rejected with Request Not Supported */
} tendon_att_bearer;

/** Prepares a bearer. @param own_mtu receive MTU of this side; clamped to 23 to 517. */
void tendon_att_bearer_init(tendon_att_bearer *bearer, tendon_bearer_io io, uint16_t own_mtu);

/**
 * Takes one received PDU and routes it: responses, notifications and
 * indications to the client, requests, commands and confirmations to the server.
 * @param now monotonic milliseconds.
 * @param received_at when the PDU arrived, monotonic nanoseconds; @p now or earlier.
 * @return TENDON_OK, or the reason why the PDU was rejected (it is already counted; the caller need not act).
 */
tendon_status tendon_att_bearer_receive_at(tendon_att_bearer *bearer, const uint8_t *pdu, size_t length, uint64_t now,
                                           uint64_t received_at);
/** The same for a PDU whose arrival is not known better than @p now. */
tendon_status tendon_att_bearer_receive(tendon_att_bearer *bearer, const uint8_t *pdu, size_t length, uint64_t now);

/**
 * Calls tendon_att_decode() and counts a failure as malformed. For the client and the server.
 * @return TENDON_OK, TENDON_ERROR_TRUNCATED or TENDON_ERROR_MALFORMED.
 */
tendon_status tendon_att_bearer_decode(tendon_att_bearer *bearer, const uint8_t *pdu, size_t length,
                                       tendon_att_pdu *out);

/**
 * Responds to a request with an Error Response. If the send would block, the response is kept and sent in
 * tendon_att_bearer_writable(). A second Error Response is dropped while the first one is kept, because the peer sent a
 * second request before it received the first response (Vol 3 Part F 3.3.2).
 * @param handle the attribute in error; 0 if the error concerns no attribute.
 * @return TENDON_OK, also if the response is kept; or the error of the send function.
 */
tendon_status tendon_att_bearer_refuse(tendon_att_bearer *bearer, uint8_t request_opcode, uint16_t handle,
                                       uint8_t error);

/**
 * Marks the bearer closed: it sends and accepts nothing further. The component that owns the connection sees the mark
 * and disconnects. Used after a transaction timeout, and by a device that disconnects. May be called from any callback.
 */
void tendon_att_bearer_close(tendon_att_bearer *bearer);

/** Sends a PDU through io and counts it. TENDON_ERROR_DISCONNECTED if the bearer is closed. */
tendon_status tendon_att_bearer_send(tendon_att_bearer *bearer, const uint8_t *pdu, size_t length);

/** Notifies the bearer that PDUs can be sent again. It sends a kept Error Response first; then the client and the
 * server send their kept PDUs. */
void tendon_att_bearer_writable(tendon_att_bearer *bearer, uint64_t now);

/** Runs the timers of the client and the server that expired. */
void tendon_att_bearer_tick(tendon_att_bearer *bearer, uint64_t now);

/** Returns the monotonic time in milliseconds at which tick() must be called; UINT64_MAX means never. */
uint64_t tendon_att_bearer_deadline(const tendon_att_bearer *bearer);

#ifdef __cplusplus
}
#endif
#endif
