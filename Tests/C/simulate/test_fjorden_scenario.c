/* SPDX-License-Identifier: MIT */
/* Simulated Fjorden grip: what a scenario can make it do, and where a wrong line is wrong. simulate/fjorden.h. */
#include "fjorden_fixture.h"

static tendon_status perform(const char *command, bool dry_run, size_t *wrong) {
    const tendon_scenario_actor actor = tendon_simulated_fjorden_actor(&grip);
    char line[128];
    tendon_scenario_event event;
    snprintf(line, sizeof line, "at 0ms %s", command);
    assert_int_equal(tendon_scenario_parse(line, strlen(line), NULL, &event, 1, NULL), 1);
    *wrong = 99;
    return actor.perform(actor.context, &event, dry_run, wrong, f->now);
}

static void does(const char *command, const char *pdu) {
    size_t wrong = 0, before = f->centrals[0].count;
    assert_int_equal(perform(command, true, &wrong), TENDON_OK); /* only checked */
    assert_int_equal(f->centrals[0].count, before);
    assert_int_equal(perform(command, false, &wrong), TENDON_OK);
    if (pdu != NULL) {
        assert_int_equal(f->centrals[0].count, before + 1);
        device_expect_last(f, 0, pdu);
    } else {
        assert_int_equal(f->centrals[0].count, before);
    }
}

static void every_command_moves_its_control(void **state) {
    (void)state;
    fjorden_subscribe_events(0);
    does("shutter half", "1b 17 00 01 01 00 00 00");
    does("shutter full", "1b 17 00 02 02 00 00 00");
    does("shutter released", "1b 17 00 03 03 00 00 00");
    does("fn down", NULL);
    does("fn up", "1b 17 00 04 21 00 00 00");
    does("dial_button down", NULL);
    does("dial_button up", "1b 17 00 05 13 00 00 00");
    does("dial cw 5", "1b 17 00 06 11 00 00 05");
    does("dial ccw 127", "1b 17 00 07 12 00 00 7f");
    does("lever left", NULL);
    does("lever neutral", "1b 17 00 08 31 00 00 00 09 35 00 00 00");
    does("lever right", NULL);
    does("lever neutral", "1b 17 00 0a 32 00 00 00 0b 35 00 00 00");
    does("event 64", "1b 17 00 0c 40 00 00 00");
    does("event 255 127", "1b 17 00 0d ff 00 00 7f");
    does("battery 100", NULL); /* notified to who has subscribed */
    assert_int_equal(grip.battery, 100);
    does("battery 0", "1b 17 00 0e 80 00 00 00");
    does("lose 1", NULL);
    does("event 64", NULL);
    does("duplicate 1", NULL);
    does("event 65", "1b 17 00 10 41 00 00 00 10 41 00 00 00");
    does("malformed empty", "1b 17 00");
    does("malformed length 1", "1b 17 00 01 02 03");
    does("malformed value 2", "1b 17 00 11 11 00 00 00 12 11 00 00 00");
    does("malformed unknown", "1b 17 00 13 f0 00 00 00");
    does("malformed state", NULL);
    device_exchange(f, 0, "0a 1a 00", "0b 09 00 00 00 86 ff");
    does("pairing off", NULL);
    assert_int_equal(f->device.ops->pairing(f->device.context), 0);
    does("pairing on", NULL);
    assert_int_equal(f->device.ops->pairing(f->device.context), TENDON_PERIPHERAL_PAIRABLE);
    does("power_off", "1b 17 00 14 81 00 00 00");
    device_run(f, f->now + 100);
    assert_true(f->centrals[0].bearer.closed);
    assert_int_equal(f->device.ops->pairing(f->device.context), TENDON_PERIPHERAL_PAIRABLE);
}

static void reset_bond(void **state) {
    (void)state;
    fjorden_subscribe_events(0);
    does("reset_bond", "1b 17 00 01 82 00 00 00");
    device_run(f, f->now + 100);
    assert_true(f->centrals[0].bearer.closed);
    assert_int_equal(f->device.ops->pairing(f->device.context),
                     TENDON_PERIPHERAL_PAIRABLE | TENDON_PERIPHERAL_CLEAR_BONDS);
}

