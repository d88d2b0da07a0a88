/* SPDX-License-Identifier: MIT */
/* feelSpace: values at the edges of what docs/protocols/feelspace.md permits, and fields that look alike. */
#include "feelspace_fixture.h"

#include "tendon/simulate/feelspace_usb.h"

/* Four bytes of status, each with a field of its own. */
static void an_orientation_has_four_statuses(void **state) {
    (void)state;
    block b = block_hex("02 a6 ff 79 ff 02 00 fa ff 05 00 01 02 03 ff 00");
    tendon_feelspace_orientation out;
    assert_int_equal(tendon_feelspace_decode_orientation(b.data, b.length, &out, NULL), TENDON_OK);
    assert_int_equal(out.sensor_id, 2);
    assert_int_equal(out.heading, -90);
    assert_int_equal(out.heading_360, 270);
    assert_int_equal(out.box_heading, -135);
    assert_int_equal(out.box_roll, 2);
    assert_int_equal(out.box_pitch, -6);
    assert_int_equal(out.accuracy_deg, 5);
    assert_int_equal(out.magnetometer_status, 1);
    assert_int_equal(out.accelerometer_status, 2);
    assert_int_equal(out.gyroscope_status, 3);
    assert_int_equal(out.fusion_status, -1);
    assert_true(out.accurate);
    size_t offset = 99;
    assert_int_equal(tendon_feelspace_decode_orientation(b.data, 15, &out, &offset), TENDON_ERROR_TRUNCATED);
    free(b.data);
}

/* The firmware whose front range may have to be patched: version x.4, variant 4. */
static void one_firmware_may_need_the_patch(void **state) {
    (void)state;
    static const struct {
        uint16_t version;
        bool has_variant;
        uint8_t variant;
        bool candidate;
    } cases[] = {{0x0104, true, 4, true},  {0x0004, true, 4, true},   {0x0105, true, 4, false},
                 {0x0400, true, 4, false}, {0x0104, false, 4, false}, {0x0104, true, 5, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tendon_feelspace_firmware firmware = {
            .version = cases[i].version, .has_variant = cases[i].has_variant, .variant = cases[i].variant};
        assert_int_equal(tendon_feelspace_patch_candidate(&firmware), cases[i].candidate);
        assert_false(tendon_feelspace_has_feature(&firmware, TENDON_FEELSPACE_FEATURE_COUNT));
    }
}

static void nothing_is_no_command_of_a_belt(void **state) {
    (void)state;
    for (uint8_t mode = 0; mode < 8; mode++) {
        assert_false(tendon_feelspace_belt_accepts(mode, NULL, 0));
    }
}

static void a_belt_has_the_whole_prefix(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool is_belt;
    } cases[] = {{"naviguertel", true},     {"NAVIGUERTEL_1", true}, {"naviGuertel", true},  {"naviguerte", false},
                 {"naviguertem", false},    {"naviguertek", false},  {"maviguertel", false}, {"", false},
                 {"navigu\xC7rtel", false}, {"NAVIGUERTEM", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        block b = block_copy(cases[i].name, strlen(cases[i].name));
        assert_int_equal(tendon_feelspace_is_belt_name((const char *)b.data, b.length), cases[i].is_belt);
        free(b.data);
    }
}

static void a_vibration_has_a_channel_from_0_on(void **state) {
    (void)state;
    uint8_t bytes[18];
    tendon_feelspace_vibration vibration = {
        .signal = TENDON_FEELSPACE_SIGNAL_CONTINUOUS, .direction = 90, .intensity = 50, .channel = 0};
    const tendon_feelspace_channels channels = TENDON_FEELSPACE_CHANNELS_DOCUMENTED;
    assert_int_equal(tendon_feelspace_encode_vibration(&vibration, channels, bytes, sizeof bytes), 18);
    assert_int_equal(bytes[0], 0);
    vibration.channel = (int32_t)channels - 1;
    assert_int_equal(tendon_feelspace_encode_vibration(&vibration, channels, bytes, sizeof bytes), 18);
    assert_int_equal(bytes[0], (int)channels - 1);
    static const int32_t none[] = {-1, (int32_t)TENDON_FEELSPACE_CHANNELS_DOCUMENTED, INT32_MIN};
    for (size_t i = 0; i < 3; i++) {
        vibration.channel = none[i];
        assert_int_equal(tendon_feelspace_encode_vibration(&vibration, channels, bytes, sizeof bytes),
                         TENDON_ERROR_INVALID_ARGUMENT);
    }
    vibration.channel = 0;
    vibration.intensity = 0; /* a stop; channel -1 is not "all" here */
    assert_int_equal(tendon_feelspace_encode_vibration(&vibration, channels, bytes, sizeof bytes), 2);
    vibration.channel = -1;
    assert_int_equal(tendon_feelspace_encode_vibration(&vibration, channels, bytes, sizeof bytes),
                     TENDON_ERROR_INVALID_ARGUMENT);
}

static void on_event(void *context, const tendon_feelspace_event *event, uint64_t now) {
    (void)context;
    (void)event;
    (void)now;
}

static tendon_status on_connect(void *context) {
    (void)context;
    return TENDON_OK;
}

static void on_disconnect(void *context) {
    (void)context;
}

static void every_function_that_is_called_is_required(void **state) {
    (void)state;
    static tendon_feelspace_session session;
    const tendon_feelspace_session_config whole = {.on_event = on_event,
                                                   .link = {.connect = on_connect, .disconnect = on_disconnect}};
    assert_int_equal(tendon_feelspace_session_init(&session, &whole), TENDON_OK);
    tendon_feelspace_session_config config = whole;
    config.on_event = NULL;
    assert_int_equal(tendon_feelspace_session_init(&session, &config), TENDON_ERROR_INVALID_ARGUMENT);
    config = whole;
    config.link.connect = NULL;
    assert_int_equal(tendon_feelspace_session_init(&session, &config), TENDON_ERROR_INVALID_ARGUMENT);
    config = whole;
    config.link.disconnect = NULL;
    assert_int_equal(tendon_feelspace_session_init(&session, &config), TENDON_ERROR_INVALID_ARGUMENT);
}

/* Handle, length, payload; a configuration is the handle behind the value, where there is one. */
static void usb_frames_byte_by_byte(void **state) {
    (void)state;
    static const uint8_t payload[300] = {0xA1, 0xA2, 0xA3};
    uint8_t bytes[304];
    assert_int_equal(tendon_feelspace_encode_usb_write(0xFE03, payload, 3, bytes, sizeof bytes), 5);
    assert_hex(bytes, 5, "24 03 a1 a2 a3");
    assert_int_equal(tendon_feelspace_encode_usb_write(0xFE03, payload, 3, bytes, 4), TENDON_ERROR_BUFFER_TOO_SMALL);
    static const size_t lengths[] = {253, 254, 255, 256, 300};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(tendon_feelspace_encode_usb_write(0xFE03, payload, lengths[i], bytes, sizeof bytes),
                         lengths[i] + 2);
        assert_int_equal(bytes[1], lengths[i] < 255 ? lengths[i] : 255);
    }
    assert_int_equal(tendon_feelspace_encode_usb_read(0xFE09, bytes, sizeof bytes), 2);
    assert_hex(bytes, 2, "33 00");
    assert_int_equal(tendon_feelspace_encode_usb_notify(0xFE09, true, bytes, sizeof bytes), 4);
    assert_hex(bytes, 4, "34 02 01 00");
    assert_int_equal(tendon_feelspace_encode_usb_notify(0xFE14, false, bytes, sizeof bytes), 4);
    assert_hex(bytes, 4, "4e 02 00 00");
    static const uint16_t silent[] = {0xFE01, 0xFE03, 0xFE05, 0xFE07, 0xFE0A, 0xFE13, 0xFE08, 0x0009};
    for (size_t i = 0; i < sizeof silent / sizeof silent[0]; i++) {
        memset(bytes, 0x34, sizeof bytes); /* whatever was in memory before */
        assert_int_equal(tendon_feelspace_encode_usb_notify(silent[i], true, bytes, sizeof bytes),
                         TENDON_ERROR_INVALID_ARGUMENT);
    }
}

