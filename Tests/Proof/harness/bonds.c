/* SPDX-License-Identifier: MIT */
#include "tendon/linux/bonds.h"
#include "proof.h"

#define PLACES 3

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    static tendon_bond items[PLACES];
    size_t offset = 0;
    if (tendon_bonds_decode(input, length, items, PLACES, &offset) > PLACES) {
        proof_fail();
    }
    return 0;
}
