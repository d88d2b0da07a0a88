/* SPDX-License-Identifier: MIT */
/*
 * Scans of several programs on one adapter (docs/bluez-states.md, "A scan that joins another one"): the second one
 * joins, takes over when the first one ends, and never ends it.
 */
#include "fake_clock.h"
#include "shared_adapter.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

enum { FIRST, SECOND, THIRD, TAKE_OVER_MS = 1500, DISALLOWED = 0x0C };

static tendon_bluez_scan *scan_of(int user) {
    return &adapter_radio(user)->scan;
}

static void assert_joined(int user) {
    assert_true(scan_of(user)->joined);
    assert_true(adapter_radio(user)->radio.scan_joined);
    assert_true(scan_of(user)->activity.requested);
    assert_int_equal(scan_of(user)->activity.state, TENDON_BLUEZ_OFF);
    assert_int_equal(adapter.users[user].failures, 0);
}

static void assert_holds(int user) {
    assert_int_equal(adapter.owner, user);
    assert_int_equal(scan_of(user)->activity.state, TENDON_BLUEZ_ON);
    assert_false(scan_of(user)->joined);
    assert_false(adapter_radio(user)->radio.scan_joined);
    assert_int_equal(adapter.users[user].failures, 0);
}

/** Both receive reports from now on. */
static void assert_both_hear(void) {
    (void)adapter_heard(FIRST);
    (void)adapter_heard(SECOND);
    adapter_pass(300);
    assert_true(adapter_heard(FIRST));
    assert_true(adapter_heard(SECOND));
}

/** The first user scans, and the second one has joined; the first one's start was @p seen by it. */
static void two_scans(bool extended, bool strict, bool seen) {
    adapter_start(extended, strict);
    adapter_open(FIRST);
    if (seen) {
        adapter_open(SECOND);
    }
    adapter_scan(FIRST, false, 60);
    adapter_pass(500);
    if (!seen) {
        adapter_open(SECOND);
    }
    adapter_scan(SECOND, true, 100);
    adapter_pass(500);
    assert_holds(FIRST);
    assert_joined(SECOND);
}

static void a_second_scan_joins_the_first(void **state) {
    (void)state;
    for (unsigned kind = 0; kind < 8; kind++) {
        bool seen = (kind & 4) != 0;
        two_scans((kind & 1) != 0, (kind & 2) != 0, seen);
        assert_both_hear();
        adapter_pass(3600000);
        assert_both_hear();
        /* One command was rejected, with the extended set also that of the legacy one, or none was needed; then nothing
         * is sent while reports come. */
        assert_int_equal(adapter.users[SECOND].commands, seen ? 0u : 1u + (kind & 1));
        assert_int_equal(adapter.users[FIRST].commands, 2);
        assert_int_equal(adapter_radio(SECOND)->counters.scan_joins, 1);
        assert_int_equal(adapter_radio(FIRST)->counters.scan_joins, 0);
        assert_holds(FIRST);
        assert_joined(SECOND);
        adapter_end();
    }
}

static void the_second_takes_over_with_its_own_parameters(void **state) {
    (void)state;
    for (unsigned kind = 0; kind < 8; kind++) {
        two_scans((kind & 1) != 0, (kind & 2) != 0, (kind & 4) != 0);
        adapter_stop(FIRST);
        adapter_pass(TAKE_OVER_MS);
        assert_holds(SECOND);
        assert_int_equal(adapter.users[SECOND].active, 1);
        assert_int_equal(adapter.users[SECOND].interval, 160); /* 100 ms */
        (void)adapter_heard(SECOND);
        adapter_pass(300);
        assert_true(adapter_heard(SECOND));
        assert_false(adapter_radio(SECOND)->kernel.scans);
        /* And back: the first one joins, and takes over. */
        adapter_scan(FIRST, false, 60);
        adapter_pass(500);
        assert_joined(FIRST);
        adapter_stop(SECOND);
        adapter_pass(TAKE_OVER_MS);
        assert_holds(FIRST);
        assert_int_equal(adapter.wronged, 0);
        adapter_end();
    }
}

