/* SPDX-License-Identifier: MIT */
#include "session_parts.h"

/* ---- operations ---- */

static void read_value(tendon_bose_session *session, uint8_t operation, tendon_bose_characteristic which) {
    session->work.index = (uint8_t)which;
    tendon_bose_read(session, operation, session->kept.found[which].value);
}

/* The bytes stay in kept.scratch until the response: the event reports the written value from them. */
static void write_value(tendon_bose_session *session, uint8_t operation, tendon_bose_characteristic which,
                        const uint8_t *bytes, size_t length) {
    memcpy(session->kept.scratch.value, bytes, length);
    session->work.write_length = (uint16_t)length;
    tendon_operation_start(&session->op, operation, TENDON_OPERATION_WRITE, session->kept.found[which].value,
                           session->kept.scratch.value, length);
}

static bool take_pending(tendon_bose_session *session, unsigned bit) {
    bool set = (session->work.pending & bit) != 0;
    session->work.pending &= ~bit;
    return set;
}

void tendon_bose_work_pump(tendon_bose_session *session) {
    if (take_pending(session, BOSE_DO_REREAD_SENSORS)) {
        read_value(session, BOSE_REREAD_SENSORS, TENDON_BOSE_SENSOR_CONFIGURATION);
    } else if (take_pending(session, BOSE_DO_REREAD_GESTURES)) {
        read_value(session, BOSE_REREAD_GESTURES, TENDON_BOSE_GESTURE_CONFIGURATION);
    } else if (take_pending(session, BOSE_DO_WRITE_SENSORS)) {
        session->work.write_number = session->work.sensor_number;
        session->work.write_before = tendon_bose_sensors_enabled(&session->sensor_configuration);
        write_value(session, BOSE_WRITE_SENSORS, TENDON_BOSE_SENSOR_CONFIGURATION, session->kept.sensor_next,
                    session->work.sensor_next_length);
    } else if (take_pending(session, BOSE_DO_WRITE_GESTURES)) {
        session->work.write_number = session->work.gesture_number;
        session->work.write_before = tendon_bose_gestures_enabled(&session->gesture_configuration);
        write_value(session, BOSE_WRITE_GESTURES, TENDON_BOSE_GESTURE_CONFIGURATION, session->kept.gesture_next,
                    session->work.gesture_next_length);
    } else {
        for (unsigned row = 0; row < BOSE_ROWS; row++) {
            if (take_pending(session, (uint32_t)BOSE_DO_REFRESH << row)) {
                session->work.index = (uint8_t)row;
                tendon_bose_read(session, BOSE_REFRESH, session->kept.found[row].value);
                return;
            }
        }
    }
}

/* ---- writes ---- */

/* What a write enabled was not enabled when it was sent, or not when it was answered: the device may notify before. */
static void sensors_written(tendon_bose_session *session) {
    unsigned before = session->work.write_before & tendon_bose_sensors_enabled(&session->sensor_configuration);
    tendon_bose_sensor_configuration written;
    (void)tendon_bose_decode_sensor_configuration(session->kept.scratch.value, session->work.write_length, &written,
                                                  NULL);
    session->sensor_configuration = written;
    uint16_t after = tendon_bose_sensors_enabled(&written);
    unsigned added = after & ~before;
    session->work.sensors_ours = (uint16_t)((session->work.sensors_ours | added) & after);
    session->work.sensors_written = (uint16_t)((session->work.sensors_written | added) & after);
    session->work.written_period = tendon_bose_enabled_period(&written);
}

static void gestures_written(tendon_bose_session *session) {
    unsigned before = session->work.write_before & tendon_bose_gestures_enabled(&session->gesture_configuration);
    tendon_bose_gesture_configuration written;
    (void)tendon_bose_decode_gesture_configuration(session->kept.scratch.value, session->work.write_length,
                                                   &session->gestures, &written, NULL);
    session->gesture_configuration = written;
    uint16_t after = tendon_bose_gestures_enabled(&written);
    unsigned added = after & ~before;
    session->work.gestures_ours = (uint16_t)((session->work.gestures_ours | added) & after);
}

