/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/devices/feelspace_codec.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_feelspace_channel decoded;
    size_t offset = 0;
    tendon_feelspace_decode_channel(input, length, &decoded, &offset);
    return 0;
}
