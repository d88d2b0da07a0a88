/* SPDX-License-Identifier: MIT */
/* Opening an adapter, the list of adapters, and what is known about one. */
#include "../../../../CSources/linux/adapter/adapter_parts.h"
#include "adapter_fixture.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

/* ---- opening ---- */

static tendon_bluez_radio *const radio = &own.radio;

/** hci7, hci1, hci3 in the order in which they were added, with these settings. */
static void add_adapters(bool extended, uint32_t settings) {
    static const uint16_t indexes[] = {7, 1, 3};
    for (int i = 0; i < 3; i++) {
        fake_adapter *a = fake_add(indexes[i], extended);
        a->settings = settings;
        a->powered = (settings & TENDON_MANAGEMENT_POWERED) != 0;
    }
    fake_forget_log();
}

static void remove_adapters(void) {
    tendon_radio_close(&radio->radio);
    fake_settled();
    for (int i = 0; i < FAKE_ADAPTERS; i++) {
        if (fake.adapters[i].present) {
            fake_remove(fake.adapters[i].index);
        }
    }
    fake.answer = (fake_answer){0};
}

enum { ON = TENDON_MANAGEMENT_POWERED, LE = TENDON_MANAGEMENT_LOW_ENERGY };
enum { READ_LOCAL_COMMANDS = 0x1002, LE_FEATURES = 0x2003 };
#define LOOKED " m0003 m0004 m0004 m0004"
#define LIMITS_LEGACY " h1002 h2003 h2002 h200f h201c"
#define LIMITS_EXTENDED LIMITS_LEGACY " h202a h203a h203b"

static void opens_the_first_adapter_and_powers_it_on(void **state) {
    static const struct {
        uint32_t settings;
        bool extended;
        int others;
        const char *log;
    } cases[] = {
        {ON | LE, false, 1, LOOKED LIMITS_LEGACY},
        {ON | LE, true, 1, LOOKED LIMITS_EXTENDED},
        {ON, false, 1, LOOKED " m000d" LIMITS_LEGACY},
        {LE, false, 1, LOOKED " m0005" LIMITS_LEGACY},
        {0, false, 1, LOOKED " m000d m0005" LIMITS_LEGACY},
        {ON | LE, false, 0, LOOKED LIMITS_LEGACY " m0024"}, /* a killed program may have left a discovery on */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        add_adapters(cases[i].extended, cases[i].settings);
        fake_power(7, false);
        fake_power(3, false);
        fake.programs = cases[i].others;
        fake.buffer = 0;
        adapter_open(NULL);
        fake_pass(&own.loop, 0);
        assert_null(strstr(fake.log, "=2")); /* each setting is on (0x01); the kernel rejects other values */
        assert_string_equal(fake_opcodes(), cases[i].log);
        assert_int_equal(radio->index, 1);
        static const tendon_address address = {{0, 0xAA, 1, 0, 0, 1}, TENDON_ADDRESS_TYPE_PUBLIC};
        assert_true(tendon_address_equal(&radio->radio.address, &address));
        assert_int_equal(radio->extended_scan, cases[i].extended);
        assert_int_equal(radio->extended_advertising, cases[i].extended);
        assert_int_equal(radio->limits.features, cases[i].extended ? 0x1900 : 0);
        assert_int_equal(radio->limits.packet_length, 251);
        assert_int_equal(radio->limits.packets, 8);
        assert_int_equal(fake_of(1)->settings, ON | LE);
        assert_int_equal(fake.buffer, tendon_bluez_buffer_size(tendon_bluez_memory(), TENDON_BLUEZ_HCI_SHARE) / 2);
        remove_adapters();
    }
}

/* With BR/EDR: Secure Simple Pairing (m000b), which the kernel requires before Secure Connections (m002d). What is on
 * stays as it is; an old controller rejects either, and is open all the same. */
