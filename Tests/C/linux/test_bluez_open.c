/* SPDX-License-Identifier: MIT */
/* Opening an adapter, the list of adapters, and what is known about one. */
#include "bluez_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- opening ---- */

static tendon_loop loop;
static tendon_bluez_radio radio;

static int start(void **state) {
    (void)state;
    bluez_kernel_start();
    return tendon_loop_init(&loop);
}

static int end(void **state) {
    (void)state;
    bluez_kernel_close();
    tendon_loop_close(&loop);
    return 0;
}

/** Every Bluetooth socket was closed: its other end reads the end of the data. */
static void assert_all_closed(void) {
    uint8_t bytes[512];
    for (int fd = 0; fd < SOCKETS; fd++) {
        if (kernel.peers[fd] > 0) {
            ssize_t got = 1;
            while (got > 0) {
                got = recv(kernel.peers[fd], bytes, sizeof bytes, MSG_DONTWAIT);
            }
            assert_true(got == 0 || errno == ECONNRESET);
        }
    }
}

#define LIMITS_LEGACY " h2002 h200f h201c h202a"
#define LIMITS_EXTENDED LIMITS_LEGACY " h203a h203b"

static void opens_the_first_adapter_and_powers_it_on(void **state) {
    static const struct {
        uint32_t settings;
        bool extended;
        int others;
        const char *log;
    } cases[] = {
        {3, false, 1, " h1002 h2003" LIMITS_LEGACY},
        {3, true, 1, " h1002 h2003" LIMITS_EXTENDED},
        {1, false, 1, " m0d h1002 h2003" LIMITS_LEGACY},
        {2, false, 1, " m05 h1002 h2003" LIMITS_LEGACY},
        {0, false, 1, " m0d m05 h1002 h2003" LIMITS_LEGACY},
        {3, false, 0, " h1002 h2003" LIMITS_LEGACY " m24"}, /* a killed program may have left a discovery on */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        (void)start(state);
        kernel.settings = (cases[i].settings & 1 ? TENDON_MANAGEMENT_POWERED : 0) |
                          (cases[i].settings & 2 ? TENDON_MANAGEMENT_LOW_ENERGY : 0);
        kernel.extended = cases[i].extended;
        kernel.others = cases[i].others;
        assert_int_equal(tendon_bluez_open(&radio, &loop, NULL), TENDON_OK);
        char log[128];
        snprintf(log, sizeof log, " m03 m04 m04 m04%s", cases[i].log);
        assert_string_equal(kernel.log, log);
        assert_int_equal(radio.index, 1);
        static const uint8_t address[] = {0, 0xAA, 1, 0, 0, 0x42};
        assert_memory_equal(radio.radio.address.bytes, address, 6);
        assert_int_equal(radio.radio.address.type, TENDON_ADDRESS_TYPE_PUBLIC);
        assert_int_equal(radio.extended_scan, cases[i].extended);
        assert_int_equal(radio.extended_advertising, cases[i].extended);
        assert_int_equal(radio.limits.features, cases[i].extended ? 0x1900 : 0);
        assert_int_equal(radio.limits.packet_length, 251);
        assert_int_equal(radio.limits.packets, 8);
        assert_int_equal(kernel.settings, TENDON_MANAGEMENT_POWERED | TENDON_MANAGEMENT_LOW_ENERGY);
        assert_true(radio.leases[0] >= 0 && radio.leases[1] >= 0); /* other radios see that both sockets are ours */
        assert_int_equal(calls.buffers_set, 1);                    /* of the raw HCI socket */
        assert_int_equal(calls.buffer, tendon_bluez_buffer_size(tendon_bluez_memory(), TENDON_BLUEZ_HCI_SHARE) / 2);
        tendon_radio_close(&radio.radio);
        assert_all_closed();
        (void)end(state);
    }
}

/* With BR/EDR: Secure Simple Pairing (m0b), which the kernel requires before Secure Connections (m2d). What is on stays
 * as it is; an old controller rejects either, and is open all the same. */
