/* SPDX-License-Identifier: MIT */
#include "session_parts.h"
#include "tendon/base/packed.h"

bool tendon_bose_is_open(const tendon_bose_session *session) {
    return session->state == TENDON_BOSE_OPEN || session->state == TENDON_BOSE_SUSPENDED;
}

bool tendon_bose_is_opening(const tendon_bose_session *session) {
    return session->state >= TENDON_BOSE_CONNECTING && session->state <= TENDON_BOSE_STARTING;
}

const char *tendon_bose_state_name(tendon_bose_state state) {
    return tendon_packed_name("closed\0connecting\0discovering\0reading_information\0waiting_pairing_mode\0bonding\0"
                              "starting\0open\0suspended\0closing",
                              TENDON_BOSE_STATE_COUNT, state);
}

/* ---- events ---- */

void tendon_bose_emit(tendon_bose_session *session, tendon_bose_event *event) {
    event->received_at = tendon_operation_received_at(&session->op);
    session->config.on_event(session->config.context, event, session->op.now);
}

void tendon_bose_emit_kind(tendon_bose_session *session, tendon_bose_event_kind kind, tendon_status status) {
    tendon_bose_event event = {.kind = kind, .status = status};
    tendon_bose_emit(session, &event);
}

/* ---- operations ---- */

tendon_bose_session *tendon_bose_session_of(void *context) {
    struct tendon_bose_tag *tag = context;
    tendon_bose_session *session = tag->session;
    if (tag != session->op.context || session->op.client == NULL) {
        session->counters.illegal_inputs++;
        return NULL;
    }
    return session;
}

bool tendon_bose_link_went(tendon_status status) {
    if (status >= 0) {
        return false;
    }
    switch (TENDON_STATUS_LAYER(status)) {
    case TENDON_LAYER_HCI:
    case TENDON_LAYER_L2CAP:
    case TENDON_LAYER_MANAGEMENT:
    case TENDON_LAYER_RADIO:
    case TENDON_LAYER_SYSTEM:
        return true;
    default:
        return status == TENDON_ERROR_DISCONNECTED || status == TENDON_ERROR_CANCELLED ||
               status == TENDON_GATT_ERROR_TRANSACTION_TIMEOUT;
    }
}

void tendon_bose_read(tendon_bose_session *session, uint8_t operation, uint16_t handle) {
    tendon_operation_start(&session->op, operation, TENDON_OPERATION_READ_LONG, handle, NULL, 0);
}

/* ---- the end of an opening ---- */

void tendon_bose_disconnect(tendon_bose_session *session) {
    session->work.disconnecting = true;
    session->work.deadline = session->op.now + TENDON_BOSE_OPERATION_TIMEOUT_MS;
    session->config.link.disconnect(session->config.link.context);
}

bool tendon_bose_is_paused(const tendon_bose_session *session) {
    return session->state == TENDON_BOSE_WAITING_PAIRING_MODE || session->state == TENDON_BOSE_BONDING;
}

void tendon_bose_fail_open(tendon_bose_session *session, tendon_status status) {
    bool prompting = tendon_bose_is_paused(session);
    session->state = TENDON_BOSE_CLOSING;
    session->work.opening = true;
    session->work.outcome = status;
    if (prompting) {
        tendon_bose_emit_kind(session, TENDON_BOSE_EVENT_PAIRING_FINISHED, status);
    }
    tendon_bose_disconnect(session);
}

void tendon_bose_fail_operation(tendon_bose_session *session, tendon_status status) {
    if (status == TENDON_ATT_ERROR(TENDON_ATT_DATABASE_OUT_OF_SYNC)) {
        status = TENDON_BOSE_ERROR_REFRESH_REQUIRED;
    }
    tendon_bose_fail_open(session, tendon_bose_status_from_att(status));
}

void tendon_bose_go_to(tendon_bose_session *session, uint8_t step) {
    session->work.step = step;
    session->work.index = 0;
}
