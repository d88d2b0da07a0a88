/* SPDX-License-Identifier: MIT */
/* The parts of a fleet: radios.c (adapters and scans), slots.c (devices), report.c (lines), fleet.c (calls and time).
 */
#ifndef TENDON_FLEET_PARTS_H
#define TENDON_FLEET_PARTS_H

#include "tendon/fleet/fleet.h"

/** Something can be done: the timer looks at it in the next step of the loop. */
static inline void tendon_fleet_touch(tendon_fleet *fleet) {
    fleet->is_due = true;
    fleet->timer.deadline = 0;
}

/** The timer expires at this time, or before. */
static inline void tendon_fleet_wake_at(tendon_fleet *fleet, uint64_t time) {
    fleet->timer.deadline = time < fleet->timer.deadline ? time : fleet->timer.deadline;
}

/* ---- radios.c ---- */

/** Opens the radio, or begins to wait for it. An error: waiting cannot help. */
tendon_status tendon_fleet_radio_open(tendon_fleet_radio *radio, uint64_t now);
/** Opens again, scans, leaves: whatever is due. */
void tendon_fleet_radio_step(tendon_fleet_radio *radio, uint64_t now);
uint64_t tendon_fleet_radio_deadline(const tendon_fleet_radio *radio);
/** Whether the memory of a radio is in use elsewhere. */
bool tendon_fleet_is_preparing(const tendon_fleet *fleet);
void tendon_fleet_radio_close(tendon_fleet_radio *radio);

/* ---- slots.c ---- */

/** What turns ask of the fleet. */
tendon_turns_owner tendon_fleet_turns_owner(tendon_fleet *fleet);
/** A packet of a device, over a radio. */
void tendon_fleet_take_report(tendon_fleet *fleet, uint8_t radio, const tendon_ad_report *report, uint64_t now);
/** Ends what has ended, then begins the turns that are possible. */
void tendon_fleet_step_turns(tendon_fleet *fleet, uint64_t now);
/** Why a connection of this peer failed. */
void tendon_fleet_note_cause(tendon_fleet *fleet, const tendon_address *peer, tendon_status cause);
/** Whether a device has a turn over this radio. @param number TENDON_FLEET_RADIOS: over any. */
bool tendon_fleet_has_turns(const tendon_fleet *fleet, uint8_t number);
/** Has all turns over a radio end, or over all. @p hard: immediately, without the sessions. */
void tendon_fleet_end_turns(tendon_fleet *fleet, uint8_t number, bool hard, uint64_t now);
tendon_fleet_slot *tendon_fleet_find_slot(tendon_fleet *fleet, const tendon_address *address);

/* ---- report.c ---- */

/** Begins a line; its members follow in fleet->line. @param slot NULL: about no device. */
void tendon_fleet_begin_line(tendon_fleet *fleet, const char *event, const tendon_fleet_slot *slot);
/** Ends it, and passes it on. @param status why, if it reports a failure; else TENDON_OK. */
void tendon_fleet_end_line(tendon_fleet *fleet, const tendon_fleet_slot *slot, tendon_status status);
/** Reports `action`, or `action_failed` if it failed: a sentence says why. @param slot NULL: of the address alone, or
 * of no device if that is NULL, too. */
void tendon_fleet_report_action(tendon_fleet *fleet, const tendon_fleet_slot *slot, const tendon_address *address,
                                const char *action, size_t length, const char *failure, tendon_status status);
/** The lines of an event of a device. */
void tendon_fleet_report_event(tendon_fleet_slot *slot, const tendon_device_event *event);
void tendon_fleet_report_found(tendon_fleet *fleet, const tendon_address *address, const tendon_turns_taken *taken,
                               int8_t rssi);
/** connect_failed, or disconnected. @param pause_ms UINT64_MAX: no further attempt. */
void tendon_fleet_report_end(tendon_fleet_slot *slot, uint64_t pause_ms);
void tendon_fleet_report_timing(tendon_fleet_slot *slot);
/** radio_waiting, radio_lost. */
void tendon_fleet_report_radio(tendon_fleet_radio *radio, const char *event);
void tendon_fleet_report_restored(tendon_fleet_radio *radio);

#endif
