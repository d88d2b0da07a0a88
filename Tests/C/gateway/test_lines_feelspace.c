/* SPDX-License-Identifier: MIT */
/* Lines of feelSpace belts: each kind of event has one, or is said to have none. */
#include "gateway_fixture.h"

static tendon_feelspace_session session;
static tendon_feelspace_event event;

static const tendon_line_device device = {.family = "feelspace"};

static tendon_status write_event(tendon_line *line, void *context) {
    (void)context;
    return tendon_feelspace_line(line, &device, 0, &session, &event);
}

static const char *line(void) {
    return line_of(write_event, NULL);
}

static int reset(void **state) {
    (void)state;
    session = (tendon_feelspace_session){.mode = 0xFF, .accuracy_state = -1, .default_intensity = -1};
    event = (tendon_feelspace_event){0};
    return 0;
}

static void orientation(void **state) {
    (void)state;
    event.kind = TENDON_FEELSPACE_EVENT_ORIENTATION;
    event.received_at = 1234567890;
    session.orientation = (tendon_feelspace_orientation){.heading = -17, .accuracy_deg = 12, .accurate = true};
    assert_string_equal(line(),
                        "\"sample\",\"family\":\"feelspace\",\"sensor\":\"orientation\",\"received_at\":1.234568,"
                        "\"heading_deg\":-17,"
                        "\"accurate\":true,\"accuracy_deg\":12}");
}

static void buttons(void **state) {
    (void)state;
    event.kind = TENDON_FEELSPACE_EVENT_BUTTON;
    event.press = (tendon_feelspace_press){.button = TENDON_FEELSPACE_BUTTON_HOME,
                                           .is_long = true,
                                           .previous_mode = TENDON_FEELSPACE_MODE_WAIT,
                                           .new_mode = TENDON_FEELSPACE_MODE_CALIBRATION};
    assert_string_equal(line(), "\"button\",\"family\":\"feelspace\",\"button\":\"home\",\"press\":\"long\","
                                "\"previous_mode\":\"wait\",\"mode\":\"calibration\"}");
    event.press.button = TENDON_FEELSPACE_BUTTON_POWER;
    event.press.is_long = false;
    assert_non_null(strstr(line(), "\"button\":\"power\",\"press\":\"short\""));
    event.press.button = 5; /* no belt has it */
    assert_string_equal(line(), "");
    event.press.button = 0;
    assert_string_equal(line(), "");
}

static void values(void **state) {
    (void)state;
    event.kind = TENDON_FEELSPACE_EVENT_MODE;
    assert_string_equal(line(), "\"mode\",\"family\":\"feelspace\",\"mode\":\"unknown\"}");
    session.mode = TENDON_FEELSPACE_MODE_CROSSING;
    assert_string_equal(line(), "\"mode\",\"family\":\"feelspace\",\"mode\":\"crossing\"}");
    event.kind = TENDON_FEELSPACE_EVENT_DEFAULT_INTENSITY;
    session.default_intensity = 60;
    assert_string_equal(line(), "\"default_intensity\",\"family\":\"feelspace\",\"intensity_percent\":60}");
    event.kind = TENDON_FEELSPACE_EVENT_HEADING_OFFSET;
    session.heading_offset = 45;
    assert_string_equal(line(), "\"heading_offset\",\"family\":\"feelspace\",\"offset_deg\":45}");
    event.kind = TENDON_FEELSPACE_EVENT_ACCURACY_SIGNAL;
    assert_string_equal(line(), "");
    session.accuracy_state = 1;
    assert_string_equal(line(), "\"accuracy_signal\",\"family\":\"feelspace\",\"in_app\":false,\"in_compass\":true}");
    session.accuracy_state = 2;
    assert_string_equal(line(), "\"accuracy_signal\",\"family\":\"feelspace\",\"in_app\":true,\"in_compass\":false}");
}

static tendon_status write_battery(tendon_line *line, void *context) {
    (void)context;
    return tendon_feelspace_battery_line(line, &device, 0, &session);
}

