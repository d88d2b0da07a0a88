/* SPDX-License-Identifier: MIT */
/* The navigation controller: signals and their pace, what a connection brings, what the application is told. */
#include "feelspace_fixture.h"

static int setup(void **state) {
    belt_setup(state);
    belt_navigate(*state);
    return 0;
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

static bool start(belt *b, int32_t direction, int32_t signal) {
    return tendon_feelspace_navigation_start(&b->navigation, direction, true, signal, b->now);
}

static bool update(belt *b, int32_t direction, int32_t signal) {
    return tendon_feelspace_navigation_update(&b->navigation, direction, true, signal, b->now);
}

/* ---- what a connection brings ---- */

static void connecting_enables_orientation_and_asks_for_the_accuracy_signal(void **state) {
    belt *b = *state;
    belt_open(b);
    belt_expect_write(b, 61, "0100");
    belt_expect_write(b, H_REQUEST, "100103");
    assert_int_equal(belt_writes(b, H_VIBRATION), 0);
    assert_int_equal(last_told(b, TENDON_FEELSPACE_NAVIGATION_EVENT_CONNECTION)->connection,
                     TENDON_FEELSPACE_CONNECTED);
    assert_true(last_told(b, TENDON_FEELSPACE_NAVIGATION_EVENT_ACCURACY)->enabled);
    assert_int_equal(tendon_feelspace_navigation_accuracy_signal(&b->navigation), 1);
}

static void state_is_kept_apart_and_restored_when_connected(void **state) {
    belt *b = *state;
    assert_true(start(b, 90, TENDON_FEELSPACE_NAVIGATION_CONTINUOUS));
    assert_int_equal(b->navigation.state, TENDON_FEELSPACE_NAVIGATING);
    belt_open(b); /* app mode is asked for, and the belt enters it */
    assert_int_equal(b->session.mode, TENDON_FEELSPACE_MODE_APP);
    belt_expect_write(b, H_VIBRATION, "0201aaaa0000035a00000000f40100000000");
    belt_lose(b, TENDON_HCI_ERROR(0x08));
    assert_int_equal(b->navigation.state, TENDON_FEELSPACE_NAVIGATING);
    assert_true(update(b, 45, TENDON_FEELSPACE_NAVIGATION_TURN_ONGOING)); /* stored */
    b->mode = TENDON_FEELSPACE_MODE_WAIT;                                 /* where belts go when they are lost */
    b->now += 1000;
    belt_open(b);
    belt_expect_write(b, H_VIBRATION, "0203aaaa0000032d00000000ee0200000000");
    belt_lose(b, TENDON_HCI_ERROR(0x08));
    b->now += 1000;
    belt_open(b); /* in app mode still: sent at once */
    belt_expect_write(b, H_VIBRATION, "0203aaaa0000032d00000000ee0200000000");
    assert_int_equal(belt_writes(b, H_VIBRATION), 1);
    tendon_feelspace_navigation_pause(&b->navigation, b->now);
    belt_lose(b, TENDON_HCI_ERROR(0x08));
    b->mode = TENDON_FEELSPACE_MODE_WAIT;
    belt_open(b);
    assert_int_equal(b->session.mode, TENDON_FEELSPACE_MODE_WAIT); /* only an active navigation changes it */
    assert_int_equal(b->navigation.state, TENDON_FEELSPACE_PAUSED);
    assert_int_equal(b->navigation.signal.direction, 45);
}

/* A belt that connects is brought into app mode by an active navigation; otherwise its mode is its own. */
static void only_an_active_navigation_changes_the_mode_of_a_belt_that_connects(void **state) {
    static const struct {
        tendon_feelspace_navigation_state state;
        uint8_t before, after;
    } rows[] = {
        {TENDON_FEELSPACE_STOPPED, TENDON_FEELSPACE_MODE_WAIT, TENDON_FEELSPACE_MODE_WAIT},
        {TENDON_FEELSPACE_STOPPED, TENDON_FEELSPACE_MODE_APP, TENDON_FEELSPACE_MODE_APP},
        {TENDON_FEELSPACE_STOPPED, TENDON_FEELSPACE_MODE_COMPASS, TENDON_FEELSPACE_MODE_COMPASS},
        {TENDON_FEELSPACE_PAUSED, TENDON_FEELSPACE_MODE_WAIT, TENDON_FEELSPACE_MODE_WAIT},
        {TENDON_FEELSPACE_PAUSED, TENDON_FEELSPACE_MODE_APP, TENDON_FEELSPACE_MODE_APP},
        {TENDON_FEELSPACE_PAUSED, TENDON_FEELSPACE_MODE_PAUSE, TENDON_FEELSPACE_MODE_PAUSE},
        {TENDON_FEELSPACE_NAVIGATING, TENDON_FEELSPACE_MODE_PAUSE, TENDON_FEELSPACE_MODE_APP},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        void *fresh;
        setup(&fresh);
        belt *b = fresh;
        if (rows[i].state != TENDON_FEELSPACE_STOPPED) {
            assert_true(start(b, 0, 1));
        }
        if (rows[i].state == TENDON_FEELSPACE_PAUSED) {
            tendon_feelspace_navigation_pause(&b->navigation, b->now);
        }
        b->mode = rows[i].before;
        belt_open(b);
        assert_int_equal(b->session.mode, rows[i].after);
        assert_int_equal(b->navigation.state, rows[i].state);
        belt_teardown(&fresh);
    }
}

static void fill_queue(belt *b) {
    while (tendon_feelspace_session_signal(&b->session, 0, b->now) >= 0) {
    }
}

/* A mode or a signal that finds the queue full is sent when a command has ended: motors never stay on for it. */
static void requests_survive_a_full_queue(void **state) {
    belt *b = *state;
    belt_open(b);
    fill_queue(b);
    assert_true(start(b, 90, TENDON_FEELSPACE_NAVIGATION_CONTINUOUS));
    belt_run(b);
    assert_int_equal(b->session.mode, TENDON_FEELSPACE_MODE_APP);
    belt_expect_write(b, H_VIBRATION, "0201aaaa0000035a00000000f40100000000");
    b->now += 1000;
    fill_queue(b);
    assert_true(update(b, 45, TENDON_FEELSPACE_NAVIGATION_TURN_ONGOING));
    belt_run(b);
    belt_advance(b, TENDON_FEELSPACE_NAVIGATION_PACE_MS);
    belt_run(b);
    belt_expect_write(b, H_VIBRATION, "0203aaaa0000032d00000000ee0200000000");
    fill_queue(b);
    tendon_feelspace_navigation_stop(&b->navigation, b->now);
    belt_run(b);
    assert_int_equal(b->session.mode, TENDON_FEELSPACE_MODE_WAIT);
}

static void pause_of_ours_is_forgotten_with_the_connection(void **state) {
    belt *b = *state;
    belt_open(b);
    assert_true(start(b, 0, 1));
    belt_run(b);
    tendon_feelspace_navigation_pause(&b->navigation, b->now);
    belt_run(b);
    assert_int_equal(b->session.mode, TENDON_FEELSPACE_MODE_PAUSE);
    assert_true(b->navigation.pause_for_navigation);
    belt_lose(b, TENDON_HCI_ERROR(0x08));
    assert_false(b->navigation.pause_for_navigation);
}

/* ---- signals ---- */

static void every_signal_sends_its_packet(void **state) {
    belt *b = *state;
    static const char *const packets[TENDON_FEELSPACE_NAVIGATION_SIGNAL_COUNT] = {
        [TENDON_FEELSPACE_NAVIGATION_NO_VIBRATION] = "30ff",
        [TENDON_FEELSPACE_NAVIGATION_CONTINUOUS] = "0201aaaa0000030e01000000f40100000000",
        [TENDON_FEELSPACE_NAVIGATION_NAVIGATION] = "0201aaaa0000030e01000000f40100000000",
        [TENDON_FEELSPACE_NAVIGATION_APPROACHING_DESTINATION] = "0202aaaa0000030e01000000f40100000000",
        [TENDON_FEELSPACE_NAVIGATION_TURN_ONGOING] = "0203aaaa0000030e01000000ee0200000000",
        [TENDON_FEELSPACE_NAVIGATION_NEXT_WAYPOINT_LONG_DISTANCE] = "0203aaaa0000030e01000000b80b00000000",
        [TENDON_FEELSPACE_NAVIGATION_NEXT_WAYPOINT_MEDIUM_DISTANCE] = "0203aaaa0000030e01000000dc0500000000",
        [TENDON_FEELSPACE_NAVIGATION_NEXT_WAYPOINT_SHORT_DISTANCE] = "0203aaaa0000030e01000000e80300000000",
        [TENDON_FEELSPACE_NAVIGATION_NEXT_WAYPOINT_AREA_REACHED] = "0203aaaa0000030e01000000ee0200000000",
        [TENDON_FEELSPACE_NAVIGATION_DESTINATION_REACHED_REPEATED] = "0209aaaa0000010000000000881300000000",
    };
    belt_open(b);
    assert_true(start(b, 0, TENDON_FEELSPACE_NAVIGATION_NO_VIBRATION));
    belt_run(b);
    for (int32_t signal = 0; signal < TENDON_FEELSPACE_NAVIGATION_SIGNAL_COUNT; signal++) {
        b->now += 100;
        size_t before = belt_writes(b, H_VIBRATION);
        assert_int_equal(update(b, -90, signal), packets[signal] != NULL);
        belt_run(b);
        assert_int_equal(belt_writes(b, H_VIBRATION), before + (packets[signal] != NULL));
        if (packets[signal] != NULL) {
            belt_expect_write(b, H_VIBRATION, packets[signal]);
        }
    }
}

/* A request that waits for the queue is of its connection: the next one does not begin with it. */
static void a_waiting_request_ends_with_the_connection(void **state) {
    belt *b = *state;
    belt_open(b);
    assert_true(start(b, 90, TENDON_FEELSPACE_NAVIGATION_CONTINUOUS));
    belt_run(b);
    fill_queue(b);
    tendon_feelspace_navigation_stop(&b->navigation, b->now); /* wait mode, when a command has ended */
    b->mode = TENDON_FEELSPACE_MODE_WAIT;
    belt_lose(b, TENDON_RADIO_ERROR_OUT_OF_RANGE);
    belt_open(b);
    belt_run(b);
    size_t asked = belt_writes(b, H_REQUEST);
    assert_true(tendon_feelspace_session_signal(&b->session, 0, b->now) >= 0);
    belt_run(b);
    assert_int_equal(belt_writes(b, H_REQUEST), asked);
}

static void signals_keep_their_pace(void **state) {
    belt *b = *state;
    belt_open(b);
    assert_true(start(b, 0, 1));
    belt_run(b); /* app mode entered, and the first is sent */
    assert_int_equal(belt_writes(b, H_VIBRATION), 1);
    b->now += 99;
    assert_true(update(b, 10, 1));
    belt_run(b);
    assert_int_equal(belt_writes(b, H_VIBRATION), 1);
    assert_int_equal(tendon_feelspace_navigation_deadline(&b->navigation), b->now + 100);
    b->now += 50;
    assert_true(update(b, 20, 1)); /* more than 100 ms since the last, but one is on its way */
    tendon_feelspace_navigation_tick(&b->navigation, b->now); /* too early */
    belt_advance(b, 49);
    belt_run(b);
    assert_int_equal(belt_writes(b, H_VIBRATION), 1);
    belt_advance(b, 1);
    belt_run(b);
    assert_int_equal(belt_writes(b, H_VIBRATION), 2);
    belt_expect_write(b, H_VIBRATION, "0201aaaa0000031400000000f40100000000"); /* the values of now */
    assert_int_equal(tendon_feelspace_navigation_deadline(&b->navigation), UINT64_MAX);
    b->now += 100;
    assert_true(update(b, 30, 1));
    belt_run(b);
    assert_int_equal(belt_writes(b, H_VIBRATION), 3);
    b->now += 10;
    assert_true(update(b, 40, 1));
    tendon_feelspace_navigation_pause(&b->navigation, b->now);
    belt_run(b);
    belt_advance(b, 1000);
    belt_run(b);
    assert_int_equal(belt_writes(b, H_VIBRATION), 3); /* paused meanwhile */
}

static void send_double(void *context, const tendon_feelspace_navigation_signal_at *signal, uint64_t now) {
    belt *b = context;
    b->hooked++;
    tendon_feelspace_navigation_signal_at other = *signal;
    assert_true(tendon_feelspace_navigation_send(&b->navigation, &other, now) >= 0);
    other.direction += 180;
    assert_true(tendon_feelspace_navigation_send(&b->navigation, &other, now) >= 0);
}

static void a_program_sends_signals_of_its_own(void **state) {
    belt *b = *state;
    b->navigation.config.send = send_double;
    belt_open(b);
    assert_true(start(b, 10, 1));
    belt_run(b);
    assert_int_equal(b->hooked, 1);
    assert_int_equal(belt_writes(b, H_VIBRATION), 2);
    belt_expect_write(b, H_VIBRATION, "0201aaaa000003be00000000f40100000000");
}

static void notifications_work_in_every_mode(void **state) {
    belt *b = *state;
    tendon_feelspace_navigation *n = &b->navigation;
    assert_int_equal(tendon_feelspace_navigation_notify_battery(n, b->now), TENDON_ERROR_DISCONNECTED);
    assert_int_equal(tendon_feelspace_navigation_notify_warning(n, true, b->now), TENDON_ERROR_DISCONNECTED);
    assert_int_equal(tendon_feelspace_navigation_notify_direction(n, 0, true, b->now), TENDON_ERROR_DISCONNECTED);
    assert_true(start(b, 0, 1));
    assert_int_equal(tendon_feelspace_navigation_notify_destination(n, true, b->now), TENDON_ERROR_DISCONNECTED);
    assert_int_equal(n->state, TENDON_FEELSPACE_STOPPED); /* all the same */
    belt_open(b);
    for (uint8_t mode = 1; mode < 7; mode++) {
        belt_mode(b, mode);
        belt_run(b);
#define SENDS(call, bytes)                                                                                             \
    assert_int_equal(call, TENDON_OK);                                                                                 \
    belt_run(b);                                                                                                       \
    belt_expect_write(b, H_VIBRATION, bytes)
        SENDS(tendon_feelspace_navigation_notify_destination(n, false, b->now), "2001");
        SENDS(tendon_feelspace_navigation_notify_direction(n, 270, false, b->now),
              "0001aaaa0000020e01000001e80300000000");
        SENDS(tendon_feelspace_navigation_notify_direction(n, 270, true, b->now),
              "0001aaaa0000030e01000001e80300000000");
        SENDS(tendon_feelspace_navigation_notify_warning(n, true, b->now), "0003aaaa0000001111000003bc0200000100");
        SENDS(tendon_feelspace_navigation_notify_warning(n, false, b->now), "000619000000010000000002f40100000100");
        SENDS(tendon_feelspace_navigation_notify_battery(n, b->now), "2002");
#undef SENDS
    }
    assert_true(start(b, 0, 1));
    assert_int_equal(tendon_feelspace_navigation_notify_destination(n, true, b->now), TENDON_OK);
    assert_int_equal(n->state, TENDON_FEELSPACE_STOPPED);
}

/* ---- values ---- */

static void values_are_passed_on(void **state) {
    belt *b = *state;
    tendon_feelspace_navigation *n = &b->navigation;
    assert_int_equal(tendon_feelspace_navigation_heading(n), -1);
    assert_int_equal(tendon_feelspace_navigation_accurate(n), -1);
    assert_int_equal(tendon_feelspace_navigation_battery_level(n), -1);
    assert_int_equal(tendon_feelspace_navigation_accuracy_signal(n), -1);
    belt_open(b);
    for (int i = 0; i < 10; i++) { /* every 500 ms, whatever the heading */
        b->now += 500;
        belt_notify(b, H_ORIENTATION, "02 a6ff d3ff 0200 faff 0500 03030303 00");
    }
    assert_int_equal(told(b, TENDON_FEELSPACE_NAVIGATION_EVENT_ORIENTATION), 10);
    const tendon_feelspace_navigation_event *event = last_told(b, TENDON_FEELSPACE_NAVIGATION_EVENT_ORIENTATION);
    assert_int_equal(event->value, -90); /* as received */
    assert_true(event->accurate);
    assert_int_equal(tendon_feelspace_navigation_heading(n), 270);
    assert_int_equal(tendon_feelspace_navigation_accurate(n), 1);
    belt_notify(b, H_ORIENTATION, "02 a6ff d3ff 0200 faff 0500 03030303 01");
    assert_int_equal(tendon_feelspace_navigation_accurate(n), 0);
    belt_notify(b, H_BATTERY, "02cd582003");
    event = last_told(b, TENDON_FEELSPACE_NAVIGATION_EVENT_BATTERY);
    assert_int_equal(event->value, 88); /* cut */
    assert_int_equal(event->power, TENDON_FEELSPACE_POWER_CHARGING);
    assert_int_equal(tendon_feelspace_navigation_battery_level(n), 88);
    belt_notify(b, H_PARAMETER, "010250");
    assert_int_equal(last_told(b, TENDON_FEELSPACE_NAVIGATION_EVENT_INTENSITY)->value, 80);
    size_t before = told(b, TENDON_FEELSPACE_NAVIGATION_EVENT_ACCURACY);
    belt_notify(b, H_PARAMETER, "100300");
    belt_notify(b, H_PARAMETER, "100300");
    assert_int_equal(told(b, TENDON_FEELSPACE_NAVIGATION_EVENT_ACCURACY), before + 2);
    assert_false(last_told(b, TENDON_FEELSPACE_NAVIGATION_EVENT_ACCURACY)->enabled);
    assert_int_equal(tendon_feelspace_navigation_accuracy_signal(n), 0);
    belt_notify(b, H_PARAMETER, "100301");
    assert_int_equal(tendon_feelspace_navigation_accuracy_signal(n), 1);
}

static void settings_have_their_limits(void **state) {
    belt *b = *state;
    tendon_feelspace_navigation *n = &b->navigation;
    assert_int_equal(tendon_feelspace_navigation_set_intensity(n, 50, true, b->now), TENDON_ERROR_DISCONNECTED);
    assert_int_equal(tendon_feelspace_navigation_set_accuracy_signal(n, true, true, b->now), TENDON_ERROR_DISCONNECTED);
    belt_open(b);
    assert_int_equal(tendon_feelspace_navigation_set_intensity(n, 4, true, b->now), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_feelspace_navigation_set_intensity(n, 101, true, b->now), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_feelspace_navigation_set_intensity(n, 5, false, b->now), TENDON_OK);
    belt_run(b);
    belt_expect_write(b, H_REQUEST, "0182050000");
    assert_int_equal(tendon_feelspace_navigation_set_intensity(n, 100, true, b->now), TENDON_OK);
    belt_run(b);
    belt_expect_write(b, H_REQUEST, "0182640001");
    assert_int_equal(tendon_feelspace_navigation_set_accuracy_signal(n, true, true, b->now), TENDON_OK);
    belt_run(b);
    belt_expect_write(b, H_REQUEST, "11030103");
    assert_int_equal(tendon_feelspace_navigation_set_accuracy_signal(n, false, false, b->now), TENDON_OK);
    belt_run(b);
    belt_expect_write(b, H_REQUEST, "11030000");
}

/* ---- searching and connecting ---- */

static void hear_a_belt(belt *b, uint8_t who) {
    static const uint8_t data[] = "\x03\x03\x51\xFE\x0F\x09naviGuertel 12";
    tendon_ad_report report = {.address = belt_address, .data = data, .length = sizeof data - 1};
    report.address.bytes[5] = who;
    tendon_feelspace_session_advertised(&b->session, &report, b->now);
}

static void the_first_belt_found_is_connected(void **state) {
    belt *b = *state;
    assert_int_equal(tendon_feelspace_navigation_search_and_connect(&b->navigation, b->now), TENDON_OK);
    assert_int_equal(tendon_feelspace_navigation_search_and_connect(&b->navigation, b->now), TENDON_OK); /* anew */
    hear_a_belt(b, 42);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTING);
    assert_int_equal(b->session.peer.bytes[5], 42);
    assert_int_equal(told(b, TENDON_FEELSPACE_NAVIGATION_EVENT_FOUND), 1);
    assert_int_equal(told(b, TENDON_FEELSPACE_NAVIGATION_EVENT_NO_BELT), 0);
    belt_link_up(b);
    belt_run(b);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTED);
    assert_int_equal(tendon_feelspace_navigation_search_and_connect(&b->navigation, b->now), TENDON_OK);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_SCANNING); /* the connection was ended for it */
    tendon_feelspace_navigation_disconnect(&b->navigation, b->now);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_NOT_CONNECTED);
    assert_int_equal(tendon_feelspace_navigation_search(&b->navigation, b->now), TENDON_OK);
    hear_a_belt(b, 42);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_SCANNING); /* only searched */
    assert_int_equal(tendon_feelspace_navigation_connect(&b->navigation, &belt_address, b->now), TENDON_OK);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTING);
    tendon_feelspace_navigation_disconnect(&b->navigation, b->now);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_NOT_CONNECTED);
}

