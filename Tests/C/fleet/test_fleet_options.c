/* SPDX-License-Identifier: MIT */
/* The options of a fleet, by their names. */
#include "test_bytes.h"

#include "tendon/fleet.h"

static tendon_fleet_options options;

static tendon_status set(const char *name, const char *value) {
    return tendon_fleet_options_set(&options, name, value);
}

static void values(void **state) {
    (void)state;
    static const struct {
        const char *name, *good, *bad;
    } rows[] = {
        {"radio", "virtual", "usb"},
        {"radio", "bluez", ""},
        {"adapter", "hci0,hci1", ","},
        {"families", "bose,feelspace", "bose,phone"},
        {"families", "all", ""},
        {"ignore", "activ5", "activ6"},
        {"address", "C4:00:00:00:00:01/random", "C4:00:00:00:00"},
        {"allow", "C4:00:00:00:00:01", "any"},
        {"pair", "60", "0"},
        {"pair", "86400", "86401"},
        {"connection", "fast", "faster"},
        {"period", "40", "41"},
        {"sensors", "all", "some"},
    };
    tendon_fleet_options_init(&options);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (set(rows[i].name, rows[i].good) != TENDON_OK) {
            fail_msg("--%s %s", rows[i].name, rows[i].good);
        }
        const tendon_fleet_options before = options;
        if (set(rows[i].name, rows[i].bad) != TENDON_ERROR_INVALID_ARGUMENT) {
            fail_msg("--%s %s", rows[i].name, rows[i].bad);
        }
        assert_memory_equal(&options, &before, sizeof before);
    }
    /* Of a list no part is taken. */
    const tendon_fleet_options before = options;
    assert_int_equal(set("adapter", "hci1,hci2,hci3,hci4,hci5"), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(set("radio", "radio"), TENDON_ERROR_INVALID_ARGUMENT);
    assert_memory_equal(&options, &before, sizeof before);
    assert_int_equal(set("pair", NULL), TENDON_OK);
    assert_int_equal(options.pair_s, UINT32_MAX);
    assert_int_equal(set("no-reconnect", NULL), TENDON_OK);
    assert_int_equal(set("no-reconnect", "yes"), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(set("radio", NULL), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(set("nothing", NULL), TENDON_ERROR_NOT_FOUND);
}

static void the_radio(void **state) {
    (void)state;
    static const struct {
        const char *variable, *radio, *adapter;
        bool is_virtual;
        const char *mistake;
    } rows[] = {
        {NULL, NULL, NULL, false, ""},
        {"virtual", NULL, NULL, true, ""},
        {"bluez", NULL, NULL, false, ""},
        {"", NULL, NULL, false, ""},
        {"usb", NULL, NULL, false, "TENDON_RADIO is bluez or virtual, not 'usb'"},
        {"usb", "bluez", NULL, false, ""},
        {"usb", "virtual", NULL, true, ""},
        {"usb", NULL, "hci0", false, ""},
        {"virtual", "bluez", NULL, false, ""},
        {"virtual", NULL, "hci0", false, ""},
        {NULL, "virtual", NULL, true, ""},
        {NULL, "virtual", "hci0", true, "--adapter is for --radio bluez"},
        {NULL, "bluez", "hci0", false, ""},
    };
    static tendon_fleet fleet;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(
            rows[i].variable != NULL ? setenv("TENDON_RADIO", rows[i].variable, 1) : unsetenv("TENDON_RADIO"), 0);
        tendon_fleet_options_init(&options);
        assert_true(rows[i].radio == NULL || set("radio", rows[i].radio) == TENDON_OK);
        assert_true(rows[i].adapter == NULL || set("adapter", rows[i].adapter) == TENDON_OK);
        assert_int_equal(options.is_virtual, rows[i].is_virtual);
        char text[TENDON_FLEET_MISTAKE_SIZE];
        assert_int_equal(tendon_fleet_options_mistake(&options, text), rows[i].mistake[0] != '\0');
        assert_string_equal(text, rows[i].mistake);
        if (rows[i].mistake[0] != '\0') {
            assert_int_equal(tendon_fleet_open(&fleet, NULL, &options, NULL, NULL), TENDON_ERROR_INVALID_ARGUMENT);
        }
    }
    assert_int_equal(unsetenv("TENDON_RADIO"), 0);
}

/* The words follow the name of the option, and say what is possible. */
static void mistakes(void **state) {
    (void)state;
    static const struct {
        const char *name, *value, *text;
    } rows[] = {
        {"rate", "0", "'0' is not possible: samples per second, 1 to 32767; default: the setting of the device"},
        {"pair", "86401",
         "'86401' is not possible: pair with new devices for this time, 1 to 86400; alone: as long as it runs; "
         "default: never"},
        {"sensors", "nose",
         "'nose' is not possible: with commas: accelerometer, gyroscope, rotation, game_rotation, orientation, "
         "magnetometer, uncalibrated_magnetometer; all; none; default: rotation"},
        {"period", NULL, "needs a value: time between two samples: 5, 10, 20, 40, 80, 160 or 320; default: 20"},
        {"coded", "yes", "takes no value, so not 'yes'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[TENDON_FLEET_MISTAKE_SIZE];
        assert_int_equal(set(rows[i].name, rows[i].value), TENDON_ERROR_INVALID_ARGUMENT);
        tendon_fleet_option_mistake(rows[i].name, rows[i].value, text);
        assert_string_equal(text, rows[i].text);
    }
}

static void families(void **state) {
    (void)state;
    tendon_fleet_options_init(&options);
    assert_int_equal(options.families, 0x1F);
    assert_int_equal(set("families", "bose,fjorden"), TENDON_OK);
    assert_int_equal(options.families, 0x09);
    char text[TENDON_FLEET_MISTAKE_SIZE];
    assert_int_equal(set("ignore", "bose"), TENDON_OK);
    assert_int_equal(options.ignored, 0x01);
    assert_false(tendon_fleet_options_mistake(&options, text));
    assert_int_equal(set("families", "bose"), TENDON_OK); /* in any order */
    assert_true(tendon_fleet_options_mistake(&options, text));
    tendon_fleet_options_init(&options);
    assert_int_equal(set("families", "none"), TENDON_OK);
    assert_int_equal(options.families, 0);
    assert_true(tendon_fleet_options_mistake(&options, text));
    assert_string_equal(text, "no family is served: see --families and --ignore");
}

/* A device file has a family, too; of a name that no other family has. */
static void device_files(void **state) {
    (void)state;
    static const char text[] =
        "{\"name\":\"toy\",\"title\":\"Toy\",\"find\":{\"services\":[\"fff0\"]},\"characteristics\":["
        "{\"name\":\"level\",\"service\":\"fff0\",\"uuid\":\"fff1\",\"notify\":[{\"name\":\"x\","
        "\"type\":\"u8\"}]}]}";
    static tendon_definition definition;
    static tendon_definition_scratch scratch;
    tendon_definition_mistake mistake;
    assert_int_equal(tendon_definition_parse(text, sizeof text - 1, &definition, &scratch, &mistake), TENDON_OK);
    tendon_fleet_options_init(&options);
    assert_int_equal(set("families", "toy"), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_fleet_options_define(&options, &definition), TENDON_OK);
    assert_int_equal(options.families, 0x3F);
    assert_int_equal(tendon_fleet_options_define(&options, &definition), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(set("families", "toy"), TENDON_OK);
    assert_int_equal(options.families, 0x20);
    assert_int_equal(set("families", "all"), TENDON_OK);
    assert_true(tendon_fleet_options_serve(&options, 5));
    assert_false(tendon_fleet_options_serve(&options, TENDON_SEARCH_NO_FAMILY));
    tendon_fleet_options_init(&options);
    assert_int_equal(set("families", "all"), TENDON_OK);
    assert_int_equal(tendon_fleet_options_define(&options, &definition), TENDON_OK);
    assert_true(tendon_fleet_options_serve(&options, 5));
    assert_int_equal(set("ignore", "all"), TENDON_OK);
    assert_false(tendon_fleet_options_serve(&options, 5) || tendon_fleet_options_serve(&options, 0));
    /* Of families that were chosen before it, it is none. */
    tendon_fleet_options_init(&options);
    assert_int_equal(set("families", "phones"), TENDON_ERROR_INVALID_ARGUMENT);
    assert_false(options.names_families);
    assert_int_equal(set("families", "bose"), TENDON_OK);
    assert_int_equal(tendon_fleet_options_define(&options, &definition), TENDON_OK);
    assert_int_equal(options.families, 0x01);
    /* Another file for the same devices. */
    static tendon_definition other;
    char renamed[sizeof text];
    memcpy(renamed, text, sizeof text);
    memcpy(strstr(renamed, "toy"), "boy", 3);
    assert_int_equal(tendon_definition_parse(renamed, sizeof text - 1, &other, &scratch, &mistake), TENDON_OK);
    assert_int_equal(tendon_fleet_options_define(&options, &other), TENDON_ERROR_MALFORMED);
    assert_int_equal(options.definition_count, 1);
}

/* Without its type an address stands for both. */
static void addresses(void **state) {
    (void)state;
    tendon_fleet_options_init(&options);
    assert_int_equal(set("address", "C4:00:00:00:00:01"), TENDON_OK);
    assert_int_equal(options.only.count, 2);
    assert_int_equal(options.only.addresses[0].type, TENDON_ADDRESS_TYPE_PUBLIC);
    assert_int_equal(options.only.addresses[1].type, TENDON_ADDRESS_TYPE_RANDOM);
    for (unsigned i = 0; i < 31; i++) { /* 32 devices */
        assert_int_equal(set("address", "C4:00:00:00:00:02"), TENDON_OK);
    }
    assert_int_equal(options.only.count, TENDON_FLEET_ADDRESSES);
    assert_int_equal(set("address", "C4:00:00:00:00:03/public"), TENDON_ERROR_INVALID_ARGUMENT);
}

/* Each name that the help of a list has is one, and no other is. */
static void lists_have_all_names(void **state) {
    (void)state;
    static const struct {
        const char *option;
        size_t count;
    } rows[] = {{"sensors", TENDON_BOSE_SENSOR_COUNT}, {"gestures", 8}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tendon_fleet_option option = {0};
        for (size_t at = 0; tendon_fleet_option_at(at, &option) && strcmp(option.name, rows[i].option) != 0; at++) {
        }
        char help[256];
        size_t count = 0;
        snprintf(help, sizeof help, "%.*s", (int)strcspn(option.help, ";"), option.help);
        for (char *name = strtok(help, ", :"); name != NULL; name = strtok(NULL, ", :")) {
            if (strcmp(name, "with") != 0 && strcmp(name, "commas") != 0) {
                assert_int_equal(set(rows[i].option, name), TENDON_OK);
                count++;
            }
        }
        assert_int_equal(count, rows[i].count);
    }
}

/* What the help lists can be set, and has a help. */
static void each_option_is_known(void **state) {
    (void)state;
    tendon_fleet_option option;
    size_t count = 0;
    for (; tendon_fleet_option_at(count, &option); count++) {
        tendon_fleet_options_init(&options);
        assert_true(strlen(option.help) > 10);
        assert_true(set(option.name, option.value == NULL ? NULL : "") != TENDON_ERROR_NOT_FOUND);
        assert_int_equal(set(option.name, option.value == NULL ? "x" : ""), TENDON_ERROR_INVALID_ARGUMENT);
    }
    assert_int_equal(count, 22);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(the_radio),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(families),
        cmocka_unit_test(device_files),
        cmocka_unit_test(addresses),
        cmocka_unit_test(lists_have_all_names),
        cmocka_unit_test(each_option_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