static void battery(void **state) {
    (void)state;
    event.kind = TENDON_FEELSPACE_EVENT_BATTERY;
    session.battery = (tendon_feelspace_battery){
        .power_status = TENDON_FEELSPACE_POWER_CHARGING, .level_percent = 45.06, .tte_ttf_s = 5625};
    assert_string_equal(line(), "\"battery\",\"family\":\"feelspace\",\"battery_percent\":45.1,"
                                "\"power_status\":\"charging\",\"time_left_s\":5625}");
    /* at least this time: not known */
    session.battery.tte_ttf_s = 65535 * 5.625;
    session.battery.power_status = TENDON_FEELSPACE_POWER_ON_BATTERY;
    assert_string_equal(line(), "\"battery\",\"family\":\"feelspace\",\"battery_percent\":45.1,"
                                "\"power_status\":\"onBattery\",\"time_left_s\":null}");
    session.battery.tte_ttf_s = 65534 * 5.625;
    session.battery.power_status = TENDON_FEELSPACE_POWER_EXTERNAL;
    assert_non_null(strstr(line(), "\"power_status\":\"externalPower\",\"time_left_s\":368629}"));
    session.battery.power_status = 0;
    assert_non_null(strstr(line(), "\"power_status\":\"unknown\""));
    /* what was reported before */
    assert_string_equal(line_of(write_battery, NULL), "");
    session.has_battery = true;
    assert_non_null(strstr(line_of(write_battery, NULL), "\"battery_percent\":45.1"));
}

static void packets(void **state) {
    (void)state;
    static const uint8_t bytes[] = {0xA0, 0x01, 0xFF};
    event.kind = TENDON_FEELSPACE_EVENT_DEBUG;
    event.packet.data = bytes;
    event.packet.length = sizeof bytes;
    assert_string_equal(line(), "\"debug\",\"family\":\"feelspace\",\"bytes\":\"a001ff\"}");
    event.kind = TENDON_FEELSPACE_EVENT_REJECTED;
    event.status = TENDON_FEELSPACE_ERROR_BAD_VALUE;
    assert_string_equal(line(), "\"malformed\",\"family\":\"feelspace\",\"bytes\":\"a001ff\","
                                "\"error\":\"FEELSPACE_ERROR_BAD_VALUE\",\"text\":\"a field has a value that no belt "
                                "sends\"}");
}

static void all_others_have_none(void **state) {
    (void)state;
    static const tendon_feelspace_event_kind none[] = {
        TENDON_FEELSPACE_EVENT_STATE,     TENDON_FEELSPACE_EVENT_FOUND,        TENDON_FEELSPACE_EVENT_SCAN_FINISHED,
        TENDON_FEELSPACE_EVENT_PARAMETER, TENDON_FEELSPACE_EVENT_LOG_FINISHED, TENDON_FEELSPACE_EVENT_COMMAND,
    };
    unsigned without = 0;
    session.accuracy_state = 0;
    for (unsigned kind = 0; kind <= TENDON_FEELSPACE_EVENT_REJECTED; kind++) {
        event = (tendon_feelspace_event){.kind = (tendon_feelspace_event_kind)kind};
        if (event.kind == TENDON_FEELSPACE_EVENT_BUTTON) {
            event.press.button = TENDON_FEELSPACE_BUTTON_PAUSE;
        }
        bool is_listed = without < sizeof none / sizeof none[0] && none[without] == event.kind;
        without += is_listed ? 1 : 0;
        assert_int_equal(line()[0] != '\0', !is_listed);
    }
    assert_int_equal(without, sizeof none / sizeof none[0]);
}

static tendon_status write_identity(tendon_line *out, void *context) {
    (void)context;
    tendon_line_begin(out, "connected", 0, NULL);
    tendon_feelspace_identity(out, &session);
    return tendon_line_end(out);
}

static void identity(void **state) {
    (void)state;
    assert_string_equal(line_of(write_identity, NULL), "\"connected\",\"firmware\":\"-1\",\"variant\":null,"
                                                       "\"mode\":\"unknown\",\"intensity_percent\":-1}");
    session.has_firmware = true;
    session.firmware = (tendon_feelspace_firmware){.version = 65535, .has_variant = true, .variant = 3};
    session.mode = TENDON_FEELSPACE_MODE_COMPASS;
    session.default_intensity = 25;
    assert_string_equal(line_of(write_identity, NULL), "\"connected\",\"firmware\":\"65535\",\"variant\":3,"
                                                       "\"mode\":\"compass\",\"intensity_percent\":25}");
    session.firmware = (tendon_feelspace_firmware){.version = 0};
    assert_non_null(strstr(line_of(write_identity, NULL), "\"firmware\":\"0\",\"variant\":null"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(orientation, reset), cmocka_unit_test_setup(buttons, reset),
        cmocka_unit_test_setup(values, reset),      cmocka_unit_test_setup(battery, reset),
        cmocka_unit_test_setup(packets, reset),     cmocka_unit_test_setup(all_others_have_none, reset),
        cmocka_unit_test_setup(identity, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