/* Stopped, or closed: whatever it is doing, it sends nothing that ends the other scan. */
static void the_end_of_a_joined_scan_sends_nothing(void **state) {
    (void)state;
    for (unsigned kind = 0; kind < 8; kind++) {
        bool closes = (kind & 2) != 0, checking = (kind & 4) != 0;
        two_scans((kind & 1) != 0, true, false);
        unsigned sent = adapter.users[SECOND].commands;
        if (checking) { /* its command is in flight, and the owner has changed the parameters */
            scan_of(SECOND)->activity.retry_at = scan_of(SECOND)->heard_at = 0;
            assert_int_equal(tendon_radio_scan_stop(&adapter_radio(SECOND)->radio), TENDON_OK);
            adapter_scan(SECOND, false, 30);
            assert_true(adapter_radio(SECOND)->command.opcode != 0);
            adapter_stop(SECOND);
            adapter_scan(SECOND, true, 30);
            assert_int_equal(scan_of(SECOND)->activity.state, TENDON_BLUEZ_STALE);
        }
        if (closes) {
            tendon_radio_close(&adapter_radio(SECOND)->radio);
        } else {
            adapter_stop(SECOND);
        }
        adapter_pass(10000);
        assert_int_equal(adapter.users[SECOND].commands, sent + checking);
        assert_true(adapter_radio(SECOND)->radio.scan_joined); /* the latest scan had */
        assert_int_equal(adapter.users[SECOND].disables + adapter.users[SECOND].enables, 0);
        assert_holds(FIRST);
        assert_int_equal(adapter.users[FIRST].commands, 2);
        adapter_end();
    }
}

/* New parameters, while it checks too: the other scan goes on, and they are used later. */
static void a_joined_scan_that_is_started_again(void **state) {
    (void)state;
    for (int checking = 0; checking < 2; checking++) {
        two_scans(false, true, false);
        for (int i = 0; i <= checking; i++) {
            adapter_stop(SECOND);
            scan_of(SECOND)->heard_at = 0;
            adapter_scan(SECOND, true, (uint16_t)(200 + i));
        }
        adapter_pass(500);
        assert_joined(SECOND);
        assert_both_hear();
        assert_int_equal(adapter.wronged, 0);
        adapter_stop(FIRST);
        adapter_pass(TAKE_OVER_MS);
        assert_holds(SECOND);
        assert_int_equal(adapter.users[SECOND].interval, (200 + checking) * 8 / 5);
        adapter_end();
    }
}

/* The answer to a check with old parameters that succeeds is not used for the new ones. */
static void a_check_that_succeeds_after_a_restart(void **state) {
    (void)state;
    two_scans(false, true, true);
    scan_of(SECOND)->activity.retry_at = scan_of(SECOND)->heard_at = 0;
    tendon_bluez_step(adapter_radio(SECOND));
    assert_int_equal(adapter_radio(SECOND)->command.opcode, TENDON_HCI_LE_SET_SCAN_PARAMETERS);
    adapter.scans = false; /* unseen */
    adapter_stop(SECOND);
    adapter_scan(SECOND, true, 300);
    adapter_stop(FIRST);
    adapter_pass(TAKE_OVER_MS);
    assert_holds(SECOND);
    assert_int_equal(adapter.users[SECOND].interval, 480);
    assert_int_equal(adapter.users[SECOND].disables, 0);
    adapter_end();
}

/* The first one filters duplicates, so that its scan is started again every minute. The second one sees that, and does
 * not use the gap. */
