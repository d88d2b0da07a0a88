/* SPDX-License-Identifier: MIT */
/* The adapters of a fleet over a kernel with a clock: late, lost, switched off by another program, broken, one of two.
 */
#include "../linux/adapter/adapter_fixture.h"
#include "tendon/tendon.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    tendon_loop loop;
    tendon_fleet fleet;
    tendon_fleet_options options;
    size_t length;
    char lines[1 << 16];
} w;

static int start(void **state) {
    (void)state;
    fake_start();
    memset(&w, 0, sizeof w);
    tendon_fleet_options_init(&w.options);
    /* Nothing is stored: no device connects here. */
    return setenv("XDG_STATE_HOME", "/dev/null", 1) == 0 && setenv("XDG_RUNTIME_DIR", "/dev/null", 1) == 0 &&
                   tendon_loop_init(&w.loop) >= 0
               ? 0
               : -1;
}

static int end(void **state) {
    (void)state;
    tendon_fleet_close(&w.fleet);
    tendon_loop_close(&w.loop);
    fake_end();
    return 0;
}

/* ---- lines ---- */

static bool on_line(void *context, const tendon_fleet_line *line) {
    (void)context;
    assert_true(w.length + line->length < sizeof w.lines);
    memcpy(w.lines + w.length, line->text, line->length);
    w.length += line->length;
    w.lines[w.length] = 0;
    return true;
}

/* How many lines have this text since the last call. */
static unsigned lines(const char *text) {
    unsigned count = 0;
    for (const char *at = w.lines; (at = strstr(at, text)) != NULL; at++) {
        count++;
    }
    return count;
}

static void forget(void) {
    w.length = 0;
    w.lines[0] = 0;
    fake_forget_log();
}

static void open_fleet(tendon_status expected) {
    assert_int_equal(tendon_fleet_open(&w.fleet, &w.loop, &w.options, on_line, NULL), expected);
}

static void pass(uint64_t ms) {
    fake_pass(&w.loop, ms);
}

static unsigned state_of(size_t radio) {
    return w.fleet.radios[radio].state;
}

/* How often the kernel was asked for its adapters since the last call of forget(). */
static unsigned looks(void) {
    unsigned count = 0;
    for (const char *at = fake.log; (at = strstr(at, ":m0003")) != NULL; at++) {
        count++;
    }
    return count;
}

static void add_powered(uint16_t index) {
    fake_add(index, false);
    fake_power(index, true);
}

/* ---- one adapter ---- */

static void an_adapter_that_comes_late(void **state) {
    (void)state;
    open_fleet(TENDON_OK);
    assert_int_equal(lines("radio_waiting"), 1);
    pass(100000);
    assert_int_equal(state_of(0), TENDON_FLEET_RADIO_WAITING);
    assert_int_equal(lines("radio_waiting"), 1);
    forget();
    add_powered(1);
    pass(1000); /* it is reported: the next look would be up to 30 s away */
    assert_int_equal(state_of(0), TENDON_FLEET_RADIO_OPEN);
    assert_int_equal(lines("radio_restored"), 1);
    assert_true(w.fleet.radios[0].radio->scanning);
}

/* The kernel's report of it was lost: the next attempt finds it. */
static void an_adapter_that_is_not_reported(void **state) {
    (void)state;
    open_fleet(TENDON_OK);
    pass(5000);
    fake_add_unconfigured(0)->unconfigured = false; /* not the event of this one */
    fake_of(0)->index = 1;
    pass(TENDON_GATEWAY_PAUSE_MAX_MS);
    assert_int_equal(lines("radio_restored"), 1);
    assert_false(w.fleet.radios[0].wait.is_asked); /* for another one */
}

static void an_adapter_that_is_unplugged_and_comes_back(void **state) {
    (void)state;
    add_powered(1);
    open_fleet(TENDON_OK);
    for (int time = 0; time < 3; time++) {
        pass(5000);
        assert_int_equal(state_of(0), TENDON_FLEET_RADIO_OPEN);
        forget();
        fake_remove(1);
        pass(5000);
        assert_int_equal(state_of(0), TENDON_FLEET_RADIO_WAITING);
        assert_int_equal(lines("radio_lost"), 1);
        assert_int_equal(lines("radio_waiting"), 0); /* the reason is the same */
        pass(60000);
        add_powered(1);
        pass(1000);
        assert_int_equal(lines("radio_restored"), 1);
    }
}

