/* SPDX-License-Identifier: MIT */
#include "tendon/host/att.h"
#include "proof.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_att_pdu pdu;
    size_t offset = 0;
    tendon_att_decode(input, length, &pdu, &offset);
    return 0;
}
