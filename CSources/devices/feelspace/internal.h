/* SPDX-License-Identifier: MIT */
/* What the files of this codec share. */
#ifndef TENDON_FEELSPACE_INTERNAL_H
#define TENDON_FEELSPACE_INTERNAL_H

#include "tendon/base/reader.h"
#include "tendon/base/writer.h"
#include "tendon/devices/feelspace_codec.h"

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

/* value modulo size, 0 to size - 1 for negative ones too */
static inline uint16_t feelspace_wrap(int32_t value, int32_t size) {
    int32_t rest = value % size;
    return (uint16_t)(rest < 0 ? rest + size : rest);
}

/* -1 is the belt's default: AA in each byte */
static inline uint16_t feelspace_intensity(int32_t intensity) {
    return intensity < 0 ? 0xAAAA : (uint16_t)intensity;
}

#endif
