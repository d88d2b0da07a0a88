/* SPDX-License-Identifier: MIT */
/* The record of a GATT cache, as a file or with a checksum that is right. */
#include "fuzz.h"
#include "tendon/host/gatt_cache.h"

enum { CRC_SIZE = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {data, size};
    bool repaired = (fuzz_u8(&input) & 1) != 0;
    fuzz_block block = fuzz_take(&input, input.left);
    if (repaired && block.length >= CRC_SIZE) {
        tendon_writer writer = tendon_writer_make(block.data + block.length - CRC_SIZE, CRC_SIZE);
        tendon_write_u32le(&writer, tendon_crc32(0, block.data, block.length - CRC_SIZE));
    }
    tendon_gatt_cache_record record;
    size_t offset = 0;
    tendon_status status = tendon_gatt_cache_decode(block.data, block.length, &record, &offset);
    if (status < 0) {
        FUZZ_CHECK(offset <= block.length);
    } else {
        /* What was decoded is encoded to the same bytes. */
        uint8_t again[TENDON_GATT_CACHE_RECORD_MAX];
        tendon_status length = tendon_gatt_cache_encode(&record, again, sizeof again);
        FUZZ_CHECK(length > 0 && (size_t)length == block.length);
        FUZZ_CHECK(memcmp(again, block.data, block.length) == 0);
    }
    free(block.data);
    return 0;
}
