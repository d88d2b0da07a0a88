/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/linux/bonds.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_bond_identity identity;
    tendon_bond_decode_identity(input, length, &identity);
    return 0;
}
