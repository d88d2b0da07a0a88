/* SPDX-License-Identifier: MIT */
/*
 * Simulated Activ5 trainer against docs/protocols/activ5.md. Handles:
 *   01 service 1800 (03 name), 04 service 5000: 06 5A01, 07 CCCD; 09 5A02
 *   0A service F0F0: 0C F0FE, 0D CCCD; 0F F0F5, 10 CCCD; 12 F0F3, 13 CCCD; 15 F0F7; 17 F0F8; 19 F0FA
 *   1A service 180F: 1C 2A19, 1D CCCD; 1E service 180A: 20 2A25
 */
#include "device_fixture.h"

#define LISTEN "12 07 00 01 00"
#define GREETING "1b 06 00 12 54 43 35 6b 3b 31 2e 30 30 3b 30 34 3b 42 41 54 4f 4b 13"
#define HANDSHAKE "12 09 00 41 54 56 47 54 49 4d 45 13"
#define ISOMETRIC "12 09 00 41 49 53 4f 4d 21 13"
#define STOP "12 09 00 41 53 54 4f 50 21 13"
#define TARE "12 09 00 41 54 41 52 45 21 13"

typedef struct fixture {
    tendon_simulated_activ5 trainer;
    device_fixture *f;
} fixture;

static fixture *fresh(const tendon_simulated_activ5_options *options) {
    fixture *x = calloc(1, sizeof *x);
    assert_non_null(x);
    assert_int_equal(tendon_simulated_activ5_init(&x->trainer, options), TENDON_OK);
    x->f = device_fixture_new(tendon_simulated_activ5_device(&x->trainer));
    return x;
}

/** Connected, greeted, shaken hands. */
static fixture *ready(const tendon_simulated_activ5_options *options) {
    fixture *x = fresh(options);
    assert_int_equal(device_connect(x->f, 0, 185), TENDON_OK);
    device_exchange(x->f, 0, LISTEN, "13");
    device_exchange(x->f, 0, HANDSHAKE, "13");
    device_run(x->f, x->f->now);
    device_forget(x->f, 0);
    return x;
}

static void done(fixture *x) {
    free(x->f);
    free(x);
}

static const tendon_simulated_activ5_options legacy = {.legacy = true};

/* ---- what it is ---- */

static void advertises_service_and_name_in_one_report(void **state) {
    (void)state;
    fixture *x = fresh(NULL);
    uint8_t out[31];
    tendon_status length = x->f->device.ops->advertisement(&x->trainer, out, sizeof out);
    assert_hex(out, (size_t)length, "02 01 06 03 03 00 50 0f 09 41 43 54 49 56 35 2d 41 43 2d 30 30 30 31");
    length = x->f->device.ops->scan_response(&x->trainer, out, sizeof out);
    assert_hex(out, (size_t)length, "0f 09 41 43 54 49 56 35 2d 41 43 2d 30 30 30 31");
    const tendon_simulated_activ5_options named = {.name = "a name without room beside it"};
    assert_int_equal(tendon_simulated_activ5_init(&x->trainer, &named), TENDON_OK);
    assert_int_equal(x->f->device.ops->advertisement(&x->trainer, out, sizeof out), 7);
    assert_int_equal(x->f->device.ops->scan_response(&x->trainer, out, sizeof out), 31);
    assert_string_equal(x->f->device.ops->name, "activ5");
    done(x);
}

