/* SPDX-License-Identifier: MIT */
#include "tendon/devices/toy_session.h"

static void emit(tendon_toy_session *s, tendon_toy_event_kind kind, tendon_status status, tendon_toy_level level) {
    const tendon_toy_event event = {.kind = kind, .status = status, .level = level};
    s->on_event(s->context, &event, s->engine.op.now);
}

static uint8_t row_of(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic) {
    (void)context;
    (void)row;
    *service = tendon_uuid_from_u16(TENDON_TOY_SERVICE);
    *characteristic = tendon_uuid_from_u16(TENDON_TOY_LEVEL);
    return TENDON_PROFILE_REQUIRED | TENDON_PROFILE_CCCD;
}

static void took(void *self, size_t row, const uint8_t *value, size_t length) {
    tendon_toy_session *s = self;
    tendon_toy_level level = {0};
    (void)row;
    tendon_status status = tendon_toy_decode_level(value, length, &level);
    s->notifications++;
    s->rejected += status < 0;
    emit(s, status < 0 ? TENDON_TOY_EVENT_REJECTED : TENDON_TOY_EVENT_LEVEL, status, level);
}

static void changed(void *self, tendon_engine_state state, tendon_status why) {
    if (state == TENDON_ENGINE_OPEN) {
        emit(self, TENDON_TOY_EVENT_OPEN, TENDON_OK, (tendon_toy_level){0});
    } else if (state == TENDON_ENGINE_AWAY) {
        tendon_engine_expect(&((tendon_toy_session *)self)->engine);
        emit(self, TENDON_TOY_EVENT_CLOSED, why, (tendon_toy_level){0});
    }
}

static const tendon_engine_step opening[] = {
    {TENDON_STEP_DISCOVER, 0, 0}, {TENDON_STEP_SUBSCRIBE, 0, 0}, {TENDON_STEP_OPEN, 0, 0}};

static const tendon_engine_family toy = {.rules = {TENDON_ENGINE_RULES},
                                         .opening = opening,
                                         .steps = sizeof opening / sizeof opening[0],
                                         .row_of = row_of,
                                         .took = took,
                                         .changed = changed};

const tendon_session_inputs tendon_toy_session_inputs = {.connected = tendon_engine_on_connected,
                                                         .disconnected = tendon_engine_on_disconnected,
                                                         .paired = tendon_engine_on_paired,
                                                         .tick = tendon_engine_on_tick,
                                                         .deadline = tendon_engine_deadline};

void tendon_toy_session_init(tendon_toy_session *session, tendon_session_link link, void *context,
                             void (*on_event)(void *context, const tendon_toy_event *event, uint64_t now)) {
    *session = (tendon_toy_session){.link = link, .context = context, .on_event = on_event};
    tendon_engine_init(&session->engine, &toy, &session->link, &session->found, 1, NULL, &session->illegal_inputs);
    tendon_engine_expect(&session->engine);
}
