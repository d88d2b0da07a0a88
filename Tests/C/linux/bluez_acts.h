/* SPDX-License-Identifier: MIT */
/* For recorded runs of the kernel's radio: background connections, agents of the user, connection parameters. */
#ifndef BLUEZ_ACTS_H
#define BLUEZ_ACTS_H

#include "bluez_world.h"

enum { BLUEZ_ACTS = 13 };
extern void (*const bluez_acts[BLUEZ_ACTS])(world *);

/** Notes what these acts change. */
void bluez_acts_note(world *w);

#endif
