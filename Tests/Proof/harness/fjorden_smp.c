/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/simulate/fjorden_services.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_fjorden_smp decoded;
    tendon_fjorden_decode_smp(input, length, &decoded);
    return 0;
}
