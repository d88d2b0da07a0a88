/* SPDX-License-Identifier: MIT */
/* Values that the peer sends by itself (Core Spec Vol 3 Part G 4.10, 4.11, 7.1). */
#include "gatt_client_parts.h"

/* Opcode and handle. */
#define VALUE_HEADER 3
#define SERVICE_CHANGED_SIZE 4

/* One handle sends most of the values of a wearable: it is looked at first. */
tendon_gatt_subscription *tendon_gattc_subscription(tendon_gatt_client *client, uint16_t handle) {
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

/* Notifications */

static tendon_status deliver(tendon_gatt_client *client, uint16_t handle, const uint8_t *data, size_t length,
                             bool indication, uint64_t now) {
    tendon_gatt_subscription *subscription = tendon_gattc_subscription(client, handle);
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
    if (status == TENDON_OK && !client->closed && tendon_gattc_subscription(client, handle) != NULL) {
        status = deliver(client, handle, value, length - VALUE_HEADER, true, now);
    }
    return status;
}
