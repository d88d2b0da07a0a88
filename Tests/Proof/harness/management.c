/* SPDX-License-Identifier: MIT */
#include "tendon/host/management.h"
#include "proof.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_management_event event;
    tendon_management_information information;
    uint16_t indexes[4];
    size_t offset = 0;
    tendon_management_decode(input, length, &event, &offset);
    tendon_management_decode_information(input, length, &information, &offset);
    tendon_management_decode_index_list(input, length, indexes, 4, &offset);
    return 0;
}
