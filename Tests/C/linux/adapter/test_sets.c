/* SPDX-License-Identifier: MIT */
/* Controllers that have the extended commands in their list, and reject them: the legacy ones are used. */
#include "bluez_fixture.h"

#include <string.h>

enum { UNKNOWN_COMMAND = 0x01, DISALLOWED = 0x0C, ACCEPT_LIST = 1 };

static void receive_report(bluez_bench *b) {
    static const uint8_t report[] = {TENDON_HCI_LE_ADVERTISING_REPORT, 1, 0, 0, 1, 2, 3, 4, 5, 6, 3, 2, 1, 6, 0xC4};
    unsigned before = b->reports;
    bluez_event(b, TENDON_HCI_LE_META, report, sizeof report);
    bluez_read(b);
    assert_int_equal(b->reports, before + 1);
}

/** The scan is on with the legacy commands, and the next one uses them from the start. */
static void expect_legacy_scan(bluez_bench *b) {
    (void)bluez_answer(b, bluez_scan_parameters[0], 0);
    assert_int_equal(bluez_answer(b, bluez_scan_enable[0], 0)[0], 1);
    bluez_expect_nothing(b);
    receive_report(b);
    assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
    assert_int_equal(bluez_answer(b, bluez_scan_enable[0], 0)[0], 0);
    bluez_start_scan(b);
    (void)bluez_answer(b, bluez_scan_parameters[0], 0);
    (void)bluez_answer(b, bluez_scan_enable[0], 0);
    assert_int_equal(b->failures, 0);
}

static void start_coded(bluez_bench *b, tendon_status expected) {
    b->radio.limits.features |= TENDON_BLUEZ_FEATURE_CODED;
    if (b->radio.radio.scanning) {
        assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
    }
    assert_int_equal(tendon_radio_scan_start(&b->radio.radio, &(tendon_scan_parameters){.coded = true}), expected);
}

/* 0x01; 0x0C, after the kernel has used the legacy commands: with the first one, or when the scan is enabled. */
static void a_scan_uses_the_legacy_commands(void **state) {
    (void)state;
    static const uint8_t codes[] = {UNKNOWN_COMMAND, DISALLOWED};
    for (size_t i = 0; i < sizeof codes; i++) {
        bluez_bench *b = bluez_open(true, &bluez_public_address);
        bluez_start_scan(b);
        (void)bluez_answer(b, bluez_scan_parameters[1], codes[i]);
        expect_legacy_scan(b);
        start_coded(b, TENDON_ERROR_UNSUPPORTED); /* LE Coded needs the others */
        bluez_close(b);
    }
}

/* 0x12, Invalid HCI Command Parameters: the controller has the commands. */
static void another_code_says_nothing_about_the_commands(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(true, &bluez_public_address);
    bluez_start_scan(b);
    (void)bluez_answer(b, bluez_scan_parameters[1], 0x12);
    bluez_expect_nothing(b);
    assert_int_equal(b->failure, TENDON_HCI_ERROR(0x12));
    bluez_start_scan(b);
    (void)bluez_answer(b, bluez_scan_parameters[1], 0);
    bluez_close(b);
}

/* The scan of another program explains why ours is disallowed, but not why its commands are unknown. */
static void unknown_commands_are_not_explained_by_another_scan(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(true, &bluez_public_address);
    b->radio.use = TENDON_BLUEZ_SOLE; /* which does not join it */
    b->radio.kernel.scans = true;
    bluez_start_scan(b);
    (void)bluez_answer(b, bluez_scan_parameters[1], UNKNOWN_COMMAND);
    (void)bluez_expect(b, bluez_scan_parameters[0]);
    bluez_close(b);
    b = bluez_open(true, &bluez_public_address);
    b->radio.use = TENDON_BLUEZ_SOLE;
    b->radio.kernel.scans = true;
    fake.programs = 0; /* it is the kernel's: nothing is cleared */
    bluez_start_scan(b);
    (void)bluez_answer(b, bluez_scan_parameters[1], DISALLOWED);
    bluez_expect_nothing(b);
    assert_int_equal(b->failure, TENDON_RADIO_ERROR_ADAPTER_BUSY);
    bluez_close(b);
}

