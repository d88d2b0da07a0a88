/* SPDX-License-Identifier: MIT */
#include "tendon/simulate/feelspace_usb.h"
#include "view.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    tendon_feelspace_usb_frame frame;
    size_t offset = 0;
    if (tendon_feelspace_decode_usb_frame(proof_input(length), length, &frame, &offset) >= 0) {
        proof_view(frame.payload, frame.length);
    } else if (offset > length) {
        proof_fail();
    }
    return 0;
}
