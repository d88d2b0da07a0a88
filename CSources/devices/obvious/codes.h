/* SPDX-License-Identifier: MIT */
/* Inside the Obvious family only: its statuses as codes of one byte. A processor loads them with a short instruction;
 * the number of a status takes three times the space. Functions that are called from outside return statuses. */
#ifndef OBVIOUS_CODES_H
#define OBVIOUS_CODES_H

#include "tendon/devices/obvious_codec.h"

#define OBVIOUS_CODE(name, code, text) CODE_##name = (code),
enum { CODE_OK = 0, TENDON_OBVIOUS_STATUS_LIST(OBVIOUS_CODE) };
#undef OBVIOUS_CODE

static inline tendon_status status_of(unsigned code) {
    return code == CODE_OK ? TENDON_OK : TENDON_STATUS(TENDON_LAYER_OBVIOUS, (int)code);
}

#endif
