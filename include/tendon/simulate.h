/* SPDX-License-Identifier: MIT */
/*
 * Tendon: simulate component. Simulated devices: GATT servers with a personality,
 * sans I/O like all the rest.
 */
#ifndef TENDON_SIMULATE_H
#define TENDON_SIMULATE_H

#include "tendon/simulate/activ5.h"
#include "tendon/simulate/bose.h"
#include "tendon/simulate/defined.h"
#include "tendon/simulate/device.h"
#include "tendon/simulate/fault.h"
#include "tendon/simulate/feelspace.h"
#include "tendon/simulate/feelspace_usb.h"
#include "tendon/simulate/fjorden.h"
#include "tendon/simulate/fjorden_services.h"
#include "tendon/simulate/flash.h"
#include "tendon/simulate/memory_radio.h"
#include "tendon/simulate/obvious.h"
#include "tendon/simulate/obvious_relay.h"
#include "tendon/simulate/pairing.h"
#include "tendon/simulate/scenario.h"

#endif
