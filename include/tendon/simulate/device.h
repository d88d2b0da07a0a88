/* SPDX-License-Identifier: MIT */
/*
 * Shared by all simulated devices: slots for several centrals on one GATT server. A family embeds
 * tendon_simulated_centrals and exports its tendon_peripheral_device, so a host does not depend on the family.
 */
#ifndef TENDON_SIMULATE_DEVICE_H
#define TENDON_SIMULATE_DEVICE_H

#include "tendon/host.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_SIMULATED_CENTRALS 4
#define TENDON_SIMULATED_CCCDS 21 /* the characteristics of a device file, and Service Changed */
#define TENDON_SIMULATED_PREPARED 8

typedef tendon_gatt_central tendon_simulated_central;

typedef struct tendon_simulated_centrals {
    tendon_gatt_central places[TENDON_SIMULATED_CENTRALS];
    uint16_t cccds[TENDON_SIMULATED_CENTRALS * TENDON_SIMULATED_CCCDS];
    tendon_gatt_prepared prepared[TENDON_SIMULATED_CENTRALS * TENDON_SIMULATED_PREPARED];
    size_t count; /**< slots in use */
} tendon_simulated_centrals;

/** Allocates a slot for @p bearer. @return its index, TENDON_ERROR_TABLE_FULL, or the server's error. */
tendon_status tendon_simulated_centrals_connect(tendon_simulated_centrals *centrals, tendon_gatt_server *server,
                                                tendon_att_bearer *bearer);
/** Frees the slot of @p bearer. @return its index, or TENDON_ERROR_NOT_FOUND. */
tendon_status tendon_simulated_centrals_disconnect(tendon_simulated_centrals *centrals, tendon_att_bearer *bearer,
                                                   tendon_status reason, uint64_t now);
/** Sets the connection to encrypted with a stored key. @return the index of its slot, or TENDON_ERROR_NOT_FOUND. */
tendon_status tendon_simulated_centrals_paired(tendon_simulated_centrals *centrals, const tendon_att_bearer *bearer);
/** Returns the index of a connection's slot, or TENDON_ERROR_NOT_FOUND. */
tendon_status tendon_simulated_centrals_index(const tendon_simulated_centrals *centrals,
                                              const tendon_gatt_connection *connection);
/** Returns true if at least one central has a CCCD bit (1 notify, 2 indicate) of @p value_handle set. */
bool tendon_simulated_centrals_subscribed(const tendon_simulated_centrals *centrals, uint16_t value_handle,
                                          uint16_t bit);

/** Writes Flags and the complete list of one 16-bit service. */
tendon_status tendon_simulated_advertisement(uint16_t service, uint8_t *out, size_t capacity);
/** Writes the name. A name longer than 29 bytes is truncated and written as Shortened Local Name. */
tendon_status tendon_simulated_scan_response(const char *name, uint8_t *out, size_t capacity);
/** The handle that tendon_gatt_add_characteristic() or tendon_gatt_add_descriptor() returned; 0: an error. */
uint16_t tendon_simulated_handle(tendon_status result);
/** Of a text that a table holds; the longest Device Name (Vol 3 Part C 12.1). */
#define TENDON_SIMULATED_TEXT_MAX 248
/** Returns the number of bytes before the terminator, at most @p limit. */
size_t tendon_simulated_text_length(const char *text, size_t limit);

#ifdef __cplusplus
}
#endif
#endif
