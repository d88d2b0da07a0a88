/* SPDX-License-Identifier: MIT */
#include "../rows.h"
#include "session_parts.h"

/* ---- characteristics ---- */

enum { REQUIRED = TENDON_PROFILE_REQUIRED, CCCD = TENDON_PROFILE_CCCD };

/* In the order of FS_FIRMWARE ... */
static const struct {
    uint16_t service, uuid;
    uint8_t flags;
} rows[TENDON_FEELSPACE_CHARACTERISTIC_COUNT] = {
    {TENDON_FEELSPACE_CONTROL_SERVICE, TENDON_FEELSPACE_FIRMWARE_INFO, REQUIRED},
    {TENDON_FEELSPACE_CONTROL_SERVICE, TENDON_FEELSPACE_KEEP_ALIVE, REQUIRED | CCCD},
    {TENDON_FEELSPACE_CONTROL_SERVICE, TENDON_FEELSPACE_VIBRATION_COMMAND, REQUIRED},
    {TENDON_FEELSPACE_CONTROL_SERVICE, TENDON_FEELSPACE_BUTTON_PRESS, REQUIRED | CCCD},
    {TENDON_FEELSPACE_CONTROL_SERVICE, TENDON_FEELSPACE_PARAMETER_REQUEST, REQUIRED},
    {TENDON_FEELSPACE_CONTROL_SERVICE, TENDON_FEELSPACE_PARAMETER_NOTIFICATION, REQUIRED | CCCD},
    {TENDON_FEELSPACE_CONTROL_SERVICE, TENDON_FEELSPACE_BUZZER_COMMAND, 0},
    {TENDON_FEELSPACE_CONTROL_SERVICE, TENDON_FEELSPACE_BATTERY_STATUS, REQUIRED | CCCD},
    {TENDON_FEELSPACE_SENSOR_SERVICE, TENDON_FEELSPACE_ORIENTATION_DATA, REQUIRED | CCCD},
    {TENDON_FEELSPACE_DEBUG_SERVICE, TENDON_FEELSPACE_DEBUG_INPUT, 0},
    {TENDON_FEELSPACE_DEBUG_SERVICE, TENDON_FEELSPACE_DEBUG_OUTPUT, CCCD},
};

tendon_feelspace_characteristic tendon_feelspace_uuid(unsigned which) {
    return (tendon_feelspace_characteristic)rows[which].uuid;
}

uint8_t tendon_feelspace_row(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic) {
    (void)context;
    *service = tendon_uuid_from_u16(rows[row].service);
    *characteristic = tendon_uuid_from_u16(rows[row].uuid);
    return rows[row].flags;
}

bool tendon_feelspace_is_required(unsigned which) {
    return (rows[which].flags & REQUIRED) != 0;
}

/* ---- events ---- */

void tendon_feelspace_event_init(tendon_feelspace_event *event, tendon_feelspace_event_kind kind,
                                 tendon_status status) {
    memset(event, 0, sizeof *event); /* an initializer leaves the rest of a union alone */
    event->kind = kind;
    event->status = status;
}

void tendon_feelspace_emit(tendon_feelspace_session *session, tendon_feelspace_event *event) {
    event->received_at = tendon_operation_received_at(&session->op);
    session->config.on_event(session->config.context, event, session->op.now);
}

void tendon_feelspace_emit_kind(tendon_feelspace_session *session, tendon_feelspace_event_kind kind,
                                tendon_status status) {
    tendon_feelspace_event event;
    tendon_feelspace_event_init(&event, kind, status);
    tendon_feelspace_emit(session, &event);
}

void tendon_feelspace_tell(tendon_feelspace_session *session, tendon_feelspace_state previous,
                           tendon_feelspace_connection_event event, tendon_feelspace_connection_error error,
                           tendon_status status) {
    tendon_feelspace_event told;
    tendon_feelspace_event_init(&told, TENDON_FEELSPACE_EVENT_STATE, status);
    told.connection.previous = previous;
    told.connection.state = session->state;
    told.connection.event = event;
    told.connection.error = error;
    tendon_feelspace_emit(session, &told);
}

void tendon_feelspace_go(tendon_feelspace_session *session, tendon_feelspace_state state,
                         tendon_feelspace_connection_event event) {
    tendon_feelspace_state previous = session->state;
    session->state = state;
    tendon_feelspace_tell(session, previous, event, TENDON_FEELSPACE_NO_ERROR, TENDON_OK);
}