/* Longest turn; the count of a lost record has no limit of its own. */
static void the_largest_numbers(void **state) {
    (void)state;
    size_t wrong = 0;
    assert_int_equal(perform("dial cw 32767", false, &wrong), TENDON_OK);
    assert_int_equal(grip.dial_position, 32767);
    assert_int_equal(grip.counters.records, 259); /* 258 of 127, and one of 1 */
    assert_int_equal(perform("lose 4294967295", false, &wrong), TENDON_OK);
    assert_int_equal(grip.lose_next, UINT32_MAX);
    assert_int_equal(perform("duplicate 4294967295", false, &wrong), TENDON_OK);
    assert_int_equal(grip.double_next, UINT32_MAX);
}

static void a_wrong_word_is_named(void **state) {
    (void)state;
    static const struct {
        const char *command;
        tendon_status status;
        size_t wrong;
    } cases[] = {
        {"shuter half", TENDON_ERROR_UNSUPPORTED, 0},
        {"shutter", TENDON_ERROR_MALFORMED, 1},
        {"shutter third", TENDON_ERROR_MALFORMED, 1},
        {"shutter half 1", TENDON_ERROR_MALFORMED, 2},
        {"fn half", TENDON_ERROR_MALFORMED, 1},
        {"dial_button left", TENDON_ERROR_MALFORMED, 1},
        {"dial_button up 1", TENDON_ERROR_MALFORMED, 2},
        {"dial up 1", TENDON_ERROR_MALFORMED, 1},
        {"dial cw", TENDON_ERROR_MALFORMED, 2},
        {"dial cw 32768", TENDON_ERROR_MALFORMED, 2},
        {"dial cw 1 1", TENDON_ERROR_MALFORMED, 3},
        {"lever up", TENDON_ERROR_MALFORMED, 1},
        {"lever left 1", TENDON_ERROR_MALFORMED, 2},
        {"event", TENDON_ERROR_MALFORMED, 1},
        {"event 256", TENDON_ERROR_MALFORMED, 1},
        {"event 1 128", TENDON_ERROR_MALFORMED, 2},
        {"event 1 1 1", TENDON_ERROR_MALFORMED, 3},
        {"battery 101", TENDON_ERROR_MALFORMED, 1},
        {"battery 1 1", TENDON_ERROR_MALFORMED, 2},
        {"lose x", TENDON_ERROR_MALFORMED, 1},
        {"lose 1 1", TENDON_ERROR_MALFORMED, 2},
        {"duplicate", TENDON_ERROR_MALFORMED, 1},
        {"malformed strange", TENDON_ERROR_MALFORMED, 1},
        {"malformed empty x", TENDON_ERROR_MALFORMED, 2},
        {"malformed empty 1 1", TENDON_ERROR_MALFORMED, 3},
        {"reset_bond 1", TENDON_ERROR_MALFORMED, 1},
        {"power_off now", TENDON_ERROR_MALFORMED, 1},
        {"pairing", TENDON_ERROR_MALFORMED, 1},
        {"pairing maybe", TENDON_ERROR_MALFORMED, 1},
        {"pairing on off", TENDON_ERROR_MALFORMED, 2},
    };
    fjorden_subscribe_events(0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t wrong = 0;
        assert_int_equal(perform(cases[i].command, false, &wrong), cases[i].status);
        assert_int_equal(wrong, cases[i].wrong);
    }
    assert_int_equal(f->centrals[0].count, 0);
    assert_int_equal(grip.counters.records, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_command_moves_its_control, fjorden_setup),
        cmocka_unit_test_setup(reset_bond, fjorden_setup),
        cmocka_unit_test_setup(the_largest_numbers, fjorden_setup),
        cmocka_unit_test_setup(a_wrong_word_is_named, fjorden_setup),
    };
    return cmocka_run_group_tests_name("simulate_fjorden_scenario", tests, NULL, NULL);
}
