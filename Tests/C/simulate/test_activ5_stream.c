/* SPDX-License-Identifier: MIT */
/* Simulated Activ5 trainer: force and motion of both generations, full links, malformed values. Handles: test_activ5.c
 */
#include "device_fixture.h"

#include <math.h>

#define LISTEN "12 07 00 01 00"
#define HANDSHAKE "12 09 00 41 54 56 47 54 49 4d 45 13"
#define ISOMETRIC "12 09 00 41 49 53 4f 4d 21 13"
#define STOP "12 09 00 41 53 54 4f 50 21 13"
#define TARE "12 09 00 41 54 41 52 45 21 13"
#define FORCE "12 0d 00 01 00"
#define MOTION "12 10 00 01 00"
#define TIME "12 13 00 01 00"

typedef struct fixture {
    tendon_simulated_activ5 trainer;
    device_fixture *f;
} fixture;

static void join(fixture *x, size_t which, uint16_t mtu) {
    assert_int_equal(device_connect(x->f, which, mtu), TENDON_OK);
    device_exchange(x->f, which, LISTEN, "13");
    device_exchange(x->f, which, HANDSHAKE, "13");
    device_run(x->f, x->f->now);
    device_forget(x->f, which);
}

static fixture *ready(const tendon_simulated_activ5_options *options) {
    fixture *x = calloc(1, sizeof *x);
    assert_non_null(x);
    assert_int_equal(tendon_simulated_activ5_init(&x->trainer, options), TENDON_OK);
    x->f = device_fixture_new(tendon_simulated_activ5_device(&x->trainer));
    join(x, 0, 185);
    return x;
}

static void start(fixture *x, const char *request) {
    device_exchange(x->f, 0, request, "13");
    device_forget(x->f, 0);
}

static void done(fixture *x) {
    free(x->f);
    free(x);
}

static const device_taken *taken(const fixture *x, size_t index) {
    assert_true(index < x->f->centrals[0].count);
    return &x->f->centrals[0].pdus[index];
}

static int16_t force_of(const device_taken *t) {
    assert_int_equal(t->bytes[1], 0x0C);
    assert_int_equal(t->length, 5);
    return (int16_t)((uint16_t)t->bytes[3] | (uint16_t)(t->bytes[4] << 8));
}

/** The number of a well-formed force text without stale bytes. */
static int text_of(const device_taken *t) {
    char text[24] = "";
    assert_true(t->bytes[1] == 0x06 && t->bytes[3] == 0x12 && t->bytes[t->length - 1] == 0x13);
    memcpy(text, t->bytes + 4, t->length - 5u);
    int value = 0, end = 0;
    assert_int_equal(sscanf(text, "IS%d/IS%n", &value, &end), 1);
    assert_int_equal(strlen(text), (size_t)end);
    return value;
}

/* ---- the script ---- */

static void script_has_the_squeezes_it_promises(void **state) {
    (void)state;
    bool pressed = false;
    unsigned presses = 0, pushes = 0;
    uint64_t started[3] = {0}, ended[3] = {0};
    for (uint64_t ms = 0; ms < TENDON_SIMULATED_ACTIV5_SCRIPT_MS; ms++) {
        int32_t raw = tendon_simulated_activ5_script(ms);
        double newtons = tendon_simulated_activ5_newtons(raw);
        assert_int_equal(raw % 4, 0);
        assert_int_equal(raw, tendon_simulated_activ5_script(ms + 7 * TENDON_SIMULATED_ACTIV5_SCRIPT_MS));
        if (!pressed && newtons > 20) {
            assert_true(presses < 3);
            started[presses] = ms;
            pressed = true;
        } else if (pressed && newtons < 5) {
            ended[presses++] = ms;
            pressed = false;
        }
        pushes += newtons > 10 && newtons < 20 && ms > 14100 && ms < 14900 ? 1 : 0;
    }
    assert_int_equal(presses, 3);
    const uint64_t begins[3] = {1000, 8000, 9000}, ends[3] = {1600, 8500, 9500};
    for (int i = 0; i < 3; i++) {
        assert_true(started[i] > begins[i] && started[i] < begins[i] + 100);
        assert_true(ended[i] > ends[i] - 100 && ended[i] < ends[i]);
    }
    assert_true(pushes > 500);
}

