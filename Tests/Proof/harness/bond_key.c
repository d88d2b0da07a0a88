/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/linux/bonds.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_bond bond;
    bool stored;
    tendon_bond_decode_key(input, length, &bond, &stored);
    return 0;
}
