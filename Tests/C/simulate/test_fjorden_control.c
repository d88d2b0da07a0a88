/* SPDX-License-Identifier: MIT */
/* Simulated Fjorden grip: the control point. docs/protocols/fjorden.md has the requests and the statuses. */
#include "fjorden_fixture.h"

/** Writes a request; its response comes as an indication, which is confirmed. */
static void request(const char *write, const char *response) {
    device_exchange(f, 0, write, "13");
    device_run(f, f->now);
    device_expect_last(f, 0, response);
    device_send(f, 0, "1e");
}

static void every_request_has_its_response(void **state) {
    (void)state;
    fjorden_subscribe_responses(0);
    request("12 1d 00 01 09", "1d 1d 00 81 09 00");
    request("12 1d 00 01 0a 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 11",
            "1d 1d 00 81 0a 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 11");
    request("12 1d 00 02 0b 03 f4 01", "1d 1d 00 82 0b 00");
    assert_int_equal(grip.led_mode, 3);
    assert_int_equal(grip.led_ms, 500);
    request("12 1d 00 03 0c", "1d 1d 00 83 0c 00 f4 01 90 01 01"); /* the defaults */
    request("12 1d 00 04 0d c8 00 96 00 08", "1d 1d 00 84 0d 00");
    request("12 1d 00 03 0e", "1d 1d 00 83 0e 00 c8 00 96 00 08");
    request("12 1d 00 04 0f d0 07 d0 07 01", "1d 1d 00 84 0f 00");
    request("12 1d 00 03 10", "1d 1d 00 83 10 00 d0 07 d0 07 01");
    request("12 1d 00 05 11", "1d 1d 00 85 11 00 01 00 00 00 00 00");
    assert_int_equal(grip.counters.requests, 9);
    assert_int_equal(grip.counters.refused_writes, 0);
}

static void a_request_with_a_fault_has_a_status(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"12 1d 00 00 01", "1d 1d 00 80 01 01"},                /* no such opcode */
        {"12 1d 00 08 02", "1d 1d 00 88 02 01"},                /* nor that */
        {"12 1d 00 02 03 01 00", "1d 1d 00 82 03 02"},          /* too short */
        {"12 1d 00 02 04 01 00 00 00", "1d 1d 00 82 04 02"},    /* too long */
        {"12 1d 00 03 05 00", "1d 1d 00 83 05 02"},             /* parameters where there are none */
        {"12 1d 00 02 06 04 00 00", "1d 1d 00 82 06 03"},       /* LED mode 4 */
        {"12 1d 00 04 07 c7 00 90 01 01", "1d 1d 00 84 07 03"}, /* 199 ms */
        {"12 1d 00 04 08 d1 07 90 01 01", "1d 1d 00 84 08 03"}, /* 2001 ms */
        {"12 1d 00 04 09 f4 01 95 00 01", "1d 1d 00 84 09 03"}, /* 149 ms */
        {"12 1d 00 04 0a f4 01 d1 07 01", "1d 1d 00 84 0a 03"}, /* 2001 ms */
        {"12 1d 00 04 0b f4 01 90 01 00", "1d 1d 00 84 0b 03"}, /* divider 0 */
        {"12 1d 00 04 0c f4 01 90 01 09", "1d 1d 00 84 0c 03"}, /* divider 9 */
        {"12 1d 00 06 0d", "1d 1d 00 86 0d 05"},                /* there is no bond */
    };
    fjorden_subscribe_responses(0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        request(cases[i][0], cases[i][1]);
        assert_int_equal(grip.counters.refused_writes, i + 1);
    }
    request("12 1d 00 03 0e", "1d 1d 00 83 0e 00 f4 01 90 01 01"); /* none of them has changed anything */
    assert_int_equal(grip.led_mode, 0);
    assert_int_equal(grip.led_ms, 0);
    assert_int_equal(grip.counters.requests, 1);
    assert_false(f->centrals[0].bearer.closed);
}

/* ATT errors, Core Spec Vol 3 Part F 3.4.1.1 and CSS Part B 1.2. */
static void what_is_no_request_is_an_att_error(void **state) {
    (void)state;
    device_exchange(f, 0, "12 1d 00 05 01", "01 12 1d 00 fd"); /* the responses are not enabled */
    device_exchange(f, 0, "12 1e 00 01 00", "01 12 1e 00 13"); /* it indicates, it does not notify */
    device_exchange(f, 0, "12 1d 00 05 01", "01 12 1d 00 fd");
    fjorden_subscribe_responses(0);
    device_exchange(f, 0, "12 1d 00 05", "01 12 1d 00 0d"); /* no request id */
    device_exchange(f, 0, "12 1d 00", "01 12 1d 00 0d");
    assert_int_equal(grip.counters.refused_writes, 4);
    assert_int_equal(grip.counters.requests, 0);
    device_forget(f, 0);
    device_run(f, f->now + 1000);
    assert_int_equal(f->centrals[0].count, 0);
    /* A long write: the value is written as a whole or not at all. */
    device_exchange(f, 0, "16 1d 00 02 00 05 01", "17 1d 00 02 00 05 01");
    device_send(f, 0, "18 01");
    device_expect_last(f, 0, "01 18 1d 00 07");
    assert_int_equal(grip.counters.refused_writes, 5);
}

