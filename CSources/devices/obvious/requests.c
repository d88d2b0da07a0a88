/* SPDX-License-Identifier: MIT */
#include "tendon/devices/obvious_requests.h"

#include <string.h>

void tendon_obvious_requests_init(tendon_obvious_requests *requests, const tendon_obvious_requests_handler *handler,
                                  void *context) {
    memset(requests, 0, sizeof *requests);
    requests->handler = handler;
    requests->context = context;
}

tendon_status tendon_obvious_request_prepare(tendon_obvious_request *request, uint8_t opcode,
                                             const tendon_obvious_payload *payload, uint8_t *frame, size_t capacity) {
    const tendon_obvious_frame header = {.opcode = opcode, .corr = 1};
    tendon_status length = tendon_obvious_encode_frame(&header, payload, frame, capacity);
    if (length < 0) {
        return length;
    }
    request->opcode = opcode;
    request->frame = frame;
    request->payload_length = (size_t)length - TENDON_OBVIOUS_FRAME_OVERHEAD;
    return TENDON_OK;
}

/* ---- the outstanding request ---- */

static uint32_t time_limit(uint8_t opcode) {
    unsigned seconds = opcode == TENDON_OBVIOUS_XFER_BEGIN                                       ? 15
                       : opcode == TENDON_OBVIOUS_XFER_END                                       ? 30
                       : opcode == TENDON_OBVIOUS_FW_ACTIVATE || opcode == TENDON_OBVIOUS_REBOOT ? 10
                                                                                                 : 5;
    return seconds * 1000;
}

/* A request that must not be executed twice is not repeated: its caller queries the state instead. */
static bool may_repeat(const tendon_obvious_request *request) {
    switch (request->opcode) {
    case TENDON_OBVIOUS_FW_ACTIVATE:
    case TENDON_OBVIOUS_FW_CONFIRM:
    case TENDON_OBVIOUS_REBOOT:
        return false;
    case TENDON_OBVIOUS_FEATURE_TOGGLE:
        break;
    default:
        return true;
    }
    const uint8_t *payload = request->frame + TENDON_OBVIOUS_FRAME_HEADER;
    for (size_t toggle = 3; toggle < request->payload_length; toggle += 3) {
        if (payload[toggle] == TENDON_OBVIOUS_TOGGLE_FLIP) {
            return false;
        }
    }
    return true;
}

/* The limit of time begins when the device has the frame: until then the limits of the sender apply, because a long
 * frame takes longer than the limit over a slow connection. */
static void send_frame(tendon_obvious_requests *requests) {
    const tendon_obvious_request *request = requests->first;
    requests->waiting = false;
    requests->deadline = UINT64_MAX;
    tendon_status status = requests->handler->start(
        requests->context, request->frame, request->payload_length + TENDON_OBVIOUS_FRAME_OVERHEAD, requests->now);
    if (status < 0) { /* not possible while the sender is free */
        requests->deadline = requests->now;
    }
}

/* The first one of the queue, with a new id. */
static void send_new(tendon_obvious_requests *requests) {
    tendon_obvious_request *request = requests->first;
    requests->corr = requests->corr == UINT16_MAX ? 1 : (uint16_t)(requests->corr + 1);
    const tendon_obvious_frame header = {.opcode = request->opcode, .corr = requests->corr};
    requests->outstanding = true;
    requests->repeats = 0;
    (void)tendon_obvious_seal_frame(&header, request->payload_length, request->frame,
                                    request->payload_length + TENDON_OBVIOUS_FRAME_OVERHEAD);
    send_frame(requests);
}

static void send_next(tendon_obvious_requests *requests) {
    if (!requests->outstanding && !requests->failing && requests->first != NULL) {
        requests->busy = 0;
        send_new(requests);
    }
}

/* Ends the first one of the queue. */
static void end_first(tendon_obvious_requests *requests, tendon_status status, const tendon_obvious_payload *payload) {
    tendon_obvious_request *request = requests->first;
    const tendon_obvious_response response = {status, payload};
    requests->first = request->following;
    requests->count--;
    requests->outstanding = false;
    request->on_done(request->context, request, &response, requests->now);
}

