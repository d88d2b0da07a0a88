/* SPDX-License-Identifier: MIT */
/* Parts of extended reports from a few senders: bounded, and never mixed. */
#include "fuzz.h"
#include "tendon/host/advertisement.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static tendon_ad_chain chains[3];
    fuzz_input input = {data, size};
    tendon_ad_reassembler reassembler;
    uint64_t now = 1;
    FUZZ_CHECK(tendon_ad_reassembler_init(&reassembler, chains, 3) == TENDON_OK);
    while (input.left > 0) {
        unsigned choice = fuzz_u8(&input);
        fuzz_block block = fuzz_block_of(&input);
        tendon_ad_report part = {0}, whole;
        part.address.bytes[0] = (uint8_t)(choice & 3u);
        part.set_id = choice >> 2 & 1u;
        part.properties = (uint16_t)((choice >> 3 & 3u) << 5 | (choice >> 5 & 1u) << 3 | (choice >> 6 & 1u) << 4);
        part.data = block.data;
        part.length = block.length;
        memset(block.data, part.address.bytes[0] + 1, block.length);
        now += choice >> 7 ? 1500 : 1;
        if (tendon_ad_reassembler_feed(&reassembler, &part, now, &whole)) {
            FUZZ_CHECK(whole.length <= TENDON_AD_EXTENDED_MAX || whole.data == part.data);
            for (size_t i = 0; i < whole.length; i++) {
                FUZZ_CHECK(whole.data[i] == whole.address.bytes[0] + 1);
            }
        }
        free(block.data);
    }
    return 0;
}
