/* SPDX-License-Identifier: MIT */
/*
 * Bose wearables (Frames, QC35 II, NC Headphones 700): sensor service FDD2.
 */
#ifndef TENDON_DEVICES_BOSE_H
#define TENDON_DEVICES_BOSE_H

#include "tendon/devices/bose_codec.h"
#include "tendon/devices/bose_search.h"
#include "tendon/devices/bose_session.h"

#endif
