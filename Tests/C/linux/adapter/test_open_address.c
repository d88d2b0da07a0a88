/* SPDX-License-Identifier: MIT */
/* An adapter without an address of its own, and one that is left as it was found: powered on. */
#include "../../../../CSources/linux/adapter/adapter_parts.h"
#include "../file_tree.h"
#include "adapter_fixture.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>

static char directory[FILE_TREE_SIZE];

static int start(void **state) {
    tree_make(directory);
    assert_int_equal(setenv("XDG_STATE_HOME", directory, 1), 0);
    return adapter_setup(state);
}

static int end(void **state) {
    tree_remove(directory);
    return adapter_teardown(state);
}

/** An adapter without an address of its own; it is off, or on with this one. */
static fake_adapter *add(const tendon_address *address) {
    fake_adapter *a = fake_add(3, false);
    memset(a->wire, 0, sizeof a->wire);
    if (address != NULL) {
        tendon_address_to_wire(address, a->static_wire);
        fake_power(3, true);
    }
    fake_forget_log();
    return a;
}

#define LOOKED " m0003 m0004"
#define LIMITS " h1002 h2003 h2002 h200f h201c"

static void an_adapter_without_an_address_gets_a_static_one(void **state) {
    static const tendon_address other = {{0xC0, 9, 9, 9, 9, 9}, TENDON_ADDRESS_TYPE_RANDOM};
    tendon_address made;
    assert_int_equal(tendon_bluez_static_address(3, true, &made), TENDON_OK);
    const struct {
        const tendon_address *address; /* that it is on with */
        int others;
        tendon_status expected;
        const char *log;
    } cases[] = {
        {NULL, 1, TENDON_OK, LOOKED " m002b m0005" LIMITS},
        {&made, 1, TENDON_OK, LOOKED LIMITS},
        {&other, 0, TENDON_OK, LOOKED " m0005 m002b m0005" LIMITS " m0024"},
        {&other, 1, TENDON_RADIO_ERROR_ADAPTER_BUSY, LOOKED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const fake_adapter *a = add(cases[i].address);
        fake.programs = cases[i].others;
        assert_int_equal(tendon_bluez_open(&own.radio, &own.loop, "hci3"), cases[i].expected);
        fake_pass(&own.loop, 0);
        assert_string_equal(fake_opcodes(), cases[i].log);
        if (cases[i].expected == TENDON_OK) {
            const tendon_address used = tendon_address_from_wire(a->static_wire, TENDON_ADDRESS_TYPE_RANDOM);
            assert_true(tendon_address_equal(&used, &made));
            assert_true(tendon_address_equal(&own.radio.radio.address, &made));
        }
        tendon_radio_close(&own.radio.radio);
        fake_settled();
        fake_remove(3);
    }
    add(NULL); /* the list has the address that was made */
    memset(fake_add(1, false)->wire, 0, 6);
    tendon_bluez_adapter adapters[2];
    static const tendon_address none = {.type = TENDON_ADDRESS_TYPE_RANDOM};
    assert_int_equal(tendon_bluez_list(adapters, 2), 2);
    assert_true(adapters[0].static_address && tendon_address_equal(&adapters[0].address, &none));
    assert_true(adapters[1].static_address && tendon_address_equal(&adapters[1].address, &made));
}

/* The kernel may use another address. */
static void an_adapter_whose_address_cannot_be_asked_for_is_busy(void **state) {
    tendon_address made;
    (void)state;
    assert_int_equal(tendon_bluez_static_address(3, true, &made), TENDON_OK);
    add(&made);
    fake.programs = 1;
    fake.refuse[FAKE_SOCKET] = (fake_refusal){.number = EMFILE, .after = 2, .times = 1};
    assert_int_equal(tendon_bluez_open(&own.radio, &own.loop, "hci3"), TENDON_RADIO_ERROR_ADAPTER_BUSY);
    fake_settled();
    adapter_open("hci3");
}

/* It was on, with another address, and is on again. */
static void an_adapter_that_refuses_the_address_is_powered_on_again(void **state) {
    static const tendon_address other = {{0xC0, 9, 9, 9, 9, 9}, TENDON_ADDRESS_TYPE_RANDOM};
    (void)state;
    for (int was_on = 0; was_on < 2; was_on++) {
        const fake_adapter *a = add(was_on ? &other : NULL);
        fake.answer =
            (fake_answer){.opcode = TENDON_MANAGEMENT_SET_STATIC_ADDRESS, .status = TENDON_MANAGEMENT_REJECTED};
        assert_true(tendon_bluez_open(&own.radio, &own.loop, "hci3") < 0);
        assert_string_equal(fake_opcodes(), was_on ? LOOKED " m0005 m002b m0005" : LOOKED " m002b");
        assert_int_equal(a->powered, was_on);
        fake_settled();
        fake_remove(3);
    }
}

/* The watchdog powers it off and on. Its user presses Ctrl-C in between; the kernel can still be busy with the first.
 */
static void an_adapter_that_is_off_for_a_moment_is_powered_on_by_close(void **state) {
    (void)state;
    bluez_privileges.effective = 1u << CAP_NET_ADMIN | 1u << CAP_NET_RAW;
    for (int busy = 0; busy < 2; busy++) {
        fake_add(3, false);
        fake_power(3, true);
        assert_int_equal(tendon_bluez_open_as(&own.radio, &own.loop, "hci3", TENDON_BLUEZ_SOLE), TENDON_OK);
        fake_pass(&own.loop, 0);
        fake_forget_log();
        assert_true(tendon_bluez_cycle(&own.radio, TENDON_RADIO_ERROR_COMMAND_TIMEOUT, fake.now));
        assert_int_equal(own.radio.power.state, TENDON_BLUEZ_CYCLING);
        assert_false(fake_of(3)->powered);
        if (busy) {
            fake.answer =
                (fake_answer){.opcode = TENDON_MANAGEMENT_SET_POWERED, .status = TENDON_MANAGEMENT_BUSY, .times = 2};
        }
        tendon_radio_close(&own.radio.radio);
        assert_string_equal(fake_opcodes(), busy ? " m0005 m0005 m0005" : " m0005");
        assert_true(fake_of(3)->powered);
        fake_settled();
        fake_remove(3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_adapter_without_an_address_gets_a_static_one, start, end),
        cmocka_unit_test_setup_teardown(an_adapter_whose_address_cannot_be_asked_for_is_busy, start, end),
        cmocka_unit_test_setup_teardown(an_adapter_that_refuses_the_address_is_powered_on_again, start, end),
        ADAPTER_TEST(an_adapter_that_is_off_for_a_moment_is_powered_on_by_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
