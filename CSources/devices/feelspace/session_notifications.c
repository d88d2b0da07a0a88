/* SPDX-License-Identifier: MIT */
#include "session_parts.h"

static bool is_connected(const tendon_feelspace_session *session) {
    return session->state == TENDON_FEELSPACE_CONNECTED;
}

/* Until the connection is reported, values are stored without an event. */
static void tell(tendon_feelspace_session *session, tendon_feelspace_event_kind kind) {
    if (is_connected(session)) {
        tendon_feelspace_emit_kind(session, kind, TENDON_OK);
    }
}

static void emit_packet(tendon_feelspace_session *session, tendon_feelspace_event_kind kind, unsigned which,
                        tendon_status status, const uint8_t *data, size_t length, size_t offset) {
    tendon_feelspace_event event;
    tendon_feelspace_event_init(&event, kind, status);
    event.packet.data = data;
    event.packet.length = length;
    event.packet.offset = offset;
    event.packet.characteristic = tendon_feelspace_uuid(which);
    tendon_feelspace_emit(session, &event);
}

/* Standby: the belt disconnects next, which is what a command for standby requested. */
static void mode_taken(tendon_feelspace_session *session) {
    if (is_connected(session) && session->mode == TENDON_FEELSPACE_MODE_STANDBY) {
        static const uint8_t answer[] = {0x01, TENDON_FEELSPACE_BASIC_MODE};
        uint32_t generation = session->work.generation;
        tendon_feelspace_slots_answered(session, answer);
        if (is_connected(session) && session->work.generation == generation) {
            tendon_feelspace_fail(session, TENDON_FEELSPACE_POWER_OFF, TENDON_ERROR_DISCONNECTED);
        }
    } else {
        tendon_feelspace_handshake_check(session);
    }
}

static void take_mode(tendon_feelspace_session *session, uint8_t mode) {
    if (mode != session->mode) {
        session->mode = mode;
        tell(session, TENDON_FEELSPACE_EVENT_MODE);
        mode_taken(session);
    }
}

static tendon_status take_keep_alive(tendon_feelspace_session *session, const uint8_t *data, size_t length,
                                     size_t *offset) {
    uint8_t mode;
    session->counters.keep_alives++;
    if (session->work.keep_alives < UINT8_MAX) {
        session->work.keep_alives++; /* malformed requests also get a response */
    }
    tendon_status status = tendon_feelspace_decode_keep_alive(data, length, &mode, offset);
    if (status >= 0) {
        take_mode(session, mode);
    }
    return status;
}

static tendon_status take_button(tendon_feelspace_session *session, const uint8_t *data, size_t length,
                                 size_t *offset) {
    tendon_feelspace_event event;
    tendon_feelspace_event_init(&event, TENDON_FEELSPACE_EVENT_BUTTON, TENDON_OK);
    tendon_status status = tendon_feelspace_decode_button(data, length, &event.press, offset);
    if (status >= 0) {
        session->mode = event.press.new_mode; /* reported by this event, so not by MODE too */
        if (is_connected(session)) {
            tendon_feelspace_emit(session, &event);
        }
        mode_taken(session);
    }
    return status;
}

static tendon_status take_battery(tendon_feelspace_session *session, const uint8_t *data, size_t length,
                                  size_t *offset) {
    tendon_feelspace_battery battery;
    tendon_status status = tendon_feelspace_decode_battery(data, length, &battery, offset);
    if (status >= 0) {
        const tendon_feelspace_battery *old = &session->battery;
        /* Neither number is ever NaN or -0: equal ones have equal bytes. */
        bool same = session->has_battery && old->power_status == battery.power_status &&
                    memcmp(&old->level_percent, &battery.level_percent, sizeof battery.level_percent) == 0 &&
                    memcmp(&old->tte_ttf_s, &battery.tte_ttf_s, sizeof battery.tte_ttf_s) == 0;
        session->battery = battery;
        session->has_battery = true;
        if (!same) {
            tell(session, TENDON_FEELSPACE_EVENT_BATTERY);
        }
    }
    return status;
}

/* Degrees between two headings, the short way round. */
static unsigned apart(int16_t a, int16_t b) {
    unsigned way = feelspace_wrap((int32_t)a - b, 360);
    return way > 180 ? 360 - way : way;
}

static tendon_status take_orientation(tendon_feelspace_session *session, const uint8_t *data, size_t length,
                                      size_t *offset) {
    tendon_feelspace_orientation orientation;
    tendon_status status = tendon_feelspace_decode_orientation(data, length, &orientation, offset);
    if (status < 0 || orientation.sensor_id != TENDON_FEELSPACE_SENSOR_FUSION || !session->orientation_enabled) {
        return status;
    }
    session->orientation = orientation;
    session->has_orientation = true;
    if (!session->work.told ||
        (session->op.now - session->kept.told_at >= session->orientation_period_ms &&
         apart(orientation.heading, session->work.told_heading) >= session->orientation_variation_deg)) {
        session->work.told = true;
        session->kept.told_at = session->op.now;
        session->work.told_heading = orientation.heading;
        tell(session, TENDON_FEELSPACE_EVENT_ORIENTATION);
    }
    return status;
}

