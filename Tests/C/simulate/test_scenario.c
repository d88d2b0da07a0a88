/* SPDX-License-Identifier: MIT */
/* Scenarios: parsing with the place of each error, playing by time, and a Bose device that performs one. */
#include "bose_fixture.h"

static tendon_scenario_event events[64];
static tendon_scenario_error error;

/** Parses from a heap block of exactly the text's length. */
static tendon_status parse(const char *text, const tendon_scenario_actor *actor, char **kept) {
    size_t length = strlen(text);
    *kept = malloc(length != 0 ? length : 1);
    assert_non_null(*kept);
    memcpy(*kept, text, length);
    error = (tendon_scenario_error){0};
    return tendon_scenario_parse(*kept, length, actor, events, 64, &error);
}

static void times_and_order(void **state) {
    (void)state;
    char *text;
    assert_int_equal(parse("# a day\n"
                           "\n"
                           "at 5s    suspend voice_assistant # and a remark\r\n"
                           "\tat 250ms resume\n"
                           "at 1.5s  disconnect\n"
                           "at 2min  stop\n"
                           "at 3m    stop\n"
                           "at 250ms advertise off\n"
                           "at 0.0009s advertise on",
                           NULL, &text),
                     7);
    static const struct {
        uint64_t at;
        uint32_t line;
        tendon_scenario_action action;
    } expected[] = {
        {0, 9, TENDON_SCENARIO_ADVERTISE_ON},    {250, 4, TENDON_SCENARIO_DEVICE},
        {250, 8, TENDON_SCENARIO_ADVERTISE_OFF}, {1500, 5, TENDON_SCENARIO_DISCONNECT},
        {5000, 3, TENDON_SCENARIO_DEVICE},       {120000, 6, TENDON_SCENARIO_STOP},
        {180000, 7, TENDON_SCENARIO_STOP},
    };
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(events[i].at_ms, expected[i].at);
        assert_int_equal(events[i].line, expected[i].line);
        assert_int_equal(events[i].action, expected[i].action);
    }
    assert_int_equal(events[4].count, 2);
    assert_true(tendon_scenario_word_is(&events[4], 0, "suspend"));
    assert_true(tendon_scenario_word_is(&events[4], 1, "voice_assistant"));
    assert_false(tendon_scenario_word_is(&events[4], 1, "voice"));
    assert_false(tendon_scenario_word_is(&events[4], 1, "voice_assistants"));
    assert_false(tendon_scenario_word_is(&events[4], 2, ""));
    assert_int_equal(events[4].words[1].column, 18);
    free(text);
}

static void empty_scenarios(void **state) {
    (void)state;
    static const char *const texts[] = {"", "\n", "\n\n\n", "# only\n#\n  \t\r\n"};
    for (size_t i = 0; i < 4; i++) {
        char *text;
        assert_int_equal(parse(texts[i], NULL, &text), 0);
        free(text);
    }
}

/* A day, in each unit. */
static void the_latest_time(void **state) {
    (void)state;
    static const char *const texts[] = {"at 86400000ms stop", "at 86400s stop", "at 1440m stop", "at 86400.0s stop"};
    for (size_t i = 0; i < 4; i++) {
        char *text;
        assert_int_equal(parse(texts[i], NULL, &text), 1);
        assert_int_equal(events[0].at_ms, TENDON_SCENARIO_TIME_MAX_MS);
        free(text);
    }
}