static void tables_of_both_generations(void **state) {
    (void)state;
    fixture *x = fresh(&legacy);
    assert_int_equal(device_connect(x->f, 0, 185), TENDON_OK);
    device_exchange(x->f, 0, "10 01 00 ff ff 00 28", "11 06 01 00 03 00 00 18 04 00 09 00 00 50");
    device_exchange(x->f, 0, "08 04 00 09 00 03 28", "09 07 05 00 10 06 00 01 5a 08 00 08 09 00 02 5a");
    device_exchange(x->f, 0, "0a 03 00", "0b 41 43 54 49 56 35 2d 41 43 2d 30 30 30 31");
    done(x);
    x = fresh(NULL);
    assert_int_equal(device_connect(x->f, 0, 185), TENDON_OK);
    device_exchange(x->f, 0, "10 01 00 ff ff 00 28",
                    "11 06 01 00 03 00 00 18 04 00 09 00 00 50 0a 00 19 00 f0 f0 1a 00 1d 00 0f 18 1e 00 20 00 0a 18");
    device_exchange(x->f, 0, "08 0a 00 19 00 03 28",
                    "09 07 0b 00 10 0c 00 fe f0 0e 00 10 0f 00 f5 f0 11 00 12 12 00 f3 f0 14 00 02 15 00 f7 f0"
                    "16 00 02 17 00 f8 f0 18 00 08 19 00 fa f0");
    device_exchange(x->f, 0, "0a 1c 00", "0b 4b");
    device_exchange(x->f, 0, "0a 20 00", "0b 41 35 2d 30 30 30 31 32 33");
    device_exchange(x->f, 0, "0a 15 00", "0b 30 30 31 31 32 32 33 33");
    device_exchange(x->f, 0, "0a 17 00", "0b 34 34 35 35 36 36 00 00 00 00 00 00 00 00 00 00");
    device_exchange(x->f, 0, "0a 12 00", "0b 00 00 00 00");
    device_exchange(x->f, 0, "0a 06 00", "01 0a 06 00 02"); /* 5A01 is only notified */
    done(x);
}

static void characteristics_can_be_left_out(void **state) {
    (void)state;
    for (unsigned c = 0; c < TENDON_SIMULATED_ACTIV5_CHARACTERISTICS; c++) {
        const tendon_simulated_activ5_options options = {.lacks = 1u << c};
        fixture *x = fresh(&options);
        for (unsigned other = 0; other < TENDON_SIMULATED_ACTIV5_CHARACTERISTICS; other++) {
            assert_int_equal(x->trainer.handles[other] != 0, other != c);
        }
        done(x);
    }
    const tendon_simulated_activ5_options options = {.force_is_f0f1 = true};
    fixture *x = fresh(&options);
    assert_int_equal(device_connect(x->f, 0, 185), TENDON_OK);
    device_exchange(x->f, 0, "08 0a 00 0c 00 03 28", "09 07 0b 00 10 0c 00 f1 f0");
    done(x);
}

/* ---- handshake and texts ---- */

static void greets_once_for_each_connection(void **state) {
    (void)state;
    fixture *x = fresh(&legacy);
    for (int connection = 0; connection < 2; connection++) {
        assert_int_equal(device_connect(x->f, 0, 23), TENDON_OK);
        device_exchange(x->f, 0, LISTEN, "13");
        device_run(x->f, x->f->now);
        assert_int_equal(x->f->centrals[0].count, 2);
        device_expect(x->f, 0, 1, GREETING); /* after the answer */
        device_exchange(x->f, 0, HANDSHAKE, "13");
        device_exchange(x->f, 0, "12 07 00 00 00", "13");
        device_exchange(x->f, 0, LISTEN, "13");
        device_run(x->f, x->f->now);
        assert_int_equal(x->f->centrals[0].count, 5);
        device_disconnect(x->f, 0);
    }
    done(x);
}

static void a_silent_device_greets_after_the_handshake(void **state) {
    (void)state;
    const tendon_simulated_activ5_options options = {.silent = true};
    fixture *x = fresh(&options);
    assert_int_equal(device_connect(x->f, 0, 185), TENDON_OK);
    device_exchange(x->f, 0, LISTEN, "13");
    assert_int_equal(x->f->centrals[0].count, 1);
    device_exchange(x->f, 0, HANDSHAKE, "13");
    device_run(x->f, x->f->now);
    device_expect_last(x->f, 0, GREETING);
    device_exchange(x->f, 0, HANDSHAKE, "13"); /* and not again */
    device_run(x->f, x->f->now);
    assert_int_equal(x->f->centrals[0].count, 4);
    done(x);
}

