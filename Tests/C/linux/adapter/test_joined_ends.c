/* SPDX-License-Identifier: MIT */
/*
 * What else happens while a scan has joined that of another program: the adapter is powered off or unplugged, calls
 * fail, the controller rejects or does not respond, the radio connects, the kernel scans.
 */
#include "adapter_users.h"

#include <errno.h>
#include <string.h>

enum { FIRST, SECOND, DISALLOWED = 0x0C, INVALID_PARAMETERS = 0x12 };

static tendon_bluez_scan *scan_of(int user) {
    return &user_radio(user)->scan;
}

/** The first user scans, and the second one has joined; it was opened later, so that its start was rejected. */
static void joined(void) {
    users_start(false, true);
    user_open(FIRST);
    user_scan(FIRST, false, 60);
    users_pass(500);
    user_open(SECOND);
    user_scan(SECOND, true, 60);
    users_pass(500);
    assert_int_equal(scan_owner(), FIRST);
    assert_true(scan_of(SECOND)->joined);
}

/** Another program without a radio of this library scans, and the first user has joined. */
static void joined_to_another(void) {
    users_start(false, true);
    fake.programs = 1;
    user_open(FIRST);
    other_scans();
    user_scan(FIRST, true, 60);
    users_pass(500);
    assert_int_equal(scan_owner(), -1);
    assert_true(scan_of(FIRST)->joined);
    assert_int_equal(users[FIRST].sent.commands, 0);
}

/** Its connect() is in progress: nothing of the device is received. */
static void pending(tendon_link *link, bool background) {
    const fake_device *device = fake_advertiser(2, 0);
    const tendon_address peer = fake_address(device);
    tendon_radio *radio = &user_radio(background ? FIRST : SECOND)->radio;
    tendon_link_init(link, NULL);
    assert_int_equal(background ? tendon_radio_connect_in_background(radio, link, &peer)
                                : tendon_radio_connect(radio, link, &peer, UINT64_MAX),
                     TENDON_OK);
    users_pass(0);
    assert_true(fake_waits(ADAPTER_INDEX, device->wire, false)); /* immediately: our scan is off already */
}

static void powered(bool on) {
    fake_power(ADAPTER_INDEX, on);
    users_pass(20);
}

/* Reset by the kernel: nothing is enabled any more, and one of the two begins. */
static void a_reset_ends_both_scans(void **state) {
    (void)state;
    joined();
    fake_event(ADAPTER_INDEX, TENDON_HCI_HARDWARE_ERROR, "\x42", 1, 0);
    users_pass(20);
    assert_false(scan_of(SECOND)->joined);
    assert_false(user_radio(SECOND)->kernel.scans);
    powered(false);
    users_pass(400);
    powered(true);
    users_pass(500);
    assert_true(scan_owner() >= 0);
    assert_true(scan_of(FIRST)->joined != scan_of(SECOND)->joined);
    for (int user = FIRST; user <= SECOND; user++) {
        (void)user_heard(user);
    }
    users_pass(300);
    for (int user = FIRST; user <= SECOND; user++) {
        assert_true(user_heard(user));
        assert_int_equal(users[user].failures, 0);
    }
    assert_int_equal(adapter->wronged, 0);
    users_end();
}

/* Powered off by the user, or unplugged: the radio ends once, and sends nothing. */
static void an_adapter_that_ends_while_joined(void **state) {
    (void)state;
    for (int unplugged = 0; unplugged < 2; unplugged++) {
        joined();
        unsigned sent = users[SECOND].sent.commands;
        if (unplugged) {
            fake_remove(ADAPTER_INDEX);
            users_pass(20);
        } else {
            powered(false);
        }
        users_pass(2 * TENDON_BLUEZ_JOIN_CHECK_MS);
        assert_int_equal(users[SECOND].failures, 1);
        if (unplugged) {
            assert_int_equal(users[SECOND].failure, TENDON_RADIO_ERROR_NO_ADAPTER);
        }
        assert_int_equal(users[SECOND].sent.commands, sent);
        assert_false(user_radio(SECOND)->radio.scanning);
        tendon_radio_close(&user_radio(SECOND)->radio);
        assert_int_equal(users[SECOND].sent.commands, sent);
        users_end();
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
        users_advertiser(false);
        fake.refuse[FAKE_COMMAND] = (fake_refusal){.number = cases[i].number, .times = cases[i].times};
        users_pass(2 * TENDON_BLUEZ_JOIN_CHECK_MS + 500);
        assert_int_equal(fake.refuse[FAKE_COMMAND].number, 0);
        assert_int_equal(users[SECOND].failures, cases[i].ends);
        assert_int_equal(scan_of(SECOND)->activity.requested, !cases[i].ends);
        assert_int_equal(adapter->wronged, 0);
        assert_int_equal(scan_owner(), FIRST);
        users_end();
    }
}

