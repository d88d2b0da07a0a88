/* SPDX-License-Identifier: MIT */
/* Bose sensor data, timestamps and gesture data: the worked examples, and what a peer can do wrong. */
#include "test_bytes.h"

#include "tendon/devices/bose_codec.h"

#include <math.h>

/* Accelerometer, gyroscope, rotation, game rotation of the Frames. */
#define FRAMES "00fff8000880017fff001f07 01f83007d080017fff001f07 02ffff0001c0013fff001f0a 03ffff0001c0013fff001f08"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-6)

static tendon_bose_sensor_information information_of(const char *hex) {
    block b = block_hex(hex);
    tendon_bose_sensor_information information;
    assert_int_equal(tendon_bose_decode_sensor_information(b.data, b.length, &information, NULL), TENDON_OK);
    free(b.data);
    return information;
}

/* All that one notification gives. */
typedef struct walked {
    tendon_bose_sample samples[64];
    tendon_bose_skipped skipped[64];
    size_t sample_count, skipped_count, steps;
    tendon_status status;
    size_t error_offset;
} walked;

static walked walk_block(block b, const tendon_bose_sensor_information *information, tendon_bose_profile profile) {
    walked w = {0};
    tendon_bose_sensor_data data = tendon_bose_sensor_data_begin(b.data, b.length, information, profile);
    for (;;) {
        tendon_bose_step step =
            tendon_bose_sensor_data_next(&data, &w.samples[w.sample_count], &w.skipped[w.skipped_count]);
        if (step == TENDON_BOSE_STEP_END) {
            break;
        }
        w.sample_count += step == TENDON_BOSE_STEP_SAMPLE;
        w.skipped_count += step == TENDON_BOSE_STEP_SKIPPED;
        assert_true(++w.steps <= b.length / 3); /* every record has 3 bytes at least */
        assert_true(w.sample_count < 64 && w.skipped_count < 64);
    }
    w.status = data.status;
    w.error_offset = data.error_offset;
    /* the end stays the end */
    assert_int_equal(tendon_bose_sensor_data_next(&data, &w.samples[63], NULL), TENDON_BOSE_STEP_END);
    return w;
}

static walked walk(const char *hex, const tendon_bose_sensor_information *information, tendon_bose_profile profile) {
    block b = block_hex(hex);
    walked w = walk_block(b, information, profile);
    free(b.data);
    return w;
}

static walked walk_frames(const char *hex) {
    tendon_bose_sensor_information information = information_of(FRAMES);
    return walk(hex, &information, TENDON_BOSE_PROFILE_REPORTED);
}

static void example_09(void **state) {
    (void)state;
    walked w = walk_frames("0003e800000000f00003");
    assert_int_equal(w.sample_count, 1);
    const tendon_bose_sample *s = &w.samples[0];
    assert_int_equal(s->sensor_id, TENDON_BOSE_ACCELEROMETER);
    assert_int_equal(s->timestamp, 1000);
    assert_true(s->has_vector && s->has_accuracy && !s->has_quaternion && !s->has_bias);
    assert_int_equal(s->raw[0], 0);
    assert_int_equal(s->raw[1], 0);
    assert_int_equal(s->raw[2], -4096);
    NEAR(s->vector.x, 0.0);
    NEAR(s->vector.z, -1.000031);
    assert_int_equal(s->accuracy, 3);
    assert_string_equal(tendon_bose_accuracy_name(s->accuracy), "high");
    assert_true(tendon_bose_scale_fixed_vector(s->raw[2]) == -1.0);
}

static void example_10(void **state) {
    (void)state;
    const char *hex = "0103e8ffceffe4006402";
    walked w = walk_frames(hex);
    assert_int_equal(w.samples[0].sensor_id, TENDON_BOSE_GYROSCOPE);
    NEAR(w.samples[0].vector.x, -3.051851);
    NEAR(w.samples[0].vector.y, -1.709037);
    NEAR(w.samples[0].vector.z, 6.103702);
    assert_int_equal(w.samples[0].accuracy, 2);
    w = walk(hex, NULL, TENDON_BOSE_PROFILE_FIXED);
    NEAR(w.samples[0].vector.x, -0.012207);
    NEAR(w.samples[0].vector.y, -0.006836);
    NEAR(w.samples[0].vector.z, 0.024414);
}

