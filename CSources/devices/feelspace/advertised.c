/* SPDX-License-Identifier: MIT */
#include "tendon/devices/feelspace_session.h"

tendon_uuid tendon_feelspace_advertised_uuid(void) {
    static const tendon_uuid uuid = {
        {0x65, 0x33, 0x33, 0x33, 0xA1, 0x15, 0x11, 0xE2, 0x9E, 0x9A, 0x08, 0x00, 0x20, 0x0C, 0xA1, 0x00}};
    return uuid;
}

unsigned tendon_feelspace_recognize(const uint8_t *data, size_t length) {
    tendon_uuid older = tendon_feelspace_advertised_uuid();
    tendon_uuid newer = tendon_uuid_from_u16(TENDON_FEELSPACE_CONTROL_SERVICE);
    tendon_ad_structure name;
    unsigned found = 0;
    if (tendon_ad_has_uuid(data, length, &older)) {
        found |= TENDON_FEELSPACE_ADVERTISED_OLDER;
    }
    if (tendon_ad_has_uuid(data, length, &newer)) {
        found |= TENDON_FEELSPACE_ADVERTISED_NEWER;
    }
    if (tendon_ad_find_name(data, length, &name) &&
        tendon_feelspace_is_belt_name((const char *)name.data, name.length)) {
        found |= TENDON_FEELSPACE_ADVERTISED_NAME;
    }
    return found;
}

bool tendon_feelspace_is_belt(unsigned advertised) {
    return (advertised & TENDON_FEELSPACE_ADVERTISED_NAME) != 0 &&
           (advertised & (TENDON_FEELSPACE_ADVERTISED_OLDER | TENDON_FEELSPACE_ADVERTISED_NEWER)) != 0;
}
