/* SPDX-License-Identifier: MIT */
/* One device of each family: opened, streamed, closed, lost, in memory and in simulated time. */
#include "device_world.h"

/* The beginning of a turn, as lines; then samples. */
static const struct {
    tendon_device_family family;
    const char *opening;
} families[] = {
    {TENDON_DEVICE_BOSE, "connected sensor_configuration gesture_configuration ~"},
    {TENDON_DEVICE_FEELSPACE, "connected battery"},
    {TENDON_DEVICE_ACTIV5, "connected battery ~"},
    {TENDON_DEVICE_FJORDEN, "connected"},
    {TENDON_DEVICE_OBVIOUS, "connected feature"},
    {TENDON_DEVICE_DEFINED, "connected missing serial level"},
};
#define FAMILIES (sizeof families / sizeof families[0])

static void start(size_t i) {
    world_choice choice = world_defaults();
    choice.settings.has_product = true; /* of the simulated Obvious device */
    choice.settings.product = 1234;
    choice.settings.feature_count = 1;
    choice.settings.features[0] = 16;
    world_start(families[i].family, &choice);
}

static void it_opens_and_streams(void **state) {
    (void)state;
    for (size_t i = 0; i < FAMILIES; i++) {
        start(i);
        tendon_device_close(&w.device, w.now); /* there is nothing to close, and nothing is due */
        assert_int_not_equal(tendon_device_inputs(&w.device)->deadline(&w.device), 0);
        for (unsigned turn = 1; turn <= 3; turn++) {
            world_open();
            assert_int_equal(tendon_device_open(&w.device, w.now), TENDON_ERROR_WRONG_STATE);
            world_run(3000);
            const char *events = world_look();
            if (strncmp(events, "pairing ", 8) == 0) { /* a grip, once */
                assert_true(turn == 1 && families[i].family == TENDON_DEVICE_FJORDEN);
                events += 8;
            }
            if (strncmp(events, families[i].opening, strlen(families[i].opening)) != 0) {
                fail_msg("family %zu, turn %u: %s", i, turn, events);
            }
            assert_int_equal(w.device.state, TENDON_DEVICE_OPEN);
            tendon_device_close(&w.device, w.now);
            world_run(6000);
            events = world_look();
            assert_non_null(strstr(events, "ended"));
            assert_int_equal(w.device.state, TENDON_DEVICE_CLOSED);
            assert_int_equal(w.ended, turn);
            assert_true(w.ending.was_open && w.ending.was_requested && w.ending.may_retry);
            world_run(5000);
            assert_string_equal(world_look(), "");
        }
    }
}

/* Whatever happens at whatever moment of the first 400 ms, there is one end, and another turn after it. */
static void at_each_moment(void **state) {
    (void)state;
    enum { GOES, IS_SILENT, IS_CLOSED, IS_CLOSED_TWICE, WAYS };
    for (size_t i = 0; i < FAMILIES; i++) {
        for (uint64_t after = 0; after < 400; after += after < 60 ? 1 : 13) {
            for (int way = 0; way < WAYS; way++) {
                start(i);
                world_open();
                world_run(after);
                if (way == GOES) {
                    tendon_memory_radio_set_present(&w.radio, &w.seat, false, w.now);
                    world_run(200);
                    /* An attempt waits for a device that is not in range: its owner ends it. */
                    tendon_memory_radio_link(&w.radio).disconnect(&w.radio);
                } else if (way == IS_SILENT) {
                    w.seat.silent = true;
                    world_run(1000);
                    tendon_device_close(&w.device, w.now);
                } else {
                    tendon_device_close(&w.device, w.now);
                    world_run(way == IS_CLOSED_TWICE ? 1 : 0);
                    tendon_device_close(&w.device, w.now);
                }
                world_run(40000); /* the limit of ATT is 30 s: Vol 3 Part F 3.3.3 */
                if (w.ended != 1 || w.device.state != TENDON_DEVICE_CLOSED) {
                    fail_msg("family %zu, after %u ms, way %d: %u ends, state %u: %s", i, (unsigned)after, way, w.ended,
                             w.device.state, world_look());
                }
                assert_true((way != GOES) == w.ending.was_requested);
                (void)world_look();
                tendon_memory_radio_set_present(&w.radio, &w.seat, true, w.now);
                w.seat.silent = false;
                world_open();
                world_run(30000);
                if (w.ended != 1 || w.device.state != TENDON_DEVICE_OPEN) {
                    fail_msg("family %zu, after %u ms, way %d, again: %s", i, (unsigned)after, way, world_look());
                }
                assert_non_null(strstr(world_look(), "connected"));
            }
        }
    }
}

