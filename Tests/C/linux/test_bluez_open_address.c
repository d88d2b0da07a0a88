/* SPDX-License-Identifier: MIT */
/* An adapter without an address of its own, and one that is left as it was found: powered on. */
#include "bluez_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

static void assert_closed(void) {
    assert_int_equal(radio.hci.fd, -1);
    assert_int_equal(radio.management.fd, -1);
}

#define LIMITS_LEGACY " h2002 h200f h201c h202a"

static void an_adapter_without_an_address_gets_a_static_one(void **state) {
    char directory[] = "/tmp/tendon-open-XXXXXX", command[64];
    static const struct {
        bool powered;
        int connect_error; /* of the probe: EINVAL if the kernel uses our address */
        int others;
        tendon_status expected;
        const char *log;
    } cases[] = {
        {false, 0, 1, TENDON_OK, " m03 m04 m04 m04 m2b m05 h1002 h2003" LIMITS_LEGACY},
        {true, EINVAL, 1, TENDON_OK, " m03 m04 m04 m04 h1002 h2003" LIMITS_LEGACY},
        {true, EHOSTUNREACH, 0, TENDON_OK, " m03 m04 m04 m04 m05 m2b m05 h1002 h2003" LIMITS_LEGACY " m24"},
        {true, EHOSTUNREACH, 1, TENDON_RADIO_ERROR_ADAPTER_BUSY, " m03 m04 m04 m04"},
    };
    assert_non_null(mkdtemp(directory));
    assert_int_equal(setenv("XDG_STATE_HOME", directory, 1), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        (void)start(state);
        memset(kernel.address, 0, 6);
        kernel.settings &= cases[i].powered ? UINT32_MAX : ~(uint32_t)TENDON_MANAGEMENT_POWERED;
        kernel.others = cases[i].others;
        calls.connect = (refused_call){cases[i].connect_error, 0};
        assert_int_equal(tendon_bluez_open(&radio, &loop, "hci3"), cases[i].expected);
        assert_string_equal(kernel.log, cases[i].log);
        if (cases[i].expected == TENDON_OK) {
            assert_int_equal(radio.radio.address.type, TENDON_ADDRESS_TYPE_RANDOM);
            assert_int_equal(radio.radio.address.bytes[0] & 0xC0, 0xC0);
            uint8_t wire[6] = {0};
            if (strstr(cases[i].log, " m2b") != NULL) { /* the kernel is given the same one */
                tendon_address_to_wire(&radio.radio.address, wire);
            }
            assert_memory_equal(kernel.static_address, wire, 6);
            if (cases[i].powered) { /* it was asked whether it uses this one */
                tendon_address_to_wire(&radio.radio.address, wire);
                assert_memory_equal(kernel.bound, wire, 6);
            }
            tendon_radio_close(&radio.radio);
        }
        assert_closed();
        (void)end(state);
    }
    (void)start(state); /* the list has the address that was made */
    memset(kernel.address, 0, 6);
    tendon_bluez_adapter adapters[3];
    tendon_address made;
    assert_int_equal(tendon_bluez_static_address(3, false, &made), TENDON_OK);
    assert_int_equal(tendon_bluez_list(adapters, 3), 3);
    assert_true(adapters[1].static_address && tendon_address_equal(&adapters[1].address, &made));
    static const tendon_address none = {.type = TENDON_ADDRESS_TYPE_RANDOM};
    assert_true(adapters[0].static_address && tendon_address_equal(&adapters[0].address, &none));
    (void)end(state);
    (void)start(state);
    memset(kernel.address, 0, 6);
    calls.socket = (refused_call){EMFILE, 2}; /* the probe's: the kernel may use another address */
    assert_int_equal(tendon_bluez_open(&radio, &loop, "hci3"), TENDON_RADIO_ERROR_ADAPTER_BUSY);
    assert_closed();
    (void)end(state);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    assert_int_equal(system(command), 0);
}

/* It was on, with another address, and is on again. */
static void an_adapter_that_refuses_the_address_is_powered_on_again(void **state) {
    char directory[] = "/tmp/tendon-address-XXXXXX", command[64];
    assert_non_null(mkdtemp(directory));
    assert_int_equal(setenv("XDG_STATE_HOME", directory, 1), 0);
    for (int was_on = 0; was_on < 2; was_on++) {
        (void)start(state);
        memset(kernel.address, 0, 6);
        kernel.others = 0;
        kernel.settings = TENDON_MANAGEMENT_LOW_ENERGY | (was_on ? TENDON_MANAGEMENT_POWERED : 0);
        kernel.fails = TENDON_MANAGEMENT_SET_STATIC_ADDRESS;
        kernel.error = TENDON_MANAGEMENT_REJECTED;
        calls.connect = (refused_call){EHOSTUNREACH, 0};
        assert_true(tendon_bluez_open(&radio, &loop, "hci3") < 0);
        assert_string_equal(kernel.log, was_on ? " m03 m04 m04 m04 m05 m2b m05" : " m03 m04 m04 m04 m2b");
        assert_int_equal((kernel.settings & TENDON_MANAGEMENT_POWERED) != 0, was_on);
        assert_closed();
        (void)end(state);
    }
    snprintf(command, sizeof command, "rm -rf %s", directory);
    assert_int_equal(system(command), 0);
}

/* The watchdog powers it off and on. Its user presses Ctrl-C in between; the kernel can still be busy with the first.
 */
static void an_adapter_that_is_off_for_a_moment_is_powered_on_by_close(void **state) {
    for (int busy = 0; busy < 2; busy++) {
        (void)start(state);
        kernel.others = 0;
        bluez_privileges = (privileges){.effective = 1u << 12}; /* CAP_NET_ADMIN */
        assert_int_equal(tendon_bluez_open_as(&radio, &loop, "hci3", TENDON_BLUEZ_SOLE), TENDON_OK);
        kernel.log[0] = '\0';
        assert_true(tendon_bluez_cycle(&radio, TENDON_RADIO_ERROR_COMMAND_TIMEOUT, kernel.now));
        assert_int_equal(radio.power.state, TENDON_BLUEZ_CYCLING);
        assert_string_equal(kernel.log, " m05");
        assert_int_equal(kernel.settings & TENDON_MANAGEMENT_POWERED, 0);
        kernel.fails = busy ? TENDON_MANAGEMENT_SET_POWERED : 0;
        kernel.error = TENDON_MANAGEMENT_BUSY;
        kernel.failures = 2;
        tendon_radio_close(&radio.radio);
        assert_string_equal(kernel.log, busy ? " m05 m05 m05 m05" : " m05 m05");
        assert_int_equal(kernel.settings & TENDON_MANAGEMENT_POWERED, TENDON_MANAGEMENT_POWERED);
        assert_closed();
        (void)end(state);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_adapter_without_an_address_gets_a_static_one),
        cmocka_unit_test(an_adapter_that_refuses_the_address_is_powered_on_again),
        cmocka_unit_test(an_adapter_that_is_off_for_a_moment_is_powered_on_by_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
