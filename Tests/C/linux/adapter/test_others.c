/* SPDX-License-Identifier: MIT */
/* The kernel's radio beside others: programs that scan, connections, the blocking exchanges, the monitor. */
#include "bluez_fixture.h"
#include "tendon/linux/time.h"
#include "tendon/tools/monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- scanning beside other programs ---- */

static void other_is_answered(bluez_bench *b, uint16_t opcode, uint8_t status) {
    bluez_complete(b, opcode, status);
    bluez_read(b);
}

/* The answer to another program's command is not ours, and the next one is. */
static void the_command_of_another_program_is_answered_once(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    bluez_other_sends(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    other_is_answered(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    bluez_start_scan(b);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    assert_int_equal(b->radio.scan.activity.state, TENDON_BLUEZ_ON);
    /* Beside ours in flight: theirs was sent first, so it is answered first. */
    assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
    (void)bluez_expect(b, TENDON_HCI_LE_SET_SCAN_ENABLE);
    bluez_other_sends(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 1);
    other_is_answered(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0x0C);
    assert_int_equal(b->radio.command.opcode, TENDON_HCI_LE_SET_SCAN_ENABLE);
    other_is_answered(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    assert_int_equal(b->radio.command.opcode, 0);
    bluez_close(b);
}

static void a_scan_that_another_program_disables_waits_and_returns(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    bluez_other_sends(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    other_is_answered(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0x0C); /* rejected: it scans on */
    assert_int_equal(b->radio.scan.activity.state, TENDON_BLUEZ_ON);
    bluez_other_sends(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 1);
    other_is_answered(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0); /* enabled twice */
    assert_int_equal(b->radio.scan.activity.state, TENDON_BLUEZ_ON);
    uint64_t now = tendon_monotonic_ms();
    bluez_other_sends(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    other_is_answered(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    assert_int_equal(b->radio.scan.activity.state, TENDON_BLUEZ_OFF);
    bluez_expect_nothing(b);
    assert_in_range(b->radio.scan.activity.retry_at, now + 1000, now + 3000);
    assert_int_equal(b->radio.timer.deadline, b->radio.scan.activity.retry_at);
    b->radio.scan.activity.retry_at = 0; /* the pause passes */
    bluez_tick(b, now + 1000);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 1);
    bluez_close(b);
}

/* The pause belongs to the scan that was stopped. */
/* Configured by a check that succeeded, but paused for a connect, when the other program enables the scanner again: its
 * parameters may be others by now. */
static void a_check_that_was_overtaken_begins_with_the_parameters(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    bluez_other_command(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    bluez_other_command(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 1);
    b->radio.scan.activity.retry_at = 0;
    bluez_tick(b, tendon_monotonic_ms());
    assert_true(b->radio.scan.joined);
    bluez_expect_nothing(b);
    b->radio.scan.activity.retry_at = b->radio.scan.heard_at = 0; /* nothing was received for long */
    bluez_tick(b, tendon_monotonic_ms());
    (void)bluez_expect(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS);
    tendon_radio_pause_scan(&b->radio.radio);
    other_is_answered(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    bluez_other_command(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 1);
    b->radio.scan.heard_at = tendon_monotonic_ms();
    tendon_radio_resume_scan(&b->radio.radio);
    bluez_expect_nothing(b);
    b->radio.scan.activity.retry_at = b->radio.scan.heard_at = 0;
    bluez_tick(b, tendon_monotonic_ms());
    (void)bluez_expect(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS);
    bluez_close(b);
}

/* The set of commands that has worked is used, whatever another program sends to the same controller. */
static void another_program_does_not_choose_the_commands(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(true, &bluez_public_address);
    assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_EXTENDED_SCAN_ENABLE, 0);
    bluez_other_command(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 1);
    bluez_other_command(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    bluez_start_scan(b);
    (void)bluez_expect(b, TENDON_HCI_LE_SET_EXTENDED_SCAN_PARAMETERS);
    bluez_close(b);
    b = bluez_open(false, &bluez_public_address); /* nor those that the controller does not list */
    bluez_other_command(b, TENDON_HCI_LE_SET_EXTENDED_SCAN_ENABLE, 1);
    bluez_other_command(b, TENDON_HCI_LE_SET_EXTENDED_SCAN_ENABLE, 0);
    bluez_start_scan(b);
    (void)bluez_expect(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS);
    bluez_close(b);
}

/* A scan that nothing shows is believed for so many checks, and no longer. */
static void a_scan_that_was_never_seen_is_not_joined_for_ever(void **state) {
    (void)state;
    for (uint8_t checks = TENDON_BLUEZ_JOIN_CHECKS - 1; checks <= TENDON_BLUEZ_JOIN_CHECKS; checks++) {
        const bool joins = checks < TENDON_BLUEZ_JOIN_CHECKS;
        bluez_bench *b = bluez_open(false, &bluez_public_address);
        bluez_start_scan(b);
        (void)bluez_expect(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS);
        b->radio.scan.joined = b->radio.kernel.scans = true;
        b->radio.scan.unseen = checks;
        b->radio.scan.heard_at = tendon_monotonic_ms();
        bluez_answer_pending(b, HCI_COMMAND_DISALLOWED_ERROR);
        assert_int_equal(b->radio.scan.joined, joins);
        assert_int_equal(b->failure, joins ? 0 : TENDON_RADIO_ERROR_ADAPTER_BUSY);
        bluez_close(b);
    }
}

static void a_scan_that_is_started_again_does_not_pause(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    bluez_other_sends(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    other_is_answered(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    bluez_expect_nothing(b);
    assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
    bluez_start_scan(b);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 1);
    assert_int_equal(b->radio.scan.activity.state, TENDON_BLUEZ_ON);
    bluez_close(b);
}

static void interval_and_window_are_those_of_the_owner(void **state) {
    (void)state;
    for (int extended = 0; extended < 2; extended++) {
        bluez_bench *b = bluez_open(extended, &bluez_public_address);
        const tendon_scan_parameters parameters = {.active = true, .interval_ms = 100, .window_ms = 50};
        assert_int_equal(tendon_radio_scan_start(&b->radio.radio, &parameters), TENDON_OK);
        const uint8_t *bytes = bluez_answer(b, bluez_scan_parameters[extended], 0);
        assert_memory_equal(bytes + (extended ? 4 : 1), "\xA0\x00\x50\x00", 4); /* in 0.625 ms */
        bluez_close(b);
    }
}

static void a_scan_that_is_rejected_for_long_is_given_up(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    bluez_start_scan(b);
    b->radio.scan.activity.confirmed = true;
    for (int i = 0; i < TENDON_BLUEZ_RETRIES; i++) {
        (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, HCI_COMMAND_DISALLOWED_ERROR);
        bluez_expect_nothing(b);
        b->radio.scan.activity.retry_at = 0;
        bluez_tick(b, tendon_monotonic_ms());
        assert_int_equal(b->failures, 0);
    }
    /* Then another program's scan is assumed, as long as nothing shows it: test_joined.c. */
    for (int i = 0; i < TENDON_BLUEZ_JOIN_CHECKS; i++) {
        (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, HCI_COMMAND_DISALLOWED_ERROR);
        bluez_expect_nothing(b);
        assert_true(b->radio.scan.joined);
        b->radio.scan.activity.retry_at = b->radio.scan.heard_at = 0;
        bluez_tick(b, tendon_monotonic_ms());
        bluez_has_no_discovery(b);
        assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 0); /* it brings nothing */
        assert_int_equal(b->failures, 0);
    }
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, HCI_COMMAND_DISALLOWED_ERROR);
    bluez_tick(b, tendon_monotonic_ms());
    assert_int_equal(b->failure, TENDON_RADIO_ERROR_ADAPTER_BUSY);
    assert_false(b->radio.radio.scanning);
    assert_int_equal(b->radio.power.state, TENDON_BLUEZ_POWERED); /* the radio goes on */
    bluez_close(b);
}

static void malformed_packets_are_counted(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    static const uint8_t truncated[] = {TENDON_HCI_LE_ADVERTISING_REPORT, 1, 0, 0, 1, 2, 3, 4, 5, 6, 9, 2, 1};
    bluez_event(b, TENDON_HCI_LE_META, truncated, sizeof truncated);
    bluez_read(b);
    assert_int_equal(b->radio.radio.malformed, 1);
    assert_int_equal(b->reports, 0);
    /* The answer to the command in flight, without its status: counted, and not taken for success. */
    assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
    (void)bluez_expect(b, TENDON_HCI_LE_SET_SCAN_ENABLE);
    static const uint8_t short_answer[] = {1, 0x0C, 0x20};
    bluez_event(b, TENDON_HCI_COMMAND_COMPLETE, short_answer, sizeof short_answer);
    bluez_read(b);
    assert_int_equal(b->radio.radio.malformed, 2);
    assert_int_equal(b->radio.command.opcode, TENDON_HCI_LE_SET_SCAN_ENABLE);
    bluez_close(b);
}

/* ---- advertising beside connections ---- */

/* The first start is rejected while another program has a connection: that is no pause. */
static void advertising_that_never_was_on_is_given_up(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    b->radio.kernel.connections = 1;
    bluez_start_advertising(b);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_ADVERTISING_PARAMETERS, HCI_COMMAND_DISALLOWED_ERROR);
    bluez_expect_nothing(b);
    assert_int_equal(b->failure, TENDON_RADIO_ERROR_ADAPTER_BUSY);
    bluez_close(b);
}

static void advertising_returns_when_a_connection_ends(void **state) {
    (void)state;
    static const uint8_t central[19] = {TENDON_HCI_LE_CONNECTION_COMPLETE, 0, 0x41, 0, 1, [12] = 0x18, [16] = 0x2A};
    static const uint8_t gone[] = {0, 0x41, 0, 0x13};
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    bluez_start_advertising(b);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_ADVERTISING_PARAMETERS, 0);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_ADVERTISING_DATA, 0);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_RESPONSE_DATA, 0);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_ADVERTISING_ENABLE, 0);
    bluez_event(b, TENDON_HCI_LE_META, central, sizeof central);
    bluez_read(b);
    for (int i = 0; i < 3 * TENDON_BLUEZ_RETRIES; i++) { /* as long as it lasts */
        (void)bluez_answer(b, TENDON_HCI_LE_SET_ADVERTISING_PARAMETERS, HCI_COMMAND_DISALLOWED_ERROR);
        bluez_expect_nothing(b);
        assert_in_range(b->radio.timer.deadline, tendon_monotonic_ms() + 4000, tendon_monotonic_ms() + 6000);
        b->radio.advertising.activity.retry_at = 0;
        bluez_tick(b, tendon_monotonic_ms());
        assert_int_equal(b->failures, 0);
    }
    (void)bluez_answer(b, TENDON_HCI_LE_SET_ADVERTISING_PARAMETERS, HCI_COMMAND_DISALLOWED_ERROR);
    bluez_expect_nothing(b);
    bluez_event(b, TENDON_HCI_DISCONNECTION_COMPLETE, gone, sizeof gone);
    bluez_read(b);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_ADVERTISING_PARAMETERS, 0); /* immediately */
    assert_int_equal(b->radio.kernel.connections, 0);
    bluez_event(b, TENDON_HCI_DISCONNECTION_COMPLETE, gone, sizeof gone); /* one older than the radio */
    bluez_read(b);
    assert_int_equal(b->radio.kernel.connections, 0);
    bluez_close(b);
}

