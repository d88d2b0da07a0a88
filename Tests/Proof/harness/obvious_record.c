/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/devices/obvious_manager.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_obvious_record record;
    tendon_obvious_decode_record(input, length, &record);
    return 0;
}