static void a_refresh_is_no_end(void **state) {
    (void)state;
    for (int extended = 0; extended < 2; extended++) {
        const tendon_scan_parameters filtered = {.filter_duplicates = true};
        adapter_start(extended, true);
        adapter_open(FIRST);
        adapter_open(SECOND);
        assert_int_equal(tendon_radio_scan_start(&adapter_radio(FIRST)->radio, &filtered), TENDON_OK);
        adapter_pass(500);
        adapter_scan(SECOND, true, 60);
        adapter_pass(10 * TENDON_BLUEZ_REFRESH_MS);
        assert_in_range(adapter_radio(FIRST)->counters.scan_refreshes, 9, 10);
        assert_holds(FIRST);
        assert_joined(SECOND);
        assert_int_equal(adapter.users[SECOND].commands, 0);
        assert_int_equal(adapter_radio(SECOND)->counters.scan_joins, 1);
        assert_both_hear();
        adapter_end();
    }
}

/* Its scan stays enabled in the controller: it is nobody's, and ours to end; not only the first time. */
static void a_killed_program_leaves_its_scan_to_the_second(void **state) {
    (void)state;
    for (unsigned kind = 0; kind < 8; kind++) {
        two_scans((kind & 1) != 0, (kind & 2) != 0, (kind & 4) != 0);
        adapter_kill(FIRST);
        assert_true(adapter.scans);
        adapter_pass(TENDON_BLUEZ_JOIN_CHECK_MS + 500);
        assert_holds(SECOND);
        assert_int_equal(adapter.users[SECOND].disables, 1);
        assert_int_equal(adapter.users[SECOND].active, 1);
        for (unsigned time = 0; time < 2; time++) { /* another program takes the scanner, and is killed too */
            adapter_programs(1);
            adapter_other_stops();
            adapter.wronged = 0;
            adapter_other_scans(false);
            adapter_pass(2000);
            assert_joined(SECOND);
            adapter_programs(0);
            adapter_pass(TENDON_BLUEZ_JOIN_CHECK_MS + 500);
            assert_holds(SECOND);
            assert_int_equal(adapter.users[SECOND].disables, 2 + time);
            assert_false(adapter_radio(SECOND)->kernel.scans);
        }
        adapter_end();
    }
}

/* The command that ended the first scan, or its response, did not fit in a receive buffer. */
static void an_end_that_was_not_seen(void **state) {
    (void)state;
    for (int extended = 0; extended < 2; extended++) {
        two_scans(extended, true, true);
        adapter.users[SECOND].deaf = true;
        adapter_stop(FIRST);
        adapter_pass(100);
        adapter.users[SECOND].deaf = false;
        assert_false(adapter.scans);
        assert_joined(SECOND);
        adapter_pass(TENDON_BLUEZ_JOIN_CHECK_MS + 500);
        assert_holds(SECOND);
        assert_int_equal(adapter.users[SECOND].disables, 0);
        adapter_end();
    }
}

/* Where nothing advertises, a scan that has not been seen is believed for 5 s: it may hear only an accept list. Both
 * receive what comes afterwards. */
static void a_scan_that_nothing_shows_is_not_believed_for_long(void **state) {
    (void)state;
    for (int sign = 0; sign < 3; sign++) { /* none, a report, a command */
        adapter_start(false, true);
        adapter.quiet = true;
        adapter_open(FIRST);
        adapter_scan(FIRST, true, 60);
        adapter_pass(500);
        adapter_open(SECOND);
        adapter_scan(SECOND, true, 60);
        adapter_pass(4000);
        assert_joined(SECOND);
        if (sign == 1) {
            adapter.quiet = false;
            adapter_pass(200);
            adapter.quiet = true;
        } else if (sign == 2) {
            adapter_stop(FIRST);
            adapter_scan(FIRST, true, 60);
        }
        adapter_pass(sign == 0 ? 3000 : 3600000);
        adapter.quiet = false;
        assert_holds(sign == 0 ? SECOND : FIRST);
        assert_joined(sign == 0 ? FIRST : SECOND);
        assert_int_equal(adapter.wronged, sign == 0);
        assert_both_hear();
        adapter_end();
    }
}

