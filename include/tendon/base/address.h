/* SPDX-License-Identifier: MIT */
/*
 * Bluetooth device address with its type.
 */
#ifndef TENDON_BASE_ADDRESS_H
#define TENDON_BASE_ADDRESS_H

#include "tendon/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Core Spec Vol 6 Part B 1.3; the values of HCI's Address_Type. */
typedef enum tendon_address_type {
    TENDON_ADDRESS_TYPE_PUBLIC = 0,
    TENDON_ADDRESS_TYPE_RANDOM = 1,
    TENDON_ADDRESS_TYPE_PUBLIC_IDENTITY = 2,
    TENDON_ADDRESS_TYPE_RANDOM_IDENTITY = 3,
    TENDON_ADDRESS_TYPE_ANONYMOUS = 0xFF
} tendon_address_type;

typedef struct tendon_address {
    uint8_t bytes[6]; /**< most significant byte first (the order it is printed in) */
    uint8_t type;     /**< tendon_address_type; unknown values are kept */
} tendon_address;

/** "AA:BB:CC:DD:EE:FF" and a terminator. */
#define TENDON_ADDRESS_STRING_SIZE 18

/** Converts from the order of a packet (least significant byte first). */
tendon_address tendon_address_from_wire(const uint8_t wire[6], uint8_t type);
void tendon_address_to_wire(const tendon_address *address, uint8_t wire[6]);

/** Returns true if the bytes and the type are equal. */
bool tendon_address_equal(const tendon_address *a, const tendon_address *b);

/** Returns true for a random address whose two top bits mark a resolvable private address (Vol 6 Part B 1.3.2). */
bool tendon_address_is_resolvable(const tendon_address *address);

/**
 * Parses "AA:BB:CC:DD:EE:FF", any case, with an optional "/random" or "/public" suffix (default public).
 * @return TENDON_OK, or TENDON_ERROR_MALFORMED (*offset = first wrong character; may be NULL).
 */
tendon_status tendon_address_parse(const char *text, size_t length, tendon_address *out, size_t *offset);

/** Prints upper case with a terminator, without the type; returns @p out. */
char *tendon_address_format(const tendon_address *address, char out[TENDON_ADDRESS_STRING_SIZE]);

#ifdef __cplusplus
}
#endif
#endif