static void example_11(void **state) {
    (void)state;
    walked w = walk_frames("020bb83ffe0010ff9c001800a4");
    const tendon_bose_sample *s = &w.samples[0];
    assert_true(s->has_quaternion && s->has_accuracy && !s->has_vector && !s->accuracy_unknown);
    assert_int_equal(s->timestamp, 3000);
    NEAR(s->quaternion.x, 0.999939);
    NEAR(s->quaternion.y, 0.000977);
    NEAR(s->quaternion.z, -0.006104);
    NEAR(s->quaternion.w, 0.001465);
    assert_int_equal(s->accuracy_raw, 164);
    NEAR(s->accuracy_rad, 0.0100104);
}

static void example_12(void **state) {
    (void)state;
    walked w = walk_frames("03ffff2d4100002d410000");
    const tendon_bose_sample *s = &w.samples[0];
    assert_int_equal(s->timestamp, 65535);
    assert_false(s->has_accuracy);
    NEAR(s->quaternion.x, 0.707135);
    NEAR(s->quaternion.z, 0.707135);
    NEAR(tendon_bose_scale_fixed_quaternion(s->raw[0]), 0.707092);
    tendon_angles head = tendon_euler_head(s->quaternion);
    NEAR(head.roll, 1.57079633); /* tilted left by 90 degrees */
    assert_true(head.near_gimbal_lock);
}

static void example_13(void **state) {
    (void)state;
    walked w = walk_frames("0003e80010ffe0efff03 0103e80003fffd000101");
    assert_int_equal(w.sample_count, 2);
    assert_int_equal(w.status, TENDON_OK);
    NEAR(w.samples[0].vector.x, 0.003906);
    NEAR(w.samples[0].vector.y, -0.007813);
    NEAR(w.samples[0].vector.z, -1.000275);
    assert_int_equal(w.samples[0].accuracy, 3);
    NEAR(w.samples[1].vector.x, 0.183111);
    NEAR(w.samples[1].vector.y, -0.183111);
    NEAR(w.samples[1].vector.z, 0.061037);
    assert_int_equal(w.samples[1].accuracy, 1);
}

static void example_14(void **state) {
    (void)state;
    walked w = walk_frames("030000 3ae7ebd9ff9af12c");
    const tendon_bose_sample *s = &w.samples[0];
    assert_int_equal(s->raw[0], 15079);
    assert_int_equal(s->raw[1], -5159);
    assert_int_equal(s->raw[2], -102);
    assert_int_equal(s->raw[3], -3796);
    NEAR(s->quaternion.x, 0.920405);
    NEAR(s->quaternion.y, -0.314900);
    NEAR(s->quaternion.z, -0.006226);
    NEAR(s->quaternion.w, -0.231704);
    double degree = 180.0 / 3.14159265358979;
    tendon_angles head = tendon_euler_head(s->quaternion);
    assert_true(fabs(head.pitch * degree - 25.3365) < 1e-3);
    assert_true(fabs(head.roll * degree + 9.0553) < 1e-3);
    assert_true(fabs(head.yaw * degree - 35.7367) < 1e-3);
    assert_true(fabs(tendon_euler_guide(s->quaternion).roll * degree - 9.0553) < 1e-3);
    assert_true(fabs(tendon_euler_legacy(s->quaternion).pitch * degree - 25.3348) < 1e-3);
}

static void example_15(void **state) {
    (void)state;
    walked w = walk_frames("0003e800000000f00003 0103e900");
    assert_int_equal(w.sample_count, 1);
    assert_int_equal(w.status, TENDON_ERROR_TRUNCATED);
    assert_int_equal(w.error_offset, 10);
}

static void example_18(void **state) {
    (void)state;
    static const uint8_t bytes[] = {0xC1, 0x27, 0x10};
    tendon_bose_gesture_data gesture;
    assert_int_equal(tendon_bose_decode_gesture_data(bytes, 3, &gesture, NULL), TENDON_OK);
    assert_string_equal(tendon_bose_gesture_name(gesture.gesture_id), "affirmative");
    assert_int_equal(gesture.timestamp, 10000);
    assert_int_equal(gesture.trailing_bytes, 0);
}

