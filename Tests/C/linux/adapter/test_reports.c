/* SPDX-License-Identifier: MIT */
/* What a scan reports, what advertising is made of, what a reset makes the radio forget, and when it looks again. */
#include "bluez_fixture.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

static const tendon_address *const own = &bluez_public_address;

/* ---- reports ---- */

static struct seen {
    int count;
    uint8_t address[6], data[64];
    size_t length;
    int8_t rssi;
    bluez_bench *stops; /* the scan is stopped in the callback */
} seen;

static void on_report(void *context, const tendon_ad_report *report, uint64_t now) {
    (void)context;
    (void)now;
    seen.count++;
    memcpy(seen.address, report->address.bytes, 6);
    assert_true(report->length <= sizeof seen.data);
    memcpy(seen.data, report->data, report->length);
    seen.length = report->length;
    seen.rssi = report->rssi;
    if (seen.stops != NULL) {
        assert_int_equal(tendon_radio_scan_stop(&seen.stops->radio.radio), TENDON_OK);
    }
}

/* Two reports in one event; Core Spec Vol 4 Part E 7.7.65.2. */
static const uint8_t two[] = {TENDON_HCI_LE_ADVERTISING_REPORT,
                              2,
                              0,
                              1,
                              0x01,
                              0x53,
                              0,
                              0x5E,
                              0,
                              0xC0,
                              3,
                              2,
                              1,
                              6,
                              0xC4,
                              4,
                              0,
                              0x02,
                              0x53,
                              0,
                              0x5E,
                              0,
                              0,
                              0,
                              0xD8};

static void every_report_of_an_event_is_passed_on(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(false, own);
    seen = (struct seen){.count = 0};
    b->radio.radio.on_report = on_report;
    bluez_event(b, TENDON_HCI_LE_META, two, sizeof two);
    bluez_read(b);
    assert_int_equal(seen.count, 2);
    assert_int_equal(b->radio.radio.reports, 2);
    static const uint8_t last[] = {0, 0, 0x5E, 0, 0x53, 2};
    assert_memory_equal(seen.address, last, 6);
    assert_int_equal(seen.length, 0);
    assert_int_equal(seen.rssi, -40);
    b->radio.radio.on_report = NULL; /* counted, for `tendon doctor` */
    bluez_event(b, TENDON_HCI_LE_META, two, sizeof two);
    bluez_read(b);
    assert_int_equal(b->radio.radio.reports, 4);
    /* Stopped in the first: the second one is not wanted any more. */
    b->radio.radio.on_report = on_report;
    seen = (struct seen){.stops = b};
    bluez_event(b, TENDON_HCI_LE_META, two, sizeof two);
    bluez_read(b);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.length, 3);
    assert_memory_equal(seen.data, "\2\1\6", 3);
    assert_int_equal(seen.rssi, -60);
    /* Those of another program's scan. */
    bluez_event(b, TENDON_HCI_LE_META, two, sizeof two);
    bluez_read(b);
    assert_int_equal(seen.count, 1);
    assert_int_equal(b->radio.radio.reports, 5);
    assert_int_equal(b->radio.radio.malformed, 0);
    bluez_close(b);
}

/* Extended advertising data comes in fragments: one report, when it is whole. Vol 4 Part E 7.7.65.13. */
static void fragments_are_one_report(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(true, own);
    seen = (struct seen){.count = 0};
    b->radio.radio.on_report = on_report;
    uint8_t event[2 + 24 + 4] = {
        TENDON_HCI_LE_EXTENDED_ADVERTISING_REPORT, 1, 0x20, 0, 1, 0x01, 0x53, 0, 0x5E, 0, 0xC0, 1, 0, 1, 0x7F, 0xC4};
    event[2 + 23] = 4;
    memcpy(event + 2 + 24, "\7\xFF\1\2", 4);
    bluez_event(b, TENDON_HCI_LE_META, event, sizeof event);
    bluez_read(b);
    assert_int_equal(seen.count, 0);
    assert_int_equal(b->radio.radio.reports, 0);
    event[2] = 0; /* complete */
    memcpy(event + 2 + 24, "\3\4\5\6", 4);
    bluez_event(b, TENDON_HCI_LE_META, event, sizeof event);
    bluez_read(b);
    assert_int_equal(seen.count, 1);
    assert_int_equal(b->radio.radio.reports, 1);
    assert_int_equal(seen.length, 8);
    assert_memory_equal(seen.data, "\7\xFF\1\2\3\4\5\6", 8);
    bluez_close(b);
}

