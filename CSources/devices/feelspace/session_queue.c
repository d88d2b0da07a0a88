/* SPDX-License-Identifier: MIT */
#include "session_internal.h"

/* First bytes on FE05 and FE03; the codec's files have their meaning. */
enum { BASIC = 0x01, CHANGED = 0x80, ADVANCED = 0x10, ADVANCED_CHANGE = 0x11, RESET = 0x12, PULSE = 0x40 };

/* ---- slots ---- */

static tendon_feelspace_slot *free_slot(tendon_feelspace_session *session) {
    for (size_t i = 0; i < TENDON_FEELSPACE_COMMANDS_MAX; i++) {
        if (session->kept.slots[i].id == 0) {
            return &session->kept.slots[i];
        }
    }
    return NULL;
}

static bool is_answered(const tendon_feelspace_slot *slot, const uint8_t *packet) {
    return slot->answer[0] != 0 && slot->answer[0] == packet[0] && slot->answer[1] == packet[1];
}

/* The slot that was queued first among those whose @p mask of flags is @p flags, and whose response begins with @p
 * answer, which may be NULL. */
static tendon_feelspace_slot *oldest(tendon_feelspace_session *session, unsigned mask, unsigned flags,
                                     const uint8_t *answer) {
    tendon_feelspace_slot *found = NULL;
    for (size_t i = 0; i < TENDON_FEELSPACE_COMMANDS_MAX; i++) {
        tendon_feelspace_slot *slot = &session->kept.slots[i];
        if (slot->id != 0 && (slot->flags & mask) == flags && (answer == NULL || is_answered(slot, answer)) &&
            (found == NULL || (int32_t)(slot->id - found->id) < 0)) {
            found = slot;
        }
    }
    return found;
}

/* First bytes of the response to a parameter request; zeros: no response. A renamed belt disconnects instead. */
static void expect_answer(tendon_feelspace_slot *slot) {
    const uint8_t *bytes = slot->bytes; /* zeros after the packet */
    bool basic = bytes[0] == BASIC;
    uint8_t id = bytes[bytes[0] == ADVANCED ? 2 : 1];
    bool is_request = slot->which == FS_REQUEST || (slot->flags & FS_PERIOD) != 0;
    if (is_request && bytes[0] != RESET && !(basic && id == (CHANGED | TENDON_FEELSPACE_BASIC_NAME))) {
        slot->answer[0] = basic ? BASIC : ADVANCED;
        slot->answer[1] = basic ? id & (uint8_t)~CHANGED : id;
    }
}

static tendon_feelspace_slot *fill(tendon_feelspace_session *session, uint8_t kind, uint8_t which, uint8_t flags,
                                   const uint8_t *bytes, size_t length) {
    tendon_feelspace_slot *slot = free_slot(session);
    if (slot == NULL) {
        return NULL;
    }
    memset(slot, 0, sizeof *slot);
    if (++session->work.next_id == 0) {
        session->work.next_id = 1;
    }
    slot->id = session->work.next_id;
    slot->kind = kind;
    slot->which = which;
    slot->flags = flags;
    slot->length = (uint8_t)length;
    if (length > 0) {
        memcpy(slot->bytes, bytes, length);
    }
    return slot;
}

void tendon_feelspace_push(tendon_feelspace_session *session, uint8_t kind, uint8_t which, uint8_t flags,
                           const uint8_t *bytes, size_t length) {
    (void)fill(session, kind, which, flags, bytes, length);
    tendon_feelspace_pump(session);
}

static tendon_status queue(tendon_feelspace_session *session, uint8_t kind, uint8_t which, uint8_t flags,
                           const uint8_t *bytes, size_t length, uint64_t now) {
    session->op.now = now;
    tendon_feelspace_slot *slot = fill(session, kind, which, flags, bytes, length);
    if (slot == NULL) {
        return TENDON_GATT_ERROR_QUEUE_FULL;
    }
    if (length > 0) {
        expect_answer(slot);
    }
    if (kind == FS_ENABLE || flags == FS_PERIOD) {
        session->work.enables++;
    }
    session->last_command = slot->id;
    tendon_feelspace_pump(session);
    return TENDON_OK;
}

/* ---- their end ---- */

static void finish(tendon_feelspace_session *session, tendon_feelspace_slot *slot, tendon_status status) {
    tendon_feelspace_event event;
    tendon_feelspace_event_init(&event, TENDON_FEELSPACE_EVENT_COMMAND, status);
    event.command.id = slot->id;
    event.command.characteristic = tendon_feelspace_uuid(slot->which);
    bool ours = (slot->flags & FS_OURS) != 0;
    slot->id = 0;
    if (!ours) {
        session->counters.commands++;
        tendon_feelspace_emit(session, &event);
    }
}

void tendon_feelspace_queue_clear(tendon_feelspace_session *session) {
    tendon_feelspace_slot *slot;
    while ((slot = oldest(session, 0, 0, NULL)) != NULL) {
        finish(session, slot, (slot->flags & FS_ANSWERED) != 0 ? TENDON_OK : TENDON_ERROR_CANCELLED);
    }
}

