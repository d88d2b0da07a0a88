/* SPDX-License-Identifier: MIT */
/*
 * Inside of the Fjorden session. session.c combines manager and link and contains the application's calls;
 * session_link.c executes the operations of the manager on a connected grip, one at a time; session_values.c processes
 * the values of the grip.
 */
#ifndef FJORDEN_SESSION_H
#define FJORDEN_SESSION_H

#include "tendon/devices/fjorden_session.h"

#include "manager.h"

/* Pending operations, in this order: bits of work.wanted, which stay set until the operation has ended. The outstanding
 * operation is also in op.kind. */
enum {
    FJORDEN_DO_MTU = 0,
    FJORDEN_DO_DISCOVER,
    FJORDEN_DO_NAME, /* of a grip whose advertisement had none */
    FJORDEN_DO_FIRMWARE,
    FJORDEN_DO_SUBSCRIBE_EVENT,
    FJORDEN_DO_SUBSCRIBE_CONTROL,
    FJORDEN_DO_SUBSCRIBE_BATTERY,
    FJORDEN_DO_COMMAND,
    FJORDEN_DO_STATE,
    FJORDEN_DO_BATTERY,
    FJORDEN_DO_INFO /* work.index: which text */
};

_Static_assert(FJORDEN_DO_INFO < 16, "work.wanted has 16 bits");
_Static_assert(TENDON_FJORDEN_STRING_SIZE <= UINT8_MAX, "work.text_length has 8 bits");
_Static_assert(TENDON_FJORDEN_NAME_SIZE >= TENDON_FJORDEN_STRING_SIZE, "a name is read into a buffer of texts");

/* session.c */
/* What: the output, record or response; detail: the other member that the kind names (BATTERY: level, or cause). */
void tendon_grip_tell(tendon_fjorden_session *s, tendon_fjorden_session_event_kind kind, tendon_status status,
                      int detail, const void *what);
/* Passes the result of a step to the manager, once the manager accepts inputs again. */
void tendon_grip_answer(tendon_fjorden_session *s, tendon_fjorden_input_kind kind, bool ok);
/* Reports pending results, then continues. */
void tendon_grip_flush(tendon_fjorden_session *s);
/* Sets the time. Returns false if there is no connection. */
bool tendon_grip_enter(tendon_fjorden_session *s, uint64_t now);
/* Requests pairing. */
void tendon_grip_pair(tendon_fjorden_session *s);

/* session_link.c */
void tendon_grip_want(tendon_fjorden_session *s, unsigned operation);
extern const tendon_operation_rules tendon_grip_rules;
/* Starts the next operation, if one is pending and none is outstanding. */
void tendon_grip_pump(tendon_fjorden_session *s);

/* session_values.c */
void tendon_grip_rejected(tendon_fjorden_session *s, tendon_fjorden_characteristic which, tendon_status status);
void tendon_grip_end_request(tendon_fjorden_session *s, tendon_status status, const tendon_fjorden_response *response);
void tendon_grip_battery_failed(tendon_fjorden_session *s, tendon_status cause);
void tendon_grip_info_read(tendon_fjorden_session *s);
void tendon_grip_take_state(tendon_fjorden_session *s, const tendon_gatt_result *result);
void tendon_grip_take_battery(tendon_fjorden_session *s, const tendon_gatt_result *result);
void tendon_grip_take_text(tendon_fjorden_session *s, unsigned text, const uint8_t *data, size_t length);
void tendon_grip_on_event(void *context, const tendon_gatt_value *value, uint64_t now);
void tendon_grip_on_response(void *context, const tendon_gatt_value *value, uint64_t now);
void tendon_grip_on_battery(void *context, const tendon_gatt_value *value, uint64_t now);

#endif
