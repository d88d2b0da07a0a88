/* SPDX-License-Identifier: MIT */
/*
 * What else happens while a scan has joined that of another program: the adapter is powered off or unplugged, calls
 * fail, the controller rejects or does not respond, the radio connects, the kernel scans.
 */
#include "fake_clock.h"
#include "shared_adapter.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FIRST, SECOND, DISALLOWED = 0x0C, INVALID_PARAMETERS = 0x12 };

static const tendon_address peer = {.bytes = {0xC0, 0, 0x5E, 0, 0x53, 7}, .type = TENDON_ADDRESS_TYPE_RANDOM};

static tendon_bluez_scan *scan_of(int user) {
    return &adapter_radio(user)->scan;
}

/** The first user scans, and the second one has joined; it was opened later, so that its start was rejected. */
static void joined(void) {
    adapter_start(false, true);
    adapter_open(FIRST);
    adapter_scan(FIRST, false, 60);
    adapter_pass(500);
    adapter_open(SECOND);
    adapter_scan(SECOND, true, 60);
    adapter_pass(500);
    assert_int_equal(adapter.owner, FIRST);
    assert_true(scan_of(SECOND)->joined);
}

/** A kernel, or another program without a radio of this library, scans, and the first user has joined. */
static void joined_to_another(bool filters) {
    adapter_start(false, true);
    adapter_programs(1);
    adapter_open(FIRST);
    adapter_other_scans(filters);
    adapter_scan(FIRST, true, 60);
    adapter_pass(500);
    assert_int_equal(adapter.owner, -1);
    assert_true(scan_of(FIRST)->joined);
    assert_int_equal(adapter.users[FIRST].commands, 0);
}

/** Its connect() is in progress: the latest socket is not writable. */
static void pending(tendon_link *link, bool background) {
    static const uint8_t bytes[4096];
    tendon_radio *radio = &adapter_radio(background ? FIRST : SECOND)->radio;
    tendon_link_init(link, NULL);
    assert_int_equal(background ? tendon_radio_connect_in_background(radio, link, &peer)
                                : tendon_radio_connect(radio, link, &peer, UINT64_MAX),
                     TENDON_OK);
    assert_int_equal(calls.connects, 1); /* immediately: our scan is off already */
    while (write(calls.fd, bytes, sizeof bytes) > 0) {
    }
}

static void powered(bool on) {
    const uint8_t pdu[] = {TENDON_MANAGEMENT_NEW_SETTINGS, 0, ADAPTER_INDEX, 0, 4, 0, on, 2, 0, 0};
    adapter_kernel_event(pdu, sizeof pdu);
    adapter_pass(20);
}

/* Reset by the kernel: nothing is enabled any more, and one of the two begins. */
static void a_reset_ends_both_scans(void **state) {
    (void)state;
    joined();
    adapter_event(TENDON_HCI_HARDWARE_ERROR, (const uint8_t *)"\x42", 1);
    adapter_pass(20);
    assert_false(scan_of(SECOND)->joined);
    assert_false(adapter_radio(SECOND)->kernel.scans);
    adapter.scans = false;
    adapter.owner = -1;
    powered(false);
    adapter_pass(400);
    powered(true);
    adapter_pass(500);
    assert_true(adapter.scans);
    assert_true(adapter.owner >= 0);
    assert_true(scan_of(FIRST)->joined != scan_of(SECOND)->joined);
    for (int user = FIRST; user <= SECOND; user++) {
        (void)adapter_heard(user);
    }
    adapter_pass(300);
    for (int user = FIRST; user <= SECOND; user++) {
        assert_true(adapter_heard(user));
        assert_int_equal(adapter.users[user].failures, 0);
    }
    assert_int_equal(adapter.wronged, 0);
    adapter_end();
}

