/* SPDX-License-Identifier: MIT */
/* Lists that no decoder has checked: any opcode and format before any bytes. */
#include "fuzz.h"
#include "tendon/host/att.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {data, size};
    tendon_att_pdu pdu = {0};
    pdu.opcode = fuzz_u8(&input);
    pdu.format = fuzz_u8(&input);
    fuzz_block block = fuzz_take(&input, input.left);
    pdu.data = block.data;
    pdu.length = block.length;
    tendon_att_items items = tendon_att_items_of(&pdu);
    tendon_att_item item;
    size_t count = 0;
    while (tendon_att_items_next(&items, &item)) {
        (void)fuzz_touch(item.value, item.length);
        FUZZ_CHECK(++count <= block.length);
    }
    FUZZ_CHECK(items.reader.position <= block.length);
    uint8_t out[600];
    (void)tendon_att_encode(&pdu, out, sizeof(out));
    free(block.data);
    return 0;
}
