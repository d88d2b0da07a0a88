/* SPDX-License-Identifier: MIT */
/*
 * How long does one game rotation record (11 bytes) take to decode, and one of the accelerometer (10 bytes)? Limit: the
 * first without any check.
 */
#include "bench.h"

#include <tendon/devices/bose_codec.h>

static const uint8_t rotation[11] = {0x03, 0xFF, 0xFF, 0x2D, 0x41, 0x00, 0x00, 0x2D, 0x41, 0x00, 0x00};
static const uint8_t acceleration[10] = {0x00, 0x03, 0xE8, 0x00, 0x00, 0x00, 0x00, 0xF0, 0x00, 0x03};
static tendon_bose_sensor_information information;

static inline void decode(const uint8_t *record, size_t length, size_t count) {
    tendon_bose_sample sample;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *input = bench_hide(record);
        tendon_bose_sensor_data data =
            tendon_bose_sensor_data_begin(input, length, &information, TENDON_BOSE_PROFILE_REPORTED);
        while (tendon_bose_sensor_data_next(&data, &sample, NULL) == TENDON_BOSE_STEP_SAMPLE) {
            bench_keep(&sample);
        }
    }
}

static void decode_rotation(void *context, size_t count) {
    (void)context;
    decode(rotation, sizeof rotation, count);
}

static void decode_acceleration(void *context, size_t count) {
    (void)context;
    decode(acceleration, sizeof acceleration, count);
}

static double big_endian(const uint8_t *bytes) {
    return (double)(int16_t)((uint16_t)bytes[0] << 8 | bytes[1]);
}

static void unchecked(void *context, size_t count) {
    (void)context;
    tendon_quaternion q;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *input = bench_hide(rotation);
        double scale = information.records[3].scale;
        q.x = big_endian(input + 3) * scale;
        q.y = big_endian(input + 5) * scale;
        q.z = big_endian(input + 7) * scale;
        q.w = big_endian(input + 9) * scale;
        bench_keep(&q);
    }
}

int main(int argc, char **argv) {
    /* The list of the Frames: accelerometer, gyroscope, rotation, game rotation (-1..1 over -16383..16383, 8 bytes). */
    static const uint8_t wire[48] = {
        0x00, 0xFF, 0xF8, 0x00, 0x08, 0x80, 0x01, 0x7F, 0xFF, 0x00, 0x1F, 0x07, 0x01, 0xF8, 0x30, 0x07,
        0xD0, 0x80, 0x01, 0x7F, 0xFF, 0x00, 0x1F, 0x07, 0x02, 0xFF, 0xFF, 0x00, 0x01, 0xC0, 0x01, 0x3F,
        0xFF, 0x00, 0x1F, 0x0A, 0x03, 0xFF, 0xFF, 0x00, 0x01, 0xC0, 0x01, 0x3F, 0xFF, 0x00, 0x1F, 0x08,
    };
    static const bench_body bodies[] = {
        {"unchecked_decode", unchecked, NULL, sizeof rotation, 0},
        {"game_rotation", decode_rotation, NULL, sizeof rotation, 0},
        {"accelerometer", decode_acceleration, NULL, sizeof acceleration, 0},
    };
    if (tendon_bose_decode_sensor_information(wire, sizeof wire, &information, NULL) < 0) {
        return 1;
    }
    return bench_main(argc, argv, "bose_record", bodies, 3, 0);
}
