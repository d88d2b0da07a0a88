/* SPDX-License-Identifier: MIT */
/* Requests and events of a session, over the receiver and the sender. session_open.c has the connection. */
#include "session_parts.h"

#include <string.h>

enum { PROTOCOL_VERSION = 1 };

static void emit(tendon_obvious_session *s, const tendon_obvious_session_event *event) {
    s->config.on_event(s->config.context, event, s->op.now);
}

void tendon_obvious_session_tell(tendon_obvious_session *s, tendon_obvious_session_event_kind kind,
                                 tendon_status status) {
    const tendon_obvious_session_event event = {.kind = kind, .status = status, .cause = s->work.cause};
    emit(s, &event);
}

/* ---- ends ---- */

void tendon_obvious_session_close(tendon_obvious_session *s, tendon_status reason) {
    s->state = TENDON_OBVIOUS_SESSION_CLOSING;
    s->work.step = STEP_NONE;
    s->work.deadline = UINT64_MAX;
    s->work.reason = reason;
    s->config.link.disconnect(s->config.link.context);
}

/* The connection stays, so that the device is not connected to again and again, but nothing more is written. */
void tendon_obvious_session_give_up(tendon_obvious_session *s, tendon_status status, tendon_status cause) {
    s->state = TENDON_OBVIOUS_SESSION_UNUSABLE;
    s->work.step = STEP_NONE;
    s->work.deadline = UINT64_MAX;
    s->work.cause = cause;
    s->status = status;
    tendon_obvious_requests_fail(&s->requests, status, s->op.now);
    tendon_obvious_session_tell(s, TENDON_OBVIOUS_SESSION_EVENT_UNUSABLE, status);
}

static void count_error(tendon_obvious_session *s) {
    s->counters.errors++;
    if (s->op.now - s->work.errors_at >= TENDON_OBVIOUS_ERRORS_MS) {
        s->work.errors_at = s->op.now;
        s->work.errors = 0;
    }
    s->work.errors++;
    if (s->work.errors == TENDON_OBVIOUS_ERRORS_MAX && s->state != TENDON_OBVIOUS_SESSION_CLOSING) {
        s->work.banned_until = s->op.now + TENDON_OBVIOUS_BAN_MS;
        tendon_obvious_session_close(s, TENDON_OBVIOUS_ERROR_PROTOCOL);
    }
}

/* ---- segments out ---- */

static tendon_status write_segment(void *context, const uint8_t *segment, size_t length) {
    tendon_obvious_session *s = context;
    uint16_t handle = s->found[DATA].value;
    if (s->op.client == NULL || s->state >= TENDON_OBVIOUS_SESSION_UNUSABLE) {
        return TENDON_ERROR_DISCONNECTED;
    }
    if ((s->found[DATA].properties & TENDON_GATT_WRITE_WITHOUT_RESPONSE) != 0) {
        return tendon_gatt_write_command(s->op.client, handle, segment, length);
    }
    if (s->op.kind != 0) {
        return TENDON_ERROR_WOULD_BLOCK;
    }
    memcpy(s->scratch.segment, segment, length);
    bool outer = s->work.inside;
    s->work.inside = true;
    tendon_operation_start(&s->op, WRITE, TENDON_OPERATION_WRITE, handle, s->scratch.segment, length);
    s->work.inside = outer;
    return TENDON_OK;
}

static void send_control(void *context, const uint8_t control[TENDON_OBVIOUS_CONTROL_SIZE]) {
    tendon_obvious_session *s = context;
    s->work.waiting = write_segment(s, control, TENDON_OBVIOUS_CONTROL_SIZE) == TENDON_ERROR_WOULD_BLOCK;
    if (s->work.waiting) { /* the newest replaces the others: it reports more */
        memcpy(s->work.control, control, TENDON_OBVIOUS_CONTROL_SIZE);
    }
}

void tendon_obvious_session_writable(void *context, uint64_t now) {
    tendon_obvious_session *s = context;
    s->op.now = now;
    if (s->work.waiting) {
        send_control(s, s->work.control);
    }
    if (!s->work.waiting) {
        tendon_obvious_sender_writable(&s->sender, now);
    }
}

