/* SPDX-License-Identifier: MIT */
/* One attempt to connect of the kernel's radio. */
#ifndef BLUEZ_CONNECTING_H
#define BLUEZ_CONNECTING_H

#include "bluez_fixture.h"

typedef struct bluez_connecting {
    bluez_bench *b;
    tendon_link link;
} bluez_connecting;

extern const tendon_address bluez_peer;

/** A radio and a link; nothing is requested. */
bluez_connecting *bluez_connecting_idle(void);
/** The same, and the kernel was given the connect. */
bluez_connecting *bluez_connecting_open(void);
/** The same, and the socket is connected: handle 0x40. */
bluez_connecting *bluez_connecting_connected(void);
void bluez_connecting_close(bluez_connecting *l);
/** So much time passes for the attempt; then the timer expires if its deadline has passed. */
void bluez_connecting_elapse(bluez_connecting *l, uint64_t ms);
/** A command of the kernel with one parameter and a zero, as the raw socket shows it. */
void bluez_kernel_sends(bluez_connecting *l, uint16_t opcode, uint8_t parameter);
/** The kernel enables or disables its scan, and the controller confirms it. */
void bluez_kernel_scans(bluez_connecting *l, bool on);
void bluez_connection_complete(bluez_connecting *l, uint8_t status, uint8_t role);

#endif
