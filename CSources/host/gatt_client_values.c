/* SPDX-License-Identifier: MIT */
/* Values that the peer sends by itself (Core Spec Vol 3 Part G 4.10, 4.11, 7.1), and who gets them. */
#include "gatt_client_internal.h"

/* Opcode and handle. */
#define VALUE_HEADER 3
#define SERVICE_CHANGED_SIZE 4

/* Subscriptions */

/* One handle sends most of the values of a wearable: it is looked at first. */
static inline tendon_gatt_subscription *find_subscription(tendon_gatt_client *client, uint16_t handle) {
    tendon_gatt_subscription *table = client->config.subscriptions;
    size_t last = client->last_subscription;
    if (handle == 0) {
        return NULL; /* marks free slots */
    }
    if (last < client->subscription_end && table[last].value_handle == handle) {
        return &table[last];
    }
    for (size_t i = 0; i < client->subscription_end; i++) {
        if (table[i].value_handle == handle) {
            client->last_subscription = i;
            return &table[i];
        }
    }
    return NULL;
}

static void remove_subscription(tendon_gatt_client *client, tendon_gatt_subscription *subscription) {
    *subscription = (tendon_gatt_subscription){0};
    while (client->subscription_end > 0 &&
           client->config.subscriptions[client->subscription_end - 1].value_handle == 0) {
        client->subscription_end--;
    }
}

void tendon_gattc_drop_subscription(tendon_gatt_client *client, uint32_t request) {
    for (size_t i = 0; i < client->subscription_end; i++) {
        tendon_gatt_subscription *subscription = &client->config.subscriptions[i];
        if (subscription->value_handle != 0 && subscription->request == request) {
            remove_subscription(client, subscription);
            return;
        }
    }
}

