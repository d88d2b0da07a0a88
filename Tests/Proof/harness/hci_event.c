/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/host/hci.h"

/* Three cases that are all there are: the stated length below, at and above what is there. */
int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    if (length >= 2) {
        int left = (int)length - 2;
        if (proof_unknown && left > 0) {
            input[1] = (uint8_t)Frama_C_interval(0, left - 1);
        } else if (proof_unknown || left == 255) {
            input[1] = (uint8_t)left;
        } else {
            input[1] = (uint8_t)Frama_C_interval(left + 1, 255);
        }
    }
    tendon_hci_event event;
    size_t offset = 0;
    tendon_hci_event_decode(input, length, &event, &offset);
    return 0;
}