static tendon_status start_frame(void *context, const uint8_t *frame, size_t length, uint64_t now) {
    tendon_obvious_session *s = context;
    bool command = (s->found[DATA].properties & TENDON_GATT_WRITE_WITHOUT_RESPONSE) != 0;
    size_t mtu = s->op.client != NULL ? s->op.client->bearer->mtu : 0;
    s->work.active_at = now;
    if (!command && mtu > TENDON_OBVIOUS_WRITE_MAX + 3) {
        mtu = TENDON_OBVIOUS_WRITE_MAX + 3;
    }
    return tendon_obvious_sender_start(&s->sender, frame, length, mtu, now);
}

static void cancel_frame(void *context) {
    tendon_obvious_session *s = context;
    tendon_obvious_sender_cancel(&s->sender);
}

/* A failure is handled by the next tick: this may be within a call of the application. */
static void on_sent(void *context, tendon_status status, uint64_t now) {
    tendon_obvious_session *s = context;
    if (status < 0) {
        s->work.lost = true;
    } else {
        tendon_obvious_requests_sent(&s->requests, status, now);
    }
}

/* ---- segments in ---- */

static void on_segment_error(void *context, tendon_status status) {
    bool harmless = status <= TENDON_OBVIOUS_ERROR_SEG_DUP && status >= TENDON_OBVIOUS_ERROR_SEG_WINDOW;
    if (!harmless) {
        count_error(context);
    }
}

static bool on_message(void *context, const uint8_t *frame, size_t length, uint64_t now) {
    tendon_obvious_session *s = context;
    uint32_t ignored = s->requests.ignored;
    bool valid = tendon_obvious_requests_message(&s->requests, frame, length, s->frame_max, now);
    if (s->requests.ignored != ignored) {
        count_error(s);
    }
    return valid;
}

static void on_control(void *context, const tendon_obvious_control *control, uint64_t now) {
    tendon_obvious_session *s = context;
    tendon_obvious_sender_control(&s->sender, control, now);
}

static void on_event(void *context, uint8_t opcode, const tendon_obvious_payload *payload, uint64_t now) {
    tendon_obvious_session *s = context;
    (void)now; /* that of the value */
    if (s->state == TENDON_OBVIOUS_SESSION_OPEN) {
        const tendon_obvious_session_event event = {.kind = TENDON_OBVIOUS_SESSION_EVENT_DEVICE,
                                                    .status = TENDON_OK,
                                                    .cause = TENDON_OK,
                                                    .received_at = s->op.client->bearer->received_at,
                                                    .opcode = opcode,
                                                    .payload = payload};
        emit(s, &event);
    }
}

void tendon_obvious_session_value(void *context, const tendon_gatt_value *value, uint64_t now) {
    tendon_obvious_session *s = context;
    s->op.now = now;
    s->counters.segments++;
    if (s->state != TENDON_OBVIOUS_SESSION_CLOSING) {
        tendon_obvious_receiver_segment(&s->receiver, value->value, value->length, now);
    }
}

static const tendon_obvious_receiver_handler receiver_handler = {on_message, on_segment_error, on_control,
                                                                 send_control};
static const tendon_obvious_sender_handler sender_handler = {write_segment, on_sent};
static const tendon_obvious_requests_handler requests_handler = {start_frame, cancel_frame, on_event};

void tendon_obvious_session_prepare(tendon_obvious_session *s) {
    tendon_obvious_requests_init(&s->requests, &requests_handler, s);
    tendon_obvious_receiver_init(&s->receiver, s->config.memory + s->config.frame_max, s->config.frame_max,
                                 &receiver_handler, s);
    tendon_obvious_sender_init(&s->sender, &sender_handler, s);
}

/* ---- requests ---- */

static tendon_status take_hello(tendon_obvious_session *s, const tendon_obvious_response *response) {
    if (response->status != TENDON_OK) {
        bool answered = TENDON_STATUS_LAYER(response->status) == TENDON_LAYER_OBVIOUS;
        return answered ? TENDON_OBVIOUS_ERROR_PROTOCOL : response->status;
    }
    if (response->payload->hello_response.proto != PROTOCOL_VERSION) {
        return TENDON_OBVIOUS_ERROR_PROTOCOL;
    }
    uint16_t theirs = response->payload->hello_response.max_frame;
    s->frame_max = theirs < s->config.frame_max ? theirs : s->config.frame_max;
    s->caps = response->payload->hello_response.caps;
    s->boot_id = response->payload->hello_response.boot_id;
    tendon_obvious_receiver_set_limits(&s->receiver, s->window, s->frame_max);
    tendon_obvious_sender_set_window(&s->sender, response->payload->hello_response.window);
    return TENDON_OK;
}