/* The outcome of the configuration with this number, and of those that it replaced. */
static void emit_outcome(tendon_bose_session *session, bool sensors, tendon_status status, uint16_t number) {
    tendon_bose_event event = {.status = status, .configuration = number};
    if (status < 0) {
        event.kind =
            sensors ? TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_FAILED : TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_FAILED;
    } else {
        event.kind =
            sensors ? TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_WRITTEN : TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_WRITTEN;
    }
    tendon_bose_emit(session, &event);
}

static void write_done(tendon_bose_session *session, uint8_t operation, tendon_status status) {
    bool sensors = operation == BOSE_WRITE_SENSORS;
    if (status >= 0 && !sensors && !session->has_gestures) {
        status = TENDON_BOSE_ERROR_MISSING_GESTURE_INFORMATION;
    }
    if (status >= 0) {
        session->work.pending |= sensors ? BOSE_DO_REREAD_SENSORS : BOSE_DO_REREAD_GESTURES;
        if (sensors) {
            sensors_written(session);
        } else {
            gestures_written(session);
        }
        status = TENDON_OK;
    }
    emit_outcome(session, sensors, status, session->work.write_number);
}

/* ---- reads ---- */

/* After a suspension: enables the session's sensors again if the device has disabled them. */
static void apply_again(tendon_bose_session *session) {
    session->work.reapply = false;
    tendon_bose_sensor_configuration configuration = session->sensor_configuration;
    if ((tendon_bose_sensors_enabled(&configuration) & session->work.sensors_written) != 0 ||
        (session->work.pending & BOSE_DO_WRITE_SENSORS) != 0 || !session->has_sensor_configuration) {
        return;
    }
    for (size_t i = 0; i < configuration.count; i++) {
        if ((session->work.sensors_written & tendon_bose_sensor_mask(configuration.settings[i].sensor_id)) != 0) {
            configuration.settings[i].period_ms = session->work.written_period;
        }
    }
    tendon_status length = tendon_bose_encode_sensor_configuration(&configuration, session->kept.sensor_next,
                                                                   sizeof session->kept.sensor_next);
    if (length > 0) {
        session->work.sensor_next_length = (uint16_t)length;
        session->work.pending |= BOSE_DO_WRITE_SENSORS;
    }
}

static void reread_done(tendon_bose_session *session, uint8_t operation, const tendon_gatt_result *result) {
    bool sensors = operation == BOSE_REREAD_SENSORS;
    tendon_status status = tendon_bose_status_from_att(result->status);
    if (status == TENDON_OK) {
        status = tendon_bose_take_value(session,
                                        sensors ? TENDON_BOSE_SENSOR_CONFIGURATION : TENDON_BOSE_GESTURE_CONFIGURATION,
                                        result->value, result->length);
        status = status < 0 ? TENDON_BOSE_ERROR_INVALID_RESPONSE : TENDON_OK;
    }
    if (status < 0) {
        emit_outcome(session, sensors, status, 0);
    } else if (sensors && session->work.reapply && session->state == TENDON_BOSE_OPEN) {
        apply_again(session);
    }
}

static void refresh_done(tendon_bose_session *session, const tendon_gatt_result *result) {
    tendon_bose_characteristic which = (tendon_bose_characteristic)session->work.index;
    if (session->work.index >= BOSE_STRING_ROW) {
        if (result->status >= 0) {
            tendon_bose_take_string(session, session->work.index - (unsigned)BOSE_STRING_ROW, result->value,
                                    result->length);
        }
        if ((session->work.pending & BOSE_DO_REFRESH_STRINGS) == 0) {
            tendon_bose_emit_kind(session, TENDON_BOSE_EVENT_DEVICE_STRINGS, TENDON_OK);
        }
    } else if (result->status < 0) {
        tendon_bose_malformed(session, which, tendon_bose_status_from_att(result->status), 0);
    } else {
        (void)tendon_bose_take_value(session, which, result->value, result->length);
    }
}

