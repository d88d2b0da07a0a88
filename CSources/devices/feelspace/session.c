/* SPDX-License-Identifier: MIT */
#include "session_internal.h"
#include "tendon/base/packed.h"

enum { ANSWERS_IN_A_ROW = 8 };

static bool is_opening(const tendon_feelspace_session *session) {
    return session->state >= TENDON_FEELSPACE_CONNECTING && session->state <= TENDON_FEELSPACE_HANDSHAKE;
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

/* ---- operations ---- */

void tendon_feelspace_write(tendon_feelspace_session *session, uint8_t operation, unsigned which, const uint8_t *bytes,
                            size_t length) {
    tendon_operation_start(&session->op, operation, TENDON_OPERATION_WRITE, session->kept.found[which].value, bytes,
                           length);
}

void tendon_feelspace_subscribe(tendon_feelspace_session *session, uint8_t operation, unsigned which) {
    tendon_operation_subscribe(&session->op, operation, &session->kept.found[which], false, tendon_feelspace_on_value);
}

static void done(void *context, const tendon_gatt_result *result) {
    tendon_feelspace_session *session = context;
    if (session->op.client == NULL) {
        return; /* a cancelled operation, for example at the end of a connection */
    }
    uint8_t operation = tendon_operation_ended(&session->op, result);
    if (operation == FS_IDLE || session->op.client->closed) {
        return; /* disconnected() reports the end */
    }
    if (operation == FS_OPENING) {
        tendon_feelspace_enabled(session, result);
    } else if (operation == FS_PATCHING) {
        tendon_feelspace_patch_done(session, result->status);
    } else if (operation == FS_COMMANDING) {
        tendon_feelspace_queue_done(session, result);
    }
    tendon_feelspace_pump(session);
}

static const tendon_operation_rules rules = {.done = done, .limit = TENDON_FEELSPACE_OPERATION_TIMEOUT_MS};

static void answer_keep_alive(tendon_feelspace_session *session) {
    static const uint8_t answer[1] = {0}; /* borrowed until it is written */
    session->work.keep_alives--;
    session->work.answered++;
    tendon_feelspace_write(session, FS_ANSWERING, FS_KEEP_ALIVE, answer, sizeof answer);
}

void tendon_feelspace_pump(tendon_feelspace_session *session) {
    if (session->op.client == NULL || session->op.kind != FS_IDLE) {
        return;
    }
    /* Then another operation has its turn: a belt that requests keep-alives faster than it acknowledges the responses
     * does not keep everything else waiting. */
    if (session->work.keep_alives > 0 && session->work.answered < ANSWERS_IN_A_ROW) {
        answer_keep_alive(session);
        return;
    }
    session->work.answered = 0;
    if (session->work.step == FS_STEP_ENABLE && session->state == TENDON_FEELSPACE_DISCOVERING_SERVICES) {
        tendon_feelspace_opening_pump(session);
    } else if (session->state > TENDON_FEELSPACE_DISCOVERING_SERVICES) {
        tendon_feelspace_queue_pump(session);
    }
    if (session->op.client != NULL && session->op.kind == FS_IDLE && session->work.keep_alives > 0) {
        answer_keep_alive(session);
    }
}

/* ---- the end ---- */

static void forget_values(tendon_feelspace_session *session) {
    session->mode = TENDON_FEELSPACE_MODE_UNKNOWN;
    session->default_intensity = -1;
    session->heading_offset = -1;
    session->accuracy_state = -1;
    session->patch = TENDON_FEELSPACE_PATCH_NONE;
    session->has_firmware = session->has_battery = session->has_orientation = false;
    session->orientation_enabled = false;
    session->orientation_period_ms = 0;
    session->orientation_variation_deg = 0;
}

/* Cancels all requests at the client, because the memory that it borrows will be reused. */
static void leave_client(tendon_feelspace_session *session, tendon_feelspace_state previous) {
    tendon_gatt_client *client = session->op.client;
    session->op.client = NULL;
    if (previous == TENDON_FEELSPACE_DISCOVERING_SERVICES && session->work.step == FS_STEP_PROFILE) {
        tendon_profile_cancel(&session->kept.profile, session->op.now);
    }
    if (client != NULL && session->op.kind != FS_IDLE) {
        (void)tendon_gatt_client_cancel(client, session->op.request, session->op.now);
    }
    tendon_operation_reset(&session->op);
    session->work.keep_alives = session->work.answered = 0;
    session->work.patching = FS_PATCH_DONE;
}

static bool may_retry(const tendon_feelspace_session *session, tendon_feelspace_connection_event event,
                      tendon_feelspace_connection_error error) {
    return event != TENDON_FEELSPACE_CONNECTION_CLOSED && session->work.attempts > 0 &&
           (error >= TENDON_FEELSPACE_CONNECTION_TIMEOUT && error != TENDON_FEELSPACE_POWER_OFF &&
            error != TENDON_FEELSPACE_PAIRING_FAILED && error != TENDON_FEELSPACE_DISCOVERY_PERMISSION &&
            error != TENDON_FEELSPACE_HANDSHAKE_PERMISSION);
}

void tendon_feelspace_end(tendon_feelspace_session *session, tendon_feelspace_connection_event event,
                          tendon_feelspace_connection_error error, tendon_status status, bool down) {
    tendon_feelspace_state previous = session->state;
    bool asked = previous != TENDON_FEELSPACE_RECONNECTING && session->work.step != FS_STEP_WAIT;
    if (event == TENDON_FEELSPACE_CONNECTION_LOST && session->config.reconnect) {
        session->work.attempts = 2;
        session->work.was_lost = true;
    }
    bool retry = may_retry(session, event, error);
    session->state = retry ? TENDON_FEELSPACE_RECONNECTING : TENDON_FEELSPACE_NOT_CONNECTED;
    leave_client(session, previous);
    session->work.ending = true;
    if (previous == TENDON_FEELSPACE_HANDSHAKE || previous == TENDON_FEELSPACE_CONNECTED) {
        tendon_feelspace_queue_clear(session);
        tendon_feelspace_log_end(session, TENDON_ERROR_CANCELLED);
    }
    forget_values(session);
    session->work.ending = false;
    if (asked && !down) {
        session->work.draining = true;
        session->kept.drain_deadline = session->op.now + TENDON_FEELSPACE_DISCONNECT_TIMEOUT_MS;
        session->config.link.disconnect(session->config.link.context);
    }
    session->kept.deadline = session->op.now + TENDON_FEELSPACE_RECONNECT_PAUSE_MS;
    if (retry) {
        session->work.attempts--;
        event = TENDON_FEELSPACE_RECONNECTION_STARTED;
    } else if (session->work.was_lost && previous != TENDON_FEELSPACE_CONNECTED &&
               event != TENDON_FEELSPACE_CONNECTION_CLOSED) {
        event = TENDON_FEELSPACE_RECONNECTION_FAILED;
        if (error >= TENDON_FEELSPACE_CONNECTION_TIMEOUT && error <= TENDON_FEELSPACE_HANDSHAKE_TIMEOUT) {
            error = TENDON_FEELSPACE_RECONNECTION_TIMEOUT;
        }
    }
    tendon_feelspace_tell(session, previous, event, error, status);
}

/* The three steps of an opening have their failures and timeouts in the same order. */
static tendon_feelspace_connection_event failure_of(const tendon_feelspace_session *session) {
    if (!is_opening(session)) {
        return TENDON_FEELSPACE_CONNECTION_LOST;
    }
    return (tendon_feelspace_connection_event)((unsigned)TENDON_FEELSPACE_CONNECTION_FAILED + session->state -
                                               TENDON_FEELSPACE_CONNECTING);
}

void tendon_feelspace_fail(tendon_feelspace_session *session, tendon_feelspace_connection_error error,
                           tendon_status status) {
    tendon_feelspace_end(session, failure_of(session), error, status, false);
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

/* ---- connecting ---- */

static void ask_for_link(tendon_feelspace_session *session) {
    session->work.step = FS_STEP_LINK;
    tendon_status status = session->config.link.connect(session->config.link.context);
    if (status < 0) {
        tendon_feelspace_end(session, TENDON_FEELSPACE_CONNECTION_FAILED, tendon_feelspace_radio_error(status), status,
                             true);
    }
}

static void attempt(tendon_feelspace_session *session, tendon_feelspace_state previous) {
    uint32_t generation = ++session->work.generation;
    session->work.step = FS_STEP_WAIT;
    session->kept.deadline = feelspace_after(session->op.now, session->kept.timeout_ms);
    session->state = TENDON_FEELSPACE_CONNECTING;
    tendon_feelspace_tell(session, previous, TENDON_FEELSPACE_CONNECTION_STARTED, TENDON_FEELSPACE_NO_ERROR, TENDON_OK);
    if (generation != session->work.generation || session->state != TENDON_FEELSPACE_CONNECTING) {
        return; /* the callback changed the state */
    }
    tendon_feelspace_connection_error error =
        tendon_feelspace_adapter_error((tendon_feelspace_adapter)session->work.adapter);
    if (error != TENDON_FEELSPACE_NO_ERROR) {
        tendon_feelspace_end(session, TENDON_FEELSPACE_CONNECTION_FAILED, error, TENDON_RADIO_ERROR_ADAPTER_DOWN, true);
    } else if (!session->work.draining) {
        ask_for_link(session);
    }
}

static void drained(tendon_feelspace_session *session) {
    session->work.draining = false;
    if (session->state == TENDON_FEELSPACE_CONNECTING && session->work.step == FS_STEP_WAIT) {
        ask_for_link(session);
    }
}

/* ---- inputs from the link ---- */

static void on_connected(void *context, tendon_gatt_client *client, uint64_t now) {
    tendon_feelspace_session *session = context;
    session->op.now = now;
    if (session->state != TENDON_FEELSPACE_CONNECTING || session->work.step != FS_STEP_LINK) {
        session->counters.illegal_inputs++;
        return;
    }
    session->op.client = client;
    session->work.step = FS_STEP_PROFILE;
    session->kept.profile = (tendon_profile){0};
    tendon_feelspace_go(session, TENDON_FEELSPACE_DISCOVERING_SERVICES, TENDON_FEELSPACE_CONNECTION_ESTABLISHED);
    if (session->op.client == client) {
        tendon_feelspace_opening_begin(session);
    }
}

static void on_disconnected(void *context, tendon_status reason, uint64_t now) {
    tendon_feelspace_session *session = context;
    session->op.now = now;
    if (session->work.draining) {
        drained(session);
    } else if (session->op.client != NULL || session->state == TENDON_FEELSPACE_CONNECTING) {
        bool ours = reason == TENDON_ERROR_CANCELLED; /* the owner of the connection closed it */
        tendon_feelspace_end(session, ours ? TENDON_FEELSPACE_CONNECTION_CLOSED : failure_of(session),
                             ours ? TENDON_FEELSPACE_NO_ERROR : tendon_feelspace_why_down(session, reason), reason,
                             true);
    } else {
        session->counters.illegal_inputs++;
    }
}

static void on_paired(void *context, tendon_status status, uint64_t now) {
    tendon_feelspace_session *session = context;
    session->op.now = now;
    if (session->state == TENDON_FEELSPACE_DISCOVERING_SERVICES && session->work.step == FS_STEP_PAIR) {
        tendon_feelspace_paired(session, status);
    } else {
        session->counters.illegal_inputs++;
    }
}

/* ---- time ---- */

static void state_timeout(tendon_feelspace_session *session) {
    if (session->state == TENDON_FEELSPACE_SCANNING) {
        tendon_feelspace_scan_end(session, TENDON_FEELSPACE_SCAN_CAUSE_TIMEOUT, TENDON_FEELSPACE_SCAN_TIMEOUT,
                                  TENDON_FEELSPACE_NO_ERROR);
    } else if (session->state == TENDON_FEELSPACE_RECONNECTING) {
        session->kept.timeout_ms = TENDON_FEELSPACE_RECONNECT_TIMEOUT_MS;
        attempt(session, TENDON_FEELSPACE_RECONNECTING);
    } else {
        unsigned error = (unsigned)TENDON_FEELSPACE_CONNECTION_TIMEOUT + session->state - TENDON_FEELSPACE_CONNECTING;
        tendon_feelspace_fail(session, (tendon_feelspace_connection_error)error, TENDON_ERROR_TIMEOUT);
    }
}

/* Deadlines. */
enum { OLD_LINK, STATE, COMMANDS, LOG, SILENCE, DEADLINES };

static uint64_t due(const tendon_feelspace_session *session, unsigned what) {
    bool connected = session->state == TENDON_FEELSPACE_CONNECTED;
    switch (what) {
    case OLD_LINK:
        return session->work.draining ? session->kept.drain_deadline : UINT64_MAX;
    case STATE:
        return session->state == TENDON_FEELSPACE_NOT_CONNECTED || connected ? UINT64_MAX : session->kept.deadline;
    case COMMANDS:
        return connected || session->state == TENDON_FEELSPACE_HANDSHAKE ? tendon_feelspace_queue_deadline(session)
                                                                         : UINT64_MAX;
    case LOG:
        return session->work.logging ? session->kept.log_deadline : UINT64_MAX;
    default:
        return connected && session->config.reconnect ? session->kept.heard + TENDON_FEELSPACE_SUPERVISION_MS
                                                      : UINT64_MAX;
    }
}

static void on_tick(void *context, uint64_t now) {
    tendon_feelspace_session *session = context;
    session->op.now = now;
    for (unsigned what = 0; what < DEADLINES; what++) {
        if (now < due(session, what)) {
            continue;
        }
        switch (what) {
        case OLD_LINK:
            drained(session);
            break;
        case STATE:
            state_timeout(session);
            break;
        case COMMANDS:
            tendon_feelspace_queue_tick(session);
            break;
        case LOG:
            tendon_feelspace_log_end(session, TENDON_ERROR_TIMEOUT);
            break;
        default:
            tendon_feelspace_fail(session, TENDON_FEELSPACE_UNEXPECTED_DISCONNECTION, TENDON_ERROR_TIMEOUT);
            break;
        }
    }
}

static uint64_t deadline_of(const void *context) {
    uint64_t first = UINT64_MAX;
    for (unsigned what = 0; what < DEADLINES; what++) {
        uint64_t deadline = due(context, what);
        first = deadline < first ? deadline : first;
    }
    return first;
}

const tendon_session_inputs tendon_feelspace_session_inputs = {
    .connected = on_connected,
    .disconnected = on_disconnected,
    .paired = on_paired,
    .tick = on_tick,
    .deadline = deadline_of,
    .pairs = true,
};

/* ---- calls of the program ---- */

tendon_status tendon_feelspace_session_init(tendon_feelspace_session *session,
                                            const tendon_feelspace_session_config *config) {
    if (config->on_event == NULL || config->link.connect == NULL || config->link.disconnect == NULL) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    memset(session, 0, sizeof *session);
    session->config = *config;
    if (config->channels == 0) {
        session->config.channels = TENDON_FEELSPACE_CHANNELS_DOCUMENTED;
    }
    session->op.rules = &rules;
    session->op.context = session;
    forget_values(session);
    return TENDON_OK;
}

tendon_status tendon_feelspace_session_connect(tendon_feelspace_session *session, const tendon_address *peer,
                                               const tendon_feelspace_connect_options *options, uint64_t now) {
    tendon_feelspace_state previous = session->state;
    session->op.now = now;
    if (session->work.ending) {
        return TENDON_ERROR_WRONG_STATE;
    }
    if (previous == TENDON_FEELSPACE_SCANNING) {
        tendon_feelspace_scan_end(session, TENDON_FEELSPACE_SCAN_CAUSE_CANCELED, TENDON_FEELSPACE_CONNECTION_STARTED,
                                  TENDON_FEELSPACE_NO_ERROR);
    }
    if (session->state != TENDON_FEELSPACE_NOT_CONNECTED) {
        tendon_feelspace_tell(session, session->state, TENDON_FEELSPACE_CONNECTION_FAILED,
                              TENDON_FEELSPACE_CONNECTION_REFUSED, TENDON_ERROR_WRONG_STATE);
        return TENDON_ERROR_WRONG_STATE;
    }
    if (peer != NULL && !tendon_address_equal(&session->peer, peer)) {
        session->peer = *peer;
    }
    session->work.known = options != NULL && options->known;
    session->kept.timeout_ms =
        options != NULL && options->timeout_ms > 0 ? options->timeout_ms : TENDON_FEELSPACE_CONNECT_TIMEOUT_MS;
    session->work.attempts = session->config.reconnect;
    session->work.was_lost = false;
    attempt(session, previous);
    return TENDON_OK;
}

void tendon_feelspace_session_disconnect(tendon_feelspace_session *session, uint64_t now) {
    session->op.now = now;
    if (session->state >= TENDON_FEELSPACE_CONNECTING) {
        tendon_feelspace_end(session, TENDON_FEELSPACE_CONNECTION_CLOSED, TENDON_FEELSPACE_NO_ERROR,
                             TENDON_ERROR_CANCELLED, false);
    }
}