/* ---- advertising ---- */

static void the_data_is_that_of_the_owner(void **state) {
    (void)state;
    static uint8_t long_data[TENDON_BLUEZ_ADVERTISING_MAX + 1];
    for (size_t i = 0; i < sizeof long_data; i++) {
        long_data[i] = (uint8_t)i;
    }
    static const struct {
        bool extended;
        size_t length, response;
        tendon_status expected;
    } cases[] = {
        {false, 0, 0, TENDON_OK},
        {false, 1, 1, TENDON_OK},
        {false, 31, 31, TENDON_OK},
        {false, 32, 0, TENDON_ERROR_INVALID_ARGUMENT},
        {false, 0, 32, TENDON_ERROR_INVALID_ARGUMENT},
        {true, 31, 1, TENDON_OK},
        {true, 32, 0, TENDON_OK}, /* no legacy PDU, so no scan response */
        {true, 32, 1, TENDON_ERROR_INVALID_ARGUMENT},
        {true, 1, 32, TENDON_ERROR_INVALID_ARGUMENT},
        {true, TENDON_BLUEZ_ADVERTISING_MAX, 0, TENDON_OK},
        {true, TENDON_BLUEZ_ADVERTISING_MAX + 1, 0, TENDON_ERROR_INVALID_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool extended = cases[i].extended, legacy = cases[i].length <= 31;
        bluez_bench *b = bluez_open(extended, own);
        const tendon_advertise_parameters parameters = {.interval_ms = 100,
                                                        .data = long_data,
                                                        .length = cases[i].length,
                                                        .scan_response = long_data + 5,
                                                        .scan_response_length = cases[i].response};
        assert_int_equal(tendon_radio_advertise_start(&b->radio.radio, &parameters), cases[i].expected);
        if (cases[i].expected != TENDON_OK) {
            bluez_expect_nothing(b);
            assert_false(b->radio.advertising.activity.requested);
            bluez_close(b);
            continue;
        }
        const uint8_t *sent = bluez_answer(b, bluez_advertising_parameters[extended], 0);
        if (extended) { /* connectable; scannable and legacy where it fits */
            assert_int_equal(sent[1], legacy ? 0x13 : 0x01);
            assert_memory_equal(sent + 3, "\xA0\0\0\xA0\0\0", 6); /* 100 ms */
        } else {
            assert_memory_equal(sent, "\xA0\0\xA0\0", 4);
        }
        sent = bluez_answer(b, bluez_advertising_data[extended], 0);
        size_t head = extended ? 4 : 1;
        assert_int_equal(sent[head - 1], cases[i].length);
        assert_memory_equal(sent + head, long_data, cases[i].length);
        if (legacy) {
            sent = bluez_answer(b, bluez_scan_response_data[extended], 0);
            assert_int_equal(sent[head - 1], cases[i].response);
            assert_memory_equal(sent + head, long_data + 5, cases[i].response);
        }
        assert_int_equal(bluez_answer(b, bluez_advertising_enable[extended], 0)[0], 1);
        assert_int_equal(b->radio.advertising.activity.state, TENDON_BLUEZ_ON);
        assert_int_equal(tendon_radio_advertise_start(&b->radio.radio, &parameters),
                         TENDON_RADIO_ERROR_ALREADY_STARTED);
        bluez_expect_nothing(b);
        assert_int_equal(tendon_radio_advertise_stop(&b->radio.radio), TENDON_OK);
        assert_int_equal(bluez_answer(b, bluez_advertising_enable[extended], 0x0C)[0], 0); /* off already */
        assert_int_equal(b->radio.advertising.activity.state, TENDON_BLUEZ_OFF);
        bluez_expect_nothing(b);
        assert_int_equal(b->radio.counters.commands, legacy ? 5 : 4);
        bluez_close(b);
    }
}

/* ---- pauses ---- */

/* The timer fires at the end of a pause, even if it fired before for another reason. */
static void a_pause_is_looked_at_again(void **state) {
    (void)state;
    for (int advertises = 0; advertises < 2; advertises++) {
        bluez_bench *b = bluez_open(false, own);
        tendon_bluez_activity *activity = advertises ? &b->radio.advertising.activity : &b->radio.scan.activity;
        uint16_t first = advertises ? bluez_advertising_parameters[0] : bluez_scan_parameters[0];
        if (advertises) {
            bluez_start_advertising(b);
        } else {
            bluez_start_scan(b);
        }
        activity->confirmed = true; /* it worked before */
        uint64_t before = tendon_monotonic_ms();
        (void)bluez_answer(b, first, 0x0C);
        bluez_expect_nothing(b);
        assert_in_range(activity->retry_at, before + 250, tendon_monotonic_ms() + 250);
        assert_int_equal(b->radio.timer.deadline, activity->retry_at);
        activity->retry_at = before + 60000;
        bluez_tick(b, before);
        bluez_expect_nothing(b);
        assert_int_equal(b->radio.timer.deadline, before + 60000);
        activity->retry_at = 0;
        bluez_tick(b, before);
        (void)bluez_expect(b, first);
        bluez_close(b);
    }
}

/* A refused send likewise. */
static void a_refused_send_is_looked_at_again(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, own);
    uint64_t before = tendon_monotonic_ms();
    fake.refuse[FAKE_COMMAND] = (fake_refusal){.number = ENETDOWN, .times = 1};
    bluez_start_scan(b);
    assert_in_range(b->radio.command.retry_at, before + 200, tendon_monotonic_ms() + 200);
    assert_int_equal(b->radio.counters.commands, 0);
    bluez_tick(b, b->radio.command.retry_at - 1);
    bluez_expect_nothing(b);
    assert_int_equal(b->radio.timer.deadline, b->radio.command.retry_at);
    bluez_tick(b, b->radio.command.retry_at);
    (void)bluez_expect(b, bluez_scan_parameters[0]);
    assert_int_equal(b->radio.counters.commands, 1);
    assert_int_equal(b->radio.hci.deadline - tendon_monotonic_ms() <= TENDON_BLUEZ_COMMAND_TIMEOUT_MS, 1);
    bluez_close(b);
}

