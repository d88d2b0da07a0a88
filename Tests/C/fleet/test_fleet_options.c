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
        if (set(rows[i].name, rows[i].bad) != TENDON_ERROR_INVALID_ARGUMENT) {
            fail_msg("--%s %s", rows[i].name, rows[i].bad);
        }
    }
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
    } rows[] = {
        {NULL, NULL, NULL, false},     {"virtual", NULL, NULL, true},     {"bluez", NULL, NULL, false},
        {"usb", NULL, NULL, false},    {"virtual", "bluez", NULL, false}, {"virtual", NULL, "hci0", false},
        {NULL, "virtual", NULL, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(
            rows[i].variable != NULL ? setenv("TENDON_RADIO", rows[i].variable, 1) : unsetenv("TENDON_RADIO"), 0);
        tendon_fleet_options_init(&options);
        assert_true(rows[i].radio == NULL || set("radio", rows[i].radio) == TENDON_OK);
        assert_true(rows[i].adapter == NULL || set("adapter", rows[i].adapter) == TENDON_OK);
        assert_int_equal(options.is_virtual, rows[i].is_virtual);
    }
    assert_int_equal(unsetenv("TENDON_RADIO"), 0);
}

static void families(void **state) {
    (void)state;
    tendon_fleet_options_init(&options);
    assert_int_equal(options.families, 0x1F);
    assert_int_equal(set("families", "bose,fjorden"), TENDON_OK);
    assert_int_equal(options.families, 0x09);
    assert_int_equal(set("ignore", "bose"), TENDON_OK);
    assert_int_equal(options.families, 0x08);
    assert_int_equal(set("families", "none"), TENDON_OK);
    assert_int_equal(options.families, 0);
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
    assert_int_equal(options.families, 0x3F);
}

/* Without its type an address stands for both. */
static void addresses(void **state) {
    (void)state;
    tendon_fleet_options_init(&options);
    assert_int_equal(set("address", "C4:00:00:00:00:01"), TENDON_OK);
    assert_int_equal(options.only.count, 2);
    assert_int_equal(options.only.addresses[0].type, TENDON_ADDRESS_TYPE_PUBLIC);
    assert_int_equal(options.only.addresses[1].type, TENDON_ADDRESS_TYPE_RANDOM);
    for (unsigned i = 0; i < 15; i++) {
        assert_int_equal(set("address", "C4:00:00:00:00:02"), TENDON_OK);
    }
    assert_int_equal(options.only.count, TENDON_FLEET_ADDRESSES);
    assert_int_equal(set("address", "C4:00:00:00:00:03/public"), TENDON_ERROR_INVALID_ARGUMENT);
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
        cmocka_unit_test(values),       cmocka_unit_test(the_radio), cmocka_unit_test(families),
        cmocka_unit_test(device_files), cmocka_unit_test(addresses), cmocka_unit_test(each_option_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