static void both_generations_tell_the_script(void **state) {
    (void)state;
    fixture *x = ready(NULL);
    start(x, FORCE);
    uint64_t base = x->f->now;
    device_run(x->f, base + 20000);
    assert_int_equal(x->f->centrals[0].count, 200);
    for (size_t i = 0; i < 200; i++) {
        assert_int_equal(taken(x, i)->at, base + 100 * (i + 1));
        assert_int_equal(force_of(taken(x, i)), tendon_simulated_activ5_script(100 * (i + 1)));
    }
    device_send(x->f, 0, "12 0d 00 00 00");
    start(x, ISOMETRIC); /* the text protocol is on new devices, too */
    device_run(x->f, base + 40000);
    assert_int_equal(x->f->centrals[0].count, 200);
    for (size_t i = 0; i < 200; i++) {
        assert_int_equal(4 * text_of(taken(x, i)), tendon_simulated_activ5_script(100 * (i + 1)));
    }
    start(x, STOP);
    device_run(x->f, base + 50000);
    assert_int_equal(x->f->centrals[0].count, 0);
    assert_int_equal(x->trainer.counters.force, 400);
    done(x);
}

static void squeezes_on_demand(void **state) {
    (void)state;
    const tendon_simulated_activ5_options options = {.legacy = true, .no_script = true};
    fixture *x = ready(&options);
    start(x, ISOMETRIC);
    assert_int_equal(tendon_simulated_activ5_squeeze(&x->trainer, 1000, 80, x->f->now), TENDON_OK);
    device_run(x->f, x->f->now + 100);
    device_expect_last(x->f, 0, "1b 06 00 12 49 53 32 30 2f 49 53 13");
    device_run(x->f, x->f->now + 900);
    device_expect_last(x->f, 0, "1b 06 00 12 49 53 30 2f 49 53 13");
    device_forget(x->f, 0);
    assert_int_equal(tendon_simulated_activ5_double_squeeze(&x->trainer, x->f->now), TENDON_OK);
    device_run(x->f, x->f->now + 1100);
    static const int expected[11] = {40, 40, 40, 0, 0, 0, 40, 40, 40, 0, 0};
    for (size_t i = 0; i < 11; i++) {
        assert_int_equal(text_of(taken(x, i)), expected[i]);
    }
    for (size_t i = 0; i < TENDON_SIMULATED_ACTIV5_PRESSES; i++) {
        assert_int_equal(tendon_simulated_activ5_squeeze(&x->trainer, 1000, 80, x->f->now), TENDON_OK);
    }
    assert_int_equal(tendon_simulated_activ5_squeeze(&x->trainer, 1000, 80, x->f->now), TENDON_ERROR_TABLE_FULL);
    assert_int_equal(tendon_simulated_activ5_double_squeeze(&x->trainer, x->f->now), TENDON_ERROR_TABLE_FULL);
    done(x);
}

static void tare_takes_the_load_for_nothing(void **state) {
    (void)state;
    const tendon_simulated_activ5_options options = {.no_script = true};
    fixture *x = ready(&options);
    start(x, FORCE);
    tendon_simulated_activ5_load(&x->trainer, 300);
    device_run(x->f, x->f->now + 100);
    device_expect_last(x->f, 0, "1b 0c 00 2c 01");
    device_send(x->f, 0, TARE);
    device_run(x->f, x->f->now + 100);
    device_expect_last(x->f, 0, "1b 0c 00 00 00");
    tendon_simulated_activ5_load(&x->trainer, 44); /* negative after a tare */
    device_run(x->f, x->f->now + 100);
    device_expect_last(x->f, 0, "1b 0c 00 00 ff");
    static const int32_t heavy[] = {100000, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < 3; i++) {
        tendon_simulated_activ5_load(&x->trainer, heavy[i]);
        tendon_simulated_activ5_squeeze(&x->trainer, 300, heavy[i], x->f->now);
        device_run(x->f, x->f->now + 200); /* no longer at the edge of the squeeze */
        device_expect_last(x->f, 0, heavy[i] > 0 ? "1b 0c 00 ff 7f" : "1b 0c 00 00 80");
    }
    done(x);
}

