/* SPDX-License-Identifier: MIT */
/* The declared uses of an adapter: shared, sole, observer. */
#include "bluez_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const tendon_address device = {.bytes = {0xC0, 0, 0, 0, 0, 1}, .type = TENDON_ADDRESS_TYPE_RANDOM};
static tendon_loop loop;
static tendon_bluez_radio radio, second;

static int start(void **state) {
    (void)state;
    kernel = (bluez_kernel){.indexes = {1, 3},
                            .count = 2,
                            .supported = TENDON_MANAGEMENT_LOW_ENERGY | TENDON_MANAGEMENT_POWERED,
                            .settings = TENDON_MANAGEMENT_LOW_ENERGY | TENDON_MANAGEMENT_POWERED,
                            .address = {0x42, 0, 0, 1, 0xAA, 0},
                            .others = 0,
                            .now = 1000};
    calls = (system_calls){.fd = -1, .peer = -1, .central = -1};
    bluez_hci_sockets = NULL;
    return tendon_loop_init(&loop);
}

static int end(void **state) {
    (void)state;
    bluez_kernel_close();
    tendon_loop_close(&loop);
    return 0;
}

static unsigned long inode(int fd) {
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    return (unsigned long)info.st_ino;
}

/** The kernel's list has the sockets of this radio. */
static void show_sockets_of(const tendon_bluez_radio *shown) {
    static char text[256];
    snprintf(text, sizeof text, "sk RefCnt Rmem Wmem User Inode Parent\n0 2 0 0 0 %lu 0\n0 2 0 0 0 %lu 0\n",
             inode(shown->hci.fd), inode(shown->management.fd));
    bluez_hci_sockets = text;
}

static tendon_status open_as(tendon_bluez_radio *which, const char *name, tendon_bluez_use use) {
    return tendon_bluez_open_as(which, &loop, name, use);
}

static void assert_closed(const tendon_bluez_radio *which) {
    assert_int_equal(which->hci.fd, -1);
    assert_int_equal(which->management.fd, -1);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(which->leases[i], -1);
    }
}

/* Refused before anything was changed: only the list of adapters was read. */
#define LOOKED " m03 m04 m04"

static void sole_use_is_refused_while_another_program_has_a_socket(void **state) {
    (void)state;
    kernel.others = 1;
    kernel.settings = TENDON_MANAGEMENT_LOW_ENERGY; /* off: it would be powered on */
    assert_int_equal(open_as(&radio, "hci1", TENDON_BLUEZ_SOLE), TENDON_RADIO_ERROR_ADAPTER_BUSY);
    assert_string_equal(kernel.log, LOOKED);
    assert_closed(&radio);
    kernel.others = 0;
    assert_int_equal(open_as(&radio, "hci1", TENDON_BLUEZ_SOLE), TENDON_OK);
    tendon_radio_close(&radio.radio);
    assert_closed(&radio);
}

/* Without the kernel's list nobody knows who else is there: the promise cannot be kept. */
static void sole_use_is_refused_if_nobody_knows(void **state) {
    (void)state;
    kernel.hidden = true;
    assert_int_equal(open_as(&radio, "hci1", TENDON_BLUEZ_SOLE), TENDON_ERROR_UNSUPPORTED);
    assert_closed(&radio);
    assert_int_equal(open_as(&radio, "hci1", TENDON_BLUEZ_SHARED), TENDON_OK);
    tendon_radio_close(&radio.radio);
}

/* A claim that others cannot see is none. */
static void sole_use_that_cannot_be_shown_is_refused(void **state) {
    (void)state;
    assert_int_equal(open_as(&radio, "hci1", TENDON_BLUEZ_SOLE), TENDON_OK);
    int claim = radio.leases[3];
    assert_true(claim >= 0);
    assert_int_equal(tendon_bluez_claim(&radio), TENDON_SYSTEM_ERROR(EADDRINUSE)); /* its name is taken */
    assert_int_equal(radio.leases[3], -1);
    radio.leases[3] = claim;
    tendon_radio_close(&radio.radio);
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
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] * 2; i++) {
        bool same = i % 2 == 0;
        (void)start(state);
        assert_int_equal(open_as(&radio, "hci1", rows[i / 2].first), TENDON_OK);
        show_sockets_of(&radio);
        tendon_status expected = same ? rows[i / 2].same : rows[i / 2].other;
        assert_int_equal(open_as(&second, same ? "hci1" : "hci3", rows[i / 2].second), expected);
        if (expected == TENDON_OK) {
            tendon_radio_close(&second.radio);
        } else { /* and not for ever */
            assert_closed(&second);
            tendon_radio_close(&radio.radio);
            bluez_hci_sockets = NULL;
            assert_int_equal(open_as(&radio, "hci1", rows[i / 2].second), TENDON_OK);
        }
        tendon_radio_close(&radio.radio);
        (void)end(state);
    }
    (void)start(state);
}

