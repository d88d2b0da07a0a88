/* SPDX-License-Identifier: MIT */
/*
 * Resolvable private addresses (Core Spec Vol 6 Part B 1.3.2.3): who has the identity key of a device knows it by any
 * of them. The kernel resolves them where it connects, but not in the reports of a raw socket.
 */
#include "pairing.h"
#include "tendon/base/cmac.h"

#include <string.h>

/** How long a change of the bonds by another process may go unnoticed: a look at the file is a system call. */
#define REFRESH_MS 1000u

enum { KEY_SIZE = 16, HALF = 3, FREE = 0, NO_BOND = 1, FIRST_BOND = 2 };
_Static_assert(TENDON_BONDS_MAX + FIRST_BOND <= UINT8_MAX, "an entry has one byte for its result");
_Static_assert((TENDON_RESOLVER_SETS & (TENDON_RESOLVER_SETS - 1)) == 0, "a set is found by a mask");

/**
 * The security function e of Vol 3 Part H 2.2.1: AES-128. CMAC encrypts a block when more data follow, and the first
 * block as it is. That its time depends on the key is known only to programs on this machine.
 */
static void encrypt(const uint8_t key[KEY_SIZE], const uint8_t block[KEY_SIZE], uint8_t out[KEY_SIZE]) {
    tendon_cmac cmac;
    tendon_cmac_init(&cmac, key);
    tendon_cmac_update(&cmac, block, KEY_SIZE);
    tendon_cmac_update(&cmac, block, 1);
    memcpy(out, cmac.state, KEY_SIZE);
}

/* hash = ah(key, prand), Vol 3 Part H 2.2.2; the address is prand, then hash. */
bool tendon_bond_resolves(const tendon_bond *bond, const tendon_address *address) {
    uint8_t key[KEY_SIZE], block[KEY_SIZE] = {0}, out[KEY_SIZE];
    if (!bond->has_identity_key || !tendon_address_is_resolvable(address)) {
        return false;
    }
    for (size_t i = 0; i < KEY_SIZE; i++) {
        key[i] = bond->identity_key[KEY_SIZE - 1 - i]; /* stored least significant byte first */
    }
    memcpy(block + KEY_SIZE - HALF, address->bytes, HALF);
    encrypt(key, block, out);
    return memcmp(out + KEY_SIZE - HALF, address->bytes + HALF, HALF) == 0;
}

/** Whether this radio can use a bond: of its kind, and of its own address. */
static bool is_ours(const tendon_radio *radio, const tendon_bond *bond) {
    const tendon_address own = tendon_pairing_own(radio, true);
    return bond->radio == radio->ops->bond_radio && tendon_address_equal(&bond->own, &own);
}

/** Of two bonds of one peer the later is the newer. */
static uint8_t compute(const tendon_radio *radio, const tendon_address *address) {
    size_t i = radio->bonds->count;
    while (i > 0 && !(is_ours(radio, &radio->bonds->items[i - 1]) &&
                      tendon_bond_resolves(&radio->bonds->items[i - 1], address))) {
        i--;
    }
    return (uint8_t)(i > 0 ? i - 1 + FIRST_BOND : NO_BOND);
}

/** After a change of the bonds, by this process or another one, nothing that was found holds. */
static void refresh(tendon_radio *radio, uint64_t now) {
    tendon_resolver *resolver = &radio->resolver;
    if (now >= resolver->refresh_at) {
        (void)tendon_bonds_refresh(radio->bonds); /* after an error the keys that were read before stay */
        resolver->refresh_at = now + REFRESH_MS;
    }
    if (resolver->used && resolver->changes == radio->bonds->changes) {
        return;
    }
    memset(resolver->entries, 0, sizeof resolver->entries);
    resolver->used = true;
    resolver->changes = radio->bonds->changes;
    resolver->has_keys = false;
    for (size_t i = 0; i < radio->bonds->count; i++) {
        const tendon_bond *bond = &radio->bonds->items[i];
        resolver->has_keys |= bond->has_identity_key && is_ours(radio, bond);
    }
}

static uint8_t look_up(tendon_radio *radio, const tendon_address *address) {
    tendon_resolver *resolver = &radio->resolver;
    const size_t set = address->bytes[5] & (TENDON_RESOLVER_SETS - 1u);
    for (size_t way = 0; way < TENDON_RESOLVER_WAYS; way++) {
        if (resolver->entries[set][way].result != FREE &&
            memcmp(resolver->entries[set][way].address, address->bytes, sizeof address->bytes) == 0) {
            return resolver->entries[set][way].result;
        }
    }
    const size_t way = resolver->next[set];
    resolver->next[set] = (uint8_t)((way + 1) % TENDON_RESOLVER_WAYS);
    resolver->computed++;
    memcpy(resolver->entries[set][way].address, address->bytes, sizeof address->bytes);
    resolver->entries[set][way].result = compute(radio, address);
    return resolver->entries[set][way].result;
}

const tendon_address *tendon_radio_identity_of(tendon_radio *radio, const tendon_address *address, uint64_t now) {
    if (radio->bonds == NULL || !tendon_address_is_resolvable(address)) {
        return NULL;
    }
    refresh(radio, now);
    uint8_t result = radio->resolver.has_keys ? look_up(radio, address) : NO_BOND;
    return result >= FIRST_BOND ? &radio->bonds->items[result - FIRST_BOND].peer : NULL;
}

static void identify(tendon_radio *radio, tendon_ad_report *report, uint64_t now) {
    if (report->address.type == TENDON_ADDRESS_TYPE_PUBLIC_IDENTITY ||
        report->address.type == TENDON_ADDRESS_TYPE_RANDOM_IDENTITY) {
        /* The controller resolved it, and keeps the private address to itself. */
        report->address.type -= TENDON_ADDRESS_TYPE_PUBLIC_IDENTITY;
        return;
    }
    const tendon_address *identity = tendon_radio_identity_of(radio, &report->address, now);
    if (identity != NULL) {
        report->private_address = report->address;
        report->address = *identity;
    }
}

void tendon_radio_report(tendon_radio *radio, const tendon_ad_report *report, uint64_t now) {
    radio->reports++;
    if (radio->on_report != NULL) {
        tendon_ad_report known = *report;
        identify(radio, &known, now);
        radio->on_report(radio->report_context, &known, now);
    }
}
