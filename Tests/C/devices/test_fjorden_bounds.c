/* SPDX-License-Identifier: MIT */
/* Fjorden: values at the edges of what docs/protocols/fjorden.md permits. */
#include "fjorden_fixture.h"

#include "tendon/simulate/fjorden_services.h"

/* CBOR (RFC 8949 3.1): text of up to 23 bytes has a head of one byte, up to 255 of two, else of three. */
static void the_head_of_a_text_grows_with_its_length(void **state) {
    (void)state;
    static const struct {
        size_t length;
        uint8_t head[3];
        size_t size;
    } cases[] = {{0, {0x60}, 1},        {1, {0x61}, 1},         {23, {0x77}, 1},           {24, {0x78, 24}, 2},
                 {255, {0x78, 255}, 2}, {256, {0x79, 1, 0}, 3}, {1000, {0x79, 3, 0xE8}, 3}};
    static char text[1000];
    static uint8_t out[1100];
    memset(text, 'x', sizeof text);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t body = 3 + cases[i].size + cases[i].length;
        assert_int_equal(tendon_fjorden_encode_smp(TENDON_FJORDEN_SMP_ECHO, 7, text, cases[i].length, out, sizeof out),
                         8 + body);
        assert_int_equal(out[2] << 8 | out[3], body);
        assert_memory_equal(out + 8, "\xA1\x61\x64", 3);
        assert_memory_equal(out + 11, cases[i].head, cases[i].size);
        assert_int_equal(tendon_fjorden_encode_smp(TENDON_FJORDEN_SMP_ECHO, 7, text, cases[i].length, out, 7 + body),
                         TENDON_ERROR_BUFFER_TOO_SMALL);
    }
    for (int request = 0; request < 6; request++) {
        tendon_status size =
            tendon_fjorden_encode_smp((tendon_fjorden_smp_request)request, 7, text, 0, out, sizeof out);
        assert_int_equal(size > 0, request < 4);
        assert_true(request < 4 || size == TENDON_ERROR_INVALID_ARGUMENT);
    }
}

static void a_custom_button_has_a_number_from_0_to_15(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int event;
    } cases[] = {
        {"customButtonPress(0)", TENDON_FJORDEN_CUSTOM_PRESS},
        {"customButtonPress(15)", TENDON_FJORDEN_CUSTOM_PRESS + 15},
        {"customButtonLongPress(0)", TENDON_FJORDEN_CUSTOM_LONG_PRESS},
        {"customButtonLongPress(15)", TENDON_FJORDEN_CUSTOM_LONG_PRESS + 15},
        {"customButtonPress(16)", -1},
        {"customButtonPress(99)", -1},
        {"customButtonPress()", -1},
        {"customButtonPress(123)", -1},
        {"customButtonPress(/)", -1},
        {"customButtonPress(:)", -1},
        {"customButtonPress(1", -1},
        {"customButtonPress[1)", -1},
        {"customButtonPress", -1},
        {"shutterButtonDown", TENDON_FJORDEN_SHUTTER_DOWN},
        {"shutterButtonDown2", -1},
        {"shutterButtonDow", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        block b = block_copy(cases[i].name, strlen(cases[i].name));
        assert_int_equal(tendon_fjorden_event_named((const char *)b.data, b.length), cases[i].event);
        free(b.data);
    }
}

static size_t count_of(tendon_fjorden_gesture_engine *engine, tendon_fjorden_control control, int32_t value) {
    tendon_fjorden_gestures out;
    assert_int_equal(tendon_fjorden_gesture_input(engine, 1000, control, value, &out), TENDON_OK);
    return out.count;
}

