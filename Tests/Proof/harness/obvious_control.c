/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/devices/obvious_segment.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_obvious_control control;
    tendon_obvious_decode_control(input, length, &control);
    return 0;
}
