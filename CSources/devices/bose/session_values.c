/* SPDX-License-Identifier: MIT */
#include "session_parts.h"

#define MS UINT64_C(1000000) /* nanoseconds */

void tendon_bose_malformed(tendon_bose_session *session, tendon_bose_characteristic which, tendon_status status,
                           size_t offset) {
    session->counters.malformed++;
    tendon_bose_event event = {
        .kind = TENDON_BOSE_EVENT_MALFORMED, .status = status, .characteristic = which, .offset = offset};
    tendon_bose_emit(session, &event);
}

uint16_t tendon_bose_sensor_mask(uint8_t sensor_id) {
    return (uint16_t)(sensor_id < 16 ? 1u << sensor_id : 0);
}

/* The bits of device information are 0 to 4 and 16 to 18. */
uint16_t tendon_bose_gesture_mask(uint8_t gesture_id) {
    int bit = tendon_bose_gesture_bit(gesture_id);
    return (uint16_t)(bit < 0 ? 0 : 1u << (bit < 16 ? bit : bit - 8));
}

uint16_t tendon_bose_sensors_enabled(const tendon_bose_sensor_configuration *configuration) {
    unsigned mask = 0;
    for (size_t i = 0; i < configuration->count; i++) {
        const tendon_bose_sensor_setting *setting = &configuration->settings[i];
        mask |= setting->period_ms != 0 ? tendon_bose_sensor_mask(setting->sensor_id) : 0u;
    }
    return (uint16_t)mask;
}

uint16_t tendon_bose_gestures_enabled(const tendon_bose_gesture_configuration *configuration) {
    unsigned mask = 0;
    for (size_t i = 0; i < configuration->count; i++) {
        mask |= configuration->entries[i].enabled ? tendon_bose_gesture_mask(configuration->entries[i].gesture_id) : 0u;
    }
    return (uint16_t)mask;
}

/* ---- suspension ---- */

void tendon_bose_suspend(tendon_bose_session *session) {
    tendon_bose_suspension_reason reason = tendon_bose_suspension_reason_of(session->device.status);
    session->state = TENDON_BOSE_SUSPENDED;
    session->work.reason = (uint8_t)reason;
    tendon_bose_event event = {.kind = TENDON_BOSE_EVENT_SUSPENDED, .reason = reason};
    tendon_bose_emit(session, &event);
}

static void resume(tendon_bose_session *session) {
    session->state = TENDON_BOSE_OPEN;
    if (session->work.sensors_written != 0) {
        session->work.reapply = true;
        session->work.pending |= BOSE_DO_REREAD_SENSORS;
    }
    tendon_bose_emit_kind(session, TENDON_BOSE_EVENT_RESUMED, TENDON_OK);
}

/* ---- values that are kept ---- */

static void device_changed(tendon_bose_session *session) {
    bool suspended = tendon_bose_suspended(session->device.status);
    switch (session->state) {
    case TENDON_BOSE_OPEN:
        if (suspended) {
            tendon_bose_suspend(session);
        }
        break;
    case TENDON_BOSE_SUSPENDED:
        if (!suspended) {
            resume(session);
        } else if (session->work.reason != (uint8_t)tendon_bose_suspension_reason_of(session->device.status)) {
            tendon_bose_suspend(session);
        }
        break;
    default:
        break;
    }
}

static tendon_status take_device(tendon_bose_session *session, const uint8_t *data, size_t length) {
    size_t offset = 0;
    tendon_status status = tendon_bose_decode_device_information(data, length, &session->device, &offset);
    if (status < 0) {
        tendon_bose_malformed(session, TENDON_BOSE_DEVICE_INFORMATION, status, offset);
        return status;
    }
    session->has_device = true;
    tendon_bose_emit_kind(session, TENDON_BOSE_EVENT_DEVICE_INFORMATION, TENDON_OK);
    device_changed(session);
    return TENDON_OK;
}

/* Too many sensors for our table are our limit, not the device's mistake: the first ones serve. */
static tendon_status take_sensors(tendon_bose_session *session, const uint8_t *data, size_t length) {
    size_t offset = 0;
    tendon_status status = tendon_bose_decode_sensor_information(data, length, &session->sensors, &offset);
    session->has_sensors = true;
    if (session->sensors.rejected_count > 0) {
        tendon_bose_malformed(session, TENDON_BOSE_SENSOR_INFORMATION, TENDON_BOSE_ERROR_BAD_RANGE,
                              session->sensors.rejected[0].offset);
    }
    if (status < 0) {
        tendon_bose_malformed(session, TENDON_BOSE_SENSOR_INFORMATION, status, offset);
    }
    tendon_bose_emit_kind(session, TENDON_BOSE_EVENT_SENSOR_INFORMATION, TENDON_OK);
    return TENDON_OK;
}