static void example_19_and_i06_timestamp_wrap(void **state) {
    (void)state;
    tendon_bose_clock clock = {0};
    assert_int_equal(tendon_bose_unwrap(&clock, 65530, 0), 65530);
    assert_int_equal(tendon_bose_unwrap(&clock, 4, 10), 65540);
    assert_int_equal(tendon_bose_unwrap(&clock, 4, 12), 65540);
    assert_int_equal(tendon_bose_unwrap(&clock, 3, 12), 65539); /* packed after a later one */
    assert_int_equal(tendon_bose_unwrap(&clock, 5, 12), 65541);
}

/* Our design: a record that is less than 1000 ms older was packed out of order; another one is of the next round. */
static void i06_records_that_are_999_ms_older(void **state) {
    (void)state;
    tendon_bose_clock clock = {0};
    assert_int_equal(tendon_bose_unwrap(&clock, 2000, 50), 2000);
    assert_int_equal(tendon_bose_unwrap(&clock, 1001, 50), 1001);
    assert_int_equal(tendon_bose_unwrap(&clock, 1000, 50), 1000 + 65536);
}

/* Every step from every place, the host's clock up to 20 s off. */
static void i06_unwrap_over_long_gaps(void **state) {
    (void)state;
    dice d = {3};
    for (int i = 0; i < 200000; i++) {
        uint64_t start = roll(&d) % 65536, gap = roll(&d) % 10000000, host = 1000000;
        int64_t skew = (int64_t)(roll(&d) % 40000) - 20000;
        tendon_bose_clock clock = {0};
        assert_int_equal(tendon_bose_unwrap(&clock, (uint16_t)start, host), start);
        uint64_t host_gap = skew < 0 && gap < (uint64_t)-skew ? 0 : gap + (uint64_t)skew;
        if (gap % 65536 > 64536 && host_gap < 32768) {
            continue; /* taken for a record packed after a later one */
        }
        assert_int_equal(tendon_bose_unwrap(&clock, (uint16_t)(start + gap), host + host_gap), start + gap);
    }
}

/* A second earlier only if the host agrees: half a turn of the clock later it is a record of the next turn. */
static void half_a_turn_later_no_record_is_an_earlier_one(void **state) {
    (void)state;
    for (uint64_t host = 32767; host <= 32768; host++) {
        tendon_bose_clock clock = {0};
        assert_int_equal(tendon_bose_unwrap(&clock, 1000, 0), 1000);
        assert_int_equal(tendon_bose_unwrap(&clock, 464, host), host < 32768 ? 464 : 65536 + 464);
    }
}

static void a_clock_does_not_go_below_zero(void **state) {
    (void)state;
    tendon_bose_clock clock = {0};
    assert_int_equal(tendon_bose_unwrap(&clock, 1, 0), 1);
    assert_int_equal(tendon_bose_unwrap(&clock, 65534, 0), 0);
    assert_int_equal(tendon_bose_unwrap(&clock, 2, 0), 2);
}

/* ---- all sensors ---- */

#define ALL                                                                                                            \
    "00fff0001080007fff001f07 01fe0c01f483007d00001f07 02ffff0001c0004000001f0a 03ffff0001c0004000001f08 "             \
    "04ff4c00b480017fff001f07 05fb5004b0b1e04e20001f07 06fb5004b0b1e04e20001f0c"

static void uncalibrated_magnetometer_has_a_bias(void **state) {
    (void)state;
    tendon_bose_sensor_information information = information_of(ALL);
    walked w = walk("064f27 c0010bfe00ff 570eb19d084d", &information, TENDON_BOSE_PROFILE_REPORTED);
    const tendon_bose_sample *s = &w.samples[0];
    assert_true(s->has_vector && s->has_bias && !s->has_accuracy);
    NEAR(s->vector.x, -982.98);
    NEAR(s->bias.x, 1337.16);
    NEAR(s->bias.y, -1204.02);
    NEAR(s->bias.z, 127.5);
    assert_int_equal(s->raw_bias[0], 22286);
    w = walk("064f27 c0010bfe00ff 100010002000", NULL, TENDON_BOSE_PROFILE_FIXED);
    assert_true(w.samples[0].bias.x == 1.0 && w.samples[0].bias.z == 2.0);
}

