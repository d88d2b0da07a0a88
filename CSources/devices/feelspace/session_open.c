/* SPDX-License-Identifier: MIT */
#include "../rows.h"
#include "session_parts.h"

/* ---- discovery ---- */

static void discovery_failed(tendon_feelspace_session *session, tendon_status status) {
    tendon_feelspace_fail(session,
                          tendon_feelspace_is_permission(status) ? TENDON_FEELSPACE_DISCOVERY_PERMISSION
                                                                 : TENDON_FEELSPACE_DISCOVERY_ERROR,
                          status);
}

void tendon_feelspace_discovered(tendon_feelspace_session *session, tendon_status status) {
    if (status < 0) {
        discovery_failed(session, status);
        return;
    }
    const tendon_session_link *link = &session->config.link;
    bool bonded = link->bonded != NULL && link->bonded(link->context);
    session->work.step = FS_STEP_PAIR;
    status = TENDON_RADIO_ERROR_NO_PAIRING_SERVICE;
    if (!bonded && !session->config.skip_pairing && link->pair != NULL) {
        status = link->pair(link->context);
    }
    if (status < 0) {
        tendon_feelspace_paired(session, status);
    }
}

void tendon_feelspace_opening_begin(tendon_feelspace_session *session) {
    tendon_operation_discover(&session->op, FS_IDLE, &session->kept.profile, tendon_feelspace_row, session->kept.found,
                              TENDON_FEELSPACE_CHARACTERISTIC_COUNT);
}

/* ---- notifications ---- */

/* Returns the next notification to enable, from @p index on; the count if there is none. FE0C is enabled on request. */
static void next_notification(tendon_feelspace_session *session, unsigned index) {
    while (index < TENDON_FEELSPACE_CHARACTERISTIC_COUNT &&
           (session->kept.found[index].cccd == 0 || index == FS_ORIENTATION)) {
        index++;
    }
    session->work.index = (uint8_t)index;
}

void tendon_feelspace_paired(tendon_feelspace_session *session, tendon_status status) {
    /* A belt may not require a bond: without a pairing service, the belt decides whether to reject. */
    if (status < 0 && status != TENDON_RADIO_ERROR_NO_PAIRING_SERVICE) {
        bool went = status == TENDON_ERROR_DISCONNECTED; /* reported before the end of the link itself */
        tendon_feelspace_fail(
            session, went ? tendon_feelspace_why_down(session, status) : TENDON_FEELSPACE_PAIRING_FAILED, status);
        return;
    }
    session->work.step = FS_STEP_ENABLE;
    next_notification(session, 0);
}

void tendon_feelspace_enabled(tendon_feelspace_session *session, const tendon_gatt_result *result) {
    uint8_t which = session->work.index;
    if (result->status < 0 && tendon_feelspace_is_required(which)) {
        tendon_feelspace_end(session, TENDON_FEELSPACE_HANDSHAKE_FAILED,
                             tendon_feelspace_is_permission(result->status) ? TENDON_FEELSPACE_DISCOVERY_PERMISSION
                                                                            : TENDON_FEELSPACE_HANDSHAKE_ERROR,
                             result->status, false);
        return;
    }
    next_notification(session, which + 1u);
}

/* ---- handshake ---- */

static void begin_handshake(tendon_feelspace_session *session) {
    static const struct {
        uint8_t kind, which, flags, parameter;
    } script[] = {
        {FS_READ, FS_FIRMWARE, FS_OURS | FS_REQUIRED, 0},
        {FS_READ, FS_BATTERY, FS_OURS | FS_REQUIRED, 0},
        {FS_WRITE, FS_REQUEST, FS_OURS | FS_REQUIRED, TENDON_FEELSPACE_BASIC_DEFAULT_INTENSITY},
        {FS_WRITE, FS_REQUEST, FS_OURS | FS_REQUIRED, TENDON_FEELSPACE_BASIC_MODE},
        {FS_WRITE, FS_REQUEST, FS_OURS, TENDON_FEELSPACE_BASIC_HEADING_OFFSET},
    };
    memset(session->kept.slots, 0, sizeof session->kept.slots);
    session->work.enables = 0;
    uint32_t generation = session->work.generation;
    tendon_feelspace_go(session, TENDON_FEELSPACE_HANDSHAKE, TENDON_FEELSPACE_SERVICES_DISCOVERED);
    if (session->state != TENDON_FEELSPACE_HANDSHAKE || session->work.generation != generation) {
        return; /* the callback changed the state */
    }
    for (size_t i = 0; i < sizeof script / sizeof script[0]; i++) {
        const uint8_t request[] = {0x01, script[i].parameter};
        (void)tendon_feelspace_slot_fill(session, script[i].kind, script[i].which, script[i].flags, request,
                                         sizeof request);
    }
    tendon_feelspace_handshake_check(session); /* the belt may have notified both already */
}

void tendon_feelspace_handshake_check(tendon_feelspace_session *session) {
    if (session->state != TENDON_FEELSPACE_HANDSHAKE || session->mode == TENDON_FEELSPACE_MODE_UNKNOWN ||
        session->default_intensity < 0) {
        return;
    }
    if (session->mode == TENDON_FEELSPACE_MODE_STANDBY) {
        tendon_feelspace_fail(session, TENDON_FEELSPACE_POWER_OFF, TENDON_ERROR_DISCONNECTED);
        return;
    }
    session->kept.heard = session->op.now;
    session->work.known = true; /* a reconnection that is lost is no failed pairing */
    tendon_feelspace_go(session, TENDON_FEELSPACE_CONNECTED, TENDON_FEELSPACE_HANDSHAKE_FINISHED);
}

void tendon_feelspace_opening_pump(tendon_feelspace_session *session) {
    uint8_t index = session->work.index;
    if (index == TENDON_FEELSPACE_CHARACTERISTIC_COUNT) {
        begin_handshake(session);
        return;
    }
    tendon_feelspace_subscribe(session, FS_OPENING, index);
}
