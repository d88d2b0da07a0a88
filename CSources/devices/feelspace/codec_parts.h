/* SPDX-License-Identifier: MIT */
/* Internal interface of the codec's files. */
#ifndef TENDON_DEVICES_FEELSPACE_CODEC_PARTS_H
#define TENDON_DEVICES_FEELSPACE_CODEC_PARTS_H

#include "tendon/base/reader.h"
#include "tendon/base/writer.h"
#include "tendon/devices/feelspace_codec.h"
#include <stddef.h>

static inline bool feelspace_within(int32_t value, int32_t low, int32_t high) {
    return value >= low && value <= high;
}

/* Modes that a belt may report. */
static inline bool feelspace_is_mode(uint8_t mode) {
    return mode <= TENDON_FEELSPACE_MODE_CROSSING;
}

static inline tendon_status feelspace_fail(tendon_status status, size_t at, size_t *offset) {
    if (offset != NULL) {
        *offset = at;
    }
    return status;
}

/* Length before values: OK when the reader has all @p needed bytes, else TRUNCATED at the end of what is there. */
static inline tendon_status feelspace_needs(size_t length, size_t needed, size_t *offset) {
    return length >= needed ? TENDON_OK : feelspace_fail(TENDON_ERROR_TRUNCATED, length, offset);
}

/* Two bytes of a packet whose length was checked. */
static inline uint16_t feelspace_word(const uint8_t *data, size_t at) {
    return (uint16_t)(data[at] | (unsigned)data[at + 1] << 8);
}

static inline uint32_t feelspace_long(const uint8_t *data, size_t at) {
    return feelspace_word(data, at) | (uint32_t)feelspace_word(data, at + 2) << 16;
}

static inline int8_t feelspace_signed(uint8_t byte) {
    return (int8_t)(byte < 0x80 ? byte : byte - 0x100);
}

/* value modulo size, 0 to size - 1 for negative ones too */
static inline uint16_t feelspace_wrap(int32_t value, int32_t size) {
    int32_t rest = value % size;
    return (uint16_t)(rest < 0 ? rest + size : rest);
}

extern const uint8_t tendon_feelspace_front_range_patch[10];

/* A whole packet. @return its length, or TENDON_ERROR_BUFFER_TOO_SMALL. */
tendon_status tendon_feelspace_put(const uint8_t *bytes, size_t count, uint8_t *out, size_t capacity);

#endif