/* A position that is told twice is one. */
static void the_same_position_again_is_no_event(void **state) {
    (void)state;
    tendon_fjorden_gesture_engine engine;
    const tendon_fjorden_config config = tendon_fjorden_config_default();
    assert_int_equal(tendon_fjorden_gesture_init(&engine, &config), TENDON_OK);
    static const struct {
        tendon_fjorden_control control;
        int32_t value;
        size_t events;
    } moves[] = {
        {TENDON_FJORDEN_CONTROL_SHUTTER, 0, 0}, {TENDON_FJORDEN_CONTROL_SHUTTER, 1, 1},
        {TENDON_FJORDEN_CONTROL_SHUTTER, 1, 0}, {TENDON_FJORDEN_CONTROL_SHUTTER, 2, 1},
        {TENDON_FJORDEN_CONTROL_SHUTTER, 2, 0}, {TENDON_FJORDEN_CONTROL_SHUTTER, 1, 0},
        {TENDON_FJORDEN_CONTROL_SHUTTER, 2, 1}, {TENDON_FJORDEN_CONTROL_SHUTTER, 0, 1},
        {TENDON_FJORDEN_CONTROL_SHUTTER, 2, 2}, {TENDON_FJORDEN_CONTROL_SHUTTER, 0, 1},
        {TENDON_FJORDEN_CONTROL_LEVER, 0, 0},   {TENDON_FJORDEN_CONTROL_LEVER, 1, 0},
        {TENDON_FJORDEN_CONTROL_LEVER, 1, 0},   {TENDON_FJORDEN_CONTROL_LEVER, -1, 2},
        {TENDON_FJORDEN_CONTROL_LEVER, 0, 2},   {TENDON_FJORDEN_CONTROL_DIAL, 0, 0},
        {TENDON_FJORDEN_CONTROL_FN, 0, 0},      {TENDON_FJORDEN_CONTROL_FN, 1, 0},
        {TENDON_FJORDEN_CONTROL_FN, 1, 0},      {TENDON_FJORDEN_CONTROL_FN, 0, 1},
    };
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        if (count_of(&engine, moves[i].control, moves[i].value) != moves[i].events) {
            fail_msg("move %zu", i);
        }
    }
}

/* Another event between does not make a lever that was left forgotten, nor one that was never moved remembered. */
static void a_loss_releases_what_was_last_told_of_the_lever(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new(NULL);
    fjorden_reach_connected(f);
    tendon_simulated_fjorden *grip = &f->grips[0];
    fjorden_run(f, 100);
    fjorden_forget(f);
    tendon_simulated_fjorden_event(grip, 0x31, 0, f->now);  /* left */
    tendon_simulated_fjorden_event(grip, 0x80, 20, f->now); /* battery low, whose number is above those of the lever */
    tendon_simulated_fjorden_event(grip, 0x43, 0, f->now);  /* so is a custom button's */
    tendon_simulated_fjorden_lose(grip, 1);
    tendon_simulated_fjorden_event(grip, 0x35, 0, f->now); /* neutral, lost */
    tendon_simulated_fjorden_event(grip, 0x11, 1, f->now);
    fjorden_run(f, 1000);
    fjorden_assert_events(f, "31 80 43 11 35*");
    free(f);
}

#define TEXT_60 "012345678901234567890123456789012345678901234567890123456789"
#define LONGEST TEXT_60 "abc"
#define LONGEST_BAD "\x01" TEXT_60 "ab" /* what would be shown has 63 bytes again */

/* A text with a byte that cannot be shown is as if it were missing, whatever its length. */
static void a_text_is_whole_or_missing(void **state) {
    (void)state;
    static const struct {
        const char *firmware;
        bool present;
    } cases[] = {{LONGEST, true},     {LONGEST "1", false},     {LONGEST_BAD, false},
                 {"1.2.0", true},     {"1.2\x01", false},       {"1.2\x7F", false},
                 {"1.2.\xC3", false}, {"1.2.0 \xC3\xA9", true}, {TEXT_60 TEXT_60 TEXT_60 TEXT_60 TEXT_60, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tendon_simulated_fjorden_options options = {.serial = cases[i].firmware};
        fjorden_fixture *f = fjorden_new(&options);
        fjorden_reach_connected(f);
        (void)tendon_fjorden_session_read_info(&f->session, f->now);
        fjorden_run(f, 2000);
        assert_int_equal(f->session.info.present[TENDON_FJORDEN_STRING_SERIAL], cases[i].present);
        assert_string_equal(f->session.info.strings[TENDON_FJORDEN_STRING_SERIAL],
                            cases[i].present ? cases[i].firmware : "");
        assert_true(f->session.info.present[TENDON_FJORDEN_STRING_MODEL]);
        free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_head_of_a_text_grows_with_its_length),
        cmocka_unit_test(a_custom_button_has_a_number_from_0_to_15),
        cmocka_unit_test(the_same_position_again_is_no_event),
        cmocka_unit_test(a_loss_releases_what_was_last_told_of_the_lever),
        cmocka_unit_test(a_text_is_whole_or_missing),
    };
    return cmocka_run_group_tests_name("fjorden_bounds", tests, NULL, NULL);
}
