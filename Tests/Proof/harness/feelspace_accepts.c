/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/devices/feelspace_codec.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    /* what the belt itself takes: any mode */
    tendon_feelspace_belt_accepts((uint8_t)Frama_C_interval(0, 255), input, length);
    return 0;
}
