/* SPDX-License-Identifier: MIT */
#include "session_internal.h"

#define CCCD 0x2902
enum { SENSOR_SERVICE = 0, DEVICE_SERVICE = 1 };

static const uint8_t notifying[] = {
    TENDON_BOSE_DEVICE_INFORMATION,    TENDON_BOSE_SENSOR_CONFIGURATION, TENDON_BOSE_SENSOR_DATA,
    TENDON_BOSE_GESTURE_CONFIGURATION, TENDON_BOSE_GESTURE_DATA,
};
enum { NOTIFYING_COUNT = sizeof notifying / sizeof notifying[0] };

static const uint16_t text_uuids[BOSE_TEXT_HANDLES] = {
    [TENDON_BOSE_TEXT_MODEL] = 0x2A24,    [TENDON_BOSE_TEXT_SERIAL] = 0x2A25,
    [TENDON_BOSE_TEXT_FIRMWARE] = 0x2A26, [TENDON_BOSE_TEXT_HARDWARE] = 0x2A27,
    [TENDON_BOSE_TEXT_SOFTWARE] = 0x2A28, [TENDON_BOSE_TEXT_MANUFACTURER] = 0x2A29,
    [BOSE_TEXT_SYSTEM_ID] = 0x2A23,       [BOSE_TEXT_PNP_ID] = 0x2A50,
    [BOSE_TEXT_REGULATORY] = 0x2A2A,
};

static void find_service(tendon_bose_session *session, uint16_t number) {
    tendon_uuid uuid = tendon_uuid_from_u16(number);
    tendon_bose_starting(session, BOSE_OPENING);
    tendon_bose_started(
        session, tendon_gatt_discover_services_by_uuid(session->client, &uuid, session->work.scratch.services, 1,
                                                       tendon_bose_done, tendon_bose_tag_of(session), session->now));
}

static void find_characteristics(tendon_bose_session *session, unsigned service) {
    tendon_bose_starting(session, BOSE_OPENING);
    tendon_bose_started(
        session, tendon_gatt_discover_characteristics(
                     session->client, session->work.cursor, session->work.service_end[service],
                     session->work.scratch.characteristics,
                     sizeof session->work.scratch.characteristics / sizeof session->work.scratch.characteristics[0],
                     tendon_bose_done, tendon_bose_tag_of(session), session->now));
}

static void find_descriptors(tendon_bose_session *session) {
    unsigned which = notifying[session->work.index];
    tendon_bose_starting(session, BOSE_OPENING);
    tendon_bose_started(session,
                        tendon_gatt_discover_descriptors(session->client, session->work.cursor,
                                                         session->work.cccds[which], session->work.scratch.descriptors,
                                                         sizeof session->work.scratch.descriptors /
                                                             sizeof session->work.scratch.descriptors[0],
                                                         tendon_bose_done, tendon_bose_tag_of(session), session->now));
}

/* ---- failures ---- */

static void fail_missing_service(tendon_bose_session *session, unsigned service) {
    session->work.missing_service = (uint8_t)(service + 1);
    tendon_bose_fail_open(session, TENDON_BOSE_ERROR_NO_MATCHING_DEVICE_TYPE);
}

static void fail_missing_characteristic(tendon_bose_session *session, unsigned which) {
    session->work.missing_service = SENSOR_SERVICE + 1;
    session->work.missing_characteristic = (uint8_t)(which + 1);
    tendon_bose_fail_open(session, TENDON_BOSE_ERROR_MISSING_CHARACTERISTIC);
}

/* ---- what was found ---- */

/* A full table of one item holds the service; another of the same kind is of no interest. */
static void service_found(tendon_bose_session *session, unsigned service, const tendon_gatt_result *result) {
    bool error = result->status < 0 && result->status != TENDON_ERROR_TABLE_FULL &&
                 result->status != TENDON_ATT_ERROR(TENDON_ATT_ATTRIBUTE_NOT_FOUND);
    if (error) {
        tendon_bose_fail_operation(session, result->status);
        return;
    }
    if (result->count == 0) {
        if (session->config.old_firmware) {
            tendon_bose_fail_open(session, TENDON_BOSE_ERROR_UNSUPPORTED_DEVICE);
        } else {
            fail_missing_service(session, service);
        }
        return;
    }
    session->work.service_start[service] = session->work.scratch.services[0].start_handle;
    session->work.service_end[service] = session->work.scratch.services[0].end_handle;
    if (service == SENSOR_SERVICE) {
        tendon_bose_go_to(session, BOSE_STEP_DEVICE_SERVICE);
        return;
    }
    unsigned next = session->config.old_firmware ? DEVICE_SERVICE : SENSOR_SERVICE;
    session->work.cursor = session->work.service_start[next];
    tendon_bose_go_to(session,
                      next == SENSOR_SERVICE ? BOSE_STEP_SENSOR_CHARACTERISTICS : BOSE_STEP_DEVICE_CHARACTERISTICS);
}

static void note_sensor_characteristic(tendon_bose_session *session, const tendon_gatt_characteristic *found) {
    for (unsigned which = 0; which < TENDON_BOSE_CHARACTERISTIC_COUNT; which++) {
        tendon_uuid uuid = tendon_bose_uuid((tendon_bose_characteristic)which);
        if (session->work.handles[which] == 0 && tendon_uuid_equal(&uuid, &found->uuid)) {
            session->work.handles[which] = found->value_handle;
            session->work.cccds[which] = found->end_handle;
        }
    }
}

