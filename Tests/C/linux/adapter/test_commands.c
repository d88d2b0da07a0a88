/* SPDX-License-Identifier: MIT */
/* The kernel's radio against a scripted controller: refused sends, late answers, resets, adapters without an address.
 */
#include "bluez_fixture.h"

#include <errno.h>
#include <string.h>

/* ENETDOWN: the adapter is off for a reset, or permanently; only the management socket reports which. */
static void a_send_refused_while_the_adapter_is_off_is_tried_again(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    fake.refuse[FAKE_COMMAND] = (fake_refusal){.number = ENETDOWN, .times = 3};
    bluez_start_scan(b);
    for (uint64_t now = 1; now <= 3; now++) {
        bluez_expect_nothing(b);
        assert_int_equal(b->radio.power.state, TENDON_BLUEZ_POWERED);
        assert_true(b->radio.timer.deadline != UINT64_MAX); /* it is to be tried again by itself */
        bluez_tick(b, tendon_monotonic_ms() + now * 1000);
    }
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    assert_true(b->radio.scan.activity.state == TENDON_BLUEZ_ON);
    assert_int_equal(b->failures, 0);
    /* The count restarts after each success. */
    assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    fake.refuse[FAKE_COMMAND] = (fake_refusal){.number = ENETDOWN, .times = 10};
    bluez_start_scan(b);
    for (uint64_t now = 1; now <= 10; now++) {
        bluez_tick(b, tendon_monotonic_ms() + now * 1000);
    }
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    assert_int_equal(b->failures, 0);
    bluez_close(b);
}

/* The kernel has no memory for the packet, or no room in its queue. */
static void a_send_without_memory_is_tried_again(void **state) {
    (void)state;
    static const int numbers[] = {ENOBUFS, ENOMEM, EAGAIN};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        bluez_bench *b = bluez_open(false, &bluez_public_address);
        fake.refuse[FAKE_COMMAND] = (fake_refusal){.number = numbers[i], .times = 1};
        bluez_start_scan(b);
        bluez_expect_nothing(b);
        bluez_tick(b, tendon_monotonic_ms() + 1000);
        (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
        assert_int_equal(b->failures, 0);
        bluez_close(b);
    }
}

static void refused_sends_are_bounded(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    fake.refuse[FAKE_COMMAND] = (fake_refusal){.number = ENETDOWN, .times = 1000};
    bluez_start_scan(b);
    for (uint64_t now = 1; now <= 12 && b->failures == 0; now++) {
        bluez_tick(b, tendon_monotonic_ms() + now * 1000);
    }
    assert_int_equal(b->failures, 1);
    assert_int_equal(b->failure, TENDON_RADIO_ERROR_ADAPTER_DOWN);
    assert_int_equal(1000 - fake.refuse[FAKE_COMMAND].times, 11);
    fake.refuse[FAKE_COMMAND] = (fake_refusal){0};
    bluez_close(b);
}

static void any_other_refusal_of_a_send_ends_the_radio_at_once(void **state) {
    (void)state;
    static const struct {
        int number;
        tendon_status told;
    } cases[] = {{ENODEV, TENDON_RADIO_ERROR_NO_ADAPTER},
                 {EPERM, TENDON_RADIO_ERROR_NO_CAP_NET_RAW},
                 {EBUSY, TENDON_RADIO_ERROR_ADAPTER_BUSY},
                 {EIO, TENDON_SYSTEM_ERROR(EIO)}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bluez_bench *b = bluez_open(false, &bluez_public_address);
        fake.refuse[FAKE_COMMAND] = (fake_refusal){.number = cases[i].number, .times = 1};
        const tendon_scan_parameters parameters = {.active = true};
        assert_int_equal(tendon_radio_scan_start(&b->radio.radio, &parameters), cases[i].told);
        bluez_tick(b, 1000);
        assert_int_equal(b->failure, cases[i].told);
        bluez_close(b);
    }
}

/* The management socket says "off" first, although the controller's socket held the reason before. */
static void what_waits_in_the_other_socket_is_read_before_the_adapter_is_called_off(void **state) {
    (void)state;
    for (int others = 0; others < 40; others += 13) { /* events of others before it, more than one read takes */
        bluez_bench *b = bluez_scanning(false, &bluez_public_address);
        for (int i = 0; i < others; i++) {
            bluez_complete(b, TENDON_HCI_READ_LOCAL_VERSION, 0);
        }
        bluez_event(b, TENDON_HCI_HARDWARE_ERROR, "\x42", 1);
        bluez_settings(b, false);
        bluez_read(b); /* this socket first */
        bluez_tick(b, tendon_monotonic_ms());
        assert_int_equal(b->failures, 0);
        assert_int_equal(b->radio.power.state, TENDON_BLUEZ_RESETTING);
        bluez_settings(b, true);
        bluez_read(b);
        bluez_tick(b, tendon_monotonic_ms());
        (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
        assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 1);
        assert_true(b->radio.scan.activity.state == TENDON_BLUEZ_ON);
        bluez_close(b);
    }
}

