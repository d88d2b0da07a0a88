/* SPDX-License-Identifier: MIT */
/* The walk over sensor data has a short way for the usual record: it must say what a plain decoder says. */
#include "test_bytes.h"

#include "tendon/devices/bose_codec.h"

/* ---- a plain decoder: docs/protocols/bose.md written down, one field after the other ---- */

typedef struct plain {
    tendon_reader reader;
    const tendon_bose_sensor_information *information;
    tendon_bose_profile profile;
    tendon_status status;
    size_t error_offset;
} plain;

static double plain_scaled(const plain *p, const tendon_bose_sensor_record *record, bool vector, int16_t raw) {
    if (p->profile == TENDON_BOSE_PROFILE_REPORTED) {
        return tendon_bose_scale_reported(record, raw);
    }
    return vector ? tendon_bose_scale_fixed_vector(raw) : tendon_bose_scale_fixed_quaternion(raw);
}

static void plain_values(plain *p, const tendon_bose_sensor_record *record, tendon_bose_sample *s) {
    uint8_t id = s->sensor_id;
    s->timestamp = tendon_read_u16be(&p->reader);
    s->has_quaternion = id == TENDON_BOSE_ROTATION || id == TENDON_BOSE_GAME_ROTATION;
    s->has_vector = !s->has_quaternion;
    s->has_bias = id == TENDON_BOSE_UNCALIBRATED_MAGNETOMETER;
    s->has_accuracy = id != TENDON_BOSE_GAME_ROTATION && !s->has_bias;
    double values[4] = {0};
    for (size_t i = 0; i < (s->has_vector ? 3 : 4); i++) {
        s->raw[i] = tendon_read_i16be(&p->reader);
        values[i] = plain_scaled(p, record, s->has_vector, s->raw[i]);
    }
    s->quaternion = (tendon_quaternion){values[0], values[1], values[2], values[3]};
    if (s->has_bias) {
        for (size_t i = 0; i < 3; i++) {
            s->raw_bias[i] = tendon_read_i16be(&p->reader);
            values[i] = plain_scaled(p, record, true, s->raw_bias[i]);
        }
        s->bias = (tendon_bose_vector){values[0], values[1], values[2]};
    } else if (s->has_vector) {
        s->accuracy = tendon_read_u8(&p->reader);
    } else if (s->has_accuracy) {
        s->accuracy_raw = tendon_read_i16be(&p->reader);
        s->accuracy_rad = plain_scaled(p, record, false, s->accuracy_raw);
        s->accuracy_unknown = s->accuracy_raw < 0;
    }
}

static tendon_bose_step plain_stop(plain *p, tendon_status status, size_t start) {
    p->status = status;
    p->error_offset = start;
    p->reader.position = p->reader.length;
    return TENDON_BOSE_STEP_END;
}

static tendon_bose_step plain_next(plain *p, tendon_bose_sample *s, tendon_bose_skipped *skipped) {
    memset(s, 0, sizeof *s);
    size_t start = p->reader.position, left = tendon_reader_remaining(&p->reader);
    if (left == 0) {
        return TENDON_BOSE_STEP_END;
    }
    if (left < 3) {
        return plain_stop(p, TENDON_ERROR_TRUNCATED, start);
    }
    s->sensor_id = tendon_read_u8(&p->reader);
    const tendon_bose_sensor_record *record =
        p->information != NULL ? tendon_bose_find_sensor(p->information, s->sensor_id) : NULL;
    size_t least = tendon_bose_sample_length(s->sensor_id), length = record != NULL ? record->sample_length : least;
    if (least == 0 && record == NULL) {
        return plain_stop(p, TENDON_BOSE_ERROR_UNKNOWN_SENSOR, start);
    }
    if (left < 3 + length) {
        return plain_stop(p, TENDON_ERROR_TRUNCATED, start);
    }
    *skipped = (tendon_bose_skipped){start, s->sensor_id, TENDON_OK};
    if (least == 0 || (record == NULL && p->profile == TENDON_BOSE_PROFILE_REPORTED)) {
        skipped->reason = TENDON_BOSE_ERROR_UNKNOWN_SENSOR;
    } else if (length < least) {
        skipped->reason = TENDON_BOSE_ERROR_SHORT_SAMPLE;
    } else {
        plain_values(p, record, s);
        skipped->reason = s->accuracy > 3 ? TENDON_BOSE_ERROR_INVALID_ACCURACY : TENDON_OK;
    }
    p->reader.position = start + 3 + length;
    return skipped->reason == TENDON_OK ? TENDON_BOSE_STEP_SAMPLE : TENDON_BOSE_STEP_SKIPPED;
}

