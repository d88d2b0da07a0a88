/* SPDX-License-Identifier: MIT */
/* A simulated grip with centrals on scripted links. Handles are those of the table that has every part. */
#ifndef SIMULATE_FJORDEN_FIXTURE_H
#define SIMULATE_FJORDEN_FIXTURE_H

#include "device_fixture.h"

extern device_fixture *f;
extern tendon_simulated_fjorden grip;

/** A grip that needs no encryption, with one central that has an MTU of 23 and no subscriptions. Time 5000. */
int fjorden_setup(void **state);
/** The same with these options, @p open included. */
void fjorden_connected(const tendon_simulated_fjorden_options *options);
/** Writes the CCCDs of the events (24), or of the control point (30). */
void fjorden_subscribe_events(size_t which);
void fjorden_subscribe_responses(size_t which);

#endif
