/* SPDX-License-Identifier: MIT */
#include "att_table.h"

static void put_type(tendon_writer *writer, const tendon_att_pdu *pdu, bool short_only) {
    uint8_t wire[16];
    uint16_t value;
    if (tendon_uuid_as_u16(&pdu->type, &value) && pdu->format != 16) {
        tendon_write_u16le(writer, value);
        return;
    }
    if (short_only || pdu->format == 2) {
        writer->status = TENDON_ERROR_INVALID_ARGUMENT;
        return;
    }
    for (size_t i = 0; i < sizeof(wire); i++) {
        wire[i] = pdu->type.bytes[sizeof(wire) - 1 - i];
    }
    tendon_write_bytes(writer, wire, sizeof(wire));
}

static void put_list(tendon_writer *writer, const tendon_att_row *row, const tendon_att_pdu *pdu) {
    size_t wrong;
    if (tendon_att_check_list(pdu->opcode, row->list, pdu->format, pdu->data, pdu->length, &wrong) != TENDON_OK) {
        writer->status = TENDON_ERROR_INVALID_ARGUMENT;
        return;
    }
    tendon_write_bytes(writer, pdu->data, pdu->length);
}

static void put_field(tendon_writer *writer, const tendon_att_row *row, uint8_t field, const tendon_att_pdu *pdu) {
    switch (field) {
    case TENDON_ATT_FIELD_REQUEST_OPCODE:
        tendon_write_u8(writer, pdu->request_opcode);
        break;
    case TENDON_ATT_FIELD_ERROR:
        tendon_write_u8(writer, pdu->error);
        break;
    case TENDON_ATT_FIELD_FORMAT:
        tendon_write_u8(writer, pdu->format);
        break;
    case TENDON_ATT_FIELD_FLAGS:
        tendon_write_u8(writer, pdu->flags);
        break;
    case TENDON_ATT_FIELD_HANDLE:
        tendon_write_u16le(writer, pdu->handle);
        break;
    case TENDON_ATT_FIELD_END_HANDLE:
        tendon_write_u16le(writer, pdu->end_handle);
        break;
    case TENDON_ATT_FIELD_MTU:
        tendon_write_u16le(writer, pdu->mtu);
        break;
    case TENDON_ATT_FIELD_OFFSET:
        tendon_write_u16le(writer, pdu->offset);
        break;
    case TENDON_ATT_FIELD_TYPE16:
        put_type(writer, pdu, true);
        tendon_write_bytes(writer, pdu->data, pdu->length);
        break;
    case TENDON_ATT_FIELD_TYPE:
        put_type(writer, pdu, false);
        break;
    case TENDON_ATT_FIELD_VALUE:
        tendon_write_bytes(writer, pdu->data, pdu->length);
        break;
    case TENDON_ATT_FIELD_SIGNED:
        tendon_write_bytes(writer, pdu->data, pdu->length);
        tendon_write_bytes(writer, pdu->signature, TENDON_ATT_SIGNATURE_SIZE);
        break;
    case TENDON_ATT_FIELD_LIST:
        put_list(writer, row, pdu);
        break;
    default:
        break;
    }
}

tendon_status tendon_att_encode(const tendon_att_pdu *pdu, uint8_t *out, size_t capacity) {
    const tendon_att_row *row = tendon_att_row_of(pdu->opcode);
    if (row == NULL || (pdu->length > 0 && pdu->data == NULL) ||
        (pdu->opcode == TENDON_ATT_SIGNED_WRITE_COMMAND && pdu->signature == NULL)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_u8(&writer, pdu->opcode);
    for (size_t i = 0; i < sizeof(row->fields) && writer.status == TENDON_OK; i++) {
        put_field(&writer, row, row->fields[i], pdu);
    }
    return tendon_writer_result(&writer);
}