/* ---- the comparison ---- */

static void assert_same_sample(const tendon_bose_sample *a, const tendon_bose_sample *b) {
    assert_int_equal(a->sensor_id, b->sensor_id);
    assert_int_equal(a->timestamp, b->timestamp);
    assert_int_equal(a->has_vector, b->has_vector);
    assert_int_equal(a->has_quaternion, b->has_quaternion);
    assert_int_equal(a->has_accuracy, b->has_accuracy);
    assert_int_equal(a->has_bias, b->has_bias);
    assert_int_equal(a->accuracy_unknown, b->accuracy_unknown);
    assert_int_equal(a->accuracy, b->accuracy);
    assert_int_equal(a->accuracy_raw, b->accuracy_raw);
    assert_memory_equal(a->raw, b->raw, sizeof a->raw);
    assert_memory_equal(a->raw_bias, b->raw_bias, sizeof a->raw_bias);
    assert_true(a->quaternion.x == b->quaternion.x && a->quaternion.y == b->quaternion.y);
    assert_true(a->quaternion.z == b->quaternion.z && a->quaternion.w == b->quaternion.w);
    assert_true(a->accuracy_rad == b->accuracy_rad);
    assert_true(a->bias.x == b->bias.x && a->bias.y == b->bias.y && a->bias.z == b->bias.z);
}

/* How often each step and kind of sample came up, so that the test is seen to reach them. */
typedef struct reached {
    size_t samples[TENDON_BOSE_SENSOR_COUNT], skipped, ended_early;
} reached;

static void compare(block b, const tendon_bose_sensor_information *information, tendon_bose_profile profile,
                    reached *count) {
    tendon_bose_sensor_data walk = tendon_bose_sensor_data_begin(b.data, b.length, information, profile);
    plain p = {tendon_reader_make(b.data, b.length), information, profile, TENDON_OK, 0};
    tendon_bose_step step;
    do {
        tendon_bose_sample got, wanted;
        tendon_bose_skipped got_skipped, wanted_skipped;
        memset(&got, 0xA5, sizeof got); /* every member must be set */
        step = plain_next(&p, &wanted, &wanted_skipped);
        assert_int_equal(tendon_bose_sensor_data_next(&walk, &got, &got_skipped), step);
        assert_int_equal(walk.position, p.reader.position);
        if (step == TENDON_BOSE_STEP_SAMPLE) {
            assert_same_sample(&got, &wanted);
            count->samples[got.sensor_id]++;
        } else if (step == TENDON_BOSE_STEP_SKIPPED) {
            assert_int_equal(got_skipped.offset, wanted_skipped.offset);
            assert_int_equal(got_skipped.sensor_id, wanted_skipped.sensor_id);
            assert_int_equal(got_skipped.reason, wanted_skipped.reason);
            count->skipped++;
        }
    } while (step != TENDON_BOSE_STEP_END);
    assert_int_equal(walk.status, p.status);
    assert_int_equal(walk.error_offset, p.error_offset);
    count->ended_early += p.status < 0;
}

/* A list of sensors as devices have it (in order, right lengths), or with some of both wrong. */
static tendon_bose_sensor_information a_list(dice *d, bool odd) {
    uint8_t wire[16 * 12];
    size_t count = 1 + (size_t)(roll(d) % (odd ? 10 : 7));
    for (size_t i = 0; i < count; i++) {
        uint8_t id = odd && roll(d) % 3 == 0 ? (uint8_t)(roll(d) % 10) : (uint8_t)i;
        uint8_t length = tendon_bose_sample_length(id);
        length = odd && roll(d) % 3 == 0 ? (uint8_t)(length - 2 + (int)(roll(d) % 5)) : length;
        uint16_t scaled_min = (uint16_t)(0u - roll(d) % 2001), scaled_max = (uint16_t)(roll(d) % 2001);
        uint16_t raw_min = (uint16_t)(0u - roll(d) % 32769), raw_max = (uint16_t)(1 + roll(d) % 32767);
        const uint8_t record[12] = {id,
                                    (uint8_t)(scaled_min >> 8),
                                    (uint8_t)scaled_min,
                                    (uint8_t)(scaled_max >> 8),
                                    (uint8_t)scaled_max,
                                    (uint8_t)(raw_min >> 8),
                                    (uint8_t)raw_min,
                                    (uint8_t)(raw_max >> 8),
                                    (uint8_t)raw_max,
                                    0x00,
                                    0x1F, /* periods */
                                    length};
        memcpy(wire + 12 * i, record, sizeof record);
    }
    tendon_bose_sensor_information information;
    assert_int_equal(tendon_bose_decode_sensor_information(wire, 12 * count, &information, NULL), TENDON_OK);
    return information;
}

