/* SPDX-License-Identifier: MIT */
/* Simulated naviBelt: what it sends by itself, faults, scenarios. */
#include "feelspace_fixture.h"

static void keep_alives_want_answers(void **state) {
    (void)state;
    device_run(f, 10000);
    assert_int_equal(f->centrals[0].count, 0); /* no central has subscribed */
    device_exchange(f, 0, "12 09 00 01 00", "13");
    device_forget(f, 0);
    device_run(f, 11000);
    device_expect_last(f, 0, "1b 08 00 00 01");
    device_exchange(f, 0, "12 08 00 00", "13");
    device_run(f, 15500);
    device_exchange(f, 0, "12 08 00 00 00", "13"); /* two bytes as well */
    device_run(f, 20990);
    assert_false(f->centrals[0].bearer.closed);
    assert_int_equal(belt.counters.keep_alives, 10);
    device_run(f, 21000); /* 5 s after that of 16000 */
    assert_true(f->centrals[0].bearer.closed);
    assert_int_equal(belt.counters.answers, 2);
    device_run(f, 60000);
    assert_int_equal(belt.counters.disconnects, 1);
}

static void orientations_come_twice_a_second(void **state) {
    (void)state;
    device_exchange(f, 0, "12 21 00 01 00", "13");
    device_forget(f, 0);
    tendon_simulated_feelspace_set_heading(&belt, 270, 0, f->now);
    device_run(f, 5499);
    assert_int_equal(f->centrals[0].count, 0);
    device_run(f, 7000);
    assert_int_equal(f->centrals[0].count, 4);
    device_expect_last(f, 0, "1b 20 00 02 a6 ff 79 ff 02 00 fa ff 05 00 03 03 03 03 00");
    tendon_simulated_feelspace_set_accurate(&belt, false);
    tendon_simulated_feelspace_set_heading(&belt, 0, 90, f->now);
    device_run(f, 8000);
    device_expect_last(f, 0, "1b 20 00 02 5a 00 2d 00 02 00 fa ff 28 00 01 01 01 01 01");
    request("11 0f 00 64 00", "10 0f 64 00");
    device_exchange(f, 0, "12 21 00 00 00", "13");
    device_exchange(f, 0, "12 21 00 01 00", "13");
    device_forget(f, 0);
    device_run(f, 9000);
    assert_int_equal(f->centrals[0].count, 10);
}

static void a_full_link_delays_orientations_and_loses_none(void **state) {
    (void)state;
    const tendon_simulated_feelspace_options options = {.flat_out = true, .notification_limit = 1000};
    connected_belt(&options);
    device_exchange(f, 0, "12 21 00 01 00", "13");
    device_forget(f, 0);
    f->centrals[0].room = 3;
    for (unsigned rounds = 0; rounds < 400 && belt.counters.orientations < 1000; rounds++) {
        device_run(f, f->now);
        device_writable(f, 0, 3);
    }
    device_writable(f, 0, 100);
    device_run(f, f->now + 1000);
    assert_int_equal(belt.counters.orientations, 1000);
    assert_int_equal(f->centrals[0].count, 1000);
    for (size_t i = 0; i < 1000; i++) {
        const uint8_t *b = f->centrals[0].pdus[i].bytes;
        int heading = (int16_t)(b[4] | b[5] << 8);
        assert_int_equal((heading + 360) % 360, i % 360);
    }
    assert_int_equal(belt.counters.notifications_lost, 0);
    assert_true(belt.counters.blocked > 300);
}

static void battery_changes_are_told(void **state) {
    (void)state;
    tendon_simulated_feelspace_set_battery(&belt, 2, 25, f->now);
    device_expect(f, 0, 0, "1b 17 00 02 00 19 b0 04 78 00 3c 0f");
    device_exchange(f, 0, "0a 17 00", "0b 02 00 19 b0 04 78 00 3c 0f");
}

static void the_raw_stream_and_the_error_log(void **state) {
    (void)state;
    device_exchange(f, 0, "12 1e 00 01 00", "13");
    device_exchange(f, 0, "12 1b 00 01 01", "13");
    device_exchange(f, 0, "12 27 00 01 00", "13");
    device_exchange(f, 0, "12 27 00 00 00", "13"); /* the end of another subscription */
    device_forget(f, 0);
    device_run(f, f->now + 100);
    assert_int_equal(f->centrals[0].count, 3);
    device_expect(f, 0, 0, "1b 1d 00 01 00 00 00 00 00 00 e8 03 01 00 00 00 00 e8 03");
    assert_int_equal(f->centrals[0].pdus[2].bytes[4], 2);
    device_exchange(f, 0, "12 1b 00 01 00", "13");
    device_exchange(f, 0, "12 27 00 01 00", "13");
    device_forget(f, 0);
    tendon_simulated_feelspace_raise_error(&belt, 0x01020304, 5000);
    device_expect(f, 0, 0, "1b 26 00 a0 04 03 02 01");
    device_exchange(f, 0, "12 24 00 0b", "13");
    device_run(f, f->now);
    device_expect(f, 0, 2, "1b 26 00 0b 01 00 01 04 03 02 01 04 03 02 01");
    device_expect(f, 0, 3, "1b 26 00 0c 04 03 02 01 88 13 00 00 01 00 00");
}