static void handshake_failed(tendon_feelspace_session *session, tendon_status status) {
    tendon_feelspace_connection_error error = TENDON_FEELSPACE_HANDSHAKE_ERROR;
    if (tendon_feelspace_is_permission(status)) {
        error = TENDON_FEELSPACE_HANDSHAKE_PERMISSION;
    } else if (status == TENDON_ERROR_TIMEOUT) {
        error = TENDON_FEELSPACE_HANDSHAKE_TIMEOUT;
    }
    tendon_feelspace_fail(session, error, status);
}

void tendon_feelspace_queue_answered(tendon_feelspace_session *session, const uint8_t *packet) {
    tendon_feelspace_slot *found = oldest(session, FS_WAITING, FS_WAITING, packet);
    tendon_feelspace_slot *on_air = &session->kept.slots[session->work.slot];
    if (found != NULL) {
        finish(session, found, TENDON_OK);
    } else if ((session->op.kind == FS_COMMANDING || (on_air->flags & FS_PERIOD) != 0) && is_answered(on_air, packet)) {
        on_air->flags |= FS_ANSWERED; /* before the response to the write, or before the last step */
    }
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
        finish(session, slot, status);
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

void tendon_feelspace_patch_answered(tendon_feelspace_session *session, const tendon_feelspace_parameter *parameter) {
    if (session->work.patching != FS_PATCH_WAIT) {
        return;
    }
    if (tendon_feelspace_patch_needed(parameter)) {
        session->work.patching = FS_PATCH_WRITE;
    } else {
        session->work.patching = FS_PATCH_DONE;
        session->patch = TENDON_FEELSPACE_PATCH_CONFIRMED;
    }
}

/* ---- one after the other ---- */

void tendon_feelspace_queue_pump(tendon_feelspace_session *session) {
    tendon_feelspace_slot *slot = oldest(session, FS_WAITING, 0, NULL);
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

static bool is_waiting(const tendon_feelspace_slot *slot) {
    return slot->id != 0 && (slot->flags & FS_WAITING) != 0;
}

void tendon_feelspace_queue_tick(tendon_feelspace_session *session) {
    tendon_gatt_client *client = session->op.client;
    if (session->work.patching == FS_PATCH_WAIT && session->op.now >= session->kept.patch_deadline) {
        session->work.patching = FS_PATCH_DONE;
    }
    for (size_t i = 0; i < TENDON_FEELSPACE_COMMANDS_MAX && session->op.client == client; i++) {
        tendon_feelspace_slot *slot = &session->kept.slots[i];
        if (is_waiting(slot) && session->op.now >= slot->deadline) {
            finish(session, slot, TENDON_ERROR_TIMEOUT);
        }
    }
    tendon_feelspace_pump(session);
}

uint64_t tendon_feelspace_queue_deadline(const tendon_feelspace_session *session) {
    uint64_t due = session->work.patching == FS_PATCH_WAIT ? session->kept.patch_deadline : UINT64_MAX;
    for (size_t i = 0; i < TENDON_FEELSPACE_COMMANDS_MAX; i++) {
        const tendon_feelspace_slot *slot = &session->kept.slots[i];
        if (is_waiting(slot) && slot->deadline < due) {
            due = slot->deadline;
        }
    }
    return due;
}

bool tendon_feelspace_session_idle(const tendon_feelspace_session *session) {
    if (session->op.client == NULL || session->state < TENDON_FEELSPACE_HANDSHAKE) {
        return true;
    }
    for (size_t i = 0; i < TENDON_FEELSPACE_COMMANDS_MAX; i++) {
        if (session->kept.slots[i].id != 0) {
            return false;
        }
    }
    return true;
}

/* ---- any packet ---- */

/* The firmware feature that a packet requires; _COUNT: none. */
static tendon_feelspace_feature feature_of(unsigned which, const uint8_t *packet, size_t length) {
    uint8_t first = packet[0], second = length > 1 ? packet[1] : 0, third = length > 2 ? packet[2] : 0;
    if (which == FS_BUZZER) {
        return TENDON_FEELSPACE_FEATURE_BUZZER;
    }
    if (which == FS_VIBRATION && first == PULSE) {
        return TENDON_FEELSPACE_FEATURE_PULSE;
    }
    if (which != FS_REQUEST) {
        return TENDON_FEELSPACE_FEATURE_COUNT;
    }
    if (first == RESET) {
        return TENDON_FEELSPACE_FEATURE_RESET;
    }
    if (first == ADVANCED_CHANGE && second == TENDON_FEELSPACE_ADVANCED_ORIENTATION_PERIOD) {
        return TENDON_FEELSPACE_FEATURE_ORIENTATION_PERIOD;
    }
    if (first == ADVANCED_CHANGE && third != 0) {
        return TENDON_FEELSPACE_FEATURE_PERSISTENT_CHANGE;
    }
    return first == BASIC && second == (CHANGED | TENDON_FEELSPACE_BASIC_MODE) &&
                   third == TENDON_FEELSPACE_MODE_CROSSING
               ? TENDON_FEELSPACE_FEATURE_CROSSING
               : TENDON_FEELSPACE_FEATURE_COUNT;
}

static bool which_of(tendon_feelspace_characteristic characteristic, unsigned *which) {
    static const uint8_t written[] = {FS_VIBRATION, FS_REQUEST, FS_BUZZER, FS_DEBUG_INPUT};
    for (size_t i = 0; i < sizeof written; i++) {
        if (tendon_feelspace_uuid(written[i]) == characteristic) {
            *which = written[i];
            return true;
        }
    }
    return false;
}

/* Whether a packet may be queued now. @return TENDON_OK, a warning, or the first error that the header lists. */
static tendon_status check(const tendon_feelspace_session *session, tendon_feelspace_characteristic characteristic,
                           const uint8_t *packet, tendon_status length, unsigned *which) {
    if (session->state != TENDON_FEELSPACE_CONNECTED) {
        return TENDON_ERROR_DISCONNECTED;
    }
    if (length < 0) {
        return length;
    }
    if (!which_of(characteristic, which) || length == 0 || length > TENDON_FEELSPACE_PACKET_MAX) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_feelspace_feature feature = feature_of(*which, packet, (size_t)length);
    if (feature != TENDON_FEELSPACE_FEATURE_COUNT && session->has_firmware &&
        !tendon_feelspace_has_feature(&session->firmware, feature)) {
        return TENDON_FEELSPACE_ERROR_UNSUPPORTED_FIRMWARE;
    }
    bool ignored = *which == FS_VIBRATION && !tendon_feelspace_belt_accepts(session->mode, packet, (size_t)length);
    if (ignored && session->config.strict) {
        return TENDON_FEELSPACE_ERROR_WRONG_MODE;
    }
    if (session->kept.found[*which].value == 0) {
        return TENDON_ERROR_UNSUPPORTED;
    }
    return ignored ? TENDON_FEELSPACE_WARNING_IGNORED : TENDON_OK;
}

tendon_status tendon_feelspace_session_send(tendon_feelspace_session *session,
                                            tendon_feelspace_characteristic characteristic, const uint8_t *packet,
                                            tendon_status length, uint64_t now) {
    unsigned which;
    tendon_status checked = check(session, characteristic, packet, length, &which);
    if (checked < 0) {
        return checked;
    }
    tendon_status status = queue(session, FS_WRITE, (uint8_t)which, 0, packet, (size_t)length, now);
    return status < 0 ? status : checked;
}

/* ---- orientation ---- */

/* Nothing changes when the queue is full. */
static tendon_status switch_orientation(tendon_feelspace_session *session, uint8_t kind, uint32_t period_ms,
                                        uint16_t variation_deg, uint64_t now) {
    if (free_slot(session) == NULL) {
        return TENDON_GATT_ERROR_QUEUE_FULL;
    }
    session->orientation_enabled = kind == FS_ENABLE;
    session->orientation_period_ms = period_ms;
    session->orientation_variation_deg = variation_deg;
    session->work.told = false;
    return queue(session, kind, FS_ORIENTATION, 0, NULL, 0, now);
}

tendon_status tendon_feelspace_session_start_orientation(tendon_feelspace_session *session, uint32_t period_ms,
                                                         uint16_t variation_deg, uint64_t now) {
    if (session->state != TENDON_FEELSPACE_CONNECTED) {
        return TENDON_ERROR_DISCONNECTED;
    }
    if (variation_deg > 180) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    if (!session->orientation_enabled) {
        return switch_orientation(session, FS_ENABLE, period_ms, variation_deg, now);
    }
    session->orientation_period_ms = period_ms;
    session->orientation_variation_deg = variation_deg;
    return TENDON_OK;
}

tendon_status tendon_feelspace_session_stop_orientation(tendon_feelspace_session *session, uint64_t now) {
    if (session->state != TENDON_FEELSPACE_CONNECTED) {
        return TENDON_ERROR_DISCONNECTED;
    }
    return session->orientation_enabled ? switch_orientation(session, FS_DISABLE, 0, 0, now) : TENDON_OK;
}

tendon_status tendon_feelspace_session_set_orientation_period(tendon_feelspace_session *session, int32_t period_ms,
                                                              uint64_t now) {
    uint8_t packet[TENDON_FEELSPACE_PACKET_MAX];
    unsigned which;
    tendon_status length = tendon_feelspace_encode_set_orientation_period(period_ms, packet, sizeof packet);
    tendon_status status = check(session, TENDON_FEELSPACE_PARAMETER_REQUEST, packet, length, &which);
    if (status < 0) {
        return status;
    }
    bool enabled = session->orientation_enabled;
    return queue(session, enabled ? FS_DISABLE : FS_WRITE, enabled ? FS_ORIENTATION : FS_REQUEST,
                 enabled ? FS_PERIOD : 0, packet, (size_t)length, now);
}
