/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/host/advertisement.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    int32_t number;
    tendon_ad_number(input, length, (uint8_t)Frama_C_interval(0, 255), &number);
    return 0;
}
