/* SPDX-License-Identifier: MIT */
/*
 * Scans of several programs on one adapter (docs/bluez-states.md, "A scan that joins another one"): the second one
 * joins, takes over when the first one ends, and never ends it.
 */
#include "adapter_users.h"

enum { FIRST, SECOND, THIRD, TAKE_OVER_MS = 1500, DISALLOWED = 0x0C };

static tendon_bluez_scan *scan_of(int user) {
    return &user_radio(user)->scan;
}

static void assert_joined(int user) {
    assert_true(scan_of(user)->joined);
    assert_true(user_radio(user)->radio.scan_joined);
    assert_true(scan_of(user)->activity.requested);
    assert_int_equal(scan_of(user)->activity.state, TENDON_BLUEZ_OFF);
    assert_int_equal(users[user].failures, 0);
}

static void assert_holds(int user) {
    assert_int_equal(scan_owner(), user);
    assert_int_equal(scan_of(user)->activity.state, TENDON_BLUEZ_ON);
    assert_false(scan_of(user)->joined);
    assert_false(user_radio(user)->radio.scan_joined);
    assert_int_equal(users[user].failures, 0);
}

/** Both receive reports from now on. */
static void assert_both_hear(void) {
    (void)user_heard(FIRST);
    (void)user_heard(SECOND);
    users_pass(300);
    assert_true(user_heard(FIRST));
    assert_true(user_heard(SECOND));
}

/** The first user scans, and the second one has joined; the first one's start was @p seen by it. */
static void two_scans(bool extended, bool strict, bool seen) {
    users_start(extended, strict);
    user_open(FIRST);
    if (seen) {
        user_open(SECOND);
    }
    user_scan(FIRST, false, 60);
    users_pass(500);
    if (!seen) {
        user_open(SECOND);
    }
    user_scan(SECOND, true, 100);
    users_pass(500);
    assert_holds(FIRST);
    assert_joined(SECOND);
}

static void a_second_scan_joins_the_first(void **state) {
    (void)state;
    for (unsigned kind = 0; kind < 8; kind++) {
        bool seen = (kind & 4) != 0;
        two_scans((kind & 1) != 0, (kind & 2) != 0, seen);
        assert_both_hear();
        fake.devices[1].interval = 2000;
        users_pass(3600000);
        fake.devices[1].interval = 100;
        assert_both_hear();
        /* One command was rejected, with the extended set also that of the legacy one, or none was needed; then nothing
         * is sent while reports come. */
        assert_int_equal(users[SECOND].sent.commands, seen ? 0u : 1u + (kind & 1));
        assert_int_equal(users[FIRST].sent.commands, 2);
        assert_int_equal(user_radio(SECOND)->counters.scan_joins, 1);
        assert_int_equal(user_radio(FIRST)->counters.scan_joins, 0);
        assert_holds(FIRST);
        assert_joined(SECOND);
        users_end();
    }
}

static void the_second_takes_over_with_its_own_parameters(void **state) {
    (void)state;
    for (unsigned kind = 0; kind < 8; kind++) {
        two_scans((kind & 1) != 0, (kind & 2) != 0, (kind & 4) != 0);
        user_stop(FIRST);
        users_pass(TAKE_OVER_MS);
        assert_holds(SECOND);
        assert_int_equal(users[SECOND].sent.active, 1);
        assert_int_equal(users[SECOND].sent.interval, 160); /* 100 ms */
        (void)user_heard(SECOND);
        users_pass(300);
        assert_true(user_heard(SECOND));
        assert_false(user_radio(SECOND)->kernel.scans);
        /* And back: the first one joins, and takes over. */
        user_scan(FIRST, false, 60);
        users_pass(500);
        assert_joined(FIRST);
        user_stop(SECOND);
        users_pass(TAKE_OVER_MS);
        assert_holds(FIRST);
        assert_int_equal(adapter->wronged, 0);
        users_end();
    }
}