/* By another program, which may have done it on purpose: it is not switched on while one is there that could. */
static void an_adapter_that_is_switched_off(void **state) {
    (void)state;
    fake.programs = 1;
    add_powered(1);
    open_fleet(TENDON_OK);
    for (int ends = 0; ends < 2; ends++) {
        pass(5000);
        forget();
        fake_power(1, false);
        pass(5000);
        assert_int_equal(state_of(0), TENDON_FLEET_RADIO_WAITING);
        assert_int_equal(lines("radio_lost"), 1);
        uint64_t before = w.loop.wakeups;
        pass(3600000);
        assert_false(fake_of(1)->powered);
        assert_in_range(w.loop.wakeups - before, 1, 3600000 / TENDON_BLUEZ_OFF_CHECK_MS + 8);
        assert_int_equal(lines("radio_waiting"), 0);
        if (ends) {
            fake.programs = 0; /* nobody else can switch it on: the fleet does */
            pass(2 * TENDON_BLUEZ_OFF_CHECK_MS);
            assert_true(fake_sent("1:m0005=1"));
        } else {
            fake_power(1, true);
            pass(1000);
            assert_false(fake_sent("1:m0005=1"));
        }
        assert_int_equal(lines("radio_restored"), 1);
        assert_int_equal(state_of(0), TENDON_FLEET_RADIO_OPEN);
    }
}

/* Without the socket no report comes: the adapter is tried again after a pause. */
static void the_socket_that_waits_for_power_fails(void **state) {
    (void)state;
    add_powered(1);
    fake.programs = 1;
    open_fleet(TENDON_OK);
    pass(5000);
    fake_power(1, false);
    pass(5000);
    assert_int_equal(state_of(0), TENDON_FLEET_RADIO_WAITING);
    fake.refuse[FAKE_RECEIVE] = (fake_refusal){.number = ENOBUFS, .times = 1};
    fake_power(1, false); /* an event: it is read */
    pass(2 * TENDON_GATEWAY_PAUSE_MAX_MS);
    assert_int_equal(state_of(0), TENDON_FLEET_RADIO_OPEN);
    assert_int_equal(lines("radio_restored"), 1);
}

/* It is there, and rejects every command: tried again with pauses that grow to 30 s, and told once. */
static void a_broken_adapter(void **state) {
    (void)state;
    add_powered(1);
    fake_of(1)->rejects = 0x1F;
    open_fleet(TENDON_OK);
    for (int minute = 0; minute < 30; minute++) {
        forget();
        pass(60000);
        assert_int_equal(state_of(0), TENDON_FLEET_RADIO_WAITING);
        assert_int_equal(lines("radio_waiting"), 0);
        assert_in_range(looks(), 1, minute == 0 ? 14 : 4);
    }
    fake_of(1)->rejects = 0;
    pass(2 * TENDON_GATEWAY_PAUSE_MAX_MS);
    assert_int_equal(lines("radio_restored"), 1);
}

static void without_the_capability(void **state) {
    (void)state;
    add_powered(1);
    bluez_privileges.effective = 1u << CAP_NET_ADMIN;
    open_fleet(TENDON_RADIO_ERROR_NO_CAP_NET_RAW);
    assert_int_equal(lines("radio_waiting"), 0); /* waiting would not help */
}

