/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/host/advertisement.h"

#define CHAINS 2

static tendon_ad_chain chains[CHAINS];

static bool any(void) {
    return proof_unknown != 0;
}

/* One fragment after any other fragments: each chain in any state that a feed leaves, which is checked at the end. */
int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_ad_reassembler reassembler;
    tendon_ad_reassembler_init(&reassembler, chains, CHAINS);
    Frama_C_make_unknown((char *)chains, sizeof chains);
    //@ loop unroll CHAINS;
    for (size_t i = 0; i < CHAINS; i++) {
        chains[i].used = any();
        chains[i].scan_response = any();
        chains[i].skipping = any();
        chains[i].length = (size_t)Frama_C_interval(0, TENDON_AD_EXTENDED_MAX);
    }
    tendon_ad_report fragment = {.data = input, .length = length, .truncated = any()};
    fragment.properties = (uint16_t)Frama_C_interval(0, 65535);
    fragment.set_id = (uint8_t)Frama_C_interval(0, 255);
    Frama_C_make_unknown((char *)&fragment.address, sizeof fragment.address);
    tendon_ad_report out;
    //@ widen_hints global:"all", TENDON_AD_EXTENDED_MAX;
    tendon_ad_reassembler_feed(&reassembler, &fragment, proof_index(), &out);
    for (size_t i = 0; i < CHAINS; i++) {
        if (chains[i].length > TENDON_AD_EXTENDED_MAX) {
            proof_fail();
        }
    }
    return 0;
}