/* Stopped, or closed: whatever it is doing, it sends nothing that ends the other scan. */
static void the_end_of_a_joined_scan_sends_nothing(void **state) {
    (void)state;
    for (unsigned kind = 0; kind < 8; kind++) {
        bool closes = (kind & 2) != 0, checking = (kind & 4) != 0;
        two_scans((kind & 1) != 0, true, false);
        unsigned sent = users[SECOND].sent.commands;
        if (checking) { /* its command is in flight, and the owner has changed the parameters */
            scan_of(SECOND)->activity.retry_at = scan_of(SECOND)->heard_at = 0;
            assert_int_equal(tendon_radio_scan_stop(&user_radio(SECOND)->radio), TENDON_OK);
            user_scan(SECOND, false, 30);
            assert_true(user_radio(SECOND)->command.opcode != 0);
            user_stop(SECOND);
            user_scan(SECOND, true, 30);
            assert_int_equal(scan_of(SECOND)->activity.state, TENDON_BLUEZ_STALE);
        }
        if (closes) {
            tendon_radio_close(&user_radio(SECOND)->radio);
        } else {
            user_stop(SECOND);
        }
        users_pass(10000);
        assert_int_equal(users[SECOND].sent.commands, sent + checking);
        assert_true(user_radio(SECOND)->radio.scan_joined); /* the latest scan had */
        assert_int_equal(users[SECOND].sent.disables + users[SECOND].sent.enables, 0);
        assert_holds(FIRST);
        assert_int_equal(users[FIRST].sent.commands, 2);
        users_end();
    }
}

/* New parameters, while it checks too: the other scan goes on, and they are used later. */
static void a_joined_scan_that_is_started_again(void **state) {
    (void)state;
    for (int checking = 0; checking < 2; checking++) {
        two_scans(false, true, false);
        for (int i = 0; i <= checking; i++) {
            user_stop(SECOND);
            scan_of(SECOND)->heard_at = 0;
            user_scan(SECOND, true, (uint16_t)(200 + i));
        }
        users_pass(500);
        assert_joined(SECOND);
        assert_both_hear();
        assert_int_equal(adapter->wronged, 0);
        user_stop(FIRST);
        users_pass(TAKE_OVER_MS);
        assert_holds(SECOND);
        assert_int_equal(users[SECOND].sent.interval, (200 + checking) * 8 / 5);
        users_end();
    }
}

/* The answer to a check with old parameters that succeeds is not used for the new ones. */
static void a_check_that_succeeds_after_a_restart(void **state) {
    (void)state;
    two_scans(false, true, true);
    scan_of(SECOND)->activity.retry_at = scan_of(SECOND)->heard_at = 0;
    tendon_bluez_step(user_radio(SECOND));
    assert_int_equal(user_radio(SECOND)->command.opcode, TENDON_HCI_LE_SET_SCAN_PARAMETERS);
    adapter->scanner = FAKE_NOBODY; /* unseen */
    user_stop(SECOND);
    user_scan(SECOND, true, 300);
    user_stop(FIRST);
    users_pass(TAKE_OVER_MS);
    assert_holds(SECOND);
    assert_int_equal(users[SECOND].sent.interval, 480);
    assert_int_equal(users[SECOND].sent.disables, 0);
    users_end();
}

/* The first one filters duplicates, so that its scan is started again every minute. The second one sees that, and does
 * not use the gap. */
static void a_refresh_is_no_end(void **state) {
    (void)state;
    for (int extended = 0; extended < 2; extended++) {
        const tendon_scan_parameters filtered = {.filter_duplicates = true};
        users_start(extended, true);
        user_open(FIRST);
        user_open(SECOND);
        assert_int_equal(tendon_radio_scan_start(&user_radio(FIRST)->radio, &filtered), TENDON_OK);
        users_pass(500);
        user_scan(SECOND, true, 60);
        users_pass(10 * TENDON_BLUEZ_REFRESH_MS);
        assert_in_range(user_radio(FIRST)->counters.scan_refreshes, 9, 10);
        assert_holds(FIRST);
        assert_joined(SECOND);
        assert_int_equal(users[SECOND].sent.commands, 0);
        assert_int_equal(user_radio(SECOND)->counters.scan_joins, 1);
        assert_both_hear();
        users_end();
    }
}

