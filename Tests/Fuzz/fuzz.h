/* SPDX-License-Identifier: MIT */
/*
 * What the fuzz targets share: the input as a stream of choices, and blocks of
 * exactly their size, so that the address sanitizer sees each read past an end.
 */
#ifndef TENDON_FUZZ_H
#define TENDON_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tendon/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** What must hold for any input. */
#define FUZZ_CHECK(condition)                                                                                          \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

typedef struct fuzz_input {
    const uint8_t *data;
    size_t left;
} fuzz_input;

static inline uint8_t fuzz_u8(fuzz_input *input) {
    if (input->left == 0) {
        return 0;
    }
    input->left--;
    return *input->data++;
}

static inline uint16_t fuzz_u16(fuzz_input *input) {
    unsigned low = fuzz_u8(input);
    return (uint16_t)(low | (unsigned)fuzz_u8(input) << 8);
}

/** Bytes of the block's own; free() data. */
typedef struct fuzz_block {
    uint8_t *data;
    size_t length;
} fuzz_block;

/** At most @p count bytes, fewer when the input ends. */
static inline fuzz_block fuzz_take(fuzz_input *input, size_t count) {
    fuzz_block block = {NULL, count < input->left ? count : input->left};
    block.data = calloc(block.length, 1);
    FUZZ_CHECK(block.data != NULL || block.length == 0);
    if (block.length > 0) {
        memcpy(block.data, input->data, block.length);
    }
    input->data += block.length;
    input->left -= block.length;
    return block;
}

/** A block behind a length byte; 255 is followed by two more bytes of length. */
static inline fuzz_block fuzz_block_of(fuzz_input *input) {
    size_t count = fuzz_u8(input);
    if (count == 255) {
        count = fuzz_u16(input);
    }
    return fuzz_take(input, count);
}

/** Every byte of a view is read: a view past its block shows here. */
static inline unsigned fuzz_touch(const void *data, size_t length) {
    const uint8_t *bytes = data;
    volatile unsigned sum = 0;
    for (size_t i = 0; i < length; i++) {
        sum = sum + bytes[i];
    }
    return sum;
}

#endif
