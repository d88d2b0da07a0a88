/* SPDX-License-Identifier: MIT */
#include "tendon/linux/out_of_band.h"
#include "proof.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_out_of_band device;
    size_t offset = 0;
    tendon_out_of_band_decode(input, length, &device, &offset);
    return 0;
}
