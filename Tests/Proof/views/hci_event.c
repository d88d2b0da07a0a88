/* SPDX-License-Identifier: MIT */
#include "tendon/host/hci.h"
#include "view.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    if (length >= 2) {
        input[1] = proof_pinned(length);
    }
    tendon_hci_event event;
    size_t offset = 0;
    if (tendon_hci_event_decode(input, length, &event, &offset) == TENDON_OK) {
        proof_view(event.data, event.length);
    } else if (offset > length) {
        proof_fail();
    }
    return 0;
}