static tendon_status take_sensor_configuration(tendon_bose_session *session, const uint8_t *data, size_t length) {
    size_t offset = 0;
    tendon_status status =
        tendon_bose_decode_sensor_configuration(data, length, &session->sensor_configuration, &offset);
    /* A truncated list cannot be written back, because a write must contain all entries. */
    session->has_sensor_configuration = status == TENDON_OK && session->sensor_configuration.trailing_bytes == 0;
    session->work.sensors_ours &= tendon_bose_sensors_enabled(&session->sensor_configuration);
    if (status < 0) {
        tendon_bose_malformed(session, TENDON_BOSE_SENSOR_CONFIGURATION, status, offset);
    }
    tendon_bose_emit_kind(session, TENDON_BOSE_EVENT_SENSOR_CONFIGURATION, TENDON_OK);
    return TENDON_OK;
}

static tendon_status take_gestures(tendon_bose_session *session, const uint8_t *data, size_t length) {
    size_t offset = 0;
    tendon_status status = tendon_bose_decode_gesture_information(data, length, &session->gestures, &offset);
    if (status < 0) {
        tendon_bose_malformed(session, TENDON_BOSE_GESTURE_INFORMATION, status, offset);
    }
    if (status == TENDON_BOSE_ERROR_BAD_RECORD) {
        return status;
    }
    session->has_gestures = true;
    tendon_bose_emit_kind(session, TENDON_BOSE_EVENT_GESTURE_INFORMATION, TENDON_OK);
    return TENDON_OK;
}

static tendon_status take_gesture_configuration(tendon_bose_session *session, const uint8_t *data, size_t length) {
    size_t offset = 0;
    tendon_bose_gesture_configuration configuration;
    tendon_status status =
        tendon_bose_decode_gesture_configuration(data, length, &session->gestures, &configuration, &offset);
    if (status < 0) {
        tendon_bose_malformed(session, TENDON_BOSE_GESTURE_CONFIGURATION, status, offset);
        return status;
    }
    session->gesture_configuration = configuration;
    session->has_gesture_configuration = true;
    session->work.gestures_ours &= tendon_bose_gestures_enabled(&configuration);
    tendon_bose_emit_kind(session, TENDON_BOSE_EVENT_GESTURE_CONFIGURATION, TENDON_OK);
    return TENDON_OK;
}