/* Another program scans: its reports arrive here too. A sole owner waits, 250 ms each time; a shared radio:
 * test_joined.c. */
static void a_scan_waits_while_another_program_scans(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(false, own);
    b->radio.use = TENDON_BLUEZ_SOLE;
    tendon_bluez_activity_input(&b->radio.scan.activity, TENDON_BLUEZ_STOPPED);
    b->radio.kernel.scans = true;
    uint64_t before = tendon_monotonic_ms();
    bluez_tick(b, before);
    bluez_expect_nothing(b);
    assert_in_range(b->radio.scan.activity.retry_at, before + 250, tendon_monotonic_ms() + 250);
    assert_int_equal(b->radio.timer.deadline, b->radio.scan.activity.retry_at);
    b->radio.kernel.scans = false;
    b->radio.scan.activity.retry_at = 0;
    bluez_tick(b, before);
    (void)bluez_answer(b, bluez_scan_parameters[0], 0);
    (void)bluez_expect(b, bluez_scan_enable[0]);
    b->radio.kernel.scans = true; /* enabled by ours from now on */
    bluez_complete(b, bluez_scan_enable[0], 0);
    bluez_read(b);
    assert_false(b->radio.kernel.scans);
    bluez_close(b);
}

/* A scan that is not requested any more has nothing to retry, and no failure. */
static void a_rejection_after_the_stop_is_of_no_interest(void **state) {
    (void)state;
    for (int advertises = 0; advertises < 2; advertises++) {
        bluez_bench *b = bluez_open(false, own);
        if (advertises) {
            bluez_start_advertising(b);
            assert_int_equal(tendon_radio_advertise_stop(&b->radio.radio), TENDON_OK);
        } else {
            bluez_start_scan(b);
            assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
        }
        (void)bluez_answer(b, advertises ? bluez_advertising_parameters[0] : bluez_scan_parameters[0], 0x1F);
        bluez_expect_nothing(b);
        bluez_tick(b, tendon_monotonic_ms());
        assert_int_equal(b->failures, 0);
        assert_int_equal(b->radio.power.state, TENDON_BLUEZ_POWERED);
        bluez_close(b);
    }
}

