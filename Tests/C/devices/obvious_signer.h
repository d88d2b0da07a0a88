/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for Ed25519 in tests that run where libsodium is not: a signature is 64 bytes that follow from the key,
 * the domain and the data. The real one has test_obvious_signature.c.
 */
#ifndef OBVIOUS_SIGNER_H
#define OBVIOUS_SIGNER_H

#include "test_bytes.h"

#include "tendon/base/crc.h"
#include "tendon/devices/obvious.h"

static inline void mark_of(const uint8_t *key, const uint8_t *domain, size_t domain_length, const uint8_t *data,
                           size_t length, uint8_t out[64]) {
    uint32_t crc = tendon_crc32(tendon_crc32(tendon_crc32(0, key, 32), domain, domain_length), data, length);
    for (size_t i = 0; i < 64; i++) {
        out[i] = (uint8_t)(crc >> 8 * (i % 4)) ^ (uint8_t)i;
    }
}

static inline bool signer_verify(void *context, const uint8_t *key, const uint8_t *domain, size_t domain_length,
                                 const uint8_t *data, size_t length, const uint8_t *signature) {
    uint8_t expected[64];
    (*(unsigned *)context)++;
    mark_of(key, domain, domain_length, data, length, expected);
    return memcmp(expected, signature, 64) == 0;
}

static inline void signer_sha256(void *context, const uint8_t *data, size_t length, uint8_t out[32]) {
    (void)context;
    uint32_t crc = tendon_crc32(0, data, length);
    for (size_t i = 0; i < 32; i++) {
        out[i] = (uint8_t)(crc >> 8 * (i % 4));
    }
}

/** A ring with one key, number 1. @p verified counts the signatures that were checked. */
static inline tendon_obvious_key_ring signer_ring(tendon_obvious_key *key, unsigned *verified) {
    *key = (tendon_obvious_key){.id = 1};
    memset(key->bytes, 0x42, sizeof key->bytes);
    return (tendon_obvious_key_ring){key, 1, {signer_verify, signer_sha256, verified}};
}

#endif
