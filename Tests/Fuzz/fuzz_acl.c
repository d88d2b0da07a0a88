/* SPDX-License-Identifier: MIT */
/* ACL packets into L2CAP frames. */
#include "fuzz.h"
#include "tendon/host/hci.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static tendon_l2cap_stream streams[2];
    fuzz_input input = {data, size};
    tendon_l2cap_reassembler reassembler;
    FUZZ_CHECK(tendon_l2cap_reassembler_init(&reassembler, streams, 2) == TENDON_OK);
    while (input.left > 0) {
        bool incoming = (fuzz_u8(&input) & 1u) != 0;
        fuzz_block block = fuzz_block_of(&input);
        tendon_acl acl;
        tendon_l2cap_frame frame;
        size_t offset = 0;
        if (tendon_acl_decode(block.data, block.length, &acl, &offset) != TENDON_OK) {
            FUZZ_CHECK(offset <= block.length);
        } else if (tendon_l2cap_feed(&reassembler, &acl, incoming, &frame) == TENDON_OK) {
            FUZZ_CHECK(frame.length <= TENDON_L2CAP_PAYLOAD_MAX && frame.handle == acl.handle);
            (void)fuzz_touch(frame.data, frame.length);
        }
        free(block.data);
    }
    return 0;
}