static void serials_and_ids_as_text(void **state) {
    (void)state;
    const tendon_simulated_activ5_options options = {
        .legacy = true, .serial1 = "A5-123", .serial2 = "longest possible"};
    static const char *const cases[][2] = {
        {"12 09 00 41 53 4e 31 21 13", "1b 06 00 12 41 53 4e 31 41 35 2d 31 32 33 13"},
        /* the web client's end */
        {"12 09 00 41 53 4e 32 21 19", "1b 06 00 12 41 53 4e 32 6c 6f 6e 67 65 73 74 20 70 6f 73 73 69 62 13"},
        {"12 09 00 41 49 44 31 21 13", "1b 06 00 12 41 69 30 30 31 31 32 32 33 33 13"},
        {"12 09 00 41 49 44 32 21 13", "1b 06 00 12 41 49 34 34 35 35 36 36 00 00 00 00 00 00 00 00 00 00 13"},
    };
    fixture *x = ready(&options);
    for (size_t i = 0; i < 4; i++) {
        device_exchange(x->f, 0, cases[i][0], "13");
        device_run(x->f, x->f->now);
        device_expect_last(x->f, 0, cases[i][1]);
    }
    assert_int_equal(x->f->centrals[0].count, 8);
    assert_int_equal(x->trainer.counters.commands, 5);
    assert_int_equal(x->trainer.counters.texts, 5);
    done(x);
}

static void refused_writes_change_nothing(void **state) {
    static const struct {
        const char *write, *refusal;
    } cases[] = {
        {"12 09 00", "01 12 09 00 0d"},
        {"12 09 00 41 53 54 4f 50 21 13 00 00 00 00 00 00 00 00 00 00 00 00 00 00", "01 12 09 00 0d"}, /* 21 bytes */
        {"12 09 00 41 53 54 4f 50 21", "01 12 09 00 13"},                                              /* no end */
        {"12 09 00 41 53 54 4f 50 21 14", "01 12 09 00 13"},
        {"12 09 00 42 53 54 4f 50 21 13", "01 12 09 00 13"}, /* another address */
        {"12 09 00 41 53 54 4f 50 13", "01 12 09 00 13"},
        {"12 09 00 41 53 54 4f 50 21 21 13", "01 12 09 00 13"},
        {"12 09 00 41 13", "01 12 09 00 13"},
        {"12 09 00 41 73 74 6f 70 21 13", "01 12 09 00 13"},
        {"12 19 00 19", "01 12 19 00 0d"},
        {"12 19 00 19 00 00", "01 12 19 00 0d"},
        {"12 19 00 00 00", "01 12 19 00 13"},
        {"12 19 00 c9 00", "01 12 19 00 13"}, /* 201 Hz */
        {"12 19 00 ff ff", "01 12 19 00 13"}, /* -1 Hz */
    };
    (void)state;
    fixture *x = ready(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        device_exchange(x->f, 0, cases[i].write, cases[i].refusal);
        assert_int_equal(x->trainer.counters.refused_writes, i + 1);
        assert_int_equal(x->trainer.counters.commands, 1);
        assert_int_equal(x->trainer.force_period, 100);
    }
    device_exchange(x->f, 0, STOP, "13");
    done(x);
}