/* What another program disables before ours is on does not end it. */
static void advertising_that_is_not_on_is_not_ended(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    bluez_start_advertising(b);
    (void)bluez_expect(b, TENDON_HCI_LE_SET_ADVERTISING_PARAMETERS);
    bluez_other_sends(b, TENDON_HCI_LE_SET_ADVERTISING_ENABLE, 0);
    bluez_answer_pending(b, 0);
    (void)bluez_expect(b, TENDON_HCI_LE_SET_ADVERTISING_DATA);
    bluez_close(b);
}

/* LE Set Extended Advertising Enable: off, two sets of four bytes (Core Spec Vol 4 Part E 7.8.56), ours at either
 * place. */
static void a_set_is_ended_among_others(void **state) {
    (void)state;
    static const uint8_t sets[][2] = {{TENDON_BLUEZ_ADVERTISING_SET, 1},
                                      {1, TENDON_BLUEZ_ADVERTISING_SET},
                                      {1, 2},
                                      {1, TENDON_BLUEZ_ADVERTISING_SET}};
    for (size_t i = 0; i < 4; i++) {
        const uint8_t length = i == 3 ? 9 : 10; /* the last one is cut */
        const uint8_t packet[] = {HCI_COMMAND_PKT, 0x39, 0x20, length, 0, 2, sets[i][0], 0, 0, 0, sets[i][1], 0, 0, 0};
        bluez_bench *b = bluez_open(true, &bluez_public_address);
        bluez_start_advertising(b);
        for (int command = 0; command < 4; command++) {
            bluez_answer_pending(b, 0);
        }
        assert_int_equal(b->radio.advertising.activity.state, TENDON_BLUEZ_ON);
        assert_int_equal(send(b->controller, packet, 4u + length, 0), 4 + length);
        bluez_read(b);
        assert_int_equal(b->radio.advertising.activity.state == TENDON_BLUEZ_ON, i >= 2);
        bluez_close(b);
    }
}

