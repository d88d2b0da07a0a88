/* SPDX-License-Identifier: MIT */
/* The navigation controller: every state with every mode, every button and every call, then signals and connection. */
#include "feelspace_fixture.h"

enum { STATES = TENDON_FEELSPACE_NAVIGATION_STATE_COUNT };

static const tendon_feelspace_navigation_state states[STATES] = {TENDON_FEELSPACE_STOPPED, TENDON_FEELSPACE_PAUSED,
                                                                 TENDON_FEELSPACE_NAVIGATING};

/* The packet of "continuous" at bearing 90, as navigation sends it. */
#define EAST "0201aaaa0000035a00000000f40100000000"

/* A connected belt in this mode, navigation in this state, nothing on the way. */
static belt *ready(void **fresh, tendon_feelspace_navigation_state state, uint8_t mode) {
    belt_setup(fresh);
    belt *b = *fresh;
    b->mode = mode;
    b->navigates = false;
    belt_open(b);
    belt_navigate(b);
    b->navigation.state = state;
    b->navigation.signal = (tendon_feelspace_navigation_signal_at){90, true, TENDON_FEELSPACE_NAVIGATION_CONTINUOUS};
    b->log_count = 0;
    b->event_count = 0;
    b->silent = true; /* requested modes are not entered: what was requested is to be seen */
    return b;
}

static size_t told(const belt *b, tendon_feelspace_navigation_event_kind kind) {
    size_t count = 0;
    for (size_t i = 0; i < b->told_count; i++) {
        count += b->told[i].kind == kind;
    }
    return count;
}

static const tendon_feelspace_navigation_event *last_told(const belt *b, tendon_feelspace_navigation_event_kind kind) {
    for (size_t i = b->told_count; i > 0; i--) {
        if (b->told[i - 1].kind == kind) {
            return &b->told[i - 1];
        }
    }
    fail_msg("no event of kind %d", (int)kind);
    return NULL;
}

/* ---- the tables ---- */

typedef enum effect { UNSET, NONE, WAIT, APP, PAUSE, SEND, HOME } effect;

/* What a pair leads to: the state, what the belt is asked or sent (or HOME: told). */
typedef struct cell {
    tendon_feelspace_navigation_state next;
    effect does;
} cell;

