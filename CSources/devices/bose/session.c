/* SPDX-License-Identifier: MIT */
#include "session_parts.h"

#define IN(state) (1u << TENDON_BOSE_##state)
#define IN_OPENING                                                                                                     \
    (IN(CONNECTING) | IN(DISCOVERING) | IN(READING_INFORMATION) | IN(WAITING_PAIRING_MODE) | IN(BONDING) | IN(STARTING))

/* ---- which input is legal in which state ---- */

typedef enum input {
    INPUT_OPEN,
    INPUT_CLOSE,
    INPUT_CONNECTED,
    INPUT_DISCONNECTED,
    INPUT_PAIRED,
    INPUT_CONFIGURE,
    INPUT_COUNT
} input;

static bool admit(tendon_bose_session *session, input what) {
    static const uint16_t legal[INPUT_COUNT] = {
        [INPUT_OPEN] = IN(CLOSED),          [INPUT_CLOSE] = IN_OPENING | IN(OPEN) | IN(SUSPENDED) | IN(CLOSING),
        [INPUT_CONNECTED] = IN(CONNECTING), [INPUT_DISCONNECTED] = IN_OPENING | IN(OPEN) | IN(SUSPENDED) | IN(CLOSING),
        [INPUT_PAIRED] = IN(BONDING),       [INPUT_CONFIGURE] = IN(OPEN) | IN(SUSPENDED),
    };
    if ((legal[what] >> session->state & 1u) != 0) {
        return true;
    }
    session->counters.illegal_inputs++;
    return false;
}

/* ---- events ---- */

static void emit_open_failed(tendon_bose_session *session, tendon_status status) {
    tendon_bose_event event = {.kind = TENDON_BOSE_EVENT_OPEN_FAILED, .status = status};
    if (session->work.missing_service != 0) {
        event.service_uuid =
            tendon_uuid_from_u16(session->work.missing_service == 1 ? TENDON_BOSE_SERVICE : BOSE_DEVICE_SERVICE);
    }
    if (session->work.missing_characteristic != 0) {
        event.characteristic_uuid =
            tendon_bose_uuid((tendon_bose_characteristic)(session->work.missing_characteristic - 1));
    }
    if (status == TENDON_BOSE_ERROR_INTENTS_CHECK_FAILED) {
        event.intents = &session->intents;
    }
    tendon_bose_emit(session, &event);
}

/* ---- operations ---- */

/* Starts the next operation, if one is pending and none is outstanding: at the end of each input. */
static void pump(tendon_bose_session *session) {
    if (session->op.client == NULL || session->op.kind != BOSE_IDLE) {
        return;
    }
    if (session->state == TENDON_BOSE_CLOSING) {
        tendon_bose_closing_pump(session);
    } else if (session->op.client->closed) {
        return; /* disconnected() follows, and what is pending fails then: a callback that repeats it now never ends */
    } else if (tendon_bose_is_open(session)) {
        tendon_bose_work_pump(session);
    } else {
        tendon_bose_opening_pump(session);
    }
}

static void done(void *context, const tendon_gatt_result *result) {
    tendon_bose_session *session = tendon_bose_session_of(context);
    if (session == NULL) {
        return;
    }
    uint8_t operation = tendon_operation_ended(&session->op, result);
    if (operation == BOSE_IDLE) {
        session->counters.illegal_inputs += !session->op.call.repeated;
        return;
    }
    bool went = tendon_bose_link_went(result->status);
    bool write = operation == BOSE_WRITE_SENSORS || operation == BOSE_WRITE_GESTURES;
    if (went && !write) {
        return; /* disconnected() reports the end */
    }
    if (operation == BOSE_OPENING) {
        tendon_bose_opening_done(session, result);
    } else if (operation == BOSE_WAITING) {
        tendon_bose_waiting_done(session, result);
    } else {
        tendon_bose_work_done(session, operation, result);
    }
    if (!went) {
        pump(session);
    }
}

static void on_value(void *context, const tendon_gatt_value *value, uint64_t now) {
    tendon_bose_session *session = tendon_bose_session_of(context);
    if (session == NULL) {
        return;
    }
    session->op.now = now;
    size_t which = tendon_profile_row_of(session->kept.found, TENDON_BOSE_CHARACTERISTIC_COUNT, value->handle);
    if (session->state == TENDON_BOSE_WAITING_PAIRING_MODE && which == TENDON_BOSE_DEVICE_INFORMATION) {
        tendon_bose_waiting_take(session, value->value, value->length);
    } else {
        tendon_bose_notified(session, which, value);
    }
    if (which != TENDON_BOSE_SENSOR_DATA && which != TENDON_BOSE_GESTURE_DATA) {
        pump(session);
    }
}

