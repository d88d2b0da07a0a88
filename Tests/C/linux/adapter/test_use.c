/* SPDX-License-Identifier: MIT */
/* The declared uses of an adapter: shared, sole, observer. */
#include "../../../../CSources/linux/adapter/adapter_parts.h"
#include "adapter_fixture.h"
#include "tendon/tools/monitor.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const tendon_address device = {.bytes = {0xC0, 0, 0, 0, 0, 1}, .type = TENDON_ADDRESS_TYPE_RANDOM};
static tendon_loop *const loop = &own.loop;
static tendon_bluez_radio *const radio = &own.radio;
static tendon_bluez_radio second;

static int start(void **state) {
    int status = adapter_setup(state);
    fake_add(1, false);
    fake_add(3, false);
    fake_power(1, true);
    return status;
}

static tendon_status open_as(tendon_bluez_radio *which, const char *name, tendon_bluez_use use) {
    return tendon_bluez_open_as(which, loop, name, use);
}

static void close_both(void) {
    tendon_radio_close(&radio->radio);
    tendon_radio_close(&second.radio);
    fake_settled();
}

/* Refused before anything was changed: only the list of adapters was read. */
#define LOOKED " m0003 m0004 m0004"

static void sole_use_is_refused_while_another_program_has_a_socket(void **state) {
    (void)state;
    fake.programs = 1;
    fake_power(1, false); /* it would be powered on */
    assert_int_equal(open_as(radio, "hci1", TENDON_BLUEZ_SOLE), TENDON_RADIO_ERROR_ADAPTER_BUSY);
    fake_settled();
    assert_string_equal(fake_opcodes(), LOOKED);
    fake.programs = 0;
    assert_int_equal(open_as(radio, "hci1", TENDON_BLUEZ_SOLE), TENDON_OK);
}

/* Without the kernel's list nobody knows who else is there: the promise cannot be kept. */
static void sole_use_is_refused_if_nobody_knows(void **state) {
    (void)state;
    fake.programs = -1;
    assert_int_equal(open_as(radio, "hci1", TENDON_BLUEZ_SOLE), TENDON_ERROR_UNSUPPORTED);
    fake_settled();
    assert_int_equal(open_as(radio, "hci1", TENDON_BLUEZ_SHARED), TENDON_OK);
}

/* A claim that others cannot see is none. */
static void sole_use_that_cannot_be_shown_is_refused(void **state) {
    (void)state;
    int taken[64];
    for (int i = 0; i < 64; i++) {
        taken[i] = tendon_bluez_lease(1, "sole");
    }
    assert_int_equal(open_as(radio, "hci1", TENDON_BLUEZ_SOLE), TENDON_SYSTEM_ERROR(EADDRINUSE));
    for (int i = 0; i < 64; i++) {
        close(taken[i]);
    }
    fake_settled();
}

/* All pairs of uses, of the same adapter and of two. */
static void mixes_of_uses(void **state) {
    static const struct {
        tendon_bluez_use first, second;
        tendon_status same, other;
    } rows[] = {
        {TENDON_BLUEZ_SHARED, TENDON_BLUEZ_SHARED, TENDON_OK, TENDON_OK},
        {TENDON_BLUEZ_SHARED, TENDON_BLUEZ_SOLE, TENDON_RADIO_ERROR_ADAPTER_BUSY, TENDON_OK},
        {TENDON_BLUEZ_SHARED, TENDON_BLUEZ_OBSERVER, TENDON_OK, TENDON_OK},
        {TENDON_BLUEZ_SOLE, TENDON_BLUEZ_SHARED, TENDON_RADIO_ERROR_ADAPTER_BUSY, TENDON_OK},
        {TENDON_BLUEZ_SOLE, TENDON_BLUEZ_SOLE, TENDON_RADIO_ERROR_ADAPTER_BUSY, TENDON_OK},
        {TENDON_BLUEZ_SOLE, TENDON_BLUEZ_OBSERVER, TENDON_OK, TENDON_OK},
        {TENDON_BLUEZ_OBSERVER, TENDON_BLUEZ_SHARED, TENDON_OK, TENDON_OK},
        {TENDON_BLUEZ_OBSERVER, TENDON_BLUEZ_SOLE, TENDON_RADIO_ERROR_ADAPTER_BUSY, TENDON_OK},
        {TENDON_BLUEZ_OBSERVER, TENDON_BLUEZ_OBSERVER, TENDON_OK, TENDON_OK},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] * 2; i++) {
        bool same = i % 2 == 0;
        assert_int_equal(open_as(radio, "hci1", rows[i / 2].first), TENDON_OK);
        tendon_status expected = same ? rows[i / 2].same : rows[i / 2].other;
        assert_int_equal(open_as(&second, same ? "hci1" : "hci3", rows[i / 2].second), expected);
        if (expected != TENDON_OK) { /* and not for ever */
            tendon_radio_close(&radio->radio);
            assert_int_equal(open_as(&second, "hci1", rows[i / 2].second), TENDON_OK);
        }
        close_both();
    }
}

