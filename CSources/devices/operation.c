/* SPDX-License-Identifier: MIT */
#include "tendon/devices/operation.h"

#define OUT_OF_SYNC TENDON_ATT_ERROR(TENDON_ATT_DATABASE_OUT_OF_SYNC)

/* The result of a call that the client never had, or never took. */
static void fail_call(tendon_operation *operation, tendon_status status) {
    const tendon_gatt_result result = {.status = status, .now = operation->now};
    operation->rules->done(operation->context, &result);
}

static void send_call(tendon_operation *operation) {
    tendon_gatt_client *client = operation->client;
    const tendon_operation_call call = operation->call;
    tendon_gatt_done done = operation->rules->done;
    void *context = operation->context;
    uint64_t now = operation->now;
    tendon_status request;
    switch (call.verb) {
    case TENDON_OPERATION_MTU:
        request = tendon_gatt_exchange_mtu(client, done, context, now);
        break;
    case TENDON_OPERATION_READ:
        request = tendon_gatt_read(client, call.handle, done, context, now);
        break;
    case TENDON_OPERATION_READ_LONG:
        request = tendon_gatt_read_long(client, call.handle, 0, operation->buffer, operation->rules->capacity, done,
                                        context, now);
        break;
    case TENDON_OPERATION_WRITE:
        request = tendon_gatt_write_value(client, call.handle, call.bytes, call.length, done, context, now);
        break;
    case TENDON_OPERATION_WRITE_LONG:
        request = tendon_gatt_write_long(client, call.handle, 0, call.bytes, call.length, done, context, now);
        break;
    case TENDON_OPERATION_SUBSCRIBE:
        request = tendon_gatt_subscribe(client, call.found->value, call.found->cccd, call.indicate,
                                        operation->rules->value, context, done, context, now);
        break;
    default:
        request = tendon_gatt_unsubscribe(client, call.handle, done, context, now);
        break;
    }
    if (request < 0) {
        fail_call(operation, request);
        return;
    }
    operation->request = (uint32_t)request;
    uint32_t limit = (operation->kind & TENDON_OPERATION_UNLIMITED) == 0 ? operation->rules->limit : 0;
    if (limit != 0) {
        tendon_gatt_client_set_limit(client, operation->request, limit, now);
    }
}

/* ---- the attribute table changed while connected ---- */

/* Where the new table is discovered, until it is complete: the rows of the cache, which are not in use then. */
static tendon_profile_found *second_table(const tendon_operation *operation) {
    return &operation->client->config.cache->record.rows[TENDON_PROFILE_OWN_ROWS];
}

/* The operation uses a handle that may be wrong by now. */
static bool is_stale(const tendon_operation *operation) {
    const tendon_gatt_cache *cache = operation->client->config.cache;
    return cache != NULL && cache->state == TENDON_GATT_CACHE_STALE && operation->found != NULL &&
           operation->count <= TENDON_GATT_CACHE_ROWS - TENDON_PROFILE_OWN_ROWS &&
           operation->call.verb != TENDON_OPERATION_MTU && operation->call.verb != TENDON_OPERATION_UNSUBSCRIBE;
}

/* A handle of the session that sends values is another one in the new table. */
static bool subscription_has_moved(const tendon_operation *operation) {
    const tendon_gatt_client *client = operation->client;
    const tendon_profile_found *after = second_table(operation);
    for (size_t i = 0; i < client->subscription_end; i++) {
        uint16_t handle = client->config.subscriptions[i].value_handle;
        size_t row = tendon_profile_row_of(operation->found, operation->count, handle);
        if (row < operation->count && (after[row].value != handle || after[row].cccd != operation->found[row].cccd)) {
            return true;
        }
    }
    return false;
}

/* The context of a family's rows is that of its sessions. */
static uint8_t row_of_session(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic) {
    const tendon_operation *operation = context;
    return operation->row_of(operation->context, row, service, characteristic);
}

/* The link reports Database Out Of Sync as the reason of its end. */
static void close_stale(const tendon_gatt_client *client, uint64_t now) {
    tendon_att_bearer_close(client->bearer);
    if (client->config.on_bearer_closed != NULL) {
        client->config.on_bearer_closed(client->config.context, now);
    }
}