/* Also when the management socket was readable first. */
static void the_loop_serves_the_controller_first(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    bluez_settings(b, false);
    bluez_event(b, TENDON_HCI_HARDWARE_ERROR, "\x42", 1);
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    assert_int_equal(b->failures, 0);
    assert_int_equal(b->radio.power.state, TENDON_BLUEZ_RESETTING);
    bluez_close(b);
}

static void an_adapter_that_is_switched_off_ends_the_radio(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    bluez_settings(b, false);
    bluez_read(b);
    bluez_tick(b, tendon_monotonic_ms());
    assert_int_equal(b->failures, 1);
    bluez_close(b);
}

/* The process stood still: the deadline passed, and the answer waits behind what came before it. */
static void the_answer_in_the_socket_counts_when_the_time_is_over(void **state) {
    (void)state;
    for (int others = 0; others < 120; others += 17) {
        bluez_bench *b = bluez_open(false, &bluez_public_address);
        bluez_start_scan(b);
        (void)bluez_expect(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS);
        for (int i = 0; i < others; i++) {
            bluez_complete(b, TENDON_HCI_READ_LOCAL_VERSION, 0);
        }
        bluez_complete(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
        /* They came after the loop had looked. */
        b->radio.hci.expired(b->radio.hci.context, tendon_monotonic_ms() + TENDON_BLUEZ_COMMAND_TIMEOUT_MS);
        assert_true(b->radio.hci.deadline < UINT64_MAX);
        bluez_read(b);
        assert_int_equal(b->failures, 0);
        assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 1);
        bluez_close(b);
    }
}

/* What is in the socket may go on being something else: the response has so much time more, and no longer. */
static void the_answer_in_the_socket_is_not_waited_for_without_end(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    bluez_start_scan(b);
    (void)bluez_expect(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS);
    bluez_complete(b, TENDON_HCI_READ_LOCAL_VERSION, 0);
    const uint64_t limit = b->radio.command.sent_at + TENDON_BLUEZ_COMMAND_TIMEOUT_MS + 1000;
    b->radio.hci.expired(b->radio.hci.context, limit - 1);
    assert_int_equal(b->radio.hci.deadline, limit);
    assert_int_equal(b->radio.counters.unanswered, 0);
    b->radio.hci.expired(b->radio.hci.context, limit);
    assert_int_equal(b->radio.hci.deadline, UINT64_MAX);
    assert_int_equal(b->radio.counters.unanswered, 1);
    bluez_close(b);
}

static void a_controller_that_does_not_answer_ends_the_radio(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    bluez_start_scan(b);
    (void)bluez_expect(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS);
    bluez_complete(b, TENDON_HCI_READ_LOCAL_VERSION, 0); /* a packet, but not the answer */
    bluez_read(b);
    for (int i = 1; i < TENDON_BLUEZ_UNANSWERED_MAX; i++) {
        bluez_expire_command(b);
        assert_int_equal(b->failures, 0);
        assert_int_equal(bluez_expect(b, TENDON_HCI_LE_SET_SCAN_ENABLE)[0], 0); /* to a known state first */
    }
    bluez_expire_command(b);
    assert_int_equal(b->failures, 1);
    assert_int_equal(b->failure, TENDON_RADIO_ERROR_COMMAND_TIMEOUT);
    assert_int_equal(b->radio.counters.unanswered, TENDON_BLUEZ_UNANSWERED_MAX);
    bluez_close(b);
}

/* It answers some commands, never this one. The retries are counted all the same. */
static void a_command_that_is_never_answered_ends_the_radio(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    bluez_start_scan(b);
    for (int i = 1; i <= TENDON_BLUEZ_UNANSWERED_MAX; i++) {
        assert_int_equal(b->failures, 0);
        (void)bluez_expect(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS);
        bluez_expire_command(b);
        if (i < TENDON_BLUEZ_UNANSWERED_MAX) {
            assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 0);
        }
    }
    assert_int_equal(b->failure, TENDON_RADIO_ERROR_COMMAND_TIMEOUT);
    bluez_close(b);
}

