/* SPDX-License-Identifier: MIT */
#include "tendon/devices/toy_session.h"

enum { DISCOVER = 1, SUBSCRIBE };

static void tell(tendon_toy_session *s, tendon_toy_event_kind kind, tendon_status status, tendon_toy_level level) {
    const tendon_toy_event event = {.kind = kind, .status = status, .level = level};
    s->on_event(s->context, &event, s->op.now);
}

static void fail(tendon_toy_session *s, tendon_status status) {
    s->failure = status;
    s->link.disconnect(s->link.context);
}

static uint8_t row_of(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic) {
    (void)context;
    (void)row;
    *service = tendon_uuid_from_u16(TENDON_TOY_SERVICE);
    *characteristic = tendon_uuid_from_u16(TENDON_TOY_LEVEL);
    return TENDON_PROFILE_REQUIRED | TENDON_PROFILE_CCCD;
}

static void on_level(void *context, const tendon_gatt_value *value, uint64_t now) {
    tendon_toy_session *s = context;
    tendon_toy_level level = {0};
    s->op.now = now;
    tendon_status status = tendon_toy_decode_level(value->value, value->length, &level);
    s->notifications++;
    s->rejected += status < 0;
    tell(s, status < 0 ? TENDON_TOY_EVENT_REJECTED : TENDON_TOY_EVENT_LEVEL, status, level);
}

static void done(void *context, const tendon_gatt_result *result) {
    tendon_toy_session *s = context;
    if (s->op.client == NULL || tendon_operation_ended(&s->op, result) != SUBSCRIBE) {
        return;
    }
    if (result->status < 0) {
        fail(s, result->status);
    } else {
        tell(s, TENDON_TOY_EVENT_OPEN, TENDON_OK, (tendon_toy_level){0});
    }
}

static void discovered(void *context, tendon_status status, size_t row, uint64_t now) {
    tendon_toy_session *s = context;
    (void)row;
    s->op.now = now;
    tendon_operation_reset(&s->op);
    if (s->op.client == NULL) {
        return; /* the connection has ended; disconnected() follows */
    }
    if (status < 0) {
        fail(s, status);
    } else {
        tendon_operation_subscribe(&s->op, SUBSCRIBE, &s->found, false, on_level);
    }
}

static void on_connected(void *context, tendon_gatt_client *client, uint64_t now) {
    tendon_toy_session *s = context;
    s->op.client = client;
    s->op.now = now;
    s->failure = TENDON_OK;
    tendon_operation_reset(&s->op);
    tendon_operation_discover(&s->op, DISCOVER, &s->discovery, row_of, &s->found, 1, discovered);
}

static void on_disconnected(void *context, tendon_status reason, uint64_t now) {
    tendon_toy_session *s = context;
    s->op.client = NULL;
    s->op.now = now;
    tendon_operation_reset(&s->op);
    tell(s, TENDON_TOY_EVENT_CLOSED, s->failure < 0 ? s->failure : reason, (tendon_toy_level){0});
}

static void on_paired(void *context, tendon_status status, uint64_t now) {
    (void)context;
    (void)status;
    (void)now;
}

static void on_tick(void *context, uint64_t now) {
    ((tendon_toy_session *)context)->op.now = now;
}

static uint64_t deadline(const void *context) {
    (void)context;
    return UINT64_MAX;
}

const tendon_session_inputs tendon_toy_session_inputs = {.connected = on_connected,
                                                         .disconnected = on_disconnected,
                                                         .paired = on_paired,
                                                         .tick = on_tick,
                                                         .deadline = deadline};

static const tendon_operation_rules rules = {.done = done};

void tendon_toy_session_init(tendon_toy_session *session, tendon_session_link link, void *context,
                             void (*on_event)(void *context, const tendon_toy_event *event, uint64_t now)) {
    *session = (tendon_toy_session){.link = link, .context = context, .on_event = on_event};
    session->op.rules = &rules;
    session->op.context = session;
}
