/* SPDX-License-Identifier: MIT */
/*
 * The table of device families. Each family's row is a separate constant (tendon_bose_family, in
 * tendon/devices/bose.h), so a program that uses one family links only that row.
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
    const char *brand;   /**< name of the family in statuses and texts: "Bose" */
    const char *summary; /**< features of its devices, for help pages */
    /** Returns true if what an advertiser has sent is from a device of the family: its advertisement, its scan
     * response, or both in any order one after the other, as tendon_radio_find() passes them. */
    bool (*recognizes)(const uint8_t *data, size_t length);
    /** Returns true if this advertisement may be from a device of the family, and only its name, which is in the scan
     * response, can tell. NULL: an advertisement is sufficient. */
    bool (*awaits_name)(const uint8_t *data, size_t length);
    uint8_t layer; /**< of its statuses: TENDON_LAYER_FAMILY_FIRST to _LAST */
    const char *(*status_name)(tendon_status status);
    const char *(*status_text)(tendon_status status);
    size_t session_size; /**< sizeof its session, for callers that cannot use sizeof */
} tendon_family;

/** Returns the family at an index of the table, or NULL beyond the last. Static storage. */
const tendon_family *tendon_family_at(size_t index);
/** Finds a family by its name or alias; NULL if unknown. */
const tendon_family *tendon_family_find(const char *name);
/** Returns the first family that recognizes what an advertiser has sent so far: its advertisement, its scan response,
 * or both in any order one after the other; NULL if there is none so far. */
const tendon_family *tendon_family_from_advertisement(const uint8_t *data, size_t length);
/** Returns the first family that needs the device's name to recognize it (awaits_name); NULL if there is none. A
 * passive scan does not find such a device. */
const tendon_family *tendon_family_awaiting_name(const uint8_t *data, size_t length);
/** Returns the family that defines this status; NULL if there is none. */
const tendon_family *tendon_family_from_status(tendon_status status);

/**
 * Finds the family whose session has filled a GATT cache. A record has handles only: this also sets the characteristic
 * of each row, all 0 if the row has none. Uses up to 5 KiB of the stack.
 * @return NULL: no session of this version; a session of a grip whose profile is not the reference profile; a
 *   tendon_gatt_table. Then @p characteristics is not defined.
 */
const tendon_family *tendon_family_from_cache(const tendon_gatt_cache_record *record,
                                              tendon_uuid characteristics[TENDON_GATT_CACHE_ROWS]);

/** Like tendon_status_name(), but also returns the names of all families' statuses. Never NULL. */
const char *tendon_family_status_name(tendon_status status);
/** Like tendon_status_text(), but also returns the texts of all families' statuses. Never NULL. What is not below 0 is
 * "success": a warning of a call, such as TENDON_FEELSPACE_WARNING_IGNORED, has no text. */
const char *tendon_family_status_text(tendon_status status);
/** Like tendon_status_layer_name(); for the layer of a family, returns its brand ("Bose"). Never NULL. */
const char *tendon_family_layer_name(tendon_status status);

#ifdef __cplusplus
}
#endif
#endif
