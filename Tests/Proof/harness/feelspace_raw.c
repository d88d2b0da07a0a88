/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/devices/feelspace_codec.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    uint8_t sequence;
    size_t offset = 0;
    tendon_feelspace_raw_count(input, length, &sequence, &offset);
    size_t index = proof_index();
    tendon_feelspace_raw_sample sample;
    tendon_feelspace_raw_sample_at(input, length, index, &sample);
    return 0;
}
