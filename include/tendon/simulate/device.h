/* SPDX-License-Identifier: MIT */
/*
 * What all simulated devices share: places for several centrals on one GATT
 * server. A family embeds tendon_simulated_centrals and exports its
 * tendon_peripheral_device, so that hosts need not know which family it is.
 */
#ifndef TENDON_SIMULATE_DEVICE_H
#define TENDON_SIMULATE_DEVICE_H

#include "tendon/host.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_SIMULATED_CENTRALS 4
#define TENDON_SIMULATED_CCCDS 16
#define TENDON_SIMULATED_PREPARED 8

typedef struct tendon_simulated_central {
    bool used;
    tendon_gatt_connection connection;
    uint16_t cccds[TENDON_SIMULATED_CCCDS];
    tendon_gatt_prepared prepared[TENDON_SIMULATED_PREPARED];
} tendon_simulated_central;

typedef struct tendon_simulated_centrals {
    tendon_simulated_central places[TENDON_SIMULATED_CENTRALS];
    size_t count; /**< places in use */
} tendon_simulated_centrals;

/** Takes a place for @p bearer. @return its index, TENDON_ERROR_TABLE_FULL, or the server's error. */
tendon_status tendon_simulated_centrals_connect(tendon_simulated_centrals *centrals, tendon_gatt_server *server,
                                                tendon_att_bearer *bearer);
/** Gives the place back. @return its index, or TENDON_ERROR_NOT_FOUND. */
tendon_status tendon_simulated_centrals_disconnect(tendon_simulated_centrals *centrals, tendon_att_bearer *bearer,
                                                   tendon_status reason, uint64_t now);
/** The link is encrypted with a stored key. @return the place's index, or TENDON_ERROR_NOT_FOUND. */
tendon_status tendon_simulated_centrals_paired(tendon_simulated_centrals *centrals, const tendon_att_bearer *bearer);
/** Index of a connection's place, or TENDON_ERROR_NOT_FOUND. */
tendon_status tendon_simulated_centrals_index(const tendon_simulated_centrals *centrals,
                                              const tendon_gatt_connection *connection);
/** True when some central has a CCCD bit (1 notify, 2 indicate) of @p value_handle set. */
bool tendon_simulated_centrals_subscribed(const tendon_simulated_centrals *centrals, uint16_t value_handle,
                                          uint16_t bit);

/** Flags and complete list of one 16-bit service. */
tendon_status tendon_simulated_advertisement(uint16_t service, uint8_t *out, size_t capacity);
/** The name, cut to what a legacy scan response holds (29 bytes; then as shortened name). */
tendon_status tendon_simulated_scan_response(const char *name, uint8_t *out, size_t capacity);
/** Bytes before the terminator, at most @p limit. */
size_t tendon_simulated_text_length(const char *text, size_t limit);

#ifdef __cplusplus
}
#endif
#endif
