/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/devices/activ5_codec.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_activ5_is_utf8(input, length);
    return 0;
}
