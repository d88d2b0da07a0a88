/* SPDX-License-Identifier: MIT */
/*
 * MTU, whether F0F0 is there, the known characteristics of any service in the
 * order of their handles, and where the notifying ones are switched on.
 */
#include "session.h"

#define CCCD 0x2902
enum { HANDLE_FIRST = 0x0001, HANDLE_LAST = 0xFFFF };

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const uint8_t notifying[] = {TENDON_ACTIV5_READ, TENDON_ACTIV5_FORCE, TENDON_ACTIV5_IMU,
                                    TENDON_ACTIV5_OLD_FORCE};

/* ---- asking ---- */

static tendon_status ask(tendon_activ5_session *session) {
    tendon_uuid uuid = tendon_uuid_from_u16(TENDON_ACTIV5_NEW_SERVICE);
    switch (session->step) {
    case ACTIV5_STEP_MTU:
        return tendon_gatt_exchange_mtu(session->client, activ5_done, session, session->now);
    case ACTIV5_STEP_SERVICE:
        return tendon_gatt_discover_services_by_uuid(session->client, &uuid, session->scratch.services,
                                                     COUNT(session->scratch.services), activ5_done, session,
                                                     session->now);
    case ACTIV5_STEP_CHARACTERISTICS:
        return tendon_gatt_discover_characteristics(
            session->client, session->cursor, HANDLE_LAST, session->scratch.characteristics,
            COUNT(session->scratch.characteristics), activ5_done, session, session->now);
    default:
        return tendon_gatt_discover_descriptors(
            session->client, session->cursor, session->cccds[notifying[session->index]], session->scratch.descriptors,
            COUNT(session->scratch.descriptors), activ5_done, session, session->now);
    }
}

static void finish(tendon_activ5_session *session) {
    session->step = ACTIV5_STEP_READY;
    session->deadline = UINT64_MAX;
    tendon_activ5_device_discovered(session->device, session->is_new, session->found, session->found_count,
                                    session->now);
}

/* The next notifying characteristic that has room for a descriptor; without one it has nothing to switch on. */
static bool next_cccd(tendon_activ5_session *session) {
    for (; session->index < COUNT(notifying); session->index++) {
        unsigned which = notifying[session->index];
        if (session->handles[which] != 0 && session->cccds[which] > session->handles[which]) {
            session->cursor = (uint16_t)(session->handles[which] + 1u);
            return true;
        }
        session->cccds[which] = 0;
    }
    return false;
}

void activ5_discovery_pump(tendon_activ5_session *session) {
    if (session->step == ACTIV5_STEP_CCCD && session->cursor == 0 && !next_cccd(session)) {
        finish(session);
        activ5_pump(session);
    } else if (session->step != ACTIV5_STEP_IDLE) {
        activ5_starting(session);
        activ5_started(session, ask(session));
    }
}

/* ---- what was found ---- */

/* The first of a kind counts, whatever service it is in. */
static void note(tendon_activ5_session *session, const tendon_gatt_characteristic *found) {
    tendon_activ5_characteristic which = tendon_activ5_characteristic_of(&found->uuid);
    if (which == TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN || session->handles[which] != 0) {
        return;
    }
    session->handles[which] = found->value_handle;
    session->cccds[which] = found->end_handle;
    session->found[session->found_count] = which;
    session->found_count++;
}

static void characteristics_found(tendon_activ5_session *session, const tendon_gatt_result *result) {
    bool full = result->status == TENDON_ERROR_TABLE_FULL && result->count >= 2;
    /* Where the last one of a full table ends is not known: the next page starts with it again. */
    size_t known = full ? result->count - 1 : result->count;
    for (size_t i = 0; i < known; i++) {
        note(session, &session->scratch.characteristics[i]);
    }
    if (!full) {
        session->step = ACTIV5_STEP_CCCD;
        session->index = 0;
        session->cursor = 0;
        return;
    }
    uint16_t next = session->scratch.characteristics[known].declaration;
    if (next <= session->cursor) {
        activ5_fail(session, TENDON_GATT_ERROR_NO_PROGRESS);
    }
    session->cursor = next;
}

static void descriptors_found(tendon_activ5_session *session, const tendon_gatt_result *result) {
    unsigned which = notifying[session->index];
    uint16_t cccd = 0;
    for (size_t i = 0; i < result->count && cccd == 0; i++) {
        uint16_t number = 0;
        if (tendon_uuid_as_u16(&session->scratch.descriptors[i].uuid, &number) && number == CCCD) {
            cccd = session->scratch.descriptors[i].handle;
        }
    }
    bool full = result->status == TENDON_ERROR_TABLE_FULL && result->count > 0 && cccd == 0;
    uint16_t last = full ? session->scratch.descriptors[result->count - 1].handle : 0;
    if (full && last >= session->cursor && last < session->cccds[which]) {
        session->cursor = (uint16_t)(last + 1u);
        return;
    }
    session->cccds[which] = cccd;
    session->cursor = 0;
    session->index++;
}

void activ5_discovery_done(tendon_activ5_session *session, const tendon_gatt_result *result) {
    tendon_status status = result->status;
    bool expected =
        status >= 0 || status == TENDON_ERROR_TABLE_FULL || status == TENDON_ATT_ERROR(TENDON_ATT_ATTRIBUTE_NOT_FOUND);
    /* A device may refuse the exchange of the MTU; the default serves too. */
    if (!expected && (session->step != ACTIV5_STEP_MTU || status == TENDON_ERROR_TIMEOUT)) {
        activ5_fail(session, status);
        return;
    }
    switch (session->step) {
    case ACTIV5_STEP_MTU:
        session->step = ACTIV5_STEP_SERVICE;
        break;
    case ACTIV5_STEP_SERVICE:
        session->is_new = result->count > 0;
        session->cursor = HANDLE_FIRST;
        session->step = ACTIV5_STEP_CHARACTERISTICS;
        break;
    case ACTIV5_STEP_CHARACTERISTICS:
        characteristics_found(session, result);
        break;
    default:
        descriptors_found(session, result);
        break;
    }
}
