/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/host/att.h"

/* The list of any PDU, as unchecked as the caller could leave it. */
int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_att_pdu pdu = {0};
    pdu.opcode = (uint8_t)Frama_C_interval(0, 255);
    pdu.format = (uint8_t)Frama_C_interval(0, 255);
    pdu.data = input;
    pdu.length = length;
    tendon_att_items items = tendon_att_items_of(&pdu);
    bool more;
    do {
        tendon_att_item item;
        more = tendon_att_items_next(&items, &item);
    } while (more);
    if (items.reader.position > length) {
        proof_fail();
    }
    return 0;
}
