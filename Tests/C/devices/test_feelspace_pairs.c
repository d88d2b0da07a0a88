/* SPDX-License-Identifier: MIT */
/* Every pair of connection state and input. A pair that is not in the table fails. */
#include "feelspace_fixture.h"
#include "feelspace_pairs.h"

static void reach(belt *b, situation where) {
    static const tendon_feelspace_state states[SITUATIONS] = {
        [SCANNING] = TENDON_FEELSPACE_SCANNING,
        [CONNECTING] = TENDON_FEELSPACE_CONNECTING,
        [DISCOVERING] = TENDON_FEELSPACE_DISCOVERING_SERVICES,
        [HANDSHAKE] = TENDON_FEELSPACE_HANDSHAKE,
        [CONNECTED] = TENDON_FEELSPACE_CONNECTED,
        [RECONNECTING] = TENDON_FEELSPACE_RECONNECTING,
    };
    switch (where) {
    case DRAINING:
    case AWAITING:
        belt_open(b);
        tendon_feelspace_session_disconnect(&b->session, b->now);
        assert_true(b->session.work.draining);
        if (where == AWAITING) {
            assert_int_equal(tendon_feelspace_session_connect(&b->session, NULL, NULL, b->now), TENDON_OK);
        }
        break;
    case PAIRING:
        b->is_bonded = false;
        belt_connect(b);
        belt_run(b);
        assert_int_equal(b->pairs, 1);
        break;
    default:
        belt_reach(b, states[where]);
        break;
    }
}

static void apply(belt *b, input what) {
    const tendon_session_inputs *inputs = &tendon_feelspace_session_inputs;
    tendon_feelspace_session *session = &b->session;
    static const uint8_t advertisement[] = "\x03\x02\x51\xFE\x0F\x09naviGuertel 12";
    const tendon_ad_report report = {
        .address = belt_address, .data = advertisement, .length = sizeof advertisement - 1};
    uint64_t due = inputs->deadline(session);
    switch (what) {
    case IN_CONNECTED:
        if (b->up) {
            inputs->connected(session, &b->client, b->now); /* once more */
        } else {
            belt_link_up(b);
        }
        break;
    case IN_DISCONNECTED:
        belt_lose(b, TENDON_HCI_ERROR(0x08));
        break;
    case IN_PAIRED:
    case IN_PAIRING_FAILED:
        inputs->paired(session, what == IN_PAIRED ? TENDON_OK : TENDON_RADIO_ERROR_PAIRING_FAILED, b->now);
        break;
    case IN_TICK:
        inputs->tick(session, b->now);
        break;
    case IN_DEADLINE:
        if (due != UINT64_MAX) {
            b->now = due;
        }
        inputs->tick(session, b->now);
        break;
    case IN_ADAPTER_ON:
        tendon_feelspace_session_adapter(session, TENDON_FEELSPACE_ADAPTER_ON, b->now);
        break;
    case IN_ADAPTER_OFF:
        tendon_feelspace_session_adapter(session, TENDON_FEELSPACE_ADAPTER_OFF, b->now);
        break;
    case IN_ADAPTER_UNKNOWN:
        tendon_feelspace_session_adapter(session, TENDON_FEELSPACE_ADAPTER_UNKNOWN, b->now);
        break;
    case IN_SCAN:
        (void)tendon_feelspace_session_scan(session, 0, b->now);
        break;
    case IN_STOP_SCAN:
        tendon_feelspace_session_stop_scan(session, b->now);
        break;
    case IN_CONNECT:
        (void)tendon_feelspace_session_connect(session, &belt_address, NULL, b->now);
        break;
    case IN_DISCONNECT:
        tendon_feelspace_session_disconnect(session, b->now);
        break;
    case IN_ADVERTISED:
        tendon_feelspace_session_advertised(session, &report, b->now);
        break;
    case IN_COMMAND: {
        tendon_status expected = session->state == TENDON_FEELSPACE_CONNECTED ? TENDON_OK : TENDON_ERROR_DISCONNECTED;
        assert_int_equal(tendon_feelspace_session_set_mode(session, TENDON_FEELSPACE_MODE_APP, b->now), expected);
        break;
    }
    case INPUTS:
        fail();
    }
}