/* ---- motion and time ---- */

static double i16_at(const device_taken *t, size_t offset) {
    return (int16_t)((uint16_t)t->bytes[3 + offset] | (uint16_t)(t->bytes[4 + offset] << 8));
}

static uint32_t u32_at(const device_taken *t, size_t offset) {
    return (uint32_t)t->bytes[3 + offset] | (uint32_t)t->bytes[4 + offset] << 8 | (uint32_t)t->bytes[5 + offset] << 16 |
           (uint32_t)t->bytes[6 + offset] << 24;
}

static void motion_follows_its_script(void **state) {
    (void)state;
    fixture *x = ready(NULL);
    start(x, MOTION);
    device_run(x->f, x->f->now + 10000);
    assert_int_equal(x->f->centrals[0].count, 250);
    double integral = 0;
    for (size_t i = 0; i < 250; i++) {
        const device_taken *t = taken(x, i);
        assert_true(t->length == 19 && t->bytes[1] == 0x0F);
        uint64_t ms = 40 * (i + 1);
        double roll = tendon_simulated_activ5_roll(ms);
        assert_true(fabs(i16_at(t, 2) / 4095 - sin(roll)) < 2e-4 && fabs(i16_at(t, 4) / 4095 - cos(roll)) < 2e-4);
        integral += i16_at(t, 6) * (250.0 / 4095) * 1.15 * 3.14159265358979 / 180 * 0.040;
        assert_true(fabs(integral - roll) < 0.02); /* the scaled gyro, summed up, is the roll */
        assert_true(i16_at(t, 0) == 0 && i16_at(t, 8) == 0 && i16_at(t, 10) == 0);
        assert_true(fabs(u32_at(t, 12) * 15.25e-3 - (double)ms) < 0.016);
    }
    done(x);
}

static void time_wraps_at_32_bits(void **state) {
    (void)state;
    const tendon_simulated_activ5_options options = {.ticks = 0xFFFFFF00};
    fixture *x = ready(&options);
    device_exchange(x->f, 0, "0a 12 00", "0b 00 ff ff ff");
    start(x, TIME);
    device_run(x->f, x->f->now + 100);
    assert_int_equal(u32_at(taken(x, 0), 0), 6557 - 0x100);
    device_exchange(x->f, 0, "0a 12 00", "0b 9d 18 00 00");
    done(x);
}

static void sample_rate_of_both_streams(void **state) {
    (void)state;
    fixture *x = ready(NULL);
    start(x, FORCE);
    start(x, MOTION);
    device_run(x->f, x->f->now + 1000);
    assert_int_equal(x->f->centrals[0].count, 10 + 25);
    start(x, "12 19 00 32 00"); /* 50 Hz */
    device_run(x->f, x->f->now + 1000);
    assert_int_equal(x->f->centrals[0].count, 50 + 50);
    done(x);
}

static void battery_is_told_when_it_changes(void **state) {
    (void)state;
    fixture *x = ready(NULL);
    start(x, "12 1d 00 01 00");
    tendon_simulated_activ5_set_battery(&x->trainer, 74);
    tendon_simulated_activ5_set_battery(&x->trainer, 74);
    assert_int_equal(x->f->centrals[0].count, 1);
    device_expect_last(x->f, 0, "1b 1c 00 4a");
    assert_int_equal(x->trainer.counters.notifications, 0);
    done(x);
}

/* ---- links ---- */