static const uint8_t lengths[] = {7, 7, 10, 8, 7, 7, 12};

/* I01 to I03: each sensor's record cut at each byte, whole, and one byte long. */
static void i02_each_record_cut_at_each_byte(void **state) {
    (void)state;
    tendon_bose_sensor_information information = information_of(ALL);
    for (uint8_t id = 0; id < TENDON_BOSE_SENSOR_COUNT; id++) {
        assert_int_equal(tendon_bose_sample_length(id), lengths[id]);
        uint8_t bytes[32] = {0, 0, 1, 0, 0, 0, 0, 0, 0, 3};
        memset(bytes + 10, 0, sizeof bytes - 10);
        bytes[10] = id;
        size_t whole = 10u + 3u + lengths[id];
        for (size_t length = 0; length <= whole + 1; length++) {
            for (int fixed = 0; fixed < 2; fixed++) {
                block b = block_copy(bytes, length);
                walked w = walk_block(b, fixed ? NULL : &information,
                                      fixed ? TENDON_BOSE_PROFILE_FIXED : TENDON_BOSE_PROFILE_REPORTED);
                size_t good = length < 10 ? 0 : length < whole ? 1 : 2;
                bool cut = length != 0 && length != 10 && length != whole;
                assert_int_equal(w.sample_count, good);
                assert_int_equal(w.status, cut ? TENDON_ERROR_TRUNCATED : TENDON_OK);
                if (cut) {
                    assert_int_equal(w.error_offset, length < 10 ? 0 : length < whole ? 10 : whole);
                }
                free(b.data);
            }
        }
    }
    assert_int_equal(tendon_bose_sample_length(7), 0);
}

static void i04_stated_length_lies(void **state) {
    (void)state;
    /* shorter than the sensor's sample: skipped by what is stated */
    tendon_bose_sensor_information information = information_of("00fff8000880017fff001f06 0317f8001880017fff001f08");
    walked w = walk("00000100000000 0000 03000000000000000000 00", &information, TENDON_BOSE_PROFILE_FIXED);
    assert_int_equal(w.skipped_count, 1);
    assert_int_equal(w.skipped[0].reason, TENDON_BOSE_ERROR_SHORT_SAMPLE);
    assert_int_equal(w.skipped[0].offset, 0);
    assert_int_equal(w.sample_count, 1);
    assert_int_equal(w.samples[0].sensor_id, 3);
    /* longer: the leading part is decoded, the rest passed over */
    information = information_of("00fff8000880017fff001f09");
    w = walk("000001 00000000f00003 ffff 000002 00000000f00002 ffff", &information, TENDON_BOSE_PROFILE_REPORTED);
    assert_int_equal(w.sample_count, 2);
    assert_int_equal(w.samples[1].accuracy, 2);
    assert_int_equal(w.status, TENDON_OK);
    /* nothing: the header alone, and no loop without progress */
    information = information_of("00fff8000880017fff001f00 09fff8000880017fff001f00");
    w = walk("000001 090002 000003", &information, TENDON_BOSE_PROFILE_REPORTED);
    assert_int_equal(w.skipped_count, 3);
    assert_int_equal(w.skipped[0].reason, TENDON_BOSE_ERROR_SHORT_SAMPLE);
    assert_int_equal(w.skipped[1].reason, TENDON_BOSE_ERROR_UNKNOWN_SENSOR);
    assert_int_equal(w.skipped[1].sensor_id, 9);
    assert_int_equal(w.skipped[2].offset, 6);
}

