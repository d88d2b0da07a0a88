/* SPDX-License-Identifier: MIT */
/* Simulated Obvious device: faults on demand and scenario commands. */
#include "obvious_fixture.h"

static uint8_t package[200];

static void given(void) {
    const tendon_simulated_obvious_options options = {.counter = 41};
    obvious_new(&options);
    obvious_connect(0, 23); /* many segments */
    obvious_hello(0);
}

/* One line of a scenario without its time. */
static tendon_status perform(const char *command) {
    char line[128];
    tendon_scenario_event event;
    tendon_scenario_actor actor = tendon_simulated_obvious_actor(&o.device);
    snprintf(line, sizeof line, "at 0ms %s", command);
    assert_int_equal(tendon_scenario_parse(line, strlen(line), NULL, &event, 1, NULL), 1);
    size_t wrong = 0;
    return actor.perform(actor.context, &event, false, &wrong, o.now);
}

static void segments_with_faults_are_repaired(void **state) {
    (void)state;
    static const char *const commands[] = {"lose 2", "duplicate 3", "swap 1", "corrupt 1", "ignore 1", "credit 1"};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        given();
        size_t length;
        assert_int_equal(perform(commands[i]), TENDON_OK);
        assert_int_equal(obvious_ask(0, 0x02, "", 0), 0);
        assert_int_equal(obvious_payload(0, &length)[0], 0xD2);
        assert_int_equal(length, 40);
        assert_int_equal(o.gateways[0].naks, i == 3);
        if (i == 2) {
            obvious_run(o.now + 1000);
            assert_int_equal(o.gateways[0].errors, 0); /* each segment once */
        }
        assert_int_equal(o.device.counters.faults, i == 5 ? 0 : i == 0 ? 2 : i == 1 ? 3 : 1);
        size_t size = obvious_package(package, 3, 0, 42 + i, NULL, 0);
        assert_int_equal(obvious_transfer(0, 1, package, size, 100, NULL), 0);
    }
}

/* A message waits while no credit is granted, and goes on afterwards. */
static void a_pause_stops_a_message(void **state) {
    (void)state;
    given();
    assert_int_equal(perform("pause 2500"), TENDON_OK);
    uint64_t start = o.now;
    uint8_t bytes[300] = {0};
    size_t length;
    assert_int_equal(obvious_ask(0, 0x03, bytes, 64), 0);
    assert_true(o.now == start); /* the first window needs no credit */
    assert_int_equal(obvious_ask(0, 0x03, bytes, 300), 2);
    assert_true(o.now >= start + 2500 && o.now < start + 4000);
    (void)obvious_payload(0, &length);
    assert_int_equal(length, 0);
}

/* A message that no gateway acknowledges: those behind it fail with it. */
static void a_silent_gateway(void **state) {
    (void)state;
    given();
    o.gateways[0].deaf = true;
    assert_int_equal(obvious_ask(0, 0x03, "x", 1), -1);
    assert_int_equal(tendon_simulated_obvious_set(&o.device, 16, 1, 2, o.now), TENDON_OK);
    assert_int_equal(o.device.links[0].frame_count, 2);
    obvious_run(o.now + 200000);
    assert_int_equal(o.device.counters.link_errors, 1);
    assert_int_equal(o.device.links[0].frame_count, 0);
    assert_int_equal(o.seam.ops->deadline(o.seam.context), UINT64_MAX);
}

/* An event that does not fit the frame limit of a gateway is not sent to it. */
static void a_long_event(void **state) {
    (void)state;
    uint8_t list[1 + 3 * 64] = {64};
    given();
    obvious_connect(1, 247);
    assert_int_equal(obvious_ask_hex(1, 0x01, "01 01 00 01 08 00 01 02 03 04 05 06 07 08"), 0);
    obvious_connect(2, 247);
    obvious_hello(2);
    for (size_t i = 0; i < 64; i++) {
        list[1 + 3 * i] = 16;
        list[3 + 3 * i] = 2;
    }
    assert_int_equal(obvious_ask(0, 0x11, list, sizeof list), 0);
    obvious_run(o.now + 1000);
    assert_int_equal(o.gateways[1].events, 0);
    assert_int_equal(o.gateways[2].events, 1);
}

