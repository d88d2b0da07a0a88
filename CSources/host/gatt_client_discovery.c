/* SPDX-License-Identifier: MIT */
/*
 * Discovery (Core Spec Vol 3 Part G 4.4 to 4.7). Every item must lie above the
 * one before it (request->progress) and within the range, so each page
 * advances by at least one handle and every loop here ends.
 */
#include "gatt_client_parts.h"

#define PRIMARY_SERVICE 0x2800
#define INCLUDE 0x2802
#define CHARACTERISTIC 0x2803

void tendon_gattc_discovery_rewind(tendon_gatt_request *request) {
    request->step = GATTC_STEP_FIRST;
    request->flags &= (uint8_t) ~(GATTC_RESTART | GATTC_OPEN | GATTC_LONG);
    request->cursor = request->handle;
    request->progress = (uint16_t)(request->handle - 1);
    request->count = 0;
    request->pages = 0;
    request->status = TENDON_OK;
}

bool tendon_gattc_discovery_hit(const tendon_gatt_request *request, uint16_t first, uint16_t last) {
    return request->kind >= GATTC_SERVICES && request->kind <= GATTC_DESCRIPTORS &&
           (request->flags & (GATTC_ZOMBIE | GATTC_STARTED)) == GATTC_STARTED && first <= request->end_handle &&
           last >= request->handle;
}

tendon_status tendon_gattc_discovery_build(tendon_gatt_request *request, tendon_att_pdu *pdu, uint8_t scratch[16]) {
    if ((request->flags & GATTC_RESTART) != 0) {
        tendon_gattc_discovery_rewind(request);
        if (request->restarts++ == TENDON_GATT_RESTARTS_MAX) {
            return TENDON_ATT_ERROR(TENDON_ATT_DATABASE_OUT_OF_SYNC);
        }
    }
    pdu->handle = request->cursor;
    pdu->end_handle = request->end_handle;
    switch (request->kind) {
    case GATTC_SERVICES:
        pdu->opcode = TENDON_ATT_READ_BY_GROUP_TYPE_REQUEST;
        pdu->type = tendon_uuid_from_u16(PRIMARY_SERVICE);
        break;
    case GATTC_SERVICES_BY_UUID:
        pdu->opcode = TENDON_ATT_FIND_BY_TYPE_VALUE_REQUEST;
        pdu->type = tendon_uuid_from_u16(PRIMARY_SERVICE);
        pdu->data = scratch;
        pdu->length = (request->flags & GATTC_LONG) != 0 ? 16 : tendon_uuid_to_wire(&request->uuid, scratch);
        for (size_t i = 0; i < 16 && (request->flags & GATTC_LONG) != 0; i++) {
            scratch[i] = request->uuid.bytes[15 - i];
        }
        break;
    case GATTC_INCLUDED:
        if (request->step == GATTC_STEP_UUIDS) {
            pdu->opcode = TENDON_ATT_READ_REQUEST;
            pdu->handle = ((const tendon_gatt_service *)request->borrowed.table)[request->cursor].start_handle;
            break;
        }
        pdu->opcode = TENDON_ATT_READ_BY_TYPE_REQUEST;
        pdu->type = tendon_uuid_from_u16(INCLUDE);
        break;
    case GATTC_CHARACTERISTICS:
        pdu->opcode = TENDON_ATT_READ_BY_TYPE_REQUEST;
        pdu->type = tendon_uuid_from_u16(CHARACTERISTIC);
        break;
    default:
        pdu->opcode = TENDON_ATT_FIND_INFORMATION_REQUEST;
        break;
    }
    return TENDON_OK;
}

/* The shortest path to a rejected item: order first, then range. */
static tendon_status check_order(const tendon_gatt_request *request, uint16_t first, uint16_t last) {
    if (first <= request->progress) {
        return TENDON_GATT_ERROR_NO_PROGRESS;
    }
    return last < first || first > request->end_handle ? TENDON_GATT_ERROR_BAD_RESPONSE : TENDON_OK;
}

