/* SPDX-License-Identifier: MIT */
#include "tendon/simulate/fjorden_services.h"

#include "tendon/base/packed.h"
#include "tendon/base/reader.h"
#include "tendon/base/writer.h"

enum { USAGE_MAX = 0x029C, OPERATION_MASK = 7, OPERATION_MAX = 3, WRITE = 2, REQUESTS = 4 };

tendon_status tendon_fjorden_decode_hid_report(const uint8_t *data, size_t length) {
    if (length != 2) {
        return TENDON_FJORDEN_ERROR_LENGTH;
    }
    tendon_reader reader = tendon_reader_make(data, length);
    uint16_t usage = tendon_read_u16le(&reader);
    return usage > USAGE_MAX ? TENDON_FJORDEN_ERROR_RANGE : usage;
}

/* ---- SMP ---- */

const char *tendon_fjorden_smp_operation_name(uint8_t operation) {
    return tendon_packed_name("read\0read_response\0write\0write_response", OPERATION_MAX + 1, operation);
}

int tendon_fjorden_smp_request_named(const char *name, size_t length) {
    return tendon_packed_index("echo\0reset\0imageState\0imageErase", REQUESTS, name, length);
}

/* A CBOR text's head: length in the first byte, in one, or in two more (RFC 8949, 3). */
static void write_text_head(tendon_writer *writer, uint16_t length) {
    if (length < 24) {
        tendon_write_u8(writer, (uint8_t)(0x60 + length));
    } else if (length < 256) {
        tendon_write_u8(writer, 0x78);
        tendon_write_u8(writer, (uint8_t)length);
    } else {
        tendon_write_u8(writer, 0x79);
        tendon_write_u16be(writer, length);
    }
}

tendon_status tendon_fjorden_encode_smp(tendon_fjorden_smp_request request, uint8_t sequence, const char *text,
                                        size_t text_length, uint8_t *out, size_t capacity) {
    static const struct {
        uint8_t operation, group, command;
    } requests[] = {{WRITE, 0, 0}, {WRITE, 0, 5}, {0, 1, 0}, {WRITE, 1, 5}};
    if ((unsigned)request >= sizeof requests / sizeof requests[0]) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    bool echo = request == TENDON_FJORDEN_SMP_ECHO;
    size_t head = text_length < 24 ? 1 : text_length < 256 ? 2 : 3;
    if (echo && text_length > UINT16_MAX - 3 - head) {
        return TENDON_ERROR_OVERFLOW;
    }
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_u8(&writer, requests[request].operation);
    tendon_write_u8(&writer, 0);
    tendon_write_u16be(&writer, echo ? (uint16_t)(3 + head + text_length) : 1);
    tendon_write_u16be(&writer, requests[request].group);
    tendon_write_u8(&writer, sequence);
    tendon_write_u8(&writer, requests[request].command);
    if (echo) {
        tendon_write_bytes(&writer, "\xA1\x61\x64", 3);
        write_text_head(&writer, (uint16_t)text_length);
        tendon_write_bytes(&writer, text, text_length);
    } else {
        tendon_write_u8(&writer, 0xA0);
    }
    return tendon_writer_result(&writer);
}

tendon_status tendon_fjorden_decode_smp(const uint8_t *data, size_t length, tendon_fjorden_smp *out) {
    if (length < TENDON_FJORDEN_SMP_HEADER_SIZE) {
        return TENDON_FJORDEN_ERROR_SHORT;
    }
    tendon_reader reader = tendon_reader_make(data, length);
    uint8_t first = tendon_read_u8(&reader);
    tendon_fjorden_smp smp = {.operation = first & OPERATION_MASK, .version = first >> 3 & 3};
    if (smp.operation > OPERATION_MAX) {
        return TENDON_FJORDEN_ERROR_OPERATION;
    }
    smp.flags = tendon_read_u8(&reader);
    smp.length = tendon_read_u16be(&reader);
    smp.group = tendon_read_u16be(&reader);
    smp.sequence = tendon_read_u8(&reader);
    smp.command = tendon_read_u8(&reader);
    smp.payload = tendon_read_bytes(&reader, smp.length);
    if (!tendon_reader_ok(&reader)) {
        return reader.status;
    }
    *out = smp;
    return TENDON_OK;
}
