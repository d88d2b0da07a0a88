/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/host/advertisement.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_uuid uuid;
    Frama_C_make_unknown((char *)&uuid, sizeof uuid);
    tendon_ad_has_uuid(input, length, &uuid);
    return 0;
}
