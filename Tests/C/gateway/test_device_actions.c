/* SPDX-License-Identifier: MIT */
/* Actions of a device: in their order, and what becomes of them when the connection ends. */
#include "device_world.h"

static tendon_act_mistake mistake;

static tendon_status act(const char *text) {
    return tendon_device_act(&w.device, text, strlen(text), &mistake, w.now);
}

/** How often an event is among those of world_look(). */
static unsigned times_of(const char *name, const char *events) {
    unsigned times = 0;
    for (size_t length; *events != 0; events += length + (events[length] == ' ')) {
        length = strcspn(events, " ");
        times += length == strlen(name) && memcmp(events, name, length) == 0;
    }
    return times;
}

static void open_family(tendon_device_family family) {
    world_choice choice = world_defaults();
    choice.activ5.no_script = true;
    world_start(family, &choice);
    world_open();
    world_run(1000);
    assert_int_equal(w.device.state, TENDON_DEVICE_OPEN);
    (void)world_look();
}

/* Of a program that acts on `connected`: the states of the features are read first. */
static void an_action_waits_for_the_opening(void **state) {
    (void)state;
    world_choice choice = world_defaults();
    choice.settings.feature_count = 2;
    choice.settings.features[0] = 16;
    choice.settings.features[1] = 17;
    world_start(TENDON_DEVICE_OBVIOUS, &choice);
    world_open();
    while (w.device.state != TENDON_DEVICE_OPEN) {
        world_run(1);
    }
    assert_int_equal(act("toggle 17 flip"), TENDON_OK);
    world_run(2000);
    assert_string_equal(world_look(), "connected feature feature feature action");
}

static void an_action_of_each_family(void **state) {
    (void)state;
    static const struct {
        tendon_device_family family;
        const char *action;
    } actions[] = {
        {TENDON_DEVICE_FEELSPACE, "vibrate 90"},
        {TENDON_DEVICE_FEELSPACE, "mode app"},
        {TENDON_DEVICE_FEELSPACE, "stop"},
        {TENDON_DEVICE_ACTIV5, "tare"},
        {TENDON_DEVICE_ACTIV5, "stop"},
        {TENDON_DEVICE_FJORDEN, "led blinkFast 500"},
        {TENDON_DEVICE_OBVIOUS, "toggle 17 flip"},
        {TENDON_DEVICE_DEFINED, "set_rate 50"},
    };
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        open_family(actions[i].family);
        /* A trainer that has stopped rejects another stop. */
        for (unsigned times = actions[i].family == TENDON_DEVICE_ACTIV5 ? 1 : 2; times > 0; times--) {
            assert_int_equal(act(actions[i].action), TENDON_OK);
            assert_int_equal(times_of("action", world_look()), 0); /* never within the call */
            world_run(2000);
            const char *events = world_look();
            if (times_of("action", events) == 0) {
                fail_msg("%s: %s", actions[i].action, events);
            }
        }
    }
}