/* UUIDs in attribute values have 2 or 16 bytes, never 4. */
static tendon_status take_uuid(const uint8_t *wire, size_t length, tendon_uuid *out) {
    if (length != 2 && length != 16) {
        return TENDON_GATT_ERROR_BAD_RESPONSE;
    }
    return tendon_uuid_from_wire(wire, length, out);
}

static tendon_status take_service(tendon_gatt_request *request, const tendon_att_item *item) {
    tendon_gatt_service *table = request->borrowed.table;
    tendon_gatt_service service = {request->uuid, item->handle, item->end_handle, 0};
    tendon_status status = check_order(request, item->handle, item->end_handle);
    if (status == TENDON_OK && request->kind == GATTC_SERVICES) {
        status = take_uuid(item->value, item->length, &service.uuid);
    }
    if (status != TENDON_OK) {
        return status;
    }
    if (request->count >= request->capacity) {
        return TENDON_ERROR_TABLE_FULL;
    }
    table[request->count++] = service;
    request->progress = item->end_handle;
    request->cursor = item->end_handle;
    return TENDON_OK;
}

static bool is_nil(const tendon_uuid *uuid) {
    static const tendon_uuid nil;
    return tendon_uuid_equal(uuid, &nil);
}

static tendon_status take_include(tendon_gatt_request *request, const tendon_att_item *item) {
    tendon_gatt_service *table = request->borrowed.table;
    tendon_gatt_service service = {{{0}}, 0, 0, item->handle};
    tendon_reader reader = tendon_reader_make(item->value, item->length);
    tendon_status status = check_order(request, item->handle, item->handle);
    if (status != TENDON_OK) {
        return status;
    }
    service.start_handle = tendon_read_u16le(&reader);
    service.end_handle = tendon_read_u16le(&reader);
    if ((item->length != 4 && item->length != 6) || service.start_handle == 0 ||
        service.end_handle < service.start_handle) {
        return TENDON_GATT_ERROR_BAD_RESPONSE;
    }
    if (item->length == 6) {
        service.uuid = tendon_uuid_from_u16(tendon_read_u16le(&reader));
    }
    if (request->count >= request->capacity) {
        return TENDON_ERROR_TABLE_FULL;
    }
    table[request->count++] = service;
    request->progress = item->handle;
    request->cursor = item->handle;
    return TENDON_OK;
}

static tendon_status take_characteristic(tendon_gatt_request *request, const tendon_att_item *item) {
    tendon_gatt_characteristic *table = request->borrowed.table;
    tendon_gatt_characteristic found = {{{0}}, item->handle, 0, request->end_handle, 0};
    tendon_reader reader = tendon_reader_make(item->value, item->length);
    tendon_status status = check_order(request, item->handle, item->handle);
    if (status != TENDON_OK) {
        return status;
    }
    found.properties = tendon_read_u8(&reader);
    found.value_handle = tendon_read_u16le(&reader);
    if (item->length < 3 ||
        take_uuid(item->value + reader.position, tendon_reader_remaining(&reader), &found.uuid) != TENDON_OK ||
        found.value_handle <= found.declaration || found.value_handle > request->end_handle) {
        return TENDON_GATT_ERROR_BAD_RESPONSE;
    }
    if ((request->flags & GATTC_OPEN) != 0) {
        table[request->count - 1].end_handle = (uint16_t)(item->handle - 1);
        request->flags &= (uint8_t)~GATTC_OPEN;
    }
    /* The value belongs to its declaration: the next declaration lies above both. */
    request->progress = found.value_handle;
    request->cursor = item->handle;
    if ((request->flags & GATTC_FILTER) != 0 && !tendon_uuid_equal(&found.uuid, &request->uuid)) {
        return TENDON_OK;
    }
    if (request->count >= request->capacity) {
        return TENDON_ERROR_TABLE_FULL;
    }
    table[request->count++] = found;
    request->flags |= GATTC_OPEN;
    return TENDON_OK;
}