static void errors_have_line_and_column(void **state) {
    static const struct {
        const char *text;
        uint32_t line, column;
    } cases[] = {
        {"in 5s resume", 1, 1},
        {"\n  after 5s resume", 2, 3},
        {"at", 1, 3},
        {"at 5s", 1, 6},
        {"at 5s # nothing", 1, 7},
        {"at x resume", 1, 4},
        {"at 5 resume", 1, 5},
        {"at 5h resume", 1, 5},
        {"at 5.s resume", 1, 6},
        {"at 5.25 resume", 1, 8},
        {"at 5.x5s resume", 1, 6},
        {"at -1s resume", 1, 4},
        {"at .5s resume", 1, 4},
        {"at 5sec resume", 1, 5},
        {"at 86400001ms resume", 1, 4},
        {"at 86400.001s resume", 1, 4},
        {"at 1441m resume", 1, 4},
        {"at 99999999999999999999s resume", 1, 4},
        {"at 1s disconnect now", 1, 18},
        {"at 1s stop now", 1, 12},
        {"at 1s advertise", 1, 16},
        {"at 1s advertise maybe", 1, 17},
        {"at 1s advertise on now", 1, 20},
        {"at 1s a b c d e f g", 1, 19},
        {"at 1s dance", 1, 7},
        {"at 1s suspend", 1, 14},
        {"at 1s suspend tired", 1, 15},
        {"at 1s suspend 16", 1, 15},
        {"at 1s suspend 1 2", 1, 17},
        {"at 1s resume now", 1, 14},
        {"at 1s gesture", 1, 14},
        {"at 1s gesture wink", 1, 15},
        {"at 1s gesture 0x100", 1, 15},
        {"at 1s gesture 0x", 1, 15},
        {"at 1s gesture 12a", 1, 15},
        {"at 1s malformed", 1, 16},
        {"at 1s malformed odd", 1, 17},
        {"at 1s malformed empty many", 1, 23},
        {"at 1s malformed empty 4294967296", 1, 23},
        {"at 1s malformed empty 1 2", 1, 25},
        {"at 1s pairing_mode", 1, 19},
        {"at 1s pairing_mode maybe", 1, 20},
        {"at 1s resume\nat 2s resume\nat 3s resum", 3, 7},
    };
    bose_fixture *f = *state;
    tendon_scenario_actor actor = tendon_simulated_bose_actor(&f->device);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text;
        assert_int_equal(parse(cases[i].text, &actor, &text), TENDON_ERROR_MALFORMED);
        if (error.line != cases[i].line || error.column != cases[i].column) {
            fail_msg("\"%s\": %u:%u %s, expected %u:%u", cases[i].text, error.line, error.column, error.text,
                     cases[i].line, cases[i].column);
        }
        assert_non_null(error.text);
        assert_int_equal(tendon_scenario_parse(text, strlen(cases[i].text), &actor, events, 64, NULL),
                         TENDON_ERROR_MALFORMED);
        free(text);
    }
    error = (tendon_scenario_error){0}; /* what stands behind the text is not part of it */
    assert_int_equal(tendon_scenario_parse("at 1.555s stop", 6, &actor, events, 64, &error), TENDON_ERROR_MALFORMED);
    assert_int_equal(error.column, 7);
}

/* What is accepted at the place of an error, for texts of programs. */
static void errors_list_what_is_accepted(void **state) {
    static const struct {
        const char *text, *names; /**< with spaces */
        bool of_command;
        uint32_t maximum; /**< 0: no number */
    } cases[] = {
        {"at 1s dance", "suspend resume gesture malformed pairing_mode", true, 0},
        {"at 1s suspend tired", "unknown voice_assistant multipoint_connection music_share ota_firmware_update", false,
         15},
        {"at 1s gesture", "single_tap double_tap head_nod head_shake touch_and_hold input affirmative negative", false,
         0xFF},
        {"at 1s pairing_mode maybe", "off on", false, 0},
        {"at 1s advertise", "off on", false, 0},
        {"at 1s malformed empty many", "", false, UINT32_MAX},
        {"at 1s resume now", "", false, 0},
        {"at 1 resume", "", false, 0},
    };
    bose_fixture *f = *state;
    tendon_scenario_actor actor = tendon_simulated_bose_actor(&f->device);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text, names[160] = "";
        const char *name;
        assert_int_equal(parse(cases[i].text, &actor, &text), TENDON_ERROR_MALFORMED);
        for (size_t k = 0; (name = tendon_scenario_choice_name(&error.expected, k)) != NULL; k++) {
            strcat(strcat(names, k > 0 ? " " : ""), name);
        }
        assert_string_equal(names, cases[i].names);
        assert_int_equal(error.of_command, cases[i].of_command);
        assert_int_equal(error.expected.number, cases[i].maximum != 0);
        assert_int_equal(error.expected.maximum, cases[i].maximum);
        free(text);
    }
    char *text;
    assert_int_equal(parse("at 1s gesture double_tap", &actor, &text), 1);
    assert_null(events[0].choice);
    free(text);
}

