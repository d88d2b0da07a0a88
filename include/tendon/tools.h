/* SPDX-License-Identifier: MIT */
/*
 * Tendon: component tools. What looks at the radio and at the machine, and what no gateway needs: capture files, the
 * programs that use an adapter, and the checks of `tendon doctor`. Uses linux; nothing of linux uses it, a capture of
 * links is a function for tendon_radio.tap.
 */
#ifndef TENDON_TOOLS_H
#define TENDON_TOOLS_H

#include "tendon/tools/capture.h"
#include "tendon/tools/doctor.h"
#include "tendon/tools/neighbors.h"

#endif
