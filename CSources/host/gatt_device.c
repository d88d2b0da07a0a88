/* SPDX-License-Identifier: MIT */
/* A peripheral of the program's own: places for centrals, and the functions that the owner of the links calls. */
#include "tendon/host/gatt_device.h"
#include "tendon/host/advertisement.h"

#include <string.h>

#define PLACES_MAX 32

/* ---- places ---- */

static tendon_status place_of(const tendon_gatt_centrals *centrals, const tendon_att_bearer *bearer) {
    for (size_t i = 0; i < centrals->capacity; i++) {
        if (centrals->places[i].used && centrals->places[i].connection.bearer == bearer) {
            return (tendon_status)i;
        }
    }
    return TENDON_ERROR_NOT_FOUND;
}

tendon_status tendon_gatt_centrals_connect(const tendon_gatt_centrals *centrals, tendon_gatt_server *server,
                                           tendon_att_bearer *bearer) {
    for (size_t i = 0; i < centrals->capacity; i++) {
        tendon_gatt_central *place = &centrals->places[i];
        if (place->used) {
            continue;
        }
        tendon_gatt_connection_config config = {.bearer = bearer,
                                                .cccd_capacity = centrals->cccd_capacity,
                                                .prepared_capacity = centrals->prepared_capacity};
        config.cccds = centrals->cccd_capacity != 0 ? &centrals->cccds[i * centrals->cccd_capacity] : NULL;
        config.prepared =
            centrals->prepared_capacity != 0 ? &centrals->prepared[i * centrals->prepared_capacity] : NULL;
        tendon_status status = tendon_gatt_connection_init(&place->connection, server, &config);
        if (status < 0) {
            return status;
        }
        place->used = true;
        return (tendon_status)i;
    }
    return TENDON_ERROR_TABLE_FULL;
}

tendon_status tendon_gatt_centrals_disconnect(const tendon_gatt_centrals *centrals, tendon_att_bearer *bearer,
                                              tendon_status reason, uint64_t now) {
    tendon_status index = place_of(centrals, bearer);
    if (index >= 0) {
        tendon_gatt_central *place = &centrals->places[index];
        place->used = false;
        tendon_gatt_connection_closed(&place->connection, reason, now);
    }
    return index;
}

tendon_status tendon_gatt_centrals_paired(const tendon_gatt_centrals *centrals, const tendon_att_bearer *bearer) {
    tendon_status index = place_of(centrals, bearer);
    if (index >= 0) {
        tendon_gatt_connection *connection = &centrals->places[index].connection;
        connection->bonded = true;
        if (connection->security < TENDON_GATT_SECURITY_ENCRYPTED) {
            connection->security = TENDON_GATT_SECURITY_ENCRYPTED;
        }
    }
    return index;
}

tendon_status tendon_gatt_centrals_index(const tendon_gatt_central *places, size_t capacity,
                                         const tendon_gatt_connection *connection) {
    for (size_t i = 0; i < capacity; i++) {
        if (places[i].used && &places[i].connection == connection) {
            return (tendon_status)i;
        }
    }
    return TENDON_ERROR_NOT_FOUND;
}

bool tendon_gatt_centrals_subscribed(const tendon_gatt_central *places, size_t capacity, uint16_t value_handle,
                                     uint16_t bit) {
    for (size_t i = 0; i < capacity; i++) {
        if (places[i].used && (tendon_gatt_connection_cccd(&places[i].connection, value_handle) & bit) != 0) {
            return true;
        }
    }
    return false;
}

/* ---- the functions that the owner of the links calls ---- */

static tendon_status copy(const uint8_t *data, size_t length, uint8_t *out, size_t capacity) {
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_bytes(&writer, data, length);
    return tendon_writer_result(&writer);
}

static tendon_status device_advertisement(const void *context, uint8_t *out, size_t capacity) {
    const tendon_gatt_device_config *config = &((const tendon_gatt_device *)context)->config;
    return copy(config->advertisement, config->advertisement_length, out, capacity);
}

static tendon_status device_scan_response(const void *context, uint8_t *out, size_t capacity) {
    const tendon_gatt_device_config *config = &((const tendon_gatt_device *)context)->config;
    return copy(config->scan_response, config->scan_response_length, out, capacity);
}

static tendon_status device_connected(void *context, tendon_att_bearer *bearer, uint64_t now) {
    tendon_gatt_device *device = context;
    (void)now;
    return tendon_gatt_centrals_connect(&device->config.centrals, device->server, bearer);
}