/* The list of sockets cannot be read: another program is assumed. */
static void without_the_list_of_sockets(void **state) {
    (void)state;
    joined();
    fake.programs = -1;
    users_pass(60000);
    assert_true(scan_of(SECOND)->joined);
    assert_int_equal(users[SECOND].sent.disables, 0);
    users_end();
}

/* A response that is lost now and then is no fault; a controller that never responds is. Nothing is disabled. */
static void a_check_without_a_response(void **state) {
    (void)state;
    joined();
    users_advertiser(false);
    for (int time = 0; time < 2 * TENDON_BLUEZ_UNANSWERED_MAX; time++) {
        uint64_t before = user_radio(SECOND)->counters.unanswered;
        adapter->mute = true;
        for (int i = 0; i < 1000 && user_radio(SECOND)->counters.unanswered == before; i++) {
            users_pass(10);
        }
        adapter->mute = false;
        users_pass(TENDON_BLUEZ_COMMAND_TIMEOUT_MS + 100); /* the next one may be lost too */
        assert_in_range(user_radio(SECOND)->counters.unanswered, before + 1, before + 2);
        assert_true(scan_of(SECOND)->joined);
    }
    assert_int_equal(users[SECOND].sent.disables, 0);
    assert_int_equal(users[SECOND].failures, 0);
    fake.programs = 1; /* the adapter is not powered off and on */
    adapter->mute = true;
    users_pass(60000);
    assert_int_equal(users[SECOND].failures, 1);
    assert_int_equal(users[SECOND].failure, TENDON_RADIO_ERROR_COMMAND_TIMEOUT);
    assert_int_equal(users[SECOND].sent.disables, 0);
    users_end();
}

/* Another reason than the other scan: ours fails immediately, or, if it was on before, after the usual number of
 * checks. */
static void a_check_that_is_rejected_for_another_reason(void **state) {
    (void)state;
    for (int before = 0; before < 2; before++) {
        joined();
        scan_of(SECOND)->activity.confirmed = before != 0;
        users_advertiser(false);
        adapter->rejects = INVALID_PARAMETERS;
        users_pass(TENDON_BLUEZ_JOIN_CHECK_MS + 100);
        assert_int_equal(users[SECOND].failures, !before);
        users_pass(TENDON_BLUEZ_RETRIES * TENDON_BLUEZ_JOIN_CHECK_MS);
        assert_int_equal(user_radio(SECOND)->counters.scan_joins, 1);
        assert_int_equal(users[SECOND].failures, 1);
        assert_int_equal(users[SECOND].failure, TENDON_HCI_ERROR(INVALID_PARAMETERS));
        assert_int_equal(users[SECOND].sent.disables, 0);
        adapter->scanner = FAKE_OTHER; /* what the first user would end is rejected, too */
        users_end();
    }
}

/* The controller rejects everything, and no other program is there: as before the first start, disabled once. */
static void a_rejection_that_no_program_explains(void **state) {
    (void)state;
    joined();
    user_kill(FIRST);
    adapter->rejects = DISALLOWED;
    users_pass(2 * TENDON_BLUEZ_JOIN_CHECK_MS);
    assert_int_equal(users[SECOND].sent.disables, 1);
    assert_int_equal(users[SECOND].failures, 1);
    assert_int_equal(users[SECOND].failure, TENDON_RADIO_ERROR_ADAPTER_BUSY);
    users_end();
}

