/* SPDX-License-Identifier: MIT */
/* ATT PDUs: what decodes encodes to the same bytes; its list walks to its end. */
#include "fuzz.h"
#include "tendon/host/att.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tendon_att_pdu pdu;
    size_t offset = 0;
    tendon_status status = tendon_att_decode(data, size, &pdu, &offset);
    FUZZ_CHECK(offset <= size);
    if (status != TENDON_OK) {
        FUZZ_CHECK(status == TENDON_ERROR_TRUNCATED || status == TENDON_ERROR_MALFORMED ||
                   status == TENDON_ERROR_UNSUPPORTED);
        return 0;
    }
    uint8_t *out = malloc(size);
    FUZZ_CHECK(tendon_att_encode(&pdu, out, size) == (tendon_status)size);
    FUZZ_CHECK(memcmp(out, data, size) == 0);
    FUZZ_CHECK(tendon_att_encode(&pdu, out, size - 1) == TENDON_ERROR_BUFFER_TOO_SMALL);
    free(out);
    tendon_att_items items = tendon_att_items_of(&pdu);
    tendon_att_item item;
    size_t count = 0;
    while (tendon_att_items_next(&items, &item)) {
        (void)fuzz_touch(item.value, item.length);
        FUZZ_CHECK(++count <= size);
    }
    FUZZ_CHECK(items.reader.status == TENDON_OK);
    return 0;
}
