/* SPDX-License-Identifier: MIT */
/* Ed25519 and SHA-256 of libsodium, behind the functions that a user gives the core. */
#ifndef OBVIOUS_SODIUM_H
#define OBVIOUS_SODIUM_H

#include "test_bytes.h"

#include "tendon/devices/obvious.h"

#include <sodium.h>

static inline bool verify(void *context, const uint8_t *key, const uint8_t *domain, size_t domain_length,
                          const uint8_t *data, size_t length, const uint8_t *signature) {
    (void)context;
    uint8_t *message = malloc(domain_length + length);
    assert_non_null(message);
    memcpy(message, domain, domain_length);
    memcpy(message + domain_length, data, length);
    bool valid = crypto_sign_ed25519_verify_detached(signature, message, domain_length + length, key) == 0;
    free(message);
    return valid;
}

static inline void sha256(void *context, const uint8_t *data, size_t length, uint8_t *out) {
    (void)context;
    crypto_hash_sha256(out, data, length);
}

#endif
