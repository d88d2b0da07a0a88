/* SPDX-License-Identifier: MIT */
/*
 * Bluetooth UUID of 16, 32 or 128 bits (Core Spec Vol 3 Part B 2.5.1).
 */
#ifndef TENDON_BASE_UUID_H
#define TENDON_BASE_UUID_H

#include "tendon/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A UUID, always stored as 128 bits, most significant byte first (the order in which it is printed). */
typedef struct tendon_uuid {
    uint8_t bytes[16];
} tendon_uuid;

/** Size of a printed UUID in bytes, with its terminator. */
#define TENDON_UUID_STRING_SIZE 37

tendon_uuid tendon_uuid_from_u16(uint16_t value);
tendon_uuid tendon_uuid_from_u32(uint32_t value);

/** Converts from the order of a PDU (least significant byte first). TENDON_ERROR_INVALID_ARGUMENT unless @p length is
 * 2, 4 or 16. */
tendon_status tendon_uuid_from_wire(const uint8_t *wire, size_t length, tendon_uuid *out);

/** Writes the shortest form that ATT permits (2 or 16 bytes), least significant first; returns 2 or 16. */
size_t tendon_uuid_to_wire(const tendon_uuid *uuid, uint8_t out[16]);

bool tendon_uuid_equal(const tendon_uuid *a, const tendon_uuid *b);

/** Returns true and the 16-bit value if the UUID is derived from the Bluetooth Base UUID and its value fits 16 bits. */
bool tendon_uuid_as_u16(const tendon_uuid *uuid, uint16_t *out);

/** Like tendon_uuid_as_u16(), for 32 bits. */
bool tendon_uuid_as_u32(const tendon_uuid *uuid, uint32_t *out);

/**
 * Parses "fdd2", "0xFDD2", "0000fdd2" or the 36-character form, any case.
 * @param length bytes of @p text (no terminator needed).
 * @return TENDON_OK, or TENDON_ERROR_MALFORMED (*offset = first wrong character; may be NULL).
 */
tendon_status tendon_uuid_parse(const char *text, size_t length, tendon_uuid *out, size_t *offset);

/** Prints the 36-character lower-case form with a terminator; returns @p out. */
char *tendon_uuid_format(const tendon_uuid *uuid, char out[TENDON_UUID_STRING_SIZE]);

#ifdef __cplusplus
}
#endif
#endif
