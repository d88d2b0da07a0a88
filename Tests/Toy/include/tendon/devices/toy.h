/* SPDX-License-Identifier: MIT */
/* The toy of docs/adding-a-device.md. */
#ifndef TENDON_DEVICES_TOY_H
#define TENDON_DEVICES_TOY_H

#include "tendon/devices/family.h"
#include "tendon/devices/toy_codec.h"
#include "tendon/devices/toy_session.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Its row of the table of families. */
extern const tendon_family tendon_toy_family;

#ifdef __cplusplus
}
#endif
#endif