/* The controller reports which set a central has connected to: another program may have one, too. */
static void a_central_of_another_set_leaves_ours_on(void **state) {
    (void)state;
    static const uint8_t central[31] = {TENDON_HCI_LE_ENHANCED_CONNECTION_COMPLETE, 0, 0x41, 0, 1, [24] = 0x18};
    uint8_t ended[6] = {TENDON_HCI_LE_ADVERTISING_SET_TERMINATED, 0, 0, 0x41, 0, 0};
    bluez_bench *b = bluez_open(true, &bluez_public_address);
    bluez_start_advertising(b);
    for (int i = 0; i < 4; i++) {
        bluez_answer_pending(b, 0);
    }
    bluez_drain_commands(b);
    assert_int_equal(b->radio.advertising.activity.state, TENDON_BLUEZ_ON);
    bluez_event(b, TENDON_HCI_LE_META, central, sizeof central);
    bluez_event(b, TENDON_HCI_LE_META, ended, sizeof ended); /* set 0 */
    bluez_read(b);
    bluez_expect_nothing(b);
    assert_int_equal(b->radio.advertising.activity.state, TENDON_BLUEZ_ON);
    ended[2] = TENDON_BLUEZ_ADVERTISING_SET;
    bluez_event(b, TENDON_HCI_LE_META, ended, sizeof ended);
    bluez_read(b);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_PARAMETERS, 0); /* on again, for the next one */
    assert_int_equal(b->radio.radio.malformed, 0);
    bluez_close(b);
}