static unsigned reports;

static void count_report(void *context, const tendon_ad_report *report, uint64_t now) {
    (void)context;
    (void)now;
    assert_int_equal(report->rssi, -60);
    reports++;
}

static void controller_reports(const tendon_bluez_radio *of) {
    static const uint8_t event[] = {4, 0x3E, 12, 0x02, 1, 0, 0, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0, 0xC4};
    assert_int_equal(send(kernel.peers[of->hci.fd], event, sizeof event, MSG_DONTWAIT), (ssize_t)sizeof event);
    assert_true(tendon_loop_step(&loop, kernel.now) >= 0);
}

static void assert_nothing_sent(const tendon_bluez_radio *by) {
    uint8_t bytes[64];
    assert_int_equal(recv(kernel.peers[by->hci.fd], bytes, sizeof bytes, MSG_DONTWAIT), -1);
    assert_int_equal(recv(kernel.peers[by->management.fd], bytes, sizeof bytes, MSG_DONTWAIT), -1);
}

/* Not one command, from the opening to the end, an hour of silence in between; reports only while it scans. */
static void an_observer_listens_and_sends_nothing(void **state) {
    (void)state;
    kernel.others = 2;
    assert_int_equal(open_as(&radio, "hci1", TENDON_BLUEZ_OBSERVER), TENDON_OK);
    assert_string_equal(kernel.log, LOOKED);
    static const uint8_t address[] = {0, 0xAA, 1, 0, 0, 0x42};
    assert_memory_equal(radio.radio.address.bytes, address, 6);
    reports = 0;
    radio.radio.on_report = count_report;
    controller_reports(&radio);
    assert_int_equal(reports, 0);
    tendon_scan_parameters parameters = {.active = true, .filter_duplicates = true};
    assert_int_equal(tendon_radio_scan_start(&radio.radio, &parameters), TENDON_OK);
    for (int i = 0; i < 60; i++) {
        controller_reports(&radio);
        kernel.now += TENDON_BLUEZ_SILENCE_MS + 1;
        assert_true(tendon_loop_step(&loop, kernel.now) >= 0);
    }
    assert_int_equal(reports, 60);
    kernel.now += 3600000;
    assert_true(tendon_loop_step(&loop, kernel.now) >= 0);
    assert_true(radio.radio.scanning);
    assert_int_equal(tendon_radio_scan_stop(&radio.radio), TENDON_OK);
    controller_reports(&radio);
    assert_int_equal(reports, 60);
    assert_nothing_sent(&radio);
    tendon_radio_close(&radio.radio);
    assert_string_equal(kernel.log, LOOKED);
    assert_closed(&radio);
}

static tendon_link *accept_nobody(void *context, const tendon_address *peer, uint64_t now) {
    (void)context;
    (void)peer;
    (void)now;
    return NULL;
}

static void an_observer_does_nothing_else(void **state) {
    (void)state;
    tendon_link link = {.radio = NULL};
    tendon_link_callbacks callbacks = {.context = NULL};
    tendon_listener listener = {.accept = accept_nobody};
    tendon_bonds bonds;
    tendon_bonds_init(&bonds);
    tendon_advertise_parameters advertising = {.interval_ms = 100};
    tendon_link_init(&link, &callbacks);
    assert_int_equal(open_as(&radio, "hci1", TENDON_BLUEZ_OBSERVER), TENDON_OK);
    tendon_radio *base = &radio.radio;
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
    assert_nothing_sent(&radio);
    tendon_radio_close(base);
    assert_string_equal(kernel.log, LOOKED);
}

static void an_observer_powers_nothing_on(void **state) {
    (void)state;
    kernel.settings = TENDON_MANAGEMENT_LOW_ENERGY;
    kernel.exists = true;
    assert_int_equal(open_as(&radio, "hci1", TENDON_BLUEZ_OBSERVER), TENDON_RADIO_ERROR_ADAPTER_DOWN);
    assert_string_equal(kernel.log, LOOKED);
    assert_closed(&radio);
}

static void an_observer_needs_the_capability(void **state) {
    (void)state;
    calls.filter_loses = 2;
    assert_int_equal(open_as(&radio, "hci1", TENDON_BLUEZ_OBSERVER), TENDON_RADIO_ERROR_NO_CAP_NET_RAW);
    assert_closed(&radio);
}

