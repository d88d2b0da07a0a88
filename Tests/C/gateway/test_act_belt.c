/* SPDX-License-Identifier: MIT */
/* Actions on a belt: their packets, their order, their end. */
#include "../devices/feelspace_fixture.h"

#include "tendon/gateway.h"

static tendon_act act;
static tendon_act_progress progress;
static unsigned ends;
static tendon_status result;

static void hook(belt *b, const tendon_feelspace_event *event) {
    tendon_status status = 99;
    if (tendon_feelspace_acted(&b->session, event, &progress, &status, b->now)) {
        ends++;
        result = status;
        assert_int_equal(progress.kind, TENDON_ACT_NONE);
    }
}

static tendon_status start(belt *b, const char *text) {
    tendon_act_mistake mistake;
    assert_int_equal(tendon_act_parse_text("feelspace", NULL, text, strlen(text), &act, &mistake), TENDON_OK);
    ends = 0;
    result = 77;
    b->hook = hook;
    return tendon_feelspace_act(&b->session, &act, &progress, b->now);
}

/* To its end. */
static tendon_status perform(belt *b, const char *text) {
    tendon_status status = start(b, text);
    if (status == TENDON_OK) {
        belt_run(b);
        assert_int_equal(ends, 1);
        return result;
    }
    assert_int_equal(progress.kind, TENDON_ACT_NONE);
    return status;
}

static void one_command(void **state) {
    belt *b = *state;
    assert_int_equal(perform(b, "signal warning"), TENDON_ERROR_DISCONNECTED);
    belt_open(b);
    assert_int_equal(perform(b, "signal battery"), TENDON_OK);
    belt_expect_write(b, H_VIBRATION, "2002");
    /* channel 0, continuous, the belt's intensity, angle 300, once, 1000 ms */
    assert_int_equal(perform(b, "vibrate -60"), TENDON_OK);
    belt_expect_write(b, H_VIBRATION, "0001aaaa0000022c01000001e80300000000");
    assert_int_equal(perform(b, "mode compass"), TENDON_OK);
    belt_expect_write(b, H_REQUEST, "01810200");
    assert_int_equal(b->session.mode, TENDON_FEELSPACE_MODE_COMPASS);
}

static void a_stop_changes_the_mode_and_back(void **state) {
    belt *b = *state;
    belt_open(b);
    assert_int_equal(perform(b, "mode pause"), TENDON_OK);
    size_t requests = belt_writes(b, H_REQUEST);
    assert_int_equal(perform(b, "stop"), TENDON_OK);
    belt_expect_write(b, H_VIBRATION, "30ff");
    assert_int_equal(belt_writes(b, H_REQUEST), requests + 2);
    belt_expect_write(b, H_REQUEST, "01810400");
    assert_int_equal(b->session.mode, TENDON_FEELSPACE_MODE_PAUSE);
    /* in app mode it is one command */
    assert_int_equal(perform(b, "mode app"), TENDON_OK);
    requests = belt_writes(b, H_REQUEST);
    assert_int_equal(perform(b, "stop"), TENDON_OK);
    assert_int_equal(belt_writes(b, H_REQUEST), requests);
    assert_int_equal(b->session.mode, TENDON_FEELSPACE_MODE_APP);
}

/* A belt that rejects the stop, or does not respond to it, gets its mode back: its compass is not left off. */
static void a_stop_that_fails(void **state) {
    belt *b = *state;
    belt_open(b);
    assert_int_equal(perform(b, "mode compass"), TENDON_OK);
    size_t requests = belt_writes(b, H_REQUEST);
    b->fail_at = (int)b->log_count + 1;
    b->fail_code = 0x0E;
    assert_int_equal(perform(b, "stop"), TENDON_ATT_ERROR(0x0E));
    assert_int_equal(belt_writes(b, H_REQUEST), requests + 2);
    belt_expect_write(b, H_REQUEST, "01810200");
    assert_int_equal(b->session.mode, TENDON_FEELSPACE_MODE_COMPASS);
    b->fail_at = -1;
    b->answer_limit = 1;
    assert_int_equal(start(b, "stop"), TENDON_OK);
    belt_run(b);
    b->answer_limit = -1;
    belt_advance(b, TENDON_FEELSPACE_OPERATION_TIMEOUT_MS + 10);
    belt_run(b);
    assert_int_equal(ends, 1);
    assert_int_equal(result, TENDON_ERROR_TIMEOUT);
    belt_expect_write(b, H_REQUEST, "01810200");
    assert_int_equal(b->session.mode, TENDON_FEELSPACE_MODE_COMPASS);
}

