/* SPDX-License-Identifier: MIT */
/*
 * Inside of the Bose session. One operation is outstanding at a time: the opening is a script of them, the open session
 * takes them from a set of things to do. Each file calls those above it in this header: state and events
 * (session_state.c), values (session_values.c), discovery, the work of an open session (session_operations.c), the
 * opening. All inputs enter in session.c, which starts the next operation at the end of each.
 */
#ifndef TENDON_DEVICES_BOSE_SESSION_PARTS_H
#define TENDON_DEVICES_BOSE_SESSION_PARTS_H

#include "tendon/devices/bose_session.h"

/* The outstanding operation. */
enum {
    BOSE_IDLE = 0,
    BOSE_OPENING,   /* determined by the step of the script */
    BOSE_DISCOVERY, /* kept.scratch.discovery, which ends its requests itself */
    BOSE_WAITING,   /* while pairing mode is awaited: subscription (work.index 0), reading (1) */
    BOSE_WRITE_SENSORS,
    BOSE_WRITE_GESTURES,
    BOSE_REREAD_SENSORS,
    BOSE_REREAD_GESTURES,
    BOSE_REFRESH, /* work.index: which row */
    BOSE_CLOSE_SENSORS,
    BOSE_CLOSE_GESTURES
};

/* Bits of work.pending; BOSE_DO_REFRESH is shifted by the row. */
enum {
    BOSE_DO_REREAD_SENSORS = 0x01,
    BOSE_DO_REREAD_GESTURES = 0x02,
    BOSE_DO_WRITE_SENSORS = 0x04,
    BOSE_DO_WRITE_GESTURES = 0x08,
    BOSE_DO_REFRESH = 0x10
};

/* Further strings of the Device Information service, after tendon_bose_string. */
enum {
    BOSE_STRING_SYSTEM_ID = TENDON_BOSE_STRING_COUNT,
    BOSE_STRING_PNP_ID,
    BOSE_STRING_REGULATORY,
    BOSE_STRING_HANDLES
};

/* Rows of the discovery: the characteristics of FDD2, then the strings. */
enum { BOSE_STRING_ROW = TENDON_BOSE_CHARACTERISTIC_COUNT, BOSE_ROWS = TENDON_BOSE_ROWS };
#define BOSE_DO_REFRESH_STRINGS ((((uint32_t)1 << BOSE_STRING_HANDLES) - 1) * BOSE_DO_REFRESH << BOSE_STRING_ROW)
_Static_assert(BOSE_ROWS == BOSE_STRING_ROW + BOSE_STRING_HANDLES, "rows of the discovery");

/* The steps of an opening, in order. An old firmware takes the shorter way to its serial number. */
enum {
    BOSE_STEP_MTU,
    BOSE_STEP_DISCOVERY,
    BOSE_STEP_SERIAL,
    BOSE_STEP_STATUS, /* device information decides between pairing and starting */
    BOSE_STEP_WAIT,
    BOSE_STEP_STRING, /* work.index: of the strings */
    BOSE_STEP_SCRIPT  /* work.index: of script[] */
};

#define BOSE_DEVICE_SERVICE 0x180A

/* If the pairing service is busy, pairing is retried, for about as long as one pairing can take. */
enum { BOSE_PAIRING_RETRY_MS = 1000, BOSE_PAIRING_RETRIES = 35 };

/* session_state.c */
bool tendon_bose_is_open(const tendon_bose_session *session);
bool tendon_bose_is_opening(const tendon_bose_session *session);
/* Waiting for pairing mode, or pairing: the program shows a prompt, and PAIRING_FINISHED must follow. */
bool tendon_bose_is_paused(const tendon_bose_session *session);
void tendon_bose_emit(tendon_bose_session *session, tendon_bose_event *event);
void tendon_bose_emit_kind(tendon_bose_session *session, tendon_bose_event_kind kind, tendon_status status);
/* The session that a context belongs to; NULL, and counted: the context is of an earlier opening. */
tendon_bose_session *tendon_bose_session_of(void *context);
/* Returns true if a status indicates a disconnection, so that disconnected() follows. */
bool tendon_bose_link_went(tendon_status status);
/* Reads a whole value into kept.scratch. */
void tendon_bose_read(tendon_bose_session *session, uint8_t operation, uint16_t handle);
void tendon_bose_go_to(tendon_bose_session *session, uint8_t step);
void tendon_bose_disconnect(tendon_bose_session *session);
/* Ends an opening that cannot succeed: OPEN_FAILED follows once the link is down. */
void tendon_bose_fail_open(tendon_bose_session *session, tendon_status status);
/* An operation of the opening failed: maps its status and fails the opening. */
void tendon_bose_fail_operation(tendon_bose_session *session, tendon_status status);

/* session_values.c */
/* Takes a value and reports it. A rejected value changes nothing; it is counted and reported. */
tendon_status tendon_bose_take_value(tendon_bose_session *session, tendon_bose_characteristic which,
                                     const uint8_t *data, size_t length);
void tendon_bose_take_string(tendon_bose_session *session, unsigned which, const uint8_t *data, size_t length);
/* The device has sent a value. @p which: row of the characteristic. */
void tendon_bose_notified(tendon_bose_session *session, size_t which, const tendon_gatt_value *value);
void tendon_bose_malformed(tendon_bose_session *session, tendon_bose_characteristic which, tendon_status status,
                           size_t offset);
void tendon_bose_suspend(tendon_bose_session *session);
/* A sensor, or a known gesture, as a bit; 0: none. Sensors beyond 15 are unknown, so nothing of them is decoded. */
uint16_t tendon_bose_sensor_mask(uint8_t sensor_id);
uint16_t tendon_bose_gesture_mask(uint8_t gesture_id);
/* Sensors of a configuration that are enabled, as bits; likewise gestures. */
uint16_t tendon_bose_sensors_enabled(const tendon_bose_sensor_configuration *configuration);
uint16_t tendon_bose_gestures_enabled(const tendon_bose_gesture_configuration *configuration);

/* session_discover.c */
void tendon_bose_discover(tendon_bose_session *session);
void tendon_bose_discovered(tendon_bose_session *session, tendon_status status, size_t row);

/* session_operations.c */
void tendon_bose_work_pump(tendon_bose_session *session);
void tendon_bose_work_done(tendon_bose_session *session, uint8_t operation, const tendon_gatt_result *result);
void tendon_bose_closing_pump(tendon_bose_session *session);
/* Pending writes and the outstanding write fail. */
void tendon_bose_drop_writes(tendon_bose_session *session, tendon_status status, bool in_flight);

/* session_open.c */
void tendon_bose_opening_pump(tendon_bose_session *session);
void tendon_bose_opening_done(tendon_bose_session *session, const tendon_gatt_result *result);
void tendon_bose_waiting_done(tendon_bose_session *session, const tendon_gatt_result *result);
/* Device information, while pairing mode is awaited: may end the waiting. */
void tendon_bose_waiting_take(tendon_bose_session *session, const uint8_t *data, size_t length);
/* Starts a pairing attempt; in state BONDING only. */
void tendon_bose_opening_pair(tendon_bose_session *session);
void tendon_bose_opening_paired(tendon_bose_session *session, tendon_status status);

#endif