/* Both enable the scanner at the same time. On a controller that accepts this, only the first one may end it. */
static void two_starts_at_the_same_time(void **state) {
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        adapter_start((kind & 1) != 0, (kind & 2) != 0);
        adapter_open(FIRST);
        adapter_open(SECOND);
        adapter_scan(FIRST, true, 60);
        adapter_scan(SECOND, true, 60);
        adapter_pass(1000);
        const int holds = adapter.owner, other = holds == FIRST ? SECOND : FIRST;
        assert_true(holds == FIRST || holds == SECOND);
        assert_holds(holds);
        assert_joined(other);
        assert_both_hear();
        adapter_stop(other);
        adapter_pass(500);
        assert_holds(holds);
        adapter_scan(other, true, 60);
        adapter_pass(500);
        adapter_stop(holds);
        adapter_pass(TAKE_OVER_MS);
        assert_holds(other);
        assert_int_equal(adapter.wronged, 0);
        adapter_end();
    }
}

/* Both have enabled it, and the one that has it changes its parameters: that is no reason to join the other one. */
static void a_restart_beside_a_second_enable(void **state) {
    (void)state;
    static const uint8_t on[] = {1, 0};
    adapter_start(false, false);
    adapter_programs(1);
    adapter_open(FIRST);
    adapter_scan(FIRST, true, 60);
    adapter_pass(500);
    adapter_other(TENDON_HCI_LE_SET_SCAN_ENABLE, on, sizeof on);
    adapter_stop(FIRST);
    adapter_scan(FIRST, true, 80);
    adapter_pass(100);
    assert_holds(FIRST);
    assert_int_equal(adapter.users[FIRST].interval, 128);
    assert_int_equal(adapter_radio(FIRST)->counters.scan_joins, 0);
    adapter_end();
}

/* Configured, but paused for a connect, when another program enables the scanner without parameters of its own. */
static void a_check_begins_with_the_parameters(void **state) {
    (void)state;
    static const uint8_t on[] = {1, 0};
    adapter_start(false, false);
    adapter_programs(1);
    adapter.quiet = true;
    adapter_open(FIRST);
    adapter_scan(FIRST, true, 60);
    tendon_radio_pause_scan(&adapter_radio(FIRST)->radio);
    adapter_pass(100);
    assert_int_equal(scan_of(FIRST)->activity.state, TENDON_BLUEZ_READY);
    adapter_other(TENDON_HCI_LE_SET_SCAN_ENABLE, on, sizeof on);
    tendon_radio_resume_scan(&adapter_radio(FIRST)->radio);
    adapter_pass(3 * TENDON_BLUEZ_JOIN_CHECK_MS);
    assert_joined(FIRST);
    assert_int_equal(adapter.users[FIRST].enables, 0);
    assert_in_range(adapter.users[FIRST].commands, 2, 4);
    adapter_end();
}

/* The other scan has ended, most likely for a connection, and the controller does not scan meanwhile. */
static void a_rejection_after_the_end(void **state) {
    (void)state;
    adapter_start(false, true);
    adapter_programs(1);
    adapter_open(FIRST);
    adapter_scan(FIRST, true, 60);
    adapter_pass(500);
    adapter_other_stops();
    adapter_other_scans(false);
    adapter_pass(1500);
    assert_joined(FIRST);
    adapter_other_stops();
    adapter.rejects = DISALLOWED;
    adapter_pass(TAKE_OVER_MS);
    assert_joined(FIRST);
    adapter.rejects = 0;
    adapter_pass(TENDON_BLUEZ_JOIN_CHECK_MS);
    assert_holds(FIRST);
    adapter_end();
}

