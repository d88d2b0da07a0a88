/* SPDX-License-Identifier: MIT */
/* The engine: the queue, and one outstanding request. */
#include "gatt_client_parts.h"

/* Ids are positive as a tendon_status. */
#define ID_MAX 0x7FFFFFFFu

static bool is_discovery(uint8_t kind) {
    return kind >= GATTC_SERVICES && kind <= GATTC_DESCRIPTORS;
}

static bool is_read(uint8_t kind) {
    return kind >= GATTC_READ && kind <= GATTC_READ_BY_UUID;
}

/* Queue */

tendon_gatt_request *tendon_gattc_find(const tendon_gatt_client *client, uint32_t id) {
    for (size_t i = 0; id != 0 && i < client->config.request_capacity; i++) {
        if (client->config.requests[i].id == id) {
            return &client->config.requests[i];
        }
    }
    return NULL;
}

uint32_t tendon_gattc_age_of(const tendon_gatt_client *client, const tendon_gatt_request *request) {
    return client->next_id > request->id ? client->next_id - request->id : client->next_id + (ID_MAX - request->id);
}

bool tendon_gattc_is_own_write(const tendon_gatt_request *request) {
    return request->kind == GATTC_WRITE && (request->flags & GATTC_IDLE) != 0;
}

/* A server serves the client again once it knows of the change (Core Spec Vol 3 Part G 2.5.2.1), so such a write would
 * go to whatever has its handle now. */
void tendon_gattc_drop_own_writes(tendon_gatt_client *client, const tendon_gatt_request *kept, uint16_t start,
                                  uint16_t end) {
    for (size_t i = 0; i < client->config.request_capacity; i++) {
        tendon_gatt_request *request = &client->config.requests[i];
        if (request->id != 0 && request->id != client->in_flight && request != kept &&
            tendon_gattc_is_own_write(request) && request->handle >= start && request->handle <= end) {
            tendon_gattc_release(client, request);
        }
    }
}

/* A procedure of many requests stays the oldest until it is complete, so the order of the calls holds. */
static tendon_gatt_request *oldest(const tendon_gatt_client *client) {
    tendon_gatt_request *found = NULL;
    for (size_t i = 0; client->queued > 0 && i < client->config.request_capacity; i++) {
        tendon_gatt_request *request = &client->config.requests[i];
        if (request->id == 0) {
            continue;
        }
        if (found == NULL || (tendon_gattc_is_own_write(request) == tendon_gattc_is_own_write(found)
                                  ? tendon_gattc_age_of(client, request) > tendon_gattc_age_of(client, found)
                                  : tendon_gattc_is_own_write(found))) {
            found = request;
        }
    }
    return found;
}

tendon_gatt_request *tendon_gattc_take(tendon_gatt_client *client, uint8_t kind, tendon_gatt_done done, void *context,
                                       tendon_status *status) {
    if (client->closed || client->bearer->closed) {
        *status = TENDON_ERROR_DISCONNECTED;
        return NULL;
    }
    for (size_t i = 0; i < client->config.request_capacity; i++) {
        tendon_gatt_request *request = &client->config.requests[i];
        if (request->id == 0) {
            *request = (tendon_gatt_request){0};
            request->id = client->next_id;
            request->kind = kind;
            request->done = done;
            request->context = context;
            request->deadline = UINT64_MAX;
            client->next_id = client->next_id == ID_MAX ? 1 : client->next_id + 1;
            client->queued++;
            *status = TENDON_OK;
            return request;
        }
    }
    *status = TENDON_GATT_ERROR_QUEUE_FULL;
    return NULL;
}

void tendon_gattc_release(tendon_gatt_client *client, tendon_gatt_request *request) {
    request->id = 0;
    client->queued--;
}

tendon_gatt_result tendon_gattc_result(const tendon_gatt_client *client, const tendon_gatt_request *request,
                                       tendon_status status) {
    tendon_gatt_result result = {0};
    result.request = request->id;
    result.status = status;
    result.now = client->now;
    result.handle = request->kind == GATTC_SUBSCRIBE ? request->end_handle : request->handle;
    result.mtu = request->kind == GATTC_MTU ? client->bearer->mtu : 0;
    result.count = is_discovery(request->kind) ? request->count : 0;
    if (request->kind == GATTC_READ_LONG) {
        result.value = request->borrowed.table;
        result.length = request->length;
    }
    return result;
}