/* A link that cannot begin fails like any other attempt: later, and once. */
static void the_radio_rejects_the_attempt(void **state) {
    (void)state;
    for (size_t i = 0; i < FAMILIES; i++) {
        start(i);
        w.connect = TENDON_RADIO_ERROR_ADAPTER_DOWN;
        for (unsigned turn = 1; turn <= 3; turn++) {
            world_open();
            assert_string_equal(world_look(), "");
            tendon_device_inputs(&w.device)->tick(&w.device, w.now);
            assert_string_equal(world_look(), "failed");
            assert_int_equal(w.ended, turn);
            assert_int_equal(w.ending.reason, TENDON_RADIO_ERROR_ADAPTER_DOWN);
            assert_false(w.ending.was_open || w.ending.was_requested);
        }
        w.connect = TENDON_OK;
        world_open();
        world_run(3000);
        assert_non_null(strstr(world_look(), "connected"));
    }
}

/* Closed before the loop came to it. */
static void closed_within_the_step(void **state) {
    (void)state;
    for (size_t i = 0; i < FAMILIES; i++) {
        for (int rejects = 0; rejects < 2; rejects++) {
            start(i);
            w.connect = rejects ? TENDON_RADIO_ERROR_ADAPTER_DOWN : TENDON_OK;
            world_open();
            tendon_device_close(&w.device, w.now);
            tendon_device_inputs(&w.device)->tick(&w.device, w.now);
            world_run(6000);
            assert_string_equal(world_look(), "failed");
            assert_true(w.ending.was_requested);
        }
    }
}

/* ---- settings ---- */

static void set(world_choice *choice, const char *name, const char *value) {
    if (tendon_device_settings_set(&choice->settings, name, value) != TENDON_OK) {
        fail_msg("%s %s", name, value);
    }
}

static const char *opening_of(tendon_device_family family, const world_choice *choice) {
    world_start(family, choice);
    world_open();
    world_run(2000);
    return world_look();
}

static void settings_of_a_wearable(void **state) {
    (void)state;
    world_choice choice = world_defaults();
    set(&choice, "sensors", "none");
    set(&choice, "gestures", "none");
    assert_string_equal(opening_of(TENDON_DEVICE_BOSE, &choice), "connected sensor_configuration");
    set(&choice, "sensors", "rotation,magnetometer");
    set(&choice, "gestures", "head_nod,single_tap");
    assert_string_equal(opening_of(TENDON_DEVICE_BOSE, &choice),
                        "connected sensor_configuration missing gesture_configuration ~");
    set(&choice, "sensors", "all");
    set(&choice, "period", "320");
    set(&choice, "gestures", "all");
    choice.bose.period_mask = 0x10; /* 20 ms alone: docs/protocols/bose.md 2.2 */
    assert_string_equal(opening_of(TENDON_DEVICE_BOSE, &choice),
                        "connected sensor_configuration missing gesture_configuration");
}

/* One line says that a wearable has rejected its configuration. */
static void a_wearable_rejects_its_configuration(void **state) {
    (void)state;
    world_choice choice = world_defaults();
    (void)opening_of(TENDON_DEVICE_BOSE, &choice);
    w.device.asked = 1; /* as when the sensors were written */
    tendon_bose_session *session = &w.device.of.bose.session;
    const tendon_bose_event event = {
        .kind = TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_FAILED, .configuration = 1, .status = TENDON_ATT_ERROR(0x13)};
    session->config.on_event(session->config.context, &event, w.now);
    assert_string_equal(world_look(), "configuration_failed");
}