static void i05_unknown_sensor(void **state) {
    (void)state;
    for (unsigned id = TENDON_BOSE_SENSOR_COUNT; id <= 0xFF; id++) {
        char hex[64];
        snprintf(hex, sizeof hex, "0003e800000000f00003 %02x0000000000", id);
        walked w = walk_frames(hex);
        assert_int_equal(w.sample_count, 1);
        assert_int_equal(w.status, TENDON_BOSE_ERROR_UNKNOWN_SENSOR);
        assert_int_equal(w.error_offset, 10);
        /* with a stated length: skipped, and on it goes */
        char information_hex[64];
        snprintf(information_hex, sizeof information_hex, "00fff8000880017fff001f07 %02xfff8000880017fff001f02", id);
        tendon_bose_sensor_information information = information_of(information_hex);
        snprintf(hex, sizeof hex, "%02x0000ffff 0003e800000000f00003", id);
        w = walk(hex, &information, TENDON_BOSE_PROFILE_REPORTED);
        assert_int_equal(w.status, TENDON_OK);
        assert_int_equal(w.sample_count, 1);
        assert_int_equal(w.skipped[0].reason, TENDON_BOSE_ERROR_UNKNOWN_SENSOR);
        snprintf(hex, sizeof hex, "%02x0000ff", id);
        w = walk(hex, &information, TENDON_BOSE_PROFILE_REPORTED);
        assert_int_equal(w.status, TENDON_ERROR_TRUNCATED);
    }
}

/* A known sensor that the device did not describe has no scale of its own. */
static void i05_sensor_without_information(void **state) {
    (void)state;
    walked w = walk_frames("0503e800000000f00003 0003e800000000f00003");
    assert_int_equal(w.skipped[0].reason, TENDON_BOSE_ERROR_UNKNOWN_SENSOR);
    assert_int_equal(w.sample_count, 1);
    tendon_bose_sensor_information information = information_of(FRAMES);
    w = walk("0503e800000000f00003", &information, TENDON_BOSE_PROFILE_FIXED);
    assert_int_equal(w.sample_count, 1);
    assert_true(w.samples[0].vector.z == -1.0);
}

static void every_vector_accuracy(void **state) {
    (void)state;
    for (unsigned accuracy = 0; accuracy <= 0xFF; accuracy++) {
        char hex[64];
        snprintf(hex, sizeof hex, "0003e800000000f000%02x 03000000000000000000ff", accuracy);
        walked w = walk_frames(hex);
        assert_int_equal(w.sample_count, accuracy <= 3 ? 2 : 1);
        assert_int_equal(w.skipped_count, accuracy <= 3 ? 0 : 1);
        if (accuracy > 3) {
            assert_int_equal(w.skipped[0].reason, TENDON_BOSE_ERROR_INVALID_ACCURACY);
            assert_string_equal(tendon_bose_accuracy_name((uint8_t)accuracy), "unknown");
        }
    }
}

static void negative_quaternion_accuracy(void **state) {
    (void)state;
    walked w = walk_frames("020bb83ffe0010ff9c0018ffff");
    assert_int_equal(w.sample_count, 1);
    assert_int_equal(w.samples[0].accuracy_raw, -1);
    assert_true(w.samples[0].accuracy_unknown);
    NEAR(w.samples[0].accuracy_rad, -1.0 / 16383.0);
    w = walk_frames("020bb83ffe0010ff9c00180000"); /* 0 is an accuracy: an estimated error of nothing */
    assert_int_equal(w.samples[0].accuracy_raw, 0);
    assert_false(w.samples[0].accuracy_unknown);
    assert_true(w.samples[0].has_accuracy);
}

/* I07: zero and non-unit quaternions, all 0x80: delivered as they are; only the normalising helper refuses zero. */
static void i07_odd_quaternions(void **state) {
    (void)state;
    walked w = walk_frames("030000 0000000000000000 030000 8080808080808080 030000 7fff7fff7fff7fff");
    assert_int_equal(w.sample_count, 3);
    tendon_quaternion unit;
    assert_int_equal(tendon_quaternion_normalize(w.samples[0].quaternion, &unit), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_quaternion_normalize(w.samples[1].quaternion, &unit), TENDON_OK);
    NEAR(tendon_quaternion_norm(unit), 1.0);
    NEAR(w.samples[2].quaternion.w, 32767.0 / 16383.0);
}

static void i01_empty_is_no_record(void **state) {
    (void)state;
    walked w = walk_frames("");
    assert_int_equal(w.steps, 0);
    assert_int_equal(w.status, TENDON_OK);
    tendon_bose_sensor_data data = tendon_bose_sensor_data_begin(NULL, 0, NULL, TENDON_BOSE_PROFILE_FIXED);
    tendon_bose_sample sample;
    assert_int_equal(tendon_bose_sensor_data_next(&data, &sample, NULL), TENDON_BOSE_STEP_END);
}

