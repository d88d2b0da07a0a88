/* SPDX-License-Identifier: MIT */
#include "tendon/devices/obvious_payload.h"
#include "proof.h"

/* Requests, responses and events, with every known opcode and an unknown one of each. */
int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_obvious_payload out;
    tendon_obvious_frame frame = {.payload = input, .payload_length = length};
    uint8_t flags = (uint8_t)Frama_C_interval(0, 2), opcode = (uint8_t)Frama_C_interval(0, 0x34);
    if (flags == TENDON_OBVIOUS_EVENT) {
        opcode = (uint8_t)Frama_C_interval(0x80, 0x84);
    }
    //@ split flags;
    //@ split opcode;
    frame.flags = flags;
    frame.opcode = opcode;
    frame.status = (uint8_t)Frama_C_interval(0, 255);
    tendon_obvious_decode_payload(&frame, &out);
    return 0;
}
