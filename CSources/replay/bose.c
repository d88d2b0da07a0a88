/* SPDX-License-Identifier: MIT */
#include "family.h"

static unsigned which(const tendon_uuid *characteristic) {
    unsigned number = 0;
    for (; number < TENDON_BOSE_CHARACTERISTIC_COUNT; number++) {
        tendon_uuid own = tendon_bose_uuid((tendon_bose_characteristic)number);
        if (tendon_uuid_equal(&own, characteristic)) {
            break;
        }
    }
    return number;
}

static bool recognizes(const tendon_definition *definition, const tendon_uuid *characteristic) {
    (void)definition;
    return which(characteristic) < TENDON_BOSE_CHARACTERISTIC_COUNT;
}

/* ---- device information ---- */

static void put_device(const tendon_replay_line *one, tendon_line *line) {
    const tendon_bose_device_information *device = one->decoded;
    tendon_line_word(line, "product", tendon_bose_product_name(device->product_id));
    tendon_line_integer(line, "product_id", device->product_id);
    tendon_line_word(line, "variant", tendon_bose_variant_name(device->product_id, device->variant));
    tendon_line_integer(line, "transmission_period_ms", device->transmission_period_ms);
    tendon_line_integer(line, "max_payload_bytes", device->max_payload);
    tendon_line_integer(line, "max_active_sensors", device->max_active_sensors);
    tendon_line_bool(line, "pairing_enabled", (device->status & TENDON_BOSE_STATUS_PAIRING_ENABLED) != 0);
    tendon_line_bool(line, "pairing_required", (device->status & TENDON_BOSE_STATUS_PAIRING_REQUIRED) != 0);
    tendon_line_bool(line, "paired", (device->status & TENDON_BOSE_STATUS_ALREADY_PAIRED) != 0);
    tendon_line_bool(line, "suspended", tendon_bose_suspended(device->status));
}

/* An event of a session, which has no other values in its line. */
static tendon_status write_event(const tendon_replay_line *one, tendon_line *line, const tendon_line_device *device,
                                 uint64_t wall_us) {
    return tendon_bose_line(line, device, wall_us, NULL, one->decoded);
}

static tendon_status take_device(const replay_taking *to, size_t *offset) {
    tendon_bose_device_information device;
    tendon_status status = tendon_bose_decode_device_information(to->value->bytes, to->value->length, &device, offset);
    if (status < 0) {
        return status;
    }
    tendon_replay_tell(to, "device_information", put_device, &device);
    bool was_suspended = to->replay->of.bose.is_suspended, is_suspended = tendon_bose_suspended(device.status);
    if (is_suspended != was_suspended) {
        tendon_bose_event event = {.kind = is_suspended ? TENDON_BOSE_EVENT_SUSPENDED : TENDON_BOSE_EVENT_RESUMED,
                                   .reason = tendon_bose_suspension_reason_of(device.status)};
        tendon_replay_emit(to, (tendon_replay_line){.write = write_event, .decoded = &event});
    }
    to->replay->of.bose.is_suspended = is_suspended;
    return status;
}

/* ---- sensors ---- */

static void put_sensors(const tendon_replay_line *one, tendon_line *line) {
    const tendon_bose_sensor_information *sensors = one->decoded;
    tendon_line_open_array(line, "sensors");
    for (size_t i = 0; i < sensors->count; i++) {
        const tendon_bose_sensor_record *record = &sensors->records[i];
        tendon_line_open_object(line, NULL);
        tendon_line_word(line, "sensor", tendon_bose_sensor_name(record->sensor_id));
        tendon_line_integer(line, "minimum", record->scaled_min);
        tendon_line_integer(line, "maximum", record->scaled_max);
        tendon_line_open_array(line, "periods_ms");
        for (unsigned bit = 0; tendon_bose_period_of_bit(bit) != 0; bit++) {
            if ((record->period_mask >> bit & 1) != 0) {
                tendon_line_integer(line, NULL, tendon_bose_period_of_bit(bit));
            }
        }
        tendon_line_close_array(line);
        tendon_line_close_object(line);
    }
    tendon_line_close_array(line);
}

static tendon_status take_sensors(const replay_taking *to, size_t *offset) {
    tendon_bose_sensor_information sensors;
    tendon_status status = tendon_bose_decode_sensor_information(to->value->bytes, to->value->length, &sensors, offset);
    if (status >= 0) {
        to->replay->of.bose.sensors = sensors;
        to->replay->of.bose.has_sensors = true;
        tendon_replay_tell(to, "sensor_information", put_sensors, &sensors);
    }
    return status;
}

static void put_sensor_configuration(const tendon_replay_line *one, tendon_line *line) {
    tendon_bose_sensor_configuration_members(line, one->decoded);
}

static tendon_status take_sensor_configuration(const replay_taking *to, size_t *offset) {
    tendon_bose_sensor_configuration configuration;
    tendon_status status =
        tendon_bose_decode_sensor_configuration(to->value->bytes, to->value->length, &configuration, offset);
    if (status >= 0) {
        tendon_replay_tell(to, to->value->is_written ? "configure_sensors" : "sensor_configuration",
                           put_sensor_configuration, &configuration);
    }
    return status;
}

