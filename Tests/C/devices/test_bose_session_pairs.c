/* SPDX-License-Identifier: MIT */
/* Every state of a Bose session with every input: where it goes, and whether the table allows it. */
#include "bose_fixture.h"

#include <string.h>

typedef enum input {
    OPEN,
    CLOSE,
    CONNECTED,
    LOST_RANGE,
    LOST_PEER,
    LOST_CANCELLED,
    PAIRED_OK,
    PAIRED_FAILED,
    TICK_NOW,
    TICK_LATE, /* 30 s without an answer, from the device or from the link */
    STATUS_PLAIN,
    STATUS_PAIRING_MODE,
    STATUS_SUSPENDED,
    STATUS_OTHER_REASON,
    SENSORS,
    GESTURES,
    REFRESH,
    SENSOR_DATA,
    GESTURE_DATA,
    INPUT_COUNT
} input;

static const char *const input_names[INPUT_COUNT] = {
    "open",
    "close",
    "connected",
    "lost_range",
    "lost_peer",
    "lost_cancelled",
    "paired_ok",
    "paired_failed",
    "tick_now",
    "tick_late",
    "status_plain",
    "status_pairing_mode",
    "status_suspended",
    "status_other_reason",
    "sensors",
    "gestures",
    "refresh",
    "sensor_data",
    "gesture_data",
};

/* What a pair does. The next state, and X where the table does not allow the input: counted, harmless. */
enum {
    CD = TENDON_BOSE_CLOSED,
    CN = TENDON_BOSE_CONNECTING,
    DI = TENDON_BOSE_DISCOVERING,
    RI = TENDON_BOSE_READING_INFORMATION,
    WP = TENDON_BOSE_WAITING_PAIRING_MODE,
    BO = TENDON_BOSE_BONDING,
    ST = TENDON_BOSE_STARTING,
    OP = TENDON_BOSE_OPEN,
    SU = TENDON_BOSE_SUSPENDED,
    CG = TENDON_BOSE_CLOSING,
    X = 0x80
};

static const uint8_t expected[INPUT_COUNT][TENDON_BOSE_STATE_COUNT] = {
    /*                 closed  conn.   disc.   read    wait    bond    start   open    susp.   closing */
    [OPEN] = {CN, CN | X, DI | X, RI | X, WP | X, BO | X, ST | X, OP | X, SU | X, CG | X},
    [CLOSE] = {CD | X, CG, CG, CG, CG, CG, CG, CG, CG, CG},
    [CONNECTED] = {CD | X, DI, DI | X, RI | X, WP | X, BO | X, ST | X, OP | X, SU | X, CG | X},
    [LOST_RANGE] = {CD | X, CD, CD, CD, CD, CD, CD, CD, CD, CD},
    [LOST_PEER] = {CD | X, CD, CD, CD, CD, CD, CD, CD, CD, CD},
    [LOST_CANCELLED] = {CD | X, CD, CD, CD, CD, CD, CD, CD, CD, CD},
    [PAIRED_OK] = {CD | X, CN | X, DI | X, RI | X, WP | X, ST, ST | X, OP | X, SU | X, CG | X},
    [PAIRED_FAILED] = {CD | X, CN | X, DI | X, RI | X, WP | X, CG, ST | X, OP | X, SU | X, CG | X},
    [TICK_NOW] = {CD, CN, DI, RI, WP, BO, ST, OP, SU, CG},
    [TICK_LATE] = {CD, CD, CD, CD, WP, BO, CD, OP, SU, CD},
    [STATUS_PLAIN] = {CD, CN, DI, RI, ST, BO, ST, OP, OP, CG},
    [STATUS_PAIRING_MODE] = {CD, CN, DI, RI, BO, BO, ST, OP, OP, CG},
    [STATUS_SUSPENDED] = {CD, CN, DI, RI, ST, BO, ST, SU, SU, CG},
    [STATUS_OTHER_REASON] = {CD, CN, DI, RI, ST, BO, ST, SU, SU, CG},
    [SENSORS] = {CD | X, CN | X, DI | X, RI | X, WP | X, BO | X, ST | X, OP, SU, CG | X},
    [GESTURES] = {CD | X, CN | X, DI | X, RI | X, WP | X, BO | X, ST | X, OP, SU, CG | X},
    [REFRESH] = {CD | X, CN | X, DI | X, RI | X, WP | X, BO | X, ST | X, OP, SU, CG | X},
    [SENSOR_DATA] = {CD, CN, DI, RI, WP, BO, ST, OP, SU, CG},
    [GESTURE_DATA] = {CD, CN, DI, RI, WP, BO, ST, OP, SU, CG},
};