static void on_discovered(void *context, tendon_status status, size_t row, uint64_t now) {
    tendon_bose_session *session = tendon_bose_session_of(context);
    if (session == NULL) {
        return;
    }
    session->op.now = now;
    tendon_operation_reset(&session->op);
    if (!tendon_bose_link_went(status) && session->state == TENDON_BOSE_DISCOVERING) {
        tendon_bose_discovered(session, status, row);
        pump(session);
    } /* else disconnected() reports the end */
}

static const tendon_operation_rules rules = {.done = done,
                                             .value = on_value,
                                             .discovered = on_discovered,
                                             .limit = TENDON_BOSE_OPERATION_TIMEOUT_MS,
                                             .capacity = TENDON_BOSE_VALUE_MAX};

/* ---- why a link ended ---- */

/* Core Spec Vol 1 Part F: reasons that a controller reports for a disconnected peer. */
enum { HCI_CONNECTION_TIMEOUT = 0x08, HCI_LMP_TIMEOUT = 0x22, HCI_NOT_ESTABLISHED = 0x3E };

static bool is_out_of_range(tendon_status reason) {
    return reason == TENDON_RADIO_ERROR_OUT_OF_RANGE || reason == TENDON_HCI_ERROR(HCI_CONNECTION_TIMEOUT) ||
           reason == TENDON_HCI_ERROR(HCI_LMP_TIMEOUT) || reason == TENDON_HCI_ERROR(HCI_NOT_ESTABLISHED) ||
           reason == TENDON_GATT_ERROR_TRANSACTION_TIMEOUT;
}

static tendon_status reason_to_status(const tendon_bose_session *session, tendon_status reason) {
    if (is_out_of_range(reason)) {
        return TENDON_BOSE_ERROR_DEVICE_OUT_OF_RANGE;
    }
    if (session->state == TENDON_BOSE_CONNECTING) {
        bool none = reason == TENDON_ERROR_TIMEOUT || reason == TENDON_ERROR_NOT_FOUND ||
                    reason == TENDON_ERROR_DISCONNECTED || reason == TENDON_RADIO_ERROR_PEER_CLOSED;
        return none ? TENDON_BOSE_ERROR_DEVICE_NOT_FOUND : reason;
    }
    if (reason == TENDON_ERROR_TIMEOUT) {
        return TENDON_BOSE_ERROR_DEVICE_OUT_OF_RANGE;
    }
    /* An error of the adapter or the system takes precedence over a reason of the device. */
    bool own = reason == TENDON_ERROR_CANCELLED || TENDON_STATUS_LAYER(reason) == TENDON_LAYER_MANAGEMENT ||
               (TENDON_STATUS_LAYER(reason) == TENDON_LAYER_RADIO && reason != TENDON_RADIO_ERROR_PEER_CLOSED);
    return own ? reason : TENDON_BOSE_ERROR_DISCONNECTED_BY_DEVICE;
}

static void finish(tendon_bose_session *session, tendon_status status, bool opening) {
    bool prompting = tendon_bose_is_paused(session);
    session->state = TENDON_BOSE_CLOSING; /* no callback opens the session before its end is reported */
    if (prompting) {
        tendon_bose_emit_kind(session, TENDON_BOSE_EVENT_PAIRING_FINISHED, status);
    }
    tendon_bose_drop_writes(session, status < 0 ? status : TENDON_ERROR_CANCELLED, true);
    if (session->op.kind == BOSE_DISCOVERY) {
        tendon_profile_cancel(&session->kept.scratch.discovery, session->op.now);
    }
    session->op.client = NULL;
    tendon_operation_reset(&session->op);
    session->state = TENDON_BOSE_CLOSED;
    if (opening) {
        emit_open_failed(session, status);
    } else {
        tendon_bose_emit_kind(session, TENDON_BOSE_EVENT_CLOSED, status);
    }
}

/* ---- inputs from the link ---- */

static void on_connected(void *context, tendon_gatt_client *client, uint64_t now) {
    tendon_bose_session *session = context;
    session->op.now = now;
    if (!admit(session, INPUT_CONNECTED)) {
        return;
    }
    session->op.client = client;
    session->state = TENDON_BOSE_DISCOVERING;
    tendon_bose_go_to(session, BOSE_STEP_MTU);
    pump(session);
}

