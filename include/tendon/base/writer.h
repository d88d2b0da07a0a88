/* SPDX-License-Identifier: MIT */
/*
 * Bounded writer. Its error is sticky like that of the reader: ten writes need one check at the end. The functions are
 * inline in the same way.
 */
#ifndef TENDON_BASE_WRITER_H
#define TENDON_BASE_WRITER_H

#include "tendon/base/status.h"
#include <string.h>

typedef struct tendon_writer {
    uint8_t *data; /**< caller's buffer */
    size_t capacity;
    size_t length;        /**< bytes written so far */
    tendon_status status; /**< TENDON_OK or TENDON_ERROR_BUFFER_TOO_SMALL */
} tendon_writer;

inline tendon_writer tendon_writer_make(uint8_t *data, size_t capacity) {
    tendon_writer writer = {data, capacity, 0, TENDON_OK};
    return writer;
}

/** Lends space for @p count bytes, or returns NULL and fails the writer. */
inline uint8_t *tendon_writer_reserve(tendon_writer *writer, size_t count) {
    if (writer->status != TENDON_OK) {
        return NULL;
    }
    if (count > writer->capacity - writer->length) {
        writer->status = TENDON_ERROR_BUFFER_TOO_SMALL;
        return NULL;
    }
    uint8_t *room = writer->data + writer->length;
    writer->length += count;
    return room;
}

inline void tendon_write_bytes(tendon_writer *writer, const void *bytes, size_t count) {
    if (count == 0) {
        return;
    }
    uint8_t *room = tendon_writer_reserve(writer, count);
    if (room != NULL) {
        memcpy(room, bytes, count);
    }
}

inline void tendon_write_u8(tendon_writer *writer, uint8_t value) {
    uint8_t *room = tendon_writer_reserve(writer, 1);
    if (room != NULL) {
        room[0] = value;
    }
}

inline void tendon_write_u16le(tendon_writer *writer, uint16_t value) {
    uint8_t *room = tendon_writer_reserve(writer, 2);
    if (room != NULL) {
        room[0] = (uint8_t)(value & 0xFFu);
        room[1] = (uint8_t)(value >> 8);
    }
}

inline void tendon_write_u16be(tendon_writer *writer, uint16_t value) {
    uint8_t *room = tendon_writer_reserve(writer, 2);
    if (room != NULL) {
        room[0] = (uint8_t)(value >> 8);
        room[1] = (uint8_t)(value & 0xFFu);
    }
}

inline void tendon_write_u24le(tendon_writer *writer, uint32_t value) {
    uint8_t *room = tendon_writer_reserve(writer, 3);
    if (room != NULL) {
        room[0] = (uint8_t)(value & 0xFFu);
        room[1] = (uint8_t)(value >> 8 & 0xFFu);
        room[2] = (uint8_t)(value >> 16 & 0xFFu);
    }
}

inline void tendon_write_u32le(tendon_writer *writer, uint32_t value) {
    tendon_write_u16le(writer, (uint16_t)(value & 0xFFFFu));
    tendon_write_u16le(writer, (uint16_t)(value >> 16));
}

inline void tendon_write_u32be(tendon_writer *writer, uint32_t value) {
    tendon_write_u16be(writer, (uint16_t)(value >> 16));
    tendon_write_u16be(writer, (uint16_t)(value & 0xFFFFu));
}

inline void tendon_write_u64le(tendon_writer *writer, uint64_t value) {
    tendon_write_u32le(writer, (uint32_t)(value & 0xFFFFFFFFu));
    tendon_write_u32le(writer, (uint32_t)(value >> 32));
}

inline void tendon_write_u64be(tendon_writer *writer, uint64_t value) {
    tendon_write_u32be(writer, (uint32_t)(value >> 32));
    tendon_write_u32be(writer, (uint32_t)(value & 0xFFFFFFFFu));
}

/** Returns the length written, or the first error. */
inline tendon_status tendon_writer_result(const tendon_writer *writer) {
    return writer->status == TENDON_OK ? (tendon_status)writer->length : writer->status;
}

#endif
