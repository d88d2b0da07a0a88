/* SPDX-License-Identifier: MIT */
/* Orientation: its limits, its period, and a queue that is full. */
#include "feelspace_fixture.h"

static void heading(belt *b, int degrees) {
    uint8_t packet[16] = {2, (uint8_t)(degrees & 0xFF), (uint8_t)((unsigned)degrees >> 8 & 0xFF)};
    belt_notify_bytes(b, H_ORIENTATION, packet, sizeof packet);
}

static void belt_orientation_is_let_through_by_both_limits(void **state) {
    belt *b = *state;
    belt_open(b);
    assert_int_equal(tendon_feelspace_session_start_orientation(&b->session, 0, 181, b->now),
                     TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_feelspace_session_start_orientation(&b->session, 1000, 10, b->now), TENDON_OK);
    belt_run(b);
    belt_expect_write(b, 61, "0100");
    static const struct {
        uint64_t wait;
        int degrees;
        bool told;
    } steps[] = {
        {0, 175, true},    /* the first */
        {500, 0, false},   /* far, too early */
        {500, 176, false}, /* late enough, too near */
        {10, -176, false}, /* nine degrees, the short way round */
        {10, -175, true},  /* ten */
        {999, 0, false},   /* early by 1 ms */
        {1, 0, true},      {5000, 9, false}, {0, -9, false}, {0, -10, true},
    };
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        size_t before = belt_count(b, TENDON_FEELSPACE_EVENT_ORIENTATION);
        b->now += steps[i].wait;
        heading(b, steps[i].degrees);
        assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_ORIENTATION), before + steps[i].told);
        assert_int_equal(b->session.orientation.heading, steps[i].degrees); /* told or not */
    }
    size_t writes = belt_writes(b, 61);
    assert_int_equal(tendon_feelspace_session_start_orientation(&b->session, 0, 0, b->now), TENDON_OK);
    heading(b, -10);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_ORIENTATION), 5); /* only the limits changed */
    assert_int_equal(belt_writes(b, 61), writes);
    belt_notify(b, H_ORIENTATION, "01 0000 0000 0000 0000 0000 00000000 00"); /* another sensor */
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_ORIENTATION), 5);
    assert_int_equal(b->session.orientation.heading, -10);
    assert_int_equal(tendon_feelspace_session_stop_orientation(&b->session, b->now), TENDON_OK);
    belt_run(b);
    belt_expect_write(b, 61, "0000");
    heading(b, 90); /* one that was on its way */
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_ORIENTATION), 5);
    assert_true(b->session.has_orientation); /* the last one stays known: the vendor's document */
    assert_int_equal(b->session.orientation.heading, -10);
    assert_int_equal(tendon_feelspace_session_stop_orientation(&b->session, b->now), TENDON_OK);
}

static void belt_refuses_orientation(void **state) {
    belt *b = *state;
    belt_open(b);
    b->fail_at = (int)b->log_count;
    b->fail_code = 0x0E;
    assert_int_equal(tendon_feelspace_session_start_orientation(&b->session, 0, 0, b->now), TENDON_OK);
    assert_true(b->session.orientation_enabled);
    belt_run(b);
    assert_false(b->session.orientation_enabled);
    const tendon_feelspace_event *event = &belt_last(b, TENDON_FEELSPACE_EVENT_COMMAND)->event;
    assert_int_equal(event->status, TENDON_ATT_ERROR(0x0E));
    assert_int_equal(event->command.characteristic, TENDON_FEELSPACE_ORIENTATION_DATA);
    assert_int_equal(event->command.id, b->session.last_command);
}

static void belt_orientation_period_is_set_between(void **state) {
    belt *b = *state;
    belt_open(b);
    assert_int_equal(tendon_feelspace_session_set_orientation_period(&b->session, 19, b->now),
                     TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_feelspace_session_start_orientation(&b->session, 0, 0, b->now), TENDON_OK);
    belt_run(b);
    size_t before = b->log_count;
    assert_int_equal(tendon_feelspace_session_set_orientation_period(&b->session, 100, b->now), TENDON_OK);
    belt_run(b);
    static const uint16_t order[] = {61, H_REQUEST, 61};
    assert_int_equal(b->log_count - before, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(b->log[before + i].handle, order[i]);
    }
    belt_expect_write(b, H_REQUEST, "110f006400");
    belt_expect_write(b, 61, "0100");
    heading(b, 5);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_ORIENTATION), 1);
}

/* ---- a full queue ---- */

enum { H_ORIENTATION_CCCD = 61 };

/* Queues commands until @p free slots are left. */
static void fill_queue(belt *b, int free) {
    for (int i = 0; i < TENDON_FEELSPACE_COMMANDS_MAX - free; i++) {
        assert_true(tendon_feelspace_session_signal(&b->session, 0, b->now) >= 0);
    }
}

