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
        int low = 0, high = 255;
        if (proof_unknown) {
            high = left - 1;
        } else if (proof_unknown) {
            low = high = left;
        } else {
            low = left + 1;
        }
        if (low > high) {
            return 0;
        }
        input[1] = (uint8_t)Frama_C_interval(low, high);
    }
    tendon_hci_event event;
    size_t offset = 0;
    tendon_hci_event_decode(input, length, &event, &offset);
    return 0;
}
