/* SPDX-License-Identifier: MIT */
#include "tendon/devices/operation.h"

static void starting(tendon_operation *operation, uint8_t kind) {
    operation->kind = kind;
    operation->request = 0;
    operation->starting = true;
}

/* After a starting call, with what it returned. */
static void started(tendon_operation *operation, tendon_gatt_client *client, tendon_status request) {
    if (operation->client != client) {
        /* A callback within the call disconnected. */
        (void)tendon_gatt_client_cancel(client, (uint32_t)request, operation->now);
    } else if (operation->starting) { /* no result yet */
        if (request < 0) {
            const tendon_gatt_result refused = {.status = request, .now = operation->now};
            operation->rules->done(operation->context, &refused);
            return;
        }
        operation->starting = false;
        operation->request = (uint32_t)request;
        uint32_t limit = (operation->kind & TENDON_OPERATION_UNLIMITED) == 0 ? operation->rules->limit : 0;
        if (limit != 0) {
            (void)tendon_gatt_client_set_deadline(client, operation->request, operation->now + limit);
        }
    }
}

void tendon_operation_start(tendon_operation *operation, uint8_t kind, tendon_operation_verb verb, uint16_t handle,
                            const uint8_t *bytes, size_t length) {
    tendon_gatt_client *client = operation->client;
    tendon_gatt_done done = operation->rules->done;
    void *context = operation->context;
    uint64_t now = operation->now;
    tendon_status request;
    starting(operation, kind);
    switch (verb) {
    case TENDON_OPERATION_MTU:
        request = tendon_gatt_exchange_mtu(client, done, context, now);
        break;
    case TENDON_OPERATION_READ:
        request = tendon_gatt_read(client, handle, done, context, now);
        break;
    case TENDON_OPERATION_READ_LONG:
        request =
            tendon_gatt_read_long(client, handle, 0, operation->buffer, operation->rules->capacity, done, context, now);
        break;
    case TENDON_OPERATION_WRITE:
        request = tendon_gatt_write(client, handle, bytes, length, done, context, now);
        break;
    case TENDON_OPERATION_WRITE_LONG:
        request = tendon_gatt_write_long(client, handle, 0, bytes, length, done, context, now);
        break;
    default:
        request = tendon_gatt_unsubscribe(client, handle, done, context, now);
        break;
    }
    started(operation, client, request);
}

void tendon_operation_subscribe(tendon_operation *operation, uint8_t kind, const tendon_profile_found *found,
                                bool indicate, tendon_gatt_on_value on_value) {
    tendon_gatt_client *client = operation->client;
    void *context = operation->context;
    starting(operation, kind);
    started(operation, client,
            tendon_gatt_subscribe(client, found->value, found->cccd, indicate, on_value, context,
                                  operation->rules->done, context, operation->now));
}

void tendon_operation_discover(tendon_operation *operation, uint8_t kind, tendon_profile *profile,
                               tendon_profile_row row_of, tendon_profile_found *found, size_t count,
                               void (*done)(void *context, tendon_status status, size_t row, uint64_t now)) {
    void *context = operation->context;
    operation->kind = kind;
    operation->request = 0;
    tendon_status status =
        tendon_profile_start(profile, operation->client, row_of, found, count, done, context, operation->now);
    if (status < 0) {
        done(context, status, 0, operation->now);
    }
}

uint8_t tendon_operation_ended(tendon_operation *operation, const tendon_gatt_result *result) {
    uint8_t kind = operation->kind;
    if (kind == 0 || (!operation->starting && result->request != operation->request)) {
        return 0;
    }
    operation->now = result->now;
    tendon_operation_reset(operation);
    return kind;
}

void tendon_operation_reset(tendon_operation *operation) {
    operation->kind = 0;
    operation->request = 0;
    operation->starting = false;
}
