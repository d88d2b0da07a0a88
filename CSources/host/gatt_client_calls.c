/* SPDX-License-Identifier: MIT */
/* What a program has the client do: each call takes a request, and starts it. */
#include "gatt_client_parts.h"

#define DATABASE_HASH 0x2B2A
/* Length of a Write Request without its value. */
#define WRITE_OVERHEAD 3

tendon_status tendon_gatt_exchange_mtu(tendon_gatt_client *client, tendon_gatt_done done, void *context, uint64_t now) {
    tendon_status status;
    if (client->mtu_exchanged && !client->closed) {
        return TENDON_ERROR_WRONG_STATE;
    }
    tendon_gatt_request *request = tendon_gattc_take(client, GATTC_MTU, done, context, &status);
    if (request == NULL) {
        return status;
    }
    client->mtu_exchanged = true;
    return tendon_gattc_start(client, request, now);
}

/* Discovery */

static tendon_status discover(tendon_gatt_client *client, uint8_t kind, const tendon_uuid *uuid, uint16_t first,
                              uint16_t last, void *table, size_t capacity, tendon_gatt_done done, void *context,
                              uint64_t now) {
    tendon_status status;
    if (first == 0 || first > last || (table == NULL && capacity > 0)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_gatt_request *request = tendon_gattc_take(client, kind, done, context, &status);
    if (request == NULL) {
        return status;
    }
    request->handle = first;
    request->end_handle = last;
    request->borrowed.table = table;
    request->capacity = capacity > 0xFFFF ? 0xFFFF : (uint16_t)capacity;
    if (uuid != NULL) {
        request->uuid = *uuid;
        request->flags |= GATTC_FILTER;
    }
    tendon_gattc_discovery_rewind(request);
    return tendon_gattc_start(client, request, now);
}

tendon_status tendon_gatt_discover_services(tendon_gatt_client *client, tendon_gatt_service *table, size_t capacity,
                                            tendon_gatt_done done, void *context, uint64_t now) {
    return discover(client, GATTC_SERVICES, NULL, 1, 0xFFFF, table, capacity, done, context, now);
}

tendon_status tendon_gatt_discover_services_from(tendon_gatt_client *client, uint16_t first, tendon_gatt_service *table,
                                                 size_t capacity, tendon_gatt_done done, void *context, uint64_t now) {
    return discover(client, GATTC_SERVICES, NULL, first, 0xFFFF, table, capacity, done, context, now);
}

tendon_status tendon_gatt_discover_services_by_uuid(tendon_gatt_client *client, const tendon_uuid *uuid,
                                                    tendon_gatt_service *table, size_t capacity, tendon_gatt_done done,
                                                    void *context, uint64_t now) {
    return discover(client, GATTC_SERVICES_BY_UUID, uuid, 1, 0xFFFF, table, capacity, done, context, now);
}

tendon_status tendon_gatt_find_included(tendon_gatt_client *client, uint16_t first, uint16_t last,
                                        tendon_gatt_service *table, size_t capacity, tendon_gatt_done done,
                                        void *context, uint64_t now) {
    return discover(client, GATTC_INCLUDED, NULL, first, last, table, capacity, done, context, now);
}

tendon_status tendon_gatt_discover_characteristics(tendon_gatt_client *client, uint16_t first, uint16_t last,
                                                   tendon_gatt_characteristic *table, size_t capacity,
                                                   tendon_gatt_done done, void *context, uint64_t now) {
    return discover(client, GATTC_CHARACTERISTICS, NULL, first, last, table, capacity, done, context, now);
}

tendon_status tendon_gatt_discover_characteristics_by_uuid(tendon_gatt_client *client, uint16_t first, uint16_t last,
                                                           const tendon_uuid *uuid, tendon_gatt_characteristic *table,
                                                           size_t capacity, tendon_gatt_done done, void *context,
                                                           uint64_t now) {
    return discover(client, GATTC_CHARACTERISTICS, uuid, first, last, table, capacity, done, context, now);
}

tendon_status tendon_gatt_discover_descriptors(tendon_gatt_client *client, uint16_t first, uint16_t last,
                                               tendon_gatt_descriptor *table, size_t capacity, tendon_gatt_done done,
                                               void *context, uint64_t now) {
    return discover(client, GATTC_DESCRIPTORS, NULL, first, last, table, capacity, done, context, now);
}

/* Values */

static bool fits_attribute(uint16_t offset, size_t length) {
    return offset <= TENDON_ATT_VALUE_MAX && length <= (size_t)TENDON_ATT_VALUE_MAX - offset;
}

/* One handle, with the data of a write. */
static tendon_status access_value(tendon_gatt_client *client, uint8_t kind, uint16_t handle, uint16_t offset,
                                  const uint8_t *value, size_t length, tendon_gatt_done done, void *context,
                                  uint64_t now) {
    tendon_status status;
    if (handle == 0 || !fits_attribute(offset, length) || (value == NULL && length > 0)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_gatt_request *request = tendon_gattc_take(client, kind, done, context, &status);
    if (request == NULL) {
        return status;
    }
    request->handle = handle;
    request->offset = offset;
    request->borrowed.data = value;
    request->length = (uint16_t)length;
    return tendon_gattc_start(client, request, now);
}

tendon_status tendon_gatt_read(tendon_gatt_client *client, uint16_t handle, tendon_gatt_done done, void *context,
                               uint64_t now) {
    return access_value(client, GATTC_READ, handle, 0, NULL, 0, done, context, now);
}

tendon_status tendon_gatt_read_long(tendon_gatt_client *client, uint16_t handle, uint16_t offset, uint8_t *buffer,
                                    size_t capacity, tendon_gatt_done done, void *context, uint64_t now) {
    tendon_status status;
    if (handle == 0 || offset > TENDON_ATT_VALUE_MAX || buffer == NULL) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_gatt_request *request = tendon_gattc_take(client, GATTC_READ_LONG, done, context, &status);
    if (request == NULL) {
        return status;
    }
    request->handle = handle;
    request->offset = offset;
    request->borrowed.table = buffer;
    request->capacity = capacity > TENDON_ATT_VALUE_MAX ? TENDON_ATT_VALUE_MAX : (uint16_t)capacity;
    return tendon_gattc_start(client, request, now);
}

static tendon_status read_by_uuid(tendon_gatt_client *client, uint16_t start, uint16_t end, const tendon_uuid *uuid,
                                  uint8_t flags, tendon_gatt_done done, void *context, uint64_t now) {
    tendon_status status;
    if (start == 0 || start > end) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_gatt_request *request = tendon_gattc_take(client, GATTC_READ_BY_UUID, done, context, &status);
    if (request == NULL) {
        return status;
    }
    request->handle = start;
    request->end_handle = end;
    request->uuid = *uuid;
    request->flags = flags;
    return tendon_gattc_start(client, request, now);
}

tendon_status tendon_gatt_read_by_uuid(tendon_gatt_client *client, uint16_t start, uint16_t end,
                                       const tendon_uuid *uuid, tendon_gatt_done done, void *context, uint64_t now) {
    return read_by_uuid(client, start, end, uuid, 0, done, context, now);
}

tendon_status tendon_gatt_read_database_hash(tendon_gatt_client *client, tendon_gatt_done done, void *context,
                                             uint64_t now) {
    tendon_uuid uuid = tendon_uuid_from_u16(DATABASE_HASH);
    return read_by_uuid(client, 1, 0xFFFF, &uuid, GATTC_HASH, done, context, now);
}

tendon_status tendon_gatt_write(tendon_gatt_client *client, uint16_t handle, const uint8_t *value, size_t length,
                                tendon_gatt_done done, void *context, uint64_t now) {
    return access_value(client, GATTC_WRITE, handle, 0, value, length, done, context, now);
}

tendon_status tendon_gatt_write_long(tendon_gatt_client *client, uint16_t handle, uint16_t offset, const uint8_t *value,
                                     size_t length, tendon_gatt_done done, void *context, uint64_t now) {
    return access_value(client, GATTC_WRITE_LONG, handle, offset, value, length, done, context, now);
}

tendon_status tendon_gatt_write_value(tendon_gatt_client *client, uint16_t handle, const uint8_t *value, size_t length,
                                      tendon_gatt_done done, void *context, uint64_t now) {
    uint8_t kind = length + WRITE_OVERHEAD <= client->bearer->mtu ? GATTC_WRITE : GATTC_WRITE_LONG;
    return access_value(client, kind, handle, 0, value, length, done, context, now);
}

/* Commands: no slot in the queue, no response. */
static tendon_status send_command(tendon_gatt_client *client, tendon_att_pdu *pdu, uint16_t handle,
                                  const uint8_t *value, size_t length) {
    uint8_t out[TENDON_ATT_MTU_MAX];
    if (handle == 0 || (value == NULL && length > 0)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    if (client->closed || client->bearer->closed) {
        return TENDON_ERROR_DISCONNECTED;
    }
    pdu->handle = handle;
    pdu->data = value;
    pdu->length = length;
    tendon_status status = tendon_att_encode(pdu, out, client->bearer->mtu);
    return status < 0 ? status : tendon_att_bearer_send(client->bearer, out, (size_t)status);
}

tendon_status tendon_gatt_write_command(tendon_gatt_client *client, uint16_t handle, const uint8_t *value,
                                        size_t length) {
    tendon_att_pdu pdu = {0};
    pdu.opcode = TENDON_ATT_WRITE_COMMAND;
    return send_command(client, &pdu, handle, value, length);
}

/* Subscriptions */

/* Returns the slot of a handle, or a free slot, or NULL. */
static tendon_gatt_subscription *place_for(tendon_gatt_client *client, uint16_t value_handle) {
    tendon_gatt_subscription *present = tendon_gattc_subscription(client, value_handle);
    for (size_t i = 0; present == NULL && i < client->config.subscription_capacity; i++) {
        if (client->config.subscriptions[i].value_handle == 0) {
            present = &client->config.subscriptions[i];
            client->subscription_end = client->subscription_end > i ? client->subscription_end : i + 1;
        }
    }
    return present;
}

/* Allocates a slot in both tables; the handler is set before anything is sent. */
static tendon_gatt_request *take_subscribe(tendon_gatt_client *client, uint16_t value_handle, bool indicate,
                                           const tendon_gatt_subscription *wanted, tendon_gatt_done done, void *context,
                                           tendon_status *status) {
    tendon_gatt_request *request = tendon_gattc_take(client, GATTC_SUBSCRIBE, done, context, status);
    if (request == NULL) {
        return NULL;
    }
    tendon_gatt_subscription *place = place_for(client, value_handle);
    if (place == NULL) {
        tendon_gattc_release(client, request);
        *status = TENDON_ERROR_TABLE_FULL;
        return NULL;
    }
    request->handle = wanted->cccd_handle;
    request->end_handle = value_handle;
    request->flags = indicate ? GATTC_INDICATE : 0;
    *place = *wanted;
    place->value_handle = value_handle;
    place->request = request->id;
    return request;
}

tendon_status tendon_gatt_subscribe(tendon_gatt_client *client, uint16_t value_handle, uint16_t cccd_handle,
                                    bool indicate, tendon_gatt_on_value on_value, void *value_context,
                                    tendon_gatt_done done, void *context, uint64_t now) {
    tendon_status status;
    if (value_handle == 0 || cccd_handle == 0 || on_value == NULL) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    const tendon_gatt_subscription wanted = {
        .cccd_handle = cccd_handle, .on_value = on_value, .context = value_context};
    tendon_gatt_request *request = take_subscribe(client, value_handle, indicate, &wanted, done, context, &status);
    return request == NULL ? status : tendon_gattc_start(client, request, now);
}

tendon_status tendon_gatt_subscribe_characteristic(tendon_gatt_client *client,
                                                   const tendon_gatt_characteristic *characteristic, bool indicate,
                                                   tendon_gatt_on_value on_value, void *value_context,
                                                   tendon_gatt_done done, void *context, uint64_t now) {
    tendon_status status;
    uint16_t value_handle = characteristic->value_handle;
    if (value_handle == 0 || value_handle > characteristic->end_handle || on_value == NULL) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    if (value_handle == characteristic->end_handle) {
        return client->closed ? TENDON_ERROR_DISCONNECTED : TENDON_ERROR_NOT_FOUND; /* no descriptor fits */
    }
    const tendon_gatt_subscription wanted = {.on_value = on_value, .context = value_context};
    tendon_gatt_request *request = take_subscribe(client, value_handle, indicate, &wanted, done, context, &status);
    if (request == NULL) {
        return status;
    }
    request->step = GATTC_STEP_CCCD;
    request->cursor = (uint16_t)(value_handle + 1u);
    request->progress = characteristic->end_handle;
    return tendon_gattc_start(client, request, now);
}

tendon_status tendon_gatt_unsubscribe(tendon_gatt_client *client, uint16_t value_handle, tendon_gatt_done done,
                                      void *context, uint64_t now) {
    tendon_status status;
    tendon_gatt_subscription *subscription = tendon_gattc_subscription(client, value_handle);
    if (subscription == NULL) {
        return TENDON_ERROR_NOT_FOUND;
    }
    if (subscription->cccd_handle == 0) {
        return TENDON_ERROR_WRONG_STATE; /* nothing was written yet */
    }
    tendon_gatt_request *request = tendon_gattc_take(client, GATTC_UNSUBSCRIBE, done, context, &status);
    if (request == NULL) {
        return status;
    }
    request->handle = subscription->cccd_handle;
    request->end_handle = value_handle;
    tendon_gattc_remove_subscription(client, subscription);
    return tendon_gattc_start(client, request, now);
}

void tendon_gatt_client_set_service_changed(tendon_gatt_client *client, uint16_t value_handle) {
    client->service_changed_handle = value_handle;
}

static tendon_gatt_request *waiting_own_write(const tendon_gatt_client *client, uint16_t handle, const uint8_t *value) {
    for (size_t i = 0; i < client->config.request_capacity; i++) {
        tendon_gatt_request *request = &client->config.requests[i];
        if (request->id != 0 && request->id != client->in_flight && tendon_gattc_is_own_write(request) &&
            request->handle == handle && request->borrowed.data == value) {
            return request;
        }
    }
    return NULL;
}

/* Sent when no other request is queued. */
static tendon_status own_write(tendon_gatt_client *client, uint16_t handle, const uint8_t *value, uint8_t length,
                               uint64_t now) {
    tendon_status status;
    tendon_gatt_request *request = waiting_own_write(client, handle, value);
    if (request != NULL) {
        return (tendon_status)request->id;
    }
    request = tendon_gattc_take(client, GATTC_WRITE, NULL, NULL, &status);
    if (request == NULL) {
        return status;
    }
    request->handle = handle;
    request->borrowed.data = value;
    request->length = length;
    request->flags = GATTC_IDLE;
    return tendon_gattc_start(client, request, now);
}

tendon_status tendon_gatt_enable_service_changed(tendon_gatt_client *client, uint16_t value_handle,
                                                 uint16_t cccd_handle, uint64_t now) {
    static const uint8_t indications[] = {2, 0};
    if (value_handle == 0 || cccd_handle == 0) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    client->service_changed_handle = value_handle; /* the first indication can precede the response */
    return own_write(client, cccd_handle, indications, sizeof indications, now);
}

tendon_status tendon_gatt_enable_robust_caching(tendon_gatt_client *client, uint16_t value_handle, uint64_t now) {
    static const uint8_t features[] = {0x01};
    return value_handle == 0 ? TENDON_ERROR_INVALID_ARGUMENT
                             : own_write(client, value_handle, features, sizeof features, now);
}