static void every_state_with_every_input(void **state) {
    (void)state;
    for (int where = 0; where < SITUATIONS; where++) {
        for (int what = 0; what < INPUTS; what++) {
            const outcome *expected = &table[where][what];
            if (!expected->known) {
                fail_msg("%s with %s is not in the table", situation_names[where], input_names[what]);
            }
            void *fresh = NULL;
            belt_setup(&fresh);
            belt *b = fresh;
            reach(b, (situation)where);
            b->event_count = 0;
            uint64_t illegal = b->session.counters.illegal_inputs;
            int connects = b->connects, disconnects = b->disconnects;
            apply(b, (input)what);
            bool good = b->session.state == expected->next && (int)b->event_count == expected->events &&
                        b->session.counters.illegal_inputs == illegal + expected->illegal &&
                        b->connects == connects + expected->asks && b->disconnects == disconnects + expected->hangs_up;
            if (!good) {
                fail_msg("%s with %s: state %d, %zu events, %d asked, %d hung up, illegal %d", situation_names[where],
                         input_names[what], b->session.state, b->event_count, b->connects - connects,
                         b->disconnects - disconnects, (int)(b->session.counters.illegal_inputs - illegal));
            }
            assert_true(b->session.op.client == NULL || b->session.state >= TENDON_FEELSPACE_DISCOVERING_SERVICES);
            belt_teardown(&fresh);
        }
    }
}

/* A call in a callback, at the first event of this kind. */
static input call_within;
static tendon_feelspace_event_kind at_event;

static void call_once(belt *b, const tendon_feelspace_event *event) {
    if (event->kind == at_event && b->hooked++ == 0) {
        apply(b, call_within);
    }
}

/* Every change of state that was reported was one: what it names is the state of the session. */
static void check_reported_states(const belt *b) {
    for (size_t i = 0; i < b->event_count; i++) {
        const belt_seen *seen = &b->events[i];
        bool refused = seen->event.connection.error == TENDON_FEELSPACE_CONNECTION_REFUSED;
        if (seen->event.kind == TENDON_FEELSPACE_EVENT_STATE && !refused) {
            assert_int_equal(seen->event.connection.state, seen->state);
        }
    }
}

/* A connection ends, and the program calls from the end of a command or of the log, before the end is reported: what
 * begins is rejected, and disconnect() gives up what would be reconnected. */
static void every_call_while_a_connection_ends(void **state) {
    static const input calls[] = {IN_TICK,      IN_ADAPTER_ON, IN_ADAPTER_OFF, IN_SCAN,
                                  IN_STOP_SCAN, IN_CONNECT,    IN_DISCONNECT,  IN_ADVERTISED};
    enum { BY_BELT, BY_SILENCE, BY_CALL, WAYS };
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        for (int how = 0; how < WAYS * 4; how++) {
            const int way = how % WAYS;
            const bool reconnects = how / WAYS % 2 != 0, of_log = how / WAYS / 2 != 0;
            if (way == BY_SILENCE && !reconnects) {
                continue; /* then silence is no loss */
            }
            void *fresh = NULL;
            belt_setup(&fresh);
            belt *b = fresh;
            b->config.reconnect = reconnects;
            belt_init(b);
            belt_open(b);
            belt_advance(b, 5500);
            b->mute = !of_log;
            assert_int_equal(of_log ? tendon_feelspace_session_request_log(&b->session, b->now)
                                    : tendon_feelspace_session_signal(&b->session, 0, b->now),
                             TENDON_OK);
            belt_run(b);
            call_within = calls[i];
            at_event = of_log ? TENDON_FEELSPACE_EVENT_LOG_FINISHED : TENDON_FEELSPACE_EVENT_COMMAND;
            b->hook = call_once;
            b->hooked = 0;
            b->event_count = 0;
            int connects = b->connects;
            if (way == BY_BELT) {
                belt_lose(b, TENDON_HCI_ERROR(0x08));
            } else if (way == BY_SILENCE) {
                b->now += 500;
                tendon_feelspace_session_inputs.tick(&b->session, b->now);
            } else {
                tendon_feelspace_session_disconnect(&b->session, b->now);
            }
            assert_int_equal(b->hooked, 1);
            bool given_up = calls[i] == IN_DISCONNECT || calls[i] == IN_ADAPTER_OFF || way == BY_CALL || !reconnects;
            assert_int_equal(b->session.state,
                             given_up ? TENDON_FEELSPACE_NOT_CONNECTED : TENDON_FEELSPACE_RECONNECTING);
            const tendon_feelspace_event *last = &belt_last(b, TENDON_FEELSPACE_EVENT_STATE)->event;
            assert_int_equal(last->connection.event, way == BY_CALL ? TENDON_FEELSPACE_CONNECTION_CLOSED
                                                     : given_up     ? TENDON_FEELSPACE_CONNECTION_LOST
                                                                    : TENDON_FEELSPACE_RECONNECTION_STARTED);
            assert_int_equal(last->connection.previous, TENDON_FEELSPACE_CONNECTED);
            assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_STATE), 1);
            check_reported_states(b);
            assert_int_equal(b->connects, connects);
            b->hook = NULL;
            if (b->up) {
                belt_lose(b, TENDON_ERROR_CANCELLED);
            }
            belt_advance(b, 3000);
            assert_int_equal(b->connects, connects + !given_up);
            belt_teardown(&fresh);
        }
    }
}