/* Each command's answer can be lost in a full receive buffer. The radio goes on, with what was requested. */
static void one_lost_answer_ends_nothing(void **state) {
    (void)state;
    for (int lost = 0; lost < 3; lost++) {
        for (int processed = 0; processed < 2; processed++) { /* late, or never */
            bluez_bench *b = bluez_open(false, &bluez_random_address);
            static const uint16_t opcodes[] = {TENDON_HCI_LE_SET_RANDOM_ADDRESS, TENDON_HCI_LE_SET_SCAN_PARAMETERS,
                                               TENDON_HCI_LE_SET_SCAN_ENABLE};
            bluez_start_scan(b);
            for (int i = 0; i < lost; i++) {
                (void)bluez_answer(b, opcodes[i], 0);
            }
            (void)bluez_expect(b, opcodes[lost]);
            bluez_expire_command(b);
            if (processed) {
                bluez_complete(b, opcodes[lost], 0);
            }
            if (lost == 0) {
                (void)bluez_answer(b, opcodes[0], 0);
            } else {
                assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 0);
            }
            (void)bluez_answer(b, opcodes[1], 0);
            assert_int_equal(bluez_answer(b, opcodes[2], 0)[0], 1);
            assert_int_equal(b->radio.scan.activity.state, TENDON_BLUEZ_ON);
            assert_int_equal(b->radio.counters.unanswered, 1);
            assert_int_equal(b->failures, 0);
            assert_int_equal(b->radio.command.unanswered, 0); /* one that is answered starts the count again */
            bluez_close(b);
        }
    }
}

/* p11: rejected once after a reset, nothing connected: nothing but the timer leads on. */
static void advertising_that_is_rejected_after_a_reset_is_retried(void **state) {
    (void)state;
    for (int extended = 0; extended < 2; extended++) {
        bluez_bench *b = bluez_open(extended, &bluez_public_address);
        bluez_start_advertising(b);
        (void)bluez_answer(b, bluez_advertising_parameters[extended], 0);
        (void)bluez_answer(b, bluez_advertising_data[extended], 0);
        (void)bluez_answer(b, bluez_scan_response_data[extended], 0);
        (void)bluez_answer(b, bluez_advertising_enable[extended], 0);
        bluez_event(b, TENDON_HCI_HARDWARE_ERROR, "\x42", 1);
        bluez_read(b);
        bluez_expect_nothing(b); /* not into a controller that is about to be reset */
        bluez_settings(b, false);
        bluez_read(b);
        bluez_expect_nothing(b);
        bluez_settings(b, true);
        bluez_read(b);
        bluez_tick(b, tendon_monotonic_ms());
        for (int i = 0; i < TENDON_BLUEZ_RETRIES; i++) {
            (void)bluez_answer(b, bluez_advertising_parameters[extended], HCI_COMMAND_DISALLOWED_ERROR);
            bluez_expect_nothing(b);
            assert_true(b->radio.timer.deadline <= tendon_monotonic_ms() + TENDON_BLUEZ_RETRY_MS);
            b->radio.advertising.activity.retry_at = 0; /* the pause passes */
            bluez_tick(b, tendon_monotonic_ms() + TENDON_BLUEZ_RETRY_MS);
            assert_int_equal(b->failures, 0);
        }
        if (extended) { /* once more, and it is given up */
            (void)bluez_answer(b, bluez_advertising_parameters[extended], HCI_COMMAND_DISALLOWED_ERROR);
            bluez_tick(b, tendon_monotonic_ms());
            assert_int_equal(b->failure, TENDON_RADIO_ERROR_ADAPTER_BUSY);
        } else { /* or it works at last */
            (void)bluez_answer(b, bluez_advertising_parameters[extended], 0);
            (void)bluez_answer(b, bluez_advertising_data[extended], 0);
            (void)bluez_answer(b, bluez_scan_response_data[extended], 0);
            (void)bluez_answer(b, bluez_advertising_enable[extended], 0);
            assert_int_equal(b->radio.advertising.activity.state, TENDON_BLUEZ_ON);
            assert_int_equal(b->radio.advertising.activity.retries, 0);
        }
        bluez_close(b);
    }
}

/* A controller that reported an error, and that the kernel does not reset: all is set up again after a pause. */
static void a_hardware_error_without_a_reset(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    uint64_t now = tendon_monotonic_ms();
    bluez_event(b, TENDON_HCI_HARDWARE_ERROR, "\x42", 1);
    bluez_read(b);
    bluez_tick(b, now + 100);
    bluez_expect_nothing(b);
    assert_true(b->radio.timer.deadline <= now + 1000);
    bluez_tick(b, now + 1000);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    bluez_tick(b, now + 1100);
    assert_int_equal(b->radio.power.state, TENDON_BLUEZ_RECOVERING); /* a reset may still follow */
    bluez_tick(b, now + 20000);
    assert_int_equal(b->radio.power.state, TENDON_BLUEZ_POWERED);
    assert_int_equal(b->radio.scan.activity.state, TENDON_BLUEZ_ON);
    assert_int_equal(b->failures, 0);
    bluez_close(b);
}