#define TO(state, what)                                                                                                \
    { TENDON_FEELSPACE_##state, what }

static void expect(belt *b, const cell *wanted, tendon_feelspace_navigation_state from, const char *what, int index) {
    static const char *const packets[] = {[WAIT] = "01810100", [APP] = "01810300", [PAUSE] = "01810400", [SEND] = EAST};
    if (wanted->does == UNSET) {
        fail_msg("state %d with %s %d is not in the table", from, what, index);
    }
    belt_run(b);
    size_t asked = belt_writes(b, H_REQUEST), sent = belt_writes(b, H_VIBRATION);
    bool asks = wanted->does == WAIT || wanted->does == APP || wanted->does == PAUSE;
    if (b->navigation.state != wanted->next || asked != (asks ? 1 : 0) || sent != (wanted->does == SEND ? 1 : 0) ||
        told(b, TENDON_FEELSPACE_NAVIGATION_EVENT_STATE) != (wanted->next != from ? 1 : 0) ||
        told(b, TENDON_FEELSPACE_NAVIGATION_EVENT_HOME_BUTTON) != (wanted->does == HOME ? 1 : 0)) {
        fail_msg("state %d with %s %d: state %d, asked %zu, sent %zu, told %zu", from, what, index, b->navigation.state,
                 asked, sent, b->told_count);
    }
    if (asks || wanted->does == SEND) {
        belt_expect_write(b, asks ? H_REQUEST : H_VIBRATION, packets[wanted->does]);
    } else if (wanted->does == HOME) {
        assert_int_equal(last_told(b, TENDON_FEELSPACE_NAVIGATION_EVENT_HOME_BUTTON)->navigating,
                         from == TENDON_FEELSPACE_NAVIGATING);
    }
}

static void every_state_with_every_mode(void **state) {
    /* stopped, paused, navigating */
    static const cell table[7][STATES] = {
        [TENDON_FEELSPACE_MODE_STANDBY] = {TO(STOPPED, NONE), TO(PAUSED, NONE), TO(NAVIGATING, NONE)},
        [TENDON_FEELSPACE_MODE_WAIT] = {TO(STOPPED, NONE), TO(STOPPED, NONE), TO(STOPPED, NONE)},
        [TENDON_FEELSPACE_MODE_COMPASS] = {TO(STOPPED, NONE), TO(PAUSED, NONE), TO(PAUSED, NONE)},
        [TENDON_FEELSPACE_MODE_APP] = {TO(STOPPED, WAIT), TO(PAUSED, PAUSE), TO(NAVIGATING, SEND)},
        [TENDON_FEELSPACE_MODE_PAUSE] = {TO(STOPPED, NONE), TO(PAUSED, NONE), TO(PAUSED, NONE)},
        [TENDON_FEELSPACE_MODE_CALIBRATION] = {TO(STOPPED, NONE), TO(PAUSED, NONE), TO(PAUSED, NONE)},
        [TENDON_FEELSPACE_MODE_CROSSING] = {TO(STOPPED, NONE), TO(PAUSED, NONE), TO(PAUSED, NONE)},
    };
    (void)state;
    for (int mode = 0; mode < 7; mode++) {
        for (int i = 0; i < STATES; i++) {
            for (int by_keep_alive = 0; by_keep_alive < 2; by_keep_alive++) {
                void *fresh;
                belt *b = ready(&fresh, states[i],
                                mode == TENDON_FEELSPACE_MODE_COMPASS ? TENDON_FEELSPACE_MODE_WAIT
                                                                      : TENDON_FEELSPACE_MODE_COMPASS);
                b->navigation.pause_for_navigation = true;
                if (by_keep_alive) {
                    belt_notify_bytes(b, H_KEEP_ALIVE, (const uint8_t[]){0, (uint8_t)mode}, 2);
                } else {
                    belt_mode(b, (uint8_t)mode);
                }
                expect(b, &table[mode][i], states[i], "mode", mode);
                assert_int_equal(b->navigation.pause_for_navigation,
                                 mode == TENDON_FEELSPACE_MODE_PAUSE && states[i] == TENDON_FEELSPACE_PAUSED);
                belt_teardown(&fresh);
            }
        }
    }
}

/* Home and pause without a change of mode; by new mode. */
static const cell home_same[7][STATES] = {
    [0] = {TO(STOPPED, HOME), TO(NAVIGATING, APP), TO(NAVIGATING, APP)},
    [1] = {TO(STOPPED, HOME), TO(NAVIGATING, APP), TO(NAVIGATING, APP)},
    [2] = {TO(STOPPED, HOME), TO(NAVIGATING, APP), TO(NAVIGATING, APP)},
    [3] = {TO(STOPPED, WAIT), TO(NAVIGATING, SEND), TO(NAVIGATING, HOME)},
    [4] = {TO(STOPPED, HOME), TO(PAUSED, NONE), TO(NAVIGATING, APP)},
    [5] = {TO(STOPPED, HOME), TO(NAVIGATING, APP), TO(NAVIGATING, APP)},
    [6] = {TO(STOPPED, HOME), TO(NAVIGATING, APP), TO(NAVIGATING, APP)},
};
static const cell pause_same[7][STATES] = {
    [0] = {TO(STOPPED, NONE), TO(PAUSED, NONE), TO(NAVIGATING, NONE)},
    [1] = {TO(STOPPED, NONE), TO(PAUSED, NONE), TO(NAVIGATING, NONE)},
    [2] = {TO(STOPPED, NONE), TO(PAUSED, NONE), TO(NAVIGATING, NONE)},
    [3] = {TO(STOPPED, WAIT), TO(PAUSED, PAUSE), TO(PAUSED, PAUSE)},
    [4] = {TO(STOPPED, WAIT), TO(NAVIGATING, APP), TO(NAVIGATING, APP)},
    [5] = {TO(STOPPED, NONE), TO(PAUSED, NONE), TO(NAVIGATING, NONE)},
    [6] = {TO(STOPPED, NONE), TO(PAUSED, NONE), TO(NAVIGATING, NONE)},
};
/* All else; by new mode. */
static const cell others[7][STATES] = {
    [0] = {TO(STOPPED, NONE), TO(PAUSED, NONE), TO(PAUSED, NONE)},
    [1] = {TO(STOPPED, NONE), TO(PAUSED, NONE), TO(PAUSED, NONE)},
    [2] = {TO(STOPPED, NONE), TO(PAUSED, NONE), TO(PAUSED, NONE)},
    [3] = {TO(STOPPED, NONE), TO(PAUSED, NONE), TO(NAVIGATING, NONE)},
    [4] = {TO(STOPPED, NONE), TO(PAUSED, NONE), TO(PAUSED, NONE)},
    [5] = {TO(STOPPED, NONE), TO(PAUSED, NONE), TO(PAUSED, NONE)},
    [6] = {TO(STOPPED, NONE), TO(PAUSED, NONE), TO(PAUSED, NONE)},
};

static void every_state_with_every_button(void **state) {
    (void)state;
    for (int button = 1; button <= 4; button++) {
        for (int previous = 0; previous < 7; previous++) {
            for (int mode = 1; mode < 7; mode++) { /* standby ends the connection, below */
                for (int i = 0; i < STATES; i++) {
                    void *fresh;
                    belt *b = ready(&fresh, states[i], TENDON_FEELSPACE_MODE_COMPASS);
                    bool same = previous == mode;
                    const cell *wanted = same && button == TENDON_FEELSPACE_BUTTON_HOME    ? &home_same[mode][i]
                                         : same && button == TENDON_FEELSPACE_BUTTON_PAUSE ? &pause_same[mode][i]
                                                                                           : &others[mode][i];
                    b->navigation.pause_for_navigation = true;
                    belt_press(b, (uint8_t)button, 1, (uint8_t)previous, (uint8_t)mode);
                    expect(b, wanted, states[i], "button, previous and new mode", button * 100 + previous * 10 + mode);
                    assert_false(b->navigation.pause_for_navigation);
                    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_MODE), 0); /* never both */
                    belt_teardown(&fresh);
                }
            }
        }
    }
}