/* No mode to go back to: the belt calibrates itself. */
static void a_stop_during_a_calibration(void **state) {
    belt *b = *state;
    belt_open(b);
    belt_mode(b, TENDON_FEELSPACE_MODE_CALIBRATION);
    size_t requests = belt_writes(b, H_REQUEST);
    assert_int_equal(perform(b, "stop"), TENDON_OK);
    assert_int_equal(belt_writes(b, H_REQUEST), requests + 1);
    assert_int_equal(b->session.mode, TENDON_FEELSPACE_MODE_APP);
}

static void failures(void **state) {
    belt *b = *state;
    belt_open(b);
    /* the belt does not confirm the mode: nothing is stopped */
    size_t vibrations = belt_writes(b, H_VIBRATION);
    b->silent = true;
    assert_int_equal(start(b, "stop"), TENDON_OK);
    belt_run(b);
    assert_int_equal(ends, 0);
    belt_advance(b, TENDON_FEELSPACE_OPERATION_TIMEOUT_MS + 10);
    assert_int_equal(ends, 1);
    assert_int_equal(result, TENDON_ERROR_TIMEOUT);
    assert_int_equal(belt_writes(b, H_VIBRATION), vibrations);
    b->silent = false;
    /* the end of the connection ends it as well */
    b->mute = true;
    assert_int_equal(start(b, "signal warning"), TENDON_OK);
    belt_lose(b, TENDON_ERROR_DISCONNECTED);
    assert_int_equal(ends, 1);
    assert_true(result < 0);
}

/* Commands of others that end in between are not its end. */
static void other_commands(void **state) {
    belt *b = *state;
    belt_open(b);
    assert_true(tendon_feelspace_session_set_heading_offset(&b->session, 45, b->now) >= 0);
    assert_int_equal(start(b, "signal goal_reached"), TENDON_OK);
    assert_true(tendon_feelspace_session_set_heading_offset(&b->session, 46, b->now) >= 0);
    belt_run(b);
    assert_int_equal(ends, 1);
    assert_int_equal(result, TENDON_OK);
}

/* The full queue is an error of the start. */
static void a_full_queue(void **state) {
    belt *b = *state;
    belt_open(b);
    b->mute = true;
    for (unsigned i = 0; i < TENDON_FEELSPACE_COMMANDS_MAX; i++) {
        assert_true(tendon_feelspace_session_signal(&b->session, 0, b->now) >= 0);
    }
    assert_int_equal(perform(b, "signal warning"), TENDON_GATT_ERROR_QUEUE_FULL);
    act.kind = TENDON_ACT_FJORDEN_LED;
    assert_int_equal(tendon_feelspace_act(&b->session, &act, &progress, b->now), TENDON_ERROR_INVALID_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_command, belt_setup, belt_teardown),
        cmocka_unit_test_setup_teardown(a_stop_changes_the_mode_and_back, belt_setup, belt_teardown),
        cmocka_unit_test_setup_teardown(a_stop_that_fails, belt_setup, belt_teardown),
        cmocka_unit_test_setup_teardown(a_stop_during_a_calibration, belt_setup, belt_teardown),
        cmocka_unit_test_setup_teardown(failures, belt_setup, belt_teardown),
        cmocka_unit_test_setup_teardown(other_commands, belt_setup, belt_teardown),
        cmocka_unit_test_setup_teardown(a_full_queue, belt_setup, belt_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
