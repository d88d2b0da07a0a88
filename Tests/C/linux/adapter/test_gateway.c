/* SPDX-License-Identifier: MIT */
/* The radio that tendon_gateway_open() chooses on a machine with adapters, and a search that the radio ends. */
#include "../file_tree.h"
#include "adapter_fixture.h"
#include "tendon/linux/gateway.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tendon_gateway gateway;
static char directory[FILE_TREE_SIZE];

static int start(void **state) {
    (void)state;
    fake_start();
    tree_make(directory);
    return setenv("XDG_RUNTIME_DIR", directory, 1) == 0 && setenv("XDG_STATE_HOME", directory, 1) == 0 ? 0 : -1;
}

static int end(void **state) {
    (void)state;
    tree_remove(directory);
    fake_end();
    return 0;
}

/** On machines with adapters. */
static int start_with_adapters(void **state) {
    int status = start(state);
    static const uint16_t indexes[] = {7, 1, 3};
    for (int i = 0; i < 3; i++) {
        fake_add(indexes[i], false);
        fake_power(indexes[i], true);
    }
    return status;
}

static void the_first_adapter_is_opened(void **state) {
    (void)state;
    assert_int_equal(tendon_gateway_open(&gateway, NULL), TENDON_OK);
    assert_int_equal(gateway.adapter_failure, TENDON_OK);
    assert_ptr_equal(gateway.radio, &gateway.bluez_radio.radio);
    assert_string_equal(gateway.radio->ops->name, "bluez");
    assert_int_equal(gateway.bluez_radio.index, 1);
    assert_int_equal(gateway.bonds_failure, TENDON_OK);
    assert_non_null(tendon_radio_pairing(gateway.radio));
    assert_int_equal(tendon_gateway_close(&gateway), TENDON_OK);
}

