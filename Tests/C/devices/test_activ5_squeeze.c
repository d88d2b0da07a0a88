/* SPDX-License-Identifier: MIT */
/* Squeezes and double squeezes: every state of the detector with every input, then courses of force. */
#include "test_bytes.h"

#include "tendon/devices/activ5_squeeze.h"

#include <math.h>

enum {
    IN = TENDON_ACTIV5_PRESS_INITIAL,
    FP = TENDON_ACTIV5_PRESS_FIRST_PRESSED,
    FC = TENDON_ACTIV5_PRESS_FIRST_COMPLETED,
    SP = TENDON_ACTIV5_PRESS_SECOND_PRESSED,
    R = TENDON_ACTIV5_SQUEEZE_RELEASED,
    S = TENDON_ACTIV5_SQUEEZE_SQUEEZED,
    D = TENDON_ACTIV5_SQUEEZE_DEPRESSED,
    DD = TENDON_ACTIV5_SQUEEZE_DOUBLE,
    A = TENDON_ACTIV5_SQUEEZE_ABOVE,
    B = TENDON_ACTIV5_SQUEEZE_BELOW
};

/* What the deadline is afterwards. */
typedef enum timer { KEPT, RESTARTED, OFF } timer;

typedef struct outcome {
    unsigned events;
    unsigned press; /* tendon_activ5_press */
    bool squeezed;
    timer timer;
} outcome;

typedef struct input {
    const char *name;
    double newtons; /* -1: a tick */
} input;

static const input inputs[] = {
    {"above", 20.0000001},
    {"far above", 1e300},
    {"infinity", INFINITY},
    {"exactly pressed", 20.0},
    {"between", 12.0},
    {"exactly depressed", 5.0},
    {"below", 4.9999999},
    {"far below", -1e300},
    {"minus infinity", -INFINITY},
    {"nan", NAN},
    {"tick", -1},
};
enum { INPUTS = sizeof inputs / sizeof inputs[0], NOW = 10000 };

typedef enum kind { ABOVE, MIDDLE, BELOW } kind;

static kind kind_of(size_t index) {
    return index <= 2 ? ABOVE : index >= 6 && index <= 8 ? BELOW : MIDDLE;
}

/* The table of docs/protocols/activ5.md: [press][squeezed][kind], no reset due. */
static const outcome table[4][2][3] = {
    [IN] = {{{A | S, FP, true, RESTARTED}, {0, IN, false, KEPT}, {0, IN, false, KEPT}},
            {{A, FP, true, RESTARTED}, {0, IN, true, KEPT}, {0, IN, true, KEPT}}},
    [FP] = {{{A | S, FP, true, RESTARTED}, {0, FP, false, KEPT}, {B, FC, false, KEPT}},
            {{A, FP, true, RESTARTED}, {0, FP, true, KEPT}, {B | D, FC, false, KEPT}}},
    [FC] = {{{A | S, SP, true, RESTARTED}, {0, FC, false, KEPT}, {0, FC, false, KEPT}},
            {{A, SP, true, RESTARTED}, {0, FC, true, KEPT}, {0, FC, true, KEPT}}},
    [SP] = {{{A | S, SP, true, RESTARTED}, {0, SP, false, KEPT}, {B | DD, IN, false, OFF}},
            {{A, SP, true, RESTARTED}, {0, SP, true, KEPT}, {B | D | DD, IN, false, OFF}}},
};

static void check(tendon_activ5_press press, bool squeezed, uint64_t deadline, size_t i, bool release) {
    tendon_activ5_squeeze_config config = tendon_activ5_squeeze_defaults();
    config.release_on_reset = release;
    tendon_activ5_squeeze q = {press, squeezed, deadline != 0, deadline};
    bool due = deadline != 0 && deadline <= NOW;
    unsigned reset = due && squeezed && release ? R : 0;
    outcome expected = due ? table[IN][squeezed && reset == 0][kind_of(i)] : table[press][squeezed][kind_of(i)];
    unsigned events = i == INPUTS - 1 ? tendon_activ5_squeeze_tick(&q, &config, NOW)
                                      : tendon_activ5_squeeze_sample(&q, &config, inputs[i].newtons, NOW);
    timer after = expected.timer == KEPT && due ? OFF : expected.timer;
    uint64_t left = after == RESTARTED ? NOW + 5000 : after == OFF || deadline == 0 ? UINT64_MAX : deadline;
    if (events != (expected.events | reset) || q.press != expected.press || q.squeezed != expected.squeezed ||
        tendon_activ5_squeeze_deadline(&q) != left) {
        fail_msg("press %d squeezed %d deadline %u %s: events %02x press %d squeezed %d deadline %ju", (int)press,
                 squeezed, (unsigned)deadline, inputs[i].name, events, (int)q.press, q.squeezed,
                 (uintmax_t)tendon_activ5_squeeze_deadline(&q));
    }
}

