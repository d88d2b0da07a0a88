/* SPDX-License-Identifier: MIT */
#include "session_parts.h"

enum { ANSWERS_IN_A_ROW = 8 };

/* ---- the end of a command ---- */

static void handshake_failed(tendon_feelspace_session *session, tendon_status status) {
    tendon_feelspace_connection_error error = TENDON_FEELSPACE_HANDSHAKE_ERROR;
    if (tendon_feelspace_is_permission(status)) {
        error = TENDON_FEELSPACE_HANDSHAKE_PERMISSION;
    } else if (status == TENDON_ERROR_TIMEOUT) {
        error = TENDON_FEELSPACE_HANDSHAKE_TIMEOUT;
    }
    tendon_feelspace_fail(session, error, status);
}

/*
 * A new orientation period takes one slot and three steps: notifications off, the period, notifications on. The last
 * step follows whatever the others bring. @return true if a step is left; else @p status is that of the command.
 */
static bool next_step(tendon_feelspace_session *session, tendon_feelspace_slot *slot, tendon_status *status) {
    if ((slot->flags & FS_PERIOD) == 0) {
        return false;
    }
    if (slot->kind == FS_DISABLE) {
        slot->kind = FS_WRITE;
        slot->which = FS_REQUEST;
        return true;
    }
    if (slot->kind == FS_WRITE) {
        session->work.period_status = *status;
        slot->kind = FS_ENABLE;
        slot->which = FS_ORIENTATION;
        return true;
    }
    slot->which = FS_REQUEST;
    *status = session->work.period_status < 0 ? session->work.period_status : *status;
    return false;
}

void tendon_feelspace_queue_done(tendon_feelspace_session *session, const tendon_gatt_result *result) {
    tendon_feelspace_slot *slot = &session->kept.slots[session->work.slot];
    tendon_status status = result->status < 0 ? result->status : TENDON_OK;
    if (slot->kind == FS_ENABLE) {
        session->work.enables--;
        /* A later one in the queue may do better. */
        session->orientation_enabled = session->orientation_enabled && (status >= 0 || session->work.enables > 0);
    }
    if (next_step(session, slot, &status)) {
        return; /* still the oldest: the pump continues with it */
    }
    slot->flags |= FS_WAITING; /* the callback may queue more commands; this one is not the next */
    slot->deadline = session->op.now + TENDON_FEELSPACE_OPERATION_TIMEOUT_MS;
    if (status == TENDON_OK && slot->kind == FS_READ) {
        status = tendon_feelspace_take(session, slot->which, result->value, result->length);
        /* A malformed battery value is skipped as usual; without the firmware version the handshake cannot continue. */
        status = slot->which == FS_FIRMWARE ? status : TENDON_OK;
    }
    if (status < 0 && (slot->flags & FS_REQUIRED) != 0 && session->state == TENDON_FEELSPACE_HANDSHAKE) {
        handshake_failed(session, status);
    } else if (session->op.client == NULL) {
        return; /* the callback disconnected */
    } else if (status < 0 || slot->answer[0] == 0 || (slot->flags & FS_ANSWERED) != 0) {
        tendon_feelspace_slot_finish(session, slot, status);
    }
}

/* ---- the patch: the front range of one firmware is repaired where it is wrong ---- */

static void patch_pump(tendon_feelspace_session *session) {
    static const uint8_t ask[] = {0x10, 0x01, TENDON_FEELSPACE_ADVANCED_APP_FRONT_RANGE};
    if (session->work.patching == FS_PATCH_ASK) {
        tendon_feelspace_write(session, FS_PATCHING, FS_REQUEST, ask, sizeof ask);
    } else if (session->work.patching == FS_PATCH_WRITE) {
        tendon_feelspace_write(session, FS_PATCHING, FS_REQUEST, tendon_feelspace_front_range_patch,
                               sizeof tendon_feelspace_front_range_patch);
    }
}

void tendon_feelspace_patch_done(tendon_feelspace_session *session, tendon_status status) {
    bool asked = session->work.patching == FS_PATCH_ASK;
    session->work.patching = asked && status >= 0 ? FS_PATCH_WAIT : FS_PATCH_DONE;
    session->kept.patch_deadline = session->op.now + TENDON_FEELSPACE_REQUEST_TIMEOUT_MS;
    if (!asked && status >= 0) {
        session->patch = TENDON_FEELSPACE_PATCH_WRITTEN;
    }
}

/* ---- one after the other ---- */

static void next_command(tendon_feelspace_session *session) {
    tendon_feelspace_slot *slot = tendon_feelspace_slot_oldest(session, FS_WAITING, 0, NULL);
    if (session->work.patching != FS_PATCH_DONE) {
        patch_pump(session); /* its result is processed before all other commands */
        return;
    }
    if (slot == NULL) {
        return;
    }
    session->work.slot = (uint8_t)(slot - session->kept.slots);
    if (slot->kind == FS_ENABLE) {
        tendon_feelspace_subscribe(session, FS_COMMANDING, slot->which);
    } else {
        tendon_operation_start(&session->op, FS_COMMANDING, (tendon_operation_verb)slot->kind,
                               session->kept.found[slot->which].value, slot->bytes, slot->length);
    }
}

static void answer_keep_alive(tendon_feelspace_session *session) {
    static const uint8_t answer[1] = {0}; /* borrowed until it is written */
    session->work.keep_alives--;
    session->work.answered++;
    tendon_feelspace_write(session, FS_ANSWERING, FS_KEEP_ALIVE, answer, sizeof answer);
}

static bool is_idle(const tendon_feelspace_session *session) {
    return session->op.client != NULL && session->op.kind == FS_IDLE;
}

void tendon_feelspace_pump(tendon_feelspace_session *session) {
    if (!is_idle(session)) {
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
        tendon_feelspace_opening_pump(session); /* the last one begins the handshake */
    }
    if (is_idle(session) && session->state > TENDON_FEELSPACE_DISCOVERING_SERVICES) {
        next_command(session);
    }
    if (is_idle(session) && session->work.keep_alives > 0) {
        answer_keep_alive(session);
    }
}
