/* SPDX-License-Identifier: MIT */
/*
 * Tendon: room linux/bluez. The kernel's controllers through libbluetooth.
 * Present only in builds with TENDON_HAVE_BLUEZ (GPL-2.0-or-later, see NOTICE).
 */
#ifndef TENDON_BLUEZ_H
#define TENDON_BLUEZ_H

#include "tendon/linux/radio.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Designed by the owner of room linux/bluez. */

#ifdef __cplusplus
}
#endif
#endif