static void nothing_is_lost_on_a_full_link(void **state) {
    (void)state;
    const tendon_simulated_activ5_options options = {.flat_out = true, .notification_limit = 3000};
    fixture *x = ready(&options);
    join(x, 1, 23);
    start(x, FORCE);
    device_exchange(x->f, 1, ISOMETRIC, "13");
    device_forget(x->f, 1);
    x->f->centrals[0].room = x->f->centrals[1].room = 0;
    dice d = {42};
    for (int step = 0; step < 20000 && x->trainer.counters.notifications < 3000; step++) {
        device_writable(x->f, roll(&d) % 2, (int)(roll(&d) % 4));
        device_run(x->f, x->f->now);
    }
    assert_int_equal(x->trainer.counters.notifications, 3000);
    assert_in_range(x->trainer.counters.blocked, 500, 30000);
    size_t count = x->f->centrals[0].count;
    assert_true(count == 1500);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(force_of(taken(x, i)), tendon_simulated_activ5_script(100 * (i + 1)));
        assert_int_equal(4 * text_of(&x->f->centrals[1].pdus[i]), tendon_simulated_activ5_script(100 * (i + 1)));
    }
    assert_int_equal(x->f->device.ops->deadline(&x->trainer), x->trainer.idle_since + 420000);
    done(x);
}

static void a_lost_link_does_not_hold_the_others(void **state) {
    (void)state;
    fixture *x = ready(NULL);
    start(x, FORCE);
    join(x, 1, 185);
    device_exchange(x->f, 1, FORCE, "13");
    x->f->centrals[1].room = 0;
    device_run(x->f, x->f->now + 1000);
    assert_int_equal(x->f->centrals[0].count, 1); /* it waits for the other */
    device_disconnect(x->f, 1);
    device_run(x->f, x->f->now);
    assert_int_equal(x->f->centrals[0].count, 10);
    done(x);
}

static void a_text_queue_that_overflows_is_counted(void **state) {
    (void)state;
    fixture *x = ready(NULL);
    x->f->centrals[0].room = 0;
    for (int i = 0; i < 40; i++) {
        device_send(x->f, 0, "12 09 00 41 53 4e 31 21 13"); /* the first answer waits, the rest are pipelined */
        device_writable(x->f, 0, 1);                        /* room for the answer alone */
        x->f->centrals[0].room = 0;
    }
    assert_true(x->trainer.counters.texts_lost > 0);
    device_writable(x->f, 0, -1);
    device_run(x->f, x->f->now);
    assert_int_equal(x->trainer.outboxes[0].text_count, 0);
    done(x);
}

/* ---- malformed, stale, split ---- */

static void stale_tails(void **state) {
    (void)state;
    const tendon_simulated_activ5_options options = {.legacy = true, .no_script = true, .stale_tails = true};
    fixture *x = ready(&options);
    tendon_simulated_activ5_load(&x->trainer, 36);
    start(x, ISOMETRIC);
    device_run(x->f, x->f->now + 100);
    device_expect_last(x->f, 0, "1b 06 00 12 49 53 39 2f 49 53 13 30 30 3b 30 34 3b 42 41 54 4f 4b 13");
    done(x);
}

static void split_frames_come_in_two(void **state) {
    (void)state;
    const tendon_simulated_activ5_options options = {.legacy = true, .no_script = true, .split_frames = true};
    fixture *x = ready(&options);
    tendon_simulated_activ5_load(&x->trainer, 400);
    start(x, ISOMETRIC);
    device_run(x->f, x->f->now + 100);
    assert_int_equal(x->f->centrals[0].count, 2);
    device_expect(x->f, 0, 0, "1b 06 00 12 49 53 31");
    device_expect(x->f, 0, 1, "1b 06 00 30 30 2f 49 53 13");
    assert_int_equal(x->trainer.counters.force, 1);
    done(x);
}