/* With any number of free slots: all three steps, or none. */
static void belt_orientation_survives_a_full_queue(void **state) {
    for (int free_slots = 0; free_slots <= 4; free_slots++) {
        void *fresh;
        belt_setup(&fresh);
        belt *b = fresh;
        belt_open(b);
        assert_int_equal(tendon_feelspace_session_start_orientation(&b->session, 0, 0, b->now), TENDON_OK);
        belt_run(b);
        size_t switched = belt_writes(b, H_ORIENTATION_CCCD), requests = belt_writes(b, H_REQUEST);
        fill_queue(b, free_slots);
        uint32_t last = b->session.last_command;
        assert_int_equal(tendon_feelspace_session_set_orientation_period(&b->session, 100, b->now),
                         free_slots > 0 ? TENDON_OK : TENDON_GATT_ERROR_QUEUE_FULL);
        assert_int_equal(b->session.last_command, free_slots > 0 ? last + 1 : last);
        belt_run(b);
        assert_int_equal(belt_writes(b, H_ORIENTATION_CCCD) - switched, free_slots > 0 ? 2 : 0);
        assert_int_equal(belt_writes(b, H_REQUEST) - requests, free_slots > 0 ? 1 : 0);
        belt_expect_write(b, H_ORIENTATION_CCCD, "0100");
        assert_true(b->session.orientation_enabled);
        heading(b, 5);
        assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_ORIENTATION), 1);
        assert_true(tendon_feelspace_session_idle(&b->session));
        belt_teardown(&fresh);
    }
    (void)state;
}

static void belt_orientation_refused_by_a_full_queue_changes_nothing(void **state) {
    belt *b = *state;
    belt_open(b);
    fill_queue(b, 0);
    assert_int_equal(tendon_feelspace_session_start_orientation(&b->session, 100, 10, b->now),
                     TENDON_GATT_ERROR_QUEUE_FULL);
    assert_false(b->session.orientation_enabled);
    assert_int_equal(b->session.orientation_period_ms, 0);
    assert_int_equal(b->session.orientation_variation_deg, 0);
    belt_run(b);
    assert_int_equal(tendon_feelspace_session_start_orientation(&b->session, 100, 10, b->now), TENDON_OK);
    belt_run(b);
    heading(b, 5);
    fill_queue(b, 0);
    assert_int_equal(tendon_feelspace_session_stop_orientation(&b->session, b->now), TENDON_GATT_ERROR_QUEUE_FULL);
    assert_true(b->session.orientation_enabled && b->session.has_orientation);
    assert_int_equal(b->session.orientation_period_ms, 100);
    assert_int_equal(b->session.orientation_variation_deg, 10);
    belt_run(b);
    belt_expect_write(b, H_ORIENTATION_CCCD, "0100");
}

/* Firmware 40 has no orientation period: nothing is sent, notifications stay on. */
static void belt_orientation_period_that_the_firmware_lacks(void **state) {
    belt *b = *state;
    belt_set(b, H_FIRMWARE, "2800");
    belt_open(b);
    assert_int_equal(tendon_feelspace_session_start_orientation(&b->session, 0, 0, b->now), TENDON_OK);
    belt_run(b);
    size_t before = b->log_count;
    assert_int_equal(tendon_feelspace_session_set_orientation_period(&b->session, 100, b->now),
                     TENDON_FEELSPACE_ERROR_UNSUPPORTED_FIRMWARE);
    belt_run(b);
    assert_int_equal(b->log_count, before);
    heading(b, 5);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_ORIENTATION), 1);
}

/* ---- the steps of a new period ---- */

/* Each step fails in turn; the command fails with that, and the last step is always sent. */
static void belt_refuses_a_step_of_the_period(void **state) {
    for (int step = 0; step < 3; step++) {
        void *fresh;
        belt_setup(&fresh);
        belt *b = fresh;
        belt_open(b);
        assert_int_equal(tendon_feelspace_session_start_orientation(&b->session, 0, 0, b->now), TENDON_OK);
        belt_run(b);
        size_t done = belt_count(b, TENDON_FEELSPACE_EVENT_COMMAND);
        b->fail_at = (int)b->log_count + step;
        b->fail_code = 0x0E;
        size_t before = b->log_count;
        assert_int_equal(tendon_feelspace_session_set_orientation_period(&b->session, 100, b->now), TENDON_OK);
        belt_run(b);
        assert_int_equal(b->log_count - before, 3);
        belt_expect_write(b, H_ORIENTATION_CCCD, "0100");
        assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_COMMAND), done + 1);
        const tendon_feelspace_event *event = &belt_last(b, TENDON_FEELSPACE_EVENT_COMMAND)->event;
        assert_int_equal(event->status, step == 0 ? TENDON_OK : TENDON_ATT_ERROR(0x0E));
        assert_int_equal(event->command.characteristic, TENDON_FEELSPACE_PARAMETER_REQUEST);
        assert_int_equal(event->command.id, b->session.last_command);
        assert_int_equal(b->session.orientation_enabled, step < 2);
        heading(b, 5);
        assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_ORIENTATION), step < 2 ? 1 : 0);
        belt_teardown(&fresh);
    }
    (void)state;
}

