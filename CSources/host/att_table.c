/* SPDX-License-Identifier: MIT */
#include "att_table.h"

#define CLASS(name) TENDON_ATT_CLASS_##name
#define LIST(name) TENDON_ATT_LIST_##name
#define FIELD(name) TENDON_ATT_FIELD_##name

/* Sorted by opcode. */
static const tendon_att_row rows[] = {
    {0x01, CLASS(RESPONSE), 0, 0, {FIELD(REQUEST_OPCODE), FIELD(HANDLE), FIELD(ERROR)}},
    {0x02, CLASS(REQUEST), 0x03, 0, {FIELD(MTU)}},
    {0x03, CLASS(RESPONSE), 0, 0, {FIELD(MTU)}},
    {0x04, CLASS(REQUEST), 0x05, 0, {FIELD(HANDLE), FIELD(END_HANDLE)}},
    {0x05, CLASS(RESPONSE), 0, LIST(INFORMATION), {FIELD(FORMAT), FIELD(LIST)}},
    /* Find By Type Value Request has a fourth field, the value: decoder and encoder add it after TYPE16. */
    {0x06, CLASS(REQUEST), 0x07, 0, {FIELD(HANDLE), FIELD(END_HANDLE), FIELD(TYPE16)}},
    {0x07, CLASS(RESPONSE), 0, LIST(RANGES), {FIELD(LIST)}},
    {0x08, CLASS(REQUEST), 0x09, 0, {FIELD(HANDLE), FIELD(END_HANDLE), FIELD(TYPE)}},
    {0x09, CLASS(RESPONSE), 0, LIST(BY_TYPE), {FIELD(FORMAT), FIELD(LIST)}},
    {0x0A, CLASS(REQUEST), 0x0B, 0, {FIELD(HANDLE)}},
    {0x0B, CLASS(RESPONSE), 0, 0, {FIELD(VALUE)}},
    {0x0C, CLASS(REQUEST), 0x0D, 0, {FIELD(HANDLE), FIELD(OFFSET)}},
    {0x0D, CLASS(RESPONSE), 0, 0, {FIELD(VALUE)}},
    {0x0E, CLASS(REQUEST), 0x0F, LIST(HANDLES), {FIELD(LIST)}},
    {0x0F, CLASS(RESPONSE), 0, 0, {FIELD(VALUE)}},
    {0x10, CLASS(REQUEST), 0x11, 0, {FIELD(HANDLE), FIELD(END_HANDLE), FIELD(TYPE)}},
    {0x11, CLASS(RESPONSE), 0, LIST(BY_GROUP), {FIELD(FORMAT), FIELD(LIST)}},
    {0x12, CLASS(REQUEST), 0x13, 0, {FIELD(HANDLE), FIELD(VALUE)}},
    {0x13, CLASS(RESPONSE), 0, 0, {FIELD(NONE)}},
    {0x16, CLASS(REQUEST), 0x17, 0, {FIELD(HANDLE), FIELD(OFFSET), FIELD(VALUE)}},
    {0x17, CLASS(RESPONSE), 0, 0, {FIELD(HANDLE), FIELD(OFFSET), FIELD(VALUE)}},
    {0x18, CLASS(REQUEST), 0x19, 0, {FIELD(FLAGS)}},
    {0x19, CLASS(RESPONSE), 0, 0, {FIELD(NONE)}},
    {0x1B, CLASS(NOTIFICATION), 0, 0, {FIELD(HANDLE), FIELD(VALUE)}},
    {0x1D, CLASS(INDICATION), 0x1E, 0, {FIELD(HANDLE), FIELD(VALUE)}},
    {0x1E, CLASS(CONFIRMATION), 0, 0, {FIELD(NONE)}},
    {0x20, CLASS(REQUEST), 0x21, LIST(HANDLES), {FIELD(LIST)}},
    {0x21, CLASS(RESPONSE), 0, LIST(VARIABLE), {FIELD(LIST)}},
    {0x23, CLASS(NOTIFICATION), 0, LIST(VALUES), {FIELD(LIST)}},
    {0x52, CLASS(COMMAND), 0, 0, {FIELD(HANDLE), FIELD(VALUE)}},
    {0xD2, CLASS(COMMAND), 0, 0, {FIELD(HANDLE), FIELD(SIGNED)}},
};

const tendon_att_row *tendon_att_row_of(uint8_t opcode) {
    size_t low = 0;
    size_t high = sizeof(rows) / sizeof(rows[0]);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows[middle].opcode == opcode) {
            return &rows[middle];
        }
        if (rows[middle].opcode < opcode) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

tendon_att_class tendon_att_opcode_class(uint8_t opcode) {
    const tendon_att_row *row = tendon_att_row_of(opcode);
    return row != NULL ? (tendon_att_class)row->class_ : TENDON_ATT_CLASS_UNKNOWN;
}

uint8_t tendon_att_response_opcode(uint8_t request_opcode) {
    const tendon_att_row *row = tendon_att_row_of(request_opcode);
    return row != NULL ? row->response : 0;
}