static tendon_status take_descriptor(tendon_gatt_request *request, const tendon_att_item *item) {
    tendon_gatt_descriptor *table = request->borrowed.table;
    tendon_gatt_descriptor descriptor = {{{0}}, item->handle};
    tendon_status status = check_order(request, item->handle, item->handle);
    if (status == TENDON_OK) {
        status = take_uuid(item->value, item->length, &descriptor.uuid);
    }
    if (status != TENDON_OK) {
        return status;
    }
    if (request->count >= request->capacity) {
        return TENDON_ERROR_TABLE_FULL;
    }
    table[request->count++] = descriptor;
    request->progress = item->handle;
    request->cursor = item->handle;
    return TENDON_OK;
}

/* Included services that came without their UUID, from @p index on. */
static tendon_status next_uuid(tendon_gatt_request *request, uint16_t index) {
    const tendon_gatt_service *table = request->borrowed.table;
    while (index < request->count && !is_nil(&table[index].uuid)) {
        index++;
    }
    request->step = GATTC_STEP_UUIDS;
    request->cursor = index;
    return index < request->count ? GATTC_CONTINUE : request->status;
}

static tendon_status end_of_pages(tendon_gatt_request *request) {
    return request->kind == GATTC_INCLUDED ? next_uuid(request, 0) : request->status;
}

static tendon_status take_item(tendon_gatt_request *request, const tendon_att_item *item) {
    switch (request->kind) {
    case GATTC_SERVICES:
    case GATTC_SERVICES_BY_UUID:
        return take_service(request, item);
    case GATTC_INCLUDED:
        return take_include(request, item);
    case GATTC_CHARACTERISTICS:
        return take_characteristic(request, item);
    default:
        return take_descriptor(request, item);
    }
}

tendon_status tendon_gattc_discovery_respond(tendon_gatt_request *request, const tendon_att_pdu *pdu) {
    if (request->step == GATTC_STEP_UUIDS) {
        tendon_gatt_service *table = request->borrowed.table;
        tendon_status status = take_uuid(pdu->data, pdu->length, &table[request->cursor].uuid);
        return status == TENDON_OK ? next_uuid(request, (uint16_t)(request->cursor + 1)) : status;
    }
    tendon_att_items items = tendon_att_items_of(pdu);
    tendon_att_item item;
    while (tendon_att_items_next(&items, &item)) {
        tendon_status status = take_item(request, &item);
        if (status == TENDON_ERROR_TABLE_FULL) {
            request->status = status;
            return end_of_pages(request);
        }
        if (status != TENDON_OK) {
            return status;
        }
    }
    /* cursor is the last handle of the page here; beyond it, up to progress, nothing can follow. */
    if (request->progress >= request->end_handle) {
        return end_of_pages(request);
    }
    request->cursor++;
    return ++request->pages < TENDON_GATT_PAGES_MAX ? GATTC_CONTINUE : TENDON_GATT_ERROR_NO_PROGRESS;
}

tendon_status tendon_gattc_discovery_refused(tendon_gatt_request *request, tendon_status status) {
    uint16_t value;
    if (request->step != GATTC_STEP_FIRST || status != TENDON_ATT_ERROR(TENDON_ATT_ATTRIBUTE_NOT_FOUND)) {
        return status;
    }
    /* The declaration's bytes are compared (3.4.3.3), and a server may hold a 16-bit UUID in its long form. */
    if (request->kind == GATTC_SERVICES_BY_UUID && request->count == 0 && (request->flags & GATTC_LONG) == 0 &&
        tendon_uuid_as_u16(&request->uuid, &value)) {
        request->flags |= GATTC_LONG;
        return GATTC_CONTINUE;
    }
    return end_of_pages(request);
}