/* The same when a search has ended, which is reported before the state: there the program may begin again. */
static void every_call_when_a_search_has_ended(void **state) {
    (void)state;
    for (int what = IN_TICK; what < IN_COMMAND; what++) {
        for (int how = 0; how < 3; how++) {
            void *fresh = NULL;
            belt_setup(&fresh);
            belt *b = fresh;
            assert_int_equal(tendon_feelspace_session_scan(&b->session, 0, b->now), TENDON_OK);
            call_within = (input)what;
            at_event = TENDON_FEELSPACE_EVENT_SCAN_FINISHED;
            b->hook = call_once;
            if (how == 0) {
                belt_advance(b, 15000);
            } else {
                apply(b, how == 1 ? IN_STOP_SCAN : IN_ADAPTER_OFF);
            }
            bool scans = what == IN_SCAN && how != 2; /* without an adapter neither begins */
            bool connects = what == IN_CONNECT && how != 2;
            assert_int_equal(b->session.state, scans      ? TENDON_FEELSPACE_SCANNING
                                               : connects ? TENDON_FEELSPACE_CONNECTING
                                                          : TENDON_FEELSPACE_NOT_CONNECTED);
            assert_int_equal(belt_last(b, TENDON_FEELSPACE_EVENT_STATE)->event.connection.state, b->session.state);
            check_reported_states(b);
            belt_teardown(&fresh);
        }
    }
}

/* Whatever happens, in whatever order: no input harms, and the session opens again afterwards. */
static void random_inputs_leave_a_session_that_opens(void **state) {
    uint32_t random = 0x5EED;
    (void)state;
    for (int round = 0; round < 2000; round++) {
        void *fresh = NULL;
        belt_setup(&fresh);
        belt *b = fresh;
        b->config.reconnect = round % 2 == 0;
        b->is_bonded = round % 3 != 0;
        belt_init(b);
        for (int i = 0; i < 60; i++) {
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            unsigned what = random % (INPUTS + 4);
            b->event_count = 0;
            if (what == IN_CONNECTED && b->up) {
                continue; /* one link at a time */
            }
            if (what == IN_CONNECTED) {
                belt_link_up(b);
            } else if (what < INPUTS) {
                apply(b, (input)what);
            } else if (what == INPUTS) {
                belt_run(b);
            } else if (what == INPUTS + 1) {
                belt_mode(b, (uint8_t)(random >> 8) % 8);
            } else if (what == INPUTS + 2) {
                belt_press(b, (uint8_t)(random >> 8) % 5, 1, (uint8_t)(random >> 16) % 7, (uint8_t)(random >> 20) % 7);
            } else {
                belt_advance(b, random % 3000);
            }
        }
        b->event_count = 0;
        tendon_feelspace_session_adapter(&b->session, TENDON_FEELSPACE_ADAPTER_ON, b->now);
        tendon_feelspace_session_stop_scan(&b->session, b->now);
        tendon_feelspace_session_disconnect(&b->session, b->now);
        if (b->up || b->session.work.draining) {
            belt_lose(b, TENDON_ERROR_CANCELLED);
        }
        b->is_bonded = true;
        b->mode = TENDON_FEELSPACE_MODE_WAIT;
        belt_open(b);
        belt_teardown(&fresh);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_with_every_input),
        cmocka_unit_test(every_call_while_a_connection_ends),
        cmocka_unit_test(every_call_when_a_search_has_ended),
        cmocka_unit_test(random_inputs_leave_a_session_that_opens),
    };
    return cmocka_run_group_tests_name("feelspace_pairs", tests, NULL, NULL);
}
