/* SPDX-License-Identifier: MIT */
/* Simulated devices and scenarios: memory that was used before, limits, and what is one too many. */
#include "device_fixture.h"

/* A radio in memory that held something else has no central and no device in the air, and moves at its usual pace. */
static void what_the_memory_held_is_of_no_interest(void **state) {
    (void)state;
    static tendon_memory_radio radio, fresh;
    static tendon_memory_radio_device devices[2];
    memset(&radio, 0xA5, sizeof radio);
    tendon_memory_radio_init(&fresh, devices, 2);
    tendon_memory_radio_init(&radio, devices, 2);
    assert_memory_equal(&radio, &fresh, sizeof radio);
}

/* ---- scenarios ---- */

static tendon_scenario_error error;

static tendon_status parse(const char *text, tendon_scenario_event *events, size_t capacity) {
    error = (tendon_scenario_error){0};
    return tendon_scenario_parse(text, strlen(text), NULL, events, capacity, &error);
}

static void one_event_too_many_has_its_place(void **state) {
    (void)state;
    tendon_scenario_event events[2];
    assert_int_equal(parse("at 1s a\nat 2s b\n", events, 2), 2);
    assert_int_equal(parse("at 1s a\nat 2s b\n# nothing\n  at 3s c\n", events, 2), TENDON_ERROR_TABLE_FULL);
    assert_int_equal(error.line, 4);
    assert_int_equal(error.column, 3);
    assert_string_equal(error.text, "too many events");
}

static void the_shortest_hexadecimal_number(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool good;
        uint32_t value;
    } cases[] = {{"at 1s x 0x7", true, 7},    {"at 1s x 0XF", true, 15}, {"at 1s x 0x", false, 0},
                 {"at 1s x 0x10", true, 16},  {"at 1s x 0", true, 0},    {"at 1s x 0x11", false, 0},
                 {"at 1s x 0x010", true, 16}, {"at 1s x x7", false, 0},  {"at 1s x 17", false, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tendon_scenario_event event;
        uint32_t value = 0;
        assert_int_equal(parse(cases[i].text, &event, 1), 1);
        assert_int_equal(tendon_scenario_word_number(&event, 1, 16, &value), cases[i].good);
        assert_int_equal(value, cases[i].value);
        assert_false(tendon_scenario_word_number(&event, 2, 16, &value));
    }
}

/* ---- kept responses of Obvious ---- */

/* The same bytes behind another opcode are another request. */
static void a_response_is_kept_for_its_opcode(void **state) {
    (void)state;
    static tendon_simulated_obvious_responses responses;
    uint8_t request[32];
    size_t length = 0;
    const tendon_obvious_frame ping = {.opcode = TENDON_OBVIOUS_PING, .corr = 9};
    size_t size = (size_t)tendon_obvious_seal_frame(&ping, 1, request, sizeof request);
    tendon_simulated_obvious_keep(&responses, request, size, request, size);
    assert_non_null(tendon_simulated_obvious_kept(&responses, request, size, &length));
    for (size_t i = 0; i < TENDON_SIMULATED_OBVIOUS_RESPONSES; i++) {
        responses.items[i].opcode ^= 1u;
    }
    assert_null(tendon_simulated_obvious_kept(&responses, request, size, &length));
}

/* ---- Activ5 ---- */

/* Two parts of at most 14 characters each, whatever the options hold. */
static void a_serial_number_has_two_parts(void **state) {
    (void)state;
    static tendon_simulated_activ5 trainer;
    const tendon_simulated_activ5_options options = {.serial1 = "0123456789ABCDEF", .serial2 = "abcdefghijklmnop"};
    assert_int_equal(tendon_simulated_activ5_init(&trainer, &options), TENDON_OK);
    assert_memory_equal(trainer.serial, "0123456789ABCDabcdefghijklmn", 28);
    assert_int_equal(trainer.server.attributes[trainer.handles[TENDON_SIMULATED_ACTIV5_SERIAL] - 1].length, 28);
}

/* ---- feelSpace ---- */

/* A mode that the belt does not have changes nothing. */
static void a_belt_has_so_many_modes(void **state) {
    (void)state;
    static tendon_simulated_feelspace belt;
    assert_int_equal(tendon_simulated_feelspace_init(&belt, NULL), TENDON_OK);
    uint8_t mode = belt.mode;
    for (unsigned wrong = 7; wrong < 256; wrong++) {
        tendon_simulated_feelspace_change_mode(&belt, (uint8_t)wrong, 1000);
        assert_int_equal(belt.mode, mode);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_memory_held_is_of_no_interest), cmocka_unit_test(one_event_too_many_has_its_place),
        cmocka_unit_test(the_shortest_hexadecimal_number),        cmocka_unit_test(a_response_is_kept_for_its_opcode),
        cmocka_unit_test(a_serial_number_has_two_parts),          cmocka_unit_test(a_belt_has_so_many_modes),
    };
    return cmocka_run_group_tests_name("simulate_used_memory", tests, NULL, NULL);
}