void tendon_gattc_complete(tendon_gatt_client *client, tendon_gatt_request *request, const tendon_gatt_result *result) {
    tendon_gatt_done done = (request->flags & GATTC_ZOMBIE) == 0 ? request->done : NULL;
    void *context = request->context;
    if (request->kind == GATTC_SUBSCRIBE && result->status < 0) {
        tendon_gattc_drop_subscription(client, request->id);
    } else if (request->kind == GATTC_SUBSCRIBE) {
        tendon_gattc_note_cccd(client, request);
    }
    tendon_gattc_release(client, request);
    if (done != NULL) {
        done(context, result);
    }
}

void tendon_gattc_finish(tendon_gatt_client *client, tendon_gatt_request *request, tendon_status status) {
    tendon_gatt_result result = tendon_gattc_result(client, request, status);
    tendon_gattc_complete(client, request, &result);
}

void tendon_gattc_lost(tendon_gatt_client *client, tendon_status reason) {
    tendon_gatt_request *request;
    client->closed = true;
    client->in_flight = 0;
    client->confirmations = 0;
    while ((request = oldest(client)) != NULL) {
        tendon_gattc_finish(client, request, reason);
    }
}

/* Sending */

static tendon_status encode(const tendon_gatt_client *client, tendon_gatt_request *request, uint8_t *out) {
    uint8_t scratch[16];
    tendon_att_pdu pdu = {0};
    tendon_status status;
    if (request->kind == GATTC_MTU) {
        pdu.opcode = TENDON_ATT_EXCHANGE_MTU_REQUEST;
        pdu.mtu = client->bearer->own_mtu;
        status = TENDON_OK;
    } else if (is_discovery(request->kind)) {
        status = tendon_gattc_discovery_build(request, &pdu, scratch);
    } else if (is_read(request->kind)) {
        status = tendon_gattc_read_build(request, &pdu);
    } else {
        status = tendon_gattc_write_build(client, request, &pdu, scratch);
    }
    return status == TENDON_OK ? tendon_att_encode(&pdu, out, client->bearer->mtu) : status;
}

/* @p lost distinguishes an error of the send function from a request that cannot be built. */
static tendon_status send_request(tendon_gatt_client *client, tendon_gatt_request *request, uint64_t now, bool *lost) {
    uint8_t pdu[TENDON_ATT_MTU_MAX];
    tendon_status length = encode(client, request, pdu);
    *lost = false;
    if (length < 0) {
        return length;
    }
    request->flags |= GATTC_STARTED;
    client->in_flight = request->id;
    client->in_flight_opcode = pdu[0];
    client->sent_mtu = client->bearer->mtu;
    client->transaction_deadline = now + TENDON_ATT_TRANSACTION_TIMEOUT_MS;
    tendon_status status = tendon_att_bearer_send(client->bearer, pdu, (size_t)length);
    if (status < 0) {
        client->in_flight = 0;
        client->blocked = status == TENDON_ERROR_WOULD_BLOCK;
        *lost = !client->blocked;
    }
    return status;
}

void tendon_gattc_pump(tendon_gatt_client *client, uint64_t now) {
    if (client->pumping) {
        return;
    }
    client->pumping = true;
    while (client->in_flight == 0 && !client->securing && !client->blocked && !client->closed) {
        bool lost;
        tendon_gatt_request *request = oldest(client);
        if (request == NULL) {
            break;
        }
        tendon_status status = send_request(client, request, now, &lost);
        if (lost) {
            tendon_gattc_lost(client, status);
        } else if (status < 0 && !client->blocked) {
            tendon_gattc_finish(client, request, status);
        }
    }
    client->pumping = false;
}

tendon_status tendon_gattc_start(tendon_gatt_client *client, tendon_gatt_request *request, uint64_t now) {
    tendon_status id = (tendon_status)request->id;
    bool lost;
    client->now = now;
    if (client->queued > 1 || client->in_flight != 0 || client->securing || client->blocked || client->pumping) {
        return id;
    }
    /* Alone in the queue: what fails now is the caller's to see, and no completion runs inside this call. */
    tendon_status status = send_request(client, request, now, &lost);
    if (status >= 0 || client->blocked) {
        return id;
    }
    client->closed = lost;
    if (request->kind == GATTC_SUBSCRIBE) {
        tendon_gattc_drop_subscription(client, request->id);
    }
    tendon_gattc_release(client, request);
    return status;
}
