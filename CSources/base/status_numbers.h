/* SPDX-License-Identifier: MIT */
/*
 * The statuses that have names and texts, in the order of both: first the statuses that Tendon defines, then the codes
 * of others. Numbers are layer * 256 + code.
 */
#ifndef TENDON_BASE_STATUS_NUMBERS_H
#define TENDON_BASE_STATUS_NUMBERS_H

#include "status_errno.h"
#include "status_lists.h"
#include "tendon/base/packed.h"
#include "tendon/base/status.h"

/* OWN(name, layer, code, text), CODE for the lists of others with their layer's prefix, SYSTEM(name, text). */
#define TENDON_STATUS_STRINGS(OWN, ATT, HCI, MANAGEMENT, SYSTEM)                                                       \
    TENDON_STATUS_LIST(OWN)                                                                                            \
    TENDON_ATT_CODE_LIST(ATT)                                                                                          \
    TENDON_HCI_CODE_LIST(HCI)                                                                                          \
    TENDON_MANAGEMENT_CODE_LIST(MANAGEMENT) TENDON_ERRNO_LIST(SYSTEM)

extern const uint16_t tendon_status_numbers[];
extern const size_t tendon_status_number_count;

/** Returns the string of @p status; NULL if it has none. @p strings are in the order of tendon_status_numbers. */
const char *tendon_status_string(const char *strings, tendon_status status);

#endif