/* Records of the list, mostly whole, with random values; now and then a byte is another or the end is missing. */
static block a_notification(dice *d, const tendon_bose_sensor_information *information) {
    uint8_t bytes[6 * (3 + 255)];
    size_t length = 0;
    for (size_t records = (size_t)(roll(d) % 6); records > 0; records--) {
        const tendon_bose_sensor_record *record = &information->records[roll(d) % information->count];
        for (size_t i = 0; i < 3u + record->sample_length; i++) {
            bytes[length + i] = (uint8_t)(roll(d) >> 32);
        }
        bytes[length] = record->sensor_id;
        if (record->sample_length >= 7 && roll(d) % 4 != 0) {
            bytes[length + 9] &= 3; /* where vectors have their accuracy */
        }
        length += 3u + record->sample_length;
    }
    if (length > 0 && roll(d) % 8 == 0) {
        bytes[roll(d) % length] = (uint8_t)(roll(d) % 12);
    }
    return block_copy(bytes, length > 0 && roll(d) % 8 == 0 ? (size_t)(roll(d) % length) : length);
}

static void compare_many(uint64_t seed, bool odd, tendon_bose_profile profile) {
    dice d = {seed};
    reached count = {{0}, 0, 0};
    for (int i = 0; i < 20000; i++) {
        tendon_bose_sensor_information information = a_list(&d, odd);
        block b = a_notification(&d, &information);
        compare(b, &information, profile, &count);
        if (i % 4 == 0) {
            compare(b, NULL, profile, &count);
        }
        if (i % 4 == 1) { /* a list that somebody filled by himself */
            memset(information.usual, 0, sizeof information.usual);
            compare(b, &information, profile, &count);
        }
        free(b.data);
    }
    for (size_t id = 0; id < TENDON_BOSE_SENSOR_COUNT; id++) {
        assert_true(count.samples[id] > 500);
    }
    assert_true(count.skipped > 500 && count.ended_early > 500);
}

static void ordinary_lists_as_a_plain_decoder(void **state) {
    (void)state;
    compare_many(1, false, TENDON_BOSE_PROFILE_REPORTED);
}

static void odd_lists_as_a_plain_decoder(void **state) {
    (void)state;
    compare_many(2, true, TENDON_BOSE_PROFILE_REPORTED);
}

static void fixed_profile_as_a_plain_decoder(void **state) {
    (void)state;
    compare_many(3, false, TENDON_BOSE_PROFILE_FIXED);
    compare_many(4, true, TENDON_BOSE_PROFILE_FIXED);
}

/* Each lane of the quaternion by itself, every raw value, smallest and largest offsets of the scale. */
static void every_raw_value_in_every_lane(void **state) {
    (void)state;
    static const int16_t ends[][2] = {{-16383, 16383}, {-32768, 32767}, {0, 1}, {-32768, -32767}};
    for (size_t e = 0; e < sizeof ends / sizeof ends[0]; e++) {
        tendon_bose_sensor_information information = {.count = 4};
        tendon_bose_sensor_record *record = &information.records[3];
        *record = (tendon_bose_sensor_record){
            .sensor_id = 3, .scaled_min = -1, .scaled_max = 1, .raw_min = ends[e][0], .raw_max = ends[e][1]};
        record->sample_length = 8;
        record->scale = 2.0 / (ends[e][1] - ends[e][0]);
        information.usual[3] = 11;
        reached count = {{0}, 0, 0};
        for (uint32_t raw = 0; raw <= 0xFFFF; raw++) {
            uint8_t bytes[11] = {3, 0xAB, 0xCD, 0x80, 0x00, 0x7F, 0xFF, 0x00, 0x01, 0xFF, 0xFF};
            bytes[3 + 2 * (raw % 4)] = (uint8_t)(raw >> 8);
            bytes[4 + 2 * (raw % 4)] = (uint8_t)raw;
            block b = block_copy(bytes, sizeof bytes);
            compare(b, &information, TENDON_BOSE_PROFILE_REPORTED, &count);
            free(b.data);
        }
        assert_int_equal(count.samples[3], 0x10000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_lists_as_a_plain_decoder),
        cmocka_unit_test(odd_lists_as_a_plain_decoder),
        cmocka_unit_test(fixed_profile_as_a_plain_decoder),
        cmocka_unit_test(every_raw_value_in_every_lane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
