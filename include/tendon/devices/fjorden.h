/* SPDX-License-Identifier: MIT */
/* Fjorden camera grip. */
#ifndef TENDON_DEVICES_FJORDEN_H
#define TENDON_DEVICES_FJORDEN_H

#include "tendon/devices/family.h"
#include "tendon/devices/fjorden_codec.h"
#include "tendon/devices/fjorden_firmware.h"
#include "tendon/devices/fjorden_manager.h"
#include "tendon/devices/fjorden_profile.h"
#include "tendon/devices/fjorden_session.h"
#include "tendon/devices/fjorden_stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Its row of the table of families. */
extern const tendon_family tendon_fjorden_family;

#ifdef __cplusplus
}
#endif

#endif