/* Every raw value of every component through both profiles. */
static void every_raw_value(void **state) {
    (void)state;
    tendon_bose_sensor_information information = information_of(FRAMES);
    for (uint32_t raw = 0; raw <= 0xFFFF; raw++) {
        uint8_t bytes[11] = {3, 0, 0};
        for (size_t i = 0; i < 4; i++) {
            bytes[3 + 2 * i] = (uint8_t)(raw >> 8);
            bytes[4 + 2 * i] = (uint8_t)raw;
        }
        int32_t value = raw < 0x8000 ? (int32_t)raw : (int32_t)raw - 0x10000;
        tendon_bose_sensor_data data =
            tendon_bose_sensor_data_begin(bytes, sizeof bytes, &information, TENDON_BOSE_PROFILE_REPORTED);
        tendon_bose_sample s;
        assert_int_equal(tendon_bose_sensor_data_next(&data, &s, NULL), TENDON_BOSE_STEP_SAMPLE);
        assert_int_equal(s.raw[3], value);
        assert_true(fabs(s.quaternion.x - value / 16383.0) < 1e-12);
        assert_true(s.quaternion.x == s.quaternion.w);
        assert_true(s.quaternion.y == tendon_bose_scale_reported(&information.records[3], (int16_t)value));
    }
}

static void random_bytes_never_stall(void **state) {
    (void)state;
    dice d = {11};
    tendon_bose_sensor_information all = information_of(ALL);
    for (int i = 0; i < 20000; i++) {
        block b = block_random(&d, (size_t)(roll(&d) % 60));
        for (size_t at = 0; at < b.length; at += 5) {
            b.data[at] &= 0x0F; /* ids that exist, often */
        }
        walk_block(b, i % 2 ? &all : NULL, i % 2 ? TENDON_BOSE_PROFILE_REPORTED : TENDON_BOSE_PROFILE_FIXED);
        free(b.data);
    }
}

/* ---- gestures ---- */

static void gesture_data_of_every_length(void **state) {
    (void)state;
    for (size_t length = 0; length <= 8; length++) {
        block b = block_copy("\x81\x12\x34\x99\x00\x00\x00\x00", length);
        tendon_bose_gesture_data gesture = {.gesture_id = 0x55};
        size_t offset = 99;
        tendon_status status = tendon_bose_decode_gesture_data(b.data, b.length, &gesture, &offset);
        assert_int_equal(status, length < 3 ? TENDON_ERROR_TRUNCATED : TENDON_OK);
        if (length < 3) {
            assert_int_equal(gesture.gesture_id, 0x55); /* untouched */
            assert_int_equal(offset, length == 0 ? 0 : 1);
        } else {
            assert_int_equal(gesture.timestamp, 4660);
            assert_int_equal(gesture.trailing_bytes, length - 3);
        }
        free(b.data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example_09),
        cmocka_unit_test(example_10),
        cmocka_unit_test(example_11),
        cmocka_unit_test(example_12),
        cmocka_unit_test(example_13),
        cmocka_unit_test(example_14),
        cmocka_unit_test(example_15),
        cmocka_unit_test(example_18),
        cmocka_unit_test(example_19_and_i06_timestamp_wrap),
        cmocka_unit_test(i06_records_that_are_999_ms_older),
        cmocka_unit_test(i06_unwrap_over_long_gaps),
        cmocka_unit_test(half_a_turn_later_no_record_is_an_earlier_one),
        cmocka_unit_test(a_clock_does_not_go_below_zero),
        cmocka_unit_test(uncalibrated_magnetometer_has_a_bias),
        cmocka_unit_test(i01_empty_is_no_record),
        cmocka_unit_test(i02_each_record_cut_at_each_byte),
        cmocka_unit_test(i04_stated_length_lies),
        cmocka_unit_test(i05_unknown_sensor),
        cmocka_unit_test(i05_sensor_without_information),
        cmocka_unit_test(every_vector_accuracy),
        cmocka_unit_test(negative_quaternion_accuracy),
        cmocka_unit_test(i07_odd_quaternions),
        cmocka_unit_test(every_raw_value),
        cmocka_unit_test(random_bytes_never_stall),
        cmocka_unit_test(gesture_data_of_every_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