static void standby_by_button_with_every_state(void **state) {
    (void)state;
    for (int button = 1; button <= 4; button++) {
        for (int previous = 0; previous < 7; previous++) {
            for (int i = 0; i < STATES; i++) {
                void *fresh;
                belt *b = ready(&fresh, states[i], TENDON_FEELSPACE_MODE_WAIT);
                belt_press(b, (uint8_t)button, 3, (uint8_t)previous, 0);
                const cell *wanted = previous == 0 && button == TENDON_FEELSPACE_BUTTON_HOME    ? &home_same[0][i]
                                     : previous == 0 && button == TENDON_FEELSPACE_BUTTON_PAUSE ? &pause_same[0][i]
                                                                                                : &others[0][i];
                assert_int_equal(b->navigation.state, wanted->next);
                assert_int_equal(b->session.state, TENDON_FEELSPACE_NOT_CONNECTED);
                const tendon_feelspace_navigation_event *event =
                    last_told(b, TENDON_FEELSPACE_NAVIGATION_EVENT_CONNECTION);
                assert_int_equal(event->connection, TENDON_FEELSPACE_NOT_CONNECTED);
                assert_int_equal(event->error, TENDON_FEELSPACE_POWER_OFF);
                assert_int_equal(told(b, TENDON_FEELSPACE_NAVIGATION_EVENT_LOST), 0); /* through that callback only */
                belt_teardown(&fresh);
            }
        }
    }
}

typedef enum call { START, START_TEMPORARY, UPDATE, UPDATE_TEMPORARY, CALL_PAUSE, CALL_STOP, CALLS } call;

