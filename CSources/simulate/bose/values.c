/* SPDX-License-Identifier: MIT */
/* Simulated Bose wearable: the values that centrals read, from the tables of 2.1 to 2.6. */
#include "bose_parts.h"

const tendon_simulated_bose_sensor tendon_simulated_bose_sensors[TENDON_SIMULATED_BOSE_SENSORS] = {
    {-8, 8, -32767, 32767, 7},       /* accelerometer, g */
    {-2000, 2000, -32767, 32767, 7}, /* gyroscope, deg/s */
    {-1, 1, -16383, 16383, 10},      /* rotation */
    {-1, 1, -16383, 16383, 8},       /* game rotation */
    {-360, 360, -32767, 32767, 7},   /* orientation, deg: this and the rest are our choice, no device reports them */
    {-1300, 1300, -32767, 32767, 7}, /* magnetometer, uT */
    {-1300, 1300, -32767, 32767, 12} /* uncalibrated magnetometer, uT */
};

const tendon_simulated_bose_gesture_row tendon_simulated_bose_gestures[GESTURE_BITS] = {
    {0, 0x80, "single_tap"},     {1, 0x81, "double_tap"}, {2, 0x82, "head_nod"},     {3, 0x83, "head_shake"},
    {4, 0x84, "touch_and_hold"}, {16, 0xC0, "input"},     {17, 0xC1, "affirmative"}, {18, 0xC2, "negative"},
};

static void write_i16(tendon_writer *out, int16_t value) {
    tendon_write_u16be(out, (uint16_t)value);
}

static void write_device_information(const tendon_simulated_bose *device, bool paired, tendon_writer *out) {
    const tendon_simulated_bose_options *options = &device->options;
    uint32_t status = device->status | (paired ? STATUS_ALREADY_PAIRED : 0u);
    tendon_write_u8(out, 4); /* version 4.0 */
    tendon_write_u8(out, 0);
    tendon_write_u16be(out, options->product_id);
    tendon_write_u8(out, options->variant);
    tendon_write_u32be(out, options->sensor_mask);
    tendon_write_u32be(out, options->gesture_mask);
    tendon_write_u8(out, options->transmission_period_ms);
    tendon_write_u16be(out, options->max_payload);
    tendon_write_u8(out, options->max_active_sensors);
    tendon_write_u16be(out, (uint16_t)status);
}

static void write_sensor_information(const tendon_simulated_bose *device, tendon_writer *out) {
    for (size_t id = 0; id < TENDON_SIMULATED_BOSE_SENSORS; id++) {
        if (!tendon_simulated_bose_has_sensor(device, id)) {
            continue;
        }
        const tendon_simulated_bose_sensor *sensor = &tendon_simulated_bose_sensors[id];
        tendon_write_u8(out, (uint8_t)id);
        write_i16(out, sensor->scaled_min);
        write_i16(out, sensor->scaled_max);
        write_i16(out, sensor->raw_min);
        write_i16(out, sensor->raw_max);
        tendon_write_u16be(out, device->options.period_mask);
        tendon_write_u8(out, sensor->length);
    }
}

static void write_sensor_configuration(const tendon_simulated_bose *device, tendon_writer *out) {
    for (size_t id = 0; id < TENDON_SIMULATED_BOSE_SENSORS; id++) {
        if (tendon_simulated_bose_has_sensor(device, id)) {
            tendon_write_u8(out, (uint8_t)id);
            tendon_write_u16be(out, device->periods[id]);
        }
    }
}

static void write_gestures(const tendon_simulated_bose *device, bool configuration, tendon_writer *out) {
    for (size_t row = 0; row < GESTURE_BITS; row++) {
        if (!tendon_simulated_bose_has_gesture(device, row)) {
            continue;
        }
        const tendon_simulated_bose_gesture_row *gesture = &tendon_simulated_bose_gestures[row];
        tendon_write_u8(out, gesture->id);
        if (configuration) {
            tendon_write_u8(out, (uint8_t)(device->gestures_enabled >> gesture->bit & 1u));
        } else if (device->options.legacy_gesture_information) {
            tendon_write_u8(out, 1);
        } else {
            tendon_write_u16le(out, 1); /* the one little-endian number of the service */
        }
    }
}

size_t tendon_simulated_bose_value(tendon_simulated_bose *device, unsigned characteristic, bool paired, uint8_t *out,
                                   size_t capacity) {
    tendon_writer writer = tendon_writer_make(out, capacity);
    switch (characteristic) {
    case BOSE_DEVICE_INFORMATION:
        write_device_information(device, paired, &writer);
        break;
    case BOSE_SENSOR_INFORMATION:
        write_sensor_information(device, &writer);
        break;
    case BOSE_SENSOR_CONFIGURATION:
        write_sensor_configuration(device, &writer);
        break;
    case BOSE_GESTURE_INFORMATION:
        write_gestures(device, false, &writer);
        break;
    case BOSE_GESTURE_CONFIGURATION:
        write_gestures(device, true, &writer);
        break;
    default: /* the data characteristics are only notified */
        break;
    }
    return writer.length;
}
