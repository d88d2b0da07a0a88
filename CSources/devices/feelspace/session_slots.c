/* SPDX-License-Identifier: MIT */
#include "session_parts.h"

tendon_feelspace_slot *tendon_feelspace_slot_free(tendon_feelspace_session *session) {
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

tendon_feelspace_slot *tendon_feelspace_slot_oldest(tendon_feelspace_session *session, unsigned mask, unsigned flags,
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

tendon_feelspace_slot *tendon_feelspace_slot_fill(tendon_feelspace_session *session, uint8_t kind, uint8_t which,
                                                  uint8_t flags, const uint8_t *bytes, size_t length) {
    tendon_feelspace_slot *slot = tendon_feelspace_slot_free(session);
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

/* ---- their end ---- */

void tendon_feelspace_slot_finish(tendon_feelspace_session *session, tendon_feelspace_slot *slot,
                                  tendon_status status) {
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

void tendon_feelspace_slots_clear(tendon_feelspace_session *session) {
    tendon_feelspace_slot *slot;
    while ((slot = tendon_feelspace_slot_oldest(session, 0, 0, NULL)) != NULL) {
        tendon_feelspace_slot_finish(session, slot,
                                     (slot->flags & FS_ANSWERED) != 0 ? TENDON_OK : TENDON_ERROR_CANCELLED);
    }
}

void tendon_feelspace_slots_answered(tendon_feelspace_session *session, const uint8_t *packet) {
    tendon_feelspace_slot *found = tendon_feelspace_slot_oldest(session, FS_WAITING, FS_WAITING, packet);
    tendon_feelspace_slot *on_air = &session->kept.slots[session->work.slot];
    if (found != NULL) {
        tendon_feelspace_slot_finish(session, found, TENDON_OK);
    } else if ((session->op.kind == FS_COMMANDING || (on_air->flags & FS_PERIOD) != 0) && is_answered(on_air, packet)) {
        on_air->flags |= FS_ANSWERED; /* before the response to the write, or before the last step */
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

static bool is_waiting(const tendon_feelspace_slot *slot) {
    return slot->id != 0 && (slot->flags & FS_WAITING) != 0;
}

void tendon_feelspace_slots_tick(tendon_feelspace_session *session) {
    tendon_gatt_client *client = session->op.client;
    if (session->work.patching == FS_PATCH_WAIT && session->op.now >= session->kept.patch_deadline) {
        session->work.patching = FS_PATCH_DONE;
    }
    for (size_t i = 0; i < TENDON_FEELSPACE_COMMANDS_MAX && session->op.client == client; i++) {
        tendon_feelspace_slot *slot = &session->kept.slots[i];
        if (is_waiting(slot) && session->op.now >= slot->deadline) {
            tendon_feelspace_slot_finish(session, slot, TENDON_ERROR_TIMEOUT);
        }
    }
}

uint64_t tendon_feelspace_slots_deadline(const tendon_feelspace_session *session) {
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
