/* SPDX-License-Identifier: MIT */
#include "session_internal.h"

/* First bytes on FE05 and FE03; the codec's files have their meaning. */
enum { BASIC = 0x01, CHANGED = 0x80, ADVANCED = 0x10, ADVANCED_CHANGE = 0x11, RESET = 0x12, PULSE = 0x40 };

/* ---- slots ---- */

static tendon_feelspace_slot *free_slot(tendon_feelspace_session *session) {
    for (size_t i = 0; i < TENDON_FEELSPACE_COMMANDS_MAX; i++) {
        if (session->work.slots[i].id == 0) {
            return &session->work.slots[i];
        }
    }
    return NULL;
}

static bool is_before(const tendon_feelspace_slot *a, const tendon_feelspace_slot *b) {
    unsigned head_a = a->flags & FS_HEAD, head_b = b->flags & FS_HEAD;
    return head_a != head_b ? head_a > head_b : (int32_t)(a->id - b->id) < 0;
}

/* The slot that was queued first among those whose @p mask of flags is @p flags. */
static tendon_feelspace_slot *oldest(tendon_feelspace_session *session, unsigned mask, unsigned flags) {
    tendon_feelspace_slot *found = NULL;
    for (size_t i = 0; i < TENDON_FEELSPACE_COMMANDS_MAX; i++) {
        tendon_feelspace_slot *slot = &session->work.slots[i];
        if (slot->id != 0 && (slot->flags & mask) == flags && (found == NULL || is_before(slot, found))) {
            found = slot;
        }
    }
    return found;
}