void tendon_feelspace_log_end(tendon_feelspace_session *session, tendon_status status) {
    if (session->work.logging) {
        session->work.logging = false;
        tendon_feelspace_emit_kind(session, TENDON_FEELSPACE_EVENT_LOG_FINISHED, status);
    }
}

/* ---- operations ---- */

void tendon_feelspace_write(tendon_feelspace_session *session, uint8_t operation, unsigned which, const uint8_t *bytes,
                            size_t length) {
    tendon_operation_start(&session->op, operation, TENDON_OPERATION_WRITE, session->kept.found[which].value, bytes,
                           length);
}

void tendon_feelspace_subscribe(tendon_feelspace_session *session, uint8_t operation, unsigned which) {
    tendon_operation_subscribe(&session->op, operation, &session->kept.found[which], false);
}

/* ---- why ---- */

tendon_feelspace_connection_error tendon_feelspace_adapter_error(tendon_feelspace_adapter adapter) {
    static const uint8_t errors[] = {TENDON_FEELSPACE_NO_ERROR, TENDON_FEELSPACE_BT_POWERED_OFF,
                                     TENDON_FEELSPACE_BT_UNSUPPORTED, TENDON_FEELSPACE_BT_UNAUTHORIZED,
                                     TENDON_FEELSPACE_NO_ERROR};
    return (tendon_feelspace_connection_error)errors[adapter];
}

tendon_feelspace_connection_error tendon_feelspace_radio_error(tendon_status status) {
    enum { HCI_CONNECTION_LIMIT = 0x09 }; /* Core Spec Vol 1 Part F */
    switch (status) {
    case TENDON_RADIO_ERROR_ADAPTER_DOWN:
    case TENDON_RADIO_ERROR_RFKILL:
        return TENDON_FEELSPACE_BT_POWERED_OFF;
    case TENDON_RADIO_ERROR_NO_CAP_NET_RAW:
        return TENDON_FEELSPACE_BT_UNAUTHORIZED;
    case TENDON_RADIO_ERROR_NO_ADAPTER:
    case TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT:
        return TENDON_FEELSPACE_BT_UNSUPPORTED;
    case TENDON_ERROR_TIMEOUT:
        return TENDON_FEELSPACE_CONNECTION_TIMEOUT;
    case TENDON_HCI_ERROR(HCI_CONNECTION_LIMIT):
        return TENDON_FEELSPACE_CONNECTION_LIMIT_REACHED;
    default:
        return TENDON_FEELSPACE_CONNECTION_REFUSED;
    }
}

tendon_feelspace_connection_error tendon_feelspace_why_down(const tendon_feelspace_session *session,
                                                            tendon_status reason) {
    tendon_feelspace_connection_error of_adapter =
        tendon_feelspace_adapter_error((tendon_feelspace_adapter)session->work.adapter);
    if (of_adapter != TENDON_FEELSPACE_NO_ERROR) {
        return of_adapter;
    }
    switch (session->state) {
    case TENDON_FEELSPACE_CONNECTING:
        return tendon_feelspace_radio_error(reason);
    case TENDON_FEELSPACE_DISCOVERING_SERVICES:
        if (!session->work.known) {
            return TENDON_FEELSPACE_PAIRING_FAILED; /* belts drop who has no bond */
        }
        break;
    case TENDON_FEELSPACE_HANDSHAKE:
        return TENDON_FEELSPACE_HANDSHAKE_ERROR;
    default:
        break;
    }
    return reason == TENDON_RADIO_ERROR_PEER_CLOSED ? TENDON_FEELSPACE_PERIPHERAL_DISCONNECTED
                                                    : TENDON_FEELSPACE_UNEXPECTED_DISCONNECTION;
}

#define PERMISSIONS                                                                                                    \
    (1u << TENDON_ATT_READ_NOT_PERMITTED | 1u << TENDON_ATT_INSUFFICIENT_AUTHENTICATION |                              \
     1u << TENDON_ATT_INSUFFICIENT_AUTHORIZATION | 1u << TENDON_ATT_ENCRYPTION_KEY_SIZE_TOO_SHORT |                    \
     1u << TENDON_ATT_INSUFFICIENT_ENCRYPTION)

bool tendon_feelspace_is_permission(tendon_status status) {
    unsigned code = (unsigned)TENDON_ATT_ERROR(0) - (unsigned)status;
    return code < 32 && (PERMISSIONS >> code & 1) != 0;
}
