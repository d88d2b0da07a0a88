/* SPDX-License-Identifier: MIT */
#include "session_parts.h"

/* ---- inputs from the client ---- */

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

static void on_value(void *context, const tendon_gatt_value *value, uint64_t now) {
    tendon_feelspace_session *session = context;
    if (session->op.client == NULL) {
        return; /* of a link that is going down */
    }
    session->op.now = now;
    session->kept.heard = now;
    session->counters.notifications++;
    size_t which = tendon_profile_row_of(session->kept.found, TENDON_FEELSPACE_CHARACTERISTIC_COUNT, value->handle);
    if (which < TENDON_FEELSPACE_CHARACTERISTIC_COUNT) {
        (void)tendon_feelspace_take(session, (unsigned)which, value->value, value->length);
    }
    tendon_feelspace_pump(session);
}

static void on_discovered(void *context, tendon_status status, size_t row, uint64_t now) {
    (void)row;
    tendon_feelspace_session *session = context;
    if (session->op.client == NULL || session->op.client->closed) {
        return; /* disconnected() reports the end */
    }
    session->op.now = now;
    tendon_feelspace_discovered(session, status);
    tendon_feelspace_pump(session);
}

static const tendon_operation_rules rules = {
    .done = done, .value = on_value, .discovered = on_discovered, .limit = TENDON_FEELSPACE_OPERATION_TIMEOUT_MS};

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
        tendon_feelspace_end(session, ours ? TENDON_FEELSPACE_CONNECTION_CLOSED : tendon_feelspace_failure_of(session),
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
        tendon_feelspace_pump(session);
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
        return connected || session->state == TENDON_FEELSPACE_HANDSHAKE ? tendon_feelspace_slots_deadline(session)
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
            tendon_feelspace_slots_tick(session);
            tendon_feelspace_pump(session);
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
    tendon_feelspace_forget_values(session);
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

void tendon_feelspace_session_adapter(tendon_feelspace_session *session, tendon_feelspace_adapter adapter,
                                      uint64_t now) {
    tendon_feelspace_connection_error error = tendon_feelspace_adapter_error(adapter);
    session->op.now = now;
    session->work.adapter = (uint8_t)adapter;
    if (session->state == TENDON_FEELSPACE_SCANNING) {
        tendon_feelspace_scan_adapter(session, adapter);
    } else if (session->state != TENDON_FEELSPACE_NOT_CONNECTED && error != TENDON_FEELSPACE_NO_ERROR) {
        tendon_feelspace_fail(session, error, TENDON_RADIO_ERROR_ADAPTER_DOWN);
    }
}
