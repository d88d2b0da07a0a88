/* SPDX-License-Identifier: MIT */
/* Writes (Core Spec Vol 3 Part G 4.9). */
#include "gatt_client_parts.h"

/* Length of a Prepare Write Request without its value. */
#define PREPARE_OVERHEAD 5
#define CLIENT_CHARACTERISTIC_CONFIGURATION 0x2902
#define EXECUTE_CANCEL 0
#define EXECUTE_WRITE 1

/* The next or the outstanding part: request->count bytes of the value are accepted. */
static void build_prepare(const tendon_gatt_client *client, tendon_gatt_request *request, tendon_att_pdu *pdu) {
    const uint8_t *value = request->borrowed.data;
    size_t room = (size_t)client->bearer->mtu - PREPARE_OVERHEAD;
    size_t rest = (size_t)request->length - request->count;
    request->progress = (uint16_t)(rest < room ? rest : room);
    pdu->opcode = TENDON_ATT_PREPARE_WRITE_REQUEST;
    pdu->handle = request->handle;
    pdu->offset = (uint16_t)(request->offset + request->count);
    pdu->length = request->progress;
    pdu->data = pdu->length > 0 ? value + request->count : NULL;
}

tendon_status tendon_gattc_write_build(const tendon_gatt_client *client, tendon_gatt_request *request,
                                       tendon_att_pdu *pdu, uint8_t scratch[16]) {
    if (request->step >= GATTC_STEP_EXECUTE) {
        pdu->opcode = TENDON_ATT_EXECUTE_WRITE_REQUEST;
        pdu->flags = request->step == GATTC_STEP_EXECUTE ? EXECUTE_WRITE : EXECUTE_CANCEL;
        return TENDON_OK;
    }
    if (request->kind == GATTC_WRITE_LONG) {
        build_prepare(client, request, pdu);
        return TENDON_OK;
    }
    if (request->step == GATTC_STEP_CCCD) {
        pdu->opcode = TENDON_ATT_FIND_INFORMATION_REQUEST;
        pdu->handle = request->cursor;
        pdu->end_handle = request->progress;
        return TENDON_OK;
    }
    pdu->opcode = TENDON_ATT_WRITE_REQUEST;
    pdu->handle = request->handle;
    if (request->kind == GATTC_WRITE) {
        pdu->data = request->borrowed.data;
        pdu->length = request->length;
        return TENDON_OK;
    }
    scratch[0] = request->kind == GATTC_UNSUBSCRIBE ? 0 : (request->flags & GATTC_INDICATE) != 0 ? 2 : 1;
    scratch[1] = 0;
    pdu->data = scratch;
    pdu->length = 2;
    return TENDON_OK;
}

/* Ends a write of prepared parts with @p status, after the server has discarded them. */
static tendon_status abort_with(tendon_gatt_request *request, tendon_status status) {
    if ((request->flags & GATTC_PREPARED) == 0) {
        return status;
    }
    request->step = GATTC_STEP_ABORT;
    request->status = status;
    return GATTC_CONTINUE;
}

static tendon_status take_prepared(tendon_gatt_request *request) {
    request->flags |= GATTC_PREPARED;
    if ((request->flags & GATTC_ZOMBIE) != 0) {
        return abort_with(request, TENDON_ERROR_CANCELLED);
    }
    request->count = (uint16_t)(request->count + request->progress);
    if (request->count >= request->length) {
        request->step = GATTC_STEP_EXECUTE;
    }
    return GATTC_CONTINUE;
}

/* A page of descriptors: the CCCD, the next page, or the end of the characteristic. */
static tendon_status take_descriptors(tendon_gatt_request *request, const tendon_att_pdu *pdu) {
    const tendon_uuid cccd = tendon_uuid_from_u16(CLIENT_CHARACTERISTIC_CONFIGURATION);
    tendon_att_items items = tendon_att_items_of(pdu);
    tendon_att_item item;
    uint16_t last = (uint16_t)(request->cursor - 1u);
    while (tendon_att_items_next(&items, &item)) {
        tendon_uuid uuid;
        if (item.handle <= last || item.handle > request->progress) {
            return item.handle <= last ? TENDON_GATT_ERROR_NO_PROGRESS : TENDON_GATT_ERROR_BAD_RESPONSE;
        }
        if (tendon_uuid_from_wire(item.value, item.length, &uuid) < 0) {
            return TENDON_GATT_ERROR_BAD_RESPONSE;
        }
        last = item.handle;
        if (tendon_uuid_equal(&uuid, &cccd)) {
            request->handle = item.handle;
            request->step = GATTC_STEP_FIRST;
            return GATTC_CONTINUE;
        }
    }
    if (last >= request->progress) {
        return TENDON_ERROR_NOT_FOUND;
    }
    request->cursor = (uint16_t)(last + 1u);
    return ++request->pages < TENDON_GATT_PAGES_MAX ? GATTC_CONTINUE : TENDON_GATT_ERROR_NO_PROGRESS;
}

tendon_status tendon_gattc_write_respond(tendon_gatt_request *request, const tendon_att_pdu *pdu) {
    if (request->step == GATTC_STEP_ABORT) {
        return request->status;
    }
    if (request->step == GATTC_STEP_CCCD) {
        /* Cancelled meanwhile: nothing is written any more. */
        return (request->flags & GATTC_ZOMBIE) != 0 ? TENDON_OK : take_descriptors(request, pdu);
    }
    if (pdu->opcode == TENDON_ATT_PREPARE_WRITE_RESPONSE) {
        return take_prepared(request);
    }
    return TENDON_OK;
}

tendon_status tendon_gattc_write_refused(tendon_gatt_request *request, tendon_status status) {
    switch (request->step) {
    case GATTC_STEP_ABORT:
        return request->status;
    case GATTC_STEP_EXECUTE:
        return status; /* Vol 3 Part F 3.4.6.3: whatever the outcome, the server's queue is empty now */
    case GATTC_STEP_CCCD:
        return status == TENDON_ATT_ERROR(TENDON_ATT_ATTRIBUTE_NOT_FOUND) ? TENDON_ERROR_NOT_FOUND : status;
    default:
        if (status == TENDON_GATT_ERROR_BAD_RESPONSE && request->kind == GATTC_WRITE_LONG) {
            request->flags |= GATTC_PREPARED; /* it accepted the part, only what it says of it is wrong */
        }
        return abort_with(request, status);
    }
}
