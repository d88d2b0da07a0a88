/* SPDX-License-Identifier: MIT */
#include "tendon/host/hci.h"
#include "view.h"

static tendon_l2cap_stream streams[1];

/** The view lies in the stream: within the bytes that were stored there. */
static void check(const tendon_l2cap_frame *frame) {
    proof_view(frame->data, frame->length);
    if (frame->length + TENDON_L2CAP_HEADER_SIZE > streams[0].length) {
        proof_fail();
    }
}

/* A frame whole in one packet, and one that this packet completes. */
int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_l2cap_reassembler reassembler;
    tendon_l2cap_reassembler_init(&reassembler, streams, 1);
    if (length >= 2) {
        input[0] = proof_pinned(length);
        input[1] = (uint8_t)(proof_unknown ? 0 : Frama_C_interval(1, 255));
    }
    tendon_acl start = {.handle = 1, .boundary = 2, .data = input, .length = length};
    tendon_l2cap_frame frame;
    if (tendon_l2cap_feed(&reassembler, &start, true, &frame) == TENDON_OK) {
        check(&frame);
        return 0;
    }
    size_t more = (size_t)Frama_C_interval(0, N);
    tendon_acl rest = {.handle = 1, .boundary = 1};
    //@ split more;
    rest.data = proof_input(more);
    rest.length = more;
    if (tendon_l2cap_feed(&reassembler, &rest, true, &frame) == TENDON_OK) {
        check(&frame);
    }
    return 0;
}