/* A suspended wearable rejects its configuration, and gets it when it resumes. */
static void a_wearable_is_suspended(void **state) {
    (void)state;
    world_choice choice = world_defaults();
    world_start(TENDON_DEVICE_BOSE, &choice);
    world_command("suspend multipoint_connection");
    world_open();
    world_run(2000);
    assert_string_equal(world_look(), "connected");
    world_command("resume");
    world_run(2000);
    assert_string_equal(world_look(), "resumed sensor_configuration gesture_configuration ~");
    world_command("suspend music_share");
    world_run(1000);
    assert_string_equal(world_look(), "suspended");
}

static void settings_of_a_trainer(void **state) {
    (void)state;
    world_choice choice = world_defaults();
    choice.activ5.no_script = true;
    set(&choice, "measure", "none");
    assert_string_equal(opening_of(TENDON_DEVICE_ACTIV5, &choice), "connected battery");
    set(&choice, "measure", "force,imu");
    set(&choice, "rate", "50");
    set(&choice, "evergreen", NULL);
    assert_string_equal(opening_of(TENDON_DEVICE_ACTIV5, &choice), "connected battery ~");
    assert_true(w.device.of.activ5.device.evergreen);
    choice.activ5.legacy = true;
    assert_string_equal(opening_of(TENDON_DEVICE_ACTIV5, &choice), "connected missing ~");
    set(&choice, "rate", "500"); /* the simulated trainer takes 1 to 200 */
    choice.activ5.legacy = false;
    assert_non_null(strstr(opening_of(TENDON_DEVICE_ACTIV5, &choice), "refused"));
}

static void settings_of_a_belt(void **state) {
    (void)state;
    world_choice choice = world_defaults();
    set(&choice, "orientation-period", "100");
    assert_null(strstr(opening_of(TENDON_DEVICE_FEELSPACE, &choice), "default_intensity"));
    assert_true(w.device.of.feelspace.default_intensity > 0); /* that of the belt */
    set(&choice, "default-intensity", "70");
    const char *events = opening_of(TENDON_DEVICE_FEELSPACE, &choice);
    assert_non_null(strstr(events, "default_intensity"));
    assert_int_equal(w.device.of.feelspace.default_intensity, 70);
    assert_true(w.device.counters.samples >= 10);
    assert_null(strstr(events, "missing"));
    choice.feelspace.firmware = 51;
    assert_non_null(strstr(opening_of(TENDON_DEVICE_FEELSPACE, &choice), "missing"));
    char text[512];
    tendon_line line;
    tendon_line_init(&line, text, sizeof text, false);
    const tendon_device_event missing = {.kind = TENDON_DEVICE_EVENT_MISSING};
    assert_true(tendon_device_line(&w.device, &missing, 0, &line, NULL, 0) > 0);
    assert_non_null(strstr(text, "\"missing\",\"what\":[\"orientation_period\"]"));
}

/* The belt's own limit is over before a user has read a passkey and typed it. */
static void a_user_takes_longer_to_pair_a_belt(void **state) {
    (void)state;
    world_choice choice = world_defaults();
    for (int is_asked = 0; is_asked < 2; is_asked++) {
        choice.settings.opening_ms = is_asked ? 60000 : 0;
        world_start(TENDON_DEVICE_FEELSPACE, &choice);
        w.radio.pairing_ms = TENDON_FEELSPACE_CONNECT_TIMEOUT_MS + 5000;
        world_open();
        world_run(w.radio.pairing_ms + 5000);
        const char *events = world_look();
        assert_int_equal(strstr(events, "connected") != NULL, is_asked);
        assert_int_equal(strstr(events, "failed") != NULL, !is_asked);
    }
}

static void settings_of_an_obvious_device(void **state) {
    (void)state;
    world_choice choice = world_defaults();
    set(&choice, "product", "1234");
    set(&choice, "features", "16,17");
    assert_string_equal(opening_of(TENDON_DEVICE_OBVIOUS, &choice), "connected feature feature");
    set(&choice, "product", "77");
    assert_string_equal(opening_of(TENDON_DEVICE_OBVIOUS, &choice), "failed");
    assert_int_equal(w.ending.status, TENDON_OBVIOUS_ERROR_WRONG_PRODUCT);
    assert_false(w.ending.may_retry);
}