size_t tendon_att_item_size(uint8_t list, uint8_t format) {
    switch (list) {
    case TENDON_ATT_LIST_INFORMATION:
        return format == 1 ? 4 : format == 2 ? 18 : 0;
    case TENDON_ATT_LIST_RANGES:
        return 4;
    case TENDON_ATT_LIST_BY_TYPE:
        return format >= 2 ? format : 0;
    case TENDON_ATT_LIST_BY_GROUP:
        return format >= 4 ? format : 0;
    case TENDON_ATT_LIST_HANDLES:
        return 2;
    default:
        return 0;
    }
}

/* ---- items ---- */

tendon_att_items tendon_att_items_of(const tendon_att_pdu *pdu) {
    const tendon_att_row *row = tendon_att_row_of(pdu->opcode);
    bool has_items = row != NULL && row->list != TENDON_ATT_LIST_NONE && row->list != TENDON_ATT_LIST_HANDLES;
    tendon_att_items items = {tendon_reader_make(pdu->data, has_items ? pdu->length : 0), pdu->opcode, pdu->format};
    return items;
}

/* Items of one length: the value is what the handles leave. */
static bool next_of_equals(tendon_att_items *items, uint8_t list, tendon_att_item *out) {
    size_t size = tendon_att_item_size(list, items->format);
    bool has_end = list == TENDON_ATT_LIST_RANGES || list == TENDON_ATT_LIST_BY_GROUP;
    if (size == 0) {
        items->reader.status = TENDON_ERROR_MALFORMED; /* at offset 0: all items have one size */
        return false;
    }
    if (size > tendon_reader_remaining(&items->reader)) {
        items->reader.status = TENDON_ERROR_TRUNCATED;
        items->reader.error_offset = items->reader.position;
        return false;
    }
    out->handle = tendon_read_u16le(&items->reader);
    out->end_handle = has_end ? tendon_read_u16le(&items->reader) : 0;
    out->length = size - (has_end ? 4 : 2);
    out->full_length = out->length;
    out->value = tendon_read_bytes(&items->reader, out->length);
    return true;
}

/* Items that state their length. Only a response may cut its last value (Vol 3 Part F 3.4.4.12). */
static bool next_of_variable(tendon_att_items *items, uint8_t list, tendon_att_item *out) {
    out->handle = list == TENDON_ATT_LIST_VALUES ? tendon_read_u16le(&items->reader) : 0;
    out->end_handle = 0;
    out->full_length = tendon_read_u16le(&items->reader);
    out->length = out->full_length;
    if (list == TENDON_ATT_LIST_VARIABLE && out->length > tendon_reader_remaining(&items->reader)) {
        out->length = tendon_reader_remaining(&items->reader);
    }
    out->value = tendon_read_bytes(&items->reader, out->length);
    return tendon_reader_ok(&items->reader);
}

bool tendon_att_items_next(tendon_att_items *items, tendon_att_item *out) {
    const tendon_att_row *row = tendon_att_row_of(items->opcode);
    *out = (tendon_att_item){0};
    if (row == NULL || !tendon_reader_ok(&items->reader) || tendon_reader_remaining(&items->reader) == 0) {
        return false;
    }
    bool found = row->list == TENDON_ATT_LIST_VARIABLE || row->list == TENDON_ATT_LIST_VALUES
                     ? next_of_variable(items, row->list, out)
                     : next_of_equals(items, row->list, out);
    if (!found) {
        *out = (tendon_att_item){0};
    }
    return found;
}

/* ---- lists ---- */

/* Lists whose items state their own length: walk them. */
static tendon_status check_variable_list(uint8_t opcode, uint8_t format, const uint8_t *data, size_t length,
                                         size_t *offset) {
    tendon_att_items items = {tendon_reader_make(data, length), opcode, format};
    tendon_att_item item;
    while (tendon_att_items_next(&items, &item)) {
        /* each item takes at least 2 bytes of at most `length` */
    }
    *offset = items.reader.error_offset;
    return items.reader.status;
}

tendon_status tendon_att_check_list(uint8_t opcode, uint8_t list, uint8_t format, const uint8_t *data, size_t length,
                                    size_t *offset) {
    *offset = 0;
    if (length == 0) {
        return TENDON_ERROR_TRUNCATED;
    }
    if (list == TENDON_ATT_LIST_VARIABLE || list == TENDON_ATT_LIST_VALUES) {
        return check_variable_list(opcode, format, data, length, offset);
    }
    size_t size = tendon_att_item_size(list, format);
    if (size == 0) {
        return TENDON_ERROR_MALFORMED;
    }
    size_t rest = length % size;
    if (rest != 0 || (list == TENDON_ATT_LIST_HANDLES && length < 4)) {
        *offset = length - rest;
        return length < size || list == TENDON_ATT_LIST_HANDLES ? TENDON_ERROR_TRUNCATED : TENDON_ERROR_MALFORMED;
    }
    return TENDON_OK;
}