/* The belt acknowledges the period and says nothing more: the command ends after 1 s, orientation goes on. */
static void belt_is_silent_about_the_period(void **state) {
    belt *b = *state;
    belt_open(b);
    assert_int_equal(tendon_feelspace_session_start_orientation(&b->session, 0, 0, b->now), TENDON_OK);
    belt_run(b);
    b->silent = true;
    assert_int_equal(tendon_feelspace_session_set_orientation_period(&b->session, 100, b->now), TENDON_OK);
    belt_run(b);
    belt_advance(b, 999);
    assert_false(tendon_feelspace_session_idle(&b->session));
    belt_advance(b, 1);
    assert_int_equal(belt_last(b, TENDON_FEELSPACE_EVENT_COMMAND)->event.status, TENDON_ERROR_TIMEOUT);
    assert_true(b->session.orientation_enabled);
    heading(b, 5);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_ORIENTATION), 1);
}

/* A keep-alive comes between the period's write and the last step, and the belt's answer meanwhile. */
static void belt_answers_the_period_between_its_steps(void **state) {
    belt *b = *state;
    belt_open(b);
    assert_int_equal(tendon_feelspace_session_start_orientation(&b->session, 0, 0, b->now), TENDON_OK);
    belt_run(b);
    b->silent = true;
    assert_int_equal(tendon_feelspace_session_set_orientation_period(&b->session, 100, b->now), TENDON_OK);
    assert_true(belt_answer_one(b)); /* off */
    belt_notify(b, H_KEEP_ALIVE, "0001");
    assert_true(belt_answer_one(b)); /* the period */
    assert_int_equal(b->log[b->log_count - 1].handle, H_KEEP_ALIVE);
    belt_notify(b, H_PARAMETER, "100f6400");
    belt_run(b);
    belt_expect_write(b, H_ORIENTATION_CCCD, "0100");
    assert_int_equal(belt_last(b, TENDON_FEELSPACE_EVENT_COMMAND)->event.status, TENDON_OK);
    assert_true(tendon_feelspace_session_idle(&b->session));
}

/* The belt has changed its services while it was connected: the handles are none of those that were discovered. */
static void belt_reports_a_stale_handle(void **state) {
    belt *b = *state;
    belt_open(b);
    for (size_t i = 0; i < TENDON_FEELSPACE_CHARACTERISTIC_COUNT; i++) {
        b->session.kept.found[i].value = 0x0FFF;
        b->session.kept.found[i].cccd = 0x0FFE;
    }
    assert_int_equal(tendon_feelspace_session_signal(&b->session, TENDON_FEELSPACE_SIGNAL_BATTERY, b->now), TENDON_OK);
    belt_run(b);
    assert_int_equal(belt_last(b, TENDON_FEELSPACE_EVENT_COMMAND)->event.status,
                     TENDON_ATT_ERROR(TENDON_ATT_INVALID_HANDLE));
    assert_int_equal(tendon_feelspace_session_start_orientation(&b->session, 0, 0, b->now), TENDON_OK);
    belt_run(b);
    assert_int_equal(belt_last(b, TENDON_FEELSPACE_EVENT_COMMAND)->event.status,
                     TENDON_ATT_ERROR(TENDON_ATT_INVALID_HANDLE));
    assert_false(b->session.orientation_enabled);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTED);
}

/* The first Enable is refused while a stop and a start are queued behind it. */
static void belt_orientation_is_enabled_by_the_later_command(void **state) {
    belt *b = *state;
    belt_open(b);
    b->fail_at = (int)b->log_count;
    b->fail_code = 0x0E;
    assert_int_equal(tendon_feelspace_session_start_orientation(&b->session, 0, 0, b->now), TENDON_OK);
    assert_int_equal(tendon_feelspace_session_stop_orientation(&b->session, b->now), TENDON_OK);
    assert_int_equal(tendon_feelspace_session_start_orientation(&b->session, 0, 0, b->now), TENDON_OK);
    belt_run(b);
    assert_true(b->session.orientation_enabled);
    heading(b, 5);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_ORIENTATION), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, belt_setup, belt_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(belt_orientation_is_let_through_by_both_limits),
        TEST(belt_refuses_orientation),
        TEST(belt_orientation_period_is_set_between),
        TEST(belt_orientation_survives_a_full_queue),
        TEST(belt_orientation_refused_by_a_full_queue_changes_nothing),
        TEST(belt_orientation_period_that_the_firmware_lacks),
        TEST(belt_refuses_a_step_of_the_period),
        TEST(belt_is_silent_about_the_period),
        TEST(belt_answers_the_period_between_its_steps),
        TEST(belt_reports_a_stale_handle),
        TEST(belt_orientation_is_enabled_by_the_later_command),
    };
    return cmocka_run_group_tests_name("feelspace_orientation", tests, NULL, NULL);
}
