/* SPDX-License-Identifier: MIT */
/*
 * Tendon: osc component. Values of devices for programs that make sound and pictures: messages of Open Sound
 * Control 1.0, packets of OpenTrack, and orientations of a head as their receivers expect them. Sans I/O; depends on
 * base, motion and libm only.
 */
#ifndef TENDON_OSC_H
#define TENDON_OSC_H

#include "tendon/osc/delivery.h"
#include "tendon/osc/destination.h"
#include "tendon/osc/message.h"
#include "tendon/osc/orientation.h"
#include "tendon/osc/preset.h"

#endif
