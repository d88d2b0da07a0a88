/* SPDX-License-Identifier: MIT */
/*
 * For tests: literal bytes from hex, in heap blocks of exactly their size (so
 * that the address sanitizer sees a read past the end), and a small generator.
 */
#ifndef TEST_BYTES_H
#define TEST_BYTES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* How much a long test does: the whole, or a part in a build that repeats what another one tests (scripts/stages.sh).
 */
static inline unsigned whole_or_part(unsigned whole, unsigned part) {
    return getenv("TENDON_RECORDED_EVERY") != NULL ? part : whole;
}

typedef struct block {
    uint8_t *data; /* free() it */
    size_t length;
} block;

static inline block block_copy(const void *bytes, size_t length) {
    block b = {malloc(length > 0 ? length : 1), length};
    assert_non_null(b.data);
    if (length > 0) {
        memcpy(b.data, bytes, length);
        return b;
    }
    /* nothing to read: a block of 0 bytes */
    free(b.data);
    b.data = malloc(0);
    return b;
}

/* "01 02ff": blanks are skipped */
static inline block block_hex(const char *hex) {
    uint8_t bytes[4096];
    size_t length = 0;
    unsigned digits = 0, value = 0;
    for (const char *c = hex; *c != 0; c++) {
        if (*c == ' ') {
            continue;
        }
        int digit = *c >= '0' && *c <= '9'   ? *c - '0'
                    : *c >= 'a' && *c <= 'f' ? *c - 'a' + 10
                    : *c >= 'A' && *c <= 'F' ? *c - 'A' + 10
                                             : -1;
        assert_true(digit >= 0 && length < sizeof(bytes));
        value = value << 4 | (unsigned)digit;
        if (++digits % 2 == 0) {
            bytes[length++] = (uint8_t)value;
            value = 0;
        }
    }
    assert_true(digits % 2 == 0);
    return block_copy(bytes, length);
}

static inline void assert_hex(const uint8_t *bytes, size_t length, const char *hex) {
    block expected = block_hex(hex);
    bool same = length == expected.length && (length == 0 || memcmp(bytes, expected.data, length) == 0);
    free(expected.data);
    if (!same) {
        fprintf(stderr, "got     ");
        for (size_t i = 0; i < length; i++) {
            fprintf(stderr, " %02x", bytes[i]);
        }
        fprintf(stderr, "\nexpected %s\n", hex);
        fail();
    }
}

/* xorshift64: the same numbers in every run */
typedef struct dice {
    uint64_t state;
} dice;

static inline uint64_t roll(dice *d) {
    d->state ^= d->state << 13;
    d->state ^= d->state >> 7;
    d->state ^= d->state << 17;
    return d->state;
}

static inline block block_random(dice *d, size_t length) {
    block b = {malloc(length > 0 ? length : 1), length};
    assert_non_null(b.data);
    for (size_t i = 0; i < length; i++) {
        b.data[i] = (uint8_t)(roll(d) >> 32);
    }
    return b;
}

/* When a PDU arrived that is taken at @p now, in ms: a little before, in ns. */
#define ARRIVAL_OF(now) ((now)*UINT64_C(1000000) - 250000)
/* It arrived then, or at @p now. */
#define HAS_ARRIVED_AT(received_at, now) ((now)*UINT64_C(1000000) - (received_at) <= 250000)

#endif