static void searches_end_as_documented(void **state) {
    belt *b = *state;
    assert_int_equal(tendon_feelspace_navigation_search_and_connect(&b->navigation, b->now), TENDON_OK);
    belt_advance(b, 15000);
    assert_int_equal(told(b, TENDON_FEELSPACE_NAVIGATION_EVENT_NO_BELT), 1);
    assert_int_equal(told(b, TENDON_FEELSPACE_NAVIGATION_EVENT_SEARCHED), 1);
    assert_int_equal(last_told(b, TENDON_FEELSPACE_NAVIGATION_EVENT_CONNECTION)->connection,
                     TENDON_FEELSPACE_NOT_CONNECTED);
    assert_int_equal(tendon_feelspace_navigation_search(&b->navigation, b->now), TENDON_OK);
    hear_a_belt(b, 1);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_SCANNING); /* what the search before wanted is over */
    tendon_feelspace_navigation_disconnect(&b->navigation, b->now);
    b->scan_result = TENDON_RADIO_ERROR_RFKILL;
    assert_int_equal(tendon_feelspace_navigation_search_and_connect(&b->navigation, b->now), TENDON_RADIO_ERROR_RFKILL);
    assert_int_equal(told(b, TENDON_FEELSPACE_NAVIGATION_EVENT_POWERED_OFF), 1);
    b->scan_result = TENDON_RADIO_ERROR_NO_ADAPTER;
    assert_int_equal(tendon_feelspace_navigation_search_and_connect(&b->navigation, b->now),
                     TENDON_RADIO_ERROR_NO_ADAPTER);
    assert_int_equal(told(b, TENDON_FEELSPACE_NAVIGATION_EVENT_NOT_AVAILABLE), 1);
    assert_int_equal(told(b, TENDON_FEELSPACE_NAVIGATION_EVENT_NO_BELT), 1);
}

