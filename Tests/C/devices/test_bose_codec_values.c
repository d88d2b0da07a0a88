/* SPDX-License-Identifier: MIT */
/* Bose information and configuration values, names, intents, advertisements: examples, hostile input, round trips. */
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
    size_t offset = 777;
    assert_int_equal(tendon_bose_decode_sensor_information(b.data, b.length, &out, &offset), status);
    assert_int_equal(status == TENDON_OK, offset == 777); /* written with an error alone */
    assert_int_equal(tendon_bose_decode_sensor_information(b.data, b.length, &out, NULL), status);
    free(b.data);
    return out;
}

static tendon_bose_sensor_configuration configuration_of(const char *hex) {
    block b = block_hex(hex);
    tendon_bose_sensor_configuration out;
    assert_int_equal(tendon_bose_decode_sensor_configuration(b.data, b.length, &out, NULL), TENDON_OK);
    free(b.data);
    return out;
}

static void assert_configuration(const tendon_bose_sensor_configuration *configuration, const char *hex) {
    uint8_t out[48];
    tendon_status length = tendon_bose_encode_sensor_configuration(configuration, out, sizeof out);
    assert_true(length >= 0);
    assert_hex(out, (size_t)length, hex);
}

/* ---- device information ---- */

static void example_01(void **state) {
    (void)state;
    tendon_bose_device_information d = device_of(INFORMATION);
    assert_int_equal(d.major, 4);
    assert_int_equal(d.minor, 0);
    assert_int_equal(d.product_id, 0x402C);
    assert_string_equal(tendon_bose_product_name(d.product_id), "Bose Frames");
    assert_string_equal(tendon_bose_variant_name(d.product_id, d.variant), "Alto");
    assert_int_equal(d.sensor_mask, 0x0F);
    uint32_t gestures = 0;
    static const uint8_t ids[] = {0x81, 0x82, 0x83, 0xC0, 0xC1, 0xC2};
    for (size_t i = 0; i < sizeof ids; i++) {
        gestures |= 1u << tendon_bose_gesture_bit(ids[i]);
    }
    assert_int_equal(d.gesture_mask, gestures);
    assert_int_equal(d.transmission_period_ms, 8);
    assert_int_equal(d.max_payload, 47);
    assert_int_equal(d.max_active_sensors, 4);
    assert_int_equal(d.status, 0);
    assert_int_equal(d.trailing_bytes, 0);
}

static void example_02_suspension(void **state) {
    (void)state;
    static const char *const names[16] = {"unknown", "voice_assistant", "multipoint_connection", "music_share",
                                          "ota_firmware_update"};
    for (unsigned reason = 0; reason < 16; reason++) {
        uint16_t status = (uint16_t)(reason << 12 | 0x0008);
        assert_true(tendon_bose_suspended(status));
        assert_string_equal(tendon_bose_suspension_reason_name(tendon_bose_suspension_reason_of(status)),
                            names[reason] != NULL ? names[reason] : "unknown");
    }
    assert_false(tendon_bose_suspended(0x3000));
}

static void example_03_pairing_bits(void **state) {
    (void)state;
    assert_int_equal(0x0002 & TENDON_BOSE_STATUS_PAIRING_REQUIRED, 2);
    assert_int_equal(0x0002 & TENDON_BOSE_STATUS_PAIRING_ENABLED, 0);
    assert_int_equal(0x0003 & TENDON_BOSE_STATUS_PAIRING_ENABLED, 1);
    assert_int_equal(0x0004 & TENDON_BOSE_STATUS_ALREADY_PAIRED, 4);
}