static void three_scans(void **state) {
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        two_scans((kind & 1) != 0, (kind & 2) != 0, true);
        adapter_open(THIRD);
        adapter_scan(THIRD, true, 60);
        adapter_pass(500);
        assert_joined(THIRD);
        adapter_stop(FIRST);
        adapter_pass(TAKE_OVER_MS);
        int holds = adapter.owner, other = holds == SECOND ? THIRD : SECOND;
        assert_true(holds == SECOND || holds == THIRD);
        assert_holds(holds);
        assert_joined(other);
        adapter_stop(holds);
        adapter_pass(TAKE_OVER_MS);
        assert_holds(other);
        assert_int_equal(adapter.wronged, 0);
        adapter_end();
    }
}

/* A sole owner does not join: it is alone, and what scans beside it is an error. */
static void a_sole_owner_does_not_join(void **state) {
    (void)state;
    adapter_start(false, true);
    adapter_open(FIRST);
    adapter_scan(FIRST, true, 60);
    adapter_pass(500);
    adapter_open(SECOND);
    adapter_radio(SECOND)->use = TENDON_BLUEZ_SOLE;
    adapter_scan(SECOND, true, 60);
    adapter_pass(500);
    assert_int_equal(adapter.users[SECOND].failure, TENDON_RADIO_ERROR_ADAPTER_BUSY);
    assert_false(scan_of(SECOND)->joined);
    adapter_end();
}

/* Random starts, stops, kills and lost packets: nobody is wronged, and afterwards each one that scans receives. */
static void random_users(void **state) {
    (void)state;
    uint32_t random = 0xC0FFEE;
    for (int round = 0; round < 300; round++) {
        adapter_start(round % 2 != 0, round % 4 < 2);
        for (int step = 0; step < 40; step++) {
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            int user = (int)(random % ADAPTER_USERS);
            tendon_radio *radio = &adapter_radio(user)->radio;
            if (!adapter.users[user].open) {
                adapter_open(user);
            } else if (random >> 8 & 1) {
                if (!radio->scanning) {
                    adapter_scan(user, (random >> 9 & 1) != 0, (uint16_t)(random >> 10 & 0x3F) + 30);
                } else {
                    adapter_stop(user);
                }
            } else if (random >> 20 == 0) {
                adapter_kill(user);
            }
            adapter_pass((random >> 4 & 0xF) < 8 ? 0 : random >> 16 & 0x7FF);
        }
        adapter_pass(2 * TENDON_BLUEZ_JOIN_CHECK_MS + TAKE_OVER_MS);
        for (int user = 0; user < ADAPTER_USERS; user++) {
            (void)adapter_heard(user);
        }
        adapter_pass(500);
        for (int user = 0; user < ADAPTER_USERS; user++) {
            bool scans = adapter.users[user].open && adapter_radio(user)->radio.scanning;
            assert_int_equal(adapter_heard(user), scans);
            assert_int_equal(adapter.users[user].failures, 0);
        }
        adapter_end();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_scan_joins_the_first),
        cmocka_unit_test(the_second_takes_over_with_its_own_parameters),
        cmocka_unit_test(the_end_of_a_joined_scan_sends_nothing),
        cmocka_unit_test(a_joined_scan_that_is_started_again),
        cmocka_unit_test(a_check_that_succeeds_after_a_restart),
        cmocka_unit_test(a_refresh_is_no_end),
        cmocka_unit_test(a_killed_program_leaves_its_scan_to_the_second),
        cmocka_unit_test(an_end_that_was_not_seen),
        cmocka_unit_test(a_scan_that_nothing_shows_is_not_believed_for_long),
        cmocka_unit_test(two_starts_at_the_same_time),
        cmocka_unit_test(a_restart_beside_a_second_enable),
        cmocka_unit_test(a_check_begins_with_the_parameters),
        cmocka_unit_test(a_rejection_after_the_end),
        cmocka_unit_test(three_scans),
        cmocka_unit_test(a_sole_owner_does_not_join),
        cmocka_unit_test(random_users),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
