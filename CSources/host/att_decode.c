/* SPDX-License-Identifier: MIT */
#include "att_table.h"

static void fail(tendon_reader *reader, tendon_status status, size_t offset) {
    if (reader->status == TENDON_OK) {
        reader->status = status;
        reader->error_offset = offset;
    }
}

static void take_rest(tendon_reader *reader, size_t keep, tendon_att_pdu *out) {
    size_t left = tendon_reader_remaining(reader);
    out->length = left > keep ? left - keep : 0;
    out->data = tendon_read_bytes(reader, out->length);
}

static void take_type(tendon_reader *reader, size_t size, tendon_att_pdu *out) {
    size_t start = reader->position;
    const uint8_t *wire = tendon_read_bytes(reader, size);
    if (wire != NULL && tendon_uuid_from_wire(wire, size, &out->type) != TENDON_OK) {
        fail(reader, TENDON_ERROR_MALFORMED, start);
    }
}

/* A type that ends its PDU: 2 or 16 bytes. What is between the two is a cut 128-bit UUID. */
static void take_last_type(tendon_reader *reader, tendon_att_pdu *out) {
    size_t left = tendon_reader_remaining(reader);
    size_t size = left <= 2 ? 2 : 16;
    take_type(reader, size, out);
    out->format = (uint8_t)size;
}

static void take_list(tendon_reader *reader, const tendon_att_row *row, tendon_att_pdu *out) {
    size_t start = reader->position;
    size_t wrong = 0;
    if (row->fields[0] == TENDON_ATT_FIELD_FORMAT && tendon_att_item_size(row->list, out->format) == 0) {
        fail(reader, TENDON_ERROR_MALFORMED, start - 1);
        return;
    }
    take_rest(reader, 0, out);
    tendon_status status = tendon_att_check_list(out->opcode, row->list, out->format, out->data, out->length, &wrong);
    if (status != TENDON_OK) {
        fail(reader, status, start + wrong);
    }
}

static void take_field(tendon_reader *reader, const tendon_att_row *row, uint8_t field, tendon_att_pdu *out) {
    switch (field) {
    case TENDON_ATT_FIELD_REQUEST_OPCODE:
        out->request_opcode = tendon_read_u8(reader);
        break;
    case TENDON_ATT_FIELD_ERROR:
        out->error = tendon_read_u8(reader);
        break;
    case TENDON_ATT_FIELD_FORMAT:
        out->format = tendon_read_u8(reader);
        break;
    case TENDON_ATT_FIELD_FLAGS:
        out->flags = tendon_read_u8(reader);
        break;
    case TENDON_ATT_FIELD_HANDLE:
        out->handle = tendon_read_u16le(reader);
        break;
    case TENDON_ATT_FIELD_END_HANDLE:
        out->end_handle = tendon_read_u16le(reader);
        break;
    case TENDON_ATT_FIELD_MTU:
        out->mtu = tendon_read_u16le(reader);
        break;
    case TENDON_ATT_FIELD_OFFSET:
        out->offset = tendon_read_u16le(reader);
        break;
    case TENDON_ATT_FIELD_TYPE16:
        take_type(reader, 2, out);
        take_rest(reader, 0, out);
        break;
    case TENDON_ATT_FIELD_TYPE:
        take_last_type(reader, out);
        break;
    case TENDON_ATT_FIELD_VALUE:
        take_rest(reader, 0, out);
        break;
    case TENDON_ATT_FIELD_SIGNED:
        take_rest(reader, TENDON_ATT_SIGNATURE_SIZE, out);
        out->signature = tendon_read_bytes(reader, TENDON_ATT_SIGNATURE_SIZE);
        break;
    case TENDON_ATT_FIELD_LIST:
        take_list(reader, row, out);
        break;
    default:
        break;
    }
}

tendon_status tendon_att_decode(const uint8_t *pdu, size_t length, tendon_att_pdu *out, size_t *offset) {
    tendon_reader reader = tendon_reader_make(pdu, length);
    const tendon_att_row *row = NULL;
    *out = (tendon_att_pdu){0};
    out->opcode = tendon_read_u8(&reader);
    if (tendon_reader_ok(&reader)) {
        row = tendon_att_row_of(out->opcode);
        if (row == NULL) {
            fail(&reader, TENDON_ERROR_UNSUPPORTED, 0);
        }
    }
    for (size_t i = 0; tendon_reader_ok(&reader) && i < sizeof(row->fields); i++) {
        take_field(&reader, row, row->fields[i], out);
    }
    if (tendon_reader_remaining(&reader) > 0) { /* an earlier error stays */
        fail(&reader, TENDON_ERROR_MALFORMED, reader.position);
    }
    if (!tendon_reader_ok(&reader) && offset != NULL) {
        *offset = reader.error_offset;
    }
    return reader.status;
}