static void mal_I01_I02_I03_device_information_of_every_length(void **state) {
    (void)state;
    static const size_t field[] = {0, 1, 2, 2, 4, 5, 5, 5, 5, 9, 9, 9, 9, 13, 14, 14, 16, 17, 17};
    block whole = block_hex(INFORMATION " aa bb");
    for (size_t length = 0; length <= whole.length; length++) {
        block b = block_copy(whole.data, length);
        tendon_bose_device_information out = {.product_id = 7};
        size_t offset = 99;
        tendon_status status = tendon_bose_decode_device_information(b.data, b.length, &out, &offset);
        if (length < 19) {
            assert_int_equal(status, TENDON_ERROR_TRUNCATED);
            assert_int_equal(offset, field[length]);
            assert_int_equal(out.product_id, 7); /* the old value is kept */
        } else {
            assert_int_equal(status, TENDON_OK);
            assert_int_equal(out.trailing_bytes, length - 19);
        }
        free(b.data);
    }
    free(whole.data);
}

/* A field as devices send it. Returns where the next one is. */
static size_t put_big(uint8_t *out, size_t at, uint32_t value, size_t length) {
    for (size_t i = 0; i < length; i++) {
        out[at + i] = (uint8_t)(value >> 8 * (length - 1 - i));
    }
    return at + length;
}

/* Every bit of the value is in the field that it belongs to. */
static void device_information_round_trip(void **state) {
    (void)state;
    dice d = {5};
    for (int i = 0; i < 2000; i++) {
        block b = block_random(&d, 19);
        tendon_bose_device_information out;
        assert_int_equal(tendon_bose_decode_device_information(b.data, 19, &out, NULL), TENDON_OK);
        uint8_t again[19];
        size_t at = put_big(again, 0, out.major, 1);
        at = put_big(again, at, out.minor, 1);
        at = put_big(again, at, out.product_id, 2);
        at = put_big(again, at, out.variant, 1);
        at = put_big(again, at, out.sensor_mask, 4);
        at = put_big(again, at, out.gesture_mask, 4);
        at = put_big(again, at, out.transmission_period_ms, 1);
        at = put_big(again, at, out.max_payload, 2);
        at = put_big(again, at, out.max_active_sensors, 1);
        assert_int_equal(put_big(again, at, out.status, 2), 19);
        assert_memory_equal(again, b.data, 19);
        free(b.data);
    }
}

/* ---- sensor information ---- */

static void example_04_05_06(void **state) {
    (void)state;
    tendon_bose_sensor_information s = sensors_of(FRAMES, TENDON_OK);
    assert_int_equal(s.count, 4);
    assert_int_equal(s.records[0].scaled_min, -8);
    assert_int_equal(s.records[0].scaled_max, 8);
    assert_int_equal(s.records[0].raw_min, -32767);
    assert_int_equal(s.records[0].raw_max, 32767);
    assert_int_equal(s.records[0].period_mask, 0x1F);
    assert_int_equal(s.records[0].sample_length, 7);
    assert_true(fabs(s.records[0].scale - 16.0 / 65534.0) < 1e-15);
    assert_true(fabs(s.records[1].scale - 0.061037019) < 1e-9);
    assert_true(fabs(s.records[2].scale - 1.0 / 16383.0) < 1e-15);
    assert_int_equal(s.records[2].sample_length, 10);
    assert_ptr_equal(tendon_bose_find_sensor(&s, 3), &s.records[3]);
    assert_null(tendon_bose_find_sensor(&s, 4));
}

static void sensor_information_of_every_length(void **state) {
    (void)state;
    block whole = block_hex(FRAMES);
    for (size_t length = 0; length <= whole.length; length++) {
        block b = block_copy(whole.data, length);
        tendon_bose_sensor_information out;
        assert_int_equal(tendon_bose_decode_sensor_information(b.data, length, &out, NULL), TENDON_OK);
        assert_int_equal(out.count, length / 12);
        assert_int_equal(out.trailing_bytes, length % 12);
        free(b.data);
    }
    free(whole.data);
}