static void secure_connections_are_permitted_on_adapters_with_bredr(void **state) {
    enum { SIMPLE = TENDON_MANAGEMENT_SECURE_SIMPLE_PAIRING, SECURE = TENDON_MANAGEMENT_SECURE_CONNECTIONS };
    static const struct {
        uint32_t settings;
        uint16_t fails;
        const char *commands;
        uint32_t expected;
    } cases[] = {
        {TENDON_MANAGEMENT_BREDR, 0, " m05 m0b m2d", TENDON_MANAGEMENT_BREDR | SIMPLE | SECURE},
        {TENDON_MANAGEMENT_BREDR | SIMPLE, 0, " m05 m2d", TENDON_MANAGEMENT_BREDR | SIMPLE | SECURE},
        {TENDON_MANAGEMENT_BREDR | SIMPLE | SECURE, 0, " m05", TENDON_MANAGEMENT_BREDR | SIMPLE | SECURE},
        {TENDON_MANAGEMENT_BREDR, TENDON_MANAGEMENT_SET_SECURE_SIMPLE_PAIRING, " m05 m0b m2d",
         TENDON_MANAGEMENT_BREDR | SECURE},
        {TENDON_MANAGEMENT_BREDR, TENDON_MANAGEMENT_SET_SECURE_CONNECTIONS, " m05 m0b m2d",
         TENDON_MANAGEMENT_BREDR | SIMPLE},
        {0, 0, " m05", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        (void)start(state);
        kernel.settings = TENDON_MANAGEMENT_LOW_ENERGY | cases[i].settings;
        kernel.fails = cases[i].fails;
        kernel.error = TENDON_MANAGEMENT_NOT_SUPPORTED;
        assert_int_equal(tendon_bluez_open(&radio, &loop, NULL), TENDON_OK);
        char log[128];
        snprintf(log, sizeof log, " m03 m04 m04 m04%s h1002", cases[i].commands);
        assert_memory_equal(kernel.log, log, strlen(log));
        assert_int_equal(kernel.settings, TENDON_MANAGEMENT_POWERED | TENDON_MANAGEMENT_LOW_ENERGY | cases[i].expected);
        assert_int_equal(radio.settings, kernel.settings);
        tendon_radio_close(&radio.radio);
        assert_all_closed();
        (void)end(state);
    }
}

/* Two programs start at the same time: the kernel rejects what it is doing for the other one (Busy). */
static void an_adapter_that_another_program_powers_on_is_awaited(void **state) {
    (void)state;
    kernel.fails = TENDON_MANAGEMENT_SET_POWERED;
    kernel.error = TENDON_MANAGEMENT_BUSY;
    kernel.failures = 3;
    kernel.settings = TENDON_MANAGEMENT_LOW_ENERGY;
    uint64_t begun = kernel.now;
    assert_int_equal(tendon_bluez_open(&radio, &loop, "hci3"), TENDON_OK);
    assert_non_null(strstr(kernel.log, " m05 m05 m05 m05 h1002"));
    assert_int_equal(kernel.now - begun, 60);
    tendon_radio_close(&radio.radio);
    assert_all_closed();
}

static void an_adapter_that_cannot_be_opened_leaves_nothing_open(void **state) {
    enum { LIST = TENDON_MANAGEMENT_READ_INDEX_LIST, LE = TENDON_MANAGEMENT_SET_LOW_ENERGY };
    enum { POWER = TENDON_MANAGEMENT_SET_POWERED };
    static const struct {
        const char *name;
        uint16_t fails, error;
        tendon_status expected;
    } cases[] = {
        {"hci9", 0, 0, TENDON_RADIO_ERROR_NO_ADAPTER},
        {"usb0", 0, 0, TENDON_ERROR_INVALID_ARGUMENT},
        {"usb1", 0, 0, TENDON_ERROR_INVALID_ARGUMENT},
        {"hci", 0, 0, TENDON_ERROR_INVALID_ARGUMENT},
        {"hci1x", 0, 0, TENDON_ERROR_INVALID_ARGUMENT},
        {"", 0, 0, TENDON_ERROR_INVALID_ARGUMENT},
        {"hci3", LIST, TENDON_MANAGEMENT_BUSY, TENDON_RADIO_ERROR_ADAPTER_BUSY},
        {"hci3", LE, TENDON_MANAGEMENT_REJECTED, TENDON_RADIO_ERROR_ADAPTER_DOWN},
        {"hci3", LE, TENDON_MANAGEMENT_PERMISSION_DENIED, TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN},
        {"hci3", POWER, TENDON_MANAGEMENT_FAILED, TENDON_RADIO_ERROR_ADAPTER_DOWN},
        {"hci3", POWER, TENDON_MANAGEMENT_BUSY, TENDON_RADIO_ERROR_ADAPTER_BUSY},
        {"hci3", POWER, TENDON_MANAGEMENT_RFKILLED, TENDON_RADIO_ERROR_RFKILL},
        {"hci3", POWER, TENDON_MANAGEMENT_PERMISSION_DENIED, TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN},
        {"hci3", READ_LOCAL_COMMANDS, 0x01, TENDON_HCI_ERROR(0x01)},
        {"hci3", LE_FEATURES, 0x1F, TENDON_HCI_ERROR(0x1F)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        (void)start(state);
        kernel.settings = 0;
        kernel.fails = cases[i].fails;
        kernel.error = cases[i].error;
        assert_int_equal(tendon_bluez_open(&radio, &loop, cases[i].name), cases[i].expected);
        assert_all_closed();
        (void)end(state);
    }
    for (int i = 0; i < 6; i++) {
        static const tendon_status expected[] = {TENDON_RADIO_ERROR_ADAPTER_DOWN,   TENDON_ERROR_UNSUPPORTED,
                                                 TENDON_SYSTEM_ERROR(EMFILE),       TENDON_SYSTEM_ERROR(ENOSPC),
                                                 TENDON_RADIO_ERROR_NO_CAP_NET_RAW, TENDON_RADIO_ERROR_NO_CAP_NET_RAW};
        (void)start(state);
        kernel.settings = i == 0 ? 0 : kernel.settings;
        kernel.stays_off = i == 0;
        kernel.supported = i == 1 || i == 5 ? TENDON_MANAGEMENT_POWERED : kernel.supported;
        calls.socket = (refused_call){i == 2 ? EMFILE : 0, 1};
        calls.epoll_add = (refused_call){i == 3 ? ENOSPC : 0, 1};
        calls.filter_loses = i >= 4 ? 2 : 0; /* of two reasons the first is reported */
        assert_int_equal(tendon_bluez_open(&radio, &loop, "hci3"), expected[i]);
        calls.socket.number = 0;
        assert_all_closed();
        (void)end(state);
    }
}

/* Connections alone: the controller gets no command, and bits of the filter may be missing. */
static void without_cap_net_raw_it_opens_for_connections(void **state) {
    (void)state;
    calls.filter_loses = 2;
    kernel.others = 0;
    assert_int_equal(tendon_bluez_open_as(&radio, &loop, "hci3", TENDON_BLUEZ_CONNECTIONS_ONLY), TENDON_OK);
    assert_string_equal(kernel.log, " m03 m04 m04 m04");
    assert_int_equal(tendon_radio_scan_start(&radio.radio, &(tendon_scan_parameters){.active = true}),
                     TENDON_RADIO_ERROR_NO_CAP_NET_RAW);
    tendon_radio_close(&radio.radio);
    kernel.log[0] = '\0';
    calls.filter = (refused_call){EINVAL, 0};
    assert_int_equal(tendon_bluez_open_as(&radio, &loop, "hci3", TENDON_BLUEZ_CONNECTIONS_ONLY),
                     TENDON_SYSTEM_ERROR(EINVAL));
    assert_all_closed();
}

static void an_adapter_that_has_just_appeared_is_awaited(void **state) {
    (void)state;
    kernel.exists = true;
    kernel.listed_from = 5;
    assert_int_equal(tendon_bluez_open(&radio, &loop, "hci7"), TENDON_OK);
    assert_int_equal(radio.index, 7);
    assert_int_equal(kernel.now, 1000 + 5 * 20);
    tendon_radio_close(&radio.radio);
    /* One that another program uses exclusively is never in the list: 2 s. */
    kernel.listed_from = 1000000;
    kernel.now = 1000;
    assert_int_equal(tendon_bluez_open(&radio, &loop, "hci7"), TENDON_RADIO_ERROR_ADAPTER_BUSY);
    assert_int_equal(kernel.now, 3000);
    assert_all_closed();
}

/* ---- static address ---- */

/* ---- lists and capabilities ---- */

static void the_list_is_in_order_of_the_index(void **state) {
    (void)state;
    tendon_bluez_adapter adapters[3];
    kernel.settings = TENDON_MANAGEMENT_LOW_ENERGY;
    kernel.supported |= TENDON_MANAGEMENT_STATIC_ADDRESS;
    assert_int_equal(tendon_bluez_list(adapters, 3), 3);
    static const char *const names[] = {"hci1", "hci3", "hci7"};
    for (int i = 0; i < 3; i++) {
        assert_string_equal(adapters[i].name, names[i]);
        assert_int_equal(adapters[i].index, names[i][3] - '0');
        assert_int_equal(adapters[i].supported_settings, kernel.supported);
        assert_int_equal(adapters[i].current_settings, kernel.settings);
        assert_true(adapters[i].low_energy && !adapters[i].powered && !adapters[i].static_address);
        assert_int_equal(adapters[i].version, 9);
    }
    kernel.indexes[1] = 0; /* the first index */
    memset(adapters, 0xFF, sizeof adapters);
    assert_int_equal(tendon_bluez_list(adapters, 1), 3);
    assert_int_equal(adapters[0].index, 0);
    assert_int_equal(adapters[1].index, 0xFFFF);       /* only the first is stored */
    kernel.fails = TENDON_MANAGEMENT_READ_INFORMATION; /* removed since the list was made */
    kernel.error = TENDON_MANAGEMENT_INVALID_INDEX;
    assert_int_equal(tendon_bluez_list(adapters, 3), 0);
    kernel.count = 0;
    kernel.fails = 0;
    assert_int_equal(tendon_bluez_list(adapters, 3), 0);
    assert_int_equal(tendon_bluez_open(&radio, &loop, NULL), TENDON_RADIO_ERROR_NO_ADAPTER);
    assert_all_closed();
}

static void the_limits_are_read_with_the_commands_of_the_controller(void **state) {
    (void)state;
    for (int extended = 0; extended < 2; extended++) {
        tendon_bluez_limits limits;
        kernel.extended = extended;
        kernel.log[0] = '\0';
        assert_int_equal(tendon_bluez_read_limits(3, &limits), TENDON_OK);
        assert_string_equal(kernel.log, extended ? " h1002 h2003" LIMITS_EXTENDED : " h1002 h2003" LIMITS_LEGACY);
        assert_int_equal(limits.packet_length, 251);
        assert_int_equal(limits.packets, 8);
    }
    tendon_bluez_limits limits;
    kernel.fails = LE_FEATURES;
    kernel.error = 0x01;
    assert_int_equal(tendon_bluez_read_limits(3, &limits), TENDON_HCI_ERROR(0x01));
    assert_all_closed();
}

/* A kernel or a controller that answers less than its documents say: nothing is made up from what was there before. */
static void answers_without_data_are_none(void **state) {
    (void)state;
    tendon_bluez_adapter adapters[3];
    tendon_bluez_limits limits;
    kernel.empty = TENDON_MANAGEMENT_READ_INFORMATION;
    assert_int_equal(tendon_bluez_list(adapters, 3), 0);
    kernel.empty = TENDON_MANAGEMENT_READ_INDEX_LIST;
    assert_int_equal(tendon_bluez_list(adapters, 3), TENDON_ERROR_TRUNCATED);
    kernel.empty = LE_FEATURES; /* then without extended advertising; the limits are read all the same */
    kernel.log[0] = '\0';
    assert_int_equal(tendon_bluez_read_limits(3, &limits), TENDON_OK);
    assert_string_equal(kernel.log, " h1002 h2003" LIMITS_LEGACY);
    assert_int_equal(limits.packets, 8);
    static const uint16_t commands[] = {READ_LOCAL_COMMANDS, LE_FEATURES};
    for (size_t i = 0; i < 2; i++) { /* what the other answer says still counts */
        kernel.extended = true;
        kernel.empty = commands[i];
        kernel.log[0] = '\0';
        assert_int_equal(tendon_bluez_open(&radio, &loop, "hci3"), TENDON_OK);
        assert_int_equal(radio.extended_advertising, i == 0);
        assert_int_equal(radio.extended_scan, i == 1);
        tendon_radio_close(&radio.radio);
    }
    assert_all_closed();
}

/* In simulated time: 10 s and 2 s pass at once. */
static void a_kernel_or_controller_that_is_silent(void **state) {
    (void)state;
    uint8_t reply[4];
    uint64_t before = kernel.now;
    kernel.silent = true;
    assert_int_equal(tendon_bluez_open(&radio, &loop, "hci3"), TENDON_RADIO_ERROR_COMMAND_TIMEOUT);
    assert_int_equal(kernel.now, before + TENDON_BLUEZ_MANAGEMENT_TIMEOUT_MS);
    assert_string_equal(kernel.log, " m03");
    tendon_status fd = tendon_bluez_channel_socket(3, HCI_CHANNEL_RAW);
    assert_true(fd >= 0);
    before = kernel.now;
    assert_int_equal(tendon_bluez_exchange(fd, LE_FEATURES, reply, 4), TENDON_RADIO_ERROR_COMMAND_TIMEOUT);
    assert_int_equal(kernel.now, before + TENDON_BLUEZ_COMMAND_TIMEOUT_MS);
    close(fd);
    assert_all_closed();
}

/* Sixteen are looked at by name; any number is counted. */
static void the_last_of_many_adapters_is_found(void **state) {
    (void)state;
    kernel.count = 17;
    for (uint16_t i = 0; i < 17; i++) {
        kernel.indexes[i] = i;
    }
    assert_int_equal(tendon_bluez_open(&radio, &loop, "hci15"), TENDON_OK);
    assert_int_equal(radio.index, 15);
    tendon_radio_close(&radio.radio);
    kernel.log[0] = '\0';
    assert_int_equal(tendon_bluez_open(&radio, &loop, "hci16"), TENDON_RADIO_ERROR_NO_ADAPTER);
    kernel.log[0] = '\0';
    assert_int_equal(tendon_bluez_list(NULL, 0), 17);
    assert_all_closed();
}

static void each_status_of_the_kernel_has_a_meaning(void **state) {
    (void)state;
    static const struct {
        uint8_t status;
        tendon_status expected;
    } cases[] = {{TENDON_MANAGEMENT_SUCCESS, TENDON_OK},
                 {TENDON_MANAGEMENT_BUSY, TENDON_RADIO_ERROR_ADAPTER_BUSY},
                 {TENDON_MANAGEMENT_INVALID_INDEX, TENDON_RADIO_ERROR_NO_ADAPTER},
                 {TENDON_MANAGEMENT_RFKILLED, TENDON_RADIO_ERROR_RFKILL},
                 {TENDON_MANAGEMENT_PERMISSION_DENIED, TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN},
                 {TENDON_MANAGEMENT_FAILED, TENDON_MANAGEMENT_ERROR(TENDON_MANAGEMENT_FAILED)}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(tendon_bluez_management_status(cases[i].status), cases[i].expected);
    }
    static const struct {
        int number;
        tendon_status expected;
    } errors[] = {{EAFNOSUPPORT, TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT},
                  {EPROTONOSUPPORT, TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT},
                  {ESOCKTNOSUPPORT, TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT},
                  {ENODEV, TENDON_RADIO_ERROR_NO_ADAPTER},
                  {EPIPE, TENDON_RADIO_ERROR_NO_ADAPTER},
                  {EBUSY, TENDON_RADIO_ERROR_ADAPTER_BUSY},
                  {EUSERS, TENDON_RADIO_ERROR_ADAPTER_BUSY},
                  {ENETDOWN, TENDON_RADIO_ERROR_ADAPTER_DOWN},
                  {ERFKILL, TENDON_RADIO_ERROR_RFKILL},
                  {EPERM, TENDON_RADIO_ERROR_NO_CAP_NET_RAW},
                  {EACCES, TENDON_RADIO_ERROR_NO_CAP_NET_RAW},
                  {EIO, TENDON_SYSTEM_ERROR(EIO)}};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        assert_int_equal(tendon_bluez_socket_status(errors[i].number), errors[i].expected);
    }
}

/* Half of a command set is none. */
static void a_controller_with_one_command_of_two_scans_as_before(void **state) {
    (void)state;
    kernel.extended = true;
    for (uint8_t bits = 0x20; bits <= 0x60; bits = (uint8_t)(bits + 0x20)) {
        kernel.extended_scan = bits;
        assert_int_equal(tendon_bluez_open(&radio, &loop, "hci3"), TENDON_OK);
        assert_int_equal(radio.extended_scan, bits == 0x60);
        assert_true(radio.extended_advertising);
        tendon_radio_close(&radio.radio);
        kernel.log[0] = '\0';
    }
}

static void the_probe_counts_the_sockets_of_others(void **state) {
    (void)state;
    for (int others = 0; others <= 2; others++) {
        tendon_bluez_capabilities rights;
        memset(&rights, 0xFF, sizeof rights);
        kernel.others = others;
        tendon_bluez_get_capabilities(&rights);
        assert_int_equal(rights.other_sockets, others);
        assert_true(rights.kernel_support);
        calls.socket = (refused_call){EAFNOSUPPORT, 0};
        tendon_bluez_get_capabilities(&rights);
        assert_false(rights.kernel_support);
        calls.socket = (refused_call){0, 0};
    }
    assert_all_closed();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_the_first_adapter_and_powers_it_on),
        cmocka_unit_test(secure_connections_are_permitted_on_adapters_with_bredr),
        cmocka_unit_test_setup_teardown(an_adapter_that_another_program_powers_on_is_awaited, start, end),
        cmocka_unit_test(an_adapter_that_cannot_be_opened_leaves_nothing_open),
        cmocka_unit_test_setup_teardown(without_cap_net_raw_it_opens_for_connections, start, end),
        cmocka_unit_test_setup_teardown(an_adapter_that_has_just_appeared_is_awaited, start, end),
        cmocka_unit_test_setup_teardown(the_list_is_in_order_of_the_index, start, end),
        cmocka_unit_test_setup_teardown(the_limits_are_read_with_the_commands_of_the_controller, start, end),
        cmocka_unit_test_setup_teardown(answers_without_data_are_none, start, end),
        cmocka_unit_test_setup_teardown(a_kernel_or_controller_that_is_silent, start, end),
        cmocka_unit_test_setup_teardown(the_last_of_many_adapters_is_found, start, end),
        cmocka_unit_test(each_status_of_the_kernel_has_a_meaning),
        cmocka_unit_test_setup_teardown(a_controller_with_one_command_of_two_scans_as_before, start, end),
        cmocka_unit_test_setup_teardown(the_probe_counts_the_sockets_of_others, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
