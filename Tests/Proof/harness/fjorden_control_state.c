/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/devices/fjorden_codec.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_fjorden_control_state decoded;
    tendon_fjorden_decode_control_state(input, length, &decoded);
    return 0;
}