/** A scenario cut anywhere is either still one or an error within the text. */
static void cut_at_each_position(void **state) {
    bose_fixture *f = *state;
    tendon_scenario_actor actor = tendon_simulated_bose_actor(&f->device);
    const char *whole = "at 3s gesture double_tap\nat 4.5s malformed cut_payload 3\nat 10s pairing_mode on\n";
    unsigned good = 0;
    for (size_t length = 0; length <= strlen(whole); length++) {
        block text = block_copy(whole, length);
        tendon_status status = tendon_scenario_parse((const char *)text.data, length, &actor, events, 64, &error);
        good += status >= 0 ? 1 : 0;
        assert_true(status >= 0 || (status == TENDON_ERROR_MALFORMED && error.line >= 1 && error.line <= 3));
        free(text.data);
    }
    /* nothing; line 1 without and with its newline; line 2 without its count, blank, with it, newline; line 3, newline
     */
    assert_int_equal(good, 9);
}

static void more_events_than_room(void **state) {
    (void)state;
    const char text[] = "at 1s resume\nat 2s resume\nat 3s resume\n";
    assert_int_equal(tendon_scenario_parse(text, sizeof text - 1, NULL, events, 3, NULL), 3);
    assert_int_equal(tendon_scenario_parse(text, sizeof text - 1, NULL, events, 2, &error), TENDON_ERROR_TABLE_FULL);
    assert_int_equal(error.line, 3);
    char *longest = malloc(70000);
    assert_non_null(longest);
    memset(longest, 'x', 70000);
    assert_int_equal(tendon_scenario_parse(longest, 70000, NULL, events, 2, &error), TENDON_ERROR_MALFORMED);
    memcpy(longest, "at 1s ", 6); /* the longest line: its columns have 16 bits */
    assert_int_equal(tendon_scenario_parse(longest, UINT16_MAX - 1u, NULL, events, 2, &error), 1);
    assert_int_equal(tendon_scenario_parse(longest, UINT16_MAX, NULL, events, 2, &error), TENDON_ERROR_MALFORMED);
    assert_string_equal(error.text, "the line is too long");
    free(longest);
}

static void playing_by_time(void **state) {
    (void)state;
    const char text[] = "at 1s a\nat 1s b\nat 0ms c\nat 3s d\n";
    tendon_status count = tendon_scenario_parse(text, sizeof text - 1, NULL, events, 64, NULL);
    tendon_scenario scenario;
    tendon_scenario_start(&scenario, events, (size_t)count, 7000);
    assert_int_equal(tendon_scenario_deadline(&scenario), 7000);
    assert_null(tendon_scenario_next(&scenario, 6999));
    assert_true(tendon_scenario_word_is(tendon_scenario_next(&scenario, 7000), 0, "c"));
    assert_null(tendon_scenario_next(&scenario, 7999));
    assert_int_equal(tendon_scenario_deadline(&scenario), 8000);
    assert_true(tendon_scenario_word_is(tendon_scenario_next(&scenario, 20000), 0, "a"));
    assert_true(tendon_scenario_word_is(tendon_scenario_next(&scenario, 20000), 0, "b"));
    assert_true(tendon_scenario_word_is(tendon_scenario_next(&scenario, 20000), 0, "d"));
    assert_null(tendon_scenario_next(&scenario, 20000));
    assert_int_equal(tendon_scenario_deadline(&scenario), UINT64_MAX);
}

