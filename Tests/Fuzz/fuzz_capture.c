/* SPDX-License-Identifier: MIT */
/* A capture file in memory: header, records, and the connections, PDUs and programs in them. */
#include "fuzz.h"
#include "tendon/tools.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static tendon_capture_decoder decoder;
    tendon_neighbors neighbors;
    uint32_t datalink = 0;
    size_t offset = 0;
    if (tendon_capture_decode_header(data, size, &datalink, &offset) != TENDON_OK) {
        return 0;
    }
    tendon_capture_decoder_init(&decoder);
    tendon_neighbors_init(&neighbors, TENDON_NEIGHBORS_ALL);
    size_t position = TENDON_CAPTURE_HEADER_SIZE;
    while (position < size) {
        tendon_capture_record record;
        tendon_status used = tendon_capture_decode_record(datalink, data + position, size - position, &record, &offset);
        if (used <= 0) {
            FUZZ_CHECK(used < 0);
            break;
        }
        FUZZ_CHECK((size_t)used <= size - position);
        (void)fuzz_touch(record.data, record.length);
        tendon_neighbors_feed(&neighbors, &record);
        FUZZ_CHECK(neighbors.count <= TENDON_NEIGHBORS_MAX);
        tendon_capture_decoder_feed(&decoder, &record);
        tendon_capture_item item;
        size_t count = 0;
        while (tendon_capture_decoder_next(&decoder, &item)) {
            FUZZ_CHECK(++count <= 256);
            (void)fuzz_touch(item.pdu, item.length);
            (void)fuzz_touch(item.report.data, item.report.length);
        }
        position += (size_t)used;
    }
    (void)tendon_neighbors_interfere(&neighbors);
    return 0;
}