static void wrong_answers(void **state) {
    (void)state;
    size_t got;
    given();
    size_t length = obvious_package(package, 3, 0, 42, NULL, 0);
    assert_int_equal(perform("wrong crc"), TENDON_OK);
    assert_int_equal(obvious_begin(0, 1, 0, package, length, NULL), 0);
    assert_int_equal(obvious_u32(obvious_payload(0, &got) + 10), 1);
    assert_int_equal(perform("wrong offset"), TENDON_OK);
    assert_int_equal(obvious_begin(0, 1, 0, package, length, NULL), 0);
    assert_int_equal(obvious_u32(obvious_payload(0, &got) + 4), 125);
    assert_int_equal(perform("wrong session"), TENDON_OK);
    assert_int_equal(obvious_begin(0, 1, 0, package, length, NULL), 0);
    assert_int_equal(o.gateways[0].session, 0);
    assert_int_equal(perform("wrong next 2"), TENDON_OK);
    assert_int_equal(obvious_begin(0, 1, 0, package, length, NULL), 0);
    assert_int_equal(obvious_data(0, 0, package, 50), 0);
    obvious_expect(0, "33 00 00 00");
    assert_int_equal(obvious_data(0, 50, package + 50, 50), 0);
    obvious_expect(0, "65 00 00 00");
    assert_int_equal(obvious_data(0, 100, package + 100, 24), 0);
    obvious_expect(0, "7c 00 00 00");
    assert_int_equal(perform("wrong serial"), TENDON_OK);
    assert_int_equal(obvious_ask(0, 0x02, "", 0), 0);
    assert_hex(obvious_payload(0, &got), 12, "d2 04 00 00 89 77 66 55 44 33 22 11");
    assert_int_equal(perform("wrong product"), TENDON_OK);
    assert_int_equal(obvious_ask(0, 0x02, "", 0), 0);
    assert_hex(obvious_payload(0, &got), 12, "d3 04 00 00 88 77 66 55 44 33 22 11");
    assert_int_equal(obvious_ask(0, 0x02, "", 0), 0);
    assert_hex(obvious_payload(0, &got), 12, "d2 04 00 00 88 77 66 55 44 33 22 11");
    assert_int_equal(o.device.counters.faults, 7);
}

static void requests_are_rejected(void **state) {
    (void)state;
    given();
    assert_int_equal(perform("reject 22"), TENDON_OK);
    assert_int_equal(obvious_ask(0, 0x02, "", 0), 22);
    assert_int_equal(obvious_ask(0, 0x02, "", 0), 0);
    assert_int_equal(perform("reject 4 3"), TENDON_OK);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(obvious_ask(0, 0x02, "", 0), 4);
    }
    assert_int_equal(obvious_ask(0, 0x02, "", 0), 0);
}

static void features_change_by_hand(void **state) {
    (void)state;
    given();
    assert_int_equal(perform("enable 20"), TENDON_OK);
    obvious_run(o.now);
    obvious_expect_event(0, 0x80, "01 14 00 01 00");
    assert_int_equal(perform("toggle 17 on"), TENDON_OK);
    obvious_run(o.now);
    obvious_expect_event(0, 0x80, "01 11 00 01 01");
    assert_int_equal(perform("toggle 17 off"), TENDON_OK);
    obvious_run(o.now);
    obvious_expect_event(0, 0x80, "01 11 00 01 02");
    assert_int_equal(perform("disable 16"), TENDON_OK);
    obvious_run(o.now);
    obvious_expect_event(0, 0x80, "01 10 00 00 01");
    assert_int_equal(perform("enable 99"), TENDON_OK); /* unknown: nothing changes */
    obvious_run(o.now);
    assert_int_equal(o.gateways[0].events, 4);
}

