/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/host/advertisement.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    const uint8_t *value;
    size_t value_length;
    tendon_ad_manufacturer_data(input, length, (uint16_t)Frama_C_interval(0, 65535), &value, &value_length);
    return 0;
}
