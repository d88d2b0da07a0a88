/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/host/advertisement.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_ad_iterator iterator = tendon_ad_begin(input, length);
    tendon_ad_structure structure;
    while (tendon_ad_next(&iterator, &structure)) {
    }
    if (iterator.reader.position > length) {
        proof_fail();
    }
    tendon_ad_find(input, length, (uint8_t)Frama_C_interval(0, 255), &structure);
    return 0;
}
