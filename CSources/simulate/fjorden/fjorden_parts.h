/* SPDX-License-Identifier: MIT */
/* Simulated Fjorden grip: internal interface of its files. */
#ifndef TENDON_SIMULATE_FJORDEN_FJORDEN_PARTS_H
#define TENDON_SIMULATE_FJORDEN_FJORDEN_PARTS_H

#include "tendon/simulate/fjorden.h"

enum { RECORD = 5, STATE_LENGTH = 6, LOW_BATTERY = 30 };

/* Codes of records that it makes by itself. */
enum { CODE_BATTERY_LOW = 0x80, CODE_POWERING_OFF = 0x81, CODE_BOND_RESET = 0x82 };

/* Opcodes of the control point. */
enum { PING = 1, SET_LED, GET_CONFIG, SET_CONFIG, GET_STATE, CLEAR_BOND, POWER_OFF };

/* stream.c */
/** Writes the control state: 6 bytes. */
void tendon_simulated_fjorden_write_state(tendon_simulated_fjorden *device, uint8_t out[STATE_LENGTH]);
/** Sends pending notifications to each connection until it is full. */
void tendon_simulated_fjorden_flush(tendon_simulated_fjorden *device, uint64_t now);
void tendon_simulated_fjorden_tick(tendon_simulated_fjorden *device, uint64_t now);
uint64_t tendon_simulated_fjorden_deadline(const tendon_simulated_fjorden *device);
/** Ends the links, and resets the bond, when the time has come. */
void tendon_simulated_fjorden_go_if_due(tendon_simulated_fjorden *device, uint64_t now);

/** The outstanding response was confirmed, or never will be. */
void tendon_simulated_fjorden_responded(tendon_simulated_fjorden *device, uint64_t now);
/** Responses to a central that has disconnected. */
void tendon_simulated_fjorden_drop_responses(tendon_simulated_fjorden *device, uint8_t central, uint64_t now);

/* control.c */
/** TENDON_OK, or a TENDON_ATT_ERROR(). */
tendon_status tendon_simulated_fjorden_control(tendon_simulated_fjorden *device, tendon_gatt_connection *connection,
                                               const uint8_t *value, size_t length, uint64_t now);

#endif
