/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/simulate/feelspace_usb.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_feelspace_usb_frame frame;
    size_t offset = 0;
    tendon_feelspace_decode_usb_frame(input, length, &frame, &offset);
    return 0;
}
