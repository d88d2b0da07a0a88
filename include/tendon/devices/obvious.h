/* SPDX-License-Identifier: MIT */
/*
 * Obvious platform devices, over OGP/1: Tendon's own open protocol. Shipped Obvious devices do not speak it. The
 * session and the row of the table of families follow; this header has the parts that are complete.
 */
#ifndef TENDON_DEVICES_OBVIOUS_H
#define TENDON_DEVICES_OBVIOUS_H

#include "tendon/devices/obvious_codec.h"
#include "tendon/devices/obvious_package.h"
#include "tendon/devices/obvious_payload.h"
#include "tendon/devices/obvious_receiver.h"
#include "tendon/devices/obvious_requests.h"
#include "tendon/devices/obvious_segment.h"
#include "tendon/devices/obvious_sender.h"

#endif