/* Powered off by the user, or unplugged: the radio ends once, and sends nothing. */
static void an_adapter_that_ends_while_joined(void **state) {
    (void)state;
    for (int unplugged = 0; unplugged < 2; unplugged++) {
        joined();
        unsigned sent = adapter.users[SECOND].commands;
        if (unplugged) {
            static const uint8_t removed[] = {TENDON_MANAGEMENT_INDEX_REMOVED, 0, ADAPTER_INDEX, 0, 0, 0};
            calls.unplugged = true;
            adapter_kernel_event(removed, sizeof removed);
            adapter_pass(20);
        } else {
            powered(false);
        }
        adapter_pass(2 * TENDON_BLUEZ_JOIN_CHECK_MS);
        assert_int_equal(adapter.users[SECOND].failures, 1);
        if (unplugged) {
            assert_int_equal(adapter.users[SECOND].failure, TENDON_RADIO_ERROR_NO_ADAPTER);
        }
        assert_int_equal(adapter.users[SECOND].commands, sent);
        assert_false(adapter_radio(SECOND)->radio.scanning);
        tendon_radio_close(&adapter_radio(SECOND)->radio);
        assert_int_equal(adapter.users[SECOND].commands, sent);
        adapter_end();
    }
}

/* The check is not sent: the adapter is off for a moment, or the socket is broken. */
static void a_check_that_is_not_sent(void **state) {
    (void)state;
    static const struct {
        int number, times;
        bool ends;
    } cases[] = {{ENETDOWN, 3, false}, {ENOBUFS, 3, false}, {ENODEV, 1, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        joined();
        adapter.quiet = true;
        sends_refused = (refused_sends){cases[i].number, cases[i].times};
        adapter_pass(2 * TENDON_BLUEZ_JOIN_CHECK_MS + 500);
        assert_int_equal(sends_refused.times, 0);
        assert_int_equal(adapter.users[SECOND].failures, cases[i].ends);
        assert_int_equal(scan_of(SECOND)->activity.requested, !cases[i].ends);
        assert_int_equal(adapter.wronged, 0);
        assert_int_equal(adapter.owner, FIRST);
        adapter_end();
    }
}

/* The list of sockets cannot be read: another program is assumed. */
static void without_the_list_of_sockets(void **state) {
    (void)state;
    joined();
    bluez_hci_sockets = NULL;
    adapter_pass(60000);
    assert_true(scan_of(SECOND)->joined);
    assert_int_equal(adapter.users[SECOND].disables, 0);
    adapter_end();
}

/* A response that is lost now and then is no fault; a controller that never responds is. Nothing is disabled. */
static void a_check_without_a_response(void **state) {
    (void)state;
    joined();
    adapter.quiet = true;
    for (int time = 0; time < 2 * TENDON_BLUEZ_UNANSWERED_MAX; time++) {
        uint64_t before = adapter_radio(SECOND)->counters.unanswered;
        adapter.silent = true;
        for (int i = 0; i < 1000 && adapter_radio(SECOND)->counters.unanswered == before; i++) {
            adapter_pass(10);
        }
        adapter.silent = false;
        adapter_pass(TENDON_BLUEZ_COMMAND_TIMEOUT_MS + 100); /* the next one may be lost too */
        assert_in_range(adapter_radio(SECOND)->counters.unanswered, before + 1, before + 2);
        assert_true(scan_of(SECOND)->joined);
    }
    assert_int_equal(adapter.users[SECOND].disables, 0);
    assert_int_equal(adapter.users[SECOND].failures, 0);
    adapter.silent = true;
    adapter_pass(60000);
    assert_int_equal(adapter.users[SECOND].failures, 1);
    assert_int_equal(adapter.users[SECOND].failure, TENDON_RADIO_ERROR_COMMAND_TIMEOUT);
    assert_int_equal(adapter.users[SECOND].disables, 0);
    adapter_end();
}

/* Another reason than the other scan: ours fails immediately, or, if it was on before, after the usual number of
 * checks. */
static void a_check_that_is_rejected_for_another_reason(void **state) {
    (void)state;
    for (int before = 0; before < 2; before++) {
        joined();
        scan_of(SECOND)->activity.confirmed = before != 0;
        adapter.quiet = true;
        adapter.rejects = INVALID_PARAMETERS;
        adapter_pass(TENDON_BLUEZ_JOIN_CHECK_MS + 100);
        assert_int_equal(adapter.users[SECOND].failures, !before);
        adapter_pass(TENDON_BLUEZ_RETRIES * TENDON_BLUEZ_JOIN_CHECK_MS);
        assert_int_equal(adapter_radio(SECOND)->counters.scan_joins, 1);
        assert_int_equal(adapter.users[SECOND].failures, 1);
        assert_int_equal(adapter.users[SECOND].failure, TENDON_HCI_ERROR(INVALID_PARAMETERS));
        assert_int_equal(adapter.users[SECOND].disables, 0);
        adapter_end();
    }
}

/* The controller rejects everything, and no other program is there: as before the first start, disabled once. */
static void a_rejection_that_no_program_explains(void **state) {
    (void)state;
    joined();
    adapter_kill(FIRST);
    adapter.rejects = DISALLOWED;
    adapter_pass(2 * TENDON_BLUEZ_JOIN_CHECK_MS);
    assert_int_equal(adapter.users[SECOND].disables, 1);
    assert_int_equal(adapter.users[SECOND].failures, 1);
    assert_int_equal(adapter.users[SECOND].failure, TENDON_RADIO_ERROR_ADAPTER_BUSY);
    adapter_end();
}

/* Ours was on before: at first the kernel may be busy, for 10 s; then another program's scan is the reason. */
static void a_scan_that_was_on_joins_after_the_usual_retries(void **state) {
    (void)state;
    adapter_start(false, true);
    adapter_programs(1);
    adapter_open(FIRST);
    adapter_scan(FIRST, true, 60);
    adapter_pass(500);
    adapter_other_stops();
    adapter.wronged = 0;
    adapter.quiet = true;
    adapter.rejects = DISALLOWED;
    adapter_pass(1000 + TENDON_BLUEZ_RETRIES * TENDON_BLUEZ_RETRY_MS - 500);
    assert_false(scan_of(FIRST)->joined);
    adapter_pass(1500);
    assert_true(scan_of(FIRST)->joined);
    assert_int_equal(adapter.users[FIRST].failures, 0);
    adapter.rejects = 0;
    adapter_pass(TENDON_BLUEZ_JOIN_CHECK_MS + 100);
    assert_int_equal(adapter.owner, FIRST);
    adapter_end();
}

/* It is not ours: no restart, no power cycle, however long it is silent. */
static void the_watchdog_leaves_a_joined_scan_alone(void **state) {
    (void)state;
    joined_to_another(false);
    adapter.quiet = true;
    scan_of(FIRST)->heard = true;
    adapter_pass(600 * TENDON_BLUEZ_SILENCE_MS);
    const tendon_bluez_counters *counters = &adapter_radio(FIRST)->counters;
    assert_int_equal(counters->scan_restarts + counters->scan_refreshes + counters->power_cycles, 0);
    assert_true(scan_of(FIRST)->joined);
    assert_int_equal(adapter.users[FIRST].disables, 0);
    assert_int_equal(adapter.users[FIRST].failures, 0);
    adapter_other_stops();
    adapter_pass(1500);
    assert_int_equal(adapter.owner, FIRST);
    adapter_end();
}

/* A connect() is not delayed: our scan is off already. After it, the scan has still joined. */
static void a_joined_radio_connects(void **state) {
    (void)state;
    joined();
    unsigned sent = adapter.users[SECOND].commands;
    tendon_link link;
    pending(&link, false);
    adapter_pass(200);
    assert_int_equal(link.state, TENDON_LINK_ASKED);
    tendon_link_close(&link);
    adapter_pass(400);
    assert_int_equal(link.state, TENDON_LINK_CLOSED);
    assert_int_equal(adapter.users[SECOND].commands, sent);
    assert_int_equal(adapter.owner, FIRST);
    (void)adapter_heard(SECOND);
    adapter_pass(200);
    assert_true(adapter_heard(SECOND));
    adapter_end();
}

/** The next management command of the first user: its opcode; 0: none. */
static unsigned asked_kernel(uint8_t *pdu, size_t size) {
    ssize_t length = recv(adapter.users[FIRST].kernel, pdu, size, MSG_DONTWAIT);
    return length < 6 ? 0 : (unsigned)(pdu[0] | pdu[1] << 8);
}

/** The kernel is made to look whether it has to scan: the adapter's own address comes to its devices, and goes. */
static void expect_restored(void) {
    static const uint8_t own[7] = {1, 0x53, 0, 0x5E, 0, 0, 1};
    uint8_t pdu[64];
    unsigned opcode;
    while ((opcode = asked_kernel(pdu, sizeof pdu)) != 0 && opcode != TENDON_MANAGEMENT_ADD_DEVICE) {
    }
    assert_int_equal(opcode, TENDON_MANAGEMENT_ADD_DEVICE);
    assert_memory_equal(pdu + 6, own, sizeof own);
    assert_int_equal(pdu[13], 0);
    assert_int_equal(asked_kernel(pdu, sizeof pdu), TENDON_MANAGEMENT_REMOVE_DEVICE);
    assert_memory_equal(pdu + 6, own, sizeof own);
    assert_int_equal(asked_kernel(pdu, sizeof pdu), 0);
}

/* bluetoothd has a bonded mouse that is switched off: the kernel scans for it for ever, with the accept list, so that
 * nothing else is received. It connects to it from the reports of any scan. */
static void a_scan_that_hears_only_the_accept_list_is_taken_over(void **state) {
    (void)state;
    for (unsigned kind = 0; kind < 16; kind++) { /* controllers; it was there before, or comes; stopped, or closed */
        bool comes = (kind & 4) != 0, closes = (kind & 8) != 0;
        adapter_start((kind & 1) != 0, (kind & 2) != 0);
        adapter_programs(1);
        adapter_open(FIRST);
        if (comes) {
            adapter_scan(FIRST, true, 60);
            adapter_pass(500);
            assert_int_equal(adapter.owner, FIRST);
            adapter_other_stops();
        }
        adapter_other_scans(true);
        if (!comes) {
            adapter_scan(FIRST, true, 60);
        }
        adapter_pass(1500);
        assert_int_equal(adapter.owner, FIRST);
        assert_false(scan_of(FIRST)->joined);
        (void)adapter_heard(FIRST);
        adapter_pass(3600000);
        assert_true(adapter_heard(FIRST));
        assert_int_equal(adapter.users[FIRST].failures, 0);
        if (closes) {
            tendon_radio_close(&adapter_radio(FIRST)->radio);
        } else {
            adapter_stop(FIRST);
        }
        adapter_pass(100);
        assert_false(adapter.scans);
        expect_restored();
        adapter_end();
    }
}

/* It began before this radio was opened: the parameters are not known, and nothing comes. */
static void a_scan_that_nothing_shows_is_taken_over(void **state) {
    (void)state;
    adapter_start(true, true);
    adapter_programs(1);
    adapter_other_scans(true);
    adapter_open(FIRST);
    adapter_scan(FIRST, true, 60);
    adapter_pass(500);
    assert_true(scan_of(FIRST)->joined);
    adapter_pass(TENDON_BLUEZ_JOIN_CHECK_MS);
    assert_int_equal(adapter.owner, FIRST);
    assert_true(adapter_heard(FIRST));
    adapter_stop(FIRST);
    adapter_pass(100);
    expect_restored();
    adapter_end();
}

/* No program is left, and the kernel scans without the accept list, for a device that this radio waits for, too: the
 * kernel connects to that from the reports of ours. */
static void the_scan_of_no_program_is_ended(void **state) {
    (void)state;
    for (int waits = 0; waits < 2; waits++) {
        joined_to_another(false);
        tendon_link link;
        tendon_link_init(&link, NULL);
        if (waits) {
            pending(&link, true);
        }
        adapter_programs(0);
        adapter_pass(10 * TENDON_BLUEZ_JOIN_CHECK_MS);
        assert_int_equal(adapter.users[FIRST].disables, 1);
        assert_int_equal(adapter.owner, FIRST);
        assert_false(scan_of(FIRST)->joined);
        tendon_link_close(&link);
        adapter_pass(100);
        adapter_end();
    }
}

/* The parameters that another program was refused are not those of the scan that is on. */
static void refused_parameters_have_no_filter(void **state) {
    (void)state;
    static const uint8_t list[7] = {0, 0x60, 0, 0x60, 0, 0, 1}, all[7] = {0, 0x60, 0, 0x60, 0, 0, 0};
    adapter_start(false, true);
    adapter_open(FIRST);
    adapter_other_scans(true);
    assert_true(adapter_radio(FIRST)->kernel.filters);
    adapter_other(TENDON_HCI_LE_SET_SCAN_PARAMETERS, all, sizeof all); /* rejected */
    assert_true(adapter_radio(FIRST)->kernel.filters);
    adapter_other_stops();
    adapter_other(TENDON_HCI_LE_SET_SCAN_PARAMETERS, all, sizeof all);
    assert_false(adapter_radio(FIRST)->kernel.filters);
    adapter_other(TENDON_HCI_LE_SET_SCAN_PARAMETERS, list, sizeof list);
    assert_true(adapter_radio(FIRST)->kernel.filters);
    adapter_end();
}

/* On a controller that accepts both, the discovery that the kernel reports meanwhile is that of the first scan. */
static void the_discovery_of_the_first_scan_is_not_stopped(void **state) {
    (void)state;
    static const uint8_t discovering[] = {TENDON_MANAGEMENT_DISCOVERING, 0, ADAPTER_INDEX, 0, 2, 0, 6, 1};
    uint8_t pdu[64];
    adapter_start(false, false);
    adapter_programs(1);
    adapter_open(FIRST);
    adapter_scan(FIRST, true, 60);
    adapter_step(); /* the parameters; the enable command waits */
    assert_int_equal(adapter_radio(FIRST)->command.opcode, TENDON_HCI_LE_SET_SCAN_ENABLE);
    static const uint8_t on[] = {1, 0};
    adapter_other(TENDON_HCI_LE_SET_SCAN_ENABLE, on, sizeof on);
    adapter_kernel_event(discovering, sizeof discovering);
    assert_int_equal(tendon_loop_step(&adapter.loop, 0), TENDON_OK);
    adapter_step();
    assert_true(scan_of(FIRST)->joined);
    assert_int_equal(adapter.owner, -1);
    adapter_stop(FIRST);
    adapter_pass(2 * TENDON_BLUEZ_JOIN_CHECK_MS);
    tendon_radio_close(&adapter_radio(FIRST)->radio);
    assert_int_equal(recv(adapter.users[FIRST].kernel, pdu, sizeof pdu, MSG_DONTWAIT), 0); /* closed, nothing before */
    assert_true(adapter.scans);
    adapter_end();
}

/* Stopped while its enable command is in flight: what it would have to disable is the other scan. */
static void a_late_start_that_was_stopped_disables_nothing(void **state) {
    (void)state;
    static const uint8_t on[] = {1, 0};
    for (int way = 0; way < 3; way++) { /* stopped; started again; nothing, and the kernel's scan was faster */
        adapter_start(false, false);
        adapter_programs(way != 2);
        adapter_open(FIRST);
        adapter_scan(FIRST, true, 60);
        adapter_step();
        adapter_other(TENDON_HCI_LE_SET_SCAN_ENABLE, on, sizeof on);
        if (way < 2) {
            adapter_stop(FIRST);
        }
        if (way == 1) {
            adapter_scan(FIRST, true, 60);
        }
        adapter_pass(2000);
        assert_int_equal(adapter.users[FIRST].disables, 0);
        assert_int_equal(adapter.wronged, 0);
        assert_int_equal(scan_of(FIRST)->activity.state, TENDON_BLUEZ_OFF);
        assert_int_equal(scan_of(FIRST)->joined, way > 0);
        assert_int_equal(adapter.users[FIRST].failures, 0);
        adapter_end();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reset_ends_both_scans),
        cmocka_unit_test(an_adapter_that_ends_while_joined),
        cmocka_unit_test(a_check_that_is_not_sent),
        cmocka_unit_test(without_the_list_of_sockets),
        cmocka_unit_test(a_check_without_a_response),
        cmocka_unit_test(a_check_that_is_rejected_for_another_reason),
        cmocka_unit_test(a_rejection_that_no_program_explains),
        cmocka_unit_test(a_scan_that_was_on_joins_after_the_usual_retries),
        cmocka_unit_test(the_watchdog_leaves_a_joined_scan_alone),
        cmocka_unit_test(a_joined_radio_connects),
        cmocka_unit_test(a_scan_that_hears_only_the_accept_list_is_taken_over),
        cmocka_unit_test(a_scan_that_nothing_shows_is_taken_over),
        cmocka_unit_test(the_scan_of_no_program_is_ended),
        cmocka_unit_test(refused_parameters_have_no_filter),
        cmocka_unit_test(the_discovery_of_the_first_scan_is_not_stopped),
        cmocka_unit_test(a_late_start_that_was_stopped_disables_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
