/* SPDX-License-Identifier: MIT */
/* The UUIDs of OGP/1, and OGP_STATUS. */
#include "session_parts.h"

#include <string.h>

enum { PROFILE_SIZE = 6, PROFILE_VERSION = 1, SHORT_LENGTH = 4, MIDDLE_LENGTH = 8, LONG_LENGTH = 36 };

#define OGP_UUID(number)                                                                                               \
    {                                                                                                                  \
        { 0x9c, 0x19, 0x00, number, 0xc1, 0x13, 0x4e, 0x20, 0x95, 0xf4, 0x26, 0x02, 0xd4, 0xfc, 0x9f, 0x35 }           \
    }
const tendon_obvious_gatt tendon_obvious_gatt_ogp = {OGP_UUID(1), OGP_UUID(2), OGP_UUID(3)};

tendon_status tendon_obvious_parse_uuid(const char *text, size_t length, tendon_uuid *out) {
    /* Not "0xFDD2", which tendon_uuid_parse() takes too: 6 or 10 characters. */
    bool form = length == SHORT_LENGTH || length == MIDDLE_LENGTH || length == LONG_LENGTH;
    return form && tendon_uuid_parse(text, length, out, NULL) == TENDON_OK ? TENDON_OK
                                                                           : TENDON_OBVIOUS_ERROR_UUID_FORMAT;
}

tendon_status tendon_obvious_decode_profile(const uint8_t *value, size_t length, uint16_t *flags) {
    static const uint8_t expected[] = {'O', 'G', 'P', PROFILE_VERSION};
    if (length < PROFILE_SIZE || memcmp(value, expected, sizeof expected) != 0) {
        return TENDON_OBVIOUS_ERROR_UNSUPPORTED_PROFILE;
    }
    *flags = (uint16_t)(value[4] | (unsigned)value[5] << 8);
    return TENDON_OK;
}