static void rediscovered(void *context, tendon_status status, size_t row, uint64_t now) {
    tendon_operation *operation = context;
    tendon_operation_call *call = &operation->call;
    const tendon_gatt_client *client = operation->again.client; /* the session may have left it */
    (void)row;
    operation->now = now;
    call->rediscovering = false;
    if (status < 0) { /* the old table stays, and the next operation discovers again */
        client->config.cache->state = TENDON_GATT_CACHE_STALE;
        fail_call(operation, status);
        return;
    }
    bool moved = subscription_has_moved(operation);
    memcpy(operation->found, second_table(operation), operation->count * sizeof operation->found[0]);
    if (call->verb != TENDON_OPERATION_SUBSCRIBE) {
        call->handle = call->row < operation->count ? operation->found[call->row].value : 0;
    }
    if (!moved) {
        send_call(operation);
        return;
    }
    fail_call(operation, OUT_OF_SYNC);
    if (!client->closed) {
        close_stale(client, now);
    }
}

static void rediscover(tendon_operation *operation) {
    tendon_operation_call *call = &operation->call;
    operation->request = 0;
    call->rediscovering = true;
    call->row = (uint8_t)tendon_profile_row_of(operation->found, operation->count, call->handle);
    tendon_status status =
        tendon_profile_start(&operation->again, operation->client, row_of_session, second_table(operation),
                             operation->count, rediscovered, operation, operation->now);
    if (status < 0) {
        call->rediscovering = false;
        fail_call(operation, status);
    } else {
        tendon_profile_limit(&operation->again, operation->rules->limit, operation->now);
    }
}

static void begin(tendon_operation *operation, uint8_t kind, const tendon_operation_call *call) {
    operation->kind = kind;
    operation->call = *call;
    if (is_stale(operation)) {
        rediscover(operation);
    } else {
        send_call(operation);
    }
}

/* ---- the interface ---- */

void tendon_operation_start(tendon_operation *operation, uint8_t kind, tendon_operation_verb verb, uint16_t handle,
                            const uint8_t *bytes, size_t length) {
    begin(operation, kind,
          &(tendon_operation_call){.verb = (uint8_t)verb, .handle = handle, .bytes = bytes, .length = length});
}

void tendon_operation_subscribe(tendon_operation *operation, uint8_t kind, const tendon_profile_found *found,
                                bool indicate) {
    begin(operation, kind,
          &(tendon_operation_call){.verb = TENDON_OPERATION_SUBSCRIBE, .indicate = indicate, .found = found});
}

void tendon_operation_discover(tendon_operation *operation, uint8_t kind, tendon_profile *profile,
                               tendon_profile_row row_of, tendon_profile_found *found, size_t count) {
    void *context = operation->context;
    operation->kind = kind;
    operation->row_of = row_of;
    operation->found = found;
    operation->count = count;
    tendon_status status = tendon_profile_start(profile, operation->client, row_of, found, count,
                                                operation->rules->discovered, context, operation->now);
    if (status < 0) {
        operation->rules->discovered(context, status, 0, operation->now);
    }
}

uint8_t tendon_operation_ended(tendon_operation *operation, const tendon_gatt_result *result) {
    uint8_t kind = operation->kind;
    if (kind == 0 || result->request != operation->request) {
        return 0;
    }
    operation->now = result->now;
    if (result->status == OUT_OF_SYNC && !operation->call.repeated && is_stale(operation)) {
        /* The device rejects one request of the old table (Core Spec Vol 3 Part G 2.5.2.1). */
        operation->call.repeated = true;
        rediscover(operation);
        return 0;
    }
    tendon_operation_reset(operation);
    return kind;
}

void tendon_operation_reset(tendon_operation *operation) {
    operation->kind = 0;
    operation->request = 0;
    if (operation->call.rediscovering) {
        operation->call.rediscovering = false;
        operation->again.client->config.cache->state = TENDON_GATT_CACHE_STALE; /* until it is discovered */
        tendon_profile_cancel(&operation->again, operation->now);
    }
}

uint64_t tendon_operation_received_at(const tendon_operation *operation) {
    return operation->client != NULL ? operation->client->bearer->received_at : 0;
}