static void every_state_with_every_input(void **state) {
    (void)state;
    static const uint64_t deadlines[] = {0, 1, NOW - 1, NOW, NOW + 1, NOW + 4999};
    size_t pairs = 0;
    for (int press = IN; press <= SP; press++) {
        for (int squeezed = 0; squeezed <= 1; squeezed++) {
            for (size_t d = 0; d < sizeof deadlines / sizeof deadlines[0]; d++) {
                for (size_t i = 0; i < INPUTS; i++) {
                    check((tendon_activ5_press)press, squeezed != 0, deadlines[d], i, false);
                    check((tendon_activ5_press)press, squeezed != 0, deadlines[d], i, true);
                    pairs++;
                }
            }
        }
    }
    assert_int_equal(pairs, 4 * 2 * 6 * INPUTS);
}

/* ---- courses ---- */

typedef struct sample {
    uint64_t at;
    double newtons; /* -1: a tick */
    unsigned events;
    unsigned press;
} sample;

static tendon_activ5_squeeze course(const sample *samples, size_t count, const tendon_activ5_squeeze_config *config) {
    tendon_activ5_squeeze q = {0};
    for (size_t i = 0; i < count; i++) {
        unsigned events = samples[i].newtons == -1
                              ? tendon_activ5_squeeze_tick(&q, config, samples[i].at)
                              : tendon_activ5_squeeze_sample(&q, config, samples[i].newtons, samples[i].at);
        if ((events & (R | S | D | DD)) != samples[i].events || q.press != samples[i].press) {
            fail_msg("at %u: events %02x, press %d", (unsigned)samples[i].at, events, (int)q.press);
        }
    }
    return q;
}

#define COURSE(config, ...)                                                                                            \
    course((const sample[]){__VA_ARGS__}, sizeof((const sample[]){__VA_ARGS__}) / sizeof(sample), config)

static void example_17_double_squeeze(void **state) {
    (void)state;
    const tendon_activ5_squeeze_config config = tendon_activ5_squeeze_defaults();
    tendon_activ5_squeeze q = COURSE(&config, {0, 22, S, FP}, {150, 3, D, FC}, {700, 24, S, SP}, {900, 4, D | DD, IN});
    assert_true(tendon_activ5_squeeze_deadline(&q) == UINT64_MAX);
}

static void example_18_a_release_after_the_reset_is_not_seen(void **state) {
    (void)state;
    const tendon_activ5_squeeze_config config = tendon_activ5_squeeze_defaults();
    tendon_activ5_squeeze q = COURSE(&config, {0, 22, S, FP}, {100, 10, 0, FP}, {5000, -1, 0, IN}, {5050, 2, 0, IN},
                                     {6000, 22, 0, FP}, {6100, 1, D, FC});
    assert_false(q.squeezed);
}

static void a_release_at_the_deadline_is_too_late(void **state) {
    (void)state;
    const tendon_activ5_squeeze_config config = tendon_activ5_squeeze_defaults();
    tendon_activ5_squeeze q =
        COURSE(&config, {0, 30, S, FP}, {100, 1, D, FC}, {200, 30, S, SP}, {4000, 15, 0, SP}, {5200, 4, 0, IN});
    assert_true(q.squeezed);
    q = COURSE(&config, {0, 30, S, FP}, {100, 1, D, FC}, {200, 30, S, SP}, {5199, 4, D | DD, IN});
    assert_false(q.squeezed);
}

static void three_squeezes_are_one_double_squeeze(void **state) {
    (void)state;
    const tendon_activ5_squeeze_config config = tendon_activ5_squeeze_defaults();
    (void)COURSE(&config, {0, 30, S, FP}, {100, 1, D, FC}, {200, 30, S, SP}, {300, 1, D | DD, IN}, {400, 30, S, FP},
                 {500, 1, D, FC}, {5399, -1, 0, FC}, {5400, -1, 0, IN});
}

