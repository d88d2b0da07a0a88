/* SPDX-License-Identifier: MIT */
/*
 * feelSpace naviBelt: packets, signals, connection and commands, navigation.
 */
#ifndef TENDON_DEVICES_FEELSPACE_H
#define TENDON_DEVICES_FEELSPACE_H

#include "tendon/devices/family.h"
#include "tendon/devices/feelspace_codec.h"
#include "tendon/devices/feelspace_navigation.h"
#include "tendon/devices/feelspace_session.h"
#include "tendon/devices/feelspace_signal.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Its row of the table of families. */
extern const tendon_family tendon_feelspace_family;

#ifdef __cplusplus
}
#endif

#endif
