/* SPDX-License-Identifier: MIT */
/* Inside the grip manager only. */
#ifndef TENDON_DEVICES_FJORDEN_MANAGER_PARTS_H
#define TENDON_DEVICES_FJORDEN_MANAGER_PARTS_H

#include "tendon/devices/fjorden_manager.h"

/* manager_state.c */

/** An output that is its kind, or its kind and the grip. */
void tendon_grip_do(tendon_fjorden_manager *m, tendon_fjorden_output_kind kind);
void tendon_grip_do_grip(tendon_fjorden_manager *m, tendon_fjorden_output_kind kind, const tendon_fjorden_grip *grip);
/** A change to an equal state is not sent. */
void tendon_grip_set_state(tendon_fjorden_manager *m, tendon_fjorden_manager_state state);
/** Ends a call: with the state, with "ok", or with an error. */
void tendon_grip_result_state(tendon_fjorden_manager *m, tendon_fjorden_input_kind call);
void tendon_grip_result(tendon_fjorden_manager *m, tendon_fjorden_input_kind call, tendon_status status);
/** Ends the pending call: start with the state, others with an error. */
void tendon_grip_end_pending(tendon_fjorden_manager *m, tendon_status status);
void tendon_grip_set_pending(tendon_fjorden_manager *m, tendon_fjorden_input_kind call);
void tendon_grip_start_deadline(tendon_fjorden_manager *m);
/** The deadline is paused while the pairing prompt is shown. */
void tendon_grip_pause_deadline(tendon_fjorden_manager *m, uint64_t now);
void tendon_grip_resume_deadline(tendon_fjorden_manager *m, uint64_t now);
/** Scan start and state scanningForBondedGrip. */
void tendon_grip_look_for_bonded(tendon_fjorden_manager *m);
/** Link request to m->grip, and state connecting. */
void tendon_grip_connect(tendon_fjorden_manager *m);

/* manager_calls.c */

void tendon_grip_call(tendon_fjorden_manager *m, const tendon_fjorden_input *input);
/** Continues start when the permission is known. */
void tendon_grip_start_with_permission(tendon_fjorden_manager *m);

/* manager_events.c */

bool tendon_grip_same_identifier(const tendon_fjorden_grip *a, const tendon_fjorden_grip *b);
void tendon_grip_event(tendon_fjorden_manager *m, const tendon_fjorden_input *input);
/** The deadline has passed. */
void tendon_grip_expire(tendon_fjorden_manager *m);

#endif