static void bad_ranges_are_rejected_one_by_one(void **state) {
    (void)state;
    tendon_bose_sensor_information s = sensors_of("00 0009 0008 8001 7fff 001f 07 "  /* scaled minimum above maximum */
                                                  "01 f830 07d0 7fff 7fff 001f 07 "  /* raw bounds equal */
                                                  "02 0001 0001 c001 3fff 001f 0a "  /* scaled bounds equal: allowed */
                                                  "03 ffff 0001 3fff c001 001f 08 "  /* raw bounds swapped */
                                                  "04 fff8 0008 8000 7fff 0000 07 ", /* the widest */
                                                  TENDON_OK);
    assert_int_equal(s.count, 2);
    assert_int_equal(s.records[0].sensor_id, 2);
    assert_true(s.records[0].scale == 0.0);
    assert_true(fabs(s.records[1].scale - 16.0 / 65535.0) < 1e-15);
    assert_int_equal(s.rejected_count, 3);
    static const size_t offsets[] = {0, 12, 36};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(s.rejected[i].offset, offsets[i]);
        assert_int_equal(s.rejected[i].sensor_id, offsets[i] / 12);
        assert_int_equal(s.rejected[i].status, TENDON_BOSE_ERROR_BAD_RANGE);
    }
}

static void of_duplicate_sensors_the_first_wins(void **state) {
    (void)state;
    tendon_bose_sensor_information s =
        sensors_of("05fff8000880017fff001f07 05fff0001080017fff000107 05fff8000880017fff001f07", TENDON_OK);
    assert_int_equal(s.count, 1);
    assert_int_equal(s.duplicates, 2);
    assert_int_equal(s.records[0].scaled_max, 8);
    assert_ptr_equal(tendon_bose_find_sensor(&s, 5), &s.records[0]);
}

static void full_tables(void **state) {
    (void)state;
    uint8_t bytes[40 * 12];
    for (unsigned i = 0; i < 40; i++) {
        uint8_t record[12] = {(uint8_t)i, 0xFF, 0xF8, 0, 8, 0x80, 1, 0x7F, 0xFF, 0, 0x1F, 7};
        memcpy(bytes + 12 * i, record, 12);
    }
    tendon_bose_sensor_information s;
    size_t offset = 0;
    assert_int_equal(tendon_bose_decode_sensor_information(bytes, 16 * 12, &s, &offset), TENDON_OK);
    assert_int_equal(tendon_bose_decode_sensor_information(bytes, sizeof bytes, &s, &offset), TENDON_ERROR_TABLE_FULL);
    assert_int_equal(s.count, 16);
    assert_int_equal(offset, 16 * 12);
    for (unsigned i = 0; i < 40; i++) {
        bytes[12 * i + 1] = 0x7F; /* scaled minimum above maximum: rejected, and that table is full too */
    }
    assert_int_equal(tendon_bose_decode_sensor_information(bytes, sizeof bytes, &s, &offset), TENDON_ERROR_TABLE_FULL);
    assert_int_equal(s.rejected_count, 16);
    tendon_bose_sensor_configuration c;
    assert_int_equal(tendon_bose_decode_sensor_configuration(bytes, 16 * 3, &c, &offset), TENDON_OK);
    assert_int_equal(tendon_bose_decode_sensor_configuration(bytes, 17 * 3, &c, &offset), TENDON_ERROR_TABLE_FULL);
    assert_int_equal(offset, 48);
    assert_int_equal(c.count, 16);
    assert_int_equal(tendon_bose_encode_sensor_configuration(&c, bytes, sizeof bytes), 16 * 3); /* a full one */
    c.count = 17;
    assert_int_equal(tendon_bose_encode_sensor_configuration(&c, bytes, sizeof bytes), TENDON_ERROR_INVALID_ARGUMENT);
}

