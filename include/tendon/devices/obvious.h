/* SPDX-License-Identifier: MIT */
/*
 * Obvious platform devices, over OGP/1: Tendon's own open protocol. Shipped Obvious devices do not speak it.
 */
#ifndef TENDON_DEVICES_OBVIOUS_H
#define TENDON_DEVICES_OBVIOUS_H

#include "tendon/devices/family.h"
#include "tendon/devices/obvious_codec.h"
#include "tendon/devices/obvious_manager.h"
#include "tendon/devices/obvious_package.h"
#include "tendon/devices/obvious_payload.h"
#include "tendon/devices/obvious_receiver.h"
#include "tendon/devices/obvious_requests.h"
#include "tendon/devices/obvious_segment.h"
#include "tendon/devices/obvious_sender.h"
#include "tendon/devices/obvious_session.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The row of the table of families (devices/family.h). */
extern const tendon_family tendon_obvious_family;

#ifdef __cplusplus
}
#endif
#endif