/* ---- blocking exchanges ---- */

/* A packet without a byte is no error, whatever errno was before; the response is behind it. */
static void an_empty_packet_is_no_reply(void **state) {
    (void)state;
    static const uint8_t reply[] = {1, 0, 0xFF, 0xFF, 5, 0, 0x03, 0, 0, 0, 0}; /* no adapters */
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    uint8_t data[2];
    assert_int_equal(send(b->kernel, "", 0, 0), 0);
    assert_int_equal(send(b->kernel, reply, sizeof reply, 0), (ssize_t)sizeof reply);
    errno = EIO;
    assert_int_equal(tendon_bluez_manage_immediately(b->radio.management.fd, TENDON_MANAGEMENT_READ_INDEX_LIST,
                                                     TENDON_MANAGEMENT_NO_INDEX, NULL, 0, data, sizeof data),
                     2);
    bluez_close(b);
}

static void an_exchange_returns_what_follows_the_status(void **state) {
    (void)state;
    static const uint8_t answer[] = {1, 0x02, 0x20, 0, 0xFB, 0x00, 0x08};
    for (size_t capacity = 0; capacity <= 5; capacity++) {
        bluez_bench *b = bluez_open(false, &bluez_public_address);
        uint8_t reply[6] = {0xEE, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE};
        size_t expected = capacity < 3 ? capacity : 3;
        bluez_complete(b, TENDON_HCI_READ_LOCAL_VERSION, 0); /* of somebody else's command */
        bluez_event(b, TENDON_HCI_COMMAND_COMPLETE, answer, sizeof answer);
        assert_int_equal(tendon_bluez_exchange(b->radio.hci.fd, 0x2002, reply, capacity), expected);
        assert_memory_equal(reply, answer + 4, expected);
        assert_int_equal(reply[expected], 0xEE);
        bluez_close(b);
    }
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    uint8_t reply[1];
    static const uint8_t pending[] = {0, 1, 0x02, 0x20}, rejected[] = {0x01, 1, 0x02, 0x20}, bare[] = {1, 0x02, 0x20};
    bluez_event(b, TENDON_HCI_COMMAND_STATUS, pending, sizeof pending);
    bluez_event(b, TENDON_HCI_COMMAND_STATUS, rejected, sizeof rejected);
    assert_int_equal(tendon_bluez_exchange(b->radio.hci.fd, 0x2002, reply, 1), TENDON_HCI_ERROR(0x01));
    bluez_complete(b, 0x2002, 0x1F);
    assert_int_equal(tendon_bluez_exchange(b->radio.hci.fd, 0x2002, reply, 1), TENDON_HCI_ERROR(0x1F));
    bluez_event(b, TENDON_HCI_COMMAND_COMPLETE, bare, sizeof bare);
    assert_int_equal(tendon_bluez_exchange(b->radio.hci.fd, 0x2002, reply, 1), TENDON_ERROR_TRUNCATED);
    bluez_complete(b, 0x2002, 0x1F); /* behind a packet without bytes, which is no error */
    assert_int_equal(send(b->controller, "", 0, 0), 0);
    bluez_complete(b, 0x2002, 0x20);
    assert_int_equal(tendon_bluez_exchange(b->radio.hci.fd, 0x2002, reply, 1), TENDON_HCI_ERROR(0x1F));
    errno = ENODEV;
    assert_int_equal(tendon_bluez_exchange(b->radio.hci.fd, 0x2002, reply, 1), TENDON_HCI_ERROR(0x20));
    fake.refuse[FAKE_COMMAND] = (fake_refusal){.number = ENODEV, .times = 1};
    assert_int_equal(tendon_bluez_exchange(b->radio.hci.fd, 0x2002, reply, 1), TENDON_RADIO_ERROR_NO_ADAPTER);
    bluez_close(b);
}