/* Ours was on before: at first the kernel may be busy, for 10 s; then another program's scan is the reason. */
static void a_scan_that_was_on_joins_after_the_usual_retries(void **state) {
    (void)state;
    users_start(false, true);
    fake.programs = 1;
    user_open(FIRST);
    user_scan(FIRST, true, 60);
    users_pass(500);
    other_stops();
    adapter->wronged = 0;
    users_advertiser(false);
    adapter->rejects = DISALLOWED;
    users_pass(1000 + TENDON_BLUEZ_RETRIES * TENDON_BLUEZ_RETRY_MS - 500);
    assert_false(scan_of(FIRST)->joined);
    users_pass(1500);
    assert_true(scan_of(FIRST)->joined);
    assert_int_equal(users[FIRST].failures, 0);
    adapter->rejects = 0;
    users_pass(TENDON_BLUEZ_JOIN_CHECK_MS + 100);
    assert_int_equal(scan_owner(), FIRST);
    users_end();
}

/* It is not ours: no restart, no power cycle, however long it is silent. */
static void the_watchdog_leaves_a_joined_scan_alone(void **state) {
    (void)state;
    joined_to_another();
    users_advertiser(false);
    scan_of(FIRST)->heard = true;
    users_pass(600 * TENDON_BLUEZ_SILENCE_MS);
    const tendon_bluez_counters *counters = &user_radio(FIRST)->counters;
    assert_int_equal(counters->scan_restarts + counters->scan_refreshes + counters->power_cycles, 0);
    assert_true(scan_of(FIRST)->joined);
    assert_int_equal(users[FIRST].sent.disables, 0);
    assert_int_equal(users[FIRST].failures, 0);
    other_stops();
    users_pass(1500);
    assert_int_equal(scan_owner(), FIRST);
    users_end();
}

/* A connect() is not delayed: our scan is off already. After it, the scan has still joined. */
static void a_joined_radio_connects(void **state) {
    (void)state;
    joined();
    unsigned sent = users[SECOND].sent.commands;
    tendon_link link;
    pending(&link, false);
    users_pass(200);
    assert_int_equal(link.state, TENDON_LINK_ASKED);
    tendon_link_close(&link);
    users_pass(400);
    assert_int_equal(link.state, TENDON_LINK_CLOSED);
    assert_int_equal(users[SECOND].sent.commands, sent);
    assert_int_equal(scan_owner(), FIRST);
    (void)user_heard(SECOND);
    users_pass(200);
    assert_true(user_heard(SECOND));
    users_end();
}

/** The kernel was made to look whether it has to scan: the adapter's own address comes to its devices, and goes. */
static void assert_restored(void) {
    const char *sent = fake_opcodes();
    const size_t length = strlen(sent);
    assert_true(length > 12);
    assert_string_equal(sent + length - 12, " m0033 m0034");
    assert_int_equal(adapter->scanner, FAKE_KERNEL);
    assert_true(adapter->filters);
    adapter->awaits = false;
    users_pass(10);
}

/* bluetoothd has a bonded mouse that is switched off: the kernel scans for it for ever, with the accept list, so that
 * nothing else is received. It connects to it from the reports of any scan. */
static void a_scan_that_hears_only_the_accept_list_is_taken_over(void **state) {
    (void)state;
    for (unsigned kind = 0; kind < 16; kind++) { /* controllers; it was there before, or comes; stopped, or closed */
        bool comes = (kind & 4) != 0, closes = (kind & 8) != 0;
        users_start((kind & 1) != 0, (kind & 2) != 0);
        fake.programs = 1;
        user_open(FIRST);
        if (comes) {
            user_scan(FIRST, true, 60);
            users_pass(500);
            assert_int_equal(scan_owner(), FIRST);
            other_stops();
        }
        adapter->awaits = true;
        users_pass(0);
        if (!comes) {
            user_scan(FIRST, true, 60);
        }
        users_pass(1500);
        assert_int_equal(scan_owner(), FIRST);
        assert_false(scan_of(FIRST)->joined);
        (void)user_heard(FIRST);
        fake.devices[1].interval = 2000;
        users_pass(3600000);
        assert_true(user_heard(FIRST));
        assert_int_equal(users[FIRST].failures, 0);
        if (closes) {
            tendon_radio_close(&user_radio(FIRST)->radio);
        } else {
            user_stop(FIRST);
        }
        users_pass(100);
        assert_restored();
        users_end();
    }
}

