/* SPDX-License-Identifier: MIT */
#include "../rows.h"
#include "session_parts.h"

/* Characteristics with notifications, as bits. */
#define NOTIFYING                                                                                                      \
    (1u << TENDON_BOSE_DEVICE_INFORMATION | 1u << TENDON_BOSE_SENSOR_CONFIGURATION | 1u << TENDON_BOSE_SENSOR_DATA |   \
     1u << TENDON_BOSE_GESTURE_CONFIGURATION | 1u << TENDON_BOSE_GESTURE_DATA)

enum { SENSOR_SERVICE = 1, DEVICE_SERVICE = 2 };

static const uint16_t text_uuids[BOSE_STRING_HANDLES] = {
    [TENDON_BOSE_STRING_MODEL] = 0x2A24,    [TENDON_BOSE_STRING_SERIAL] = 0x2A25,
    [TENDON_BOSE_STRING_FIRMWARE] = 0x2A26, [TENDON_BOSE_STRING_HARDWARE] = 0x2A27,
    [TENDON_BOSE_STRING_SOFTWARE] = 0x2A28, [TENDON_BOSE_STRING_MANUFACTURER] = 0x2A29,
    [BOSE_STRING_SYSTEM_ID] = 0x2A23,       [BOSE_STRING_PNP_ID] = 0x2A50,
    [BOSE_STRING_REGULATORY] = 0x2A2A,
};

/* The characteristics of FDD2, then the strings. With old firmware only the serial number is required. */
uint8_t tendon_bose_row(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic) {
    const struct tendon_bose_tag *tag = context;
    if (row >= BOSE_STRING_ROW) {
        *service = tendon_uuid_from_u16(BOSE_DEVICE_SERVICE);
        *characteristic = tendon_uuid_from_u16(text_uuids[row - BOSE_STRING_ROW]);
        return 0;
    }
    *service = tendon_uuid_from_u16(TENDON_BOSE_SERVICE);
    *characteristic = tendon_bose_uuid((tendon_bose_characteristic)row);
    return (uint8_t)((tag->session->config.old_firmware ? 0 : TENDON_PROFILE_REQUIRED) |
                     ((NOTIFYING >> row & 1u) != 0 ? TENDON_PROFILE_CCCD : 0));
}

static void found_all(tendon_bose_session *session) {
    if (!session->config.old_firmware) {
        session->state = TENDON_BOSE_READING_INFORMATION;
        tendon_bose_go_to(session, BOSE_STEP_STATUS);
    } else if (session->kept.found[BOSE_STRING_ROW + TENDON_BOSE_STRING_SERIAL].value != 0) {
        tendon_bose_go_to(session, BOSE_STEP_SERIAL);
    } else {
        tendon_bose_fail_open(session, TENDON_BOSE_ERROR_UNSUPPORTED_DEVICE);
    }
}

/* A missing service is reported before a missing characteristic. */
static void fail_missing(tendon_bose_session *session, size_t row) {
    bool sensor_service = session->kept.found[0].service != 0;
    if (sensor_service && session->kept.found[BOSE_STRING_ROW].service != 0) {
        session->work.missing_service = SENSOR_SERVICE;
        session->work.missing_characteristic = (uint8_t)(row + 1);
        tendon_bose_fail_open(session, TENDON_BOSE_ERROR_MISSING_CHARACTERISTIC);
    } else if (session->config.old_firmware) {
        tendon_bose_fail_open(session, TENDON_BOSE_ERROR_UNSUPPORTED_DEVICE);
    } else {
        session->work.missing_service = sensor_service ? DEVICE_SERVICE : SENSOR_SERVICE;
        tendon_bose_fail_open(session, TENDON_BOSE_ERROR_NO_MATCHING_DEVICE_TYPE);
    }
}

void tendon_bose_discovered(tendon_bose_session *session, tendon_status status, size_t row) {
    if (status == TENDON_ERROR_NOT_FOUND ||
        (status == TENDON_OK && session->kept.found[BOSE_STRING_ROW].service == 0)) {
        fail_missing(session, row);
    } else if (status < 0) {
        tendon_bose_fail_operation(session, status);
    } else {
        found_all(session);
    }
}

void tendon_bose_discover(tendon_bose_session *session) {
    tendon_profile *profile = &session->kept.scratch.discovery;
    tendon_operation_discover(&session->op, BOSE_DISCOVERY, profile, tendon_bose_row, session->kept.found, BOSE_ROWS);
    if (session->op.kind == BOSE_DISCOVERY) { /* else it was rejected */
        tendon_profile_limit(profile, TENDON_BOSE_OPERATION_TIMEOUT_MS, session->op.now);
    }
}
