/* SPDX-License-Identifier: MIT */
/* Fjorden gestures: each row of the derivation, every position with every input, against a plain second writing. */
#include "test_bytes.h"

#include "tendon/simulate/fjorden_gesture.h"

typedef struct hand {
    tendon_fjorden_gesture_engine engine;
    char text[1024]; /* "120:31 120:35": time and code; dial with "x" and its count */
} hand;

static void hand_init(hand *h, uint16_t long_press, uint16_t hold, uint8_t divider) {
    tendon_fjorden_config config = {long_press, hold, divider};
    memset(h, 0, sizeof *h);
    assert_int_equal(tendon_fjorden_gesture_init(&h->engine, &config), TENDON_OK);
}

static tendon_status move(hand *h, uint64_t now, int control, int32_t value) {
    tendon_fjorden_gestures out;
    tendon_status status = tendon_fjorden_gesture_input(&h->engine, now, (tendon_fjorden_control)control, value, &out);
    assert_true(out.count <= TENDON_FJORDEN_GESTURES_MAX);
    for (size_t i = 0; i < out.count; i++) {
        size_t used = strlen(h->text);
        snprintf(h->text + used, sizeof h->text - used, "%s%u:%02x", used > 0 ? " " : "",
                 (unsigned)out.events[i].time_ms, out.events[i].event);
        if (out.events[i].count != 1) {
            used = strlen(h->text);
            snprintf(h->text + used, sizeof h->text - used, "x%u", (unsigned)out.events[i].count);
        }
    }
    return status;
}

enum {
    SHUTTER = TENDON_FJORDEN_CONTROL_SHUTTER,
    FN = TENDON_FJORDEN_CONTROL_FN,
    BUTTON = TENDON_FJORDEN_CONTROL_DIAL_BUTTON,
    DIAL = TENDON_FJORDEN_CONTROL_DIAL,
    LEVER = TENDON_FJORDEN_CONTROL_LEVER,
    TIME = TENDON_FJORDEN_CONTROL_NONE
};

typedef struct step {
    uint16_t at;
    uint8_t control;
    int8_t value;
} step;

