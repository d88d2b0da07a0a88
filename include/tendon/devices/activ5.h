/* SPDX-License-Identifier: MIT */
/* Activ5 isometric trainer. */
#ifndef TENDON_DEVICES_ACTIV5_H
#define TENDON_DEVICES_ACTIV5_H

#include "tendon/devices/activ5_codec.h"
#include "tendon/devices/activ5_device.h"
#include "tendon/devices/activ5_manager.h"
#include "tendon/devices/activ5_orientation.h"
#include "tendon/devices/activ5_session.h"
#include "tendon/devices/activ5_squeeze.h"
#include "tendon/devices/family.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Its row of the table of families. */
extern const tendon_family tendon_activ5_family;

#ifdef __cplusplus
}
#endif

#endif
