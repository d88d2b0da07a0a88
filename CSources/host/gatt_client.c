/* SPDX-License-Identifier: MIT */
/* The life of a client: time, cancelled requests, the end. */
#include "gatt_client_parts.h"

tendon_status tendon_gatt_client_init(tendon_gatt_client *client, const tendon_gatt_client_config *config) {
    if (config->bearer == NULL || config->requests == NULL || config->request_capacity == 0 ||
        (config->subscriptions == NULL && config->subscription_capacity > 0)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    *client = (tendon_gatt_client){0};
    client->config = *config;
    client->bearer = config->bearer;
    client->next_id = 1;
    if (config->cache != NULL) {
        tendon_gatt_cache_begin(config->cache);
    }
    for (size_t i = 0; i < config->request_capacity; i++) {
        config->requests[i] = (tendon_gatt_request){0};
    }
    for (size_t i = 0; i < config->subscription_capacity; i++) {
        config->subscriptions[i] = (tendon_gatt_subscription){0};
    }
    config->bearer->client = client;
    return TENDON_OK;
}

/* Completes a request early. If its response is still outstanding, or the peer holds prepared parts, it keeps its slot.
 */
static void end_early(tendon_gatt_client *client, tendon_gatt_request *request, tendon_status status) {
    bool on_air = client->in_flight == request->id;
    if (request->kind == GATTC_MTU && !on_air) {
        client->mtu_exchanged = false;
    }
    if (!on_air && (request->flags & GATTC_PREPARED) == 0) {
        tendon_gattc_finish(client, request, status);
        return;
    }
    tendon_gatt_result result = tendon_gattc_result(client, request, status);
    if (request->kind == GATTC_SUBSCRIBE) {
        tendon_gattc_drop_subscription(client, request->id);
    }
    request->flags |= GATTC_ZOMBIE;
    request->deadline = UINT64_MAX;
    if (!on_air) {
        request->step = GATTC_STEP_ABORT;
    }
    if (request->done != NULL) {
        request->done(request->context, &result);
    }
}

static tendon_gatt_request *find_live(const tendon_gatt_client *client, uint32_t id) {
    tendon_gatt_request *request = tendon_gattc_find(client, id);
    return request != NULL && (request->flags & GATTC_ZOMBIE) == 0 ? request : NULL;
}

tendon_status tendon_gatt_client_cancel(tendon_gatt_client *client, uint32_t request, uint64_t now) {
    tendon_gatt_request *found = find_live(client, request);
    if (found == NULL) {
        return TENDON_ERROR_NOT_FOUND;
    }
    client->now = now;
    end_early(client, found, TENDON_ERROR_CANCELLED);
    tendon_gattc_pump(client, now);
    return TENDON_OK;
}

tendon_status tendon_gatt_client_set_deadline(tendon_gatt_client *client, uint32_t request, uint64_t deadline) {
    tendon_gatt_request *found = find_live(client, request);
    if (found == NULL) {
        return TENDON_ERROR_NOT_FOUND;
    }
    found->deadline = deadline;
    return TENDON_OK;
}

void tendon_gatt_client_set_limit(tendon_gatt_client *client, uint32_t request, uint32_t ms, uint64_t now) {
    tendon_gatt_request *found = find_live(client, request);
    if (found != NULL && !client->securing) {
        found->deadline = now + ms;
        found->limited = true;
    }
}

void tendon_gatt_client_disconnected(tendon_gatt_client *client, tendon_status reason, uint64_t now) {
    client->now = now;
    for (size_t i = 0; i < client->config.subscription_capacity; i++) {
        client->config.subscriptions[i] = (tendon_gatt_subscription){0};
    }
    client->subscription_end = 0;
    tendon_gattc_lost(client, reason < 0 ? reason : TENDON_ERROR_DISCONNECTED);
}

void tendon_gatt_client_writable(tendon_gatt_client *client, uint64_t now) {
    client->now = now;
    if (client->closed || tendon_gattc_confirm(client) < 0) {
        return;
    }
    client->blocked = false;
    tendon_gattc_pump(client, now);
    if (client->on_writable != NULL && !client->blocked && !client->closed) {
        client->on_writable(client->writable_context, now);
    }
}

void tendon_gatt_client_set_on_writable(tendon_gatt_client *client, void (*on_writable)(void *context, uint64_t now),
                                        void *context) {
    client->on_writable = on_writable;
    client->writable_context = context;
}

static tendon_gatt_request *oldest_expired(const tendon_gatt_client *client, uint64_t now) {
    tendon_gatt_request *found = NULL;
    for (size_t i = 0; i < client->config.request_capacity; i++) {
        tendon_gatt_request *request = &client->config.requests[i];
        if (request->id != 0 && request->deadline <= now &&
            (found == NULL || tendon_gattc_age_of(client, request) > tendon_gattc_age_of(client, found))) {
            found = request;
        }
    }
    return found;
}

void tendon_gatt_client_tick(tendon_gatt_client *client, uint64_t now) {
    client->now = now;
    if (client->closed) {
        return;
    }
    if (client->in_flight != 0 && now >= client->transaction_deadline) {
        tendon_att_bearer_close(client->bearer);
        tendon_gattc_lost(client, TENDON_GATT_ERROR_TRANSACTION_TIMEOUT);
        if (client->config.on_bearer_closed != NULL) {
            client->config.on_bearer_closed(client->config.context, now);
        }
        return;
    }
    /* At most one table full: a completion that starts requests with past deadlines must not hold us here. */
    for (size_t i = 0; i < client->config.request_capacity; i++) {
        tendon_gatt_request *request = oldest_expired(client, now);
        if (request == NULL) {
            break;
        }
        end_early(client, request, TENDON_ERROR_TIMEOUT);
    }
    tendon_gattc_pump(client, now);
}

uint64_t tendon_gatt_client_deadline(const tendon_gatt_client *client) {
    uint64_t deadline = UINT64_MAX;
    if (client->closed) {
        return deadline;
    }
    if (client->in_flight != 0) {
        deadline = client->transaction_deadline;
    }
    for (size_t i = 0; client->queued > 0 && i < client->config.request_capacity; i++) {
        const tendon_gatt_request *request = &client->config.requests[i];
        if (request->id != 0 && request->deadline < deadline) {
            deadline = request->deadline;
        }
    }
    return deadline;
}
