/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/devices/obvious_codec.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    uint16_t flags;
    tendon_obvious_decode_profile(input, length, &flags);
    return 0;
}
