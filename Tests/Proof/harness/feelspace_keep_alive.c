/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/devices/feelspace_codec.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    uint8_t mode;
    size_t offset = 0;
    tendon_feelspace_decode_keep_alive(input, length, &mode, &offset);
    return 0;
}