/* How the answer to a parameter request begins; zeros: there is none. A renamed belt drops the link instead. */
static void expect_answer(tendon_feelspace_slot *slot) {
    uint8_t id = slot->length > 1 ? slot->bytes[1] : 0;
    slot->answer[0] = slot->answer[1] = 0;
    if (slot->which != FS_REQUEST) {
        return;
    }
    if (slot->bytes[0] == BASIC && id != (CHANGED | TENDON_FEELSPACE_BASIC_NAME)) {
        slot->answer[0] = BASIC;
        slot->answer[1] = id & (uint8_t)~CHANGED;
    } else if (slot->bytes[0] == ADVANCED_CHANGE) {
        slot->answer[0] = ADVANCED;
        slot->answer[1] = id;
    } else if (slot->bytes[0] == ADVANCED) {
        slot->answer[0] = ADVANCED;
        slot->answer[1] = slot->length > 2 ? slot->bytes[2] : 0;
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
    memcpy(slot->bytes, bytes, length);
    return slot;
}

void tendon_feelspace_push(tendon_feelspace_session *session, uint8_t kind, uint8_t which, uint8_t flags,
                           const uint8_t *bytes, size_t length) {
    tendon_feelspace_slot *slot = fill(session, kind, which, flags, bytes, length);
    if (slot != NULL && (flags & FS_PATCH) != 0) {
        expect_answer(slot);
    }
    tendon_feelspace_pump(session);
}

static tendon_status queue(tendon_feelspace_session *session, uint8_t kind, uint8_t which, const uint8_t *bytes,
                           size_t length, uint64_t now) {
    session->now = now;
    tendon_feelspace_slot *slot = fill(session, kind, which, 0, bytes, length);
    if (slot == NULL) {
        return TENDON_GATT_ERROR_QUEUE_FULL;
    }
    if (kind == FS_WRITE) {
        expect_answer(slot);
    }
    session->last_command = slot->id;
    tendon_feelspace_pump(session);
    return TENDON_OK;
}

/* ---- their end ---- */

static void finish(tendon_feelspace_session *session, tendon_feelspace_slot *slot, tendon_status status) {
    tendon_feelspace_event event = {.kind = TENDON_FEELSPACE_EVENT_COMMAND,
                                    .status = status,
                                    .command = {slot->id, tendon_feelspace_uuid(slot->which)}};
    bool ours = (slot->flags & FS_OURS) != 0;
    bool off = slot->kind == FS_ENABLE && status < 0;
    slot->id = 0;
    if (off) {
        session->orientation_enabled = false;
    }
    if (!ours) {
        session->counters.commands++;
        tendon_feelspace_emit(session, &event);
    }
}

void tendon_feelspace_queue_clear(tendon_feelspace_session *session) {
    tendon_feelspace_slot *slot;
    while ((slot = oldest(session, 0, 0)) != NULL) {
        finish(session, slot, TENDON_ERROR_CANCELLED);
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

/* The front range of one firmware is repaired when it is wrong. */
static void patch_answered(tendon_feelspace_session *session, const tendon_feelspace_parameter *parameter) {
    uint8_t packet[TENDON_FEELSPACE_PACKET_MAX];
    if (!tendon_feelspace_patch_needed(parameter)) {
        session->patch = TENDON_FEELSPACE_PATCH_CONFIRMED;
        return;
    }
    tendon_status length = tendon_feelspace_encode_front_range_patch(packet, sizeof packet);
    /* A full queue leaves the belt as it was; the next connection looks again. */
    (void)fill(session, FS_WRITE, FS_REQUEST, FS_OURS | FS_HEAD | FS_PATCH, packet, (size_t)length);
}

void tendon_feelspace_queue_answered(tendon_feelspace_session *session, const uint8_t *packet,
                                     const tendon_feelspace_parameter *parameter) {
    tendon_feelspace_slot *found = NULL;
    for (size_t i = 0; i < TENDON_FEELSPACE_COMMANDS_MAX; i++) {
        tendon_feelspace_slot *slot = &session->work.slots[i];
        bool on_air = session->work.operation == FS_COMMANDING && session->work.slot == i;
        if (slot->id != 0 && slot->answer[0] != 0 && slot->answer[0] == packet[0] && slot->answer[1] == packet[1] &&
            ((slot->flags & FS_WAITING) != 0 || (on_air && (slot->flags & FS_PATCH) == 0)) &&
            (found == NULL || is_before(slot, found))) {
            found = slot;
        }
    }
    if (found == NULL) {
        return;
    }
    if ((found->flags & FS_WAITING) == 0) {
        found->flags |= FS_ANSWERED; /* before the response to the write */
        return;
    }
    if ((found->flags & FS_PATCH) != 0 && parameter != NULL) {
        found->id = 0;
        patch_answered(session, parameter);
        return;
    }
    finish(session, found, TENDON_OK);
}

void tendon_feelspace_queue_done(tendon_feelspace_session *session, const tendon_gatt_result *result) {
    tendon_feelspace_slot *slot = &session->work.slots[session->work.slot];
    tendon_status status = result->status < 0 ? result->status : TENDON_OK;
    slot->flags |= FS_WAITING; /* whoever hears what it brought may send more: it is not the next */
    slot->deadline = session->now + ((slot->flags & FS_PATCH) != 0 ? TENDON_FEELSPACE_REQUEST_TIMEOUT_MS
                                                                   : TENDON_FEELSPACE_OPERATION_TIMEOUT_MS);
    if (status == TENDON_OK && slot->kind == FS_READ) {
        status = tendon_feelspace_take(session, slot->which, result->value, result->length);
        /* A malformed battery is passed over as ever; nothing is to be had without the firmware. */
        status = slot->which == FS_FIRMWARE ? status : TENDON_OK;
    }
    if (status < 0 && (slot->flags & FS_REQUIRED) != 0 && session->state == TENDON_FEELSPACE_HANDSHAKE) {
        handshake_failed(session, status);
    } else if (session->client == NULL) {
        return; /* whoever heard the value ended the connection */
    } else if (status < 0 || slot->answer[0] == 0 || (slot->flags & FS_ANSWERED) != 0) {
        if ((slot->flags & FS_PATCH) != 0 && status == TENDON_OK) {
            session->patch = TENDON_FEELSPACE_PATCH_WRITTEN;
        }
        finish(session, slot, status);
    }
}

/* ---- one after the other ---- */

void tendon_feelspace_queue_pump(tendon_feelspace_session *session) {
    tendon_feelspace_slot *slot = oldest(session, FS_WAITING, 0);
    if (slot == NULL || oldest(session, FS_WAITING | FS_PATCH, FS_WAITING | FS_PATCH) != NULL) {
        return; /* what the check of the patch finds out comes before all else */
    }
    tendon_gatt_client *client = session->client;
    void *tag = tendon_feelspace_tag_of(session);
    uint16_t handle = session->work.found[slot->which].value;
    tendon_status request;
    session->work.slot = (uint8_t)(slot - session->work.slots);
    tendon_feelspace_starting(session, FS_COMMANDING);
    switch (slot->kind) {
    case FS_READ:
        request = tendon_gatt_read(client, handle, tendon_feelspace_done, tag, session->now);
        break;
    case FS_ENABLE:
        request = tendon_gatt_subscribe(client, handle, session->work.found[slot->which].cccd, false,
                                        tendon_feelspace_on_value, tag, tendon_feelspace_done, tag, session->now);
        break;
    case FS_DISABLE:
        request = tendon_gatt_unsubscribe(client, handle, tendon_feelspace_done, tag, session->now);
        break;
    default:
        request =
            tendon_gatt_write(client, handle, slot->bytes, slot->length, tendon_feelspace_done, tag, session->now);
        break;
    }
    tendon_feelspace_started(session, client, request);
}

void tendon_feelspace_queue_tick(tendon_feelspace_session *session) {
    tendon_gatt_client *client = session->client;
    for (size_t i = 0; i < TENDON_FEELSPACE_COMMANDS_MAX && session->client == client; i++) {
        tendon_feelspace_slot *slot = &session->work.slots[i];
        if (slot->id != 0 && (slot->flags & FS_WAITING) != 0 && session->now >= slot->deadline) {
            finish(session, slot, TENDON_ERROR_TIMEOUT);
        }
    }
    tendon_feelspace_pump(session);
}

uint64_t tendon_feelspace_queue_deadline(const tendon_feelspace_session *session) {
    uint64_t due = UINT64_MAX;
    for (size_t i = 0; i < TENDON_FEELSPACE_COMMANDS_MAX; i++) {
        const tendon_feelspace_slot *slot = &session->work.slots[i];
        if (slot->id != 0 && (slot->flags & FS_WAITING) != 0 && slot->deadline < due) {
            due = slot->deadline;
        }
    }
    return due;
}

bool tendon_feelspace_session_idle(const tendon_feelspace_session *session) {
    if (session->client == NULL || session->state < TENDON_FEELSPACE_HANDSHAKE) {
        return true;
    }
    for (size_t i = 0; i < TENDON_FEELSPACE_COMMANDS_MAX; i++) {
        if (session->work.slots[i].id != 0) {
            return false;
        }
    }
    return true;
}

/* ---- any packet ---- */

/* What a packet needs the firmware to have; _COUNT: nothing. */
static tendon_feelspace_feature feature_of(unsigned which, const uint8_t *packet, size_t length) {
    uint8_t second = length > 1 ? packet[1] : 0, third = length > 2 ? packet[2] : 0;
    if (which == FS_BUZZER) {
        return TENDON_FEELSPACE_FEATURE_BUZZER;
    }
    if (which == FS_VIBRATION) {
        return packet[0] == PULSE ? TENDON_FEELSPACE_FEATURE_PULSE : TENDON_FEELSPACE_FEATURE_COUNT;
    }
    if (which != FS_REQUEST) {
        return TENDON_FEELSPACE_FEATURE_COUNT;
    }
    switch (packet[0]) {
    case RESET:
        return TENDON_FEELSPACE_FEATURE_RESET;
    case ADVANCED_CHANGE:
        if (second == TENDON_FEELSPACE_ADVANCED_ORIENTATION_PERIOD) {
            return TENDON_FEELSPACE_FEATURE_ORIENTATION_PERIOD;
        }
        return third != 0 ? TENDON_FEELSPACE_FEATURE_PERSISTENT_CHANGE : TENDON_FEELSPACE_FEATURE_COUNT;
    default:
        return packet[0] == BASIC && second == (CHANGED | TENDON_FEELSPACE_BASIC_MODE) &&
                       third == TENDON_FEELSPACE_MODE_CROSSING
                   ? TENDON_FEELSPACE_FEATURE_CROSSING
                   : TENDON_FEELSPACE_FEATURE_COUNT;
    }
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

tendon_status tendon_feelspace_session_send(tendon_feelspace_session *session,
                                            tendon_feelspace_characteristic characteristic, const uint8_t *packet,
                                            tendon_status length, uint64_t now) {
    unsigned which;
    if (session->state != TENDON_FEELSPACE_CONNECTED) {
        return TENDON_ERROR_DISCONNECTED;
    }
    if (length < 0) {
        return length;
    }
    if (!which_of(characteristic, &which) || length == 0 || length > TENDON_FEELSPACE_PACKET_MAX) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_feelspace_feature feature = feature_of(which, packet, (size_t)length);
    if (feature != TENDON_FEELSPACE_FEATURE_COUNT && session->has_firmware &&
        !tendon_feelspace_has_feature(&session->firmware, feature)) {
        return TENDON_FEELSPACE_ERROR_UNSUPPORTED_FIRMWARE;
    }
    bool ignored = which == FS_VIBRATION && !tendon_feelspace_belt_accepts(session->mode, packet, (size_t)length);
    if (ignored && session->config.strict) {
        return TENDON_FEELSPACE_ERROR_WRONG_MODE;
    }
    if (session->work.found[which].value == 0) {
        return TENDON_ERROR_UNSUPPORTED;
    }
    tendon_status status = queue(session, FS_WRITE, (uint8_t)which, packet, (size_t)length, now);
    return status < 0 ? status : ignored ? TENDON_FEELSPACE_WARNING_IGNORED : TENDON_OK;
}

/* ---- orientation ---- */

tendon_status tendon_feelspace_session_start_orientation(tendon_feelspace_session *session, uint32_t period_ms,
                                                         uint16_t variation_deg, uint64_t now) {
    static const uint8_t none[1] = {0};
    if (session->state != TENDON_FEELSPACE_CONNECTED) {
        return TENDON_ERROR_DISCONNECTED;
    }
    if (variation_deg > 180) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    if (!session->orientation_enabled && free_slot(session) == NULL) {
        return TENDON_GATT_ERROR_QUEUE_FULL;
    }
    session->orientation_period_ms = period_ms;
    session->orientation_variation_deg = variation_deg;
    if (session->orientation_enabled) {
        return TENDON_OK;
    }
    session->orientation_enabled = true;
    session->work.told = false;
    return queue(session, FS_ENABLE, FS_ORIENTATION, none, 0, now);
}

tendon_status tendon_feelspace_session_stop_orientation(tendon_feelspace_session *session, uint64_t now) {
    static const uint8_t none[1] = {0};
    if (session->state != TENDON_FEELSPACE_CONNECTED) {
        return TENDON_ERROR_DISCONNECTED;
    }
    if (!session->orientation_enabled) {
        return TENDON_OK;
    }
    if (free_slot(session) == NULL) {
        return TENDON_GATT_ERROR_QUEUE_FULL;
    }
    session->orientation_enabled = session->has_orientation = false;
    session->orientation_period_ms = 0;
    session->orientation_variation_deg = 0;
    return queue(session, FS_DISABLE, FS_ORIENTATION, none, 0, now);
}

tendon_status tendon_feelspace_session_set_orientation_period(tendon_feelspace_session *session, int32_t period_ms,
                                                              uint64_t now) {
    uint8_t packet[TENDON_FEELSPACE_PACKET_MAX];
    tendon_status length = tendon_feelspace_encode_set_orientation_period(period_ms, packet, sizeof packet);
    bool around = session->state == TENDON_FEELSPACE_CONNECTED && session->orientation_enabled && length > 0;
    uint32_t generation = session->work.generation;
    if (around) {
        session->now = now;
        tendon_feelspace_push(session, FS_DISABLE, FS_ORIENTATION, FS_OURS, packet, 0);
    }
    tendon_status status =
        tendon_feelspace_session_send(session, TENDON_FEELSPACE_PARAMETER_REQUEST, packet, length, now);
    if (around && session->client != NULL && session->work.generation == generation) {
        tendon_feelspace_push(session, FS_ENABLE, FS_ORIENTATION, FS_OURS, packet, 0);
    }
    return status;
}