/** The kernel's scan began before the first user opened. @param kinds of a discovery; 0: it is for the accept list. */
static void joined_to_what_shows_nothing(uint8_t kinds) {
    users_start(true, true);
    fake.programs = 1;
    adapter->awaits = true;
    users_pass(0);
    adapter->discovers = kinds;
    adapter->awaits = kinds == 0;
    user_open(FIRST);
    user_scan(FIRST, true, 60);
    users_pass(500);
    assert_true(scan_of(FIRST)->joined);
}

/* It began before this radio was opened: the parameters are not known, and nothing comes. */
static void a_scan_that_nothing_shows_is_taken_over(void **state) {
    (void)state;
    joined_to_what_shows_nothing(0);
    users_pass(TENDON_BLUEZ_JOIN_CHECK_MS);
    assert_int_equal(scan_owner(), FIRST);
    assert_true(user_heard(FIRST));
    user_stop(FIRST);
    users_pass(100);
    assert_restored();
    users_end();
}

/* It is a discovery of bluetoothd's, which filters duplicates, where nothing new advertises. A raw command would leave
 * the kernel with a discovery that never ends: it is stopped first, whatever kinds of devices it has. */
static void a_discovery_that_nothing_shows_is_stopped(void **state) {
    (void)state;
    static const uint8_t kinds[] = {7, 6}; /* of an adapter with BR/EDR; of LE alone */
    for (size_t i = 0; i < sizeof kinds; i++) {
        joined_to_what_shows_nothing(kinds[i]);
        assert_int_equal(adapter->discovers, kinds[i]);
        fake_forget_log();
        users_pass(TENDON_BLUEZ_JOIN_CHECK_MS);
        assert_true(fake_sent("m0024=7"));
        assert_int_equal(fake_sent("m0024=6"), kinds[i] == 6);
        assert_int_equal(adapter->discovers, 0);
        assert_false(adapter->orphaned);
        users_pass(1000);
        assert_int_equal(scan_owner(), FIRST);
        assert_true(user_heard(FIRST));
        users_end();
    }
}

/* The kernel does not respond, or may not be asked: the scan is disabled as before. */
static void a_discovery_that_cannot_be_stopped(void **state) {
    (void)state;
    for (int why = 0; why < 2; why++) {
        joined_to_what_shows_nothing(0);
        fake.answer = (fake_answer){.opcode = 0x0024, .status = why == 0 ? 0 : 0x14, .none = why == 0};
        users_pass(TENDON_BLUEZ_JOIN_CHECK_MS);
        if (why == 0) {
            assert_int_equal(scan_owner(), -1);
            users_pass(TENDON_BLUEZ_COMMAND_TIMEOUT_MS);
        }
        assert_int_equal(scan_owner(), FIRST);
        assert_true(user_heard(FIRST));
        users_end();
    }
}

/* No program is left, and the kernel scans without the accept list, for a device that this radio waits for, too: the
 * kernel connects to that from the reports of ours. */
static void the_scan_of_no_program_is_ended(void **state) {
    (void)state;
    for (int waits = 0; waits < 2; waits++) {
        joined_to_another();
        tendon_link link;
        tendon_link_init(&link, NULL);
        if (waits) {
            pending(&link, true);
        }
        fake.programs = 0;
        users_pass(10 * TENDON_BLUEZ_JOIN_CHECK_MS);
        assert_int_equal(users[FIRST].sent.disables, 1);
        assert_int_equal(scan_owner(), FIRST);
        assert_false(scan_of(FIRST)->joined);
        tendon_link_close(&link);
        users_pass(100);
        users_end();
    }
}

/** Its parameters are set, and the enable command waits to be executed. */
static void wait_for_enable(void) {
    for (int i = 0; i < 10 && user_radio(FIRST)->command.opcode != TENDON_HCI_LE_SET_SCAN_ENABLE; i++) {
        assert_int_equal(tendon_loop_step(&users_loop, fake.now + 1), TENDON_OK);
    }
    assert_int_equal(user_radio(FIRST)->command.opcode, TENDON_HCI_LE_SET_SCAN_ENABLE);
    assert_int_equal(adapter->scanner, FAKE_NOBODY);
}