static void device_disconnected(void *context, tendon_att_bearer *bearer, tendon_status reason, uint64_t now) {
    const tendon_gatt_device *device = context;
    (void)tendon_gatt_centrals_disconnect(&device->config.centrals, bearer, reason, now);
}

static void device_paired(void *context, tendon_att_bearer *bearer, uint64_t now) {
    const tendon_gatt_device *device = context;
    (void)now;
    (void)tendon_gatt_centrals_paired(&device->config.centrals, bearer);
}

static void device_writable(void *context, uint64_t now) {
    const tendon_gatt_device *device = context;
    if (device->config.ready != NULL) {
        device->config.ready(device->config.context, now);
    }
}

/* The bearers have the only deadlines. */
static void device_tick(void *context, uint64_t now) {
    (void)context;
    (void)now;
}

static uint64_t device_deadline(const void *context) {
    (void)context;
    return UINT64_MAX;
}

static uint32_t device_pairing(void *context) {
    return ((const tendon_gatt_device *)context)->config.pairable ? TENDON_PERIPHERAL_PAIRABLE : 0;
}

static const tendon_peripheral_ops device_ops = {.name = "gatt",
                                                 .advertisement = device_advertisement,
                                                 .scan_response = device_scan_response,
                                                 .connected = device_connected,
                                                 .disconnected = device_disconnected,
                                                 .paired = device_paired,
                                                 .writable = device_writable,
                                                 .tick = device_tick,
                                                 .deadline = device_deadline,
                                                 .pairing = device_pairing};

tendon_peripheral_device tendon_gatt_device_peripheral(tendon_gatt_device *device) {
    return (tendon_peripheral_device){.ops = &device_ops, .context = device};
}

/* ---- the program's calls ---- */

static tendon_status check_advertisement(const uint8_t *data, size_t length) {
    if (data == NULL && length != 0) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    return length > TENDON_AD_LEGACY_MAX ? TENDON_ERROR_OVERFLOW : tendon_ad_check(data, length, NULL);
}

tendon_status tendon_gatt_device_set_advertisement(tendon_gatt_device *device, const uint8_t *advertisement,
                                                   size_t advertisement_length, const uint8_t *scan_response,
                                                   size_t scan_response_length) {
    tendon_status status = check_advertisement(advertisement, advertisement_length);
    if (status >= 0) {
        status = check_advertisement(scan_response, scan_response_length);
    }
    if (status >= 0) {
        device->config.advertisement = advertisement;
        device->config.advertisement_length = advertisement_length;
        device->config.scan_response = scan_response;
        device->config.scan_response_length = scan_response_length;
    }
    return status;
}

tendon_status tendon_gatt_device_init(tendon_gatt_device *device, tendon_gatt_server *server,
                                      const tendon_gatt_device_config *config) {
    const tendon_gatt_centrals *centrals = &config->centrals;
    if (server->status < 0) {
        return server->status;
    }
    if (centrals->places == NULL || centrals->capacity == 0 || centrals->capacity > PLACES_MAX ||
        centrals->cccd_capacity < server->cccd_count || (centrals->cccds == NULL && centrals->cccd_capacity != 0) ||
        (centrals->prepared == NULL && centrals->prepared_capacity != 0)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    *device = (tendon_gatt_device){.server = server, .config = *config};
    for (size_t i = 0; i < centrals->capacity; i++) {
        centrals->places[i].used = false;
    }
    return tendon_gatt_device_set_advertisement(device, config->advertisement, config->advertisement_length,
                                                config->scan_response, config->scan_response_length);
}

tendon_status tendon_gatt_device_notify(tendon_gatt_device *device, uint16_t value_handle, const uint8_t *value,
                                        size_t length, uint32_t *blocked) {
    const tendon_gatt_centrals *centrals = &device->config.centrals;
    tendon_status sent = 0;
    uint32_t full = 0;
    if (value == NULL && length != 0) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    for (size_t i = 0; i < centrals->capacity; i++) {
        if (!centrals->places[i].used) {
            continue;
        }
        tendon_status status = tendon_gatt_notify(&centrals->places[i].connection, value_handle, value, length);
        sent += status == TENDON_OK ? 1 : 0;
        full |= status == TENDON_ERROR_WOULD_BLOCK ? 1u << i : 0;
    }
    if (blocked != NULL) {
        *blocked = full;
    }
    return sent;
}
