/* SPDX-License-Identifier: MIT */
/*
 * CRC-32 (IEEE 802.3: polynomial 0x04C11DB7 reflected, initial and final XOR 0xFFFFFFFF).
 */
#ifndef TENDON_BASE_CRC_H
#define TENDON_BASE_CRC_H

#include "tendon/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Returns the CRC of @p length more bytes. @p crc is the CRC of the bytes before, or 0. crc32("123456789") =
 * 0xCBF43926. */
uint32_t tendon_crc32(uint32_t crc, const uint8_t *data, size_t length);

#ifdef __cplusplus
}
#endif
#endif