/* The parameters that another program was refused are not those of the scan that is on. */
static void refused_parameters_have_no_filter(void **state) {
    (void)state;
    static const uint8_t list[7] = {0, 0x60, 0, 0x60, 0, 0, 1}, all[7] = {0, 0x60, 0, 0x60, 0, 0, 0};
    users_start(false, true);
    user_open(FIRST);
    adapter->awaits = true;
    users_pass(5);
    assert_true(user_radio(FIRST)->kernel.filters);
    fake_other(ADAPTER_INDEX, TENDON_HCI_LE_SET_SCAN_PARAMETERS, all, sizeof all); /* rejected */
    users_pass(5);
    assert_true(user_radio(FIRST)->kernel.filters);
    adapter->awaits = false;
    users_pass(5);
    fake_other(ADAPTER_INDEX, TENDON_HCI_LE_SET_SCAN_PARAMETERS, all, sizeof all);
    users_pass(5);
    assert_false(user_radio(FIRST)->kernel.filters);
    fake_other(ADAPTER_INDEX, TENDON_HCI_LE_SET_SCAN_PARAMETERS, list, sizeof list);
    users_pass(5);
    assert_true(user_radio(FIRST)->kernel.filters);
    users_end();
}

/* On a controller that accepts both, the discovery that the kernel reports meanwhile is that of the first scan. */
static void the_discovery_of_the_first_scan_is_not_stopped(void **state) {
    (void)state;
    static const uint8_t discovering[] = {TENDON_MANAGEMENT_DISCOVERING, 0, ADAPTER_INDEX, 0, 2, 0, 6, 1};
    users_start(false, false);
    fake.programs = 1;
    user_open(FIRST);
    user_scan(FIRST, true, 60);
    wait_for_enable();
    static const uint8_t on[] = {1, 0};
    fake_other(ADAPTER_INDEX, TENDON_HCI_LE_SET_SCAN_ENABLE, on, sizeof on);
    fake_post(0, HCI_CHANNEL_CONTROL, ADAPTER_INDEX, FAKE_NOBODY, FAKE_NOBODY, discovering, sizeof discovering);
    users_pass(5);
    assert_true(scan_of(FIRST)->joined);
    assert_int_equal(scan_owner(), -1);
    fake_forget_log();
    user_stop(FIRST);
    users_pass(2 * TENDON_BLUEZ_JOIN_CHECK_MS);
    tendon_radio_close(&user_radio(FIRST)->radio);
    fake_settled();
    assert_string_equal(fake_opcodes(), "");
    assert_int_equal(adapter->scanner, FAKE_OTHER);
    users_end();
}

/* Stopped while its enable command is in flight: what it would have to disable is the other scan. */
static void a_late_start_that_was_stopped_disables_nothing(void **state) {
    (void)state;
    static const uint8_t on[] = {1, 0};
    for (int way = 0; way < 3; way++) { /* stopped; started again; nothing, and the kernel's scan was faster */
        users_start(false, false);
        fake.programs = way != 2;
        user_open(FIRST);
        user_scan(FIRST, true, 60);
        wait_for_enable();
        fake_other(ADAPTER_INDEX, TENDON_HCI_LE_SET_SCAN_ENABLE, on, sizeof on);
        if (way < 2) {
            user_stop(FIRST);
        }
        if (way == 1) {
            user_scan(FIRST, true, 60);
        }
        users_pass(2000);
        assert_int_equal(users[FIRST].sent.disables, 0);
        assert_int_equal(adapter->wronged, 0);
        assert_int_equal(scan_of(FIRST)->activity.state, TENDON_BLUEZ_OFF);
        assert_int_equal(scan_of(FIRST)->joined, way > 0);
        assert_int_equal(users[FIRST].failures, 0);
        users_end();
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
        cmocka_unit_test(a_discovery_that_nothing_shows_is_stopped),
        cmocka_unit_test(a_discovery_that_cannot_be_stopped),
        cmocka_unit_test(the_scan_of_no_program_is_ended),
        cmocka_unit_test(refused_parameters_have_no_filter),
        cmocka_unit_test(the_discovery_of_the_first_scan_is_not_stopped),
        cmocka_unit_test(a_late_start_that_was_stopped_disables_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