static tendon_status take_info(tendon_obvious_session *s, const tendon_obvious_response *response) {
    if (response->status != TENDON_OK) {
        return response->status;
    }
    if (s->has_serial && s->serial != response->payload->device_info.serial) {
        tendon_obvious_session_close(s, TENDON_OBVIOUS_ERROR_PROTOCOL);
        return TENDON_OBVIOUS_ERROR_PROTOCOL;
    }
    s->has_serial = true;
    s->serial = response->payload->device_info.serial;
    return TENDON_OK;
}

static void opened(tendon_obvious_session *s, tendon_status status, tendon_status cause) {
    if (status != TENDON_OK) {
        tendon_obvious_session_give_up(s, status, cause);
        return;
    }
    s->state = TENDON_OBVIOUS_SESSION_OPEN;
    s->work.step = STEP_NONE;
    s->work.active_at = s->op.now;
    tendon_obvious_session_tell(s, TENDON_OBVIOUS_SESSION_EVENT_OPENED, TENDON_OK);
}

static void on_done(void *context, tendon_obvious_request *request, const tendon_obvious_response *response,
                    uint64_t now) {
    tendon_obvious_session *s = context;
    tendon_obvious_response result = *response;
    tendon_obvious_on_response on_response = s->work.on_response;
    s->op.now = now;
    s->work.active_at = now;
    request->frame = NULL; /* free */
    if (request->opcode == TENDON_OBVIOUS_HELLO) {
        result.status = take_hello(s, response);
    } else if (request->opcode == TENDON_OBVIOUS_GET_DEVICE_INFO) {
        result.status = take_info(s, response);
    }
    bool refused = request->opcode == TENDON_OBVIOUS_HELLO && result.status == TENDON_OBVIOUS_ERROR_PROTOCOL;
    if (s->work.step == STEP_HELLO || (refused && s->state == TENDON_OBVIOUS_SESSION_OPEN)) {
        opened(s, result.status, response->status);
    }
    if (on_response != NULL) {
        on_response(s->work.context, &result, now);
    }
}

tendon_status tendon_obvious_session_ready(const tendon_obvious_session *s) {
    if (s->state == TENDON_OBVIOUS_SESSION_UNUSABLE) {
        return s->status;
    }
    if (s->state != TENDON_OBVIOUS_SESSION_OPEN) {
        return TENDON_ERROR_DISCONNECTED;
    }
    return s->request.frame != NULL ? TENDON_ERROR_BUSY : TENDON_OK;
}

tendon_status tendon_obvious_session_send(tendon_obvious_session *s, uint8_t opcode, size_t length,
                                          tendon_obvious_on_response on_response, void *context, uint64_t now) {
    s->request.opcode = opcode;
    s->request.payload_length = length;
    s->request.frame = s->config.memory;
    s->request.on_done = on_done;
    s->request.context = s;
    s->work.on_response = on_response;
    s->work.context = context;
    tendon_status status = tendon_obvious_requests_add(&s->requests, &s->request, now);
    if (status < 0) {
        s->request.frame = NULL;
    }
    return status;
}

/* The payload of HELLO is always the same. */
tendon_status tendon_obvious_session_start(tendon_obvious_session *s, uint8_t opcode,
                                           const tendon_obvious_payload *payload,
                                           tendon_obvious_on_response on_response, void *context, uint64_t now) {
    tendon_obvious_payload hello;
    if (opcode == TENDON_OBVIOUS_HELLO) {
        hello.hello.proto_min = hello.hello.proto_max = PROTOCOL_VERSION;
        hello.hello.max_frame = s->config.frame_max;
        hello.hello.window = s->window;
        hello.hello.reserved = 0;
        hello.hello.nonce = s->config.nonce;
        payload = &hello;
    }
    tendon_status status = tendon_obvious_request_prepare(&s->request, opcode, payload, s->config.memory, s->frame_max);
    if (status != TENDON_OK) {
        return status;
    }
    return tendon_obvious_session_send(s, opcode, s->request.payload_length, on_response, context, now);
}

tendon_status tendon_obvious_session_request(tendon_obvious_session *s, uint8_t opcode,
                                             const tendon_obvious_payload *payload,
                                             tendon_obvious_on_response on_response, void *context, uint64_t now) {
    tendon_status status = tendon_obvious_session_ready(s);
    if (status == TENDON_OK) {
        s->op.now = now;
        status = tendon_obvious_session_start(s, opcode, payload, on_response, context, now);
    }
    return status;
}
