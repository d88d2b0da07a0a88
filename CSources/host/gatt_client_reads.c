/* SPDX-License-Identifier: MIT */
/* Reads (Core Spec Vol 3 Part G 4.8). */
#include "gatt_client_parts.h"

#define DATABASE_HASH_SIZE 16

tendon_status tendon_gattc_read_build(const tendon_gatt_request *request, tendon_att_pdu *pdu) {
    pdu->handle = request->handle;
    if (request->kind == GATTC_READ_BY_UUID) {
        pdu->opcode = TENDON_ATT_READ_BY_TYPE_REQUEST;
        pdu->end_handle = request->end_handle;
        pdu->type = request->uuid;
        return TENDON_OK;
    }
    pdu->offset = (uint16_t)(request->offset + request->length);
    pdu->opcode = pdu->offset == 0 ? TENDON_ATT_READ_REQUEST : TENDON_ATT_READ_BLOB_REQUEST;
    return TENDON_OK;
}

/* Processes one part of a long value; continues while parts fill the PDU. */
static tendon_status take_part(const tendon_gatt_client *client, tendon_gatt_request *request,
                               const tendon_att_pdu *pdu) {
    uint8_t *value = request->borrowed.table;
    size_t end = (size_t)request->offset + request->length + pdu->length;
    size_t stored = 0;
    if (pdu->length > (size_t)client->bearer->mtu - 1) {
        return TENDON_GATT_ERROR_BAD_RESPONSE;
    }
    if (end > TENDON_ATT_VALUE_MAX) {
        return TENDON_GATT_ERROR_VALUE_TOO_LONG;
    }
    while (stored < pdu->length && request->length < request->capacity) {
        value[request->length++] = pdu->data[stored++];
    }
    if (stored < pdu->length) {
        return TENDON_ERROR_BUFFER_TOO_SMALL;
    }
    /* The MTU may have grown since the request was sent (an exchange by the peer): the MTU at that time is used. */
    bool full = pdu->length > 0 && pdu->length >= (size_t)client->sent_mtu - 1;
    return full && end < TENDON_ATT_VALUE_MAX ? GATTC_CONTINUE : TENDON_OK;
}

static tendon_status take_first_match(const tendon_gatt_request *request, const tendon_att_pdu *pdu,
                                      tendon_gatt_result *result) {
    tendon_att_items items = tendon_att_items_of(pdu);
    tendon_att_item item;
    if (!tendon_att_items_next(&items, &item) || item.handle < request->handle || item.handle > request->end_handle ||
        ((request->flags & GATTC_HASH) != 0 && item.length != DATABASE_HASH_SIZE)) {
        return TENDON_GATT_ERROR_BAD_RESPONSE;
    }
    result->handle = item.handle;
    result->value = item.value;
    result->length = item.length;
    return TENDON_OK;
}

tendon_status tendon_gattc_read_respond(const tendon_gatt_client *client, tendon_gatt_request *request,
                                        const tendon_att_pdu *pdu, tendon_gatt_result *result) {
    switch (request->kind) {
    case GATTC_READ_LONG:
        return take_part(client, request, pdu);
    case GATTC_READ_BY_UUID:
        return take_first_match(request, pdu, result);
    default:
        result->value = pdu->data;
        result->length = pdu->length;
        return TENDON_OK;
    }
}

tendon_status tendon_gattc_read_refused(tendon_gatt_request *request, tendon_status status) {
    bool end = request->kind == GATTC_READ_LONG && request->length > 0 &&
               status == TENDON_ATT_ERROR(TENDON_ATT_ATTRIBUTE_NOT_LONG);
    return end ? TENDON_OK : status;
}