static void put_sample(const tendon_replay_line *one, tendon_line *line) {
    const tendon_bose_event *event = one->decoded;
    tendon_bose_sample_members(line, event->sample, event->device_ms, 0, 0, 0);
    if (!one->replay->of.bose.has_sensors) { /* without the device's ranges the numbers are not in its units */
        tendon_line_word(line, "profile", "fixed");
    }
}

static bool view_sample(const tendon_replay_line *one, tendon_replay_numbers *out) {
    const tendon_bose_event *event = one->decoded;
    out->device_time_ms = (double)event->device_ms;
    out->bose = event->sample;
    return tendon_bose_view(&out->view, event);
}

static tendon_status take_samples(const replay_taking *to, size_t *offset) {
    tendon_replay *replay = to->replay;
    bool informed = replay->of.bose.has_sensors;
    tendon_bose_sample sample;
    tendon_bose_event event = {.kind = TENDON_BOSE_EVENT_SAMPLE, .sample = &sample};
    tendon_bose_sensor_data data =
        tendon_bose_sensor_data_begin(to->value->bytes, to->value->length, informed ? &replay->of.bose.sensors : NULL,
                                      informed ? TENDON_BOSE_PROFILE_REPORTED : TENDON_BOSE_PROFILE_FIXED);
    replay->notifications++;
    for (tendon_bose_step step; (step = tendon_bose_sensor_data_next(&data, &sample, NULL)) != TENDON_BOSE_STEP_END;) {
        if (step == TENDON_BOSE_STEP_SKIPPED) {
            replay->skipped++;
            continue;
        }
        replay->samples++;
        event.device_ms = tendon_bose_unwrap(&replay->of.bose.clock, sample.timestamp, to->value->now);
        tendon_replay_sample(to, put_sample, view_sample, &event);
    }
    *offset = data.error_offset;
    return data.status;
}

/* ---- gestures ---- */

static void put_gestures(const tendon_replay_line *one, tendon_line *line) {
    const tendon_bose_gesture_information *gestures = one->decoded;
    tendon_line_open_array(line, "gestures");
    for (size_t i = 0; i < gestures->count; i++) {
        tendon_line_word(line, NULL, tendon_bose_gesture_name(gestures->records[i].gesture_id));
    }
    tendon_line_close_array(line);
}

static tendon_status take_gestures(const replay_taking *to, size_t *offset) {
    tendon_bose_gesture_information gestures;
    tendon_status status =
        tendon_bose_decode_gesture_information(to->value->bytes, to->value->length, &gestures, offset);
    if (status >= 0) {
        to->replay->of.bose.gestures = gestures;
        to->replay->of.bose.has_gestures = true;
        tendon_replay_tell(to, "gesture_information", put_gestures, &gestures);
    }
    return status;
}

static void put_gesture_configuration(const tendon_replay_line *one, tendon_line *line) {
    tendon_bose_gesture_configuration_members(line, one->decoded);
}

static tendon_status take_gesture_configuration(const replay_taking *to, size_t *offset) {
    tendon_bose_gesture_configuration configuration;
    tendon_status status = tendon_bose_decode_gesture_configuration(
        to->value->bytes, to->value->length, to->replay->of.bose.has_gestures ? &to->replay->of.bose.gestures : NULL,
        &configuration, offset);
    if (status >= 0) {
        tendon_replay_tell(to, to->value->is_written ? "configure_gestures" : "gesture_configuration",
                           put_gesture_configuration, &configuration);
    }
    return status;
}

static tendon_status take_gesture(const replay_taking *to, size_t *offset) {
    tendon_bose_event event = {.kind = TENDON_BOSE_EVENT_GESTURE};
    tendon_status status = tendon_bose_decode_gesture_data(to->value->bytes, to->value->length, &event.gesture, offset);
    if (status >= 0) {
        event.device_ms = tendon_bose_unwrap(&to->replay->of.bose.clock, event.gesture.timestamp, to->value->now);
        tendon_replay_emit(to, (tendon_replay_line){.write = write_event, .decoded = &event});
    }
    return status;
}

/* ---- any of them ---- */

static void take(const replay_taking *to) {
    static tendon_status (*const functions[])(const replay_taking *to, size_t *offset) = {
        [TENDON_BOSE_DEVICE_INFORMATION] = take_device,
        [TENDON_BOSE_SENSOR_INFORMATION] = take_sensors,
        [TENDON_BOSE_SENSOR_CONFIGURATION] = take_sensor_configuration,
        [TENDON_BOSE_SENSOR_DATA] = take_samples,
        [TENDON_BOSE_GESTURE_INFORMATION] = take_gestures,
        [TENDON_BOSE_GESTURE_CONFIGURATION] = take_gesture_configuration,
        [TENDON_BOSE_GESTURE_DATA] = take_gesture,
    };
    unsigned number = which(to->value->characteristic);
    size_t offset = 0;
    tendon_status status = number < TENDON_BOSE_CHARACTERISTIC_COUNT ? functions[number](to, &offset) : TENDON_OK;
    if (status < 0) {
        tendon_replay_malformed(to, status, offset);
    }
}

static void put_malformed(const tendon_replay_line *one, tendon_line *line) {
    tendon_line_count(line, "error_offset", one->place);
}

const tendon_replay_family tendon_bose_replay = {&tendon_bose_family, recognizes, NULL, take, put_malformed};