/* Returns the slot of a handle, or a free slot, or NULL. */
static tendon_gatt_subscription *place_for(tendon_gatt_client *client, uint16_t value_handle) {
    tendon_gatt_subscription *present = find_subscription(client, value_handle);
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

void tendon_gattc_note_cccd(tendon_gatt_client *client, const tendon_gatt_request *request) {
    tendon_gatt_subscription *subscription = find_subscription(client, request->end_handle);
    if (subscription != NULL && subscription->request == request->id) {
        subscription->cccd_handle = request->handle;
    }
}

tendon_status tendon_gatt_unsubscribe(tendon_gatt_client *client, uint16_t value_handle, tendon_gatt_done done,
                                      void *context, uint64_t now) {
    tendon_status status;
    tendon_gatt_subscription *subscription = find_subscription(client, value_handle);
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
    remove_subscription(client, subscription);
    return tendon_gattc_start(client, request, now);
}

/* Notifications */

static tendon_status deliver(tendon_gatt_client *client, uint16_t handle, const uint8_t *data, size_t length,
                             bool indication, uint64_t now) {
    tendon_gatt_subscription *subscription = find_subscription(client, handle);
    if (subscription == NULL) {
        client->bearer->counters.unhandled_value++;
        return TENDON_ERROR_NOT_FOUND;
    }
    const tendon_gatt_value value = {
        handle, data, length, indication, ++subscription->received, client->bearer->received_at};
    subscription->on_value(subscription->context, &value, now);
    return TENDON_OK;
}

static uint16_t handle_of(const uint8_t *pdu) {
    return (uint16_t)(pdu[1] | (uint32_t)pdu[2] << 8);
}

tendon_status tendon_gattc_take_notification(tendon_gatt_client *client, const uint8_t *pdu, size_t length,
                                             uint64_t now) {
    if (length < VALUE_HEADER) {
        client->bearer->counters.malformed++;
        return TENDON_ERROR_TRUNCATED;
    }
    return deliver(client, handle_of(pdu), pdu + VALUE_HEADER, length - VALUE_HEADER, false, now);
}

tendon_status tendon_gattc_take_multiple(tendon_gatt_client *client, const uint8_t *pdu, size_t length, uint64_t now) {
    tendon_att_pdu decoded;
    /* Checks the whole list, so that a bad one delivers nothing. */
    tendon_status status = tendon_att_bearer_decode(client->bearer, pdu, length, &decoded);
    if (status != TENDON_OK) {
        return status;
    }
    tendon_att_items items = tendon_att_items_of(&decoded);
    tendon_att_item item;
    while (!client->closed && tendon_att_items_next(&items, &item)) {
        tendon_status delivered = deliver(client, item.handle, item.value, item.length, false, now);
        status = delivered < 0 ? delivered : status;
    }
    return status;
}

/* Indications */

tendon_status tendon_gattc_confirm(tendon_gatt_client *client) {
    static const uint8_t confirmation[] = {TENDON_ATT_HANDLE_VALUE_CONFIRMATION};
    while (client->confirmations > 0) {
        client->confirmations--; /* before the send: the next indication can come within it */
        tendon_status status = tendon_att_bearer_send(client->bearer, confirmation, sizeof(confirmation));
        if (status == TENDON_ERROR_WOULD_BLOCK) {
            client->confirmations++;
            client->blocked = true; /* requests are queued after it */
            return status;
        }
        if (status < 0) {
            tendon_gattc_lost(client, status);
            return status;
        }
    }
    return TENDON_OK;
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

/* Only the oldest request can be in progress, but a cancelled one may precede it, so all are examined. */
static void restart_discovery(tendon_gatt_client *client, uint16_t start, uint16_t end) {
    for (size_t i = 0; i < client->config.request_capacity; i++) {
        tendon_gatt_request *request = &client->config.requests[i];
        if (request->id != 0 && tendon_gattc_discovery_hit(request, start, end)) {
            request->flags |= GATTC_RESTART;
        }
    }
}

static tendon_status take_service_changed(tendon_gatt_client *client, const uint8_t *value, size_t length,
                                          uint64_t now) {
    tendon_reader reader = tendon_reader_make(value, length);
    uint16_t start = tendon_read_u16le(&reader);
    uint16_t end = tendon_read_u16le(&reader);
    if (length != SERVICE_CHANGED_SIZE || start == 0 || start > end) {
        client->bearer->counters.malformed++;
        return length < SERVICE_CHANGED_SIZE ? TENDON_ERROR_TRUNCATED : TENDON_ERROR_MALFORMED;
    }
    restart_discovery(client, start, end);
    tendon_gattc_drop_own_writes(client, NULL, start, end);
    if (client->config.cache != NULL) {
        tendon_gatt_cache_drop(client->config.cache);
    }
    if (client->config.on_service_changed != NULL) {
        client->config.on_service_changed(client->config.context, start, end, now);
    }
    return TENDON_OK;
}

tendon_status tendon_gattc_take_indication(tendon_gatt_client *client, const uint8_t *pdu, size_t length,
                                           uint64_t now) {
    if (length < VALUE_HEADER || client->confirmations == UINT8_MAX) {
        client->bearer->counters.malformed++;
        return length < VALUE_HEADER ? TENDON_ERROR_TRUNCATED : TENDON_ERROR_WRONG_STATE;
    }
    uint16_t handle = handle_of(pdu);
    const uint8_t *value = pdu + VALUE_HEADER;
    client->confirmations++;
    tendon_status status = tendon_gattc_confirm(client);
    if (client->closed) {
        return status;
    }
    if (handle == 0 || handle != client->service_changed_handle) {
        return deliver(client, handle, value, length - VALUE_HEADER, true, now);
    }
    status = take_service_changed(client, value, length - VALUE_HEADER, now);
    if (status == TENDON_OK && !client->closed && find_subscription(client, handle) != NULL) {
        status = deliver(client, handle, value, length - VALUE_HEADER, true, now);
    }
    return status;
}
