/* SPDX-License-Identifier: MIT */
/*
 * AES-CMAC with a 128-bit key (RFC 4493), for the Database Hash of a GATT server. Its time depends on the data: not for
 * secrets.
 */
#ifndef TENDON_BASE_CMAC_H
#define TENDON_BASE_CMAC_H

#include "tendon/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tendon_cmac {
    uint8_t keys[11][16]; /**< round keys of AES-128 */
    uint8_t state[16];
    uint8_t last[16]; /**< the bytes that were not encrypted yet: the last block is treated differently */
    size_t length;
} tendon_cmac;

void tendon_cmac_init(tendon_cmac *cmac, const uint8_t key[16]);
void tendon_cmac_update(tendon_cmac *cmac, const uint8_t *data, size_t length);
/** Writes the code, most significant byte first. The context cannot be used again without init(). */
void tendon_cmac_finish(tendon_cmac *cmac, uint8_t out[16]);

#ifdef __cplusplus
}
#endif
#endif
