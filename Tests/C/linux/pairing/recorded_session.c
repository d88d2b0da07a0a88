/* SPDX-License-Identifier: MIT */
#include "recorded_session.h"

static void on_connected(void *session, tendon_gatt_client *client, uint64_t now) {
    recorded_session *s = session;
    (void)now;
    s->connected++;
    s->client = client;
}

static void on_disconnected(void *session, tendon_status reason, uint64_t now) {
    recorded_session *s = session;
    (void)now;
    s->disconnected++;
    s->reason = reason;
    s->client = NULL;
}

static void on_paired(void *session, tendon_status status, uint64_t now) {
    recorded_session *s = session;
    (void)now;
    assert_false(s->inside); /* never from within pair() */
    s->paired++;
    s->pair_status = status;
}

static void on_tick(void *session, uint64_t now) {
    (void)session;
    (void)now;
}

static uint64_t no_deadline(const void *session) {
    (void)session;
    return UINT64_MAX;
}

const tendon_session_inputs recorded_session_inputs = {.connected = on_connected,
                                                       .disconnected = on_disconnected,
                                                       .paired = on_paired,
                                                       .tick = on_tick,
                                                       .deadline = no_deadline,
                                                       .pairs = true};
