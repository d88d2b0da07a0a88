/* SPDX-License-Identifier: MIT */
/* Bose gestures, names, intents, advertisements: examples, hostile input, round trips. */
#include "test_bytes.h"

#include "tendon/devices/bose_codec.h"
#include "tendon/devices/family.h"

#include <math.h>

#define FRAMES "00fff8000880017fff001f07 01f83007d080017fff001f07 02ffff0001c0013fff001f0a 03ffff0001c0013fff001f08"
#define INFORMATION "04 00 40 2c 01 00 00 00 0f 00 07 00 0e 08 00 2f 04 00 00"

static tendon_bose_device_information device_of(const char *hex) {
    block b = block_hex(hex);
    tendon_bose_device_information out;
    assert_int_equal(tendon_bose_decode_device_information(b.data, b.length, &out, NULL), TENDON_OK);
    free(b.data);
    return out;
}

static tendon_bose_sensor_information sensors_of(const char *hex, tendon_status status) {
    block b = block_hex(hex);
    tendon_bose_sensor_information out;
    assert_int_equal(tendon_bose_decode_sensor_information(b.data, b.length, &out, NULL), status);
    free(b.data);
    return out;
}

/* ---- gestures ---- */

static tendon_status gestures_of(const char *hex, tendon_bose_gesture_information *out) {
    block b = block_hex(hex);
    size_t offset;
    tendon_status status = tendon_bose_decode_gesture_information(b.data, b.length, out, &offset);
    free(b.data);
    return status;
}

/* 0x80 is the first identifier. */
static void the_first_identifier_is_one(void **state) {
    (void)state;
    tendon_bose_gesture_information out;
    assert_int_equal(gestures_of("80 00 00", &out), TENDON_OK);
    assert_int_equal(out.count, 1);
    assert_int_equal(out.records[0].gesture_id, 0x80);
    assert_int_equal(gestures_of("7f 00 00", &out), TENDON_BOSE_ERROR_BAD_RECORD);
}

static void example_16(void **state) {
    (void)state;
    tendon_bose_gesture_information g;
    assert_int_equal(gestures_of("81 01 00 82 01 00 83 01 00 c0 01 00 c1 01 00 c2 01 00", &g), TENDON_OK);
    assert_int_equal(g.count, 6);
    assert_int_equal(g.record_size, 3);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(g.records[i].payload_length, 1);
    }
}

static void gesture_information_layouts(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        tendon_status status;
        uint8_t record_size;
        size_t count, trailing;
    } cases[] = {
        {"", TENDON_OK, 3, 0, 0},
        {"81", TENDON_OK, 3, 0, 1},
        {"8101", TENDON_OK, 2, 1, 0}, /* a device of 2018 with one gesture */
        {"8105 c001", TENDON_OK, 2, 2, 0},
        {"8105 c001 82", TENDON_BOSE_ERROR_BAD_RECORD, 0, 0, 0},
        {"0101", TENDON_OK, 3, 0, 2}, /* an id below 0x80: no 2-byte record, and no complete one of 3 */
        {"8101 8201", TENDON_OK, 2, 2, 0},
        {"8101 8201 8301", TENDON_OK, 2, 3, 0},
        {"810100 82", TENDON_OK, 3, 1, 1},
        {"810100 8201", TENDON_OK, 3, 1, 2},
        {"81ff00 e00300", TENDON_OK, 3, 2, 0},
        {"810001", TENDON_BOSE_ERROR_BAD_RECORD, 0, 0, 0},    /* 256 as little-endian, odd length */
        {"810001 82", TENDON_BOSE_ERROR_BAD_RECORD, 0, 0, 0}, /* 2-byte records: an id below 0x80 */
        {"010100", TENDON_BOSE_ERROR_BAD_RECORD, 0, 0, 0},
        {"8101 8201 83", TENDON_BOSE_ERROR_BAD_RECORD, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tendon_bose_gesture_information g = {.count = 77};
        assert_int_equal(gestures_of(cases[i].hex, &g), cases[i].status);
        if (cases[i].status == TENDON_OK) {
            assert_int_equal(g.record_size, cases[i].record_size);
            assert_int_equal(g.count, cases[i].count);
            assert_int_equal(g.trailing_bytes, cases[i].trailing);
        } else {
            assert_int_equal(g.count, 77);
        }
    }
    uint8_t many[17 * 3];
    for (size_t i = 0; i < 17; i++) {
        memcpy(many + 3 * i, "\x81\x01\x00", 3);
    }
    tendon_bose_gesture_information g;
    size_t offset = 0;
    assert_int_equal(tendon_bose_decode_gesture_information(many, sizeof many, &g, &offset), TENDON_ERROR_TABLE_FULL);
    assert_int_equal(offset, 48);
    assert_int_equal(g.count, 16);
}