static unsigned reports;

static void count_report(void *context, const tendon_ad_report *report, uint64_t now) {
    (void)context;
    (void)now;
    assert_int_equal(report->rssi, -64);
    reports++;
}

/* Not one command, from the opening to the end, an hour of silence in between; reports only while it scans. */
static void an_observer_listens_and_sends_nothing(void **state) {
    static const uint8_t on[] = {1, 0};
    (void)state;
    fake.programs = 2;
    assert_int_equal(open_as(radio, "hci1", TENDON_BLUEZ_OBSERVER), TENDON_OK);
    static const tendon_address address = {{0, 0xAA, 1, 0, 0, 1}, TENDON_ADDRESS_TYPE_PUBLIC};
    assert_true(tendon_address_equal(&radio->radio.address, &address));
    radio->radio.on_report = count_report;
    reports = 0;
    fake_device *advertiser = fake_advertiser(1, 1000);
    fake_other(1, 0x200C, on, sizeof on);
    fake_pass(loop, 10000);
    assert_int_equal(reports, 0);
    tendon_scan_parameters parameters = {.active = true, .filter_duplicates = true};
    assert_int_equal(tendon_radio_scan_start(&radio->radio, &parameters), TENDON_OK);
    advertiser->interval = TENDON_BLUEZ_SILENCE_MS + 1;
    fake_pass(loop, 60 * (TENDON_BLUEZ_SILENCE_MS + 1));
    assert_in_range(reports, 59, 60);
    advertiser->interval = 0;
    fake_pass(loop, 3600000);
    assert_true(radio->radio.scanning);
    assert_int_equal(tendon_radio_scan_stop(&radio->radio), TENDON_OK);
    advertiser->interval = 1000;
    const unsigned before = reports;
    fake_pass(loop, 10000);
    assert_int_equal(reports, before);
    tendon_radio_close(&radio->radio);
    fake_settled();
    assert_string_equal(fake_opcodes(), LOOKED);
}

static tendon_link *accept_nobody(void *context, const tendon_address *peer, uint64_t now) {
    (void)context;
    (void)peer;
    (void)now;
    return NULL;
}

static void an_observer_does_nothing_else(void **state) {
    (void)state;
    static tendon_link link;
    static tendon_bonds bonds;
    tendon_link_callbacks callbacks = {.context = NULL};
    tendon_listener listener = {.accept = accept_nobody};
    tendon_bonds_init(&bonds);
    tendon_advertise_parameters advertising = {.interval_ms = 100};
    tendon_link_init(&link, &callbacks);
    assert_int_equal(open_as(radio, "hci1", TENDON_BLUEZ_OBSERVER), TENDON_OK);
    tendon_radio *base = &radio->radio;
    assert_int_equal(tendon_radio_advertise_start(base, &advertising), TENDON_ERROR_UNSUPPORTED);
    assert_int_equal(tendon_radio_advertise_stop(base), TENDON_OK);
    assert_int_equal(tendon_radio_connect(base, &link, &device, 9000), TENDON_ERROR_UNSUPPORTED);
    assert_int_equal(tendon_radio_connect_in_background(base, &link, &device), TENDON_ERROR_UNSUPPORTED);
    assert_int_equal(link.state, TENDON_LINK_CLOSED);
    assert_null(base->links);
    assert_int_equal(tendon_radio_listen(base, &listener), TENDON_ERROR_UNSUPPORTED);
    assert_null(base->listener);
    tendon_radio_unlisten(base, &listener);
    assert_int_equal(tendon_radio_use_bonds(base, &bonds), TENDON_ERROR_UNSUPPORTED);
    assert_int_equal(tendon_radio_ask_signals(base), TENDON_ERROR_UNSUPPORTED);
    fake_pass(loop, 1000);
    assert_string_equal(fake_opcodes(), LOOKED);
}

static void an_observer_powers_nothing_on(void **state) {
    (void)state;
    fake_power(1, false);
    assert_int_equal(open_as(radio, "hci1", TENDON_BLUEZ_OBSERVER), TENDON_RADIO_ERROR_ADAPTER_DOWN);
    fake_settled();
    assert_string_equal(fake_opcodes(), LOOKED);
}