static void numbers(void **state) {
    (void)state;
    const char text[] = "at 1s n 0 15 0xC1 0Xff 4294967295\n";
    assert_int_equal(tendon_scenario_parse(text, sizeof text - 1, NULL, events, 64, NULL), 1);
    uint32_t value = 7;
    assert_true(tendon_scenario_word_number(&events[0], 1, 0, &value) && value == 0);
    assert_true(tendon_scenario_word_number(&events[0], 2, 15, &value) && value == 15);
    assert_true(tendon_scenario_word_number(&events[0], 3, 255, &value) && value == 0xC1);
    assert_true(tendon_scenario_word_number(&events[0], 4, 255, &value) && value == 255);
    assert_true(tendon_scenario_word_number(&events[0], 5, UINT32_MAX, &value) && value == UINT32_MAX);
    assert_false(tendon_scenario_word_number(&events[0], 2, 14, &value));
    assert_false(tendon_scenario_word_number(&events[0], 0, 14, &value));
    assert_false(tendon_scenario_word_number(&events[0], 6, 14, &value));
    assert_int_equal(value, UINT32_MAX);
}

static void a_bose_device_performs(void **state) {
    bose_fixture *f = *state;
    tendon_scenario_actor actor = tendon_simulated_bose_actor(&f->device);
    char *text;
    tendon_status count = parse("at 1s suspend multipoint_connection\n"
                                "at 2s suspend 9\n"
                                "at 3s resume\n"
                                "at 4s gesture double_tap\n"
                                "at 4s gesture 0xC1\n"
                                "at 5s malformed garbage 2\n"
                                "at 5s malformed empty\n"
                                "at 6s pairing_mode on\n"
                                "at 7s pairing_mode off\n",
                                &actor, &text);
    assert_int_equal(count, 9);
    assert_int_equal(f->device.status, 0); /* only checked so far */
    assert_int_equal(f->device.malformed_next, 0);
    bose_connect(f, 0, 185);
    bose_exchange(f, 0, "12 2c 00 01 00", "13");
    bose_exchange(f, 0, "12 28 00 81 01 82 00 83 00 c0 00 c1 01 c2 00", "13");
    static const uint16_t status[] = {0x2008, 0x9008, 0, 0, 0, 0, 0, 1, 0};
    tendon_scenario scenario;
    tendon_scenario_start(&scenario, events, 9, f->in.now);
    size_t wrong, index = 0;
    while (tendon_scenario_deadline(&scenario) != UINT64_MAX) {
        f->in.now = tendon_scenario_deadline(&scenario);
        const tendon_scenario_event *event = tendon_scenario_next(&scenario, f->in.now);
        assert_int_equal(actor.perform(actor.context, event, false, &wrong, f->in.now), TENDON_OK);
        assert_int_equal(f->device.status, status[index++]);
        if (index == 4) {
            device_expect_last(&f->in, 0, "1b 2b 00 81 0f a0");
        } else if (index == 5) {
            device_expect_last(&f->in, 0, "1b 2b 00 c1 0f a0");
        } else if (index == 6) {
            assert_int_equal(f->device.malformed_next, 2);
            assert_int_equal(f->device.malformed_kind, TENDON_BOSE_MALFORM_GARBAGE);
        }
    }
    assert_int_equal(f->device.malformed_next, 1);
    assert_int_equal(f->device.malformed_kind, TENDON_BOSE_MALFORM_EMPTY);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_and_order),
        cmocka_unit_test(empty_scenarios),
        cmocka_unit_test(the_latest_time),
        bose_test(errors_have_line_and_column),
        bose_test(errors_list_what_is_accepted),
        bose_test(cut_at_each_position),
        cmocka_unit_test(more_events_than_room),
        cmocka_unit_test(playing_by_time),
        cmocka_unit_test(numbers),
        bose_test(a_bose_device_performs),
    };
    return cmocka_run_group_tests_name("simulate_scenario", tests, NULL, NULL);
}