/* A start forgets what the one before knew: whether it worked, and what was cleared. */
static void a_new_start_is_not_confirmed(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(false, own);
    b->radio.scan.activity.cleared = true;
    b->radio.scan.activity.retries = b->radio.scan.activity.unanswered = 2;
    assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
    (void)bluez_answer(b, bluez_scan_enable[0], 0);
    bluez_start_scan(b);
    assert_false(b->radio.scan.activity.confirmed || b->radio.scan.activity.cleared);
    assert_int_equal(b->radio.scan.activity.retries + b->radio.scan.activity.unanswered, 0);
    (void)bluez_answer(b, bluez_scan_parameters[0], 0x1F); /* not retried */
    bluez_tick(b, tendon_monotonic_ms());
    assert_int_equal(b->failure, TENDON_HCI_ERROR(0x1F));
    assert_int_equal(b->radio.scan.activity.failure, TENDON_OK);
    bluez_tick(b, tendon_monotonic_ms());
    assert_int_equal(b->failures, 1); /* once */
    bluez_close(b);
}

/* ---- a reset ---- */

static void a_reset_makes_it_forget_what_the_controller_did(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(true, own);
    tendon_bluez_radio *radio = &b->radio;
    bluez_start_advertising(b);
    (void)bluez_answer(b, bluez_advertising_parameters[1], 0);
    assert_true(radio->advertising.set_made);
    (void)bluez_expect(b, bluez_advertising_data[1]); /* in flight */
    static const uint8_t central[19] = {TENDON_HCI_LE_CONNECTION_COMPLETE, 0, 0x41, 0, 1, [12] = 0x18, [16] = 0x2A};
    bluez_event(b, TENDON_HCI_LE_META, central, sizeof central);
    static const uint8_t other[] = {HCI_COMMAND_PKT, 0x0C, 0x20, 2, 1, 0}, creates[] = {HCI_COMMAND_PKT, 0x0D, 0x20, 0};
    assert_int_equal(send(b->controller, other, sizeof other, 0), (ssize_t)sizeof other);
    assert_int_equal(send(b->controller, creates, sizeof creates, 0), (ssize_t)sizeof creates);
    bluez_read(b);
    assert_int_equal(radio->kernel.connections, 1);
    assert_int_equal(radio->kernel.opcode, TENDON_HCI_LE_SET_SCAN_ENABLE);
    assert_int_equal(radio->kernel.creating, TENDON_BLUEZ_CREATES);
    radio->kernel.scans = true;
    radio->address_state = TENDON_BLUEZ_ADDRESS_OURS;
    bluez_hardware_error(b);
    assert_int_equal(radio->kernel.connections, 0);
    assert_int_equal(radio->kernel.opcode, 0);
    assert_int_equal(radio->kernel.creating, TENDON_BLUEZ_CREATES_NONE);
    assert_int_equal(radio->command.opcode, 0);
    assert_int_equal(radio->hci.deadline, UINT64_MAX);
    assert_false(radio->kernel.scans || radio->advertising.set_made);
    assert_int_equal(radio->address_state, TENDON_BLUEZ_ADDRESS_UNKNOWN);
    assert_int_equal(radio->scan.activity.state, TENDON_BLUEZ_OFF);
    assert_int_equal(radio->advertising.activity.state, TENDON_BLUEZ_OFF);
    assert_int_equal(radio->advertising.activity.step, 0);
    bluez_power(b, false);
    assert_int_equal(radio->power.state, TENDON_BLUEZ_RESETTING);
    radio->scan.activity.retry_at = radio->advertising.activity.retry_at = UINT64_MAX - 1; /* pauses are over with it */
    bluez_power(b, true);
    assert_int_equal(radio->power.state, TENDON_BLUEZ_POWERED);
    assert_int_equal(radio->power.deadline, UINT64_MAX);
    (void)bluez_answer(b, bluez_scan_parameters[1], 0);
    (void)bluez_answer(b, bluez_scan_enable[1], 0);
    (void)bluez_answer(b, bluez_advertising_parameters[1], 0);
    (void)bluez_expect(b, bluez_advertising_data[1]);
    bluez_close(b);
}