static tendon_bose_gesture_configuration gesture_configuration_of(const char *hex,
                                                                  const tendon_bose_gesture_information *information) {
    block b = block_hex(hex);
    tendon_bose_gesture_configuration out;
    assert_int_equal(tendon_bose_decode_gesture_configuration(b.data, b.length, information, &out, NULL), TENDON_OK);
    free(b.data);
    return out;
}

static void assert_gestures(const tendon_bose_gesture_configuration *configuration, const char *hex) {
    uint8_t out[TENDON_BOSE_GESTURE_CONFIGURATION_MAX];
    tendon_status length = tendon_bose_encode_gesture_configuration(configuration, out, sizeof out);
    assert_true(length >= 0);
    assert_hex(out, (size_t)length, hex);
}

static void example_17(void **state) {
    (void)state;
    tendon_bose_gesture_configuration g = gesture_configuration_of("81 00 82 00 83 00 c0 00 c1 00 c2 00", NULL);
    assert_int_equal(tendon_bose_set_gesture(&g, 0xC1, true), TENDON_OK);
    assert_gestures(&g, "81 00 82 00 83 00 c0 00 c1 01 c2 00");
}

/* Only bit 0 counts and is written; unknown gestures go back as they came; a stated length of 3 or 0 is obeyed. */
static void gesture_payloads(void **state) {
    (void)state;
    tendon_bose_gesture_information information;
    assert_int_equal(gestures_of("e00300 810100 e10000 820200", &information), TENDON_OK);
    tendon_bose_gesture_configuration g = gesture_configuration_of("81ff e0aabbcc e1 82feaa", &information);
    assert_int_equal(g.count, 4);
    assert_true(g.entries[0].enabled);
    assert_false(g.entries[2].enabled);
    assert_false(g.entries[3].enabled);
    assert_int_equal(g.entries[1].payload_length, 3);
    assert_gestures(&g, "8101 e0aabbcc e1 8200aa");
    tendon_bose_set_all_gestures(&g, true);
    assert_gestures(&g, "8101 e0aabbcc e1 8201aa");
    tendon_bose_set_all_gestures(&g, false);
    assert_gestures(&g, "8100 e0aabbcc e1 8200aa");
    assert_int_equal(tendon_bose_set_gesture(&g, 0xE0, true), TENDON_BOSE_ERROR_UNKNOWN_GESTURE);
    assert_int_equal(tendon_bose_set_gesture(&g, 0x83, true), TENDON_BOSE_ERROR_UNKNOWN_GESTURE);
    /* The one behind a gesture without a payload is not its payload. */
    tendon_bose_gesture_configuration without = gesture_configuration_of("e1 8101", &information);
    assert_int_equal(without.count, 2);
    assert_false(without.entries[0].enabled);
    assert_true(without.entries[1].enabled);
    uint8_t out[9];
    assert_int_equal(tendon_bose_encode_gesture_configuration(&g, out, 9), TENDON_ERROR_BUFFER_TOO_SMALL);
    /* A payload that the configuration does not hold is not written. */
    uint8_t whole[TENDON_BOSE_GESTURE_CONFIGURATION_MAX];
    memset(whole, 0xEE, sizeof whole);
    g.entries[0].payload_offset = (uint8_t)g.length;
    g.entries[0].enabled = true;
    assert_int_equal(tendon_bose_encode_gesture_configuration(&g, whole, sizeof whole), g.length);
    assert_int_equal(whole[g.length], 0xEE);
    g.length = sizeof g.bytes + 1;
    assert_int_equal(tendon_bose_encode_gesture_configuration(&g, out, 9), TENDON_ERROR_INVALID_ARGUMENT);
}