static void on_disconnected(void *context, tendon_status reason, uint64_t now) {
    tendon_bose_session *session = context;
    session->op.now = now;
    if (!admit(session, INPUT_DISCONNECTED)) {
        return;
    }
    if (session->state == TENDON_BOSE_CLOSING) {
        finish(session, session->work.outcome, session->work.opening);
        return;
    }
    tendon_status status = reason_to_status(session, reason);
    if (tendon_bose_is_opening(session)) {
        finish(session, status, true);
    } else {
        /* Disconnected by this side, but not by tendon_bose_session_close(): also counts as requested. */
        finish(session, status == TENDON_ERROR_CANCELLED ? TENDON_OK : status, false);
    }
}

static void on_paired(void *context, tendon_status status, uint64_t now) {
    tendon_bose_session *session = context;
    session->op.now = now;
    if (admit(session, INPUT_PAIRED)) {
        tendon_bose_opening_paired(session, status);
        pump(session);
    }
}

static void closing_tick(tendon_bose_session *session, uint64_t now) {
    if (session->work.disconnecting && now >= session->work.deadline) {
        finish(session, session->work.outcome, session->work.opening);
    }
}

static void on_tick(void *context, uint64_t now) {
    tendon_bose_session *session = context;
    session->op.now = now;
    if (session->state == TENDON_BOSE_CLOSING) {
        closing_tick(session, now);
    } else if (session->state == TENDON_BOSE_CONNECTING && now >= session->work.deadline) {
        tendon_bose_fail_open(session, TENDON_BOSE_ERROR_DEVICE_NOT_FOUND);
    } else if (session->state == TENDON_BOSE_BONDING && now >= session->work.deadline) {
        tendon_bose_opening_pair(session);
    } else if (tendon_bose_is_opening(session) && !tendon_bose_is_paused(session) && now >= session->open_deadline) {
        tendon_bose_fail_open(session, TENDON_ERROR_TIMEOUT);
    }
}

static uint64_t deadline_of(const void *context) {
    const tendon_bose_session *session = context;
    if (session->state == TENDON_BOSE_CONNECTING || session->state == TENDON_BOSE_BONDING ||
        session->state == TENDON_BOSE_CLOSING) {
        return session->work.deadline;
    }
    return tendon_bose_is_opening(session) && !tendon_bose_is_paused(session) ? session->open_deadline : UINT64_MAX;
}

const tendon_session_inputs tendon_bose_session_inputs = {
    .connected = on_connected,
    .disconnected = on_disconnected,
    .paired = on_paired,
    .tick = on_tick,
    .deadline = deadline_of,
    .pairs = true,
};

/* ---- calls of the program ---- */

tendon_status tendon_bose_session_init(tendon_bose_session *session, const tendon_bose_session_config *config) {
    if (config->on_event == NULL || config->link.connect == NULL || config->link.disconnect == NULL) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    memset(session, 0, sizeof *session);
    session->config = *config;
    if (config->intent != NULL) {
        session->intent = *config->intent;
        session->has_intent = true;
        session->config.intent = NULL; /* copied: the caller may free its memory */
    }
    session->op.rules = &rules;
    session->op.buffer = session->kept.scratch.value;
    return TENDON_OK;
}

tendon_status tendon_bose_session_open(tendon_bose_session *session, uint64_t now) {
    if (!admit(session, INPUT_OPEN)) {
        return TENDON_ERROR_WRONG_STATE;
    }
    session->generation++;
    session->op.now = now;
    memset(&session->work, 0, sizeof session->work);
    memset(&session->kept, 0, sizeof session->kept);
    session->op.context = &session->work.tags[session->generation & 1u];
    session->work.tags[0].session = session->work.tags[1].session = session;
    session->clock.started = false;
    tendon_clock_reconnected(&session->model);
    session->work.deadline = now + TENDON_BOSE_CONNECT_TIMEOUT_MS;
    session->open_deadline = now + TENDON_BOSE_OPEN_TIMEOUT_MS;
    session->state = TENDON_BOSE_CONNECTING;
    tendon_status status = session->config.link.connect(session->config.link.context);
    if (status < 0) {
        session->state = TENDON_BOSE_CLOSED;
    }
    return status < 0 ? status : TENDON_OK;
}

tendon_status tendon_bose_session_close(tendon_bose_session *session, uint64_t now) {
    if (!admit(session, INPUT_CLOSE)) {
        return TENDON_ERROR_WRONG_STATE;
    }
    session->op.now = now;
    if (tendon_bose_is_opening(session)) {
        tendon_bose_fail_open(session, TENDON_ERROR_CANCELLED);
    } else if (session->state != TENDON_BOSE_CLOSING) {
        session->state = TENDON_BOSE_CLOSING;
        session->work.deadline = now + TENDON_BOSE_OPERATION_TIMEOUT_MS;
        tendon_bose_drop_writes(session, TENDON_ERROR_CANCELLED, false);
        pump(session);
    }
    return TENDON_OK;
}

