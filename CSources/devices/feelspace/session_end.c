/* SPDX-License-Identifier: MIT */
#include "session_parts.h"

static bool is_opening(const tendon_feelspace_session *session) {
    return session->state >= TENDON_FEELSPACE_CONNECTING && session->state <= TENDON_FEELSPACE_HANDSHAKE;
}

void tendon_feelspace_forget_values(tendon_feelspace_session *session) {
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
    if (session->work.ending) {
        session->work.attempts = 0; /* a callback gives up what is ending: it is not reconnected */
        return;
    }
    if (event == TENDON_FEELSPACE_CONNECTION_LOST && session->config.reconnect) {
        session->work.attempts = 2;
        session->work.was_lost = true;
    }
    session->state = may_retry(session, event, error) ? TENDON_FEELSPACE_RECONNECTING : TENDON_FEELSPACE_NOT_CONNECTED;
    leave_client(session, previous);
    session->work.ending = true;
    if (previous == TENDON_FEELSPACE_HANDSHAKE || previous == TENDON_FEELSPACE_CONNECTED) {
        tendon_feelspace_slots_clear(session);
        tendon_feelspace_log_end(session, TENDON_ERROR_CANCELLED);
    }
    tendon_feelspace_forget_values(session);
    session->work.ending = false;
    if (session->work.attempts == 0) {
        session->state = TENDON_FEELSPACE_NOT_CONNECTED;
    }
    if (asked && !down) {
        session->work.draining = true;
        session->kept.drain_deadline = session->op.now + TENDON_FEELSPACE_DISCONNECT_TIMEOUT_MS;
        session->config.link.disconnect(session->config.link.context);
    }
    session->kept.deadline = session->op.now + TENDON_FEELSPACE_RECONNECT_PAUSE_MS;
    if (session->state == TENDON_FEELSPACE_RECONNECTING) {
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
tendon_feelspace_connection_event tendon_feelspace_failure_of(const tendon_feelspace_session *session) {
    if (!is_opening(session)) {
        return TENDON_FEELSPACE_CONNECTION_LOST;
    }
    return (tendon_feelspace_connection_event)((unsigned)TENDON_FEELSPACE_CONNECTION_FAILED + session->state -
                                               TENDON_FEELSPACE_CONNECTING);
}

void tendon_feelspace_fail(tendon_feelspace_session *session, tendon_feelspace_connection_error error,
                           tendon_status status) {
    tendon_feelspace_end(session, tendon_feelspace_failure_of(session), error, status, false);
}