/* Its scan stays enabled in the controller: it is nobody's, and ours to end; not only the first time. */
static void a_killed_program_leaves_its_scan_to_the_second(void **state) {
    (void)state;
    for (unsigned kind = 0; kind < 8; kind++) {
        two_scans((kind & 1) != 0, (kind & 2) != 0, (kind & 4) != 0);
        user_kill(FIRST);
        assert_int_equal(adapter->scanner, FAKE_OTHER);
        users_pass(TENDON_BLUEZ_JOIN_CHECK_MS + 500);
        assert_holds(SECOND);
        assert_int_equal(users[SECOND].sent.disables, 1);
        assert_int_equal(users[SECOND].sent.active, 1);
        for (unsigned time = 0; time < 2; time++) { /* another program takes the scanner, and is killed too */
            fake.programs = 1;
            other_stops();
            adapter->wronged = 0;
            other_scans();
            users_pass(2000);
            assert_joined(SECOND);
            fake.programs = 0;
            users_pass(TENDON_BLUEZ_JOIN_CHECK_MS + 500);
            assert_holds(SECOND);
            assert_int_equal(users[SECOND].sent.disables, 2 + time);
            assert_false(user_radio(SECOND)->kernel.scans);
        }
        users_end();
    }
}

/* The command that ended the first scan, or its response, did not fit in a receive buffer. */
static void an_end_that_was_not_seen(void **state) {
    (void)state;
    for (int extended = 0; extended < 2; extended++) {
        two_scans(extended, true, true);
        fake.deaf = user_radio(SECOND)->hci.fd;
        user_stop(FIRST);
        users_pass(100);
        fake.deaf = 0;
        assert_int_equal(adapter->scanner, FAKE_NOBODY);
        assert_joined(SECOND);
        users_pass(TENDON_BLUEZ_JOIN_CHECK_MS + 500);
        assert_holds(SECOND);
        assert_int_equal(users[SECOND].sent.disables, 0);
        users_end();
    }
}

/* Where nothing advertises, a scan that has not been seen is believed for 5 s: it may hear only an accept list. Both
 * receive what comes afterwards. */
static void a_scan_that_nothing_shows_is_not_believed_for_long(void **state) {
    (void)state;
    for (int sign = 0; sign < 3; sign++) { /* none, a report, a command */
        users_start(false, true);
        users_advertiser(false);
        user_open(FIRST);
        user_scan(FIRST, true, 60);
        users_pass(500);
        user_open(SECOND);
        user_scan(SECOND, true, 60);
        users_pass(4000);
        assert_joined(SECOND);
        if (sign == 1) {
            users_advertiser(true);
            users_pass(200);
            users_advertiser(false);
        } else if (sign == 2) {
            user_stop(FIRST);
            user_scan(FIRST, true, 60);
        }
        users_pass(sign == 0 ? 3000 : 3600000);
        assert_int_equal(scan_of(SECOND)->unseen, 0); /* what is on, or was seen, is known */
        users_advertiser(true);
        assert_holds(sign == 0 ? SECOND : FIRST);
        assert_joined(sign == 0 ? FIRST : SECOND);
        assert_int_equal(adapter->wronged, sign == 0);
        assert_both_hear();
        users_end();
    }
}