static void nothing_before_the_handshake(void **state) {
    static const char *const writes[] = {ISOMETRIC,
                                         TARE,
                                         STOP,
                                         "12 09 00 41 53 4e 31 21 13",
                                         "12 09 00 41 53 4e 32 21 13",
                                         "12 09 00 41 49 44 31 21 13",
                                         "12 09 00 41 49 44 32 21 13",
                                         "12 19 00 19 00"};
    (void)state;
    fixture *x = fresh(NULL);
    assert_int_equal(device_connect(x->f, 0, 185), TENDON_OK);
    device_exchange(x->f, 0, LISTEN, "13");
    for (size_t i = 0; i < 8; i++) {
        device_exchange(x->f, 0, writes[i], i < 7 ? "01 12 09 00 fc" : "01 12 19 00 fc");
    }
    device_exchange(x->f, 0, "12 0d 00 01 00", "13");
    device_exchange(x->f, 0, "12 10 00 01 00", "13");
    device_run(x->f, x->f->now);
    device_forget(x->f, 0);
    device_run(x->f, x->f->now + 1000);
    assert_int_equal(x->f->centrals[0].count, 0);
    device_exchange(x->f, 0, HANDSHAKE, "13");
    device_run(x->f, x->f->now + 1000);
    assert_int_equal(x->trainer.counters.force, 10);
    assert_int_equal(x->trainer.counters.motion, 25);
    done(x);
    const tendon_simulated_activ5_options early = {.accepts_early = true};
    x = fresh(&early);
    assert_int_equal(device_connect(x->f, 0, 185), TENDON_OK);
    for (size_t i = 0; i < 8; i++) {
        device_exchange(x->f, 0, writes[i], "13");
    }
    done(x);
    const tendon_simulated_activ5_options no_commands = {.lacks = 1u << TENDON_SIMULATED_ACTIV5_COMMAND};
    x = fresh(&no_commands); /* F0FE is then 0A, its CCCD 0B */
    assert_int_equal(device_connect(x->f, 0, 185), TENDON_OK);
    device_exchange(x->f, 0, "12 0b 00 01 00", "13");
    device_run(x->f, x->f->now + 1000);
    assert_int_equal(x->trainer.counters.force, 10);
    done(x);
}

/* ---- going off ---- */

static void goes_off_after_seven_minutes_of_nothing(void **state) {
    (void)state;
    fixture *x = ready(NULL);
    uint64_t start = x->f->now;
    device_run(x->f, start + 419999);
    assert_false(x->f->centrals[0].bearer.closed);
    device_run(x->f, start + 420000);
    assert_true(x->f->centrals[0].bearer.closed);
    assert_true(x->trainer.off);
    assert_int_equal(x->trainer.counters.switch_offs, 1);
    device_disconnect(x->f, 0);
    assert_int_equal(device_connect(x->f, 0, 23), TENDON_ERROR_WRONG_STATE);
    assert_int_equal(x->f->device.ops->deadline(&x->trainer), UINT64_MAX);
    tendon_simulated_activ5_power(&x->trainer, true);
    assert_int_equal(device_connect(x->f, 0, 23), TENDON_OK);
    done(x);
}

static void stop_and_streams_keep_it_awake(void **state) {
    (void)state;
    fixture *x = ready(&legacy);
    for (int minute = 0; minute < 30; minute++) { /* evergreen: a stop each minute */
        device_run(x->f, x->f->now + 60000);
        device_exchange(x->f, 0, STOP, "13");
    }
    device_run(x->f, x->f->now + 400000);
    device_send(x->f, 0, "12 09 00 41 53 4e 31 21 13"); /* what is no stop does not keep it awake */
    device_send(x->f, 0, ISOMETRIC);
    device_run(x->f, x->f->now + 600000);
    assert_false(x->trainer.off);
    assert_int_equal(x->trainer.counters.stops, 30);
    device_send(x->f, 0, STOP);
    device_run(x->f, x->f->now + 400000);
    device_send(x->f, 0, "12 09 00 41 53 4e 31 21 13");
    device_run(x->f, x->f->now + 19999);
    assert_false(x->trainer.off);
    device_run(x->f, x->f->now + 1);
    assert_true(x->trainer.off);
    done(x);
    x = ready(NULL); /* the binary stream ends with the last subscription */
    device_send(x->f, 0, "12 0d 00 01 00");
    device_run(x->f, x->f->now + 600000);
    device_send(x->f, 0, "12 0d 00 00 00");
    device_run(x->f, x->f->now + 419999);
    assert_false(x->trainer.off);
    device_run(x->f, x->f->now + 1);
    assert_true(x->trainer.off);
    done(x);
    const tendon_simulated_activ5_options never = {.switch_off_ms = UINT32_MAX};
    x = ready(&never);
    assert_int_equal(x->f->device.ops->deadline(&x->trainer), UINT64_MAX);
    done(x);
}

/* ---- scenarios ---- */

