/* SPDX-License-Identifier: MIT */
/*
 * Bounded reader. Its error is sticky: after the first failed read, all further reads return 0 and change nothing. So a
 * decoder checks the status once. The reader keeps the offset of the first field that did not fit.
 *
 * These functions use C99 inline: reader.c holds the one external definition for calls that are not inlined.
 */
#ifndef TENDON_BASE_READER_H
#define TENDON_BASE_READER_H

#include "tendon/base/status.h"

typedef struct tendon_reader {
    const uint8_t *data; /**< borrowed; may be NULL when length is 0 */
    size_t length;
    size_t position;
    size_t error_offset;  /**< where the first failed field starts; valid when status < 0 */
    tendon_status status; /**< TENDON_OK or TENDON_ERROR_TRUNCATED */
} tendon_reader;

inline tendon_reader tendon_reader_make(const uint8_t *data, size_t length) {
    tendon_reader reader = {data, length, 0, 0, TENDON_OK};
    return reader;
}

inline size_t tendon_reader_remaining(const tendon_reader *reader) {
    return reader->length - reader->position;
}

inline bool tendon_reader_ok(const tendon_reader *reader) {
    return reader->status == TENDON_OK;
}

/** Lends @p count bytes, or returns NULL and fails the reader. A count of 0 lends a valid empty view. */
inline const uint8_t *tendon_read_bytes(tendon_reader *reader, size_t count) {
    static const uint8_t empty = 0;
    if (reader->status != TENDON_OK) {
        return NULL;
    }
    /* Compares the end of the bytes, not the number of remaining bytes: so the interval analysis of Tests/Proof can
     * infer that the position does not exceed the length. The first comparison detects an overflow. */
    size_t end = reader->position + count;
    if (end < count || end > reader->length) {
        reader->status = TENDON_ERROR_TRUNCATED;
        reader->error_offset = reader->position;
        return NULL;
    }
    const uint8_t *bytes = count == 0 ? &empty : reader->data + reader->position;
    reader->position = end;
    return bytes;
}

inline uint8_t tendon_read_u8(tendon_reader *reader) {
    const uint8_t *b = tendon_read_bytes(reader, 1);
    return b != NULL ? b[0] : 0;
}

inline uint16_t tendon_read_u16le(tendon_reader *reader) {
    const uint8_t *b = tendon_read_bytes(reader, 2);
    return b != NULL ? (uint16_t)(b[0] | (uint32_t)b[1] << 8) : 0;
}

inline uint16_t tendon_read_u16be(tendon_reader *reader) {
    const uint8_t *b = tendon_read_bytes(reader, 2);
    return b != NULL ? (uint16_t)((uint32_t)b[0] << 8 | b[1]) : 0;
}

inline uint32_t tendon_read_u32le(tendon_reader *reader) {
    const uint8_t *b = tendon_read_bytes(reader, 4);
    return b != NULL ? (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24 : 0;
}

inline uint32_t tendon_read_u32be(tendon_reader *reader) {
    const uint8_t *b = tendon_read_bytes(reader, 4);
    return b != NULL ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3] : 0;
}

inline uint64_t tendon_read_u64le(tendon_reader *reader) {
    uint64_t low = tendon_read_u32le(reader);
    return low | (uint64_t)tendon_read_u32le(reader) << 32;
}

inline uint64_t tendon_read_u64be(tendon_reader *reader) {
    uint64_t high = tendon_read_u32be(reader);
    return high << 32 | tendon_read_u32be(reader);
}

/** Converts from two's complement, without an implementation-defined conversion. */
inline int16_t tendon_i16_from_u16(uint16_t value) {
    return (int16_t)(value < 0x8000u ? (int32_t)value : (int32_t)value - 0x10000);
}

inline int8_t tendon_read_i8(tendon_reader *reader) {
    uint8_t value = tendon_read_u8(reader);
    return (int8_t)(value < 0x80u ? (int32_t)value : (int32_t)value - 0x100);
}

inline int16_t tendon_read_i16le(tendon_reader *reader) {
    return tendon_i16_from_u16(tendon_read_u16le(reader));
}

inline int16_t tendon_read_i16be(tendon_reader *reader) {
    return tendon_i16_from_u16(tendon_read_u16be(reader));
}

#endif