static void a_dip_that_is_no_release_belongs_to_the_press(void **state) {
    (void)state;
    const tendon_activ5_squeeze_config config = tendon_activ5_squeeze_defaults();
    (void)COURSE(&config, {0, 30, S, FP}, {100, 5, 0, FP}, {200, 30, 0, FP}, {300, 4.9, D, FC});
}

static void each_sample_above_restarts_the_reset(void **state) {
    (void)state;
    const tendon_activ5_squeeze_config config = tendon_activ5_squeeze_defaults();
    (void)COURSE(&config, {0, 50, S, FP}, {4999, 50, 0, FP}, {9998, 50, 0, FP}, {14997, 1, D, FC}, {14998, -1, 0, IN});
}

/* Raw limits: 19 and 4 in texts, 74 and 18 in the binary force. */
static void the_smallest_raw_values_that_press_and_release(void **state) {
    (void)state;
    const tendon_activ5_squeeze_config config = tendon_activ5_squeeze_defaults();
    static const struct {
        double unit;
        int press, release;
    } units[] = {{1.08625263633, 19, 4}, {0.27156315909, 74, 18}};
    for (size_t i = 0; i < 2; i++) {
        (void)COURSE(&config, {0, (units[i].press - 1) * units[i].unit, 0, IN},
                     {1, units[i].press * units[i].unit, S, FP}, {2, (units[i].release + 1) * units[i].unit, 0, FP},
                     {3, units[i].release * units[i].unit, D, FC});
    }
}

static void release_on_reset_ends_the_squeeze(void **state) {
    (void)state;
    tendon_activ5_squeeze_config config = tendon_activ5_squeeze_defaults();
    config.release_on_reset = true;
    (void)COURSE(&config, {0, 22, S, FP}, {5000, -1, R, IN}, {6000, 22, S, FP}, {6100, 1, D, FC}, {11000, -1, 0, IN},
                 {12000, 30, S, FP}, {17000, 30, R | S, FP});
}

static void thresholds_and_reset_are_the_callers(void **state) {
    (void)state;
    tendon_activ5_squeeze_config config = {.pressed = 2, .depressed = 1, .reset_ms = 10};
    (void)COURSE(&config, {0, 2, 0, IN}, {1, 2.1, S, FP}, {2, 1, 0, FP}, {3, 0.9, D, FC}, {11, -1, 0, IN});
    config.reset_ms = 0; /* nothing is ever in time */
    (void)COURSE(&config, {0, 3, S, FP}, {0, 0, 0, IN}, {1, 3, 0, FP});
    /* limits the wrong way round: still no more than the table says */
    config = (tendon_activ5_squeeze_config){.pressed = 1, .depressed = 9, .reset_ms = 5000};
    (void)COURSE(&config, {0, 5, S, FP}, {1, 0.5, D, FC});
}

static void the_end_of_time(void **state) {
    (void)state;
    const tendon_activ5_squeeze_config config = tendon_activ5_squeeze_defaults();
    tendon_activ5_squeeze q = {0};
    assert_int_equal(tendon_activ5_squeeze_tick(&q, &config, UINT64_MAX), 0);
    assert_int_equal(tendon_activ5_squeeze_sample(&q, &config, 30, UINT64_MAX - 1), A | S);
    assert_true(tendon_activ5_squeeze_deadline(&q) == UINT64_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_with_every_input),
        cmocka_unit_test(example_17_double_squeeze),
        cmocka_unit_test(example_18_a_release_after_the_reset_is_not_seen),
        cmocka_unit_test(a_release_at_the_deadline_is_too_late),
        cmocka_unit_test(three_squeezes_are_one_double_squeeze),
        cmocka_unit_test(a_dip_that_is_no_release_belongs_to_the_press),
        cmocka_unit_test(each_sample_above_restarts_the_reset),
        cmocka_unit_test(the_smallest_raw_values_that_press_and_release),
        cmocka_unit_test(release_on_reset_ends_the_squeeze),
        cmocka_unit_test(thresholds_and_reset_are_the_callers),
        cmocka_unit_test(the_end_of_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
