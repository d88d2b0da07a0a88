/* SPDX-License-Identifier: MIT */
#include "session.h"

void tendon_grip_rejected(tendon_fjorden_session *s, tendon_fjorden_characteristic which, tendon_status status) {
    s->counters.rejected++;
    tendon_grip_tell(s, TENDON_FJORDEN_SESSION_EVENT_REJECTED, status, (int)which, NULL);
}

/* ---- events ---- */

static void deliver(tendon_fjorden_session *s, const tendon_fjorden_record *record, bool synthesized) {
    s->counters.events++;
    s->manager.leaves =
        s->manager.leaves || record->event == TENDON_FJORDEN_POWERING_OFF || record->event == TENDON_FJORDEN_BOND_RESET;
    tendon_grip_tell(s, TENDON_FJORDEN_SESSION_EVENT_EVENT, TENDON_OK, synthesized, record);
}

void tendon_grip_on_event(void *context, const tendon_gatt_value *value, uint64_t now) {
    tendon_fjorden_session *s = context;
    if (!tendon_grip_enter(s, now)) {
        return;
    }
    tendon_fjorden_records records;
    tendon_fjorden_record record;
    s->counters.notifications++;
    tendon_status status =
        tendon_fjorden_stream_begin(&s->stream, &records, s->config.profile, value->value, value->length);
    if (status < 0) {
        tendon_grip_rejected(s, TENDON_FJORDEN_CHARACTERISTIC_EVENT, status);
    }
    /* The callback may disconnect. */
    while (!s->work.closing && tendon_fjorden_stream_next(&s->stream, &records, &record)) {
        if (record.status < 0) {
            tendon_grip_rejected(s, TENDON_FJORDEN_CHARACTERISTIC_EVENT, record.status);
        } else {
            deliver(s, &record, false);
        }
    }
    if (s->stream.needs_resync && s->kept.found[TENDON_FJORDEN_CHARACTERISTIC_STATE].value != 0) {
        tendon_grip_want(s, FJORDEN_DO_STATE);
        tendon_grip_pump(s);
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
        tendon_grip_rejected(s, TENDON_FJORDEN_CHARACTERISTIC_STATE, status);
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
    for (size_t i = 0; i < count && !s->work.closing; i++) {
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
    s->work.wanted &= (uint16_t) ~(1u << FJORDEN_DO_COMMAND);
    tendon_grip_tell(s, TENDON_FJORDEN_SESSION_EVENT_RESPONSE, status, 0, response);
}

void tendon_grip_on_response(void *context, const tendon_gatt_value *value, uint64_t now) {
    tendon_fjorden_session *s = context;
    if (!tendon_grip_enter(s, now)) {
        return;
    }
    tendon_fjorden_response response;
    tendon_status status = tendon_fjorden_decode_response(value->value, value->length, &response);
    bool whole = status != TENDON_FJORDEN_ERROR_SHORT && status != TENDON_FJORDEN_ERROR_NOT_A_RESPONSE;
    bool ours = whole && s->work.requested && (value->value[0] & 0x7F) == s->work.opcode &&
                value->value[1] == s->work.request_id;
    if (status < 0) {
        tendon_grip_rejected(s, TENDON_FJORDEN_CHARACTERISTIC_CONTROL, status);
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

static tendon_status take_level(tendon_fjorden_session *s, const uint8_t *data, size_t length) {
    tendon_status level = tendon_fjorden_decode_battery(data, length);
    if (level < 0) {
        tendon_grip_rejected(s, TENDON_FJORDEN_CHARACTERISTIC_BATTERY, level);
        return level;
    }
    s->level = (uint8_t)level;
    s->has_level = true;
    tendon_grip_tell(s, TENDON_FJORDEN_SESSION_EVENT_BATTERY, TENDON_OK, level, NULL);
    return TENDON_OK;
}

void tendon_grip_battery_failed(tendon_fjorden_session *s, tendon_status cause) {
    tendon_grip_tell(s, TENDON_FJORDEN_SESSION_EVENT_BATTERY, TENDON_FJORDEN_ERROR_NO_BATTERY_INFO, cause, NULL);
}

void tendon_grip_on_battery(void *context, const tendon_gatt_value *value, uint64_t now) {
    tendon_fjorden_session *s = context;
    if (tendon_grip_enter(s, now)) {
        (void)take_level(s, value->value, value->length);
    }
}

void tendon_grip_take_battery(tendon_fjorden_session *s, const tendon_gatt_result *result) {
    tendon_status status = result->status;
    if (status >= 0) {
        status = take_level(s, result->value, result->length);
    }
    if (status < 0) {
        tendon_grip_battery_failed(s, status);
    }
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
    tendon_grip_tell(s, TENDON_FJORDEN_SESSION_EVENT_INFO,
                     s->work.info_read ? TENDON_OK : TENDON_FJORDEN_ERROR_NO_GRIP_INFO, 0, NULL);
}