static void do_call(belt *b, call what, bool expected) {
    tendon_feelspace_navigation *n = &b->navigation;
    switch (what) {
    case START:
        assert_int_equal(tendon_feelspace_navigation_start(n, 90, true, TENDON_FEELSPACE_NAVIGATION_CONTINUOUS, b->now),
                         expected);
        break;
    case START_TEMPORARY:
        for (int32_t signal = -1; signal <= TENDON_FEELSPACE_NAVIGATION_SIGNAL_COUNT; signal++) {
            if (!tendon_feelspace_navigation_signal_repeated(signal)) {
                assert_int_equal(tendon_feelspace_navigation_start(n, 90, true, signal, b->now), expected);
            }
        }
        break;
    case UPDATE:
        assert_int_equal(
            tendon_feelspace_navigation_update(n, 90, true, TENDON_FEELSPACE_NAVIGATION_CONTINUOUS, b->now), expected);
        break;
    case UPDATE_TEMPORARY:
        assert_int_equal(
            tendon_feelspace_navigation_update(n, 90, true, TENDON_FEELSPACE_NAVIGATION_CRITICAL_WARNING, b->now),
            expected);
        break;
    case CALL_PAUSE:
        tendon_feelspace_navigation_pause(n, b->now);
        break;
    case CALL_STOP:
        tendon_feelspace_navigation_stop(n, b->now);
        break;
    case CALLS:
        fail();
    }
}

/* Without a belt, with one in app mode, in wait mode, in a pause mode of our making, in one of the user's. */
static void every_state_with_every_call(void **state) {
    enum { APART, IN_APP, IN_WAIT, IN_OUR_PAUSE, IN_PAUSE, BELTS };
#define ALL(c)                                                                                                         \
    { c, c, c, c, c }
    static const struct {
        bool result;
        cell cells[BELTS];
    } table[CALLS][STATES] = {
        [START] = {{true,
                    {TO(NAVIGATING, NONE), TO(NAVIGATING, SEND), TO(NAVIGATING, APP), TO(NAVIGATING, APP),
                     TO(NAVIGATING, APP)}},
                   {true,
                    {TO(NAVIGATING, NONE), TO(NAVIGATING, SEND), TO(NAVIGATING, APP), TO(NAVIGATING, APP),
                     TO(NAVIGATING, APP)}},
                   {true,
                    {TO(NAVIGATING, NONE), TO(NAVIGATING, SEND), TO(NAVIGATING, NONE), TO(NAVIGATING, NONE),
                     TO(NAVIGATING, NONE)}}},
        [START_TEMPORARY] = {{false, ALL(TO(STOPPED, NONE))},
                             {false, ALL(TO(PAUSED, NONE))},
                             {false, ALL(TO(NAVIGATING, NONE))}},
        [UPDATE] = {{false, ALL(TO(STOPPED, NONE))},
                    {false, ALL(TO(PAUSED, NONE))},
                    {true,
                     {TO(NAVIGATING, NONE), TO(NAVIGATING, SEND), TO(NAVIGATING, NONE), TO(NAVIGATING, NONE),
                      TO(NAVIGATING, NONE)}}},
        [UPDATE_TEMPORARY] = {{false, ALL(TO(STOPPED, NONE))},
                              {false, ALL(TO(PAUSED, NONE))},
                              {false, ALL(TO(NAVIGATING, NONE))}},
        [CALL_PAUSE] = {{true, ALL(TO(STOPPED, NONE))},
                        {true, ALL(TO(PAUSED, NONE))},
                        {true,
                         {TO(PAUSED, NONE), TO(PAUSED, PAUSE), TO(PAUSED, NONE), TO(PAUSED, NONE), TO(PAUSED, NONE)}}},
        [CALL_STOP] =
            {{true, ALL(TO(STOPPED, NONE))},
             {true, {TO(STOPPED, NONE), TO(STOPPED, WAIT), TO(STOPPED, NONE), TO(STOPPED, WAIT), TO(STOPPED, NONE)}},
             {true, {TO(STOPPED, NONE), TO(STOPPED, WAIT), TO(STOPPED, NONE), TO(STOPPED, WAIT), TO(STOPPED, NONE)}}},
    };
#undef ALL
    static const uint8_t modes[BELTS] = {TENDON_FEELSPACE_MODE_WAIT, TENDON_FEELSPACE_MODE_APP,
                                         TENDON_FEELSPACE_MODE_WAIT, TENDON_FEELSPACE_MODE_PAUSE,
                                         TENDON_FEELSPACE_MODE_PAUSE};
    (void)state;
    for (int what = 0; what < CALLS; what++) {
        for (int i = 0; i < STATES; i++) {
            for (int with = 0; with < BELTS; with++) {
                void *fresh;
                belt *b = ready(&fresh, states[i], modes[with]);
                if (with == APART) {
                    tendon_feelspace_session_disconnect(&b->session, b->now);
                    belt_lose(b, TENDON_ERROR_CANCELLED);
                    assert_int_equal(b->navigation.state, states[i]);
                }
                b->navigation.pause_for_navigation = with == IN_OUR_PAUSE;
                do_call(b, (call)what, table[what][i].result);
                expect(b, &table[what][i].cells[with], states[i], "call and belt", what * 10 + with);
                belt_teardown(&fresh);
            }
        }
    }
}

