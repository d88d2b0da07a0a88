/* SPDX-License-Identifier: MIT */
#include "tendon/host/management.h"
#include "view.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_management_event event;
    size_t offset = 0;
    if (length >= 6) {
        input[4] = proof_pinned(length);
        input[5] = (uint8_t)(proof_unknown ? 0 : Frama_C_interval(1, 255));
    }
    if (tendon_management_decode(input, length, &event, &offset) == TENDON_OK) {
        proof_view(event.data, event.length);
    } else if (offset > length) {
        proof_fail();
    }
    uint16_t indexes[4];
    tendon_status count = tendon_management_decode_index_list(input, length, indexes, 4, &offset);
    if (count > 0) { /* how many there are; only those that fit are stored */
        proof_view(indexes, (count < 4 ? (size_t)count : 4) * sizeof indexes[0]);
    }
    return 0;
}
