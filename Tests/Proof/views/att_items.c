/* SPDX-License-Identifier: MIT */
#include "tendon/host/att.h"
#include "view.h"

/* One step of the list from any position that an earlier step can leave. */
int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    size_t start = (size_t)Frama_C_interval(0, (int)length);
    //@ split start;
    if (start + 4 <= length) { /* the length of a value in a Read Multiple Variable Length Response */
        input[start] = proof_pinned(length);
        input[start + 1] = (uint8_t)(proof_unknown ? 0 : Frama_C_interval(1, 255));
    }
    tendon_att_pdu pdu = {0};
    int opcode = Frama_C_interval(TENDON_ATT_FIND_INFORMATION_RESPONSE, TENDON_ATT_READ_MULTIPLE_VARIABLE_RESPONSE);
    int format = proof_pinned(length);
    //@ split opcode;
    pdu.opcode = (uint8_t)opcode;
    pdu.format = (uint8_t)format;
    pdu.data = input;
    pdu.length = length;
    tendon_att_items items = tendon_att_items_of(&pdu);
    if (items.reader.position == 0) {
        items.reader.position = start;
    }
    tendon_att_item item;
    if (tendon_att_items_next(&items, &item)) {
        proof_view(item.value, item.length);
    }
    if (items.reader.position > length) {
        proof_fail();
    }
    return 0;
}
