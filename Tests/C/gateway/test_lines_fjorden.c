/* SPDX-License-Identifier: MIT */
/* Lines of Fjorden grips: each kind of event has one, or is said to have none. */
#include "gateway_fixture.h"

static tendon_fjorden_session session;
static tendon_fjorden_session_event event;
static tendon_fjorden_record record;
static tendon_fjorden_output output;

static tendon_status write_event(tendon_line *line, void *context) {
    (void)context;
    static const tendon_line_device device = {.family = "fjorden"};
    return tendon_fjorden_line(line, &device, 0, &event);
}

static const char *line(void) {
    return line_of(write_event, NULL);
}

static int reset(void **state) {
    (void)state;
    record = (tendon_fjorden_record){.count = 1};
    output = (tendon_fjorden_output){0};
    event = (tendon_fjorden_session_event){
        .kind = TENDON_FJORDEN_SESSION_EVENT_EVENT, .record = &record, .output = &output};
    session = (tendon_fjorden_session){0};
    return 0;
}

static void records(void **state) {
    (void)state;
    record = (tendon_fjorden_record){.has_sequence = true,
                                     .sequence = 7,
                                     .event = TENDON_FJORDEN_DIAL_CW,
                                     .code = 0x11,
                                     .value = 3,
                                     .count = 3,
                                     .time_ms = 70000};
    event.received_at = 2000001000;
    assert_string_equal(line(), "\"grip\",\"family\":\"fjorden\",\"grip_event\":\"dialButtonCW\",\"count\":3,"
                                "\"device_time_ms\":70000,\"received_at\":2.000001,\"sequence\":7}");
    event.received_at = 0;
    record = (tendon_fjorden_record){.event = TENDON_FJORDEN_CUSTOM_LONG_PRESS + 12, .count = 1, .lost_before = 2};
    event.synthesized = true;
    assert_string_equal(line(),
                        "\"grip\",\"family\":\"fjorden\",\"grip_event\":\"customButtonLongPress\","
                        "\"button\":12,\"count\":1,\"device_time_ms\":0,\"lost_before\":2,\"synthesized\":true}");
    event.synthesized = false;
    record = (tendon_fjorden_record){.event = TENDON_FJORDEN_BATTERY_LOW, .value = 20, .count = 1};
    assert_string_equal(line(), "\"grip\",\"family\":\"fjorden\",\"grip_event\":\"batteryLow\",\"count\":1,"
                                "\"device_time_ms\":0}"); /* a format without a value */
    record.has_sequence = true;
    assert_string_equal(line(), "\"grip\",\"family\":\"fjorden\",\"grip_event\":\"batteryLow\","
                                "\"battery_percent\":20,\"count\":1,\"device_time_ms\":0,\"sequence\":0}");
    record = (tendon_fjorden_record){.event = TENDON_FJORDEN_UNKNOWN, .code = 0x77, .count = 1};
    assert_string_equal(line(), "\"grip\",\"family\":\"fjorden\",\"grip_event\":\"unknown\",\"code\":119,\"count\":1,"
                                "\"device_time_ms\":0}");
}

static void battery(void **state) {
    (void)state;
    event.kind = TENDON_FJORDEN_SESSION_EVENT_BATTERY;
    event.level = 30;
    assert_string_equal(line(), "\"battery\",\"family\":\"fjorden\",\"battery_percent\":30,\"battery_low\":false}");
    event.level = 29;
    assert_string_equal(line(), "\"battery\",\"family\":\"fjorden\",\"battery_percent\":29,\"battery_low\":true}");
    event.status = TENDON_FJORDEN_ERROR_NO_BATTERY_INFO;
    assert_string_equal(line(), "");
}

static void pairing(void **state) {
    (void)state;
    event.kind = TENDON_FJORDEN_SESSION_EVENT_OUTPUT;
    for (unsigned kind = 0; kind <= TENDON_FJORDEN_OUT_REMOVE_BOND; kind++) {
        output.kind = (tendon_fjorden_output_kind)kind;
        assert_string_equal(line(), output.kind == TENDON_FJORDEN_OUT_PAIR
                                        ? "\"pairing\",\"family\":\"fjorden\",\"state\":\"wanted\"}"
                                        : "");
    }
}

static void all_others_have_none(void **state) {
    (void)state;
    static const tendon_fjorden_session_event_kind none[] = {
        TENDON_FJORDEN_SESSION_EVENT_TARGET,  TENDON_FJORDEN_SESSION_EVENT_RESPONSE, TENDON_FJORDEN_SESSION_EVENT_INFO,
        TENDON_FJORDEN_SESSION_EVENT_PAIRING, TENDON_FJORDEN_SESSION_EVENT_REJECTED,
    };
    unsigned without = 0;
    output.kind = TENDON_FJORDEN_OUT_PAIR;
    for (unsigned kind = 0; kind <= TENDON_FJORDEN_SESSION_EVENT_REJECTED; kind++) {
        event.kind = (tendon_fjorden_session_event_kind)kind;
        bool is_listed = without < sizeof none / sizeof none[0] && none[without] == event.kind;
        without += is_listed ? 1 : 0;
        assert_int_equal(line()[0] != '\0', !is_listed);
    }
    assert_int_equal(without, sizeof none / sizeof none[0]);
}

static tendon_status write_identity(tendon_line *out, void *context) {
    (void)context;
    tendon_line_begin(out, "connected", 0, NULL);
    tendon_fjorden_identity(out, &session);
    return tendon_line_end(out);
}

static void given(tendon_fjorden_string which, const char *text) {
    memcpy(session.info.strings[which], text, strlen(text) + 1);
    session.info.present[which] = true;
}

static void identity(void **state) {
    (void)state;
    assert_string_equal(line_of(write_identity, NULL), "\"connected\",\"firmware\":null,\"manufacturer\":null,"
                                                       "\"model\":null,\"battery_percent\":null}");
    given(TENDON_FJORDEN_STRING_FIRMWARE, "1.2");
    given(TENDON_FJORDEN_STRING_MANUFACTURER, "Fjorden \xC3\x85S");
    given(TENDON_FJORDEN_STRING_MODEL, "Grip");
    session.has_level = true;
    session.level = 55;
    assert_string_equal(line_of(write_identity, NULL),
                        "\"connected\",\"firmware\":\"1.2.0\",\"manufacturer\":\"Fjorden \xC3\x85S\","
                        "\"model\":\"Grip\",\"battery_percent\":55}");
    given(TENDON_FJORDEN_STRING_FIRMWARE, "no version");
    assert_non_null(strstr(line_of(write_identity, NULL), "\"firmware\":null"));
    /* the longest text that a grip can send */
    char longest[TENDON_FJORDEN_STRING_SIZE];
    memset(longest, 'a', sizeof longest);
    memcpy(longest, "1-", 2);
    longest[sizeof longest - 1] = '\0';
    given(TENDON_FJORDEN_STRING_FIRMWARE, longest);
    assert_non_null(strstr(line_of(write_identity, NULL), "\"firmware\":\"1.0.0-aaaa"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(records, reset),  cmocka_unit_test_setup(battery, reset),
        cmocka_unit_test_setup(pairing, reset),  cmocka_unit_test_setup(all_others_have_none, reset),
        cmocka_unit_test_setup(identity, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