static void i02_i04_gesture_configuration_cut(void **state) {
    (void)state;
    tendon_bose_gesture_information information;
    assert_int_equal(gestures_of("e00300 810100", &information), TENDON_OK);
    block whole = block_hex("8101 e0aabbcc 8200");
    static const size_t starts[] = {0, 0, 2, 2, 2, 2, 6, 6, 8};
    static const size_t counts[] = {0, 0, 1, 1, 1, 1, 2, 2, 3};
    for (size_t length = 0; length <= whole.length; length++) {
        block b = block_copy(whole.data, length);
        tendon_bose_gesture_configuration g;
        size_t offset = 99;
        tendon_status status = tendon_bose_decode_gesture_configuration(b.data, length, &information, &g, &offset);
        bool cut = length != starts[length];
        assert_int_equal(status, cut ? TENDON_ERROR_TRUNCATED : TENDON_OK);
        assert_int_equal(g.count, counts[length]);
        assert_int_equal(g.length, starts[length]);
        if (cut) {
            assert_int_equal(offset, starts[length]);
        }
        free(b.data);
    }
    free(whole.data);
    /* a length of 65535 stated, and lists longer than ours */
    information.records[0].payload_length = 0xFFFF;
    tendon_bose_gesture_configuration g;
    size_t offset;
    uint8_t bytes[512];
    memset(bytes, 0xE0, sizeof bytes);
    assert_int_equal(tendon_bose_decode_gesture_configuration(bytes, sizeof bytes, &information, &g, &offset),
                     TENDON_ERROR_TRUNCATED);
    information.records[0].payload_length = 100;
    assert_int_equal(tendon_bose_decode_gesture_configuration(bytes, sizeof bytes, &information, &g, &offset),
                     TENDON_ERROR_BUFFER_TOO_SMALL);
    assert_int_equal(tendon_bose_decode_gesture_configuration(bytes, 34, NULL, &g, &offset), TENDON_ERROR_TABLE_FULL);
    assert_int_equal(offset, 32);
}

static void gesture_names_and_bits(void **state) {
    (void)state;
    static const struct {
        uint8_t id;
        int bit;
        const char *name;
    } known[] = {{0x80, 0, "single_tap"},   {0x81, 1, "double_tap"},     {0x82, 2, "head_nod"},
                 {0x83, 3, "head_shake"},   {0x84, 4, "touch_and_hold"}, {0xC0, 16, "input"},
                 {0xC1, 17, "affirmative"}, {0xC2, 18, "negative"}};
    for (unsigned id = 0; id <= 0xFF; id++) {
        int bit = -1;
        const char *name = "unknown";
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
            if (known[i].id == id) {
                bit = known[i].bit;
                name = known[i].name;
                assert_int_equal(tendon_bose_gesture_of_bit((unsigned)bit), id);
            }
        }
        assert_int_equal(tendon_bose_gesture_bit((uint8_t)id), bit);
        assert_int_equal(tendon_bose_gesture_known((uint8_t)id), bit >= 0);
        assert_string_equal(tendon_bose_gesture_name((uint8_t)id), name);
    }
    int bits = 0;
    for (unsigned bit = 0; bit < 40; bit++) {
        bits += tendon_bose_gesture_of_bit(bit) >= 0;
    }
    assert_int_equal(bits, 8);
}

