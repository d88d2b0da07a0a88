/* SPDX-License-Identifier: MIT */
#include "session_parts.h"

void tendon_grip_emit(tendon_fjorden_session *s, tendon_fjorden_session_event_kind kind, tendon_status status,
                      int detail, const void *what) {
    tendon_fjorden_session_event notice = {
        .kind = kind, .status = status, .received_at = tendon_operation_received_at(&s->engine.op)};
    switch (kind) {
    case TENDON_FJORDEN_SESSION_EVENT_OUTPUT:
    case TENDON_FJORDEN_SESSION_EVENT_TARGET:
        notice.output = what;
        break;
    case TENDON_FJORDEN_SESSION_EVENT_EVENT:
        notice.record = what;
        notice.synthesized = detail != 0;
        break;
    case TENDON_FJORDEN_SESSION_EVENT_RESPONSE:
        notice.response = what;
        break;
    case TENDON_FJORDEN_SESSION_EVENT_BATTERY:
        notice.level = (uint8_t)(status < 0 ? 0 : detail);
        notice.cause = status < 0 ? detail : TENDON_OK;
        break;
    default:
        notice.characteristic = (tendon_fjorden_characteristic)detail;
        break;
    }
    s->config.on_event(s->config.context, &notice, s->engine.op.now);
}

static void reject(tendon_fjorden_session *s, tendon_fjorden_characteristic which, tendon_status status) {
    s->counters.rejected++;
    tendon_grip_emit(s, TENDON_FJORDEN_SESSION_EVENT_REJECTED, status, (int)which, NULL);
}

/* ---- events ---- */

static void deliver(tendon_fjorden_session *s, const tendon_fjorden_record *record, bool synthesized) {
    s->counters.events++;
    s->manager.leaves =
        s->manager.leaves || record->event == TENDON_FJORDEN_POWERING_OFF || record->event == TENDON_FJORDEN_BOND_RESET;
    tendon_grip_emit(s, TENDON_FJORDEN_SESSION_EVENT_EVENT, TENDON_OK, synthesized, record);
}

void tendon_grip_take_events(tendon_fjorden_session *s, const uint8_t *data, size_t length) {
    tendon_fjorden_records records;
    tendon_fjorden_record record;
    s->counters.notifications++;
    tendon_status status = tendon_fjorden_stream_begin(&s->stream, &records, s->config.profile, data, length);
    if (status < 0) {
        reject(s, TENDON_FJORDEN_CHARACTERISTIC_EVENT, status);
    }
    /* The callback may disconnect. */
    while (tendon_engine_is_up(&s->engine) && tendon_fjorden_stream_next(&s->stream, &records, &record)) {
        if (record.status < 0) {
            reject(s, TENDON_FJORDEN_CHARACTERISTIC_EVENT, record.status);
        } else {
            deliver(s, &record, false);
        }
    }
}

void tendon_grip_take_state(tendon_fjorden_session *s, const tendon_gatt_result *result) {
    tendon_fjorden_control_state state = {0}; /* at rest */
    tendon_status status = result->status;
    bool carried = s->work.carried;
    s->work.carried = false;
    if (status >= 0) {
        status = tendon_fjorden_decode_control_state(result->value, result->length, &state);
    }
    if (status < 0 && s->kept.found[TENDON_FJORDEN_CHARACTERISTIC_STATE].value != 0) {
        reject(s, TENDON_FJORDEN_CHARACTERISTIC_STATE, status);
    }
    if (status < 0 && !carried) {
        s->stream.needs_resync = false; /* one try for each loss */
        return;
    }
    if (status < 0) { /* what was down before the connection was lost may have been released: it must not stay down */
        memset(&state, 0, sizeof state);
    }
    uint8_t events[2];
    size_t count = tendon_fjorden_stream_resync(&s->stream, &state, events);
    s->counters.resyncs += status >= 0;
    for (size_t i = 0; i < count && tendon_engine_is_up(&s->engine); i++) {
        tendon_fjorden_record record = {.event = events[i], .count = 1, .time_ms = s->stream.time_ms};
        deliver(s, &record, true);
    }
}

/* ---- control point ---- */

void tendon_grip_end_request(tendon_fjorden_session *s, tendon_status status, const tendon_fjorden_response *response) {
    if (!s->work.requested) {
        return;
    }
    s->work.requested = false;
    s->work.wanted &= (uint8_t) ~(1u << FJORDEN_DO_COMMAND);
    tendon_grip_emit(s, TENDON_FJORDEN_SESSION_EVENT_RESPONSE, status, 0, response);
}

void tendon_grip_take_response(tendon_fjorden_session *s, const uint8_t *data, size_t length) {
    tendon_fjorden_response response;
    tendon_status status = tendon_fjorden_decode_response(data, length, &response);
    bool whole = status != TENDON_FJORDEN_ERROR_SHORT && status != TENDON_FJORDEN_ERROR_NOT_A_RESPONSE;
    bool ours = whole && s->work.requested && (data[0] & 0x7F) == s->work.opcode && data[1] == s->work.request_id;
    if (status < 0) {
        reject(s, TENDON_FJORDEN_CHARACTERISTIC_CONTROL, status);
    } else if (!ours) {
        s->counters.strays++;
    }
    if (ours) {
        bool goes = s->work.opcode == TENDON_FJORDEN_POWER_OFF || s->work.opcode == TENDON_FJORDEN_CLEAR_BOND;
        s->manager.leaves = s->manager.leaves || (goes && status >= 0 && response.status == 0);
        tendon_grip_end_request(s, status, status < 0 ? NULL : &response);
    }
}

/* ---- battery ---- */

tendon_status tendon_grip_take_level(tendon_fjorden_session *s, const uint8_t *data, size_t length) {
    tendon_status level = tendon_fjorden_decode_battery(data, length);
    if (level < 0) {
        reject(s, TENDON_FJORDEN_CHARACTERISTIC_BATTERY, level);
        return level;
    }
    s->level = (uint8_t)level;
    s->has_level = true;
    tendon_grip_emit(s, TENDON_FJORDEN_SESSION_EVENT_BATTERY, TENDON_OK, level, NULL);
    return TENDON_OK;
}

void tendon_grip_battery_failed(tendon_fjorden_session *s, tendon_status cause) {
    tendon_grip_emit(s, TENDON_FJORDEN_SESSION_EVENT_BATTERY, TENDON_FJORDEN_ERROR_NO_BATTERY_INFO, cause, NULL);
}

/* ---- texts ---- */

/* A string is empty if it contains bytes that tendon_ad_text() would replace. */
void tendon_grip_take_text(tendon_fjorden_session *s, unsigned text, const uint8_t *data, size_t length) {
    while (length > 0 && data[length - 1] == 0) {
        length--;
    }
    char *out = s->info.strings[text];
    size_t shown = tendon_ad_text(data, length, out, TENDON_FJORDEN_STRING_SIZE);
    s->info.present[text] = shown == length && memcmp(out, data, length) == 0;
    if (!s->info.present[text]) {
        out[0] = '\0';
    }
}

void tendon_grip_info_read(tendon_fjorden_session *s) {
    s->has_info = s->work.info_read;
    tendon_grip_emit(s, TENDON_FJORDEN_SESSION_EVENT_INFO,
                     s->work.info_read ? TENDON_OK : TENDON_FJORDEN_ERROR_NO_GRIP_INFO, 0, NULL);
}