/* A first value of nothing but zeros is news; the same again is none. */
static void an_empty_battery_is_reported_once(void **state) {
    belt *b = *state;
    belt_open(b);
    size_t before = belt_count(b, TENDON_FEELSPACE_EVENT_BATTERY) + 1;
    b->session.has_battery = false;
    memset(&b->session.battery, 0, sizeof b->session.battery);
    belt_notify(b, H_BATTERY, "00 00 00 00 00");
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_BATTERY), before);
    belt_notify(b, H_BATTERY, "00 00 00 00 00");
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_BATTERY), before);
    static const char *const changes[] = {"01 00 00 00 00", "01 00 01 00 00", "01 00 01 01 00"};
    for (size_t i = 0; i < 3; i++) { /* power, level, time: each alone */
        belt_notify(b, H_BATTERY, changes[i]);
        belt_notify(b, H_BATTERY, changes[i]);
        assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_BATTERY), before + i + 1);
    }
}

static void the_shortest_time_to_connect_is_a_millisecond(void **state) {
    belt *b = *state;
    for (uint64_t ms = 1; ms < 3; ms++) {
        const tendon_feelspace_connect_options options = {.timeout_ms = ms};
        assert_int_equal(tendon_feelspace_session_connect(&b->session, &belt_address, &options, b->now), TENDON_OK);
        belt_advance(b, ms - 1);
        assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTING);
        belt_advance(b, 1);
        belt_expect_state(b, TENDON_FEELSPACE_CONNECTING, TENDON_FEELSPACE_NOT_CONNECTED,
                          TENDON_FEELSPACE_CONNECTION_FAILED, TENDON_FEELSPACE_CONNECTION_TIMEOUT);
        belt_advance(b, 100);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_orientation_has_four_statuses),
        cmocka_unit_test(one_firmware_may_need_the_patch),
        cmocka_unit_test(nothing_is_no_command_of_a_belt),
        cmocka_unit_test(a_belt_has_the_whole_prefix),
        cmocka_unit_test(a_vibration_has_a_channel_from_0_on),
        cmocka_unit_test(every_function_that_is_called_is_required),
        cmocka_unit_test(usb_frames_byte_by_byte),
        cmocka_unit_test_setup_teardown(an_empty_battery_is_reported_once, belt_setup, belt_teardown),
        cmocka_unit_test_setup_teardown(the_shortest_time_to_connect_is_a_millisecond, belt_setup, belt_teardown),
    };
    return cmocka_run_group_tests_name("feelspace_bounds", tests, NULL, NULL);
}
