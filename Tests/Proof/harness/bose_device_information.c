/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/devices/bose_codec.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_bose_device_information decoded;
    size_t offset = 0;
    tendon_bose_decode_device_information(input, length, &decoded, &offset);
    return 0;
}
