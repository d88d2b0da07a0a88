/* SPDX-License-Identifier: MIT */
/*
 * Tendon: devices component. One header per family: codec (stateless) and session
 * (state machine). Never sees a socket.
 */
#ifndef TENDON_DEVICES_H
#define TENDON_DEVICES_H

#include "tendon/devices/activ5.h"
#include "tendon/devices/bose.h"
#include "tendon/devices/clock.h"
#include "tendon/devices/family.h"
#include "tendon/devices/feelspace.h"
#include "tendon/devices/fjorden.h"
#include "tendon/devices/obvious.h"

#endif