void tendon_bose_work_done(tendon_bose_session *session, uint8_t operation, const tendon_gatt_result *result) {
    switch (operation) {
    case BOSE_WRITE_SENSORS:
    case BOSE_WRITE_GESTURES:
        write_done(session, operation, tendon_bose_status_from_att(result->status));
        break;
    case BOSE_REREAD_SENSORS:
    case BOSE_REREAD_GESTURES:
        if (tendon_bose_is_open(session)) {
            reread_done(session, operation, result);
        }
        break;
    case BOSE_REFRESH:
        if (tendon_bose_is_open(session)) {
            refresh_done(session, result);
        }
        break;
    default: /* the disabling writes of close(): their result is not reported */
        break;
    }
}

void tendon_bose_drop_writes(tendon_bose_session *session, tendon_status status, bool in_flight) {
    unsigned pending = session->work.pending;
    uint8_t operation = in_flight ? session->op.kind : BOSE_IDLE;
    session->work.pending = 0;
    if ((pending & BOSE_DO_WRITE_SENSORS) != 0 || operation == BOSE_WRITE_SENSORS) {
        emit_outcome(session, true, status, session->work.sensor_number);
    }
    if ((pending & BOSE_DO_WRITE_GESTURES) != 0 || operation == BOSE_WRITE_GESTURES) {
        emit_outcome(session, false, status, session->work.gesture_number);
    }
}

/* ---- closing ---- */

static bool disable_sensors(tendon_bose_session *session) {
    tendon_bose_sensor_configuration configuration = session->sensor_configuration;
    unsigned ours = session->work.sensors_ours & tendon_bose_sensors_enabled(&configuration);
    session->work.sensors_ours = 0;
    if (ours == 0 || !session->has_sensor_configuration) {
        return false;
    }
    for (size_t i = 0; i < configuration.count; i++) {
        if ((ours & tendon_bose_sensor_mask(configuration.settings[i].sensor_id)) != 0) {
            configuration.settings[i].period_ms = 0;
        }
    }
    tendon_status length = tendon_bose_encode_sensor_configuration(&configuration, session->kept.sensor_next,
                                                                   sizeof session->kept.sensor_next);
    write_value(session, BOSE_CLOSE_SENSORS, TENDON_BOSE_SENSOR_CONFIGURATION, session->kept.sensor_next,
                length > 0 ? (size_t)length : 0);
    return true;
}

static bool disable_gestures(tendon_bose_session *session) {
    tendon_bose_gesture_configuration configuration = session->gesture_configuration;
    unsigned ours = session->work.gestures_ours & tendon_bose_gestures_enabled(&configuration);
    session->work.gestures_ours = 0;
    if (ours == 0) {
        return false;
    }
    for (size_t i = 0; i < configuration.count; i++) {
        if ((ours & tendon_bose_gesture_mask(configuration.entries[i].gesture_id)) != 0) {
            configuration.entries[i].enabled = false;
        }
    }
    tendon_status length = tendon_bose_encode_gesture_configuration(&configuration, session->kept.gesture_next,
                                                                    sizeof session->kept.gesture_next);
    write_value(session, BOSE_CLOSE_GESTURES, TENDON_BOSE_GESTURE_CONFIGURATION, session->kept.gesture_next,
                length > 0 ? (size_t)length : 0);
    return true;
}

void tendon_bose_closing_pump(tendon_bose_session *session) {
    if (session->work.disconnecting) {
        return;
    }
    if (!session->work.opening && !session->op.client->closed) {
        session->work.deadline = session->op.now + TENDON_BOSE_OPERATION_TIMEOUT_MS;
        if (disable_sensors(session) || disable_gestures(session)) {
            return;
        }
    }
    tendon_bose_disconnect(session);
}