static void scenario_commands(void **state) {
    static const struct {
        const char *line;
        tendon_status status;
        size_t wrong;
    } cases[] = {
        {"squeeze", TENDON_OK, 0},
        {"squeeze 250", TENDON_OK, 0},
        {"squeeze 250 100", TENDON_OK, 0},
        {"squeeze soft", TENDON_ERROR_MALFORMED, 1},
        {"squeeze 250 soft", TENDON_ERROR_MALFORMED, 2},
        {"squeeze 250 100 1", TENDON_ERROR_MALFORMED, 3},
        {"double_squeeze", TENDON_OK, 0},
        {"double_squeeze 2", TENDON_ERROR_MALFORMED, 1},
        {"load", TENDON_ERROR_MALFORMED, 1},
        {"load 40", TENDON_OK, 0},
        {"load 32768", TENDON_ERROR_MALFORMED, 1},
        {"battery 200", TENDON_OK, 0},
        {"battery 256", TENDON_ERROR_MALFORMED, 1},
        {"battery 5 5", TENDON_ERROR_MALFORMED, 2},
        {"malformed empty", TENDON_OK, 0},
        {"malformed short_imu 3", TENDON_OK, 0},
        {"malformed nothing", TENDON_ERROR_MALFORMED, 1},
        {"malformed empty x", TENDON_ERROR_MALFORMED, 2},
        {"malformed empty 1 1", TENDON_ERROR_MALFORMED, 3},
        {"stale_tails on", TENDON_OK, 0},
        {"split_frames off", TENDON_OK, 0},
        {"split_frames", TENDON_ERROR_MALFORMED, 1},
        {"power on", TENDON_OK, 0},
        {"power up", TENDON_ERROR_MALFORMED, 1},
        {"dance", TENDON_ERROR_UNSUPPORTED, 0},
    };
    (void)state;
    fixture *x = ready(NULL);
    tendon_scenario_actor actor = tendon_simulated_activ5_actor(&x->trainer);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[64];
        tendon_scenario_event event;
        tendon_scenario_error error = {0};
        snprintf(line, sizeof line, "at 1s %s", cases[i].line);
        tendon_status status = tendon_scenario_parse(line, strlen(line), &actor, &event, 1, &error);
        assert_int_equal(status, cases[i].status == TENDON_OK ? 1 : TENDON_ERROR_MALFORMED);
        size_t wrong = 0;
        assert_int_equal(tendon_scenario_parse(line, strlen(line), NULL, &event, 1, NULL), 1);
        assert_int_equal(actor.perform(actor.context, &event, true, &wrong, x->f->now), cases[i].status);
        if (cases[i].status != TENDON_OK) {
            assert_int_equal(wrong, cases[i].wrong);
        }
    }
    assert_int_equal(x->trainer.battery, 75); /* dry runs all of them */
    assert_int_equal(device_perform(x->f, actor, "battery 12"), TENDON_OK);
    assert_int_equal(x->trainer.battery, 12);
    assert_int_equal(device_perform(x->f, actor, "stale_tails on"), TENDON_OK);
    assert_int_equal(device_perform(x->f, actor, "split_frames on"), TENDON_OK);
    assert_true(x->trainer.options.stale_tails && x->trainer.options.split_frames);
    assert_int_equal(device_perform(x->f, actor, "power off"), TENDON_OK);
    assert_true(x->trainer.off && x->f->centrals[0].bearer.closed);
    done(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(advertises_service_and_name_in_one_report),
        cmocka_unit_test(tables_of_both_generations),
        cmocka_unit_test(characteristics_can_be_left_out),
        cmocka_unit_test(greets_once_for_each_connection),
        cmocka_unit_test(a_silent_device_greets_after_the_handshake),
        cmocka_unit_test(serials_and_ids_as_text),
        cmocka_unit_test(refused_writes_change_nothing),
        cmocka_unit_test(nothing_before_the_handshake),
        cmocka_unit_test(goes_off_after_seven_minutes_of_nothing),
        cmocka_unit_test(stop_and_streams_keep_it_awake),
        cmocka_unit_test(scenario_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