static void other_names(void **state) {
    (void)state;
    static const char *const sensors[] = {"accelerometer",
                                          "gyroscope",
                                          "rotation",
                                          "game_rotation",
                                          "orientation",
                                          "magnetometer",
                                          "uncalibrated_magnetometer"};
    for (unsigned id = 0; id <= 0xFF; id++) {
        assert_string_equal(tendon_bose_sensor_name((uint8_t)id), id < 7 ? sensors[id] : "unknown");
    }
    assert_string_equal(tendon_bose_product_name(0x4020), "Bose QC35 II");
    assert_string_equal(tendon_bose_product_name(0x4024), "Bose NC Headphones 700");
    assert_string_equal(tendon_bose_product_name(0xFFFF), "unknown");
    assert_string_equal(tendon_bose_variant_name(0x402C, 2), "Rondo");
    assert_string_equal(tendon_bose_variant_name(0x402C, 3), "unknown");
    assert_string_equal(tendon_bose_variant_name(0x4020, 1), "black");
    assert_string_equal(tendon_bose_variant_name(0x4020, 2), "silver");
    assert_string_equal(tendon_bose_variant_name(0x4020, 0), "unknown");
    assert_string_equal(tendon_bose_variant_name(0x4024, 1), "unknown");
    char text[TENDON_UUID_STRING_SIZE];
    tendon_uuid uuid = tendon_bose_uuid(TENDON_BOSE_SENSOR_DATA);
    assert_string_equal(tendon_uuid_format(&uuid, text), "56a72ab8-4988-4cc8-a752-fbd1d54a953d");
    uuid = tendon_bose_uuid(TENDON_BOSE_CHARACTERISTIC_COUNT);
    assert_string_equal(tendon_uuid_format(&uuid, text), "00000000-0000-0000-0000-000000000000");
}

static void statuses(void **state) {
    (void)state;
    assert_string_equal(tendon_bose_status_name(TENDON_BOSE_ERROR_BAD_RECORD), "BOSE_ERROR_BAD_RECORD");
    assert_string_equal(tendon_bose_status_text(TENDON_BOSE_ERROR_INVALID_SENSOR),
                        "the device does not have the sensor");
    assert_string_equal(tendon_bose_status_name(TENDON_ERROR_TRUNCATED), tendon_status_name(TENDON_ERROR_TRUNCATED));
    assert_string_equal(tendon_bose_status_text(TENDON_ERROR_TRUNCATED), tendon_status_text(TENDON_ERROR_TRUNCATED));
}

/* ---- intents ---- */

