/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/devices/fjorden_codec.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    /* one byte, or refused */
    tendon_fjorden_decode_battery(input, length);
    return 0;
}