/* The device has the request, or never gets it: the sender is free for the next one. */
static void complete(tendon_obvious_requests *requests, tendon_status status, const tendon_obvious_payload *payload) {
    requests->handler->cancel(requests->context);
    end_first(requests, status, payload);
    send_next(requests);
}

tendon_status tendon_obvious_requests_add(tendon_obvious_requests *requests, tendon_obvious_request *request,
                                          uint64_t now) {
    requests->now = now;
    if (requests->count == TENDON_OBVIOUS_REQUESTS_MAX) {
        return TENDON_GATT_ERROR_QUEUE_FULL;
    }
    tendon_obvious_request **end = &requests->first;
    while (*end != NULL) {
        end = &(*end)->following;
    }
    request->following = NULL;
    *end = request;
    requests->count++;
    send_next(requests);
    return TENDON_OK;
}

void tendon_obvious_requests_fail(tendon_obvious_requests *requests, tendon_status status, uint64_t now) {
    requests->now = now;
    requests->failing = true;
    for (unsigned left = requests->count; left > 0; left--) {
        end_first(requests, status, NULL);
    }
    requests->failing = false;
    send_next(requests);
}

void tendon_obvious_requests_sent(tendon_obvious_requests *requests, tendon_status status, uint64_t now) {
    requests->now = now;
    if (status < 0) {
        tendon_obvious_requests_fail(requests, status, now);
    } else if (requests->outstanding && !requests->waiting) {
        requests->deadline = now + time_limit(requests->first->opcode);
    }
}

/* ---- frames in ---- */

static void take_response(tendon_obvious_requests *requests, const tendon_obvious_frame *frame) {
    if (!requests->outstanding || requests->waiting || frame->corr != requests->corr ||
        frame->opcode != requests->first->opcode) {
        requests->ignored++;
        return;
    }
    tendon_obvious_payload payload;
    tendon_status status = tendon_obvious_decode_payload(frame, &payload);
    if (status != TENDON_OK) {
        complete(requests, status, NULL);
        return;
    }
    status = tendon_obvious_status_from_wire(frame->status);
    if (status == TENDON_OBVIOUS_ERROR_BUSY && requests->busy < TENDON_OBVIOUS_BUSY_REPEATS) {
        requests->handler->cancel(requests->context);
        requests->busy++;
        requests->waiting = true;
        requests->deadline = requests->now + TENDON_OBVIOUS_BUSY_REPEAT_MS;
        return;
    }
    bool has_payload = status == TENDON_OK || status == TENDON_OBVIOUS_ERROR_BAD_OFFSET;
    complete(requests, status, has_payload ? &payload : NULL);
}

bool tendon_obvious_requests_message(tendon_obvious_requests *requests, const uint8_t *data, size_t length,
                                     size_t frame_max, uint64_t now) {
    requests->now = now;
    tendon_obvious_frame frame;
    if (tendon_obvious_decode_frame(data, length, frame_max, &frame) != TENDON_OK) {
        requests->ignored++;
        return false;
    }
    if ((frame.flags & TENDON_OBVIOUS_RESPONSE) != 0) {
        take_response(requests, &frame);
        return true;
    }
    tendon_obvious_payload payload;
    if ((frame.flags & TENDON_OBVIOUS_EVENT) != 0 && tendon_obvious_decode_payload(&frame, &payload) == TENDON_OK) {
        requests->handler->on_event(requests->context, frame.opcode, &payload, now);
    } else {
        requests->ignored++;
    }
    return true;
}

void tendon_obvious_requests_tick(tendon_obvious_requests *requests, uint64_t now) {
    requests->now = now;
    if (now < tendon_obvious_requests_deadline(requests)) {
        return;
    }
    if (requests->waiting) {
        send_new(requests);
    } else if (requests->repeats < TENDON_OBVIOUS_REQUEST_REPEATS && may_repeat(requests->first)) {
        requests->repeats++;
        requests->handler->cancel(requests->context);
        send_frame(requests);
    } else {
        complete(requests, TENDON_ERROR_TIMEOUT, NULL);
    }
}

uint64_t tendon_obvious_requests_deadline(const tendon_obvious_requests *requests) {
    return requests->outstanding ? requests->deadline : UINT64_MAX;
}