static void one_request_runs_and_a_second_is_told_busy(void **state) {
    (void)state;
    fjorden_subscribe_responses(0);
    device_exchange(f, 0, "12 1d 00 01 01", "13");
    assert_int_equal(f->device.ops->deadline(f->device.context), 0); /* the response is due */
    device_exchange(f, 0, "12 1d 00 02 02 01 00 00", "13");
    assert_int_equal(grip.led_mode, 0);                        /* not carried out */
    device_exchange(f, 0, "12 1d 00 01 03", "01 12 1d 00 11"); /* a third one does not fit */
    device_forget(f, 0);
    device_run(f, f->now);
    assert_int_equal(f->centrals[0].count, 1); /* one indication at a time */
    device_expect_last(f, 0, "1d 1d 00 81 01 00");
    assert_int_equal(f->device.ops->deadline(f->device.context), UINT64_MAX);
    device_run(f, f->now + 5000);
    assert_int_equal(f->centrals[0].count, 1);
    device_send(f, 0, "1e");
    device_run(f, f->now);
    assert_int_equal(f->centrals[0].count, 2);
    device_expect_last(f, 0, "1d 1d 00 82 02 04");
    device_send(f, 0, "1e");
    device_run(f, f->now + 5000);
    assert_int_equal(f->centrals[0].count, 2);
    request("12 1d 00 02 04 01 00 00", "1d 1d 00 82 04 00");
    assert_int_equal(grip.led_mode, 1);
}

static void a_full_link_delays_a_response(void **state) {
    (void)state;
    fjorden_subscribe_responses(0);
    device_exchange(f, 0, "12 1d 00 01 01", "13");
    device_forget(f, 0);
    f->centrals[0].room = 0;
    f->device.ops->tick(f->device.context, f->now);
    assert_int_equal(f->centrals[0].count, 0);
    assert_int_equal(f->device.ops->deadline(f->device.context), UINT64_MAX); /* writable() continues */
    device_writable(f, 0, -1);
    assert_int_equal(f->centrals[0].count, 1);
    device_expect_last(f, 0, "1d 1d 00 81 01 00");
}

/* Disabled after the request: the response is not sent, and the next request is processed. */
static void a_response_that_nobody_wants_is_dropped(void **state) {
    (void)state;
    fjorden_subscribe_responses(0);
    device_exchange(f, 0, "12 1d 00 01 01", "13");
    device_exchange(f, 0, "12 1e 00 00 00", "13");
    device_forget(f, 0);
    device_run(f, f->now);
    assert_int_equal(f->centrals[0].count, 0);
    fjorden_subscribe_responses(0);
    request("12 1d 00 01 02", "1d 1d 00 81 02 00");
}

static void a_mute_grip_carries_out_and_sends_no_response(void **state) {
    (void)state;
    const tendon_simulated_fjorden_options options = {.open = true, .mute = true};
    fjorden_connected(&options);
    fjorden_subscribe_responses(0);
    for (int i = 0; i < 3; i++) {
        device_exchange(f, 0, "12 1d 00 02 01 02 00 00", "13");
    }
    device_forget(f, 0);
    device_run(f, f->now + 5000);
    assert_int_equal(f->centrals[0].count, 0);
    assert_int_equal(grip.led_mode, 2);
    assert_int_equal(grip.counters.requests, 3);
}

/* The response first, its confirmation, then the event, then the end: 100 ms later. */
static void power_off_follows_the_confirmation(void **state) {
    (void)state;
    fjorden_subscribe_responses(0);
    fjorden_subscribe_events(0);
    device_exchange(f, 0, "12 1d 00 07 01", "13");
    device_forget(f, 0);
    device_run(f, f->now + 1000);
    assert_int_equal(f->centrals[0].count, 1);
    device_expect(f, 0, 0, "1d 1d 00 87 01 00");
    assert_false(f->centrals[0].bearer.closed);
    device_send(f, 0, "1e");
    device_expect(f, 0, 1, "1b 17 00 01 81 e8 03 00");
    assert_int_equal(f->device.ops->deadline(f->device.context), 6100);
    device_run(f, 6099);
    assert_false(f->centrals[0].bearer.closed);
    device_run(f, 6100);
    assert_true(f->centrals[0].bearer.closed);
    assert_int_equal(f->device.ops->deadline(f->device.context), UINT64_MAX);
    assert_int_equal(f->device.ops->pairing(f->device.context), TENDON_PERIPHERAL_PAIRABLE); /* its bonds stay */
}

