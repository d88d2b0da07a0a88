/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/simulate/fjorden_services.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    /* two bytes, or refused */
    tendon_fjorden_decode_hid_report(input, length);
    return 0;
}