static void malformed_texts_on_demand(void **state) {
    static const char *const expected[TENDON_ACTIV5_MALFORM_COUNT] = {"1b 06 00",
                                                                      "1b 06 00 12 49 53 31",
                                                                      "1b 06 00 12 49 53 35 13",
                                                                      "1b 06 00 12 49 53 78 2f 49 53 13",
                                                                      "1b 06 00 12 49 53 ff 2f 49 53 13",
                                                                      NULL,
                                                                      "1b 06 00 12 68 65 6c 6c 6f 13",
                                                                      NULL,
                                                                      NULL};
    (void)state;
    const tendon_simulated_activ5_options options = {.legacy = true};
    fixture *x = ready(&options);
    start(x, ISOMETRIC);
    uint64_t malformed = 0;
    for (unsigned kind = 0; kind < TENDON_ACTIV5_MALFORM_SHORT_IMU; kind++) {
        device_forget(x->f, 0);
        tendon_simulated_activ5_inject(&x->trainer, (tendon_simulated_activ5_malformation)kind, 1);
        device_run(x->f, x->f->now + 200);
        malformed++;
        assert_int_equal(x->trainer.counters.malformed, malformed);
        assert_int_equal(x->f->centrals[0].count, kind == TENDON_ACTIV5_MALFORM_LONG ? 8 : 2);
        if (expected[kind] != NULL) {
            device_expect(x->f, 0, 0, expected[kind]);
        }
        if (kind == TENDON_ACTIV5_MALFORM_LONG) {
            for (size_t i = 0; i < 7; i++) {
                device_expect(x->f, 0, i,
                              i == 0 ? "1b 06 00 12 35 35 35 35 35 35 35 35 35 35 35 35 35 35 35 35 35 35 35"
                                     : "1b 06 00 35 35 35 35 35 35 35 35 35 35 35 35 35 35 35 35 35 35 35 35");
            }
        }
        (void)text_of(taken(x, x->f->centrals[0].count - 1)); /* and then a good one */
    }
    done(x);
}

static void malformed_binary_values_on_demand(void **state) {
    static const uint16_t lengths[TENDON_ACTIV5_MALFORM_COUNT] = {0, 1, 1, 1, 1, 1, 1, 20, 2};
    (void)state;
    fixture *x = ready(NULL);
    start(x, FORCE);
    for (unsigned kind = 0; kind < TENDON_ACTIV5_MALFORM_COUNT; kind++) {
        device_forget(x->f, 0);
        tendon_simulated_activ5_inject(&x->trainer, (tendon_simulated_activ5_malformation)kind, 1);
        device_run(x->f, x->f->now + 200);
        assert_int_equal(x->f->centrals[0].count, 2);
        assert_int_equal(taken(x, 0)->length - 3, lengths[kind]);
        (void)force_of(taken(x, 1));
    }
    start(x, MOTION); /* the last kind still waits for motion */
    device_run(x->f, x->f->now + 80);
    assert_int_equal(taken(x, 0)->length - 3, 15);
    assert_int_equal(x->trainer.counters.malformed, TENDON_ACTIV5_MALFORM_COUNT);
    done(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(script_has_the_squeezes_it_promises),
        cmocka_unit_test(both_generations_tell_the_script),
        cmocka_unit_test(squeezes_on_demand),
        cmocka_unit_test(tare_takes_the_load_for_nothing),
        cmocka_unit_test(motion_follows_its_script),
        cmocka_unit_test(time_wraps_at_32_bits),
        cmocka_unit_test(sample_rate_of_both_streams),
        cmocka_unit_test(battery_is_told_when_it_changes),
        cmocka_unit_test(nothing_is_lost_on_a_full_link),
        cmocka_unit_test(a_lost_link_does_not_hold_the_others),
        cmocka_unit_test(a_text_queue_that_overflows_is_counted),
        cmocka_unit_test(stale_tails),
        cmocka_unit_test(split_frames_come_in_two),
        cmocka_unit_test(malformed_texts_on_demand),
        cmocka_unit_test(malformed_binary_values_on_demand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
