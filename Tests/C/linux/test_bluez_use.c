/* SPDX-License-Identifier: MIT */
/* The declared uses of an adapter: shared, sole, observer. */
#include "bluez_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

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
    static const tendon_address peer = {.bytes = {0xC0, 0, 0, 0, 0, 1}, .type = TENDON_ADDRESS_TYPE_RANDOM};
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
    assert_int_equal(tendon_radio_connect(base, &link, &peer, 9000), TENDON_ERROR_UNSUPPORTED);
    assert_int_equal(tendon_radio_connect_in_background(base, &link, &peer), TENDON_ERROR_UNSUPPORTED);
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

static void no_other_use(void **state) {
    (void)state;
    assert_int_equal(open_as(&radio, "hci1", (tendon_bluez_use)3), TENDON_ERROR_INVALID_ARGUMENT);
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
        cmocka_unit_test_setup_teardown(no_other_use, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