static void the_adapter_of_the_environment_is_opened(void **state) {
    (void)state;
    assert_int_equal(setenv(TENDON_GATEWAY_ADAPTER_VARIABLE, "hci3", 1), 0);
    assert_int_equal(tendon_gateway_open(&gateway, NULL), TENDON_OK);
    assert_non_null(gateway.radio);
    assert_int_equal(gateway.bluez_radio.index, 3);
    assert_int_equal(tendon_gateway_close(&gateway), TENDON_OK);
    assert_int_equal(setenv(TENDON_GATEWAY_ADAPTER_VARIABLE, "printer", 1), 0);
    assert_int_equal(tendon_gateway_open(&gateway, NULL), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(unsetenv(TENDON_GATEWAY_ADAPTER_VARIABLE), 0);
}

/* ---- no adapter: it is waited for ---- */

enum { READ_LOCAL_COMMANDS = 0x1002 };
static int arrivals;
static uint64_t arrived_at;

static void on_adapter(void *context, uint64_t now) {
    assert_ptr_equal(context, &gateway);
    assert_ptr_equal(gateway.radio, &gateway.bluez_radio.radio);
    assert_non_null(tendon_radio_pairing(gateway.radio)); /* bonds are in use */
    arrivals++;
    arrived_at = now;
}

/** The gateway is open, and waits for this reason. */
static void open_waiting(tendon_status reason) {
    arrivals = 0;
    assert_int_equal(tendon_gateway_open(&gateway, NULL), TENDON_OK);
    assert_true(gateway.waiting);
    assert_null(gateway.radio);
    assert_int_equal(gateway.adapter_failure, reason);
    gateway.on_adapter = on_adapter;
    gateway.adapter_context = &gateway;
}

static void pass(uint32_t ms) {
    assert_int_equal(tendon_gateway_run(&gateway, ms), TENDON_ERROR_TIMEOUT);
}

/** How often the kernel was asked for its adapters since the last call. */
static unsigned looks(void) {
    unsigned count = 0;
    for (const char *at = fake.log; (at = strstr(at, ":m0003")) != NULL; at++) {
        count++;
    }
    fake_forget_log();
    return count;
}

/** The report that it has come may be lost. */
static void adapter_comes(uint16_t index, bool reported) {
    if (reported) {
        fake_add(index, false);
        return;
    }
    fake_add_unconfigured(0)->unconfigured = false; /* not the event of this one */
    fake_of(0)->index = index;
}

/* 20 s after the start of the machine; the kernel reports it, or the report is lost. */
static void an_adapter_that_comes_late_is_opened(void **state) {
    (void)state;
    for (int reported = 0; reported < 2; reported++) {
        open_waiting(TENDON_RADIO_ERROR_NO_ADAPTER);
        pass(20000);
        uint64_t came = fake.now;
        assert_true(gateway.waiting);
        assert_in_range(looks(), 4, 20);
        adapter_comes(1, reported);
        pass(reported ? 500 : TENDON_GATEWAY_PAUSE_MAX_MS);
        assert_int_equal(arrivals, 1);
        assert_true(arrived_at - came <= (reported ? 200 : TENDON_GATEWAY_PAUSE_MAX_MS));
        assert_false(gateway.waiting);
        assert_int_equal(gateway.adapter_failure, TENDON_OK);
        pass(60000);
        assert_int_equal(arrivals, 1);
        assert_int_equal(tendon_gateway_close(&gateway), TENDON_OK);
        fake_settled();
        fake_remove(1);
    }
}

/* It is there, and does not open: other reasons than none. It is never replaced by anything. */
static void a_broken_adapter_is_tried_again(void **state) {
    (void)state;
    for (int off = 0; off < 2; off++) {
        fake_adapter *a = fake_add(1, false);
        a->stays_off = off;
        fake.answer = (fake_answer){.opcode = off ? 0 : READ_LOCAL_COMMANDS, .status = 0x1F};
        open_waiting(off ? TENDON_RADIO_ERROR_ADAPTER_DOWN : TENDON_HCI_ERROR(0x1F));
        for (int minute = 0; minute < 60; minute++) {
            pass(60000);
            assert_true(gateway.waiting);
            assert_true(looks() <= (minute == 0 ? 14 : 4));
        }
        fake.answer.opcode = 0;
        a->stays_off = false;
        assert_int_equal(tendon_gateway_await_adapter(&gateway, 2 * TENDON_GATEWAY_PAUSE_MAX_MS), TENDON_OK);
        assert_int_equal(arrivals, 1);
        assert_int_equal(tendon_gateway_close(&gateway), TENDON_OK);
        fake_settled();
        fake_remove(1);
    }
}

static bool nothing(const uint8_t *data, size_t length);

static void stop_loop(void *context, uint64_t now) {
    (void)now;
    ((tendon_source *)context)->deadline = UINT64_MAX;
    assert_int_equal(tendon_gateway_await_adapter(&gateway, 10), TENDON_ERROR_WRONG_STATE);
    tendon_loop_stop(&gateway.loop);
}

static void a_gateway_that_waits_is_closed(void **state) {
    (void)state;
    open_waiting(TENDON_RADIO_ERROR_NO_ADAPTER);
    assert_int_equal(tendon_gateway_await_adapter(&gateway, 3000), TENDON_RADIO_ERROR_NO_ADAPTER);
    assert_int_equal(tendon_gateway_find(&gateway, nothing, 3000), TENDON_RADIO_ERROR_NO_ADAPTER);
    tendon_source timer;
    tendon_source_init(&timer, -1, &timer, NULL, stop_loop);
    timer.deadline = fake.now + 100;
    assert_int_equal(tendon_loop_add(&gateway.loop, &timer), TENDON_OK);
    assert_int_equal(tendon_gateway_await_adapter(&gateway, 0), TENDON_ERROR_CANCELLED);
    tendon_loop_remove(&gateway.loop, &timer);
    assert_int_equal(tendon_gateway_close(&gateway), TENDON_OK);
    assert_int_equal(tendon_gateway_close(&gateway), TENDON_OK);
    assert_int_equal(arrivals, 0);
}

/* Waiting would not help. */
static void without_the_capability_it_does_not_open(void **state) {
    (void)state;
    bluez_privileges.effective = 1u << CAP_NET_ADMIN;
    assert_int_equal(tendon_gateway_open(&gateway, NULL), TENDON_RADIO_ERROR_NO_CAP_NET_RAW);
    assert_null(gateway.radio);
    assert_false(gateway.waiting);
    assert_int_equal(tendon_gateway_close(&gateway), TENDON_OK);
}

static void the_environment_names_the_radio(void **state) {
    (void)state;
    static const struct {
        const char *value, *radio;
    } cases[] = {{"virtual", "virtual"}, {"bluez", "bluez"}, {"", "bluez"}, {"wifi", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(setenv("TENDON_RADIO", cases[i].value, 1), 0);
        tendon_status status = tendon_gateway_open(&gateway, NULL);
        assert_int_equal(status, cases[i].radio != NULL ? TENDON_OK : TENDON_RADIO_ERROR_UNKNOWN_RADIO);
        if (status >= 0) {
            assert_string_equal(gateway.radio->ops->name, cases[i].radio);
            assert_int_equal(gateway.adapter_failure, TENDON_OK);
            assert_false(gateway.waiting);
        }
        assert_int_equal(tendon_gateway_await_adapter(&gateway, 1) == TENDON_OK, status >= 0);
        assert_int_equal(tendon_gateway_close(&gateway), TENDON_OK);
    }
    assert_int_equal(unsetenv("TENDON_RADIO"), 0);
}

static void a_directory_is_the_virtual_radios_and_no_adapter_is_looked_at(void **state) {
    (void)state;
    assert_int_equal(tendon_gateway_open(&gateway, directory), TENDON_OK);
    assert_string_equal(gateway.radio->ops->name, "virtual");
    assert_int_equal(gateway.adapter_failure, TENDON_OK);
    assert_string_equal(fake_opcodes(), "");
    assert_int_equal(tendon_gateway_close(&gateway), TENDON_OK);
}

/* A radio of the caller, while the gateway waits: it stays, and is closed with the gateway. */
static void another_radio_takes_the_place_of_the_adapter(void **state) {
    (void)state;
    static tendon_virtual_radio other;
    const tendon_address address = {.bytes = {0xC0, 0, 0, 0, 0, 9}, .type = TENDON_ADDRESS_TYPE_RANDOM};
    for (int ms = 0; ms <= 60000; ms += 60000) {
        open_waiting(TENDON_RADIO_ERROR_NO_ADAPTER);
        assert_int_equal(tendon_virtual_radio_open(&other, &gateway.loop, directory, &address), TENDON_OK);
        gateway.radio = &other.radio;
        if (ms > 0) {
            pass((uint32_t)ms);
        }
        assert_ptr_equal(gateway.radio, &other.radio);
        assert_int_equal(gateway.waiting, ms == 0);
        assert_int_equal(tendon_gateway_close(&gateway), TENDON_OK);
        assert_null(gateway.radio);
        assert_int_equal(tendon_gateway_close(&gateway), TENDON_OK);
    }
    assert_int_equal(arrivals, 0);
}

/* Connections that need no pairing are possible. */
static void bonds_that_cannot_be_read_leave_the_radio_open(void **state) {
    (void)state;
    char path[96];
    snprintf(path, sizeof path, "%s/tendon", directory);
    FILE *file = fopen(path, "w"); /* where the folder of the bonds should be */
    assert_non_null(file);
    fclose(file);
    assert_int_equal(tendon_gateway_open(&gateway, NULL), TENDON_OK);
    assert_int_equal(gateway.bonds_failure, TENDON_SYSTEM_ERROR(ENOTDIR));
    assert_null(tendon_radio_pairing(gateway.radio));
    assert_int_equal(tendon_gateway_close(&gateway), TENDON_OK);
}

/* ---- searches that the radio ends ---- */

static bool nothing(const uint8_t *data, size_t length) {
    (void)data;
    (void)length;
    return false;
}

enum { SCAN_ENABLE = 0x200C, ADVERTISING_ENABLE = 0x200A, LIMIT_MS = 100 };
static int owner_failures;
static tendon_status owner_failure;

static void note_failure(void *context, tendon_status status, uint64_t now) {
    (void)now;
    assert_ptr_equal(context, &gateway);
    owner_failures++;
    owner_failure = status;
}

static void a_scan_that_is_rejected_ends_the_search_with_the_reason(void **state) {
    (void)state;
    assert_int_equal(tendon_gateway_open(&gateway, NULL), TENDON_OK);
    gateway.radio->on_failure = note_failure;
    gateway.radio->report_context = &gateway;
    fake.answer = (fake_answer){.opcode = SCAN_ENABLE, .status = 0x11};
    owner_failures = 0;
    assert_int_equal(tendon_gateway_find(&gateway, nothing, LIMIT_MS), TENDON_HCI_ERROR(0x11));
    assert_int_equal(owner_failures, 0);
    assert_true(gateway.radio->on_failure == note_failure);
    assert_ptr_equal(gateway.radio->report_context, &gateway);
    assert_int_equal(tendon_gateway_close(&gateway), TENDON_OK);
}

static void advertising_that_is_rejected_is_the_owners_and_the_search_continues(void **state) {
    (void)state;
    assert_int_equal(tendon_gateway_open(&gateway, NULL), TENDON_OK);
    gateway.radio->on_failure = note_failure;
    gateway.radio->report_context = &gateway;
    fake.answer = (fake_answer){.opcode = ADVERTISING_ENABLE, .status = 0x11};
    owner_failures = 0;
    assert_int_equal(tendon_radio_advertise_start(gateway.radio, &(tendon_advertise_parameters){.interval_ms = 20}),
                     TENDON_OK);
    assert_int_equal(tendon_gateway_find(&gateway, nothing, LIMIT_MS), TENDON_ERROR_TIMEOUT);
    assert_int_equal(owner_failures, 1);
    assert_int_equal(owner_failure, TENDON_HCI_ERROR(0x11));
    assert_int_equal(tendon_gateway_close(&gateway), TENDON_OK);
}

static bool anything(const uint8_t *data, size_t length) {
    (void)data;
    (void)length;
    return true;
}

static unsigned sources(const tendon_loop *loop) {
    unsigned count = 0;
    for (const tendon_source *source = loop->sources; source != NULL; source = source->next) {
        count++;
    }
    return count;
}

/* A connection is in the loop with its link and its timer; a second search must not take them away. */
static void a_second_search_leaves_the_connection_of_the_first_alone(void **state) {
    (void)state;
    (void)fake_advertiser(1, 10);
    assert_int_equal(tendon_gateway_open(&gateway, NULL), TENDON_OK);
    unsigned before = sources(&gateway.loop);
    assert_int_equal(tendon_gateway_find(&gateway, anything, LIMIT_MS), TENDON_OK);
    /* The deadline of a session can outlast its link. */
    assert_int_equal(tendon_loop_add(&gateway.loop, &gateway.connection.timer), TENDON_OK);
    gateway.connection.timer.deadline = UINT64_MAX;
    assert_int_equal(tendon_gateway_find(&gateway, anything, LIMIT_MS), TENDON_OK);
    assert_int_equal(sources(&gateway.loop), before);
    assert_int_equal(tendon_connection_connect(&gateway.connection), TENDON_OK);
    unsigned connecting = sources(&gateway.loop);
    assert_int_equal(tendon_gateway_find(&gateway, anything, LIMIT_MS), TENDON_ERROR_WRONG_STATE);
    assert_int_equal(sources(&gateway.loop), connecting);
    assert_int_equal(tendon_gateway_close(&gateway), TENDON_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_first_adapter_is_opened, start_with_adapters, end),
        cmocka_unit_test_setup_teardown(the_adapter_of_the_environment_is_opened, start_with_adapters, end),
        cmocka_unit_test_setup_teardown(an_adapter_that_comes_late_is_opened, start, end),
        cmocka_unit_test_setup_teardown(a_broken_adapter_is_tried_again, start, end),
        cmocka_unit_test_setup_teardown(a_gateway_that_waits_is_closed, start, end),
        cmocka_unit_test_setup_teardown(without_the_capability_it_does_not_open, start_with_adapters, end),
        cmocka_unit_test_setup_teardown(the_environment_names_the_radio, start_with_adapters, end),
        cmocka_unit_test_setup_teardown(a_directory_is_the_virtual_radios_and_no_adapter_is_looked_at,
                                        start_with_adapters, end),
        cmocka_unit_test_setup_teardown(another_radio_takes_the_place_of_the_adapter, start, end),
        cmocka_unit_test_setup_teardown(bonds_that_cannot_be_read_leave_the_radio_open, start_with_adapters, end),
        cmocka_unit_test_setup_teardown(a_scan_that_is_rejected_ends_the_search_with_the_reason, start_with_adapters,
                                        end),
        cmocka_unit_test_setup_teardown(advertising_that_is_rejected_is_the_owners_and_the_search_continues,
                                        start_with_adapters, end),
        cmocka_unit_test_setup_teardown(a_second_search_leaves_the_connection_of_the_first_alone, start_with_adapters,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
