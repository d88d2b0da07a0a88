/* SPDX-License-Identifier: MIT */
/*
 * Inside of the Fjorden session. session.c combines manager, engine and the application's calls; session_values.c
 * processes the values of the grip, and reports.
 */
#ifndef TENDON_DEVICES_FJORDEN_SESSION_PARTS_H
#define TENDON_DEVICES_FJORDEN_SESSION_PARTS_H

#include "tendon/devices/fjorden_session.h"

#include "manager_parts.h"

/* Operations on a connected grip, in this order: jobs of the engine, and bits of work.wanted, which stay set until the
 * operation has ended. */
enum {
    FJORDEN_DO_SUBSCRIBE_CONTROL = 1,
    FJORDEN_DO_SUBSCRIBE_BATTERY,
    FJORDEN_DO_COMMAND,
    FJORDEN_DO_STATE,
    FJORDEN_DO_BATTERY,
    FJORDEN_DO_INFO /* work.index: which text */
};

_Static_assert(FJORDEN_DO_INFO < 8, "work.wanted has 8 bits");
_Static_assert(TENDON_FJORDEN_STRING_SIZE <= UINT8_MAX, "work.text_length has 8 bits");
_Static_assert(TENDON_FJORDEN_NAME_SIZE >= TENDON_FJORDEN_STRING_SIZE, "a name is read into a buffer of texts");

/* Reports. What: the output, record or response; detail: the other member that the kind names (BATTERY: level, or
 * cause). */
void tendon_grip_emit(tendon_fjorden_session *s, tendon_fjorden_session_event_kind kind, tendon_status status,
                      int detail, const void *what);
void tendon_grip_end_request(tendon_fjorden_session *s, tendon_status status, const tendon_fjorden_response *response);
void tendon_grip_battery_failed(tendon_fjorden_session *s, tendon_status cause);
void tendon_grip_info_read(tendon_fjorden_session *s);

/* Values. */
void tendon_grip_take_events(tendon_fjorden_session *s, const uint8_t *data, size_t length);
void tendon_grip_take_response(tendon_fjorden_session *s, const uint8_t *data, size_t length);
/* The level that was notified or read; the error of one that cannot be decoded. */
tendon_status tendon_grip_take_level(tendon_fjorden_session *s, const uint8_t *data, size_t length);
void tendon_grip_take_state(tendon_fjorden_session *s, const tendon_gatt_result *result);
void tendon_grip_take_text(tendon_fjorden_session *s, unsigned text, const uint8_t *data, size_t length);

#endif