static void an_observer_needs_the_capability(void **state) {
    (void)state;
    bluez_privileges.effective = 1u << CAP_NET_ADMIN;
    assert_int_equal(open_as(radio, "hci1", TENDON_BLUEZ_OBSERVER), TENDON_RADIO_ERROR_NO_CAP_NET_RAW);
}

/* ---- the kernel's keys, of which an adapter has one list for all programs ---- */

static void fill(tendon_bonds *bonds, bool has_bond) {
    static const tendon_bond bond = {.own = {{0x00, 0xAA, 0x01, 0x00, 0x00, 0x01}, TENDON_ADDRESS_TYPE_PUBLIC},
                                     .peer = {{0xC0, 0, 0, 0, 0, 1}, TENDON_ADDRESS_TYPE_RANDOM},
                                     .radio = TENDON_BOND_KERNEL,
                                     .key_size = 16,
                                     .initiator = true,
                                     .has_identity_key = true};
    tendon_bonds_init(bonds);
    if (has_bond) {
        assert_int_equal(tendon_bonds_store(bonds, &bond), TENDON_OK);
    }
}

/** The lists of keys that the kernel was sent since the last call, as ":m0013=1" for one of one key. */
static const char *keys(void) {
    static char text[sizeof fake.log];
    fake_pass(loop, 0);
    text[0] = '\0';
    for (const char *at = fake.log; (at = strstr(at, ":m00")) != NULL; at++) {
        if (memcmp(at, ":m0013", 6) == 0 || memcmp(at, ":m0030", 6) == 0) {
            strncat(text, at, strcspn(at, " "));
        }
    }
    fake_forget_log();
    return text;
}

static void connect_to_peer(tendon_link *link) {
    tendon_link_init(link, NULL);
    assert_int_equal(tendon_radio_connect(&radio->radio, link, &device, fake.now + 9000), TENDON_OK);
}

/*
 * bluetoothd runs, or some program has a socket, or nobody knows: a list of ours would replace the keys of a keyboard.
 * The service cannot see the processes of others, and neither can a container.
 */
static void keys_are_left_alone_beside_other_programs(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        static tendon_bonds bonds;
        static tendon_link links[3];
        fill(&bonds, i % 2 == 1);
        fake.programs = i < 2 ? 1 : -1;
        assert_int_equal(open_as(radio, "hci1", TENDON_BLUEZ_SHARED), TENDON_OK);
        assert_int_equal(tendon_radio_use_bonds(&radio->radio, &bonds), TENDON_OK);
        connect_to_peer(&links[0]);
        assert_int_equal(tendon_radio_set_pairable(&radio->radio, true), TENDON_OK);
        assert_string_equal(keys(), "");
        tendon_link_close(&links[0]);
        fake.programs = 0; /* that program has ended */
        connect_to_peer(&links[1]);
        assert_string_equal(keys(), i % 2 == 1 ? ":m0013=1:m0030=1" : ":m0030=1"); /* never an empty list */
        tendon_link_close(&links[1]);
        connect_to_peer(&links[2]);
        assert_string_equal(keys(), ""); /* once */
        tendon_link_close(&links[2]);
        close_both();
    }
}

/* The list of other stores cannot be read: one of them may have loaded its keys. */
static void keys_are_left_alone_if_nobody_knows(void **state) {
    (void)state;
    static tendon_bonds bonds;
    fill(&bonds, true);
    assert_int_equal(open_as(radio, "hci1", TENDON_BLUEZ_SHARED), TENDON_OK);
    fake.refuse[FAKE_OPEN] = (fake_refusal){.number = EACCES, .times = 1};
    assert_int_equal(tendon_radio_use_bonds(&radio->radio, &bonds), TENDON_OK);
    assert_string_equal(keys(), "");
}

static void keys_are_loaded_where_nobody_else_is(void **state) {
    static tendon_bonds bonds;
    static tendon_link link;
    (void)state;
    fill(&bonds, true);
    assert_int_equal(open_as(radio, "hci1", TENDON_BLUEZ_SHARED), TENDON_OK);
    assert_int_equal(tendon_radio_use_bonds(&radio->radio, &bonds), TENDON_OK);
    assert_string_equal(keys(), ":m0013=1:m0030=1");
    tendon_radio_close(&radio->radio);
    /* Without a bond there is nothing to load, until a device may pair. */
    fill(&bonds, false);
    assert_int_equal(open_as(radio, "hci1", TENDON_BLUEZ_SHARED), TENDON_OK);
    assert_int_equal(tendon_radio_use_bonds(&radio->radio, &bonds), TENDON_OK);
    assert_string_equal(keys(), "");
    connect_to_peer(&link);
    assert_string_equal(keys(), ":m0030=1");
    tendon_link_close(&link);
}

