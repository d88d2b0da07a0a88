/* SPDX-License-Identifier: MIT */
/* Simulated Bose wearable: configuration writes, checked as a device checks them (2.4, 2.6, 4.8). */
#include "bose_parts.h"

/** Application errors of 4.8. */
enum {
    INVALID_REQUEST_LENGTH = 0x80,
    INVALID_SAMPLE_PERIOD = 0x81,
    INVALID_CONFIGURATION = 0x82,
    EXCEEDS_MAX_THROUGHPUT = 0x83,
    SERVICE_UNAVAILABLE = 0x84,
    INVALID_SENSOR = 0x85
};

/** Sample periods in ms by bit of the period mask (2.2). */
static const uint16_t period_of_bit[] = {320, 160, 80, 40, 20, 10, 5};

static bool offers(const tendon_simulated_bose *device, uint16_t period) {
    for (size_t bit = 0; bit < sizeof period_of_bit / sizeof period_of_bit[0]; bit++) {
        if (period_of_bit[bit] == period) {
            return (device->options.period_mask >> bit & 1u) != 0;
        }
    }
    return false;
}

uint16_t tendon_simulated_bose_period(const tendon_simulated_bose *device) {
    for (size_t id = 0; id < TENDON_SIMULATED_BOSE_SENSORS; id++) {
        if (device->periods[id] != 0) {
            return device->periods[id];
        }
    }
    return 0;
}

uint32_t tendon_simulated_bose_samples_together(const tendon_simulated_bose *device, uint32_t period) {
    uint32_t transmission = device->options.transmission_period_ms;
    return period == 0 || transmission <= period ? 1 : (transmission + period - 1) / period;
}

/** Checks that apply to all enabled sensors together. */
static tendon_status check_together(const tendon_simulated_bose *device, const uint16_t *periods) {
    const tendon_simulated_bose_options *options = &device->options;
    uint32_t active = 0, bytes = 0;
    uint16_t common = 0;
    for (size_t id = 0; id < TENDON_SIMULATED_BOSE_SENSORS; id++) {
        if (periods[id] == 0) {
            continue;
        }
        if (common != 0 && periods[id] != common) {
            return TENDON_ATT_ERROR(INVALID_CONFIGURATION);
        }
        common = periods[id];
        active++;
        bytes += 3u + tendon_simulated_bose_sensors[id].length;
    }
    if (options->max_active_sensors != 0 && active > options->max_active_sensors) {
        return TENDON_ATT_ERROR(INVALID_CONFIGURATION);
    }
    if (options->max_payload != 0 &&
        bytes * tendon_simulated_bose_samples_together(device, common) > options->max_payload) {
        return TENDON_ATT_ERROR(EXCEEDS_MAX_THROUGHPUT);
    }
    return TENDON_OK;
}

tendon_status tendon_simulated_bose_write_sensors(tendon_simulated_bose *device, const uint8_t *value, size_t length) {
    if ((device->status & STATUS_SUSPENDED) != 0) {
        return TENDON_ATT_ERROR(SERVICE_UNAVAILABLE);
    }
    size_t listed = 0;
    for (size_t id = 0; id < TENDON_SIMULATED_BOSE_SENSORS; id++) {
        listed += tendon_simulated_bose_has_sensor(device, id) ? 1 : 0;
    }
    if (length != 3 * listed) {
        return TENDON_ATT_ERROR(INVALID_REQUEST_LENGTH);
    }
    uint16_t periods[TENDON_SIMULATED_BOSE_SENSORS] = {0};
    tendon_reader reader = tendon_reader_make(value, length);
    for (size_t id = 0; id < TENDON_SIMULATED_BOSE_SENSORS; id++) {
        if (!tendon_simulated_bose_has_sensor(device, id)) {
            continue;
        }
        uint8_t written = tendon_read_u8(&reader);
        periods[id] = tendon_read_u16be(&reader);
        if (written != id) { /* a sensor it does not have, or one out of its place */
            bool known = tendon_simulated_bose_has_sensor(device, written);
            return TENDON_ATT_ERROR(known ? INVALID_CONFIGURATION : INVALID_SENSOR);
        }
        if (periods[id] != 0 && !offers(device, periods[id])) {
            return TENDON_ATT_ERROR(INVALID_SAMPLE_PERIOD);
        }
    }
    tendon_status status = check_together(device, periods);
    if (status == TENDON_OK) {
        memcpy(device->periods, periods, sizeof periods);
    }
    return status;
}

tendon_status tendon_simulated_bose_write_gestures(tendon_simulated_bose *device, const uint8_t *value, size_t length) {
    if ((device->status & STATUS_SUSPENDED) != 0) {
        return TENDON_ATT_ERROR(SERVICE_UNAVAILABLE);
    }
    size_t listed = 0;
    for (size_t row = 0; row < GESTURE_BITS; row++) {
        listed += tendon_simulated_bose_has_gesture(device, row) ? 1 : 0;
    }
    if (length != 2 * listed) {
        return TENDON_ATT_ERROR(INVALID_REQUEST_LENGTH);
    }
    uint32_t enabled = 0;
    tendon_reader reader = tendon_reader_make(value, length);
    for (size_t row = 0; row < GESTURE_BITS; row++) {
        if (!tendon_simulated_bose_has_gesture(device, row)) {
            continue;
        }
        const tendon_simulated_bose_gesture_row *gesture = &tendon_simulated_bose_gestures[row];
        uint8_t written = tendon_read_u8(&reader);
        uint32_t payload = tendon_read_u8(&reader);
        if (written != gesture->id) {
            return TENDON_ATT_ERROR(INVALID_CONFIGURATION);
        }
        enabled |= (payload & 1u) << gesture->bit; /* the other bits mean nothing */
    }
    device->gestures_enabled = enabled;
    return TENDON_OK;
}
