/* SPDX-License-Identifier: MIT */
/*
 * Bose wearables (Frames, QC35 II, NC Headphones 700): sensor service FDD2.
 */
#ifndef TENDON_DEVICES_BOSE_H
#define TENDON_DEVICES_BOSE_H

#include "tendon/devices/bose_codec.h"
#include "tendon/devices/bose_search.h"
#include "tendon/devices/bose_session.h"
#include "tendon/devices/family.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Its row of the table of families. */
extern const tendon_family tendon_bose_family;

#ifdef __cplusplus
}
#endif

#endif