static void a_scan_of_le_coded_has_no_other_commands(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(true, &bluez_public_address);
    start_coded(b, TENDON_OK);
    (void)bluez_answer(b, bluez_scan_parameters[1], UNKNOWN_COMMAND);
    bluez_expect_nothing(b);
    bluez_tick(b, tendon_monotonic_ms());
    assert_int_equal(b->failure, TENDON_HCI_ERROR(UNKNOWN_COMMAND));
    start_coded(b, TENDON_ERROR_UNSUPPORTED);
    b->failures = 0;
    bluez_start_scan(b);
    expect_legacy_scan(b);
    bluez_close(b);
}

/* Another program scans on a controller whose extended commands work: both are rejected, and only the extended ones are
 * used later; once one was accepted, the legacy ones are not tried any more. */
static void a_rejection_for_another_reason_changes_nothing(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(true, &bluez_public_address);
    fake.programs = 1;
    bluez_start_scan(b);
    (void)bluez_answer(b, bluez_scan_parameters[1], DISALLOWED);
    (void)bluez_answer(b, bluez_scan_parameters[0], UNKNOWN_COMMAND); /* whatever it says */
    bluez_expect_nothing(b);
    assert_true(b->radio.scan.joined);
    bluez_other_command(b, bluez_scan_enable[1], 0); /* the other one ends */
    b->radio.scan.activity.retry_at = 0;
    bluez_tick(b, tendon_monotonic_ms());
    (void)bluez_answer(b, bluez_scan_parameters[1], 0);
    (void)bluez_answer(b, bluez_scan_enable[1], 0);
    assert_int_equal(b->failures, 0);
    assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
    (void)bluez_answer(b, bluez_scan_enable[1], 0);
    bluez_start_scan(b);
    (void)bluez_answer(b, bluez_scan_parameters[1], UNKNOWN_COMMAND);
    bluez_expect_nothing(b);
    bluez_tick(b, tendon_monotonic_ms());
    assert_int_equal(b->failure, TENDON_HCI_ERROR(UNKNOWN_COMMAND));
    bluez_close(b);
}

/* The kernel scans with its accept list, with the legacy commands; that was seen, or began before the radio opened. */
static void the_kernels_scan_is_taken_over_with_its_commands(void **state) {
    (void)state;
    for (int seen = 0; seen < 2; seen++) {
        bluez_bench *b = bluez_open(true, &bluez_public_address);
        fake.programs = 1;
        if (seen) {
            static const uint8_t packet[] = {HCI_COMMAND_PKT, 0x0B, 0x20, 7, 0, 0x60, 0, 0x60, 0, 0, ACCEPT_LIST};
            assert_int_equal(send(b->controller, packet, sizeof packet, 0), (ssize_t)sizeof packet);
            bluez_complete(b, bluez_scan_parameters[0], 0);
            bluez_other_command(b, bluez_scan_enable[0], 1);
        }
        bluez_start_scan(b);
        if (!seen) {
            (void)bluez_answer(b, bluez_scan_parameters[1], DISALLOWED);
            (void)bluez_answer(b, bluez_scan_parameters[0], DISALLOWED);
            assert_true(b->radio.scan.joined);
            b->radio.scan.heard_at = b->radio.scan.activity.retry_at = 0; /* 5 s without a report */
            bluez_tick(b, tendon_monotonic_ms());
            bluez_has_no_discovery(b);
            assert_int_equal(bluez_answer(b, bluez_scan_enable[1], DISALLOWED)[0], 0);
        }
        assert_int_equal(bluez_answer(b, bluez_scan_enable[0], 0)[0], 0);
        expect_legacy_scan(b);
        bluez_close(b);
    }
}

