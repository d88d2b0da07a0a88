/* SPDX-License-Identifier: MIT */
/* Inside the Fjorden family only. */
#ifndef FJORDEN_NAMES_H
#define FJORDEN_NAMES_H

#include "tendon/devices/fjorden_profile.h"

/** Sets what advertisements are recognized by, and nothing else. */
void tendon_grip_profile_identity(tendon_fjorden_profile *profile);

#endif
