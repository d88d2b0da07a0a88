/* SPDX-License-Identifier: MIT */
#include "tendon/host/att.h"
#include "view.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    if (length > 0) {
        int opcode = Frama_C_interval(0, 255);
        //@ split opcode;
        input[0] = (uint8_t)opcode;
    }
    tendon_att_pdu pdu;
    size_t offset = 0;
    if (tendon_att_decode(input, length, &pdu, &offset) == TENDON_OK) {
        proof_view(pdu.data, pdu.length);
        if (pdu.signature != NULL) {
            proof_view(pdu.signature, 12);
        }
    } else if (offset > length) {
        proof_fail();
    }
    return 0;
}