/* ---- faults and scenarios ---- */

static void faults_on_demand(void **state) {
    (void)state;
    tendon_scenario_actor actor = tendon_simulated_feelspace_actor(&belt);
    assert_int_equal(device_perform(f, actor, "malformed cut 2"), TENDON_OK);
    request("01 03", "01 03");
    request("01 01", "01 01");
    request("01 01", "01 01 01");
    assert_int_equal(device_perform(f, actor, "malformed bad_value"), TENDON_OK);
    request("01 01", "01 01 ee");
    assert_int_equal(device_perform(f, actor, "malformed empty"), TENDON_OK);
    request("01 01", "");
    assert_int_equal(device_perform(f, actor, "malformed garbage"), TENDON_OK);
    request("01 01", "a6 43 e0 7d 1a b7 54 f1 8e 2b c8 65 02 9f 3c d9 76 13 b0 4d");
    assert_int_equal(belt.counters.malformed, 5);
    assert_int_equal(device_perform(f, actor, "silent on"), TENDON_OK);
    request("01 01", NULL);
    assert_int_equal(device_perform(f, actor, "silent off"), TENDON_OK);
    request("01 01", "01 01 01");
    assert_int_equal(device_perform(f, actor, "swapped on"), TENDON_OK);
    device_forget(f, 0);
    assert_int_equal(device_perform(f, actor, "press compass"), TENDON_OK);
    device_expect(f, 0, 0, "1b 12 00 01 01 02");
    device_expect(f, 0, 1, "1b 0d 00 03 01 00 01 02");
    device_exchange(f, 0, "12 09 00 01 00", "13");
    assert_int_equal(device_perform(f, actor, "deaf on"), TENDON_OK);
    device_forget(f, 0);
    device_run(f, f->now + 20000);
    assert_int_equal(f->centrals[0].count, 0);
    assert_false(f->centrals[0].bearer.closed);
}

static void scenario_commands(void **state) {
    (void)state;
    tendon_scenario_actor actor = tendon_simulated_feelspace_actor(&belt);
    assert_int_equal(device_perform(f, actor, "mode app"), TENDON_OK);
    assert_int_equal(belt.mode, 3);
    assert_int_equal(device_perform(f, actor, "mode 6"), TENDON_OK);
    assert_int_equal(belt.mode, 6);
    assert_int_equal(device_perform(f, actor, "battery 12 external"), TENDON_OK);
    assert_int_equal(belt.power_status, 3);
    assert_int_equal(belt.battery_level, 12 * 256);
    assert_int_equal(device_perform(f, actor, "battery 13"), TENDON_OK);
    assert_int_equal(belt.power_status, 3);
    assert_int_equal(device_perform(f, actor, "heading 359"), TENDON_OK);
    assert_int_equal(device_perform(f, actor, "turn 10"), TENDON_OK);
    assert_int_equal(belt.heading, 359);
    assert_int_equal(belt.turn, 10);
    assert_int_equal(device_perform(f, actor, "accurate off"), TENDON_OK);
    assert_true(belt.inaccurate);
    assert_int_equal(device_perform(f, actor, "error 0xA1"), TENDON_OK);
    assert_int_equal(belt.errors[0].code, 0xA1);
    assert_int_equal(device_perform(f, actor, "press power long"), TENDON_OK);
    assert_int_equal(belt.mode, 0);
    static const char *const wrong[] = {"press",       "press knob",  "press home twice",  "mode 7",
                                        "battery 101", "heading 360", "accurate maybe",    "malformed odd",
                                        "silent",      "deaf on now", "press home short x"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(device_perform(f, actor, wrong[i]), TENDON_ERROR_MALFORMED);
    }
    assert_int_equal(device_perform(f, actor, "gesture input"), TENDON_ERROR_UNSUPPORTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        belt_test(keep_alives_want_answers),
        belt_test(orientations_come_twice_a_second),
        belt_test(a_full_link_delays_orientations_and_loses_none),
        belt_test(battery_changes_are_told),
        belt_test(the_raw_stream_and_the_error_log),
        belt_test(faults_on_demand),
        belt_test(scenario_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
