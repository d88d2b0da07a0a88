/* SPDX-License-Identifier: MIT */
/* A response and its request: the procedure continues, or is complete. */
#include "gatt_client_parts.h"

#define OUT_OF_SYNC TENDON_ATT_ERROR(TENDON_ATT_DATABASE_OUT_OF_SYNC)

/* The result of a response as a status: TENDON_OK, the peer's error, or a protocol violation. */
static tendon_status verdict(tendon_status decoded, const tendon_att_pdu *pdu) {
    if (decoded < 0) {
        return TENDON_GATT_ERROR_BAD_RESPONSE;
    }
    return pdu->opcode == TENDON_ATT_ERROR_RESPONSE ? TENDON_ATT_ERROR(pdu->error) : TENDON_OK;
}

static tendon_status take_mtu(tendon_gatt_client *client, const tendon_att_pdu *pdu, tendon_gatt_result *result) {
    tendon_att_bearer *bearer = client->bearer;
    if (pdu->mtu < TENDON_ATT_MTU_MIN) {
        return TENDON_GATT_ERROR_BAD_RESPONSE;
    }
    bearer->mtu = pdu->mtu < bearer->own_mtu ? pdu->mtu : bearer->own_mtu;
    result->mtu = bearer->mtu;
    return TENDON_OK;
}

static tendon_status proceed(tendon_gatt_client *client, tendon_gatt_request *request, tendon_status status,
                             const tendon_att_pdu *pdu, tendon_gatt_result *result) {
    switch (request->kind) {
    case GATTC_MTU:
        /* Also for a cancelled exchange: the peer uses the new MTU from now on. */
        return status == TENDON_OK ? take_mtu(client, pdu, result) : status;
    case GATTC_SERVICES:
    case GATTC_SERVICES_BY_UUID:
    case GATTC_INCLUDED:
    case GATTC_CHARACTERISTICS:
    case GATTC_DESCRIPTORS:
        if ((request->flags & GATTC_ZOMBIE) != 0) {
            return TENDON_OK;
        }
        if ((request->flags & GATTC_RESTART) != 0) {
            return GATTC_CONTINUE;
        }
        return status == TENDON_OK ? tendon_gattc_discovery_respond(request, pdu)
                                   : tendon_gattc_discovery_refused(request, status);
    case GATTC_READ:
    case GATTC_READ_LONG:
    case GATTC_READ_BY_UUID:
        if ((request->flags & GATTC_ZOMBIE) != 0) {
            return TENDON_OK;
        }
        return status == TENDON_OK ? tendon_gattc_read_respond(client, request, pdu, result)
                                   : tendon_gattc_read_refused(request, status);
    default:
        return status == TENDON_OK ? tendon_gattc_write_respond(request, pdu)
                                   : tendon_gattc_write_refused(request, status);
    }
}

/* No operation follows that discovers again, and the server sends no values until the next request (Core Spec Vol 3
 * Part G 2.5.2.1): the session would wait forever. */
static void close_stale(tendon_gatt_client *client) {
    tendon_att_bearer_close(client->bearer);
    if (client->config.on_bearer_closed != NULL) {
        client->config.on_bearer_closed(client->config.context, client->now);
    }
}

/* The response that could not be decoded was counted when it came, before what it had prepared was taken back. */
static bool is_counted(const tendon_gatt_request *request, tendon_status status) {
    return request->step == GATTC_STEP_ABORT && status == TENDON_GATT_ERROR_BAD_RESPONSE;
}

tendon_status tendon_gattc_settle(tendon_gatt_client *client, tendon_gatt_request *request, tendon_status rejected,
                                  const tendon_att_pdu *decoded) {
    tendon_gatt_result result = tendon_gattc_result(client, request, TENDON_OK);
    tendon_status status = proceed(client, request, verdict(rejected, decoded), decoded, &result);
    if (rejected == TENDON_OK && status < 0 && TENDON_STATUS_LAYER(status) == TENDON_LAYER_GATT &&
        !is_counted(request, status)) {
        client->bearer->counters.malformed++;
        rejected = status;
    }
    if (status == OUT_OF_SYNC) {
        tendon_gattc_drop_own_writes(client, request, 1, 0xFFFF);
    }
    if (status == OUT_OF_SYNC && client->config.cache != NULL) {
        tendon_gatt_cache_drop(client->config.cache);
    }
    if (status != GATTC_CONTINUE) {
        result.status = status;
        if (status < 0 && rejected == TENDON_OK && decoded->opcode == TENDON_ATT_ERROR_RESPONSE) {
            result.handle = decoded->handle;
        }
        tendon_gatt_result last = tendon_gattc_result(client, request, status);
        result.count = last.count;
        if (last.value != NULL) {
            result.value = last.value;
            result.length = last.length;
        }
        bool own = tendon_gattc_is_own_write(request);
        tendon_gattc_complete(client, request, &result);
        if (own && status == OUT_OF_SYNC) {
            close_stale(client);
        }
    }
    return rejected;
}
