/* SPDX-License-Identifier: MIT */
#include "tendon/devices/bose_codec.h"

enum { HEADER_SIZE = 3, MASK_BITS = 32 };

static uint32_t sensors_of(const tendon_bose_sensor_information *sensors) {
    uint32_t mask = 0;
    for (size_t i = 0; i < sensors->count; i++) {
        if (sensors->records[i].sensor_id < MASK_BITS) {
            mask |= (uint32_t)1 << sensors->records[i].sensor_id;
        }
    }
    return mask;
}

/* The periods that every sensor offers; none without sensors. */
static uint16_t periods_of(const tendon_bose_sensor_information *sensors) {
    unsigned mask = sensors->count > 0 ? 0xFFFFu : 0;
    for (size_t i = 0; i < sensors->count; i++) {
        mask &= sensors->records[i].period_mask;
    }
    return (uint16_t)mask;
}

static uint32_t gestures_of(const tendon_bose_gesture_information *gestures) {
    uint32_t mask = 0;
    for (size_t i = 0; i < gestures->count; i++) {
        int bit = tendon_bose_gesture_bit(gestures->records[i].gesture_id);
        if (bit >= 0) {
            mask |= (uint32_t)1 << bit;
        }
    }
    return mask;
}

static void warn(uint32_t wanted, const tendon_bose_device_information *device,
                 const tendon_bose_sensor_information *sensors, tendon_bose_intent_check *out) {
    unsigned count = 0, bytes = 0;
    for (uint8_t id = 0; id < MASK_BITS; id++) {
        if ((wanted >> id & 1u) == 0) {
            continue;
        }
        const tendon_bose_sensor_record *record = tendon_bose_find_sensor(sensors, id);
        count++;
        bytes += record != NULL ? HEADER_SIZE + (unsigned)record->sample_length : 0;
    }
    out->too_many_sensors = device->max_active_sensors != 0 && count > device->max_active_sensors;
    out->over_payload = device->max_payload != 0 && bytes > device->max_payload;
}

tendon_status tendon_bose_check_intent(const tendon_bose_intent *intent, const tendon_bose_device_information *device,
                                       const tendon_bose_sensor_information *sensors,
                                       const tendon_bose_gesture_information *gestures, tendon_bose_intent_check *out) {
    memset(out, 0, sizeof *out);
    out->missing_sensors = intent->sensors & ~sensors_of(sensors);
    out->missing_periods = (uint16_t)(intent->periods & ~(unsigned)periods_of(sensors));
    out->missing_gestures = intent->gestures & ~gestures_of(gestures);
    if (device != NULL) {
        warn(intent->sensors, device, sensors, out);
    }
    bool complete = out->missing_sensors == 0 && out->missing_periods == 0 && out->missing_gestures == 0;
    return complete ? TENDON_OK : TENDON_BOSE_ERROR_INTENTS_CHECK_FAILED;
}