/* What no further attempt changes. */
static void some_devices_are_not_tried_again(void **state) {
    (void)state;
    world_choice choice = world_defaults();
    choice.fjorden.lacks = TENDON_SIMULATED_FJORDEN_NO_FIRMWARE;
    assert_string_equal(opening_of(TENDON_DEVICE_FJORDEN, &choice), "pairing failed");
    assert_false(w.ending.may_retry);
    choice = world_defaults();
    choice.activ5.lacks = UINT32_MAX;
    assert_string_equal(opening_of(TENDON_DEVICE_ACTIV5, &choice), "failed");
    assert_true(w.ending.may_retry);
    assert_int_equal(w.ending.status, TENDON_ACTIV5_ERROR_UNSUPPORTED); /* the first reason counts */
}

/* It says what is missing, before it ends. */
static void a_device_that_lacks_what_is_required(void **state) {
    (void)state;
    world_choice choice = world_defaults();
    choice.is_other = true;
    world_start(TENDON_DEVICE_DEFINED, &choice);
    world_open();
    world_run(2000);
    assert_string_equal(world_look(), "refused failed");
    assert_int_equal(w.ending.status, TENDON_ERROR_NOT_FOUND);
}

/* What the grip does while its information is read comes after the line `connected`. */
static void events_before_the_identity(void **state) {
    (void)state;
    world_choice choice = world_defaults();
    choice.fjorden.flat_out = true;
    choice.fjorden.event_limit = 40;
    const char *events = opening_of(TENDON_DEVICE_FJORDEN, &choice);
    assert_int_equal(strncmp(events, "pairing connected ~", 19), 0);
    assert_int_equal(w.device.counters.samples, 40);
}

/* ---- counters ---- */

static void expect_counters(uint64_t notifications, uint64_t samples, uint64_t malformed, uint64_t skipped) {
    assert_int_equal(w.device.counters.notifications, notifications);
    assert_int_equal(w.device.counters.samples, samples);
    assert_int_equal(w.device.counters.malformed, malformed);
    assert_int_equal(w.device.counters.skipped, skipped);
}

/* Of all connections: what a grip has sent twice, here in one notification, is skipped once. */
static void counters_of_a_grip(void **state) {
    (void)state;
    world_choice choice = world_defaults();
    world_start(TENDON_DEVICE_FJORDEN, &choice);
    for (unsigned turn = 1; turn <= 2; turn++) {
        world_open();
        world_run(1000);
        world_command("shutter half");
        world_run(100);
        world_command("duplicate 1");
        world_command("shutter released");
        world_run(100);
        world_command("malformed empty");
        world_run(100);
        tendon_device_close(&w.device, w.now);
        world_run(6000);
        assert_int_equal(w.ended, turn);
        expect_counters(3 * turn, 2 * turn, turn, turn);
    }
}

/* One notification has the samples of all sensors. */
static void counters_of_a_wearable(void **state) {
    (void)state;
    world_choice choice = world_defaults();
    set(&choice, "sensors", "accelerometer,gyroscope");
    (void)opening_of(TENDON_DEVICE_BOSE, &choice);
    assert_true(w.device.counters.notifications > 50);
    expect_counters(w.device.counters.notifications, 2 * w.device.counters.notifications, 0, 0);
    world_command("malformed unknown_sensor");
    world_run(100);
    assert_int_equal(w.device.counters.malformed, 1);
}

/* Each value is one event; what breaks its layout is no sample. */
static void counters_of_a_device_of_a_file(void **state) {
    (void)state;
    world_choice choice = world_defaults();
    (void)opening_of(TENDON_DEVICE_DEFINED, &choice);
    uint64_t count = w.device.counters.notifications;
    assert_true(count >= 2); /* `serial` and `level` */
    expect_counters(count, count, 0, 0);
    tendon_defined_event event = {.kind = TENDON_DEFINED_EVENT_VALUE}; /* an empty level */
    w.device.of.defined.session.on_event(&w.device, &event, w.now);
    expect_counters(count + 1, count, 1, 0);
}

