/* SPDX-License-Identifier: MIT */
/*
 * A record as bytes: that of a cache alone, see gatt_cache_format.c, which a session writes; or, little endian:
 * length(1) and record of the cache; version(1), answers(1), items(1); the answers: kind(1) count(1) start(2) end(2)
 * UUID; the items in their order: handle(2) value(2) end(2) properties(1) UUID; then the CRC-32 of all before it(4). A
 * UUID is its length(1: 0 for none, 2 or 16) and its bytes.
 */
#include "tendon/linux/gatt_table.h"

#include <string.h>

enum { VERSION = 1, CRC_SIZE = 4 };

static void write_uuid(tendon_writer *writer, const tendon_uuid *uuid) {
    static const tendon_uuid none;
    uint8_t wire[16];
    size_t size = tendon_uuid_equal(uuid, &none) ? 0 : tendon_uuid_to_wire(uuid, wire);
    tendon_write_u8(writer, (uint8_t)size);
    tendon_write_bytes(writer, wire, size);
}

tendon_status tendon_gatt_table_encode(const tendon_gatt_table_content *content, const uint8_t *cache,
                                       size_t cache_length, uint8_t *out, size_t capacity) {
    tendon_writer writer = tendon_writer_make(out, capacity);
    if (cache_length > UINT8_MAX) {
        return TENDON_ERROR_BUFFER_TOO_SMALL;
    }
    tendon_write_u8(&writer, (uint8_t)cache_length);
    tendon_write_bytes(&writer, cache, cache_length);
    tendon_write_u8(&writer, VERSION);
    tendon_write_u8(&writer, content->answer_count);
    tendon_write_u8(&writer, content->item_count);
    for (size_t i = 0; i < content->answer_count; i++) {
        const tendon_gatt_table_answer *answer = &content->answers[i];
        tendon_write_u8(&writer, answer->question.kind);
        tendon_write_u8(&writer, answer->count);
        tendon_write_u16le(&writer, answer->question.start);
        tendon_write_u16le(&writer, answer->question.end);
        write_uuid(&writer, &answer->question.uuid);
    }
    for (size_t i = 0; i < content->item_count; i++) {
        const tendon_gatt_table_item *item = &content->items[i];
        tendon_write_u16le(&writer, item->handle);
        tendon_write_u16le(&writer, item->value);
        tendon_write_u16le(&writer, item->end);
        tendon_write_u8(&writer, item->properties);
        write_uuid(&writer, &item->uuid);
    }
    if (writer.status == TENDON_OK) {
        tendon_write_u32le(&writer, tendon_crc32(0, out, writer.length));
    }
    return tendon_writer_result(&writer);
}

static bool read_uuid(tendon_reader *reader, tendon_uuid *out) {
    static const tendon_uuid none;
    uint8_t size = tendon_read_u8(reader);
    *out = none;
    if (size == 0) {
        return true;
    }
    const uint8_t *wire = size == 2 || size == 16 ? tendon_read_bytes(reader, size) : NULL;
    if (wire == NULL) {
        return false;
    }
    (void)tendon_uuid_from_wire(wire, size, out); /* takes both sizes */
    return true;
}

static bool read_answer(tendon_reader *reader, tendon_gatt_table_answer *out) {
    out->question.kind = tendon_read_u8(reader);
    out->count = tendon_read_u8(reader);
    out->question.start = tendon_read_u16le(reader);
    out->question.end = tendon_read_u16le(reader);
    return read_uuid(reader, &out->question.uuid) && out->question.kind >= TENDON_GATT_TABLE_SERVICES &&
           out->question.kind <= TENDON_GATT_TABLE_DESCRIPTORS && out->question.start != 0 &&
           out->question.start <= out->question.end;
}

static bool read_item(tendon_reader *reader, tendon_gatt_table_item *out) {
    out->handle = tendon_read_u16le(reader);
    out->value = tendon_read_u16le(reader);
    out->end = tendon_read_u16le(reader);
    out->properties = tendon_read_u8(reader);
    return read_uuid(reader, &out->uuid) && out->handle != 0;
}

static bool read_content(tendon_reader *reader, tendon_gatt_table_content *out) {
    size_t items = 0;
    out->answer_count = tendon_read_u8(reader);
    out->item_count = tendon_read_u8(reader);
    if (out->answer_count > TENDON_GATT_TABLE_ANSWERS || out->item_count > TENDON_GATT_TABLE_ITEMS) {
        return false;
    }
    for (size_t i = 0; i < out->answer_count; i++) {
        if (!read_answer(reader, &out->answers[i])) {
            return false;
        }
        items += out->answers[i].count;
    }
    for (size_t i = 0; i < out->item_count; i++) {
        if (!read_item(reader, &out->items[i])) {
            return false;
        }
    }
    return tendon_reader_ok(reader) && items == out->item_count && tendon_reader_remaining(reader) == 0;
}

/* The record of a cache begins with a letter, which is the length of none. */
size_t tendon_gatt_table_cache_of(const uint8_t *bytes, size_t length, const uint8_t **cache) {
    bool alone = length == 0 || bytes[0] == 'T' || bytes[0] >= length;
    *cache = alone ? bytes : bytes + 1;
    return alone ? length : bytes[0];
}

tendon_status tendon_gatt_table_decode(const uint8_t *bytes, size_t length, tendon_gatt_table_content *out,
                                       const uint8_t **cache, size_t *cache_length) {
    if (length < 1 + CRC_SIZE) {
        return TENDON_ERROR_TRUNCATED;
    }
    memset(out, 0, sizeof *out);
    *cache_length = tendon_gatt_table_cache_of(bytes, length, cache);
    if (*cache == bytes) {
        return TENDON_OK; /* without answers; the cache decides whether it is one */
    }
    tendon_reader end = tendon_reader_make(bytes + length - CRC_SIZE, CRC_SIZE);
    uint32_t crc = tendon_read_u16le(&end);
    crc |= (uint32_t)tendon_read_u16le(&end) << 16;
    if (tendon_crc32(0, bytes, length - CRC_SIZE) != crc) {
        return TENDON_ERROR_MALFORMED;
    }
    tendon_reader reader = tendon_reader_make(bytes, length - CRC_SIZE);
    (void)tendon_read_bytes(&reader, 1 + *cache_length);
    uint8_t version = tendon_read_u8(&reader);
    if (!tendon_reader_ok(&reader)) {
        return TENDON_ERROR_TRUNCATED;
    }
    if (version != VERSION) {
        return TENDON_ERROR_UNSUPPORTED;
    }
    if (!read_content(&reader, out)) {
        return tendon_reader_ok(&reader) ? TENDON_ERROR_MALFORMED : TENDON_ERROR_TRUNCATED;
    }
    return TENDON_OK;
}
