/* SPDX-License-Identifier: MIT */
#include "tendon/version.h"

const char *tendon_version(void) {
    return TENDON_VERSION;
}
