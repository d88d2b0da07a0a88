/* SPDX-License-Identifier: MIT */
#include "tendon/host/advertisement.h"

tendon_status tendon_ad_reassembler_init(tendon_ad_reassembler *reassembler, tendon_ad_chain *chains, size_t capacity) {
    if (chains == NULL || capacity == 0) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    *reassembler = (tendon_ad_reassembler){chains, capacity, 0, 0, 0};
    for (size_t i = 0; i < capacity; i++) {
        chains[i].used = false;
    }
    return TENDON_OK;
}

static bool is_part_of(const tendon_ad_chain *chain, const tendon_ad_report *fragment) {
    return chain->used && chain->set_id == fragment->set_id &&
           chain->scan_response == ((fragment->properties & TENDON_AD_SCAN_RESPONSE) != 0) &&
           tendon_address_equal(&chain->address, &fragment->address);
}

/* The chain a fragment belongs to; one that is too old is given up first. */
static tendon_ad_chain *find_chain(tendon_ad_reassembler *reassembler, const tendon_ad_report *fragment, uint64_t now) {
    for (size_t i = 0; i < reassembler->capacity; i++) {
        tendon_ad_chain *chain = &reassembler->chains[i];
        if (!is_part_of(chain, fragment)) {
            continue;
        }
        if (now >= chain->touched && now - chain->touched > TENDON_AD_CHAIN_TIMEOUT_MS) {
            chain->used = false;
            reassembler->expired++;
            return NULL;
        }
        return chain;
    }
    return NULL;
}

/* A free chain, or the one that has waited longest. */
static tendon_ad_chain *new_chain(tendon_ad_reassembler *reassembler, const tendon_ad_report *fragment) {
    tendon_ad_chain *chain = &reassembler->chains[0];
    for (size_t i = 1; i < reassembler->capacity && chain->used; i++) {
        tendon_ad_chain *other = &reassembler->chains[i];
        if (!other->used || other->touched < chain->touched) {
            chain = other;
        }
    }
    if (chain->used) {
        reassembler->evicted++;
    }
    chain->used = true;
    chain->skipping = false;
    chain->length = 0;
    chain->address = fragment->address;
    chain->set_id = fragment->set_id;
    chain->scan_response = (fragment->properties & TENDON_AD_SCAN_RESPONSE) != 0;
    return chain;
}

/* The fragment's own members, with other data. */
static void make_report(const tendon_ad_report *fragment, const uint8_t *data, size_t length, bool truncated,
                        tendon_ad_report *out) {
    *out = *fragment;
    out->properties = (uint16_t)(fragment->properties & ~(unsigned)TENDON_AD_DATA_STATUS);
    out->data = data;
    out->length = length;
    out->truncated = truncated || fragment->truncated;
}

/* Appends what fits; false when the chain grew too long. Byte by byte: each place is checked where it is written. */
static bool append(tendon_ad_chain *chain, const tendon_ad_report *fragment) {
    size_t taken = 0;
    while (taken < fragment->length && chain->length < sizeof(chain->data)) {
        chain->data[chain->length++] = fragment->data[taken++];
    }
    return taken == fragment->length;
}

bool tendon_ad_reassembler_feed(tendon_ad_reassembler *reassembler, const tendon_ad_report *fragment, uint64_t now,
                                tendon_ad_report *out) {
    unsigned status = fragment->properties & (unsigned)TENDON_AD_DATA_STATUS;
    bool more = status == TENDON_AD_DATA_MORE;
    bool truncated = !more && status != 0;
    if ((fragment->properties & TENDON_AD_LEGACY) != 0) {
        make_report(fragment, fragment->data, fragment->length, false, out);
        return true;
    }
    tendon_ad_chain *chain = find_chain(reassembler, fragment, now);
    if (chain == NULL && !more) {
        make_report(fragment, fragment->data, fragment->length, truncated, out);
        return true;
    }
    if (chain == NULL) {
        chain = new_chain(reassembler, fragment);
    }
    chain->touched = now;
    chain->used = more;
    if (chain->skipping) {
        return false;
    }
    if (!append(chain, fragment)) {
        reassembler->overflowed++;
        chain->skipping = true;
        make_report(fragment, chain->data, chain->length, true, out);
        return true;
    }
    if (more) {
        return false;
    }
    make_report(fragment, chain->data, chain->length, truncated, out);
    return true;
}
