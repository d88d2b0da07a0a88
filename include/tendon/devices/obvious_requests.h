/* SPDX-License-Identifier: MIT */
/*
 * Requests of a gateway: one outstanding at a time, the others wait in a queue of the caller's structs. Repeats,
 * time limits and BUSY are handled here. Does no I/O: frames go to the sender, and come from the receiver.
 */
#ifndef TENDON_DEVICES_OBVIOUS_REQUESTS_H
#define TENDON_DEVICES_OBVIOUS_REQUESTS_H

#include "tendon/devices/obvious_payload.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_OBVIOUS_REQUESTS_MAX 32
#define TENDON_OBVIOUS_REQUEST_REPEATS 3u
#define TENDON_OBVIOUS_BUSY_REPEATS 10u
#define TENDON_OBVIOUS_BUSY_REPEAT_MS 500u

/** The end of a request. */
typedef struct tendon_obvious_response {
    /** TENDON_OK; a status that the device sent; BAD_LENGTH or BAD_PARAM if its response is invalid;
     * TENDON_ERROR_TIMEOUT; LINK_ERROR; the status of tendon_obvious_requests_fail(). */
    tendon_status status;
    const tendon_obvious_payload *payload; /**< lent; NULL unless the status is TENDON_OK or BAD_OFFSET */
} tendon_obvious_response;

/** One request, in the caller's memory until on_done(). */
typedef struct tendon_obvious_request {
    uint8_t opcode;
    size_t payload_length;
    uint8_t *frame; /**< the payload is at frame + TENDON_OBVIOUS_FRAME_HEADER; 4 bytes follow it for the CRC */
    /** May add requests, this one too. */
    void (*on_done)(void *context, struct tendon_obvious_request *request, const tendon_obvious_response *response,
                    uint64_t now);
    void *context;
    struct tendon_obvious_request *following; /**< private */
} tendon_obvious_request;

/** Called by the requests. */
typedef struct tendon_obvious_requests_handler {
    /** Sends a frame, which is lent until tendon_obvious_requests_sent() or cancel(): tendon_obvious_sender_start().
     * While it is sent, the request has no limit of time but those of the sender. */
    tendon_status (*start)(void *context, const uint8_t *frame, size_t length, uint64_t now);
    /** Gives up the frame that is being sent: tendon_obvious_sender_cancel(). */
    void (*cancel)(void *context);
    /** An event of the device, lent for the call. */
    void (*on_event)(void *context, uint8_t opcode, const tendon_obvious_payload *payload, uint64_t now);
} tendon_obvious_requests_handler;

/** Caller's memory; all private but the counter. */
typedef struct tendon_obvious_requests {
    bool outstanding, waiting, failing; /* waiting: for the repeat after BUSY */
    uint8_t count, repeats, busy;
    uint16_t corr;
    uint32_t ignored; /**< responses that belong to no request, and frames with unknown or invalid content */
    uint64_t now, deadline;
    tendon_obvious_request *first;
    const tendon_obvious_requests_handler *handler;
    void *context;
} tendon_obvious_requests;

void tendon_obvious_requests_init(tendon_obvious_requests *requests, const tendon_obvious_requests_handler *handler,
                                  void *context);

/**
 * Writes the payload of a request into its frame and sets opcode, frame and payload_length.
 * @return TENDON_OK, or the status of tendon_obvious_encode_frame().
 */
tendon_status tendon_obvious_request_prepare(tendon_obvious_request *request, uint8_t opcode,
                                             const tendon_obvious_payload *payload, uint8_t *frame, size_t capacity);

/** Adds a request. It is sent within the call if no other is outstanding. @return TENDON_OK or
 * TENDON_GATT_ERROR_QUEUE_FULL. */
tendon_status tendon_obvious_requests_add(tendon_obvious_requests *requests, tendon_obvious_request *request,
                                          uint64_t now);

/** A message of the receiver. @return true if the frame is valid: the result for on_message() of the receiver. */
bool tendon_obvious_requests_message(tendon_obvious_requests *requests, const uint8_t *data, size_t length,
                                     size_t frame_max, uint64_t now);
/** on_done() of the sender: the limit of time of the request begins. LINK_ERROR fails all requests. */
void tendon_obvious_requests_sent(tendon_obvious_requests *requests, tendon_status status, uint64_t now);
/** Fails all requests, for example after a disconnection. Those that on_done() adds stay. */
void tendon_obvious_requests_fail(tendon_obvious_requests *requests, tendon_status status, uint64_t now);

void tendon_obvious_requests_tick(tendon_obvious_requests *requests, uint64_t now);
/** Returns the time of the next tick; UINT64_MAX if none is required. */
uint64_t tendon_obvious_requests_deadline(const tendon_obvious_requests *requests);

#ifdef __cplusplus
}
#endif
#endif