/* A radio of this library, which loads the same keys or shows that it has others. */
static void radios_of_this_library_do_not_keep_keys_from_each_other(void **state) {
    (void)state;
    static tendon_bonds bonds;
    fill(&bonds, true);
    assert_int_equal(open_as(&second, "hci1", TENDON_BLUEZ_SHARED), TENDON_OK);
    assert_int_equal(open_as(radio, "hci1", TENDON_BLUEZ_SHARED), TENDON_OK);
    assert_int_equal(tendon_radio_use_bonds(&radio->radio, &bonds), TENDON_OK);
    assert_string_equal(keys(), ":m0013=1:m0030=1");
    close_both();
}

static void adapter_arrived(void *context, tendon_status status, uint64_t now) {
    (void)context;
    (void)status;
    (void)now;
}

/* A capture, and a program that waits for another adapter, have sockets and use no adapter. */
static void programs_that_only_watch_are_no_users(void **state) {
    (void)state;
    static tendon_bonds bonds;
    static tendon_bluez_arrival arrival;
    static tendon_bluez_monitor monitor;
    static tendon_capture capture = {.datalink = TENDON_CAPTURE_H4};
    fill(&bonds, true);
    assert_int_equal(tendon_bluez_await_adapter(&arrival, loop, "hci7", NULL, adapter_arrived), TENDON_OK);
    assert_int_equal(tendon_bluez_monitor_open(&monitor, loop, &capture, NULL), TENDON_OK);
    assert_int_equal(open_as(radio, "hci1", TENDON_BLUEZ_SOLE), TENDON_OK);
    assert_int_equal(tendon_radio_use_bonds(&radio->radio, &bonds), TENDON_OK);
    assert_string_equal(keys(), ":m0013=1:m0030=1");
    tendon_bluez_monitor_close(&monitor);
    tendon_bluez_arrival_close(&arrival);
}

/* ---- a name shows sockets that are there ---- */

enum { CLOSED = 64 };
static int closed[CLOSED];
static unsigned closed_count;

/* In the place of the C library's. */
int close(int fd) {
    closed[closed_count++ % CLOSED] = fd;
    return (int)syscall(SYS_close, fd);
}

/** When this descriptor was closed, after closed_count was 0. */
static unsigned when_closed(int fd) {
    unsigned i = 0;
    while (i < CLOSED && i < closed_count && closed[i] != fd) {
        i++;
    }
    assert_true(i < closed_count && i < CLOSED);
    return i;
}

static void a_name_goes_before_its_sockets(void **state) {
    (void)state;
    static tendon_bluez_arrival arrival;
    static tendon_bluez_monitor monitor;
    static tendon_capture capture = {.datalink = TENDON_CAPTURE_H4};
    assert_int_equal(open_as(radio, "hci1", TENDON_BLUEZ_SHARED), TENDON_OK);
    assert_int_equal(tendon_bluez_await_adapter(&arrival, loop, "hci7", NULL, adapter_arrived), TENDON_OK);
    assert_int_equal(tendon_bluez_monitor_open(&monitor, loop, &capture, NULL), TENDON_OK);
    const int hci = radio->hci.fd, management = radio->management.fd, lease = radio->leases[0];
    const int waits = arrival.source.fd, watches = monitor.source.fd, shown[] = {arrival.lease, monitor.lease};
    closed_count = 0;
    tendon_radio_close(&radio->radio);
    assert_true(when_closed(lease) < when_closed(hci) && when_closed(lease) < when_closed(management));
    closed_count = 0;
    tendon_bluez_arrival_close(&arrival);
    tendon_bluez_monitor_close(&monitor);
    assert_true(when_closed(shown[0]) < when_closed(waits) && when_closed(shown[1]) < when_closed(watches));
}