static void rows_of_the_derivation(void **state) {
    (void)state;
    static const struct {
        const char *what;
        uint8_t divider;
        step steps[6];
        size_t count;
        const char *events;
    } rows[] = {
        {"rise to half, full, back to half, full, up",
         1,
         {{0, SHUTTER, 1}, {10, SHUTTER, 2}, {20, SHUTTER, 1}, {30, SHUTTER, 2}, {40, SHUTTER, 0}},
         5,
         "0:01 10:02 30:02 40:03"},
        {"straight down and up", 1, {{0, SHUTTER, 2}, {5, SHUTTER, 0}}, 2, "0:01 0:02 5:03"},
        {"fn short", 1, {{0, FN, 1}, {499, FN, 0}}, 2, "499:21"},
        {"27: fn long", 1, {{0, FN, 1}, {800, FN, 0}}, 2, "500:22"},
        {"fn released at the limit", 1, {{0, FN, 1}, {500, FN, 0}}, 2, "500:22"},
        {"dial pressed short and long",
         1,
         {{0, BUTTON, 1}, {100, BUTTON, 0}, {200, BUTTON, 1}, {900, TIME, 0}},
         4,
         "100:13 700:14"},
        {"a turn cancels the press", 1, {{0, BUTTON, 1}, {100, DIAL, 2}, {900, BUTTON, 0}}, 3, "100:11x2"},
        {"the remainder is kept", 3, {{0, DIAL, 2}, {1, DIAL, 2}, {2, DIAL, 2}}, 3, "1:11 2:11"},
        {"a change of direction drops it", 3, {{0, DIAL, 2}, {1, DIAL, -2}, {2, DIAL, -1}}, 3, "2:12"},
        {"26: lever short", 1, {{0, LEVER, -1}, {120, LEVER, 0}}, 2, "120:31 120:35"},
        {"lever held", 1, {{0, LEVER, 1}, {1000, LEVER, 0}}, 2, "400:34 1000:35"},
        {"lever from side to side",
         1,
         {{0, LEVER, -1}, {100, LEVER, 1}, {600, LEVER, 0}},
         3,
         "100:31 100:35 500:34 600:35"},
        /* fn again while the shutter is still down: one reset for one time of holding both */
        {"one reset",
         1,
         {{0, SHUTTER, 1}, {100, FN, 1}, {5200, FN, 0}, {5300, FN, 1}, {10400, FN, 0}, {10500, SHUTTER, 0}},
         6,
         "0:01 5100:82 10500:03"},
        {"the reset", 1, {{0, SHUTTER, 1}, {100, FN, 1}, {5200, FN, 0}, {5300, SHUTTER, 0}}, 4, "0:01 5100:82 5300:03"},
        {"fn says nothing until both are up",
         1,
         {{0, FN, 1}, {10, SHUTTER, 1}, {20, FN, 0}, {30, FN, 1}, {40, SHUTTER, 0}, {50, FN, 0}},
         6,
         "10:01 40:03"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hand h;
        hand_init(&h, 500, 400, rows[i].divider);
        for (size_t n = 0; n < rows[i].count; n++) {
            const step *s = &rows[i].steps[n];
            assert_int_equal(move(&h, s->at, s->control, s->value), TENDON_OK);
        }
        if (strcmp(h.text, rows[i].events) != 0) {
            print_error("%s\n", rows[i].what);
        }
        assert_string_equal(h.text, rows[i].events);
    }
}

/* All positions of all controls, all inputs, right and wrong: the position follows, and what is wrong changes nothing.
 */
static void every_position_with_every_input(void **state) {
    (void)state;
    unsigned pairs = 0;
    for (unsigned from = 0; from < 3 * 2 * 2 * 3; from++) {
        for (int control = TIME; control <= LEVER; control++) {
            for (int value = -3; value <= 3; value++) {
                hand h;
                hand_init(&h, 500, 400, 2);
                uint8_t shutter = (uint8_t)(from % 3), fn = (uint8_t)(from / 3 % 2), button = (uint8_t)(from / 6 % 2);
                int8_t lever = (int8_t)((int)(from / 12) - 1);
                move(&h, 0, SHUTTER, shutter);
                move(&h, 0, FN, fn);
                move(&h, 0, BUTTON, button);
                move(&h, 0, LEVER, lever);
                tendon_fjorden_gesture_engine before = h.engine;
                h.text[0] = '\0';
                static const int least[] = {-3, 0, 0, 0, -3, -1}, most[] = {3, 2, 1, 1, 3, 1};
                bool good = value >= least[control] && value <= most[control];
                tendon_status status = move(&h, 10, control, value);
                assert_int_equal(status, good ? TENDON_OK : TENDON_ERROR_INVALID_ARGUMENT);
                if (!good) {
                    assert_memory_equal(&before, &h.engine, sizeof before);
                    assert_string_equal(h.text, "");
                } else {
                    assert_int_equal(h.engine.shutter, control == SHUTTER ? value : shutter);
                    assert_int_equal(h.engine.fn, control == FN ? value : fn);
                    assert_int_equal(h.engine.dial_button, control == BUTTON ? value : button);
                    assert_int_equal(h.engine.lever, control == LEVER ? value : lever);
                }
                /* Whatever happens, letting go of everything ends it. */
                for (int c = SHUTTER; c <= LEVER; c++) {
                    move(&h, 20, c, 0);
                }
                assert_true(tendon_fjorden_gesture_deadline(&h.engine) == TENDON_FJORDEN_NEVER);
                pairs++;
            }
        }
    }
    assert_int_equal(pairs, 36 * 6 * 7);
}

/* Timers fire at their time, not when somebody looks; looking often or seldom makes no difference. */
static void time_alone_decides(void **state) {
    (void)state;
    dice d = {0x47726970};
    for (int round = 0; round < 2000; round++) {
        hand often, seldom;
        uint16_t limit = (uint16_t)(200 + roll(&d) % 600);
        hand_init(&often, limit, limit, 1);
        hand_init(&seldom, limit, limit, 1);
        uint64_t now = 0;
        for (int n = 0; n < 12; n++) {
            uint64_t next = now + roll(&d) % 900;
            int control = SHUTTER + (int)(roll(&d) % 5);
            int value = control == DIAL ? (int)(roll(&d) % 7) - 3 : (int)(roll(&d) % 2);
            for (; now < next; now += 37) {
                move(&often, now, TIME, 0);
            }
            now = next;
            move(&often, now, control, value);
            move(&seldom, now, control, value);
        }
        assert_string_equal(often.text, seldom.text);
    }
}

static void values_beyond_a_control_are_refused(void **state) {
    (void)state;
    static const struct {
        int control;
        int32_t least, most;
    } rows[] = {{SHUTTER, 0, 2}, {BUTTON, 0, 1}, {DIAL, INT16_MIN, INT16_MAX}, {LEVER, -1, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const int32_t values[] = {rows[i].least - 1, rows[i].least, rows[i].most, rows[i].most + 1};
        for (size_t v = 0; v < 4; v++) {
            hand h;
            hand_init(&h, 500, 400, 1);
            tendon_status expected = v == 0 || v == 3 ? TENDON_ERROR_INVALID_ARGUMENT : TENDON_OK;
            assert_int_equal(move(&h, 0, rows[i].control, values[v]), expected);
        }
    }
}

/* Held once, it resets once; released and held again, it resets again. */
static void each_time_the_combination_is_held_it_resets(void **state) {
    (void)state;
    hand h;
    hand_init(&h, 500, 400, 1);
    uint64_t now = 0;
    size_t before = 0;
    for (int round = 0; round < 3; round++) {
        move(&h, now, SHUTTER, 1);
        move(&h, now + 10, FN, 1);
        move(&h, now + 10 + TENDON_FJORDEN_RESET_MS, TIME, 0);
        size_t length = strlen(h.text);
        assert_true(length > before);
        move(&h, now + 20 + 2 * TENDON_FJORDEN_RESET_MS, TIME, 0);
        assert_int_equal(strlen(h.text), length); /* once */
        move(&h, now + 30 + 2 * TENDON_FJORDEN_RESET_MS, FN, 0);
        move(&h, now + 40 + 2 * TENDON_FJORDEN_RESET_MS, SHUTTER, 0);
        char code[8];
        snprintf(code, sizeof code, ":%02x", TENDON_FJORDEN_BOND_RESET);
        size_t count = 0;
        for (const char *at = h.text; (at = strstr(at, code)) != NULL; at++) {
            count++;
        }
        assert_int_equal(count, round + 1);
        before = strlen(h.text);
        now += 100 + 2 * TENDON_FJORDEN_RESET_MS;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_the_derivation),
        cmocka_unit_test(every_position_with_every_input),
        cmocka_unit_test(time_alone_decides),
        cmocka_unit_test(values_beyond_a_control_are_refused),
        cmocka_unit_test(each_time_the_combination_is_held_it_resets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