static void sensor_record_round_trip(void **state) {
    (void)state;
    dice d = {9};
    int good = 0;
    for (int i = 0; i < 4000; i++) {
        block b = block_random(&d, 12);
        tendon_bose_sensor_information out;
        assert_int_equal(tendon_bose_decode_sensor_information(b.data, 12, &out, NULL), TENDON_OK);
        assert_int_equal(out.count + out.rejected_count, 1);
        if (out.count == 1) {
            uint8_t again[12];
            good++;
            const tendon_bose_sensor_record *record = &out.records[0];
            size_t at = put_big(again, 0, record->sensor_id, 1);
            at = put_big(again, at, (uint16_t)record->scaled_min, 2);
            at = put_big(again, at, (uint16_t)record->scaled_max, 2);
            at = put_big(again, at, (uint16_t)record->raw_min, 2);
            at = put_big(again, at, (uint16_t)record->raw_max, 2);
            at = put_big(again, at, record->period_mask, 2);
            assert_int_equal(put_big(again, at, record->sample_length, 1), 12);
            assert_memory_equal(again, b.data, 12);
        }
        free(b.data);
    }
    assert_true(good > 500);
}

static void periods(void **state) {
    (void)state;
    static const uint16_t ms[] = {320, 160, 80, 40, 20, 10, 5};
    for (unsigned bit = 0; bit < 20; bit++) {
        assert_int_equal(tendon_bose_period_of_bit(bit), bit < 7 ? ms[bit] : 0);
    }
    int known = 0;
    for (unsigned p = 0; p <= 0xFFFF; p++) {
        int bit = tendon_bose_bit_of_period((uint16_t)p);
        known += bit >= 0;
        assert_true(bit < 0 || ms[bit] == p);
    }
    assert_int_equal(known, 7);
}

/* ---- sensor configuration ---- */

static void example_07(void **state) {
    (void)state;
    tendon_bose_sensor_configuration c = configuration_of("00 00 00 01 00 00 02 00 00 03 00 00");
    assert_int_equal(tendon_bose_enabled_period(&c), 0);
    assert_int_equal(tendon_bose_enable_sensor(&c, 2, 40, NULL), TENDON_OK);
    assert_configuration(&c, "00 00 00 01 00 00 02 00 28 03 00 00");
    assert_int_equal(tendon_bose_enabled_period(&c), 40);
}

static void example_08(void **state) {
    (void)state;
    tendon_bose_sensor_configuration c = configuration_of("00 00 14 01 00 00 02 00 14 03 00 00");
    assert_int_equal(tendon_bose_enable_sensor(&c, 1, 80, NULL), TENDON_OK);
    assert_configuration(&c, "00 00 50 01 00 50 02 00 50 03 00 00");
    assert_int_equal(tendon_bose_set_sensor_period(&c, 320, NULL), TENDON_OK);
    assert_configuration(&c, "00 01 40 01 01 40 02 01 40 03 00 00");
    tendon_bose_disable_all_sensors(&c);
    assert_configuration(&c, "00 00 00 01 00 00 02 00 00 03 00 00");
}

/* The period is that of the first enabled sensor, wherever it is in the list. */
static void the_period_of_each_sensor_alone(void **state) {
    (void)state;
    tendon_bose_sensor_configuration c = {.count = TENDON_BOSE_SENSORS_MAX};
    for (size_t i = TENDON_BOSE_SENSORS_MAX; i-- > 0;) {
        c.settings[i].period_ms = (uint16_t)(10 + i);
        assert_int_equal(tendon_bose_enabled_period(&c), 10 + i);
    }
}

