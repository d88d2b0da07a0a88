/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/devices/obvious_codec.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_obvious_frame frame;
    tendon_obvious_decode_frame(input, length, TENDON_OBVIOUS_FRAME_MAX, &frame);
    return 0;
}