static void the_limits_of_a_controller(void **state) {
    (void)state;
    static const uint8_t buffers[] = {1, 0x02, 0x20, 0, 0xFB, 0x00, 0x08}, list[] = {1, 0x0F, 0x20, 0, 16},
                         states[] = {1, 0x1C, 0x20, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x03, 0, 0, 0},
                         resolving[] = {1, 0x2A, 0x20, 0, 12}, length[] = {1, 0x3A, 0x20, 0, 0x72, 0x06},
                         sets[] = {1, 0x3B, 0x20, 0, 5};
    for (int extended = 0; extended < 2; extended++) {
        bluez_bench *b = bluez_open(extended, &bluez_public_address);
        tendon_bluez_limits limits = {.features = extended ? 0x1000 : 0}; /* bit 12: LE Extended Advertising */
        bluez_event(b, TENDON_HCI_COMMAND_COMPLETE, buffers, sizeof buffers);
        bluez_event(b, TENDON_HCI_COMMAND_COMPLETE, list, sizeof list);
        bluez_event(b, TENDON_HCI_COMMAND_COMPLETE, states, sizeof states);
        bluez_event(b, TENDON_HCI_COMMAND_COMPLETE, resolving, sizeof resolving);
        if (extended) {
            bluez_event(b, TENDON_HCI_COMMAND_COMPLETE, length, sizeof length);
            bluez_event(b, TENDON_HCI_COMMAND_COMPLETE, sets, sizeof sets);
        }
        static const uint8_t all[64] = {[25] = 0xFF, [26] = 0xFF, [28] = 0xFF, [34] = 0xFF, [36] = 0xFF};
        tendon_bluez_fetch_limits(b->radio.hci.fd, all, &limits);
        assert_int_equal(limits.packet_length, 251);
        assert_int_equal(limits.packets, 8);
        assert_int_equal(limits.accept_list, 16);
        assert_int_equal(limits.resolving_list, 12);
        assert_int_equal(limits.states, 0x3FFFFFFFF);
        assert_int_equal(limits.advertising_length, extended ? 1650 : 0);
        assert_int_equal(limits.advertising_sets, extended ? 5 : 0);
        for (int i = 0; i < 4; i++) {
            static const uint16_t opcodes[] = {0x2002, 0x200F, 0x201C, 0x202A};
            (void)bluez_expect(b, opcodes[i]);
        }
        if (!extended) {
            bluez_expect_nothing(b); /* commands of the extended set would be refused, or refuse the legacy ones */
        }
        bluez_close(b);
    }
}