/* ---- names and values of settings ---- */

static void options_and_their_values(void **state) {
    (void)state;
    static const struct {
        const char *name, *good, *bad;
    } values[] = {
        {"sensors", "rotation,2,accelerometer", "rotation,nothing"},
        {"sensors", "all", ""},
        {"sensors", "none", "256"},
        {"gestures", "head_nod", "nod"},
        {"gestures", "129", "all,head_nod"},
        {"gestures", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"},
        {"period", "5", "6"},
        {"period", "320", "640"},
        {"measure", "imu", "weight"},
        {"measure", "none", ""},
        {"rate", "32767", "0"},
        {"rate", "1", "32768"},
        {"orientation-period", "20", "19"},
        {"orientation-period", "65535", "65536"},
        {"default-intensity", "5", "4"},
        {"default-intensity", "100", "101"},
        {"product", "4294967295", "4294967296"},
        {"product", "0", "-1"},
        {"features", "1,1024", "0"},
        {"features", "1", "1,1025"},
    };
    tendon_device_settings settings;
    tendon_device_settings_init(&settings);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        assert_int_equal(tendon_device_settings_set(&settings, values[i].name, values[i].good), TENDON_OK);
        tendon_device_settings before = settings;
        assert_int_equal(tendon_device_settings_set(&settings, values[i].name, values[i].bad),
                         TENDON_ERROR_INVALID_ARGUMENT);
        assert_int_equal(tendon_device_settings_set(&settings, values[i].name, NULL), TENDON_ERROR_INVALID_ARGUMENT);
        assert_memory_equal(&before, &settings, sizeof settings);
    }
    assert_int_equal(tendon_device_settings_set(&settings, "evergreen", "yes"), TENDON_ERROR_INVALID_ARGUMENT);
    assert_false(settings.evergreen);
    assert_int_equal(tendon_device_settings_set(&settings, "nothing", "1"), TENDON_ERROR_NOT_FOUND);
    size_t count = 0;
    while (tendon_settings_option_at(count) != NULL) {
        assert_non_null(tendon_family_at(tendon_settings_option_at(count)->family));
        count++;
    }
    assert_int_equal(count, 10);
}

static void what_is_no_device(void **state) {
    (void)state;
    world_choice choice = world_defaults();
    world_start(TENDON_DEVICE_BOSE, &choice);
    tendon_device_config config = w.device.config;
    config.settings = NULL;
    assert_int_equal(tendon_device_init(&w.device, &config), TENDON_ERROR_INVALID_ARGUMENT);
    config.settings = &choice.settings;
    config.family = TENDON_DEVICE_DEFINED; /* without a definition */
    assert_int_equal(tendon_device_init(&w.device, &config), TENDON_ERROR_INVALID_ARGUMENT);
    config.family = TENDON_DEVICE_FAMILIES;
    assert_int_equal(tendon_device_init(&w.device, &config), TENDON_ERROR_INVALID_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_opens_and_streams),
        cmocka_unit_test(at_each_moment),
        cmocka_unit_test(the_radio_rejects_the_attempt),
        cmocka_unit_test(closed_within_the_step),
        cmocka_unit_test(settings_of_a_wearable),
        cmocka_unit_test(a_wearable_rejects_its_configuration),
        cmocka_unit_test(a_wearable_is_suspended),
        cmocka_unit_test(settings_of_a_trainer),
        cmocka_unit_test(settings_of_a_belt),
        cmocka_unit_test(a_user_takes_longer_to_pair_a_belt),
        cmocka_unit_test(settings_of_an_obvious_device),
        cmocka_unit_test(some_devices_are_not_tried_again),
        cmocka_unit_test(a_device_that_lacks_what_is_required),
        cmocka_unit_test(events_before_the_identity),
        cmocka_unit_test(counters_of_a_grip),
        cmocka_unit_test(counters_of_a_wearable),
        cmocka_unit_test(counters_of_a_device_of_a_file),
        cmocka_unit_test(options_and_their_values),
        cmocka_unit_test(what_is_no_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
