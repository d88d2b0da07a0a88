/* SPDX-License-Identifier: MIT */
/* Lines of Obvious devices: features have some, the rest is said to have none. */
#include "gateway_fixture.h"

static tendon_obvious_manager manager;
static tendon_obvious_event event;
static size_t at;

static tendon_status write_event(tendon_line *line, void *context) {
    (void)context;
    static const tendon_line_device device = {.family = "obvious"};
    return tendon_obvious_line(line, &device, 0, &event, at);
}

static const char *line(size_t index) {
    at = index;
    return line_of(write_event, NULL);
}

static int reset(void **state) {
    (void)state;
    event = (tendon_obvious_event){0};
    manager = (tendon_obvious_manager){0};
    return 0;
}

static void features(void **state) {
    (void)state;
    static const tendon_obvious_feature list[] = {
        {.id = 300, .enable = 1, .toggle = 1},   {.id = 2, .enable = 0, .toggle = 2},
        {.id = 65535, .enable = 1, .toggle = 2}, {.id = 7, .enable = 9, .toggle = 1},
        {.id = 2, .enable = 1, .toggle = 0},     {.id = 8, .enable = 1, .toggle = 3},
        {.id = 0, .enable = 0, .toggle = 0},
    };
    static const char *const expected[] = {
        "\"feature\",\"family\":\"obvious\",\"feature\":0,\"state\":\"disabled\",\"toggle\":\"unsupported\"}",
        "\"feature\",\"family\":\"obvious\",\"feature\":2,\"state\":\"enabled\",\"toggle\":\"unsupported\"}",
        "\"feature\",\"family\":\"obvious\",\"feature\":7,\"state\":\"unknown\",\"toggle\":\"unknown\"}",
        "\"feature\",\"family\":\"obvious\",\"feature\":8,\"state\":\"enabled\",\"toggle\":\"unknown\"}",
        "\"feature\",\"family\":\"obvious\",\"feature\":300,\"state\":\"enabled\",\"toggle\":\"activated\"}",
        "\"feature\",\"family\":\"obvious\",\"feature\":65535,\"state\":\"enabled\",\"toggle\":\"deactivated\"}",
        "",
        "",
    };
    event = (tendon_obvious_event){
        .kind = TENDON_OBVIOUS_EVENT_CHANGED, .features = list, .count = sizeof list / sizeof list[0]};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_string_equal(line(i), expected[i]);
    }
    event.count = 0;
    assert_string_equal(line(0), "");
}

/* Whether it is switched off is not said of what is not enabled. */
static void a_disabled_feature_has_no_switch(void **state) {
    (void)state;
    const tendon_obvious_feature one = {.id = 5, .enable = 0, .toggle = 1};
    event = (tendon_obvious_event){.kind = TENDON_OBVIOUS_EVENT_CHANGED, .features = &one, .count = 1};
    assert_string_equal(
        line(0), "\"feature\",\"family\":\"obvious\",\"feature\":5,\"state\":\"disabled\",\"toggle\":\"unsupported\"}");
}

static void results(void **state) {
    (void)state;
    const tendon_obvious_feature one = {.id = 5, .enable = 1, .toggle = 1};
    static const struct {
        tendon_obvious_operation operation;
        bool has_line;
    } rows[] = {
        {TENDON_OBVIOUS_GET_INFO, false},
        {TENDON_OBVIOUS_CHECK_STATUS, true},
        {TENDON_OBVIOUS_TOGGLE, true},
        {TENDON_OBVIOUS_SET_TOGGLES, true},
        {TENDON_OBVIOUS_UPDATE_FEATURES, false},
        {TENDON_OBVIOUS_CHECK_FIRMWARE, false},
        {TENDON_OBVIOUS_UPGRADE_FIRMWARE, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        event = (tendon_obvious_event){
            .kind = TENDON_OBVIOUS_EVENT_DONE, .operation = rows[i].operation, .features = &one, .count = 1};
        assert_int_equal(line(0)[0] != '\0', rows[i].has_line);
        assert_string_equal(line(1), "");
        event.code = TENDON_OBVIOUS_UPDATE_FAILED;
        assert_string_equal(line(0), "");
    }
    for (unsigned kind = 0; kind < TENDON_OBVIOUS_EVENT_CHANGED; kind++) {
        event = (tendon_obvious_event){.kind = (tendon_obvious_event_kind)kind,
                                       .operation = TENDON_OBVIOUS_CHECK_STATUS,
                                       .features = &one,
                                       .count = 1};
        assert_string_equal(line(0), "");
    }
}

static tendon_status write_identity(tendon_line *out, void *context) {
    (void)context;
    tendon_line_begin(out, "connected", 0, NULL);
    tendon_obvious_identity(out, &manager);
    return tendon_line_end(out);
}

static void identity(void **state) {
    (void)state;
    manager.config.product = 4294967295;
    manager.serial = 0x00ABCDEF12345678;
    manager.battery = 100;
    assert_true(tendon_obvious_parse_version("1.2.3", 5, &manager.fw) >= 0);
    assert_string_equal(line_of(write_identity, NULL),
                        "\"connected\",\"product\":\"4294967295\",\"firmware\":\"1.2.3\","
                        "\"serial\":\"00ABCDEF12345678\",\"battery_percent\":100}");
    manager.config.product = 0;
    manager.battery = 0xFF;
    assert_string_equal(line_of(write_identity, NULL), "\"connected\",\"product\":\"0\",\"firmware\":\"1.2.3\","
                                                       "\"serial\":\"00ABCDEF12345678\",\"battery_percent\":null}");
    manager.fw = UINT32_MAX; /* no version */
    assert_string_equal(line_of(write_identity, NULL), "\"connected\",\"product\":\"0\",\"firmware\":\"\","
                                                       "\"serial\":\"00ABCDEF12345678\",\"battery_percent\":null}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(features, reset),
        cmocka_unit_test_setup(a_disabled_feature_has_no_switch, reset),
        cmocka_unit_test_setup(results, reset),
        cmocka_unit_test_setup(identity, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