/* Faulty for 500 ms, then recovering until 10 s after the error, then powered. */
static void the_times_of_a_hardware_error(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, own);
    tendon_bluez_radio *radio = &b->radio;
    const uint64_t begin = tendon_monotonic_ms() + 1000;
    tendon_bluez_hardware_error(radio, begin);
    assert_int_equal(radio->power.deadline, begin + 500);
    assert_int_equal(radio->timer.deadline, begin + 500);
    bluez_tick(b, begin + 499);
    assert_int_equal(radio->power.state, TENDON_BLUEZ_FAULTY);
    assert_int_equal(radio->timer.deadline, begin + 500);
    bluez_tick(b, begin + 500);
    assert_int_equal(radio->power.state, TENDON_BLUEZ_RECOVERING);
    assert_int_equal(radio->power.deadline, begin + 10000);
    bluez_tick(b, begin + 9999);
    assert_int_equal(radio->timer.deadline, begin + 10000);
    bluez_tick(b, begin + 10000);
    assert_int_equal(radio->power.state, TENDON_BLUEZ_POWERED);
    assert_int_equal(radio->power.deadline, UINT64_MAX);
    bluez_tick(b, begin + 20000);
    assert_int_equal(radio->timer.deadline, UINT64_MAX);
    /* Powered off in the meantime, and never on again: 10 s after the error. */
    tendon_bluez_hardware_error(radio, begin + 100000);
    bluez_power(b, false);
    assert_int_equal(radio->power.state, TENDON_BLUEZ_RESETTING);
    assert_int_equal(radio->power.deadline, begin + 110000);
    bluez_tick(b, begin + 109999);
    assert_int_equal(b->failures, 0);
    bluez_tick(b, begin + 110000);
    assert_int_equal(b->failures, 1);
    bluez_close(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_report_of_an_event_is_passed_on),
        cmocka_unit_test(fragments_are_one_report),
        cmocka_unit_test(the_data_is_that_of_the_owner),
        cmocka_unit_test(a_pause_is_looked_at_again),
        cmocka_unit_test(a_refused_send_is_looked_at_again),
        cmocka_unit_test(a_scan_waits_while_another_program_scans),
        cmocka_unit_test(a_rejection_after_the_stop_is_of_no_interest),
        cmocka_unit_test(a_new_start_is_not_confirmed),
        cmocka_unit_test(a_reset_makes_it_forget_what_the_controller_did),
        cmocka_unit_test(the_times_of_a_hardware_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