static void secure_connections_are_permitted_on_adapters_with_bredr(void **state) {
    enum { SIMPLE = TENDON_MANAGEMENT_SECURE_SIMPLE_PAIRING, SECURE = TENDON_MANAGEMENT_SECURE_CONNECTIONS };
    static const struct {
        uint32_t settings;
        uint16_t fails;
        const char *commands;
        uint32_t expected;
    } cases[] = {
        {TENDON_MANAGEMENT_BREDR, 0, " m0005 m000b m002d", TENDON_MANAGEMENT_BREDR | SIMPLE | SECURE},
        {TENDON_MANAGEMENT_BREDR | SIMPLE, 0, " m0005 m002d", TENDON_MANAGEMENT_BREDR | SIMPLE | SECURE},
        {TENDON_MANAGEMENT_BREDR | SIMPLE | SECURE, 0, " m0005", TENDON_MANAGEMENT_BREDR | SIMPLE | SECURE},
        {TENDON_MANAGEMENT_BREDR, TENDON_MANAGEMENT_SET_SECURE_SIMPLE_PAIRING, " m0005 m000b m002d",
         TENDON_MANAGEMENT_BREDR | SECURE},
        {TENDON_MANAGEMENT_BREDR, TENDON_MANAGEMENT_SET_SECURE_CONNECTIONS, " m0005 m000b m002d",
         TENDON_MANAGEMENT_BREDR | SIMPLE},
        {0, 0, " m0005", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char log[128];
        add_adapters(false, LE | cases[i].settings);
        fake.answer = (fake_answer){.opcode = cases[i].fails, .status = TENDON_MANAGEMENT_NOT_SUPPORTED};
        adapter_open(NULL);
        snprintf(log, sizeof log, LOOKED "%s h1002", cases[i].commands);
        assert_null(strstr(fake.log, "=2")); /* Secure Connections Only */
        assert_memory_equal(fake_opcodes(), log, strlen(log));
        assert_int_equal(fake_of(1)->settings, ON | LE | cases[i].expected);
        assert_int_equal(radio->settings, fake_of(1)->settings);
        remove_adapters();
    }
}

/* Two programs start at the same time: the kernel rejects what it is doing for the other one (Busy). */
static void an_adapter_that_another_program_powers_on_is_awaited(void **state) {
    (void)state;
    add_adapters(false, LE);
    fake.answer = (fake_answer){.opcode = TENDON_MANAGEMENT_SET_POWERED, .status = TENDON_MANAGEMENT_BUSY, .times = 3};
    adapter_open("hci3");
    assert_non_null(strstr(fake_opcodes(), " m0005 m0005 m0005 m0005 h1002"));
    assert_in_range(fake.slept, 60, 100);
}

/* For 5 s: as long as a controller takes to power on. */
static void an_adapter_that_stays_busy_is_given_up(void **state) {
    (void)state;
    add_adapters(false, LE);
    fake.answer = (fake_answer){.opcode = TENDON_MANAGEMENT_SET_POWERED, .status = TENDON_MANAGEMENT_BUSY};
    assert_int_equal(tendon_bluez_open(radio, &own.loop, "hci3"), TENDON_RADIO_ERROR_ADAPTER_BUSY);
    assert_int_equal(fake.slept, 5000);
}

static void an_adapter_that_cannot_be_opened_leaves_nothing_open(void **state) {
    enum { LIST = TENDON_MANAGEMENT_READ_INDEX_LIST, SET_LE = TENDON_MANAGEMENT_SET_LOW_ENERGY };
    enum { POWER = TENDON_MANAGEMENT_SET_POWERED };
    static const struct {
        const char *name;
        uint16_t fails;
        uint8_t error;
        tendon_status expected;
    } cases[] = {
        {"hci9", 0, 0, TENDON_RADIO_ERROR_NO_ADAPTER},
        {"hci3", LIST, TENDON_MANAGEMENT_BUSY, TENDON_RADIO_ERROR_ADAPTER_BUSY},
        {"hci3", SET_LE, TENDON_MANAGEMENT_REJECTED, TENDON_RADIO_ERROR_ADAPTER_DOWN},
        {"hci3", SET_LE, TENDON_MANAGEMENT_PERMISSION_DENIED, TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN},
        {"hci3", POWER, TENDON_MANAGEMENT_FAILED, TENDON_RADIO_ERROR_ADAPTER_DOWN},
        {"hci3", POWER, TENDON_MANAGEMENT_INVALID_INDEX, TENDON_RADIO_ERROR_NO_ADAPTER},
        {"hci3", POWER, TENDON_MANAGEMENT_BUSY, TENDON_RADIO_ERROR_ADAPTER_BUSY},
        {"hci3", POWER, TENDON_MANAGEMENT_RFKILLED, TENDON_RADIO_ERROR_RFKILL},
        {"hci3", POWER, TENDON_MANAGEMENT_PERMISSION_DENIED, TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN},
        {"hci3", READ_LOCAL_COMMANDS, 0x01, TENDON_HCI_ERROR(0x01)},
        {"hci3", LE_FEATURES, 0x1F, TENDON_HCI_ERROR(0x1F)},
    };
    (void)state;
    add_adapters(false, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fake_of(3)->settings = 0;
        fake_of(3)->powered = false;
        fake.answer = (fake_answer){.opcode = cases[i].fails, .status = cases[i].error};
        assert_int_equal(tendon_bluez_open(radio, &own.loop, cases[i].name), cases[i].expected);
        fake_settled();
    }
    remove_adapters();
    for (int i = 0; i < 6; i++) {
        static const tendon_status expected[] = {TENDON_RADIO_ERROR_ADAPTER_DOWN,   TENDON_ERROR_UNSUPPORTED,
                                                 TENDON_SYSTEM_ERROR(EMFILE),       TENDON_SYSTEM_ERROR(ENOSPC),
                                                 TENDON_RADIO_ERROR_NO_CAP_NET_RAW, TENDON_RADIO_ERROR_NO_CAP_NET_RAW};
        add_adapters(false, i == 0 ? 0 : ON | LE);
        fake_adapter *a = fake_of(3);
        a->stays_off = i == 0;
        a->supported = i == 1 || i == 5 ? ON : a->supported;
        fake.refuse[FAKE_SOCKET] = (fake_refusal){.number = i == 2 ? EMFILE : 0, .after = 1};
        fake.refuse[FAKE_EPOLL] = (fake_refusal){.number = i == 3 ? ENOSPC : 0, .after = 1};
        bluez_privileges.effective = i >= 4 ? 1u << CAP_NET_ADMIN : ~0u; /* of two reasons the first is reported */
        assert_int_equal(tendon_bluez_open(radio, &own.loop, "hci3"), expected[i]);
        fake_settled();
        remove_adapters();
    }
}

/* Connections alone: the controller gets no command, and bits of the filter may be missing. */
static void without_cap_net_raw_it_opens_for_connections(void **state) {
    (void)state;
    add_adapters(false, ON | LE);
    bluez_privileges.effective = 0;
    assert_int_equal(tendon_bluez_open_as(radio, &own.loop, "hci3", TENDON_BLUEZ_CONNECTIONS_ONLY), TENDON_OK);
    fake_pass(&own.loop, 10);
    assert_string_equal(fake_opcodes(), LOOKED);
    assert_int_equal(tendon_radio_scan_start(&radio->radio, &(tendon_scan_parameters){.active = true}),
                     TENDON_RADIO_ERROR_NO_CAP_NET_RAW);
    tendon_radio_close(&radio->radio);
    fake.refuse[FAKE_SET_FILTER] = (fake_refusal){.number = EINVAL};
    assert_int_equal(tendon_bluez_open_as(radio, &own.loop, "hci3", TENDON_BLUEZ_CONNECTIONS_ONLY),
                     TENDON_SYSTEM_ERROR(EINVAL));
}

static void an_adapter_that_has_just_appeared_is_awaited(void **state) {
    (void)state;
    static const char *const names[] = {"hci7", "hci0"};
    for (size_t i = 0; i < 2; i++) {
        const uint16_t index = i == 0 ? 7 : 0;
        fake_add(index, false)->listed = fake.now + 100;
        fake.slept = 0;
        adapter_open(names[i]);
        assert_int_equal(radio->index, index);
        assert_in_range(fake.slept, 100, 150);
        tendon_radio_close(&radio->radio);
        fake_of(index)->listed = UINT64_MAX; /* a program has it for itself */
        fake.slept = 0;
        assert_int_equal(tendon_bluez_open(radio, &own.loop, names[i]), TENDON_RADIO_ERROR_ADAPTER_BUSY);
        assert_int_equal(fake.slept, 2000);
    }
}

/* ---- lists and capabilities ---- */

static void the_list_is_in_order_of_the_index(void **state) {
    (void)state;
    tendon_bluez_adapter adapters[3];
    add_adapters(false, LE);
    assert_int_equal(tendon_bluez_list(adapters, 3), 3);
    static const char *const names[] = {"hci1", "hci3", "hci7"};
    for (int i = 0; i < 3; i++) {
        assert_string_equal(adapters[i].name, names[i]);
        assert_int_equal(adapters[i].index, names[i][3] - '0');
        assert_int_equal(adapters[i].supported_settings, ON | LE);
        assert_int_equal(adapters[i].current_settings, LE);
        assert_true(adapters[i].low_energy && !adapters[i].powered && !adapters[i].static_address);
        assert_int_equal(adapters[i].version, 9);
    }
    fake_of(1)->index = 0; /* the first index */
    memset(adapters, 0xFF, sizeof adapters);
    assert_int_equal(tendon_bluez_list(adapters, 1), 3);
    assert_int_equal(adapters[0].index, 0);
    assert_int_equal(adapters[1].index, 0xFFFF); /* only the first is stored */
    fake.answer = (fake_answer){.opcode = TENDON_MANAGEMENT_READ_INFORMATION,
                                .status = TENDON_MANAGEMENT_INVALID_INDEX}; /* removed since the list was made */
    assert_int_equal(tendon_bluez_list(adapters, 3), 0);
    remove_adapters();
    assert_int_equal(tendon_bluez_list(adapters, 3), 0);
    fake_add_unconfigured(2);
    memset(adapters, 0xFF, sizeof adapters);
    assert_int_equal(tendon_bluez_list(adapters, 0), 1);
    assert_int_equal(adapters[0].index, 0xFFFF); /* nothing is stored */
    fake_of(2)->present = false;
    tendon_bluez_name any;
    assert_int_equal(tendon_bluez_parse_name(NULL, &any), TENDON_OK);
    assert_int_equal(tendon_bluez_index_of(&any), TENDON_RADIO_ERROR_NO_ADAPTER);
    assert_int_equal(tendon_bluez_parse_name("00:AA:01:00:00:03/random", &any), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_bluez_open(radio, &own.loop, NULL), TENDON_RADIO_ERROR_NO_ADAPTER);
}

static void the_limits_are_read_with_the_commands_of_the_controller(void **state) {
    (void)state;
    for (int extended = 0; extended < 2; extended++) {
        tendon_bluez_limits limits;
        add_adapters(extended, ON | LE);
        assert_int_equal(tendon_bluez_read_limits(3, &limits), TENDON_OK);
        assert_string_equal(fake_opcodes(), extended ? LIMITS_EXTENDED : LIMITS_LEGACY);
        assert_int_equal(limits.packet_length, 251);
        assert_int_equal(limits.packets, 8);
        fake.answer = (fake_answer){.opcode = LE_FEATURES, .status = 0x01};
        assert_int_equal(tendon_bluez_read_limits(3, &limits), TENDON_HCI_ERROR(0x01));
        remove_adapters();
    }
}

/* A kernel or a controller that answers less than its documents say: nothing is made up from what was there before. */
static void answers_without_data_are_none(void **state) {
    (void)state;
    tendon_bluez_adapter adapters[3];
    tendon_bluez_limits limits;
    add_adapters(true, ON | LE);
    fake.answer.opcode = TENDON_MANAGEMENT_READ_INFORMATION;
    assert_int_equal(tendon_bluez_list(adapters, 3), 0);
    fake.answer.opcode = TENDON_MANAGEMENT_READ_INDEX_LIST;
    assert_int_equal(tendon_bluez_list(adapters, 3), TENDON_ERROR_TRUNCATED);
    fake_power(3, false);
    fake.answer.opcode = TENDON_MANAGEMENT_SET_POWERED;
    assert_int_equal(tendon_bluez_open(radio, &own.loop, "hci3"), TENDON_ERROR_TRUNCATED);
    fake_power(3, true);
    fake_forget_log();
    /* Command Complete: one more command may be sent; opcode; no status. */
    static const uint8_t no_status[] = {1, READ_LOCAL_COMMANDS & 0xFF, READ_LOCAL_COMMANDS >> 8};
    fake.answer = (fake_answer){.opcode = READ_LOCAL_COMMANDS, .none = true};
    fake_event(3, TENDON_HCI_COMMAND_COMPLETE, no_status, sizeof no_status, 0);
    assert_int_equal(tendon_bluez_read_limits(3, &limits), TENDON_ERROR_TRUNCATED);
    fake_forget_log();
    fake.answer = (fake_answer){.opcode = READ_LOCAL_COMMANDS}; /* a status alone: only what is mandatory is asked */
    assert_int_equal(tendon_bluez_read_limits(3, &limits), TENDON_OK);
    assert_int_equal(limits.features, 0x1900);
    fake_forget_log();
    fake.answer =
        (fake_answer){.opcode = LE_FEATURES}; /* then without extended advertising; the limits are read all the same */
    assert_int_equal(tendon_bluez_read_limits(3, &limits), TENDON_OK);
    assert_string_equal(fake_opcodes(), LIMITS_LEGACY " h202a");
    assert_int_equal(limits.packets, 8);
    static const uint16_t commands[] = {READ_LOCAL_COMMANDS, LE_FEATURES};
    for (size_t i = 0; i < 2; i++) { /* what the other answer says still counts */
        fake.answer.opcode = commands[i];
        adapter_open("hci3");
        assert_int_equal(radio->extended_advertising, i == 0);
        assert_int_equal(radio->extended_scan, i == 1);
        tendon_radio_close(&radio->radio);
    }
}

/* In simulated time: 10 s pass at once. */
static void a_kernel_that_is_silent(void **state) {
    (void)state;
    add_adapters(false, ON | LE);
    fake.answer = (fake_answer){.opcode = TENDON_MANAGEMENT_READ_INDEX_LIST, .none = true};
    assert_int_equal(tendon_bluez_open(radio, &own.loop, "hci3"), TENDON_RADIO_ERROR_COMMAND_TIMEOUT);
    assert_int_equal(fake.slept, TENDON_BLUEZ_MANAGEMENT_TIMEOUT_MS);
    assert_string_equal(fake_opcodes(), " m0003");
}

/* Sixteen are looked at by name; any number is counted. */
static void the_last_of_many_adapters_is_found(void **state) {
    (void)state;
    for (uint16_t i = 0; i < 17; i++) {
        fake_add(i, false);
    }
    adapter_open("hci15");
    assert_int_equal(radio->index, 15);
    char address[TENDON_ADDRESS_STRING_SIZE];
    tendon_bluez_name name;
    tendon_address_format(&radio->radio.address, address);
    assert_int_equal(tendon_bluez_parse_name(address, &name), TENDON_OK);
    assert_int_equal(tendon_bluez_index_of(&name), 15);
    tendon_radio_close(&radio->radio);
    fake.slept = 0;
    assert_int_equal(tendon_bluez_open(radio, &own.loop, "hci16"), TENDON_RADIO_ERROR_NO_ADAPTER);
    assert_int_equal(fake.slept, 0);
    assert_int_equal(tendon_bluez_list(NULL, 0), 17);
}

/* All that the list has were looked at, and this one is not among them: another program has it for itself. */
static void one_that_sixteen_others_do_not_hide_is_awaited(void **state) {
    (void)state;
    for (uint16_t i = 0; i <= 16; i++) {
        fake_add(i, false);
    }
    fake_of(16)->listed = UINT64_MAX;
    assert_int_equal(tendon_bluez_open(radio, &own.loop, "hci16"), TENDON_RADIO_ERROR_ADAPTER_BUSY);
    assert_int_equal(fake.slept, 2000);
}

/* Half of a command set is none. */
static void a_controller_with_one_command_of_two_scans_as_before(void **state) {
    (void)state;
    fake_adapter *a = fake_add(3, true);
    for (uint8_t bits = 0x20; bits <= 0x60; bits = (uint8_t)(bits + 0x20)) {
        a->extended_scan = bits;
        adapter_open("hci3");
        assert_int_equal(radio->extended_scan, bits == 0x60);
        assert_true(radio->extended_advertising);
        tendon_radio_close(&radio->radio);
    }
}

/* Whether it was removed is not known then: it is off in any case. */
static void the_first_index_is_a_name_as_any_other(void **state) {
    (void)state;
    tendon_bluez_name name;
    fake_add(1, false);
    assert_int_equal(tendon_bluez_open(radio, &own.loop, "hci0"), TENDON_RADIO_ERROR_NO_ADAPTER);
    assert_int_equal(tendon_bluez_parse_name("hci0", &name), TENDON_OK);
    assert_int_equal(tendon_bluez_index_of(&name), 0);
}

static void an_adapter_that_cannot_be_looked_at_is_off(void **state) {
    (void)state;
    fake_add(7, false);
    assert_int_equal(tendon_bluez_why_off(7), TENDON_RADIO_ERROR_ADAPTER_DOWN);
    fake.refuse[FAKE_SOCKET] = (fake_refusal){.number = EMFILE, .times = 1};
    assert_int_equal(tendon_bluez_why_off(7), TENDON_RADIO_ERROR_ADAPTER_DOWN);
    assert_int_equal(fake.refuse[FAKE_SOCKET].number, 0);
    fake_remove(7);
    assert_int_equal(tendon_bluez_why_off(7), TENDON_RADIO_ERROR_NO_ADAPTER);
}

static void the_probe_counts_the_sockets_of_others(void **state) {
    (void)state;
    for (fake.programs = 0; fake.programs <= 2; fake.programs++) {
        tendon_bluez_capabilities rights;
        memset(&rights, 0xFF, sizeof rights);
        tendon_bluez_get_capabilities(&rights);
        assert_int_equal(rights.other_sockets, fake.programs);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ADAPTER_TEST(opens_the_first_adapter_and_powers_it_on),
        ADAPTER_TEST(secure_connections_are_permitted_on_adapters_with_bredr),
        ADAPTER_TEST(an_adapter_that_another_program_powers_on_is_awaited),
        ADAPTER_TEST(an_adapter_that_stays_busy_is_given_up),
        ADAPTER_TEST(an_adapter_that_cannot_be_opened_leaves_nothing_open),
        ADAPTER_TEST(without_cap_net_raw_it_opens_for_connections),
        ADAPTER_TEST(an_adapter_that_has_just_appeared_is_awaited),
        ADAPTER_TEST(the_list_is_in_order_of_the_index),
        ADAPTER_TEST(the_limits_are_read_with_the_commands_of_the_controller),
        ADAPTER_TEST(answers_without_data_are_none),
        ADAPTER_TEST(a_kernel_that_is_silent),
        ADAPTER_TEST(the_last_of_many_adapters_is_found),
        ADAPTER_TEST(one_that_sixteen_others_do_not_hide_is_awaited),
        ADAPTER_TEST(a_controller_with_one_command_of_two_scans_as_before),
        ADAPTER_TEST(the_first_index_is_a_name_as_any_other),
        ADAPTER_TEST(an_adapter_that_cannot_be_looked_at_is_off),
        ADAPTER_TEST(the_probe_counts_the_sockets_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