static void check_call(tendon_status status, bool legal) {
    assert_int_equal(status, legal ? TENDON_OK : TENDON_ERROR_WRONG_STATE);
}

static void apply(fixture *f, input what, bool legal) {
    switch (what) {
    case OPEN:
        check_call(tendon_bose_session_open(&f->session, f->now), legal);
        break;
    case CLOSE:
        check_call(tendon_bose_session_close(&f->session, f->now), legal);
        break;
    case CONNECTED:
        if (f->up) {
            tendon_bose_session_inputs.connected(&f->session, &f->client, f->now);
        } else {
            fixture_link_up(f);
        }
        break;
    case LOST_RANGE:
        fixture_lose(f, TENDON_RADIO_ERROR_OUT_OF_RANGE);
        break;
    case LOST_PEER:
        fixture_lose(f, TENDON_RADIO_ERROR_PEER_CLOSED);
        break;
    case LOST_CANCELLED:
        fixture_lose(f, TENDON_ERROR_CANCELLED);
        break;
    case PAIRED_OK:
        tendon_bose_session_inputs.paired(&f->session, TENDON_OK, f->now);
        break;
    case PAIRED_FAILED:
        tendon_bose_session_inputs.paired(&f->session, TENDON_RADIO_ERROR_PAIRING_FAILED, f->now);
        break;
    case TICK_NOW:
        tendon_bose_session_inputs.tick(&f->session, f->now);
        break;
    case TICK_LATE:
        fixture_advance(f, 30000);
        break;
    case STATUS_PLAIN:
        fixture_status(f, 0x0000);
        break;
    case STATUS_PAIRING_MODE:
        fixture_status(f, 0x0003);
        break;
    case STATUS_SUSPENDED:
        fixture_status(f, 0x1008);
        break;
    case STATUS_OTHER_REASON:
        fixture_status(f, 0x2008);
        break;
    case SENSORS:
        check_call(tendon_bose_session_configure_sensors(&f->session, &f->session.sensor_configuration, f->now), legal);
        break;
    case GESTURES:
        check_call(tendon_bose_session_configure_gestures(&f->session, &f->session.gesture_configuration, f->now),
                   legal);
        break;
    case REFRESH:
        check_call(tendon_bose_session_refresh(&f->session, TENDON_BOSE_DEVICE_INFORMATION, f->now), legal);
        break;
    case SENSOR_DATA:
        fixture_notify(f, H_SENSOR_DATA, "0003e800000000f00003");
        break;
    case GESTURE_DATA:
        fixture_notify(f, H_GESTURE_DATA, "c12710");
        break;
    case INPUT_COUNT:
    default:
        fail();
    }
}

/* Whatever a pair left behind, the session closes and opens again. */
static void opens_afterwards(fixture *f) {
    if (f->session.state != TENDON_BOSE_CLOSED && f->session.state != TENDON_BOSE_CLOSING) {
        assert_int_equal(tendon_bose_session_close(&f->session, f->now), TENDON_OK);
    }
    fixture_run(f);
    fixture_advance(f, 20000);
    assert_int_equal(f->session.state, TENDON_BOSE_CLOSED);
    if (f->up) {
        f->up = false;
        tendon_gatt_client_disconnected(&f->client, TENDON_ERROR_CANCELLED, f->now);
    }
    fixture_set(f, H_DEVICE, "0400402c010000000f0007000e08002f040000");
    fixture_open(f);
    assert_int_equal(f->session.state, TENDON_BOSE_OPEN);
}

static void check_pair(tendon_bose_state from, input what) {
    void *state;
    fixture_setup(&state);
    fixture *f = state;
    fixture_reach(f, from);
    bool legal = (expected[what][from] & X) == 0;
    tendon_bose_state next = (tendon_bose_state)(expected[what][from] & ~X);
    uint64_t illegal = f->session.counters.illegal_inputs;
    size_t events = f->event_count;
    f->mute = what == TICK_LATE;
    apply(f, what, legal);
    f->mute = false;
    if (f->session.state != next || f->session.counters.illegal_inputs - illegal != (legal ? 0 : 1)) {
        fail_msg("%s + %s -> %s, illegal %d", tendon_bose_state_name(from), input_names[what],
                 tendon_bose_state_name(f->session.state), (int)(f->session.counters.illegal_inputs - illegal));
    }
    if (!legal) {
        assert_int_equal(f->event_count, events);
    }
    opens_afterwards(f);
    fixture_teardown(&state);
}