static void intents(void **state) {
    (void)state;
    tendon_bose_device_information device = device_of(INFORMATION);
    tendon_bose_sensor_information sensors = sensors_of(FRAMES, TENDON_OK);
    tendon_bose_gesture_information gestures;
    gestures_of("810100 e00100 c20100", &gestures);
    tendon_bose_intent intent = {0};
    tendon_bose_intent_check out;
    assert_int_equal(tendon_bose_check_intent(&intent, &device, &sensors, &gestures, &out), TENDON_OK);
    intent = (tendon_bose_intent){.sensors = 0x0F, .periods = 0x1F, .gestures = 0x40002};
    assert_int_equal(tendon_bose_check_intent(&intent, &device, &sensors, &gestures, &out), TENDON_OK);
    assert_false(out.too_many_sensors);
    assert_false(out.over_payload);              /* 44 of 47 bytes */
    for (size_t i = 0; i < sensors.count; i++) { /* what one of them lacks, the device lacks; the last one too */
        uint16_t mask = sensors.records[i].period_mask;
        sensors.records[i].period_mask = 0x11;
        const tendon_bose_intent one = {.periods = 0x02};
        assert_int_equal(tendon_bose_check_intent(&one, &device, &sensors, &gestures, &out),
                         TENDON_BOSE_ERROR_INTENTS_CHECK_FAILED);
        sensors.records[i].period_mask = mask;
    }
    for (uint8_t id = 0; id < 4; id++) { /* no sensor is there of itself */
        const tendon_bose_sensor_information none = {0};
        const tendon_bose_gesture_information no_gestures = {0};
        const tendon_bose_intent one = {.sensors = 1u << id, .gestures = 1u << id};
        assert_int_equal(tendon_bose_check_intent(&one, &device, &none, &no_gestures, &out),
                         TENDON_BOSE_ERROR_INTENTS_CHECK_FAILED);
        assert_int_equal(out.missing_sensors, 1u << id);
        assert_int_equal(out.missing_gestures, 1u << id);
    }
    sensors.records[1].period_mask = 0x11;
    intent = (tendon_bose_intent){.sensors = 0x80000001u, .periods = 0x13, .gestures = 0x60003};
    assert_int_equal(tendon_bose_check_intent(&intent, &device, &sensors, &gestures, &out),
                     TENDON_BOSE_ERROR_INTENTS_CHECK_FAILED);
    assert_int_equal(out.missing_sensors, 0x80000000u);
    assert_int_equal(out.missing_periods, 0x02);
    assert_int_equal(out.missing_gestures, 0x20001);
    gestures_of("800100", &gestures); /* bit 0 is a gesture like any other */
    intent = (tendon_bose_intent){.gestures = 0x03};
    assert_int_equal(tendon_bose_check_intent(&intent, &device, &sensors, &gestures, &out),
                     TENDON_BOSE_ERROR_INTENTS_CHECK_FAILED);
    assert_int_equal(out.missing_gestures, 0x02);
    /* warnings are no errors */
    device.max_active_sensors = 3;
    device.max_payload = 43;
    intent = (tendon_bose_intent){.sensors = 0x0F};
    assert_int_equal(tendon_bose_check_intent(&intent, &device, &sensors, &gestures, &out), TENDON_OK);
    assert_true(out.too_many_sensors && out.over_payload);
    device.max_active_sensors = 0;
    device.max_payload = 0;
    assert_int_equal(tendon_bose_check_intent(&intent, &device, &sensors, &gestures, &out), TENDON_OK);
    assert_false(out.too_many_sensors || out.over_payload);
    /* no sensor offers no period */
    sensors.count = 0;
    intent = (tendon_bose_intent){.periods = 0x01};
    assert_int_equal(tendon_bose_check_intent(&intent, NULL, &sensors, &gestures, &out),
                     TENDON_BOSE_ERROR_INTENTS_CHECK_FAILED);
}

/* ---- advertisements ---- */