/* Which commands another program uses is a sign that the controller has them only if it accepts them. */
static void a_rejected_command_of_another_program_chooses_no_set(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(true, &bluez_public_address);
    bluez_other_sends(b, bluez_scan_enable[0], 1);
    bluez_complete(b, bluez_scan_enable[0], DISALLOWED);
    bluez_read(b);
    bluez_start_scan(b);
    (void)bluez_answer(b, bluez_scan_parameters[1], 0);
    assert_int_equal(bluez_answer(b, bluez_scan_enable[1], 0)[0], 1);
    bluez_close(b);
}

static void advertising_uses_the_legacy_commands(void **state) {
    (void)state;
    static const uint8_t codes[] = {UNKNOWN_COMMAND, DISALLOWED};
    for (size_t i = 0; i < 2 * sizeof codes; i++) {
        static const uint8_t data[40] = {2, 1, 6};
        bool fits = i % 2 == 0;
        bluez_bench *b = bluez_open(true, &bluez_public_address);
        assert_int_equal(
            tendon_radio_advertise_start(
                &b->radio.radio,
                &(tendon_advertise_parameters){.data = data, .length = fits ? 3 : sizeof data, .interval_ms = 100}),
            TENDON_OK);
        (void)bluez_answer(b, bluez_advertising_parameters[1], codes[i / 2]);
        if (fits) {
            (void)bluez_answer(b, bluez_advertising_parameters[0], 0);
            (void)bluez_answer(b, bluez_advertising_data[0], 0);
            (void)bluez_answer(b, bluez_scan_response_data[0], 0);
            assert_int_equal(bluez_answer(b, bluez_advertising_enable[0], 0)[0], 1);
            assert_int_equal(b->radio.advertising.activity.state, TENDON_BLUEZ_ON);
        }
        bluez_expect_nothing(b);
        bluez_tick(b, tendon_monotonic_ms());
        assert_int_equal(b->failures, !fits); /* data that only an extended set holds */
        bluez_close(b);
    }
}

/* Any number of bytes, one too: the radio does not look into them. */
static void each_length_of_data_reaches_the_controller(void **state) {
    (void)state;
    static const uint8_t data[31] = {30, 0xFF, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    for (size_t length = 0; length <= sizeof data; length++) {
        bluez_bench *b = bluez_open(false, &bluez_public_address);
        assert_int_equal(
            tendon_radio_advertise_start(&b->radio.radio, &(tendon_advertise_parameters){.data = data,
                                                                                         .length = length,
                                                                                         .scan_response = data,
                                                                                         .scan_response_length = length,
                                                                                         .interval_ms = 100}),
            TENDON_OK);
        (void)bluez_answer(b, bluez_advertising_parameters[0], 0);
        for (int response = 0; response < 2; response++) {
            const uint8_t *sent = bluez_answer(b, (response ? bluez_scan_response_data : bluez_advertising_data)[0], 0);
            assert_int_equal(sent[0], length);
            assert_memory_equal(sent + 1, data, length);
        }
        assert_int_equal(bluez_answer(b, bluez_advertising_enable[0], 0)[0], 1);
        bluez_close(b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scan_uses_the_legacy_commands),
        cmocka_unit_test(another_code_says_nothing_about_the_commands),
        cmocka_unit_test(unknown_commands_are_not_explained_by_another_scan),
        cmocka_unit_test(a_scan_of_le_coded_has_no_other_commands),
        cmocka_unit_test(a_rejection_for_another_reason_changes_nothing),
        cmocka_unit_test(the_kernels_scan_is_taken_over_with_its_commands),
        cmocka_unit_test(a_rejected_command_of_another_program_chooses_no_set),
        cmocka_unit_test(advertising_uses_the_legacy_commands),
        cmocka_unit_test(each_length_of_data_reaches_the_controller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