/* Its time is counted from the moment at which ours has joined, and goes on while ours is started again. */
static void a_scan_that_nothing_shows_has_its_time(void **state) {
    (void)state;
    users_start(false, true);
    users_advertiser(false);
    user_open(FIRST);
    user_scan(FIRST, true, 60);
    users_pass(500);
    user_open(SECOND);
    user_scan(SECOND, true, 60);
    users_pass(1000);
    user_stop(SECOND);
    user_scan(SECOND, true, 80);
    users_pass(1000);
    assert_joined(SECOND);
    assert_holds(FIRST);
    assert_int_equal(adapter->wronged, 0);
    users_end();
}

/* Both enable the scanner at the same time. On a controller that accepts this, only the first one may end it. */
static void two_starts_at_the_same_time(void **state) {
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        users_start((kind & 1) != 0, (kind & 2) != 0);
        user_open(FIRST);
        user_open(SECOND);
        user_scan(FIRST, true, 60);
        user_scan(SECOND, true, 60);
        users_pass(1000);
        const int holds = scan_owner(), other = holds == FIRST ? SECOND : FIRST;
        assert_true(holds == FIRST || holds == SECOND);
        assert_holds(holds);
        assert_joined(other);
        assert_both_hear();
        user_stop(other);
        users_pass(500);
        assert_holds(holds);
        user_scan(other, true, 60);
        users_pass(500);
        user_stop(holds);
        users_pass(TAKE_OVER_MS);
        assert_holds(other);
        assert_int_equal(adapter->wronged, 0);
        users_end();
    }
}

/* Each sees the parameters of the other after its own: one of the two begins all the same. */
static void two_starts_that_cross(void **state) {
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        users_start((kind & 1) != 0, (kind & 2) != 0);
        user_open(FIRST);
        user_open(SECOND);
        fake.hurries = true;
        user_scan(FIRST, true, 60);
        user_scan(SECOND, true, 60);
        users_pass(1000);
        assert_true(scan_owner() >= 0);
        assert_in_range(users[FIRST].sent.commands + users[SECOND].sent.commands, 3, 20);
        assert_both_hear();
        users_end();
    }
}

/* Both have enabled it, and the one that has it changes its parameters: that is no reason to join the other one. */
static void a_restart_beside_a_second_enable(void **state) {
    (void)state;
    static const uint8_t on[] = {1, 0};
    users_start(false, false);
    fake.programs = 1;
    user_open(FIRST);
    user_scan(FIRST, true, 60);
    users_pass(500);
    fake_other(ADAPTER_INDEX, TENDON_HCI_LE_SET_SCAN_ENABLE, on, sizeof on);
    user_stop(FIRST);
    user_scan(FIRST, true, 80);
    users_pass(100);
    assert_holds(FIRST);
    assert_int_equal(users[FIRST].sent.interval, 128);
    assert_int_equal(user_radio(FIRST)->counters.scan_joins, 0);
    users_end();
}

/* Configured, but paused for a connect, when another program enables the scanner without parameters of its own. */
static void a_check_begins_with_the_parameters(void **state) {
    (void)state;
    static const uint8_t on[] = {1, 0};
    users_start(false, false);
    fake.programs = 1;
    users_advertiser(false);
    user_open(FIRST);
    user_scan(FIRST, true, 60);
    tendon_radio_pause_scan(&user_radio(FIRST)->radio);
    users_pass(100);
    assert_int_equal(scan_of(FIRST)->activity.state, TENDON_BLUEZ_READY);
    fake_other(ADAPTER_INDEX, TENDON_HCI_LE_SET_SCAN_ENABLE, on, sizeof on);
    users_pass(2);
    tendon_radio_resume_scan(&user_radio(FIRST)->radio);
    users_pass(3 * TENDON_BLUEZ_JOIN_CHECK_MS);
    assert_joined(FIRST);
    assert_int_equal(users[FIRST].sent.enables, 0);
    assert_in_range(users[FIRST].sent.commands, 2, 4);
    users_end();
}