/* Each way in which a connection ends: who is told, in which order. */
static void ends_of_connections_are_told_apart(void **state) {
    belt *b = *state;
    belt_reach(b, TENDON_FEELSPACE_CONNECTING);
    for (int step = TENDON_FEELSPACE_CONNECTING; step <= TENDON_FEELSPACE_CONNECTED; step++) {
        if (step > TENDON_FEELSPACE_CONNECTING) {
            belt_reach(b, (tendon_feelspace_state)step);
        }
        b->told_count = 0;
        belt_lose(b, TENDON_HCI_ERROR(0x08));
        assert_int_equal(b->told_count, 2);
        assert_int_equal(b->told[0].kind, step == TENDON_FEELSPACE_CONNECTED
                                              ? TENDON_FEELSPACE_NAVIGATION_EVENT_LOST
                                              : TENDON_FEELSPACE_NAVIGATION_EVENT_FAILED);
        assert_int_equal(b->told[1].kind, TENDON_FEELSPACE_NAVIGATION_EVENT_CONNECTION);
        assert_int_equal(b->told[1].connection, TENDON_FEELSPACE_NOT_CONNECTED);
        assert_true(b->told[0].error != TENDON_FEELSPACE_NO_ERROR);
    }
    belt_open(b);
    b->told_count = 0;
    tendon_feelspace_navigation_disconnect(&b->navigation, b->now);
    assert_int_equal(b->told_count, 1);
    assert_int_equal(b->told[0].kind, TENDON_FEELSPACE_NAVIGATION_EVENT_CONNECTION);
    assert_int_equal(b->told[0].error, TENDON_FEELSPACE_NO_ERROR);
}