static void advertisements(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        tendon_bose_advertised expected;
    } cases[] = {
        {"", TENDON_BOSE_ADVERTISED_NOTHING},
        {"020106 0303d2fd", TENDON_BOSE_ADVERTISED_SENSOR_SERVICE},
        {"020106 0502befed2fd", TENDON_BOSE_ADVERTISED_SENSOR_SERVICE},
        {"0505d2fd0000", TENDON_BOSE_ADVERTISED_SENSOR_SERVICE},
        {"1107fb349b5f80000080 00100000d2fd0000", TENDON_BOSE_ADVERTISED_SENSOR_SERVICE},
        {"1106fb349b5f80000080 00100000d2fd0100", TENDON_BOSE_ADVERTISED_NOTHING},
        {"0303befe", TENDON_BOSE_ADVERTISED_NOTHING},
        {"0303befe 03ff0109", TENDON_BOSE_ADVERTISED_OLD_FIRMWARE},
        {"0303befe 05ff9e000109", TENDON_BOSE_ADVERTISED_OLD_FIRMWARE},
        {"05ff9e000109 0303befe", TENDON_BOSE_ADVERTISED_OLD_FIRMWARE},
        {"0303befe 05ff9e000901", TENDON_BOSE_ADVERTISED_NOTHING},
        {"0303befe 05ff9e000209", TENDON_BOSE_ADVERTISED_NOTHING}, /* each byte of the mark counts */
        {"0303befe 05ff9e000108", TENDON_BOSE_ADVERTISED_NOTHING},
        {"0303befe 03ff0009", TENDON_BOSE_ADVERTISED_NOTHING},
        {"05ff9e000109", TENDON_BOSE_ADVERTISED_NOTHING},
        {"0303befe 02ff01", TENDON_BOSE_ADVERTISED_NOTHING},
        {"0303befe 03160109", TENDON_BOSE_ADVERTISED_NOTHING}, /* the mark, but no manufacturer data */
        {"0303befe 05ff9e000109 0303d2fd", TENDON_BOSE_ADVERTISED_SENSOR_SERVICE},
        {"0303d2", TENDON_BOSE_ADVERTISED_NOTHING}, /* G02: cut */
        {"0203d2", TENDON_BOSE_ADVERTISED_NOTHING}, /* G04: half a UUID */
        {"0403d2fdff", TENDON_BOSE_ADVERTISED_SENSOR_SERVICE},
        {"00 0303d2fd", TENDON_BOSE_ADVERTISED_NOTHING}, /* G01: ended early */
        {"0103 01ff", TENDON_BOSE_ADVERTISED_NOTHING},   /* G03, G05 */
        {"0316d2fd", TENDON_BOSE_ADVERTISED_NOTHING},    /* service data is no service list */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        block b = block_hex(cases[i].hex);
        assert_int_equal(tendon_bose_recognize(b.data, b.length), cases[i].expected);
        const tendon_family *family = tendon_family_from_advertisement(b.data, b.length);
        assert_int_equal(family != NULL, cases[i].expected != TENDON_BOSE_ADVERTISED_NOTHING);
        free(b.data);
    }
}

static void serials_and_signals(void **state) {
    (void)state;
    assert_int_equal(tendon_bose_status_of_serial("0760AZ", 6), TENDON_BOSE_ERROR_FIRMWARE_UPDATE_REQUIRED);
    assert_int_equal(tendon_bose_status_of_serial("AZ", 2), TENDON_BOSE_ERROR_FIRMWARE_UPDATE_REQUIRED);
    assert_int_equal(tendon_bose_status_of_serial("AZ0", 3), TENDON_BOSE_ERROR_UNSUPPORTED_DEVICE);
    assert_int_equal(tendon_bose_status_of_serial("Z", 1), TENDON_BOSE_ERROR_UNSUPPORTED_DEVICE);
    assert_int_equal(tendon_bose_status_of_serial(NULL, 0), TENDON_BOSE_ERROR_UNSUPPORTED_DEVICE);
    for (int rssi = -128; rssi < 127; rssi++) {
        assert_int_equal(tendon_bose_signal_of((int8_t)rssi), rssi > -35   ? TENDON_BOSE_SIGNAL_FULL
                                                              : rssi > -45 ? TENDON_BOSE_SIGNAL_STRONG
                                                              : rssi > -55 ? TENDON_BOSE_SIGNAL_MODERATE
                                                                           : TENDON_BOSE_SIGNAL_WEAK);
    }
    assert_int_equal(tendon_bose_signal_of(TENDON_RSSI_UNKNOWN), TENDON_BOSE_SIGNAL_WEAK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_identifier_is_one),
        cmocka_unit_test(example_16),
        cmocka_unit_test(gesture_information_layouts),
        cmocka_unit_test(example_17),
        cmocka_unit_test(gesture_payloads),
        cmocka_unit_test(i02_i04_gesture_configuration_cut),
        cmocka_unit_test(gesture_names_and_bits),
        cmocka_unit_test(other_names),
        cmocka_unit_test(statuses),
        cmocka_unit_test(intents),
        cmocka_unit_test(advertisements),
        cmocka_unit_test(serials_and_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
