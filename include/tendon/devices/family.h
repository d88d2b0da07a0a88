/* SPDX-License-Identifier: MIT */
/*
 * The table of device families: whoever adds one adds a row in family.c.
 */
#ifndef TENDON_DEVICES_FAMILY_H
#define TENDON_DEVICES_FAMILY_H

#include "tendon/host.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tendon_family {
    const char *name;  /**< "bose", as commands and vectors spell it */
    const char *alias; /**< second name, or NULL */
    const char *title; /**< for people: "Bose wearable" */
    /** True when this advertisement or scan response is of the family. */
    bool (*recognizes)(const uint8_t *data, size_t length);
} tendon_family;

/** All families; @p count receives their number. Static storage. */
const tendon_family *tendon_families(size_t *count);
/** By name or alias; NULL: unknown. */
const tendon_family *tendon_family_named(const char *name);
/** The first family that recognises the data; NULL: none. */
const tendon_family *tendon_family_of(const uint8_t *data, size_t length);

#ifdef __cplusplus
}
#endif
#endif
