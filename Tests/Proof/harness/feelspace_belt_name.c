/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/devices/feelspace_codec.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_feelspace_is_belt_name((const char *)input, length);
    return 0;
}