static void changes_that_are_refused_change_nothing(void **state) {
    (void)state;
    tendon_bose_sensor_information s = sensors_of(FRAMES, TENDON_OK);
    s.records[1].period_mask = 0x10; /* the gyroscope offers 20 ms only */
    tendon_bose_sensor_configuration c = configuration_of("000014 010014 020000 030000");
    assert_int_equal(tendon_bose_enable_sensor(&c, 4, 20, NULL), TENDON_BOSE_ERROR_UNKNOWN_SENSOR);
    assert_int_equal(tendon_bose_disable_sensor(&c, 4), TENDON_BOSE_ERROR_UNKNOWN_SENSOR);
    assert_int_equal(tendon_bose_enable_sensor(&c, 0, 30, NULL), TENDON_BOSE_ERROR_INVALID_PERIOD);
    assert_int_equal(tendon_bose_enable_sensor(&c, 0, 0, NULL), TENDON_BOSE_ERROR_INVALID_PERIOD);
    assert_int_equal(tendon_bose_enable_sensor(&c, 0, 5, &s), TENDON_BOSE_ERROR_INVALID_PERIOD);
    assert_int_equal(tendon_bose_enable_sensor(&c, 2, 40, &s), TENDON_BOSE_ERROR_INVALID_PERIOD); /* 1 would follow */
    assert_int_equal(tendon_bose_set_sensor_period(&c, 33, NULL), TENDON_BOSE_ERROR_INVALID_PERIOD);
    assert_int_equal(tendon_bose_set_sensor_period(&c, 40, &s), TENDON_BOSE_ERROR_INVALID_PERIOD);
    assert_configuration(&c, "000014 010014 020000 030000");
    assert_int_equal(tendon_bose_enable_sensor(&c, 2, 20, &s), TENDON_OK);
    assert_int_equal(tendon_bose_disable_sensor(&c, 1), TENDON_OK);
    assert_int_equal(tendon_bose_set_sensor_period(&c, 40, &s), TENDON_OK);
    assert_configuration(&c, "000028 010000 020028 030000");
    assert_int_equal(tendon_bose_set_sensor_period(&c, 0, &s), TENDON_OK);
    assert_configuration(&c, "000000 010000 020000 030000");
}

/* I05: entries that we do not know are written back unchanged. */
static void i05_unknown_entries_are_kept(void **state) {
    (void)state;
    tendon_bose_sensor_configuration c = configuration_of("000014 090021 020280");
    assert_int_equal(c.settings[1].period_ms, 33);
    assert_int_equal(tendon_bose_enabled_period(&c), 20);
    assert_int_equal(tendon_bose_set_sensor_period(&c, 40, NULL), TENDON_OK);
    assert_configuration(&c, "000028 090021 020028");
    tendon_bose_disable_all_sensors(&c);
    assert_configuration(&c, "000000 090000 020000");
}

static void sensor_configuration_of_every_length(void **state) {
    (void)state;
    block whole = block_hex("000014 010000 020014 030000");
    for (size_t length = 0; length <= whole.length; length++) {
        block b = block_copy(whole.data, length);
        tendon_bose_sensor_configuration c;
        assert_int_equal(tendon_bose_decode_sensor_configuration(b.data, length, &c, NULL), TENDON_OK);
        assert_int_equal(c.count, length / 3);
        assert_int_equal(c.trailing_bytes, length % 3);
        uint8_t out[12];
        assert_int_equal(tendon_bose_encode_sensor_configuration(&c, out, sizeof out), length / 3 * 3);
        assert_memory_equal(out, whole.data, length / 3 * 3);
        if (length >= 3) {
            assert_int_equal(tendon_bose_encode_sensor_configuration(&c, out, 2), TENDON_ERROR_BUFFER_TOO_SMALL);
        }
        free(b.data);
    }
    free(whole.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example_01),
        cmocka_unit_test(example_02_suspension),
        cmocka_unit_test(example_03_pairing_bits),
        cmocka_unit_test(mal_I01_I02_I03_device_information_of_every_length),
        cmocka_unit_test(device_information_round_trip),
        cmocka_unit_test(example_04_05_06),
        cmocka_unit_test(sensor_information_of_every_length),
        cmocka_unit_test(bad_ranges_are_rejected_one_by_one),
        cmocka_unit_test(of_duplicate_sensors_the_first_wins),
        cmocka_unit_test(full_tables),
        cmocka_unit_test(sensor_record_round_trip),
        cmocka_unit_test(periods),
        cmocka_unit_test(example_07),
        cmocka_unit_test(example_08),
        cmocka_unit_test(the_period_of_each_sensor_alone),
        cmocka_unit_test(changes_that_are_refused_change_nothing),
        cmocka_unit_test(i05_unknown_entries_are_kept),
        cmocka_unit_test(sensor_configuration_of_every_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