static void what_is_no_action(void **state) {
    (void)state;
    open_family(TENDON_DEVICE_FEELSPACE);
    assert_int_equal(act("dance"), TENDON_ERROR_NOT_FOUND);
    assert_true(mistake.text[0] != 0);
    assert_int_equal(act("vibrate"), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(act("vibrate round"), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(act(""), TENDON_ERROR_NOT_FOUND);
    open_family(TENDON_DEVICE_BOSE);
    assert_int_equal(act("vibrate 90"), TENDON_ERROR_NOT_FOUND);
    world_run(2000);
    assert_int_equal(times_of("action", world_look()), 0);
    /* A firmware needs a cloud. */
    open_family(TENDON_DEVICE_OBVIOUS);
    assert_int_equal(act("firmware check"), TENDON_OK);
    world_run(100);
    assert_string_equal(world_look(), "action_failed");
}

/* One that was parsed before: its end has no text. */
static void an_action_that_was_parsed(void **state) {
    (void)state;
    tendon_act vibration;
    assert_int_equal(tendon_act_parse_text("feelspace", NULL, "vibrate 90", 10, &vibration, &mistake), TENDON_OK);
    open_family(TENDON_DEVICE_FEELSPACE);
    for (unsigned i = 0; i < TENDON_DEVICE_ACTIONS; i++) {
        assert_int_equal(tendon_device_perform(&w.device, &vibration, w.now), TENDON_OK);
    }
    assert_int_equal(tendon_device_perform(&w.device, &vibration, w.now), TENDON_ERROR_TABLE_FULL);
    assert_string_equal(world_look(), "");
    world_run(2000);
    assert_int_equal(times_of("action", world_look()), TENDON_DEVICE_ACTIONS);
    tendon_device_close(&w.device, w.now);
    world_run(6000);
    assert_int_equal(tendon_device_perform(&w.device, &vibration, w.now), TENDON_ERROR_DISCONNECTED);
}

/* The connection ends with the action that switches the belt off, which was carried out; the next one was not. */
static void the_last_action_of_a_belt(void **state) {
    (void)state;
    open_family(TENDON_DEVICE_FEELSPACE);
    assert_int_equal(act("mode standby"), TENDON_OK);
    assert_int_equal(act("vibrate 90"), TENDON_OK);
    world_run(5000);
    const char *events = world_look();
    assert_int_equal(times_of("action", events), 1);
    assert_int_equal(times_of("action_failed", events), 1);
    assert_true(strstr(events, "action ") < strstr(events, "action_failed"));
    assert_int_equal(w.ended, 1);
}

/* The connection ends in the step in which the action did. Its success counts; a failure is that of the connection. */
static void an_action_that_ends_with_the_connection(void **state) {
    (void)state;
    static const struct {
        tendon_status status;
        const char *events;
    } rows[] = {{TENDON_OK, "action ended"}, {TENDON_ERROR_CANCELLED, "action_failed ended"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        open_family(TENDON_DEVICE_ACTIV5);
        assert_int_equal(act("tare"), TENDON_OK);
        tendon_device_inputs(&w.device)->tick(&w.device, w.now); /* begins it */
        assert_true(w.device.acting);
        w.device.acted = true; /* as an event of the session does, before the next tick */
        w.device.acted_status = rows[i].status;
        tendon_device_inputs(&w.device)->disconnected(&w.device, TENDON_RADIO_ERROR_PEER_CLOSED, w.now);
        const char *events = world_look();
        size_t length = strlen(rows[i].events), all = strlen(events);
        assert_true(all >= length);
        assert_string_equal(events + all - length, rows[i].events);
    }
}

/* One at a time, and no more wait than there is room for. */
static void actions_wait_for_each_other(void **state) {
    (void)state;
    open_family(TENDON_DEVICE_FJORDEN);
    for (unsigned i = 0; i < TENDON_DEVICE_ACTIONS; i++) {
        assert_int_equal(act("led on"), TENDON_OK);
    }
    assert_int_equal(act("led off"), TENDON_ERROR_TABLE_FULL);
    assert_string_equal(mistake.text, "16 actions of this device wait already");
    world_run(4000);
    assert_int_equal(times_of("action", world_look()), TENDON_DEVICE_ACTIONS);
    assert_int_equal(act("led off"), TENDON_OK);
    world_run(2000);
    assert_string_equal(world_look(), "action");
}

/* A grip that does not answer; the next action follows. */
static void an_action_without_an_answer(void **state) {
    (void)state;
    world_choice choice = world_defaults();
    choice.fjorden.mute = true;
    world_start(TENDON_DEVICE_FJORDEN, &choice);
    world_open();
    world_run(1000);
    (void)world_look();
    assert_int_equal(act("led on"), TENDON_OK);
    assert_int_equal(act("led off"), TENDON_OK);
    world_run(60000);
    assert_string_equal(world_look(), "action_failed action_failed");
}

/* One that waits is not begun; the one in progress goes on, and the others keep their order. The grip does not answer.
 */
static void an_action_is_taken_back(void **state) {
    (void)state;
    world_choice choice = world_defaults();
    choice.fjorden.mute = true;
    world_start(TENDON_DEVICE_FJORDEN, &choice);
    world_open();
    world_run(1000);
    (void)world_look();
    assert_false(tendon_device_withdraw(&w.device, 0)); /* there is none */
    assert_int_equal(act("led on"), TENDON_OK);
    assert_true(tendon_device_withdraw(&w.device, 0)); /* it has not come to it */
    for (unsigned i = 0; i < TENDON_DEVICE_ACTIONS; i++) {
        assert_int_equal(act(i == 3 ? "led off" : "led on"), TENDON_OK);
    }
    world_run(10);
    assert_false(tendon_device_withdraw(&w.device, 0)); /* in progress */
    assert_true(tendon_device_withdraw(&w.device, 1));
    assert_true(tendon_device_withdraw(&w.device, 1));
    assert_int_equal(w.device.action_count, TENDON_DEVICE_ACTIONS - 2);
    while (w.device.action_count > 2) {
        assert_true(tendon_device_withdraw(&w.device, 2));
    }
    assert_false(tendon_device_withdraw(&w.device, 2));
    assert_memory_equal(w.device.actions[(w.device.first_action + 1) % TENDON_DEVICE_ACTIONS].text, "led off", 7);
    world_run(60000);
    assert_string_equal(world_look(), "action_failed action_failed");
    assert_int_equal(w.device.action_count, 0);
}

/* At each moment of an action: what was not done has failed, before the end of the turn. */
static void the_connection_ends_meanwhile(void **state) {
    (void)state;
    static const struct {
        tendon_device_family family;
        const char *action;
    } actions[] = {{TENDON_DEVICE_FEELSPACE, "stop"},
                   {TENDON_DEVICE_ACTIV5, "stop"},
                   {TENDON_DEVICE_FJORDEN, "led on"},
                   {TENDON_DEVICE_OBVIOUS, "toggle 17 flip"},
                   {TENDON_DEVICE_DEFINED, "set_rate 5"}};
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        for (uint64_t after = 0; after < 60; after++) {
            for (unsigned goes = 0; goes < 2; goes++) {
                open_family(actions[i].family);
                assert_int_equal(act(actions[i].action), TENDON_OK);
                assert_int_equal(act(actions[i].action), TENDON_OK);
                world_run(after);
                if (goes) {
                    tendon_memory_radio_set_present(&w.radio, &w.seat, false, w.now);
                } else {
                    tendon_device_close(&w.device, w.now);
                    assert_int_equal(act(actions[i].action), TENDON_OK); /* it has not come to it */
                }
                world_run(40000);
                const char *events = world_look();
                unsigned answers = times_of("action", events) + times_of("action_failed", events);
                if (answers != (goes ? 2u : 3u) || strcmp(events + strlen(events) - 5, "ended") != 0 || w.ended != 1) {
                    fail_msg("%s after %u ms: %s", actions[i].action, (unsigned)after, events);
                }
                assert_int_equal(act(actions[i].action), TENDON_ERROR_DISCONNECTED);
            }
        }
    }
}

/* ENDED is the last event of a turn: the next one does not begin while the end of its actions is reported. */
static void the_next_turn_begins_behind_the_end(void **state) {
    (void)state;
    open_family(TENDON_DEVICE_ACTIV5);
    assert_int_equal(act("tare"), TENDON_OK);
    assert_int_equal(act("tare"), TENDON_OK);
    w.opens_in_acted = true;
    tendon_memory_radio_set_present(&w.radio, &w.seat, false, w.now);
    world_run(40000);
    assert_int_equal(times_of("action_failed", world_look()), 2);
    assert_int_equal(w.opened, TENDON_ERROR_WRONG_STATE);
    assert_int_equal(w.ended, 1);
    assert_int_equal(w.device.state, TENDON_DEVICE_CLOSED);
    tendon_memory_radio_set_present(&w.radio, &w.seat, true, w.now);
    assert_int_equal(tendon_device_open(&w.device, w.now), TENDON_OK);
    world_run(2000);
    assert_int_equal(w.device.state, TENDON_DEVICE_OPEN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_action_waits_for_the_opening),
        cmocka_unit_test(an_action_of_each_family),
        cmocka_unit_test(what_is_no_action),
        cmocka_unit_test(an_action_that_was_parsed),
        cmocka_unit_test(the_last_action_of_a_belt),
        cmocka_unit_test(an_action_that_ends_with_the_connection),
        cmocka_unit_test(actions_wait_for_each_other),
        cmocka_unit_test(an_action_without_an_answer),
        cmocka_unit_test(an_action_is_taken_back),
        cmocka_unit_test(the_connection_ends_meanwhile),
        cmocka_unit_test(the_next_turn_begins_behind_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
