/* SPDX-License-Identifier: MIT */
#include "tendon/host/management.h"

enum { ADDRESS_LE_PUBLIC = 1, ADDRESS_LE_RANDOM = 2 };

void tendon_management_write_address(tendon_writer *writer, const tendon_address *address) {
    uint8_t wire[6];
    tendon_address_to_wire(address, wire);
    tendon_write_bytes(writer, wire, sizeof wire);
    tendon_write_u8(writer, address->type == TENDON_ADDRESS_TYPE_RANDOM ? ADDRESS_LE_RANDOM : ADDRESS_LE_PUBLIC);
}

bool tendon_management_read_address(tendon_reader *reader, tendon_address *out) {
    const uint8_t *wire = tendon_read_bytes(reader, 6);
    uint8_t type = tendon_read_u8(reader);
    memset(out, 0, sizeof *out);
    if (!tendon_reader_ok(reader)) {
        return false;
    }
    *out = tendon_address_from_wire(wire, type == ADDRESS_LE_RANDOM ? TENDON_ADDRESS_TYPE_RANDOM
                                                                    : TENDON_ADDRESS_TYPE_PUBLIC);
    return type == ADDRESS_LE_PUBLIC || type == ADDRESS_LE_RANDOM;
}

static void read_peer(tendon_reader *reader, tendon_management_event *out) {
    out->low_energy = tendon_management_read_address(reader, &out->peer);
}

static void lend_rest(tendon_reader *reader, tendon_management_event *out) {
    out->length = tendon_reader_remaining(reader);
    out->data = tendon_read_bytes(reader, out->length);
}

static void read_connected(tendon_reader *reader, tendon_management_event *out) {
    read_peer(reader, out);
    out->settings = tendon_read_u32le(reader);
    out->length = tendon_read_u16le(reader);
    out->data = tendon_read_bytes(reader, out->length);
}

/* Events may grow at their end in later kernels: bytes after the known fields are ignored. */
static void read_parameters(tendon_reader *reader, tendon_management_event *out) {
    switch (out->code) {
    case TENDON_MANAGEMENT_COMMAND_COMPLETE:
        out->opcode = tendon_read_u16le(reader);
        out->status = tendon_read_u8(reader);
        lend_rest(reader, out);
        break;
    case TENDON_MANAGEMENT_COMMAND_STATUS:
        out->opcode = tendon_read_u16le(reader);
        out->status = tendon_read_u8(reader);
        break;
    case TENDON_MANAGEMENT_CONTROLLER_ERROR:
        out->status = tendon_read_u8(reader);
        break;
    case TENDON_MANAGEMENT_NEW_SETTINGS:
        out->settings = tendon_read_u32le(reader);
        break;
    case TENDON_MANAGEMENT_DEVICE_CONNECTED:
        read_connected(reader, out);
        break;
    case TENDON_MANAGEMENT_DEVICE_DISCONNECTED:
        read_peer(reader, out);
        out->reason = tendon_read_u8(reader);
        break;
    case TENDON_MANAGEMENT_CONNECT_FAILED:
        read_peer(reader, out);
        out->status = tendon_read_u8(reader);
        break;
    default:
        lend_rest(reader, out);
        break;
    }
}

static tendon_status finish(const tendon_reader *reader, size_t *offset) {
    if (!tendon_reader_ok(reader) && offset != NULL) {
        *offset = reader->error_offset;
    }
    return reader->status;
}

tendon_status tendon_management_decode(const uint8_t *pdu, size_t length, tendon_management_event *out,
                                       size_t *offset) {
    tendon_reader reader = tendon_reader_make(pdu, length);
    tendon_management_event event = {0};
    event.code = tendon_read_u16le(&reader);
    event.index = tendon_read_u16le(&reader);
    size_t stated = tendon_read_u16le(&reader);
    if (tendon_reader_ok(&reader) && stated < tendon_reader_remaining(&reader)) {
        if (offset != NULL) {
            *offset = 4;
        }
        return TENDON_ERROR_MALFORMED;
    }
    if (tendon_reader_ok(&reader) && stated > tendon_reader_remaining(&reader)) {
        tendon_read_bytes(&reader, stated);
    }
    read_parameters(&reader, &event);
    tendon_status status = finish(&reader, offset);
    if (status == TENDON_OK) {
        *out = event;
    }
    return status;
}