static void power_and_restarts(void **state) {
    (void)state;
    static const struct {
        const char *command;
        bool recovery;
    } cases[] = {{"power_cut", false}, {"watchdog", false}, {"reboot", false}, {"reboot recovery", true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        given();
        assert_int_equal(perform(cases[i].command), TENDON_OK);
        obvious_run(o.now + 2000);
        assert_false(o.gateways[0].connected);
        assert_int_equal(o.gateways[0].events, i >= 2);
        assert_int_equal(o.device.counters.boots, 2);
        assert_int_equal(o.device.counters.power_cuts, i == 0);
        assert_int_equal(o.device.recovery, cases[i].recovery);
    }
    given();
    assert_int_equal(perform("power_cut 20"), TENDON_OK);
    obvious_run(o.now + 2000);
    assert_true(o.gateways[0].connected);
    assert_int_equal(obvious_ask_hex(0, 0x11, "01 10 00 02"), -1); /* the write is cut: no response */
    obvious_run(o.now + 2000);
    assert_int_equal(o.device.counters.power_cuts, 1);
    obvious_connect(0, 23);
    obvious_hello(0);
    assert_int_equal(obvious_ask_hex(0, 0x10, "01 10 00"), 0);
    obvious_expect(0, "01 10 00 01 01");
}

static void other_commands(void **state) {
    (void)state;
    given();
    assert_int_equal(perform("battery 12"), TENDON_OK);
    assert_int_equal(o.device.battery, 12);
    assert_int_equal(perform("pairing off"), TENDON_OK);
    assert_int_equal(o.seam.ops->pairing(o.seam.context), 0);
    assert_int_equal(perform("pairing on"), TENDON_OK);
    assert_int_equal(o.seam.ops->pairing(o.seam.context), TENDON_PERIPHERAL_PAIRABLE);
    assert_int_equal(perform("mute on"), TENDON_OK);
    assert_int_equal(obvious_ask(0, 0x02, "", 0), -1);
    assert_int_equal(perform("mute off"), TENDON_OK);
    assert_int_equal(obvious_ask(0, 0x02, "", 0), 0);
    tendon_simulated_obvious_set_battery(&o.device, 255, o.now);
    assert_int_equal(obvious_ask(0, 0x02, "", 0), 0);
    assert_int_equal(o.gateways[0].frame[10 + 37], 255);
}

static void arguments_are_checked(void **state) {
    (void)state;
    static const struct {
        const char *command;
        size_t wrong;
    } cases[] = {{"enable", 1},       {"enable 0", 1},       {"enable 1025", 1}, {"enable 1 2", 2},
                 {"toggle 16", 2},    {"toggle 16 both", 2}, {"battery 101", 1}, {"power_cut x", 1},
                 {"watchdog 1", 1},   {"reboot now", 1},     {"reject 256", 1},  {"reject 4 x", 2},
                 {"reject 4 1 1", 3}, {"wrong", 1},          {"wrong all", 1},   {"credit 33", 1},
                 {"lose", 1},         {"lose 1 2", 2},       {"mute", 1},        {"pause 3600001", 1}};
    tendon_scenario_actor actor = tendon_simulated_obvious_actor(&o.device);
    given();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[64];
        tendon_scenario_event event;
        snprintf(line, sizeof line, "at 0ms %s", cases[i].command);
        assert_int_equal(tendon_scenario_parse(line, strlen(line), NULL, &event, 1, NULL), 1);
        size_t wrong = 9;
        tendon_status status = actor.perform(actor.context, &event, true, &wrong, o.now);
        if (status != TENDON_ERROR_MALFORMED || wrong != cases[i].wrong) {
            fail_msg("%s: %d, word %zu", cases[i].command, (int)status, wrong);
        }
    }
    assert_int_equal(perform("fly"), TENDON_ERROR_UNSUPPORTED);
    /* A dry run changes nothing. */
    tendon_scenario_event event;
    size_t wrong;
    assert_int_equal(tendon_scenario_parse("at 0ms power_cut", 16, &actor, &event, 1, NULL), 1);
    assert_int_equal(actor.perform(actor.context, &event, true, &wrong, o.now), TENDON_OK);
    assert_int_equal(o.device.counters.power_cuts, 0);
}

static void progress_is_reported_on_request(void **state) {
    (void)state;
    static uint8_t image[1000];
    uint8_t manifest[136];
    const tendon_simulated_obvious_options options = {.reports_progress = true};
    obvious_new(&options);
    obvious_connect(0, 247);
    obvious_hello(0);
    obvious_manifest(manifest, 1004000, 0, image, sizeof image);
    assert_int_equal(obvious_begin(0, 2, 0, image, sizeof image, manifest), 0);
    assert_int_equal(obvious_data(0, 0, image, 255), 0);
    obvious_run(o.now);
    assert_int_equal(o.gateways[0].events, 0);
    assert_int_equal(obvious_data(0, 255, image, 400), 0);
    obvious_run(o.now);
    assert_int_equal(o.gateways[0].events, 1);
    assert_hex(o.gateways[0].event + 14, 8, "00 02 00 00 e8 03 00 00");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_with_faults_are_repaired),
        cmocka_unit_test(a_pause_stops_a_message),
        cmocka_unit_test(a_silent_gateway),
        cmocka_unit_test(a_long_event),
        cmocka_unit_test(wrong_answers),
        cmocka_unit_test(requests_are_rejected),
        cmocka_unit_test(features_change_by_hand),
        cmocka_unit_test(power_and_restarts),
        cmocka_unit_test(other_commands),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(progress_is_reported_on_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
