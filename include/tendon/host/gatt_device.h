/* SPDX-License-Identifier: MIT */
/*
 * A peripheral of the program's own: advertising data, an attribute table (gatt_server.h), and the slots of the
 * centrals that it serves. Its owner is the linux component (linux/peripheral.h), or a test.
 *
 * In outline, with the error checks left out (examples/c/heart_rate.c is a whole program):
 *
 *   tendon_gatt_server_init(&server, attributes, 16, &handlers);       // read, write, subscribed, confirmed
 *   tendon_gatt_add_generic_access(&server, "Tendon", 6, appearance);
 *   tendon_gatt_add_service(&server, &heart_rate, true);
 *   rate = tendon_gatt_add_characteristic(&server, &measurement, TENDON_GATT_NOTIFY, 0);
 *   tendon_gatt_add_generic_attribute(&server);                        // last
 *   tendon_gatt_device_init(&device, &server, &config);
 *   tendon_peripheral_device served = tendon_gatt_device_peripheral(&device);
 *   tendon_peripheral_init(&peripheral, radio, &served, &callbacks);   // connected, disconnected
 *   tendon_peripheral_open(&peripheral, 0);
 */
#ifndef TENDON_HOST_GATT_DEVICE_H
#define TENDON_HOST_GATT_DEVICE_H

#include "tendon/host/gatt_server.h"
#include "tendon/host/peripheral.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The slot of one central. It is free again after the connection ended. */
typedef struct tendon_gatt_central {
    bool used;
    tendon_gatt_connection connection;
} tendon_gatt_central;

/** Slots and their memory, all of it the caller's. Zero @p places before the first use. */
typedef struct tendon_gatt_centrals {
    tendon_gatt_central *places;
    size_t capacity;                /**< slots; at most 32 */
    uint16_t *cccds;                /**< capacity * cccd_capacity values; NULL if cccd_capacity is 0 */
    size_t cccd_capacity;           /**< of each slot; at least server->cccd_count */
    tendon_gatt_prepared *prepared; /**< capacity * prepared_capacity; NULL if prepared_capacity is 0 */
    size_t prepared_capacity;       /**< of each slot; 0: long writes are rejected */
} tendon_gatt_centrals;

/** Takes a free slot for @p bearer. @return its index, TENDON_ERROR_TABLE_FULL, or the server's error. */
tendon_status tendon_gatt_centrals_connect(const tendon_gatt_centrals *centrals, tendon_gatt_server *server,
                                           tendon_att_bearer *bearer);
/** Frees the slot of @p bearer. @return its index, or TENDON_ERROR_NOT_FOUND. */
tendon_status tendon_gatt_centrals_disconnect(const tendon_gatt_centrals *centrals, tendon_att_bearer *bearer,
                                              tendon_status reason, uint64_t now);
/** Marks the connection as encrypted with a stored key. @return the index of its slot, or TENDON_ERROR_NOT_FOUND. */
tendon_status tendon_gatt_centrals_paired(const tendon_gatt_centrals *centrals, const tendon_att_bearer *bearer);
/** Returns the index of the slot of a connection, or TENDON_ERROR_NOT_FOUND. */
tendon_status tendon_gatt_centrals_index(const tendon_gatt_central *places, size_t capacity,
                                         const tendon_gatt_connection *connection);
/** Returns true if at least one central has a CCCD bit (1 notify, 2 indicate) of @p value_handle set. */
bool tendon_gatt_centrals_subscribed(const tendon_gatt_central *places, size_t capacity, uint16_t value_handle,
                                     uint16_t bit);

typedef struct tendon_gatt_device_config {
    const uint8_t *advertisement; /**< AD structures, 0 to 31 bytes; borrowed while the device is in use */
    size_t advertisement_length;
    const uint8_t *scan_response; /**< the same */
    size_t scan_response_length;
    tendon_gatt_centrals centrals; /**< copied */
    bool pairable;                 /**< centrals can pair, if the radio has a store of bonds */
    void *context;
    /**
     * Called when a connection can send again, after a notification or an indication was rejected with
     * TENDON_ERROR_WOULD_BLOCK. Send what is waiting; a connection that is still full rejects it again. May be NULL.
     */
    void (*ready)(void *context, uint64_t now);
} tendon_gatt_device_config;

/** A device in the caller's memory. It must stay in place while it is served. */
typedef struct tendon_gatt_device {
    tendon_gatt_server *server;
    tendon_gatt_device_config config;
} tendon_gatt_device;

/**
 * Prepares a device. The attribute table must be complete.
 * @return TENDON_OK; the server's own error; TENDON_ERROR_OVERFLOW: the advertisement or the scan response is longer
 * than 31 bytes; TENDON_ERROR_TRUNCATED: one of them ends in the middle of a structure (tendon_ad_check() returns
 * where); TENDON_ERROR_INVALID_ARGUMENT: no slots, or too little memory for the CCCDs of the server.
 */
tendon_status tendon_gatt_device_init(tendon_gatt_device *device, tendon_gatt_server *server,
                                      const tendon_gatt_device_config *config);

/** Replaces advertisement and scan response (borrowed); tendon_peripheral_readvertise() puts them into effect. @return
 * as tendon_gatt_device_init(); after an error the previous data stay. */
tendon_status tendon_gatt_device_set_advertisement(tendon_gatt_device *device, const uint8_t *advertisement,
                                                   size_t advertisement_length, const uint8_t *scan_response,
                                                   size_t scan_response_length);

/** Returns the device for tendon_peripheral_init(). */
tendon_peripheral_device tendon_gatt_device_peripheral(tendon_gatt_device *device);

/**
 * Notifies every central that has enabled notifications of a characteristic, see tendon_gatt_notify(). For one central,
 * call that function.
 * @param blocked receives a bit for each slot whose connection is full (TENDON_ERROR_WOULD_BLOCK): it did not get this
 * value, and ready() follows. May be NULL.
 * @return the number of centrals to which the value was sent; TENDON_ERROR_INVALID_ARGUMENT: no value, but a length.
 */
tendon_status tendon_gatt_device_notify(tendon_gatt_device *device, uint16_t value_handle, const uint8_t *value,
                                        size_t length, uint32_t *blocked);

#ifdef __cplusplus
}
#endif
#endif