static bool same_sensors(const tendon_bose_sensor_configuration *a, const tendon_bose_sensor_configuration *b) {
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++) {
        same = a->settings[i].sensor_id == b->settings[i].sensor_id;
    }
    return same;
}

static bool same_gestures(const tendon_bose_gesture_configuration *a, const tendon_bose_gesture_configuration *b) {
    bool same = a->count == b->count && a->length == b->length;
    for (size_t i = 0; same && i < a->count; i++) {
        same = a->entries[i].gesture_id == b->entries[i].gesture_id;
    }
    return same;
}

static uint16_t next_number(tendon_bose_session *session) {
    session->configurations = (uint16_t)(session->configurations % UINT16_MAX + 1);
    return session->configurations;
}

tendon_status tendon_bose_session_configure_sensors(tendon_bose_session *session,
                                                    const tendon_bose_sensor_configuration *configuration,
                                                    uint64_t now) {
    if (!admit(session, INPUT_CONFIGURE)) {
        return TENDON_ERROR_WRONG_STATE;
    }
    session->op.now = now;
    if (!session->has_sensor_configuration) {
        return TENDON_BOSE_ERROR_MISSING_REQUIRED_DATA;
    }
    if (!same_sensors(configuration, &session->sensor_configuration)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_status length = tendon_bose_encode_sensor_configuration(configuration, session->kept.sensor_next,
                                                                   sizeof session->kept.sensor_next);
    if (length < 0) {
        return length;
    }
    session->work.sensor_next_length = (uint16_t)length;
    session->work.sensor_number = next_number(session);
    session->work.pending |= BOSE_DO_WRITE_SENSORS;
    pump(session);
    return TENDON_OK;
}

tendon_status tendon_bose_session_enable(tendon_bose_session *session, uint8_t sensor_id, uint16_t period_ms,
                                         uint64_t now) {
    tendon_bose_sensor_configuration changed = session->sensor_configuration;
    tendon_status status = TENDON_OK;
    if (session->has_sensor_configuration) {
        status =
            tendon_bose_enable_sensor(&changed, sensor_id, period_ms, session->has_sensors ? &session->sensors : NULL);
    }
    return status < 0 ? status : tendon_bose_session_configure_sensors(session, &changed, now);
}

tendon_status tendon_bose_session_configure_gestures(tendon_bose_session *session,
                                                     const tendon_bose_gesture_configuration *configuration,
                                                     uint64_t now) {
    if (!admit(session, INPUT_CONFIGURE)) {
        return TENDON_ERROR_WRONG_STATE;
    }
    session->op.now = now;
    if (!session->has_gesture_configuration) {
        return TENDON_BOSE_ERROR_MISSING_REQUIRED_DATA;
    }
    if (!same_gestures(configuration, &session->gesture_configuration)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_status length = tendon_bose_encode_gesture_configuration(configuration, session->kept.gesture_next,
                                                                    sizeof session->kept.gesture_next);
    if (length < 0) {
        return length;
    }
    session->work.gesture_next_length = (uint16_t)length;
    session->work.gesture_number = next_number(session);
    session->work.pending |= BOSE_DO_WRITE_GESTURES;
    pump(session);
    return TENDON_OK;
}

tendon_status tendon_bose_session_refresh(tendon_bose_session *session, tendon_bose_characteristic which,
                                          uint64_t now) {
    if ((unsigned)which >= TENDON_BOSE_CHARACTERISTIC_COUNT || which == TENDON_BOSE_SENSOR_DATA ||
        which == TENDON_BOSE_GESTURE_DATA) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    if (!admit(session, INPUT_CONFIGURE)) {
        return TENDON_ERROR_WRONG_STATE;
    }
    session->op.now = now;
    session->work.pending |= (uint32_t)BOSE_DO_REFRESH << which;
    pump(session);
    return TENDON_OK;
}

tendon_status tendon_bose_session_refresh_strings(tendon_bose_session *session, uint64_t now) {
    uint32_t rows = 0;
    if (!admit(session, INPUT_CONFIGURE)) {
        return TENDON_ERROR_WRONG_STATE;
    }
    for (size_t row = BOSE_STRING_ROW; row < BOSE_ROWS; row++) {
        rows |= session->kept.found[row].value != 0 ? (uint32_t)BOSE_DO_REFRESH << row : 0;
    }
    session->op.now = now;
    session->work.pending |= rows;
    pump(session);
    return rows != 0 ? TENDON_OK : TENDON_ERROR_NOT_FOUND;
}
