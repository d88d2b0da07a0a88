/* SPDX-License-Identifier: MIT */
/* Tendon: fleet component. Every wearable in range on one loop, reported as lines: the gateway component joined with
 * radios and connections. */
#ifndef TENDON_FLEET_H
#define TENDON_FLEET_H

#include "tendon/fleet/fleet.h"
#include "tendon/fleet/options.h"
#include "tendon/fleet/turns.h"

#endif
