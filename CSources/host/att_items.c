/* SPDX-License-Identifier: MIT */
#include "att_table.h"

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
