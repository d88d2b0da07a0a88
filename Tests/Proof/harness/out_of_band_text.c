/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/linux/out_of_band.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_out_of_band device;
    size_t offset = 0;
    tendon_out_of_band_parse((const char *)input, length, &device, &offset);
    return 0;
}