static void a_bond_is_cleared_once(void **state) {
    (void)state;
    const tendon_simulated_fjorden_options options = {.open = true, .bonded = true};
    fjorden_connected(&options);
    assert_int_equal(f->device.ops->pairing(f->device.context), 0); /* one bond, and this is it */
    fjorden_subscribe_responses(0);
    fjorden_subscribe_events(0);
    request("12 1d 00 06 01", "1d 1d 00 86 01 00");
    device_expect_last(f, 0, "1b 17 00 01 82 00 00 00");
    device_run(f, f->now + 100);
    assert_true(f->centrals[0].bearer.closed);
    assert_int_equal(f->device.ops->pairing(f->device.context),
                     TENDON_PERIPHERAL_PAIRABLE | TENDON_PERIPHERAL_CLEAR_BONDS);
    assert_int_equal(f->device.ops->pairing(f->device.context), TENDON_PERIPHERAL_PAIRABLE);
}

/* Nobody is left to confirm: what was to follow the confirmation follows the disconnection. */
static void a_central_that_leaves_takes_its_responses_with_it(void **state) {
    (void)state;
    for (int who = 0; who < 2; who++) {
        const tendon_simulated_fjorden_options options = {.open = true, .bonded = true};
        fjorden_connected(&options);
        assert_int_equal(device_connect(f, 1, 23), TENDON_OK);
        fjorden_subscribe_responses(0);
        fjorden_subscribe_responses(1);
        fjorden_subscribe_events(1);
        device_exchange(f, 0, "12 1d 00 06 01", "13");
        device_exchange(f, 1, "12 1d 00 01 02", "13"); /* busy, and it waits for its turn */
        device_run(f, f->now);
        device_expect_last(f, 0, "1d 1d 00 86 01 00");
        device_forget(f, 1);
        if (who == 0) {
            device_disconnect(f, 0);
            device_expect(f, 1, 0, "1b 17 00 01 82 00 00 00");
            device_expect(f, 1, 1, "1d 1d 00 81 02 04"); /* the next one is not held up */
            assert_int_equal(f->centrals[1].count, 2);
            device_run(f, f->now + 100);
            assert_true(f->centrals[1].bearer.closed);
        } else {
            device_disconnect(f, 1);
            assert_int_equal(grip.response_count, 1); /* its own alone */
            assert_true(grip.confirming);
            device_send(f, 0, "1e");
            assert_int_equal(grip.response_count, 0);
            device_run(f, f->now + 100);
            assert_true(f->centrals[0].bearer.closed);
        }
        assert_false(grip.bonded);
    }
    const tendon_simulated_fjorden_options options = {.open = true, .bonded = true};
    fjorden_connected(&options);
    fjorden_subscribe_responses(0);
    device_exchange(f, 0, "12 1d 00 06 01", "13");
    device_disconnect(f, 0); /* the only one */
    assert_int_equal(f->device.ops->pairing(f->device.context),
                     TENDON_PERIPHERAL_PAIRABLE | TENDON_PERIPHERAL_CLEAR_BONDS);
    assert_int_equal(device_connect(f, 0, 23), TENDON_OK);
    fjorden_subscribe_responses(0);
    request("12 1d 00 01 05", "1d 1d 00 81 05 00");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_request_has_its_response, fjorden_setup),
        cmocka_unit_test_setup(a_request_with_a_fault_has_a_status, fjorden_setup),
        cmocka_unit_test_setup(what_is_no_request_is_an_att_error, fjorden_setup),
        cmocka_unit_test_setup(one_request_runs_and_a_second_is_told_busy, fjorden_setup),
        cmocka_unit_test_setup(a_full_link_delays_a_response, fjorden_setup),
        cmocka_unit_test_setup(a_response_that_nobody_wants_is_dropped, fjorden_setup),
        cmocka_unit_test(a_mute_grip_carries_out_and_sends_no_response),
        cmocka_unit_test_setup(power_off_follows_the_confirmation, fjorden_setup),
        cmocka_unit_test(a_bond_is_cleared_once),
        cmocka_unit_test(a_central_that_leaves_takes_its_responses_with_it),
    };
    return cmocka_run_group_tests_name("simulate_fjorden_control", tests, NULL, NULL);
}