/* The other scan has ended, most likely for a connection, and the controller does not scan meanwhile. */
static void a_rejection_after_the_end(void **state) {
    (void)state;
    users_start(false, true);
    fake.programs = 1;
    user_open(FIRST);
    user_scan(FIRST, true, 60);
    users_pass(500);
    other_stops();
    other_scans();
    users_pass(1500);
    assert_joined(FIRST);
    other_stops();
    adapter->rejects = DISALLOWED;
    users_pass(TAKE_OVER_MS);
    assert_joined(FIRST);
    adapter->rejects = 0;
    users_pass(TENDON_BLUEZ_JOIN_CHECK_MS);
    assert_holds(FIRST);
    users_end();
}

static void three_scans(void **state) {
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        two_scans((kind & 1) != 0, (kind & 2) != 0, true);
        user_open(THIRD);
        user_scan(THIRD, true, 60);
        users_pass(500);
        assert_joined(THIRD);
        user_stop(FIRST);
        users_pass(TAKE_OVER_MS);
        int holds = scan_owner(), other = holds == SECOND ? THIRD : SECOND;
        assert_true(holds == SECOND || holds == THIRD);
        assert_holds(holds);
        assert_joined(other);
        user_stop(holds);
        users_pass(TAKE_OVER_MS);
        assert_holds(other);
        assert_int_equal(adapter->wronged, 0);
        users_end();
    }
}

/* A sole owner does not join: it is alone, and what scans beside it is an error. */
static void a_sole_owner_does_not_join(void **state) {
    (void)state;
    for (int seen = 0; seen < 2; seen++) {
        users_start(false, true);
        user_open(FIRST);
        if (seen) {
            user_open(SECOND);
        }
        user_scan(FIRST, true, 60);
        users_pass(500);
        if (!seen) {
            user_open(SECOND);
        }
        user_radio(SECOND)->use = TENDON_BLUEZ_SOLE;
        user_scan(SECOND, true, 60);
        users_pass(500);
        assert_int_equal(users[SECOND].failure, TENDON_RADIO_ERROR_ADAPTER_BUSY);
        assert_false(scan_of(SECOND)->joined);
        users_end();
    }
}

/* Random starts, stops, kills and lost packets: nobody is wronged, and afterwards each one that scans receives. */
static void random_users(void **state) {
    (void)state;
    uint32_t random = 0xC0FFEE;
    for (int round = 0; round < 300; round++) {
        users_start(round % 2 != 0, round % 4 < 2);
        for (int step = 0; step < 40; step++) {
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            int user = (int)(random % USERS);
            tendon_radio *radio = &user_radio(user)->radio;
            if (!users[user].open) {
                user_open(user);
            } else if (random >> 8 & 1) {
                if (!radio->scanning) {
                    user_scan(user, (random >> 9 & 1) != 0, (uint16_t)(random >> 10 & 0x3F) + 30);
                } else {
                    user_stop(user);
                }
            } else if (random >> 20 == 0) {
                user_kill(user);
            }
            users_pass((random >> 4 & 0xF) < 8 ? 0 : random >> 16 & 0x7FF);
        }
        users_pass(2 * TENDON_BLUEZ_JOIN_CHECK_MS + TAKE_OVER_MS);
        for (int user = 0; user < USERS; user++) {
            (void)user_heard(user);
        }
        users_pass(500);
        for (int user = 0; user < USERS; user++) {
            bool scans = users[user].open && user_radio(user)->radio.scanning;
            assert_int_equal(user_heard(user), scans);
            assert_int_equal(users[user].failures, 0);
        }
        users_end();
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
        cmocka_unit_test(a_scan_that_nothing_shows_has_its_time),
        cmocka_unit_test(two_starts_at_the_same_time),
        cmocka_unit_test(two_starts_that_cross),
        cmocka_unit_test(a_restart_beside_a_second_enable),
        cmocka_unit_test(a_check_begins_with_the_parameters),
        cmocka_unit_test(a_rejection_after_the_end),
        cmocka_unit_test(three_scans),
        cmocka_unit_test(a_sole_owner_does_not_join),
        cmocka_unit_test(random_users),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
