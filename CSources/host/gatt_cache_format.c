/* SPDX-License-Identifier: MIT */
/*
 * A cache as bytes, little endian: "TGAC", version(1), count(1), address(6, wire order) type(1) reserved(1), hash(16),
 * profile(4), the rows: service(2) end(2) value(2) CCCD(2) properties(1); then the CRC-32 of all before it(4).
 */
#include "tendon/host/gatt_cache.h"

#include <string.h>

enum { VERSION = 1, HEADER_SIZE = 34, ROW_SIZE = 9, CRC_SIZE = 4, VERSION_AT = 4, COUNT_AT = 5, TYPE_AT = 12 };
static const uint8_t magic[4] = {'T', 'G', 'A', 'C'};

tendon_status tendon_gatt_cache_encode(const tendon_gatt_cache_record *record, uint8_t *out, size_t capacity) {
    tendon_writer writer = tendon_writer_make(out, capacity);
    uint8_t wire[6];
    if (record->count > TENDON_GATT_CACHE_ROWS) {
        return TENDON_ERROR_OVERFLOW;
    }
    tendon_address_to_wire(&record->device, wire);
    tendon_write_bytes(&writer, magic, sizeof magic);
    tendon_write_u8(&writer, VERSION);
    tendon_write_u8(&writer, record->count);
    tendon_write_bytes(&writer, wire, sizeof wire);
    tendon_write_u8(&writer, record->device.type);
    tendon_write_u8(&writer, 0);
    tendon_write_bytes(&writer, record->hash, sizeof record->hash);
    tendon_write_u32le(&writer, record->profile);
    for (size_t i = 0; i < record->count; i++) {
        const tendon_gatt_handles *row = &record->rows[i];
        tendon_write_u16le(&writer, row->service);
        tendon_write_u16le(&writer, row->service_end);
        tendon_write_u16le(&writer, row->value);
        tendon_write_u16le(&writer, row->cccd);
        tendon_write_u8(&writer, row->properties);
    }
    if (writer.status == TENDON_OK) {
        tendon_write_u32le(&writer, tendon_crc32(0, out, writer.length));
    }
    return tendon_writer_result(&writer);
}

static tendon_status fail(tendon_status status, size_t at, size_t *offset) {
    if (offset != NULL) {
        *offset = at;
    }
    return status;
}

/* A characteristic lies in its service, and its CCCD behind its value. */
static bool is_possible(const tendon_gatt_handles *row) {
    if (row->value == 0) {
        return row->cccd == 0 && row->properties == 0 && row->service <= row->service_end;
    }
    return row->service != 0 && row->service < row->value && row->value <= row->service_end &&
           (row->cccd == 0 || (row->cccd > row->value && row->cccd <= row->service_end));
}

/* The bytes of the rows are there. */
static tendon_status read_rows(tendon_reader *reader, tendon_gatt_cache_record *out, size_t *offset) {
    for (size_t i = 0; i < out->count; i++) {
        tendon_gatt_handles *row = &out->rows[i];
        row->service = tendon_read_u16le(reader);
        row->service_end = tendon_read_u16le(reader);
        row->value = tendon_read_u16le(reader);
        row->cccd = tendon_read_u16le(reader);
        row->properties = tendon_read_u8(reader);
        if (!is_possible(row)) {
            return fail(TENDON_ERROR_MALFORMED, HEADER_SIZE + i * ROW_SIZE, offset);
        }
    }
    return TENDON_OK;
}

/* Magic, version and length, before anything else is believed. @return the number of rows or an error. */
static tendon_status check_frame(const uint8_t *bytes, size_t length, size_t *offset) {
    tendon_reader reader = tendon_reader_make(bytes, length);
    const uint8_t *found = tendon_read_bytes(&reader, sizeof magic);
    uint8_t version = tendon_read_u8(&reader);
    uint8_t count = tendon_read_u8(&reader);
    if (!tendon_reader_ok(&reader)) {
        return fail(reader.status, reader.error_offset, offset);
    }
    if (memcmp(found, magic, sizeof magic) != 0) {
        return fail(TENDON_ERROR_MALFORMED, 0, offset);
    }
    if (version != VERSION) {
        return fail(TENDON_ERROR_UNSUPPORTED, VERSION_AT, offset);
    }
    if (count > TENDON_GATT_CACHE_ROWS) {
        return fail(TENDON_ERROR_MALFORMED, COUNT_AT, offset);
    }
    size_t whole = HEADER_SIZE + (size_t)count * ROW_SIZE + CRC_SIZE;
    if (length != whole) {
        return length < whole ? fail(TENDON_ERROR_TRUNCATED, length, offset)
                              : fail(TENDON_ERROR_MALFORMED, whole, offset);
    }
    reader = tendon_reader_make(bytes + whole - CRC_SIZE, CRC_SIZE);
    uint32_t crc = tendon_read_u16le(&reader);
    crc |= (uint32_t)tendon_read_u16le(&reader) << 16;
    return tendon_crc32(0, bytes, whole - CRC_SIZE) == crc ? count
                                                           : fail(TENDON_ERROR_MALFORMED, whole - CRC_SIZE, offset);
}

tendon_status tendon_gatt_cache_decode(const uint8_t *bytes, size_t length, tendon_gatt_cache_record *out,
                                       size_t *offset) {
    tendon_status count = check_frame(bytes, length, offset);
    if (count < 0) {
        return count;
    }
    tendon_gatt_cache_record record;
    memset(&record, 0, sizeof record);
    record.count = (uint8_t)count;
    tendon_reader reader = tendon_reader_make(bytes + COUNT_AT + 1, length - COUNT_AT - 1 - CRC_SIZE);
    const uint8_t *wire = tendon_read_bytes(&reader, 6);
    uint8_t type = tendon_read_u8(&reader);
    uint8_t reserved = tendon_read_u8(&reader);
    const uint8_t *hash = tendon_read_bytes(&reader, sizeof record.hash);
    if (wire == NULL || hash == NULL || type > TENDON_ADDRESS_TYPE_RANDOM || reserved != 0) {
        return fail(TENDON_ERROR_MALFORMED, TYPE_AT + (type <= TENDON_ADDRESS_TYPE_RANDOM ? 1u : 0u), offset);
    }
    record.device = tendon_address_from_wire(wire, type);
    memcpy(record.hash, hash, sizeof record.hash);
    record.profile = tendon_read_u16le(&reader);
    record.profile |= (uint32_t)tendon_read_u16le(&reader) << 16;
    tendon_status status = read_rows(&reader, &record, offset);
    if (status == TENDON_OK) {
        *out = record;
    }
    return status;
}