/* A program that uses another adapter without the kernel's stack can have no other use for its socket. */
static void a_program_that_has_another_adapter_for_itself_is_no_user(void **state) {
    static const struct {
        int exclusive, others;
        tendon_status status;
    } rows[] = {{1, 0, TENDON_OK},
                {1, 1, TENDON_OK},
                {1, 2, TENDON_RADIO_ERROR_ADAPTER_BUSY},
                {2, 2, TENDON_OK},
                {2, 1, TENDON_OK},
                {0, 1, TENDON_RADIO_ERROR_ADAPTER_BUSY}}; /* hci3 is on, and in the list; hci1 is this one */
    (void)state;
    fake_power(3, true);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        static tendon_bonds bonds;
        fake.programs = rows[i].others;
        for (uint16_t k = 0; k < 2; k++) {
            fake_adapter *a = fake_add((uint16_t)(15 * k), false); /* hci0, hci15: the first and the last */
            a->listed = UINT64_MAX;
            a->powered = k < rows[i].exclusive;
        }
        fill(&bonds, true);
        assert_int_equal(open_as(radio, "hci1", TENDON_BLUEZ_SOLE), rows[i].status);
        if (rows[i].status == TENDON_OK) {
            assert_int_equal(tendon_radio_use_bonds(&radio->radio, &bonds), TENDON_OK);
            assert_string_equal(keys(), ":m0013=1:m0030=1");
        }
        close_both();
        fake_remove(0);
        fake_remove(15);
    }
}

/* A radio for another adapter is no user of hci0 either. */
static void the_first_adapter_is_as_any_other(void **state) {
    (void)state;
    fake_add(0, false);
    assert_int_equal(open_as(&second, "hci3", TENDON_BLUEZ_SHARED), TENDON_OK);
    assert_int_equal(open_as(radio, "hci0", TENDON_BLUEZ_SOLE), TENDON_OK);
    close_both();
}

/* Without the list nobody knows whether the adapter that is on is another program's alone. */
static void a_list_that_the_kernel_does_not_give(void **state) {
    (void)state;
    fake_power(3, true);
    fake.programs = 1;
    assert_int_equal(open_as(radio, "hci1", TENDON_BLUEZ_SHARED), TENDON_OK);
    assert_int_equal(tendon_bluez_users(radio), 1);
    fake_of(1)->listed = fake_of(3)->listed = UINT64_MAX; /* this one was just removed: the list is empty */
    assert_int_equal(tendon_bluez_users(radio), 0);
    fake.answer = (fake_answer){.opcode = TENDON_MANAGEMENT_READ_INDEX_LIST}; /* without data */
    assert_int_equal(tendon_bluez_users(radio), 1);
    fake.answer.status = TENDON_MANAGEMENT_BUSY;
    assert_int_equal(tendon_bluez_users(radio), 1);
}

static void no_other_use(void **state) {
    (void)state;
    assert_int_equal(open_as(radio, "hci1", (tendon_bluez_use)(TENDON_BLUEZ_CONNECTIONS_ONLY + 1)),
                     TENDON_ERROR_INVALID_ARGUMENT);
    fake_settled();
    assert_string_equal(fake_opcodes(), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sole_use_is_refused_while_another_program_has_a_socket, start,
                                        adapter_teardown),
        cmocka_unit_test_setup_teardown(sole_use_is_refused_if_nobody_knows, start, adapter_teardown),
        cmocka_unit_test_setup_teardown(sole_use_that_cannot_be_shown_is_refused, start, adapter_teardown),
        cmocka_unit_test_setup_teardown(mixes_of_uses, start, adapter_teardown),
        cmocka_unit_test_setup_teardown(an_observer_listens_and_sends_nothing, start, adapter_teardown),
        cmocka_unit_test_setup_teardown(an_observer_does_nothing_else, start, adapter_teardown),
        cmocka_unit_test_setup_teardown(an_observer_powers_nothing_on, start, adapter_teardown),
        cmocka_unit_test_setup_teardown(an_observer_needs_the_capability, start, adapter_teardown),
        cmocka_unit_test_setup_teardown(keys_are_left_alone_beside_other_programs, start, adapter_teardown),
        cmocka_unit_test_setup_teardown(keys_are_left_alone_if_nobody_knows, start, adapter_teardown),
        cmocka_unit_test_setup_teardown(keys_are_loaded_where_nobody_else_is, start, adapter_teardown),
        cmocka_unit_test_setup_teardown(radios_of_this_library_do_not_keep_keys_from_each_other, start,
                                        adapter_teardown),
        cmocka_unit_test_setup_teardown(programs_that_only_watch_are_no_users, start, adapter_teardown),
        cmocka_unit_test_setup_teardown(a_name_goes_before_its_sockets, start, adapter_teardown),
        cmocka_unit_test_setup_teardown(a_program_that_has_another_adapter_for_itself_is_no_user, start,
                                        adapter_teardown),
        cmocka_unit_test_setup_teardown(the_first_adapter_is_as_any_other, start, adapter_teardown),
        cmocka_unit_test_setup_teardown(a_list_that_the_kernel_does_not_give, start, adapter_teardown),
        cmocka_unit_test_setup_teardown(no_other_use, start, adapter_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