/* Stopped and started again while a command of the first start is in flight: the second one's data is used. */
static void a_restart_uses_its_own_configuration(void **state) {
    (void)state;
    static const uint8_t other[] = {2, 1, 4};
    const tendon_advertise_parameters second = {.data = other, .length = sizeof other};
    for (int reached = 0; reached < 4; reached++) {
        bluez_bench *b = bluez_open(false, &bluez_public_address);
        static const uint16_t opcodes[] = {TENDON_HCI_LE_SET_ADVERTISING_PARAMETERS, TENDON_HCI_LE_SET_ADVERTISING_DATA,
                                           TENDON_HCI_LE_SET_SCAN_RESPONSE_DATA, TENDON_HCI_LE_SET_ADVERTISING_ENABLE};
        bluez_start_advertising(b);
        for (int i = 0; i < reached; i++) {
            (void)bluez_answer(b, opcodes[i], 0);
        }
        assert_int_equal(tendon_radio_advertise_stop(&b->radio.radio), TENDON_OK);
        assert_int_equal(tendon_radio_advertise_start(&b->radio.radio, &second), TENDON_OK);
        (void)bluez_answer(b, opcodes[reached], 0);
        assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_ADVERTISING_ENABLE, 0)[0], 0);
        (void)bluez_answer(b, TENDON_HCI_LE_SET_ADVERTISING_PARAMETERS, 0);
        assert_memory_equal(bluez_answer(b, TENDON_HCI_LE_SET_ADVERTISING_DATA, 0) + 1, other, sizeof other);
        (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_RESPONSE_DATA, 0);
        assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_ADVERTISING_ENABLE, 0)[0], 1);
        assert_int_equal(b->radio.advertising.activity.state, TENDON_BLUEZ_ON);
        bluez_close(b);
    }
}

/* Paused for a connect, the scan counts; stopped by its owner, it does not. */
/* Its owner has changed it before it was told that it was rejected. */
static void a_restart_has_no_failure_of_before(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    bluez_start_advertising(b);
    (void)bluez_expect(b, bluez_advertising_parameters[0]);
    bluez_complete(b, bluez_advertising_parameters[0], 0x12);
    b->radio.hci.ready(b->radio.hci.context, TENDON_READABLE, tendon_monotonic_ms());
    bluez_start_advertising(b);
    (void)bluez_answer(b, bluez_advertising_parameters[0], 0);
    assert_int_equal(b->failures, 0);
    bluez_close(b);
}

static void a_scan_that_is_paused_for_a_connect_is_counted(void **state) {
    (void)state;
    static const tendon_address peer = {{0x00, 0x00, 0x5E, 0x00, 0x53, 0x01}, TENDON_ADDRESS_TYPE_PUBLIC};
    bluez_bench *b = bluez_scanning(false, &bluez_random_address);
    tendon_link link;
    tendon_link_init(&link, NULL);
    assert_int_equal(tendon_radio_connect(&b->radio.radio, &link, &peer, UINT64_MAX), TENDON_OK);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    assert_int_equal(b->radio.counters.scan_pauses, 1);
    tendon_link_close(&link);
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    bluez_close(b);
    b = bluez_scanning(false, &bluez_random_address);
    assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    assert_int_equal(b->radio.counters.scan_pauses, 0);
    bluez_close(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_send_refused_while_the_adapter_is_off_is_tried_again),
        cmocka_unit_test(a_send_without_memory_is_tried_again),
        cmocka_unit_test(refused_sends_are_bounded),
        cmocka_unit_test(any_other_refusal_of_a_send_ends_the_radio_at_once),
        cmocka_unit_test(what_waits_in_the_other_socket_is_read_before_the_adapter_is_called_off),
        cmocka_unit_test(the_loop_serves_the_controller_first),
        cmocka_unit_test(an_adapter_that_is_switched_off_ends_the_radio),
        cmocka_unit_test(the_answer_in_the_socket_counts_when_the_time_is_over),
        cmocka_unit_test(the_answer_in_the_socket_is_not_waited_for_without_end),
        cmocka_unit_test(a_controller_that_does_not_answer_ends_the_radio),
        cmocka_unit_test(a_command_that_is_never_answered_ends_the_radio),
        cmocka_unit_test(one_lost_answer_ends_nothing),
        cmocka_unit_test(advertising_that_is_rejected_after_a_reset_is_retried),
        cmocka_unit_test(a_hardware_error_without_a_reset),
        cmocka_unit_test(a_restart_uses_its_own_configuration),
        cmocka_unit_test(a_restart_has_no_failure_of_before),
        cmocka_unit_test(a_scan_that_is_paused_for_a_connect_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
