/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/devices/bose_codec.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_bose_status_of_serial((const char *)input, length);
    return 0;
}
