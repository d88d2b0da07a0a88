/* SPDX-License-Identifier: MIT */
/* Devices that a file defines. */
#ifndef TENDON_DEFINITION_H
#define TENDON_DEFINITION_H

#include "tendon/definition/definition.h"
#include "tendon/definition/describe.h"
#include "tendon/definition/session.h"
#include "tendon/definition/spelling.h"

#endif
