/* SPDX-License-Identifier: MIT */
#include "tendon/simulate/fjorden_services.h"
#include "view.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    if (length >= 4) {
        input[2] = (uint8_t)(proof_unknown ? 0 : Frama_C_interval(1, 255));
        input[3] = proof_pinned(length);
    }
    tendon_fjorden_smp decoded;
    if (tendon_fjorden_decode_smp(input, length, &decoded) >= 0) {
        proof_view(decoded.payload, decoded.length);
    }
    return 0;
}