tendon_status tendon_bose_take_value(tendon_bose_session *session, tendon_bose_characteristic which,
                                     const uint8_t *data, size_t length) {
    switch (which) {
    case TENDON_BOSE_DEVICE_INFORMATION:
        return take_device(session, data, length);
    case TENDON_BOSE_SENSOR_INFORMATION:
        return take_sensors(session, data, length);
    case TENDON_BOSE_SENSOR_CONFIGURATION:
        return take_sensor_configuration(session, data, length);
    case TENDON_BOSE_GESTURE_INFORMATION:
        return take_gestures(session, data, length);
    case TENDON_BOSE_GESTURE_CONFIGURATION:
        return take_gesture_configuration(session, data, length);
    case TENDON_BOSE_SENSOR_DATA:
    case TENDON_BOSE_GESTURE_DATA:
    case TENDON_BOSE_CHARACTERISTIC_COUNT:
    default:
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
}

void tendon_bose_take_string(tendon_bose_session *session, unsigned which, const uint8_t *data, size_t length) {
    tendon_bose_device_strings *strings = &session->strings;
    size_t kept = length < TENDON_BOSE_STRING_SIZE ? length : TENDON_BOSE_STRING_SIZE;
    if (which < TENDON_BOSE_STRING_COUNT) {
        memcpy(strings->strings[which].bytes, data, kept);
        strings->strings[which].length = (uint8_t)kept;
        strings->strings[which].present = true;
    } else if (which == BOSE_STRING_SYSTEM_ID && length == sizeof strings->system_id) {
        memcpy(strings->system_id, data, length);
        strings->has_system_id = true;
    } else if (which == BOSE_STRING_PNP_ID && length == sizeof strings->pnp_id) {
        memcpy(strings->pnp_id, data, length);
        strings->has_pnp_id = true;
    } else if (which == BOSE_STRING_REGULATORY) {
        memcpy(strings->regulatory, data, kept);
        strings->regulatory_length = (uint8_t)kept;
        strings->has_regulatory = true;
    }
}

/* ---- notifications ---- */

/* The event of a sample or a gesture, with its times. */
static void emit_timed(tendon_bose_session *session, tendon_bose_event *event, uint16_t timestamp, uint64_t now) {
    event->device_ms = tendon_bose_unwrap(&session->clock, timestamp, now);
    if (session->model.started) {
        uint64_t device_ms = tendon_bose_unwrap(&session->model_clock, timestamp, now);
        tendon_clock_time time =
            tendon_clock_at(&session->model, device_ms * MS, tendon_operation_received_at(&session->op));
        event->sampled_at = time.sampled_at;
        event->error_us = time.error_us;
    }
    tendon_bose_emit(session, event);
}

/* Before the samples are reported, the model takes the newest one. */
static void take_newest(tendon_bose_session *session, tendon_bose_sensor_data data, uint64_t now) {
    tendon_bose_sample sample;
    tendon_bose_step step;
    uint64_t newest = 0;
    while ((step = tendon_bose_sensor_data_next(&data, &sample, NULL)) != TENDON_BOSE_STEP_END) {
        if (step != TENDON_BOSE_STEP_SKIPPED) {
            uint64_t device_ms = tendon_bose_unwrap(&session->model_clock, sample.timestamp, now);
            newest = device_ms > newest ? device_ms : newest;
        }
    }
    const tendon_att_bearer *bearer = session->op.client->bearer;
    if (newest > 0) {
        tendon_clock_take(&session->model, newest * MS, bearer->received_at, bearer->interval_us);
    }
}

static void take_sensor_data(tendon_bose_session *session, const tendon_gatt_value *value) {
    uint64_t now = session->op.now;
    bool informed = session->has_sensors && session->sensors.count > 0;
    if (!tendon_bose_is_open(session) || (!informed && !session->config.fixed_profile)) {
        session->counters.dropped++;
        return;
    }
    session->counters.notifications++;
    tendon_bose_event event = {.kind = TENDON_BOSE_EVENT_SENSOR_DATA, .value = value->value, .length = value->length};
    tendon_bose_emit(session, &event);

    tendon_bose_sample sample;
    tendon_bose_step step;
    tendon_bose_sensor_data data =
        tendon_bose_sensor_data_begin(value->value, value->length, informed ? &session->sensors : NULL,
                                      informed ? TENDON_BOSE_PROFILE_REPORTED : TENDON_BOSE_PROFILE_FIXED);
    take_newest(session, data, now);
    event = (tendon_bose_event){.kind = TENDON_BOSE_EVENT_SAMPLE, .sample = &sample};
    /* The application may close the session in a callback: then the rest of the notification is not delivered. */
    while (tendon_bose_is_open(session) &&
           (step = tendon_bose_sensor_data_next(&data, &sample, NULL)) != TENDON_BOSE_STEP_END) {
        if (step == TENDON_BOSE_STEP_SKIPPED) {
            session->counters.skipped++;
            continue;
        }
        session->counters.samples++;
        emit_timed(session, &event, sample.timestamp, now);
    }
    if (data.status < 0) {
        tendon_bose_malformed(session, TENDON_BOSE_SENSOR_DATA, data.status, data.error_offset);
    }
    if (tendon_bose_is_open(session)) {
        tendon_bose_emit_kind(session, TENDON_BOSE_EVENT_SENSOR_DATA_END, TENDON_OK);
    }
}

static void take_gesture(tendon_bose_session *session, const tendon_gatt_value *value) {
    uint64_t now = session->op.now;
    if (!tendon_bose_is_open(session)) {
        session->counters.dropped++;
        return;
    }
    size_t offset = 0;
    tendon_bose_event event = {.kind = TENDON_BOSE_EVENT_GESTURE};
    tendon_status status = tendon_bose_decode_gesture_data(value->value, value->length, &event.gesture, &offset);
    if (status < 0) {
        tendon_bose_malformed(session, TENDON_BOSE_GESTURE_DATA, status, offset);
        return;
    }
    session->counters.gestures++;
    emit_timed(session, &event, event.gesture.timestamp, now);
}

void tendon_bose_notified(tendon_bose_session *session, size_t which, const tendon_gatt_value *value) {
    if (which == TENDON_BOSE_SENSOR_DATA) {
        take_sensor_data(session, value);
    } else if (which == TENDON_BOSE_GESTURE_DATA) {
        take_gesture(session, value);
    } else if (which < TENDON_BOSE_CHARACTERISTIC_COUNT && session->state != TENDON_BOSE_CLOSING) {
        (void)tendon_bose_take_value(session, (tendon_bose_characteristic)which, value->value, value->length);
        /* A notification has at most ATT_MTU - 3 bytes: the whole list is read. */
        if (which == TENDON_BOSE_SENSOR_CONFIGURATION && tendon_bose_is_open(session) &&
            session->sensor_configuration.trailing_bytes > 0) {
            session->work.pending |= BOSE_DO_REREAD_SENSORS;
        }
    }
}