static void what_is_waited_for(void **state) {
    (void)state;
    static const struct {
        tendon_status failure;
        tendon_adapter_absence absence;
    } rows[] = {
        {TENDON_RADIO_ERROR_NO_ADAPTER, TENDON_ADAPTER_MISSING},
        {TENDON_RADIO_ERROR_UNCONFIGURED, TENDON_ADAPTER_MISSING},
        {TENDON_RADIO_ERROR_ADAPTER_DOWN, TENDON_ADAPTER_OFF},
        {TENDON_RADIO_ERROR_RFKILL, TENDON_ADAPTER_OFF},
        {TENDON_RADIO_ERROR_ADAPTER_BUSY, TENDON_ADAPTER_FAILING},
        {TENDON_RADIO_ERROR_COMMAND_TIMEOUT, TENDON_ADAPTER_FAILING},
        {TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN, TENDON_ADAPTER_FAILING}, /* another program may switch it on */
        {TENDON_SYSTEM_ERROR(EMFILE), TENDON_ADAPTER_FAILING},
        {TENDON_RADIO_ERROR_NO_CAP_NET_RAW, TENDON_ADAPTER_UNUSABLE},
        {TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT, TENDON_ADAPTER_FAILING}, /* its module may be loaded later */
        {TENDON_RADIO_ERROR_UNKNOWN_RADIO, TENDON_ADAPTER_UNUSABLE},
        {TENDON_ERROR_INVALID_ARGUMENT, TENDON_ADAPTER_UNUSABLE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(tendon_adapter_absence_of(rows[i].failure), rows[i].absence);
    }
}

/* ---- two ---- */

static void one_of_two_is_lost(void **state) {
    (void)state;
    add_powered(1);
    add_powered(2);
    strcpy(w.options.adapters[0], "hci1");
    strcpy(w.options.adapters[1], "hci2");
    w.options.adapter_count = 2;
    open_fleet(TENDON_OK);
    pass(5000);
    forget();
    fake_remove(1);
    pass(60000);
    assert_int_equal(lines("radio_lost"), 1);
    assert_int_equal(state_of(0), TENDON_FLEET_RADIO_WAITING);
    assert_int_equal(state_of(1), TENDON_FLEET_RADIO_OPEN);
    assert_true(w.fleet.radios[1].radio->scanning);
    add_powered(1);
    pass(1000);
    assert_int_equal(state_of(0), TENDON_FLEET_RADIO_OPEN);
}

/* Opened again in the same memory, without an adapter: nothing is left of the one before. */
static void the_last_of_four(void **state) {
    (void)state;
    for (size_t i = 0; i < TENDON_FLEET_RADIOS; i++) {
        snprintf(w.options.adapters[i], sizeof w.options.adapters[i], "hci%u", (unsigned)i);
    }
    w.options.adapter_count = TENDON_FLEET_RADIOS;
    add_powered(TENDON_FLEET_RADIOS - 1);
    for (unsigned time = 0; time < 2; time++) {
        open_fleet(TENDON_OK);
        pass(1000);
        assert_int_equal(tendon_fleet_was_open(&w.fleet), time == 0);
        tendon_fleet_close(&w.fleet);
        if (time == 0) {
            fake_remove(TENDON_FLEET_RADIOS - 1);
        }
    }
}

/* Closed in each state. */
static void closed_while_it_waits(void **state) {
    (void)state;
    open_fleet(TENDON_OK);
    pass(500);
    tendon_fleet_close(&w.fleet);
    fake_settled();
    add_powered(1);
    open_fleet(TENDON_OK);
    pass(1000);
    fake_power(1, false);
    pass(1000);
    tendon_fleet_close(&w.fleet);
    fake_settled();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_adapter_that_comes_late, start, end),
        cmocka_unit_test_setup_teardown(an_adapter_that_is_not_reported, start, end),
        cmocka_unit_test_setup_teardown(an_adapter_that_is_unplugged_and_comes_back, start, end),
        cmocka_unit_test_setup_teardown(an_adapter_that_is_switched_off, start, end),
        cmocka_unit_test_setup_teardown(the_socket_that_waits_for_power_fails, start, end),
        cmocka_unit_test_setup_teardown(a_broken_adapter, start, end),
        cmocka_unit_test_setup_teardown(without_the_capability, start, end),
        cmocka_unit_test(what_is_waited_for),
        cmocka_unit_test_setup_teardown(one_of_two_is_lost, start, end),
        cmocka_unit_test_setup_teardown(the_last_of_four, start, end),
        cmocka_unit_test_setup_teardown(closed_while_it_waits, start, end),
    };
    return cmocka_run_group_tests_name("fleet: adapters", tests, NULL, NULL);
}