/* Some never answer what they do not list; the three that every LE controller has are asked for. */
static void what_a_controller_does_not_list_is_not_asked_for(void **state) {
    (void)state;
    static const uint8_t buffers[] = {1, 0x02, 0x20, 0, 0xFB, 0x00, 0x08}, list[] = {1, 0x0F, 0x20, 0, 16},
                         states[] = {1, 0x1C, 0x20, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x03, 0, 0, 0};
    static const uint8_t none[64] = {0};
    bluez_bench *b = bluez_open(true, &bluez_public_address);
    tendon_bluez_limits limits = {.features = 0x1000}; /* bit 12: LE Extended Advertising */
    bluez_event(b, TENDON_HCI_COMMAND_COMPLETE, buffers, sizeof buffers);
    bluez_event(b, TENDON_HCI_COMMAND_COMPLETE, list, sizeof list);
    bluez_event(b, TENDON_HCI_COMMAND_COMPLETE, states, sizeof states);
    tendon_bluez_fetch_limits(b->radio.hci.fd, none, &limits);
    assert_int_equal(limits.accept_list, 16);
    for (int i = 0; i < 3; i++) {
        static const uint16_t opcodes[] = {0x2002, 0x200F, 0x201C};
        (void)bluez_expect(b, opcodes[i]);
    }
    bluez_expect_nothing(b);
    bluez_close(b);
}

/* ---- the monitor ---- */

static void the_monitor_keeps_what_concerns_its_adapter(void **state) {
    (void)state;
    for (int all = 0; all < 2; all++) {
        bluez_bench *b = bluez_open(false, &bluez_public_address);
        tendon_capture capture;
        tendon_bluez_monitor monitor;
        char path[] = "/tmp/tendon-monitor-XXXXXX";
        int file = mkstemp(path);
        assert_true(file >= 0);
        close(file);
        assert_int_equal(tendon_capture_create(&capture, path, TENDON_CAPTURE_MONITOR), TENDON_OK);
        assert_int_equal(tendon_bluez_monitor_open(&monitor, &b->loop, &capture, all ? NULL : "hci7"), TENDON_OK);
        static const uint16_t adapters[] = {7, 3, HCI_DEV_NONE};
        for (int i = 0; i < 3; i++) { /* opcode 3, an event: Hardware Error */
            const uint8_t packet[] = {3, 0, (uint8_t)adapters[i], (uint8_t)(adapters[i] >> 8), 3, 0, 0x10, 1, 0x42};
            assert_int_equal(send(bluez_far_end(), packet, sizeof packet, 0), sizeof packet);
        }
        assert_int_equal(send(bluez_far_end(), "\3\0\7", 3, 0), 3); /* truncated */
        tendon_bluez_monitor_close(&monitor);
        assert_int_equal(monitor.records, all ? 3 : 2); /* its own, and those of no adapter */
        assert_int_equal(tendon_capture_close(&capture), TENDON_OK);
        unlink(path);
        bluez_close(b);
    }
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    tendon_bluez_monitor monitor;
    fake.refuse[FAKE_EPOLL] = (fake_refusal){.number = ENOMEM};
    assert_int_equal(tendon_bluez_monitor_open(&monitor, &b->loop, NULL, NULL), TENDON_SYSTEM_ERROR(ENOMEM));
    assert_int_equal(monitor.source.fd, -1);
    assert_int_equal(fcntl(fake.latest, F_GETFD), -1); /* closed */
    assert_int_equal(tendon_bluez_monitor_open(&monitor, &b->loop, NULL, "hcix"), TENDON_ERROR_INVALID_ARGUMENT);
    bluez_close(b);
}

/* The time is the kernel's, not that of the reading; the original length is never less than what was kept. */
static void the_monitor_keeps_time_and_length(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    tendon_capture capture;
    tendon_bluez_monitor monitor;
    char path[] = "/tmp/tendon-monitor-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(tendon_capture_create(&capture, path, TENDON_CAPTURE_MONITOR), TENDON_OK);
    assert_int_equal(tendon_bluez_monitor_open(&monitor, &b->loop, &capture, NULL), TENDON_OK);
    static const uint8_t stated[] = {0, 3, 200};
    uint64_t before = tendon_realtime_us();
    for (size_t i = 0; i < 3; i++) {
        const uint8_t packet[] = {3, 0, 7, 0, stated[i], 0, 0x10, 1, 0x42};
        assert_int_equal(send(bluez_far_end(), packet, sizeof packet, 0), sizeof packet);
    }
    uint64_t sent = tendon_realtime_us();
    while (tendon_realtime_us() == sent) {
    }
    tendon_bluez_monitor_close(&monitor);
    tendon_bluez_monitor_close(&monitor); /* a second call does nothing */
    assert_int_equal(monitor.source.fd, -1);
    assert_int_equal(tendon_capture_close(&capture), TENDON_OK);
    static tendon_capture_reader reader;
    assert_int_equal(tendon_capture_open(&reader, path), TENDON_OK);
    for (size_t i = 0; i < 3; i++) {
        tendon_capture_record record;
        assert_true(tendon_capture_next(&reader, &record) >= 0);
        assert_int_equal(record.length, 3);
        assert_int_equal(record.original_length, i == 2 ? 200 : 3);
        assert_in_range(record.unix_us, before, sent);
    }
    tendon_capture_reader_close(&reader);
    unlink(path);
    bluez_close(b);
}