static void take_value(tendon_feelspace_session *session, const tendon_feelspace_parameter *parameter) {
    switch (parameter->kind) {
    case TENDON_FEELSPACE_PARAMETER_MODE:
        take_mode(session, parameter->mode);
        break;
    case TENDON_FEELSPACE_PARAMETER_DEFAULT_INTENSITY:
        if (session->default_intensity != parameter->intensity) {
            session->default_intensity = parameter->intensity;
            tell(session, TENDON_FEELSPACE_EVENT_DEFAULT_INTENSITY);
            tendon_feelspace_handshake_check(session);
        }
        break;
    case TENDON_FEELSPACE_PARAMETER_HEADING_OFFSET:
        if (session->heading_offset != (int16_t)parameter->degrees) {
            session->heading_offset = (int16_t)parameter->degrees;
            tell(session, TENDON_FEELSPACE_EVENT_HEADING_OFFSET);
        }
        break;
    case TENDON_FEELSPACE_PARAMETER_ACCURACY_SIGNAL:
        session->accuracy_state = (int8_t)parameter->accuracy_state;
        tell(session, TENDON_FEELSPACE_EVENT_ACCURACY_SIGNAL);
        break;
    default:
        break;
    }
}

static tendon_status take_parameter(tendon_feelspace_session *session, const uint8_t *data, size_t length,
                                    size_t *offset) {
    tendon_feelspace_parameter parameter;
    uint32_t generation = session->work.generation;
    tendon_status status = tendon_feelspace_decode_parameter(data, length, &parameter, offset);
    if (status >= 0) {
        if (is_connected(session)) {
            tendon_feelspace_event event;
            tendon_feelspace_event_init(&event, TENDON_FEELSPACE_EVENT_PARAMETER, TENDON_OK);
            event.parameter = &parameter;
            tendon_feelspace_emit(session, &event);
        }
        if (session->op.client != NULL && session->work.generation == generation) {
            take_value(session, &parameter);
        }
    } else if (status == TENDON_ERROR_UNSUPPORTED) {
        session->counters.unsupported++;
    } else {
        return status;
    }
    if (session->op.client != NULL && session->work.generation == generation &&
        session->state >= TENDON_FEELSPACE_HANDSHAKE) {
        if (status >= 0 && parameter.kind == TENDON_FEELSPACE_PARAMETER_APP_FRONT_RANGE) {
            tendon_feelspace_patch_answered(session, &parameter);
        }
        tendon_feelspace_slots_answered(session, data);
    }
    return TENDON_OK;
}

static tendon_status take_firmware(tendon_feelspace_session *session, const uint8_t *data, size_t length,
                                   size_t *offset) {
    tendon_status status = tendon_feelspace_decode_firmware(data, length, &session->firmware, offset);
    if (status >= 0) {
        session->has_firmware = true;
        session->work.patching = tendon_feelspace_patch_candidate(&session->firmware) ? FS_PATCH_ASK : FS_PATCH_DONE;
    }
    return status;
}

/* ---- debug ---- */

static tendon_status take_debug(tendon_feelspace_session *session, const uint8_t *data, size_t length, size_t *offset) {
    tendon_feelspace_debug debug;
    tendon_status status = tendon_feelspace_decode_debug(data, length, &debug, offset);
    if (status < 0 || !is_connected(session)) {
        return status;
    }
    emit_packet(session, TENDON_FEELSPACE_EVENT_DEBUG, FS_DEBUG_OUTPUT, status, data, length, 0);
    if (!session->work.logging) {
        return status;
    }
    if (debug.kind == TENDON_FEELSPACE_DEBUG_LOG_HEADER) {
        session->work.log_left = debug.count;
    } else if (debug.kind == TENDON_FEELSPACE_DEBUG_LOG_ENTRY && session->work.log_left > 0) {
        session->work.log_left--;
    }
    if (session->work.log_left == 0) {
        tendon_feelspace_log_end(session, TENDON_OK);
    }
    return status;
}

/* ---- any of them ---- */

tendon_status tendon_feelspace_take(tendon_feelspace_session *session, unsigned which, const uint8_t *data,
                                    size_t length) {
    size_t offset = 0;
    tendon_status status = TENDON_OK;
    switch (which) {
    case FS_FIRMWARE:
        status = take_firmware(session, data, length, &offset);
        break;
    case FS_KEEP_ALIVE:
        status = take_keep_alive(session, data, length, &offset);
        break;
    case FS_BUTTON:
        status = take_button(session, data, length, &offset);
        break;
    case FS_PARAMETER:
        status = take_parameter(session, data, length, &offset);
        break;
    case FS_BATTERY:
        status = take_battery(session, data, length, &offset);
        break;
    case FS_ORIENTATION:
        status = take_orientation(session, data, length, &offset);
        break;
    case FS_DEBUG_OUTPUT:
        status = take_debug(session, data, length, &offset);
        break;
    default:
        break;
    }
    if (status < 0) {
        session->counters.rejected++;
        emit_packet(session, TENDON_FEELSPACE_EVENT_REJECTED, which, status, data, length, offset);
    }
    return status;
}
