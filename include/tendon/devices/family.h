/* SPDX-License-Identifier: MIT */
/*
 * The table of device families. A family's row is a constant of its own (tendon_bose_family, in tendon/devices/bose.h);
 * a program that uses one family links that row alone.
 */
#ifndef TENDON_DEVICES_FAMILY_H
#define TENDON_DEVICES_FAMILY_H

#include "tendon/host.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tendon_family {
    const char *name;    /**< "bose", as commands and vectors spell it */
    const char *alias;   /**< second name, or NULL */
    const char *title;   /**< one device, for people: "Bose wearable" */
    const char *brand;   /**< what statuses and texts call the family: "Bose" */
    const char *summary; /**< what its devices offer, for help pages */
    /** True if this advertisement or scan response is of the family. */
    bool (*recognizes)(const uint8_t *data, size_t length);
    uint8_t layer; /**< of its statuses: TENDON_LAYER_FAMILY_FIRST to _LAST */
    const char *(*status_name)(tendon_status status);
    const char *(*status_text)(tendon_status status);
    size_t session_size; /**< sizeof its session, for callers that cannot take it */
} tendon_family;

/** The families in the order of the table; NULL: there are not so many. Static storage. */
const tendon_family *tendon_family_at(size_t index);
/** By name or alias; NULL: unknown. */
const tendon_family *tendon_family_find(const char *name);
/** The first family that recognizes the data; NULL: none. */
const tendon_family *tendon_family_from_advertisement(const uint8_t *data, size_t length);
/** The family that defines this status; NULL: none. */
const tendon_family *tendon_family_from_status(tendon_status status);

/** As tendon_status_name(), and the names of all families' statuses. Never NULL. */
const char *tendon_family_status_name(tendon_status status);
/** As tendon_status_text(), and the texts of all families' statuses. Never NULL. */
const char *tendon_family_status_text(tendon_status status);
/** As tendon_status_layer_name(); a family's layer is its brand, "Bose". Never NULL. */
const char *tendon_family_layer_name(tendon_status status);

#ifdef __cplusplus
}
#endif
#endif
