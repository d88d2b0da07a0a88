/* SPDX-License-Identifier: MIT */
#ifndef TENDON_GATEWAY_ADDRESS_PLACE_H
#define TENDON_GATEWAY_ADDRESS_PLACE_H

#include "tendon/base.h"

/** Where a device belongs in a hash table: FNV-1a. An attacker can choose addresses that have the same place. */
static inline size_t tendon_address_place(const tendon_address *address, size_t slots) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < sizeof address->bytes; i++) {
        hash = (hash ^ address->bytes[i]) * 16777619u;
    }
    return ((hash ^ address->type) * 16777619u) % slots;
}

#endif