static void every_pair_of_state_and_input(void **unused) {
    (void)unused;
    for (int from = 0; from < TENDON_BOSE_STATE_COUNT; from++) {
        for (int what = 0; what < INPUT_COUNT; what++) {
            check_pair((tendon_bose_state)from, (input)what);
        }
    }
}

/* The client is closed, and the session has not received its end yet: the same states, and nothing is sent. What is
 * configured then fails with the end. */
static void every_call_with_a_client_that_is_closed(void **unused) {
    (void)unused;
    static const input calls[] = {OPEN, CLOSE, PAIRED_OK, PAIRED_FAILED, TICK_NOW, SENSORS, GESTURES, REFRESH};
    for (int from = TENDON_BOSE_DISCOVERING; from < TENDON_BOSE_STATE_COUNT; from++) {
        for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
            void *state;
            fixture_setup(&state);
            fixture *f = state;
            fixture_reach(f, (tendon_bose_state)from);
            f->up = false;
            f->pending_length = 0;
            tendon_gatt_client_disconnected(&f->client, TENDON_RADIO_ERROR_PEER_CLOSED, f->now);
            f->event_count = f->log_count = 0;
            bool legal = (expected[calls[i]][from] & X) == 0;
            apply(f, calls[i], legal);
            assert_int_equal(f->session.state, expected[calls[i]][from] & ~X);
            assert_int_equal(f->log_count, 0);
            tendon_bose_event_kind failed = calls[i] == SENSORS ? TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_FAILED
                                                                : TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_FAILED;
            bool configures = legal && (calls[i] == SENSORS || calls[i] == GESTURES);
            assert_int_equal(fixture_count(f, failed), 0);
            tendon_bose_session_inputs.disconnected(&f->session, TENDON_RADIO_ERROR_PEER_CLOSED, f->now);
            assert_int_equal(f->session.state, TENDON_BOSE_CLOSED);
            assert_int_equal(fixture_count(f, failed), configures ? 1 : 0);
            opens_afterwards(f);
            fixture_teardown(&state);
        }
    }
}

/* An end is told exactly once, whatever ends it: OPEN_FAILED while opening, CLOSED afterwards. */
static void every_state_ends_with_one_event(void **unused) {
    (void)unused;
    static const input ends[] = {CLOSE, LOST_RANGE, LOST_PEER, LOST_CANCELLED};
    for (int from = TENDON_BOSE_CONNECTING; from < TENDON_BOSE_STATE_COUNT; from++) {
        for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
            void *state;
            fixture_setup(&state);
            fixture *f = state;
            fixture_reach(f, (tendon_bose_state)from);
            apply(f, ends[i], true);
            fixture_run(f);
            fixture_disconnect_if_asked(f);
            assert_int_equal(f->session.state, TENDON_BOSE_CLOSED);
            bool opening = from < TENDON_BOSE_OPEN;
            assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_OPEN_FAILED), opening ? 1 : 0);
            assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_CLOSED), opening ? 0 : 1);
            tendon_status status = f->events[f->event_count - 1].status;
            if (from == TENDON_BOSE_CLOSING || (!opening && (ends[i] == CLOSE || ends[i] == LOST_CANCELLED))) {
                assert_int_equal(status, TENDON_OK);
            } else if (ends[i] == CLOSE || ends[i] == LOST_CANCELLED) {
                assert_int_equal(status, TENDON_ERROR_CANCELLED);
            } else if (ends[i] == LOST_RANGE) {
                assert_int_equal(status, TENDON_BOSE_ERROR_DEVICE_OUT_OF_RANGE);
            } else if (from == TENDON_BOSE_CONNECTING) {
                assert_int_equal(status, TENDON_BOSE_ERROR_DEVICE_NOT_FOUND);
            } else {
                assert_int_equal(status, TENDON_BOSE_ERROR_DISCONNECTED_BY_DEVICE);
            }
            fixture_teardown(&state);
        }
    }
}

static void every_state_has_a_name(void **unused) {
    (void)unused;
    for (int i = 0; i < TENDON_BOSE_STATE_COUNT; i++) {
        assert_string_not_equal(tendon_bose_state_name((tendon_bose_state)i), "unknown");
    }
    assert_string_equal(tendon_bose_state_name(TENDON_BOSE_STATE_COUNT), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_state_and_input),
        cmocka_unit_test(every_call_with_a_client_that_is_closed),
        cmocka_unit_test(every_state_ends_with_one_event),
        cmocka_unit_test(every_state_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