tendon_status tendon_management_decode_information(const uint8_t *data, size_t length,
                                                   tendon_management_information *out, size_t *offset) {
    tendon_reader reader = tendon_reader_make(data, length);
    tendon_management_information information = {0};
    const uint8_t *wire = tendon_read_bytes(&reader, 6);
    information.version = tendon_read_u8(&reader);
    information.manufacturer = tendon_read_u16le(&reader);
    information.supported_settings = tendon_read_u32le(&reader);
    information.current_settings = tendon_read_u32le(&reader);
    const uint8_t *device_class = tendon_read_bytes(&reader, 3);
    information.name = tendon_read_bytes(&reader, 249);
    information.short_name = tendon_read_bytes(&reader, 11);
    tendon_status status = finish(&reader, offset);
    if (status == TENDON_OK) {
        information.address = tendon_address_from_wire(wire, TENDON_ADDRESS_TYPE_PUBLIC);
        memcpy(information.device_class, device_class, 3);
        *out = information;
    }
    return status;
}

tendon_status tendon_management_decode_index_list(const uint8_t *data, size_t length, uint16_t *indexes,
                                                  size_t capacity, size_t *offset) {
    tendon_reader reader = tendon_reader_make(data, length);
    uint16_t count = tendon_read_u16le(&reader);
    tendon_reader check = reader;
    tendon_read_bytes(&check, (size_t)count * 2);
    tendon_status status = finish(&check, offset);
    if (status != TENDON_OK) {
        return status;
    }
    for (size_t i = 0; i < count && i < capacity; i++) {
        indexes[i] = tendon_read_u16le(&reader);
    }
    return count;
}

static void write_header(tendon_writer *writer, uint16_t opcode, uint16_t index, size_t length) {
    tendon_write_u16le(writer, opcode);
    tendon_write_u16le(writer, index);
    tendon_write_u16le(writer, (uint16_t)length);
}

tendon_status tendon_management_encode(uint16_t opcode, uint16_t index, const uint8_t *data, size_t length,
                                       uint8_t *out, size_t capacity) {
    if (length > UINT16_MAX) {
        return TENDON_ERROR_OVERFLOW;
    }
    tendon_writer writer = tendon_writer_make(out, capacity);
    write_header(&writer, opcode, index, length);
    tendon_write_bytes(&writer, data, length);
    return tendon_writer_result(&writer);
}

tendon_status tendon_management_encode_connection_parameters(uint16_t index,
                                                             const tendon_management_connection_parameters *items,
                                                             size_t count, uint8_t *out, size_t capacity) {
    enum { ITEM_SIZE = 15 };
    if (count > (UINT16_MAX - 2) / ITEM_SIZE) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_writer writer = tendon_writer_make(out, capacity);
    write_header(&writer, TENDON_MANAGEMENT_LOAD_CONNECTION_PARAMETERS, index, 2 + count * ITEM_SIZE);
    tendon_write_u16le(&writer, (uint16_t)count);
    for (size_t i = 0; i < count; i++) {
        const tendon_connection_parameters *parameters = &items[i].parameters;
        if (items[i].peer.type > TENDON_ADDRESS_TYPE_RANDOM || !tendon_connection_parameters_valid(parameters)) {
            return TENDON_ERROR_INVALID_ARGUMENT;
        }
        tendon_management_write_address(&writer, &items[i].peer);
        tendon_write_u16le(&writer, parameters->min_interval);
        tendon_write_u16le(&writer, parameters->max_interval);
        tendon_write_u16le(&writer, parameters->latency);
        tendon_write_u16le(&writer, parameters->timeout);
    }
    return tendon_writer_result(&writer);
}