/* ---- the kernel's keys, of which an adapter has one list for all programs ---- */

static void fill(tendon_bonds *bonds, bool has_bond) {
    static const tendon_bond bond = {.own = {{0x00, 0xAA, 0x01, 0x00, 0x00, 0x42}, TENDON_ADDRESS_TYPE_PUBLIC},
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

/** What the kernel was sent since the last call; the log begins again. */
static const char *sent(void) {
    static char text[sizeof kernel.log];
    assert_int_equal(tendon_loop_step(&loop, 0), TENDON_OK);
    strcpy(text, kernel.log);
    kernel.log[0] = '\0';
    return text;
}

static void connect_to_peer(tendon_link *link) {
    tendon_link_init(link, NULL);
    assert_int_equal(tendon_radio_connect(&radio.radio, link, &device, tendon_monotonic_ms() + 9000), TENDON_OK);
}

/*
 * bluetoothd runs, or some program has a socket, or nobody knows: a list of ours would replace the keys of a keyboard.
 * The service cannot see the processes of others, and neither can a container.
 */
static void keys_are_left_alone_beside_other_programs(void **state) {
    for (int i = 0; i < 4; i++) {
        tendon_bonds bonds;
        tendon_link links[3];
        (void)start(state);
        fill(&bonds, i % 2 == 1);
        kernel.others = i < 2;
        kernel.hidden = i >= 2;
        assert_int_equal(open_as(&radio, "hci1", TENDON_BLUEZ_SHARED), TENDON_OK);
        (void)sent();
        assert_int_equal(tendon_radio_use_bonds(&radio.radio, &bonds), TENDON_OK);
        assert_string_equal(sent(), "");
        connect_to_peer(&links[0]);
        assert_int_equal(tendon_radio_set_pairable(&radio.radio, true), TENDON_OK);
        const char *loaded = sent();
        assert_true(strstr(loaded, " m13") == NULL && strstr(loaded, " m30") == NULL);
        tendon_link_close(&links[0]);
        kernel.others = 0; /* that program has ended */
        kernel.hidden = false;
        connect_to_peer(&links[1]);
        loaded = sent();
        assert_true((strstr(loaded, " m13:1") != NULL) == (i % 2 == 1));
        assert_non_null(strstr(loaded, " m30:1")); /* never an empty list */
        tendon_link_close(&links[1]);
        connect_to_peer(&links[2]);
        assert_null(strstr(sent(), " m30")); /* once */
        tendon_link_close(&links[2]);
        tendon_radio_close(&radio.radio);
        (void)end(state);
    }
    (void)start(state);
}

static void keys_are_loaded_where_nobody_else_is(void **state) {
    tendon_bonds bonds;
    tendon_link link;
    fill(&bonds, true);
    assert_int_equal(open_as(&radio, "hci1", TENDON_BLUEZ_SHARED), TENDON_OK);
    (void)sent();
    assert_int_equal(tendon_radio_use_bonds(&radio.radio, &bonds), TENDON_OK);
    assert_string_equal(sent(), " m13:1 m30:1");
    tendon_radio_close(&radio.radio);
    /* Without a bond there is nothing to load, until a device may pair. */
    fill(&bonds, false);
    assert_int_equal(open_as(&radio, "hci1", TENDON_BLUEZ_SHARED), TENDON_OK);
    (void)sent();
    assert_int_equal(tendon_radio_use_bonds(&radio.radio, &bonds), TENDON_OK);
    assert_string_equal(sent(), "");
    connect_to_peer(&link);
    assert_non_null(strstr(sent(), " m30:1"));
    tendon_link_close(&link);
    tendon_radio_close(&radio.radio);
    (void)state;
}

/* A radio of this library, which loads the same keys or shows that it has others. */
static void radios_of_this_library_do_not_keep_keys_from_each_other(void **state) {
    (void)state;
    tendon_bonds bonds;
    fill(&bonds, true);
    assert_int_equal(open_as(&second, "hci1", TENDON_BLUEZ_SHARED), TENDON_OK);
    show_sockets_of(&second);
    assert_int_equal(open_as(&radio, "hci1", TENDON_BLUEZ_SHARED), TENDON_OK);
    (void)sent();
    assert_int_equal(tendon_radio_use_bonds(&radio.radio, &bonds), TENDON_OK);
    assert_string_equal(sent(), " m13:1 m30:1");
    tendon_radio_close(&radio.radio);
    tendon_radio_close(&second.radio);
}

static void adapter_arrived(void *context, tendon_status status, uint64_t now) {
    (void)context;
    (void)status;
    (void)now;
}

/* A capture, and a program that waits for another adapter, have sockets and use no adapter. */
static void programs_that_only_watch_are_no_users(void **state) {
    (void)state;
    static char text[256];
    tendon_bonds bonds;
    tendon_bluez_arrival arrival;
    tendon_bluez_monitor monitor;
    tendon_capture capture = {.datalink = TENDON_CAPTURE_H4};
    fill(&bonds, true);
    assert_int_equal(tendon_bluez_await_adapter(&arrival, &loop, "hci7", NULL, adapter_arrived), TENDON_OK);
    assert_int_equal(tendon_bluez_monitor_open(&monitor, &loop, &capture, NULL), TENDON_OK);
    snprintf(text, sizeof text, "sk RefCnt Rmem Wmem User Inode Parent\n0 2 0 0 0 %lu 0\n0 2 0 0 0 %lu 0\n",
             inode(arrival.source.fd), inode(monitor.source.fd));
    bluez_hci_sockets = text;
    assert_int_equal(open_as(&radio, "hci1", TENDON_BLUEZ_SOLE), TENDON_OK);
    (void)sent();
    assert_int_equal(tendon_radio_use_bonds(&radio.radio, &bonds), TENDON_OK);
    assert_string_equal(sent(), " m13:1 m30:1");
    tendon_radio_close(&radio.radio);
    tendon_bluez_monitor_close(&monitor);
    tendon_bluez_arrival_close(&arrival);
}

/* A program that uses another adapter without the kernel's stack can have no other use for its socket. */
static void a_program_that_has_another_adapter_for_itself_is_no_user(void **state) {
    static const struct {
        unsigned on;
        int others;
        tendon_status status;
    } rows[] = {{1u << 5, 1, TENDON_OK},
                {1u << 5, 2, TENDON_RADIO_ERROR_ADAPTER_BUSY},
                {1u << 5 | 1u << 0, 2, TENDON_OK},
                {1u << 5 | 1u << 0, 1, TENDON_OK},
                {1u << 3, 1, TENDON_RADIO_ERROR_ADAPTER_BUSY}, /* on, and in the list */
                {1u << 1, 1, TENDON_RADIO_ERROR_ADAPTER_BUSY}, /* this one */
                {0, 1, TENDON_RADIO_ERROR_ADAPTER_BUSY}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tendon_bonds bonds;
        kernel.others = rows[i].others;
        calls.adapters_on = rows[i].on;
        fill(&bonds, true);
        assert_int_equal(open_as(&radio, "hci1", TENDON_BLUEZ_SOLE), rows[i].status);
        if (rows[i].status == TENDON_OK) {
            (void)sent();
            assert_int_equal(tendon_radio_use_bonds(&radio.radio, &bonds), TENDON_OK);
            assert_non_null(strstr(sent(), " m13:1 m30:1"));
            tendon_radio_close(&radio.radio);
        }
    }
    (void)state;
}

static void no_other_use(void **state) {
    (void)state;
    assert_int_equal(open_as(&radio, "hci1", (tendon_bluez_use)(TENDON_BLUEZ_CONNECTIONS_ONLY + 1)),
                     TENDON_ERROR_INVALID_ARGUMENT);
    assert_string_equal(kernel.log, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sole_use_is_refused_while_another_program_has_a_socket, start, end),
        cmocka_unit_test_setup_teardown(sole_use_is_refused_if_nobody_knows, start, end),
        cmocka_unit_test_setup_teardown(sole_use_that_cannot_be_shown_is_refused, start, end),
        cmocka_unit_test_setup_teardown(mixes_of_uses, start, end),
        cmocka_unit_test_setup_teardown(an_observer_listens_and_sends_nothing, start, end),
        cmocka_unit_test_setup_teardown(an_observer_does_nothing_else, start, end),
        cmocka_unit_test_setup_teardown(an_observer_powers_nothing_on, start, end),
        cmocka_unit_test_setup_teardown(an_observer_needs_the_capability, start, end),
        cmocka_unit_test_setup_teardown(keys_are_left_alone_beside_other_programs, start, end),
        cmocka_unit_test_setup_teardown(keys_are_loaded_where_nobody_else_is, start, end),
        cmocka_unit_test_setup_teardown(radios_of_this_library_do_not_keep_keys_from_each_other, start, end),
        cmocka_unit_test_setup_teardown(programs_that_only_watch_are_no_users, start, end),
        cmocka_unit_test_setup_teardown(a_program_that_has_another_adapter_for_itself_is_no_user, start, end),
        cmocka_unit_test_setup_teardown(no_other_use, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