/* ---- whoever hears may call ---- */

static void stop_when_navigating(belt *b, const tendon_feelspace_navigation_event *event) {
    if (event->kind == TENDON_FEELSPACE_NAVIGATION_EVENT_STATE && b->navigation.state == TENDON_FEELSPACE_NAVIGATING) {
        tendon_feelspace_navigation_stop(&b->navigation, b->now);
    }
}

static void a_state_changed_in_its_callback_is_the_last_word(void **state) {
    belt *b = *state;
    b->nav_hook = stop_when_navigating;
    belt_open(b);
    size_t requests = belt_writes(b, H_REQUEST);
    assert_true(start(b, 0, 1));
    belt_run(b);
    assert_int_equal(b->navigation.state, TENDON_FEELSPACE_STOPPED);
    assert_int_equal(belt_writes(b, H_REQUEST), requests); /* app mode is not asked for */
}

static void navigation_is_driven_with_its_session(void **state) {
    belt *b = *state;
    const tendon_session_inputs *inputs = &tendon_feelspace_navigation_inputs;
    b->is_bonded = false;
    belt_reach(b, TENDON_FEELSPACE_CONNECTING);
    assert_int_equal(inputs->deadline(&b->navigation), b->now + 20000);
    belt_lose(b, TENDON_ERROR_CANCELLED);
    belt_reach(b, TENDON_FEELSPACE_CONNECTING);
    b->navigates = true;
    belt_link_up(b); /* once through the session: the bearer is the fixture's */
    inputs->connected(&b->navigation, &b->client, b->now);
    assert_int_equal(b->session.counters.illegal_inputs, 1);
    belt_run(b);
    inputs->paired(&b->navigation, TENDON_OK, b->now);
    belt_run(b);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTED);
    b->up = false;
    inputs->disconnected(&b->navigation, TENDON_HCI_ERROR(0x08), b->now);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_NOT_CONNECTED);
    assert_int_equal(inputs->deadline(&b->navigation), UINT64_MAX);
    tendon_feelspace_navigation other;
    const tendon_feelspace_navigation_config none = {0};
    assert_int_equal(tendon_feelspace_navigation_init(&other, &none), TENDON_ERROR_INVALID_ARGUMENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, belt_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(connecting_enables_orientation_and_asks_for_the_accuracy_signal),
        TEST(state_is_kept_apart_and_restored_when_connected),
        TEST(only_an_active_navigation_changes_the_mode_of_a_belt_that_connects),
        TEST(requests_survive_a_full_queue),
        TEST(pause_of_ours_is_forgotten_with_the_connection),
        TEST(every_signal_sends_its_packet),
        TEST(a_waiting_request_ends_with_the_connection),
        TEST(signals_keep_their_pace),
        TEST(a_program_sends_signals_of_its_own),
        TEST(notifications_work_in_every_mode),
        TEST(values_are_passed_on),
        TEST(settings_have_their_limits),
        TEST(the_first_belt_found_is_connected),
        TEST(searches_end_as_documented),
        TEST(ends_of_connections_are_told_apart),
        TEST(a_state_changed_in_its_callback_is_the_last_word),
        TEST(navigation_is_driven_with_its_session),
    };
    return cmocka_run_group_tests_name("feelspace_guidance", tests, NULL, NULL);
}