static void note_text(tendon_bose_session *session, const tendon_gatt_characteristic *found) {
    uint16_t number;
    if (!tendon_uuid_as_u16(&found->uuid, &number)) {
        return;
    }
    for (unsigned which = 0; which < BOSE_TEXT_HANDLES; which++) {
        if (text_uuids[which] == number && session->work.text_handles[which] == 0) {
            session->work.text_handles[which] = found->value_handle;
        }
    }
}

static void sensor_characteristics_end(tendon_bose_session *session) {
    for (unsigned which = 0; which < TENDON_BOSE_CHARACTERISTIC_COUNT; which++) {
        if (session->work.handles[which] == 0) {
            fail_missing_characteristic(session, which);
            return;
        }
    }
    session->work.cursor = session->work.service_start[DEVICE_SERVICE];
    tendon_bose_go_to(session, BOSE_STEP_DEVICE_CHARACTERISTICS);
}

/* The next characteristic whose CCCD is to be found; those without room for one fail. */
static void next_cccd(tendon_bose_session *session) {
    if (session->work.index == NOTIFYING_COUNT) {
        session->state = TENDON_BOSE_READING_INFORMATION;
        tendon_bose_go_to(session, BOSE_STEP_STATUS);
        return;
    }
    unsigned which = notifying[session->work.index];
    if (session->work.cccds[which] <= session->work.handles[which]) {
        fail_missing_characteristic(session, which);
        return;
    }
    session->work.cursor = (uint16_t)(session->work.handles[which] + 1);
}

static void device_characteristics_end(tendon_bose_session *session) {
    if (!session->config.old_firmware) {
        tendon_bose_go_to(session, BOSE_STEP_CCCD);
        next_cccd(session);
    } else if (session->work.text_handles[TENDON_BOSE_TEXT_SERIAL] != 0) {
        tendon_bose_go_to(session, BOSE_STEP_SERIAL);
    } else {
        tendon_bose_fail_open(session, TENDON_BOSE_ERROR_UNSUPPORTED_DEVICE);
    }
}

static void characteristics_found(tendon_bose_session *session, unsigned service, const tendon_gatt_result *result) {
    bool full = result->status == TENDON_ERROR_TABLE_FULL && result->count >= 2;
    if (result->status < 0 && !full && result->status != TENDON_ATT_ERROR(TENDON_ATT_ATTRIBUTE_NOT_FOUND)) {
        tendon_bose_fail_operation(session, result->status);
        return;
    }
    /* Where the last one of a full table ends is not known: the next page starts with it again. */
    size_t known = full ? result->count - 1 : result->count;
    for (size_t i = 0; i < known; i++) {
        if (service == SENSOR_SERVICE) {
            note_sensor_characteristic(session, &session->work.scratch.characteristics[i]);
        } else {
            note_text(session, &session->work.scratch.characteristics[i]);
        }
    }
    if (full) {
        uint16_t next = session->work.scratch.characteristics[known].declaration;
        if (next <= session->work.cursor) {
            tendon_bose_fail_operation(session, TENDON_GATT_ERROR_NO_PROGRESS);
            return;
        }
        session->work.cursor = next;
    } else if (service == SENSOR_SERVICE) {
        sensor_characteristics_end(session);
    } else {
        device_characteristics_end(session);
    }
}

static void descriptors_found(tendon_bose_session *session, const tendon_gatt_result *result) {
    bool full = result->status == TENDON_ERROR_TABLE_FULL && result->count > 0;
    if (result->status < 0 && !full && result->status != TENDON_ATT_ERROR(TENDON_ATT_ATTRIBUTE_NOT_FOUND)) {
        tendon_bose_fail_operation(session, result->status);
        return;
    }
    unsigned which = notifying[session->work.index];
    for (size_t i = 0; i < result->count; i++) {
        uint16_t number;
        if (tendon_uuid_as_u16(&session->work.scratch.descriptors[i].uuid, &number) && number == CCCD) {
            session->work.cccds[which] = session->work.scratch.descriptors[i].handle;
            session->work.index++;
            next_cccd(session);
            return;
        }
    }
    uint16_t last = full ? session->work.scratch.descriptors[result->count - 1].handle : session->work.cccds[which];
    if (last >= session->work.cccds[which] || last < session->work.cursor) {
        fail_missing_characteristic(session, which);
        return;
    }
    session->work.cursor = (uint16_t)(last + 1);
}

/* ---- steps ---- */

void tendon_bose_discovery_pump(tendon_bose_session *session) {
    switch (session->work.step) {
    case BOSE_STEP_SENSOR_SERVICE:
        find_service(session, TENDON_BOSE_SERVICE);
        break;
    case BOSE_STEP_DEVICE_SERVICE:
        find_service(session, BOSE_DEVICE_SERVICE);
        break;
    case BOSE_STEP_SENSOR_CHARACTERISTICS:
        find_characteristics(session, SENSOR_SERVICE);
        break;
    case BOSE_STEP_DEVICE_CHARACTERISTICS:
        find_characteristics(session, DEVICE_SERVICE);
        break;
    default:
        find_descriptors(session);
        break;
    }
}

void tendon_bose_discovery_done(tendon_bose_session *session, const tendon_gatt_result *result) {
    switch (session->work.step) {
    case BOSE_STEP_SENSOR_SERVICE:
        service_found(session, SENSOR_SERVICE, result);
        break;
    case BOSE_STEP_DEVICE_SERVICE:
        service_found(session, DEVICE_SERVICE, result);
        break;
    case BOSE_STEP_SENSOR_CHARACTERISTICS:
        characteristics_found(session, SENSOR_SERVICE, result);
        break;
    case BOSE_STEP_DEVICE_CHARACTERISTICS:
        characteristics_found(session, DEVICE_SERVICE, result);
        break;
    default:
        descriptors_found(session, result);
        break;
    }
}