static void count_line(void *context, const char *line) {
    size_t *longest = context;
    *longest = strlen(line) > *longest ? strlen(line) : *longest;
}

/* A line of 4095 bytes with its end fits the buffer; a longer one is left out, and what follows is read. */
static void the_longest_line_of_a_list_is_read(void **state) {
    (void)state;
    for (int more = 0; more < 2; more++) {
        char path[] = "/tmp/tendon-lines-XXXXXX", text[4096];
        const int file = mkstemp(path);
        size_t longest = 0;
        memset(text, 'x', sizeof text);
        text[4094 + more] = '\n';
        assert_int_equal(write(file, text, 4095u + (size_t)more), 4095 + more);
        assert_int_equal(write(file, "abc\n", 4), 4);
        close(file);
        assert_true(tendon_bluez_each_line(path, count_line, &longest));
        assert_true(more == 0 ? longest == 4094 : longest < 4094);
        unlink(path);
    }
}

/** The kernel goes on sending, faster than this process writes. */
static bool endless;

ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
    static const uint8_t packet[] = {3, 0, 7, 0, 3, 0, 0x10, 1, 0x42};
    if (!endless) {
        return syscall(SYS_recvmsg, fd, message, flags);
    }
    memcpy(message->msg_iov->iov_base, packet, sizeof packet);
    message->msg_controllen = 0;
    return sizeof packet;
}

static void the_monitor_is_closed_all_the_same(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    tendon_capture capture;
    tendon_bluez_monitor monitor;
    assert_int_equal(tendon_capture_create(&capture, "/dev/null", TENDON_CAPTURE_MONITOR), TENDON_OK);
    assert_int_equal(tendon_bluez_monitor_open(&monitor, &b->loop, &capture, NULL), TENDON_OK);
    endless = true;
    tendon_bluez_monitor_close(&monitor);
    endless = false;
    assert_int_equal(monitor.records, 20000);
    assert_int_equal(tendon_capture_close(&capture), TENDON_OK);
    bluez_close(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_command_of_another_program_is_answered_once),
        cmocka_unit_test(a_scan_that_another_program_disables_waits_and_returns),
        cmocka_unit_test(a_check_that_was_overtaken_begins_with_the_parameters),
        cmocka_unit_test(another_program_does_not_choose_the_commands),
        cmocka_unit_test(a_scan_that_was_never_seen_is_not_joined_for_ever),
        cmocka_unit_test(a_scan_that_is_started_again_does_not_pause),
        cmocka_unit_test(interval_and_window_are_those_of_the_owner),
        cmocka_unit_test(a_scan_that_is_rejected_for_long_is_given_up),
        cmocka_unit_test(malformed_packets_are_counted),
        cmocka_unit_test(advertising_that_never_was_on_is_given_up),
        cmocka_unit_test(advertising_returns_when_a_connection_ends),
        cmocka_unit_test(advertising_that_is_not_on_is_not_ended),
        cmocka_unit_test(a_set_is_ended_among_others),
        cmocka_unit_test(a_central_of_another_set_leaves_ours_on),
        cmocka_unit_test(an_exchange_returns_what_follows_the_status),
        cmocka_unit_test(the_limits_of_a_controller),
        cmocka_unit_test(what_a_controller_does_not_list_is_not_asked_for),
        cmocka_unit_test(the_monitor_keeps_what_concerns_its_adapter),
        cmocka_unit_test(the_monitor_keeps_time_and_length),
        cmocka_unit_test(the_monitor_is_closed_all_the_same),
        cmocka_unit_test(the_longest_line_of_a_list_is_read),
        cmocka_unit_test(an_empty_packet_is_no_reply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