/* Two calls while the queue is full: when it has space, the belt is asked for what the second one requires. */
static void every_two_calls_with_a_full_queue(void **state) {
    static const call calls[] = {START, CALL_PAUSE, CALL_STOP};
    enum { KINDS = sizeof calls / sizeof calls[0] };
    static const struct {
        tendon_feelspace_navigation_state from;
        uint8_t mode;
        cell cells[KINDS][KINDS]; /* first, second: start, pause, stop */
    } rows[] = {
        {TENDON_FEELSPACE_NAVIGATING,
         TENDON_FEELSPACE_MODE_APP,
         {{TO(NAVIGATING, SEND), TO(PAUSED, PAUSE), TO(STOPPED, WAIT)},
          {TO(NAVIGATING, SEND), TO(PAUSED, PAUSE), TO(STOPPED, WAIT)},
          {TO(NAVIGATING, SEND), TO(STOPPED, WAIT), TO(STOPPED, WAIT)}}},
        {TENDON_FEELSPACE_STOPPED,
         TENDON_FEELSPACE_MODE_WAIT,
         {{TO(NAVIGATING, APP), TO(PAUSED, NONE), TO(STOPPED, NONE)},
          {TO(NAVIGATING, APP), TO(STOPPED, NONE), TO(STOPPED, NONE)},
          {TO(NAVIGATING, APP), TO(STOPPED, NONE), TO(STOPPED, NONE)}}},
        {TENDON_FEELSPACE_PAUSED,
         TENDON_FEELSPACE_MODE_PAUSE,
         {{TO(NAVIGATING, APP), TO(PAUSED, NONE), TO(STOPPED, WAIT)},
          {TO(NAVIGATING, APP), TO(PAUSED, NONE), TO(STOPPED, WAIT)},
          {TO(NAVIGATING, APP), TO(STOPPED, WAIT), TO(STOPPED, WAIT)}}},
    };
    static const char *const packets[] = {[WAIT] = "01810100", [APP] = "01810300", [PAUSE] = "01810400"};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int pair = 0; pair < KINDS * KINDS; pair++) {
            const cell *wanted = &rows[i].cells[pair / KINDS][pair % KINDS];
            void *fresh;
            belt *b = ready(&fresh, rows[i].from, rows[i].mode);
            b->navigation.pause_for_navigation = rows[i].mode == TENDON_FEELSPACE_MODE_PAUSE;
            while (tendon_feelspace_session_signal(&b->session, 0, b->now) >= 0) {
            }
            do_call(b, calls[pair / KINDS], true);
            do_call(b, calls[pair % KINDS], true);
            assert_int_equal(belt_writes(b, H_REQUEST), 0);
            belt_run(b);
            bool asks = wanted->does == WAIT || wanted->does == APP || wanted->does == PAUSE;
            if (b->navigation.state != wanted->next || belt_writes(b, H_REQUEST) != (asks ? 1 : 0)) {
                fail_msg("row %zu, pair %d: state %d, asked %zu", i, pair, b->navigation.state,
                         belt_writes(b, H_REQUEST));
            }
            if (asks) {
                belt_expect_write(b, H_REQUEST, packets[wanted->does]);
            }
            belt_teardown(&fresh);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_with_every_mode),        cmocka_unit_test(every_state_with_every_button),
        cmocka_unit_test(standby_by_button_with_every_state), cmocka_unit_test(every_state_with_every_call),
        cmocka_unit_test(every_two_calls_with_a_full_queue),
    };
    return cmocka_run_group_tests_name("feelspace_navigation", tests, NULL, NULL);
}
