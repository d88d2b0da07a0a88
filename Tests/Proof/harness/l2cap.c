/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/host/hci.h"

#define STREAMS 2

static tendon_l2cap_stream streams[STREAMS];

static bool any(void) {
    return proof_unknown != 0;
}

/* One packet after any other packets: each stream in any state that a feed leaves, which is checked at the end. */
int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_l2cap_reassembler reassembler;
    tendon_l2cap_reassembler_init(&reassembler, streams, STREAMS);
    Frama_C_make_unknown((char *)streams, sizeof streams);
    //@ loop unroll STREAMS;
    for (size_t i = 0; i < STREAMS; i++) {
        streams[i].used = any();
        streams[i].incoming = any();
        streams[i].skipping = any();
        streams[i].length = (size_t)Frama_C_interval(0, sizeof streams[i].bytes);
    }
    tendon_acl acl = {.data = input, .length = length};
    acl.handle = (uint16_t)Frama_C_interval(0, 65535);
    acl.boundary = (uint8_t)Frama_C_interval(0, 255);
    acl.broadcast = (uint8_t)Frama_C_interval(0, 255);
    tendon_l2cap_frame frame;
    //@ widen_hints global:"all", TENDON_L2CAP_HEADER_SIZE + TENDON_L2CAP_PAYLOAD_MAX;
    tendon_l2cap_feed(&reassembler, &acl, any(), &frame);
    for (size_t i = 0; i < STREAMS; i++) {
        if (streams[i].length > sizeof streams[i].bytes) {
            proof_fail();
        }
    }
    tendon_l2cap_forget(&reassembler, acl.handle);
    return 0;
}
